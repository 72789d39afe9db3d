//! How a run is asked for: how far it is contained, and what else its caller chooses within what the policy permits.

use crate::proposal::Then;
use shward_policy::settings::ExecGate;
use shward_sandbox::{Cancel, Guarantee, Pty};
use std::path::PathBuf;
use std::time::Duration;

/// How far a run is contained. It chooses within what the policy grants and never widens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Containment {
    /// Nothing but the private temporary directories can be written.
    ReadOnly,
    /// The workspace can be written as far as the verdict grants it; there is no network beyond the run's own.
    WorkspaceWrite,
    /// As `WorkspaceWrite`, with a loopback interface of its own, which reaches nothing outside the run.
    Loopback,
    /// As `WorkspaceWrite`, on an overlay that is never committed: the report tells what the command would have done.
    Speculate,
    /// As `Loopback`, and every host that the policy permits is reached through a proxy.
    Network,
    /// What the verdict grants and no more: of the hosts that the policy permits, those that the command is seen to connect to.
    #[default]
    Granted,
    /// Not at all: the command may do what the user may. It is judged as a command that others run, the policy has to permit it by name
    /// (`[sandbox] full`), and the record says so. Environment, limits and the end of everything it started are those of any run.
    Full,
}

impl Containment {
    /// Every level.
    pub const ALL: [Self; 7] = [
        Self::ReadOnly,
        Self::WorkspaceWrite,
        Self::Loopback,
        Self::Network,
        Self::Granted,
        Self::Speculate,
        Self::Full,
    ];

    /// Whether it confines anything.
    #[must_use]
    pub const fn confines(self) -> bool {
        !matches!(self, Self::Full)
    }

    /// Whether it cannot do without a guarantee, whatever is accepted.
    pub(crate) fn needs(self, guarantee: Guarantee) -> bool {
        let dispensable = Guarantee::DISPENSABLE.contains(&guarantee)
            || !self.confines() && guarantee == Guarantee::Seccomp;
        !dispensable
            || matches!(self, Self::Loopback | Self::Network) && guarantee == Guarantee::NetworkNamespace
            || self == Self::Speculate && guarantee == Guarantee::OwnNamespaces
    }

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::Loopback => "loopback",
            Self::Speculate => "speculate",
            Self::Network => "network",
            Self::Granted => "granted",
            Self::Full => "full",
        }
    }

    /// The level of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// How to run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOptions {
    /// Everything is killed after this time. `None`, the default, is what the policy gives the command, else 300 seconds. More than
    /// the policy's ceiling is refused; without a ceiling, more than the policy gives is cut to that.
    pub timeout: Option<Duration>,
    /// How many bytes of each stream are kept. Default: 1,000,000. What is passed on as it comes is limited by the policy alone.
    pub max_output: usize,
    /// Kill the run when a stream brings more than that. Default: the rest is read and left out. A policy can only turn it on.
    pub kill_on_output: bool,
    /// How far the run is contained.
    pub containment: Containment,
    /// Of the hosts that the policy permits, only these are reached: `host`, `host:port`, a pattern, an address or a range. Empty
    /// for no such limit. What the policy does not permit is refused.
    pub allow_hosts: Vec<String>,
    /// Kills the run from another thread.
    pub cancel: Option<Cancel>,
    /// From when the command has started until what came of it is recorded, `SIGINT`, `SIGTERM` and `SIGHUP` to this process cancel it
    /// and are told ([`Ending::interrupted`](crate::Ending::interrupted)). For processes that run one command at a time, as the command
    /// line is, and need no alarm(2) of their own: of several runs only the first has the signals, and a second signal of a kind ends
    /// the process ([`Interrupts`](shward_sandbox::Interrupts)).
    pub interruptible: bool,
    /// What becomes of the programs that start inside. The policy can only make it stricter.
    pub gate: ExecGate,
    /// The only programs that may be executed inside, by path, the command's own included; of scripts, their interpreters. Empty
    /// for all.
    pub allow_exec: Vec<PathBuf>,
    /// Write straight to the workspace, for what has to be seen there while it runs. What is protected can then be kept from
    /// being changed only where it exists; what is created there is moved aside afterwards. Nothing can be undone.
    pub live: bool,
    /// Give the command a pseudo-terminal as standard input, output and error; its output is then one, that of standard output. At one
    /// at which somebody types nobody can be asked about programs that start inside: what the gate would ask about is denied.
    pub pty: Option<Pty>,
    /// What becomes of the changes. Without an overlay they are there already, so anything but `Commit` needs one.
    pub then: Then,
    /// The time that is left of a waiting, whatever the policy gives.
    pub(crate) at_most: Option<Duration>,
    /// An attempt of a waiting that has been counted.
    pub(crate) again: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            timeout: None,
            max_output: 1_000_000,
            kill_on_output: false,
            containment: Containment::default(),
            allow_hosts: Vec::new(),
            cancel: None,
            interruptible: false,
            gate: ExecGate::Off,
            allow_exec: Vec::new(),
            live: false,
            pty: None,
            then: Then::Commit,
            at_most: None,
            again: false,
        }
    }
}
