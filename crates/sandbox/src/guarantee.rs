//! The guarantees of a sandbox, by name, and what this machine lacks of them.
//!
//! Each is found out with the calls of a run: a sandbox is built with all that can be left out left out, and then with one
//! thing more at a time. So "the network namespace is missing" means that a run with one fails and a run without one works.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use crate::confinement::Confinement;
use crate::error::{SandboxError, Stage};
use crate::probe::attempt;
use crate::{bubblewrap, cgroup, kernel, landlock, probe};

/// Something that a sandbox rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Guarantee {
    /// A user namespace: rights inside that are none outside. Everything else is made with them.
    UserNamespace,
    /// A mount namespace with a sealed view of the file system.
    MountNamespace,
    /// A pid namespace with a process 1 of its own: no other process is reached, and none survives.
    PidNamespace,
    /// A `/proc` of its own, which shows the processes of the sandbox only.
    FreshProc,
    /// A network namespace: no address outside is reached.
    NetworkNamespace,
    /// A namespace for System V IPC and POSIX message queues.
    IpcNamespace,
    /// A namespace for the host's name.
    HostNameNamespace,
    /// A namespace for the view of control groups.
    CgroupNamespace,
    /// Landlock, the second opinion on files, sockets and signals.
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// Namespaces and mounts that shward makes itself. Without it bubblewrap makes them, if the machine lets it.
    OwnNamespaces,
}

impl Guarantee {
    /// Every guarantee, what the others rest on first.
    pub const ALL: [Self; 11] = [
        Self::UserNamespace,
        Self::MountNamespace,
        Self::PidNamespace,
        Self::FreshProc,
        Self::NetworkNamespace,
        Self::IpcNamespace,
        Self::HostNameNamespace,
        Self::CgroupNamespace,
        Self::Landlock,
        Self::Seccomp,
        Self::OwnNamespaces,
    ];

    /// Those that a sandbox can be built without.
    pub const DISPENSABLE: [Self; 7] = [
        Self::FreshProc,
        Self::NetworkNamespace,
        Self::IpcNamespace,
        Self::HostNameNamespace,
        Self::CgroupNamespace,
        Self::Landlock,
        Self::OwnNamespaces,
    ];

    /// The stable kebab-case name, as policies and records have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserNamespace => "user-ns",
            Self::MountNamespace => "mount-ns",
            Self::PidNamespace => "pid-ns",
            Self::FreshProc => "fresh-proc",
            Self::NetworkNamespace => "net-ns",
            Self::IpcNamespace => "ipc-ns",
            Self::HostNameNamespace => "uts-ns",
            Self::CgroupNamespace => "cgroup-ns",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::OwnNamespaces => "own-namespaces",
        }
    }

    /// The guarantee of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guarantee| guarantee.name() == name)
    }

    /// What a command could do without it, for the person who is to accept that.
    pub const fn loss(self) -> &'static str {
        match self {
            Self::UserNamespace | Self::MountNamespace | Self::PidNamespace | Self::Seccomp => {
                "nothing would be confined"
            }
            Self::FreshProc => {
                "command lines of other processes are visible; Landlock keeps their memory and environment closed"
            }
            Self::NetworkNamespace => {
                "the network is closed by the system call filter alone; loopback and named hosts cannot be offered"
            }
            Self::IpcNamespace => {
                "shared memory, semaphores and message queues of the host (System V) are reached"
            }
            Self::HostNameNamespace => "the name of the host is shared; changing it stays refused",
            Self::CgroupNamespace => "the names of the host's control groups are visible",
            Self::Landlock => {
                "there is no second opinion on files: pipes and sockets that lie in read-only places can be written to, \
                 abstract sockets are closed by the network namespace alone"
            }
            Self::OwnNamespaces => {
                "bubblewrap makes namespaces and mounts: changes go straight to the workspace and cannot be undone or previewed, \
                 terminals and lists of the only programs are refused, and the number of files in private directories is not limited"
            }
        }
    }

    /// The flag of clone(2) that asks for it; 0 for what is no namespace.
    pub(crate) const fn clone_flag(self) -> i32 {
        match self {
            Self::UserNamespace => libc::CLONE_NEWUSER,
            Self::MountNamespace => libc::CLONE_NEWNS,
            Self::PidNamespace => libc::CLONE_NEWPID,
            Self::NetworkNamespace => libc::CLONE_NEWNET,
            Self::IpcNamespace => libc::CLONE_NEWIPC,
            Self::HostNameNamespace => libc::CLONE_NEWUTS,
            Self::CgroupNamespace => libc::CLONE_NEWCGROUP,
            Self::FreshProc | Self::Landlock | Self::Seccomp | Self::OwnNamespaces => 0,
        }
    }

    /// Which guarantee the failure of a step is about, when everything dispensable was left out.
    fn of_stage(stage: Stage) -> Option<Self> {
        match stage {
            Stage::Clone | Stage::IdMap | Stage::Bubblewrap => Some(Self::UserNamespace),
            Stage::Mount => Some(Self::MountNamespace),
            Stage::Proc => Some(Self::FreshProc),
            Stage::Landlock => Some(Self::Landlock),
            Stage::Seccomp => Some(Self::Seccomp),
            Stage::Init => Some(Self::PidNamespace),
            _ => None,
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether this machine gives a guarantee to this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// A sandbox with it was built.
    Given,
    /// A sandbox with it cannot be built; the error names what would mend that.
    Missing(SandboxError),
    /// Nothing was found out, because a sandbox cannot be built at all.
    Unknown,
}

/// What this machine gives of every guarantee, each found out by building sandboxes. Takes some milliseconds.
pub fn guarantees() -> Vec<(Guarantee, Presence)> {
    if attempt(&bare()).is_ok() {
        return Guarantee::ALL.map(|guarantee| (guarantee, Presence::Given)).to_vec();
    }
    let without = |kept: Option<Guarantee>| {
        Guarantee::DISPENSABLE
            .into_iter()
            .filter(|guarantee| Some(*guarantee) != kept && *guarantee != Guarantee::OwnNamespaces)
            .fold(bare(), Confinement::leaving_out)
    };
    match attempt(&without(None)) {
        Ok(()) => Guarantee::ALL
            .map(|guarantee| {
                let dispensable = Guarantee::DISPENSABLE.contains(&guarantee);
                match (dispensable && guarantee != Guarantee::OwnNamespaces)
                    .then(|| attempt(&without(Some(guarantee))))
                {
                    None | Some(Ok(())) => (guarantee, Presence::Given),
                    Some(Err(error)) => (guarantee, Presence::Missing(error)),
                }
            })
            .to_vec(),
        Err(error) if through_bubblewrap(&error) => Guarantee::ALL
            .map(|guarantee| match guarantee {
                Guarantee::OwnNamespaces => (guarantee, Presence::Missing(error.clone())),
                _ => (guarantee, Presence::Given),
            })
            .to_vec(),
        Err(error) => {
            let lacking = Guarantee::of_stage(error.stage);
            Guarantee::ALL
                .map(|guarantee| {
                    let missing = Some(guarantee) == lacking;
                    (guarantee, if missing { Presence::Missing(error.clone()) } else { Presence::Unknown })
                })
                .to_vec()
        }
    }
}

/// Whether bubblewrap makes a whole sandbox where we may not, because of what this error says.
fn through_bubblewrap(error: &SandboxError) -> bool {
    let refused = matches!(error.stage, Stage::Clone | Stage::IdMap | Stage::Mount)
        && matches!(error.errno, libc::EPERM | libc::EACCES);
    refused && attempt(&bare().leaving_out(Guarantee::OwnNamespaces)).is_ok()
}

/// The guarantees among `accepted` that this machine lacks and that a sandbox can be built without. Finding out takes some
/// milliseconds; nothing is tried if none is accepted.
pub fn lacking(accepted: &[Guarantee]) -> Vec<Guarantee> {
    if !accepted.iter().any(|guarantee| Guarantee::DISPENSABLE.contains(guarantee)) {
        return Vec::new();
    }
    let missing = guarantees().into_iter().filter(|(_, presence)| matches!(presence, Presence::Missing(_)));
    let accepted =
        |guarantee: &Guarantee| accepted.contains(guarantee) && Guarantee::DISPENSABLE.contains(guarantee);
    missing.map(|(guarantee, _)| guarantee).filter(accepted).collect()
}

fn bare() -> Confinement {
    Confinement::new("/", "/")
}

/// What the distribution has set that decides about sandboxes, by the name of its file; absent where the kernel has no such
/// setting.
pub fn settings() -> Vec<(&'static str, String)> {
    const FILES: &[&str] = &[
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/user/max_net_namespaces",
        "/proc/sys/kernel/yama/ptrace_scope",
        "/proc/sys/kernel/pid_max",
        "/proc/sys/vm/memfd_noexec",
        "/proc/sys/dev/tty/legacy_tiocsti",
        "/sys/kernel/security/lsm",
    ];
    let read = |path: &&'static str| Some((*path, fs::read_to_string(path).ok()?.trim().to_owned()));
    FILES.iter().filter_map(read).collect()
}

/// The release of the running kernel, as `uname -r` gives it.
pub fn kernel_release() -> String {
    kernel::kernel_release().to_string_lossy().into_owned()
}

/// What else matters to a sandbox.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Features {
    /// Release of the kernel, as `uname -r` gives it.
    pub kernel: String,
    /// Whether the effective user is root.
    pub root: bool,
    /// ABI version of Landlock.
    pub landlock: Option<u32>,
    /// Value of `kernel.yama.ptrace_scope`; absent without Yama.
    pub yama: Option<u32>,
    /// Whether another process traces this one.
    pub traced: bool,
    /// What a control group (v2) that this process may make can limit, of `cpu`, `memory` and `pids`; or why it cannot make one.
    pub cgroup: Result<Vec<String>, String>,
    /// Where the bubblewrap lies that could make namespaces, or why there is none.
    pub bubblewrap: Result<PathBuf, String>,
    /// Whether a program that starts inside was judged, or what stood in the way.
    pub gate: Result<(), SandboxError>,
    /// Whether an overlay was mounted on the file system of temporary files, or what stood in the way.
    pub overlay: Result<(), String>,
}

/// Looks them up, and tries those that can be tried. Takes some milliseconds.
pub fn features() -> Features {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse().ok();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    Features {
        kernel: kernel_release(),
        // SAFETY: cannot fail, no preconditions.
        root: unsafe { libc::geteuid() } == 0,
        landlock: landlock::version().ok(),
        yama: number("/proc/sys/kernel/yama/ptrace_scope"),
        traced: tracer.is_some_and(|tracer| tracer.trim() != "0"),
        cgroup: cgroup::place().map(|place| place.controllers),
        bubblewrap: bubblewrap::find(),
        gate: probe::gate(),
        overlay: probe::overlay(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for guarantee in Guarantee::ALL {
            assert_eq!(Guarantee::from_name(guarantee.name()), Some(guarantee));
        }
        assert_eq!(Guarantee::from_name("net"), None);
    }

    #[test]
    fn what_can_be_left_out_is_not_what_the_rest_is_made_of() {
        for base in [Guarantee::UserNamespace, Guarantee::MountNamespace, Guarantee::PidNamespace] {
            assert!(!Guarantee::DISPENSABLE.contains(&base));
        }
    }
}
