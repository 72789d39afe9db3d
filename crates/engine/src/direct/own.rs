//! Commands of nothing but builtins that print or have a status: there is no code in them to confine.
//!
//! bash carries such commands out itself, without a process of theirs. So does shward, without a sandbox: what such a command writes
//! and how it ends is known from its text, and nothing outside is touched. It is judged and recorded as any other, and whatever was
//! asked for that such an end could not show (a gate, a terminal, a preview, …) makes it an ordinary run.

use super::{SHELLS, read};
use crate::outcome::{Ending, Outcome};
use crate::proposal::Then;
use crate::report::Checked;
use crate::{Action, Containment, Error, Firewall, Request, RunOptions, record};
use read::Find;
use shward_audit::StreamHasher;
use shward_policy::Grant;
use shward_policy::settings::ExecGate;
use shward_sandbox::script::{self, List, Program};
use shward_sandbox::{Cancel, Captured, Exit, OnOutput, Plan, Script, Stream};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// The longest command that is looked at.
const LONGEST: usize = 4 << 10;

/// The most that such a command writes: what a pipe holds, so that nobody has to read before it has ended.
const MOST: usize = 64 << 10;

/// What such a command begins with.
const FIRST: [&str; 8] = ["!", ":", "echo", "false", "printf", "pwd", "true", "{"];

/// What comes of a decision, for its record.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carried<'p> {
    /// Nothing.
    Not,
    /// shward carries the command out itself, and starts no process.
    Itself,
    /// A process is confined by this plan.
    Confined(&'p Plan),
}

/// How a request would be carried out.
#[derive(Debug)]
#[non_exhaustive]
pub enum Sandboxed {
    /// It would not be run.
    NotRun,
    /// By shward itself: it has only builtins that print or have a status, and no process is started.
    NoProcess(Script),
    /// In a sandbox.
    Plan(Box<Plan>),
}

/// There are no programs.
struct Nothing;

impl Find for Nothing {
    fn find(&self, _: &[u8], _: Option<&Path>, _: bool) -> Option<Program> {
        None
    }
}

/// A command that shward may carry out itself.
#[derive(Debug)]
pub(crate) struct Own {
    list: List,
}

/// What it writes, and its status.
#[derive(Debug)]
pub(crate) struct Performed {
    stdout: Vec<u8>,
    status: u8,
}

impl Own {
    /// Reads one, if nothing was asked for that takes a sandbox. Of other commands little more than the first word is looked at.
    pub(crate) fn read(action: &Action, options: &RunOptions) -> Option<Self> {
        let Action::Command(text) = action else { return None };
        let first = text.trim_start().split([' ', '\t', '\n', ';', '&', '|']).next()?;
        if text.len() > LONGEST || !FIRST.contains(&first) {
            return None;
        }
        let contained = matches!(
            options.containment,
            Containment::Granted | Containment::WorkspaceWrite | Containment::ReadOnly
        );
        let plain = options.gate == ExecGate::Off
            && options.allow_exec.is_empty()
            && options.allow_hosts.is_empty()
            && options.pty.is_none()
            && !options.live
            && matches!(options.then, Then::Commit);
        if !contained || !plain {
            return None;
        }
        let list = read::read(text.as_bytes(), Path::new("/"), &Nothing)?.list;
        is_own(&list).then_some(Self { list })
    }

    /// What comes of it, if the plan that it was judged by says as well that it does nothing else.
    pub(crate) fn performed(
        &self,
        request: &Request,
        plan: &shward_analysis::Plan<'_>,
        grant: &Grant,
        environment: &[(Vec<u8>, Vec<u8>)],
    ) -> Option<Performed> {
        let inner = plan.refused.is_none()
            && plan.effects.is_empty()
            && plan.invocations.iter().all(|invocation| invocation.builtin);
        let needs = grant.workspace || grant.homes || !grant.hosts.is_empty();
        let set = |name: &[u8]| SHELLS.iter().any(|own| own.as_bytes() == name);
        if !inner
            || needs
            || environment.iter().any(|(name, _)| set(name))
            || !request.cwd.starts_with(&request.workspace)
        {
            return None;
        }
        let mut stdout = Vec::new();
        let status = perform(&self.list, &request.cwd, &mut stdout)?;
        Some(Performed { stdout, status })
    }

    /// As a plan tells it.
    pub(crate) fn script(self) -> Script {
        Script { list: self.list }
    }
}

/// Whether a list has nothing in it but what [`perform`] carries out.
fn is_own(list: &List) -> bool {
    match list {
        List::Pipeline { commands, .. } => match commands.as_slice() {
            [command] if command.redirects.is_empty() => match &command.action {
                script::Action::Print { .. } | script::Action::PrintDirectory | script::Action::Status(_) => {
                    true
                }
                script::Action::Group(list) => is_own(list),
                _ => false,
            },
            _ => false,
        },
        List::And(first, second) | List::Or(first, second) => is_own(first) && is_own(second),
        List::Sequence(lists) => lists.iter().all(is_own),
        _ => false,
    }
}

/// Carries a list out. Its status, or `None` if it writes too much.
fn perform(list: &List, directory: &Path, stdout: &mut Vec<u8>) -> Option<u8> {
    match list {
        List::Pipeline { commands, negated } => {
            let [command] = commands.as_slice() else { return None };
            let status = match &command.action {
                script::Action::Print { bytes, .. } => {
                    stdout.extend_from_slice(bytes);
                    0
                }
                script::Action::PrintDirectory => {
                    stdout.extend_from_slice(directory.as_os_str().as_bytes());
                    stdout.push(b'\n');
                    0
                }
                script::Action::Status(status) => *status,
                script::Action::Group(list) => perform(list, directory, stdout)?,
                _ => return None,
            };
            if stdout.len() > MOST {
                return None;
            }
            Some(if *negated { u8::from(status == 0) } else { status })
        }
        List::And(first, second) => match perform(first, directory, stdout)? {
            0 => perform(second, directory, stdout),
            status => Some(status),
        },
        List::Or(first, second) => match perform(first, directory, stdout)? {
            0 => Some(0),
            _ => perform(second, directory, stdout),
        },
        List::Sequence(lists) => lists.iter().try_fold(0, |_, list| perform(list, directory, stdout)),
        _ => None,
    }
}

impl Performed {
    /// Whether nothing would have ended it before its own end.
    pub(crate) fn is_whole(&self, options: &RunOptions, timeout: Duration) -> bool {
        let exceeds = options.kill_on_output && self.stdout.len() > options.max_output;
        !exceeds && !timeout.is_zero() && !is_cancelled(options)
    }
}

fn is_cancelled(options: &RunOptions) -> bool {
    options.cancel.as_ref().is_some_and(Cancel::is_cancelled)
}

impl Firewall {
    /// The request as one that shward may carry out itself. Where the policy requires something of the machine, every run does.
    pub(crate) fn own(&self, request: &Request, options: &RunOptions) -> Option<Own> {
        Own::read(&request.action, options).filter(|_| !self.policy().requires("cgroup"))
    }

    /// Records the decision, hands out what the command writes, and records its end.
    ///
    /// # Errors
    /// The decision cannot be recorded: then nothing was written. Or the end cannot.
    pub(crate) fn carry_out(
        &self,
        performed: &Performed,
        request: &Request,
        checked: Checked,
        options: &RunOptions,
        timeout: Duration,
        on_output: OnOutput<'_>,
    ) -> Result<Outcome, Error> {
        let run = self.record_decision(request, &checked, options, Carried::Itself)?;
        let stdout = performed.stdout.as_slice();
        if !stdout.is_empty() {
            on_output(Stream::Stdout, stdout);
        }
        // Whoever stopped reading ends what writes.
        let cancelled = !stdout.is_empty() && is_cancelled(options);
        let exit = if cancelled { Exit::Signaled(SIGKILL) } else { Exit::Exited(performed.status.into()) };
        let streams = [stdout, &[]].map(|bytes| Captured::of(bytes, options.max_output));
        let ending = Ending { cancelled, ..Ending::new(exit, timeout, streams) };
        let (mut out, err) = (StreamHasher::new(), StreamHasher::new());
        out.update(stdout);
        let record = run.map(|run| record::ended(request, run, &ending, [out.finish(), err.finish()]));
        self.ended(request, checked, ending, record)
    }
}

/// What a run that is cancelled is ended by, on every machine (signal(7)).
const SIGKILL: i32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Own> {
        Own::read(&Action::Command(text.to_owned()), &RunOptions::default())
    }

    #[test]
    fn what_shward_carries_out_itself() {
        // command, what it writes, its status
        let table: &[(&str, &str, u8)] = &[
            ("true", "", 0),
            (" : a b", "", 0),
            ("false", "", 1),
            ("! true", "", 1),
            ("! false", "", 0),
            ("! ! false", "", 1),
            ("echo -n a; echo -e 'b\\tc'; echo", "ab\tc\n\n", 0),
            ("printf '%s,' a 'b c' && pwd", "a,b c,/w d\n", 0),
            ("false && echo no || echo yes", "yes\n", 0),
            ("true || echo no && echo a", "a\n", 0),
            ("{ echo a; false; } || ! { echo b; }", "a\nb\n", 1),
            ("echo a\n\nfalse", "a\n", 1),
            ("false; true", "", 0),
            ("echo a # not this", "a\n", 0),
        ];
        for (text, written, status) in table {
            let own = read(text).unwrap_or_else(|| panic!("{text}"));
            let mut stdout = Vec::new();
            assert_eq!(perform(&own.list, Path::new("/w d"), &mut stdout), Some(*status), "{text}");
            assert_eq!(String::from_utf8(stdout).unwrap(), *written, "{text}");
        }
    }

    #[test]
    fn what_it_does_not() {
        for text in [
            "ls",
            "/bin/true",
            "true; ls",
            "true || ls",
            "false && cat x",
            "echo a > out",
            "echo a >&2",
            "true < in",
            "echo a | true",
            "(true)",
            "cd /",
            "true || cd /",
            "echo $HOME",
            "echo ~",
            "echo *",
            "echo $(true)",
            "echo `true`",
            "true &",
            "time true",
            "x=1 true",
            "x=1; true",
            "echo() { ls; }; echo a",
            "alias echo=ls; echo",
            "printf -v x a",
            "printf '%q' a",
            "pwd -P",
            "if true; then true; fi",
            "! exec true",
            "true; exit 3",
            "\\true",
            "command true",
            "builtin true",
            "test a",
        ] {
            assert!(read(text).is_none(), "{text}");
        }
        assert!(read(&format!("echo {}", "a".repeat(LONGEST))).is_none());
    }

    #[test]
    fn what_a_pipe_does_not_hold_is_not_written_at_once() {
        let text = format!("printf '%s' {}", "a ".repeat(LONGEST / 2 - 10));
        let own = read(&text).unwrap();
        let mut stdout = vec![0; MOST - 100];
        assert_eq!(perform(&own.list, Path::new("/"), &mut stdout), None);
    }

    #[test]
    fn what_would_be_ended_early_is_run() {
        let performed = Performed { stdout: b"hello".to_vec(), status: 0 };
        let whole = |change: fn(&mut RunOptions), seconds| {
            let mut options = RunOptions::default();
            change(&mut options);
            performed.is_whole(&options, Duration::from_secs(seconds))
        };
        assert!(whole(|_| (), 1));
        assert!(!whole(|_| (), 0));
        assert!(whole(|o| o.max_output = 4, 1));
        assert!(whole(|o| (o.max_output, o.kill_on_output) = (5, true), 1));
        assert!(!whole(|o| (o.max_output, o.kill_on_output) = (4, true), 1));
        assert!(!whole(
            |o| {
                let cancel = Cancel::new().unwrap();
                cancel.cancel();
                o.cancel = Some(cancel);
            },
            1
        ));
    }

    #[test]
    fn what_takes_a_sandbox_gets_one() {
        type Change = fn(&mut RunOptions);
        let changes: [Change; 9] = [
            |o| o.gate = ExecGate::Observe,
            |o| o.allow_exec.push("/bin/true".into()),
            |o| o.allow_hosts.push("example.com".to_owned()),
            |o| o.pty = Some(shward_sandbox::Pty::default()),
            |o| o.live = true,
            |o| o.then = Then::Drop,
            |o| o.containment = Containment::Full,
            |o| o.containment = Containment::Speculate,
            |o| o.containment = Containment::Network,
        ];
        let action = Action::Command("true".to_owned());
        for (at, change) in changes.iter().enumerate() {
            let mut options = RunOptions::default();
            assert!(Own::read(&action, &options).is_some());
            change(&mut options);
            assert!(Own::read(&action, &options).is_none(), "{at}");
        }
        assert!(Own::read(&Action::Argv(vec!["true".to_owned()]), &RunOptions::default()).is_none());
    }
}
