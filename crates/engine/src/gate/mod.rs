//! The programs that start inside a run, judged by the policy that the run was judged by.
//!
//! The verdict on a command covers the programs that it was predicted to start, with the arguments that were predicted. Whatever
//! else starts (make's recipes, a package's scripts, what a test runs) is judged on its own, as a contained argument list, when
//! the kernel has loaded it and before it runs. What is asked about waits for the same people and models as the command did.
//!
//! The judge goes by the file that is executed. Where the zeroth argument names another program, that is judged as well, and the
//! stricter holds: programs of many names (busybox) go by it, and anybody may say anything there.

mod predicted;

pub(crate) use predicted::{Pinned, Predicted};

use crate::machine::Within;
use crate::outcome::{GateReport, Seen};
use crate::review::Circumstances;
use crate::{Action, BadRequest, Checked, Firewall, Machine, Request, RunOptions};
use bumpalo::Bump;
use shward_analysis::Source;
use shward_policy::settings::ExecGate;
use shward_policy::{Decision, Grant, carries_code};
use shward_review::{Unanswered, Wanted};
use shward_sandbox::{Exec, Judge, Ruling, Withdrawn};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of arguments that are judged; more is denied. As much as a command may have.
const MAX_ARGUMENTS: usize = crate::MAX_COMMAND;

/// How long a signal may take to the thread that waits for it.
const SIGNAL: Duration = Duration::from_millis(20);

/// The run whose programs are judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gated<'f> {
    pub(crate) firewall: &'f Firewall,
    pub(crate) request: &'f Request,
    pub(crate) options: &'f RunOptions,
    pub(crate) timeout: Duration,
    /// The environment that the command was given.
    pub(crate) environment: &'f [(Vec<u8>, Vec<u8>)],
}

/// The judge of a run's programs.
pub(crate) struct Programs<'f> {
    run: Gated<'f>,
    world: &'f Machine,
    /// What is executed first, if that stands for the whole command: its own program, or `None` for a script, whose interpreter is
    /// what is executed.
    own: Option<Option<Pinned>>,
    /// What the verdict covers.
    predicted: Vec<Predicted>,
    seen: Mutex<Seen>,
}

/// A decision on a program, with the reason if it is not to run.
struct Found {
    decision: Decision,
    rule: String,
    message: String,
}

impl Found {
    fn allow() -> Self {
        Self { decision: Decision::Allow, rule: String::new(), message: String::new() }
    }

    fn deny(rule: &str, message: &str) -> Self {
        Self { decision: Decision::Deny, rule: rule.to_owned(), message: message.to_owned() }
    }

    fn new(checked: &Checked) -> Self {
        let first = checked.findings.first();
        Self {
            decision: checked.decision,
            rule: first.map(|f| f.rule.clone()).unwrap_or_default(),
            message: first.map(|f| f.message.clone()).unwrap_or_default(),
        }
    }

    fn stricter(self, other: Self) -> Self {
        if other.decision > self.decision { other } else { self }
    }
}

impl<'f> Programs<'f> {
    /// A judge for a run.
    pub(crate) fn new(
        run: Gated<'f>,
        world: &'f Machine,
        own: Option<Option<Pinned>>,
        predicted: Vec<Predicted>,
    ) -> Self {
        Self { run, world, own, predicted, seen: Mutex::new(Seen::new(run.options.gate)) }
    }

    /// What was seen, after the run.
    pub(crate) fn report(self) -> GateReport {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner).report()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, exec: &Exec, first: bool) -> Found {
        if let Some(own) = self.own.as_ref().filter(|_| first) {
            return match own {
                Some(own) if !own.is(exec, &self.run.request.workspace) => replaced(),
                _ => Found::allow(),
            };
        }
        if self.predicted.iter().any(|p| p.is_replaced_by(exec, &self.run.request.workspace)) {
            return replaced();
        }
        if exec.nameless {
            return Found::deny(
                "gate-nameless",
                "A program without a file (in memory, or deleted) cannot be judged. Run programs from files.",
            );
        }
        if exec.arguments.iter().map(|a| a.len() + 1).sum::<usize>() > MAX_ARGUMENTS {
            return Found::deny(
                "gate-too-long",
                "The arguments are too long to be judged. Pass them in a file.",
            );
        }
        let changed = self.changed(exec);
        if self.predicted.iter().any(|p| p.covers(exec, &changed, &self.run.request.workspace)) {
            return Found::allow();
        }
        let Some(readings) = readings(exec).filter(|_| !exec.is_loader() || self.loads_a_file(exec)) else {
            return Found::deny(
                "gate-loader",
                "The dynamic loader was started as a program, in a way that hides what it runs. Start the program itself.",
            );
        };
        let verdicts = readings.iter().map(|arguments| self.judged(exec, &words(&changed, arguments)));
        verdicts.fold(Found::allow(), Found::stricter)
    }

    /// Whether what the dynamic loader is to run is a file, as the process sees it: what is found by a descriptor may be in memory,
    /// and what has no slash is looked for elsewhere.
    fn loads_a_file(&self, exec: &Exec) -> bool {
        let program = exec.arguments.get(1).map(|name| exec.cwd.join(name));
        let world = Within::new(self.world, exec.pid);
        program.zip(world.ok()).is_some_and(|(program, world)| world.has_file(&program))
    }

    /// The verdict on an argument list.
    fn judged(&self, exec: &Exec, words: &[&[u8]]) -> Found {
        let arena = Bump::new();
        let source = Source::Argv(words);
        // Scripts are read, and links followed, as the program will.
        let Ok(world) = Within::new(self.world, exec.pid) else {
            return Found::deny("gate-unreadable", "What the program sees could not be looked at.");
        };
        let judged =
            self.run.firewall.judge_source(&arena, source, self.run.request, &exec.cwd, &world, true);
        match judged.verdict.decision() {
            Decision::Allow => Found::allow(),
            Decision::Ask | Decision::Deny => Found::new(&Checked::new(&judged.verdict)),
        }
    }

    /// Variables that can carry code and are not as the command got them, each as `NAME=value`.
    fn changed<'e>(&self, exec: &'e Exec) -> Vec<&'e [u8]> {
        let given =
            |name: &[u8], value: &[u8]| self.run.environment.iter().any(|(n, v)| n == name && v == value);
        let entries = exec.environment.iter().map(|entry| entry.as_bytes());
        entries
            .filter(|entry| {
                split(entry).is_some_and(|(name, value)| {
                    !given(name, value) && carries_code(&String::from_utf8_lossy(name))
                })
            })
            .collect()
    }

    /// What came of asking about a program.
    fn settled(&self, exec: &Exec, request: &Request, wanted: Wanted<'_>) -> Result<Checked, BadRequest> {
        let permits =
            |grant: &Grant| self.run.firewall.permissions(request, grant, self.run.options, self.run.timeout);
        let around = Circumstances {
            request,
            contained: true,
            counted: true,
            environment: self.run.environment,
            permits: Some(&permits),
            wanted,
        };
        let arena = Bump::new();
        let Action::Argv(argv) = &request.action else { return Err(BadRequest::Empty) };
        let words: Vec<&[u8]> = argv.iter().map(String::as_bytes).collect();
        let Ok(world) = Within::new(self.world, exec.pid) else { return Err(BadRequest::Empty) };
        let judge = || {
            let source = Source::Argv(&words);
            Ok(self.run.firewall.judge_source(&arena, source, request, &request.cwd, &world, true))
        };
        self.run.firewall.settle(&around, judge).map(|settled| settled.checked)
    }

    /// The requests that a person is asked about; `None` when one cannot be told in words.
    fn requests(&self, exec: &Exec) -> Option<Vec<Request>> {
        let changed = self.changed(exec);
        let request = |arguments: Vec<&OsStr>| {
            let words = words(&changed, &arguments);
            if self.judged(exec, &words).decision == Decision::Allow {
                return Some(None);
            }
            let words: Option<Vec<String>> =
                words.into_iter().map(|word| String::from_utf8(word.to_vec()).ok()).collect();
            let asked =
                Request { action: Action::Argv(words?), cwd: exec.cwd.clone(), ..self.run.request.clone() };
            Some(Some(asked))
        };
        let requests: Option<Vec<Option<Request>>> = readings(exec)?.into_iter().map(request).collect();
        Some(requests?.into_iter().flatten().collect())
    }
}

fn replaced() -> Found {
    Found::deny("gate-replaced", "The program was replaced after it was checked. Run the command again.")
}

/// The argument lists that a program is judged by: with its file; of the dynamic loader, that of the program that it runs, too (any
/// file can have such a name); and with the name that it was called by if that is another one, since some programs go by it.
fn readings(exec: &Exec) -> Option<Vec<Vec<&OsStr>>> {
    let given = || exec.arguments.iter().skip(1).map(OsString::as_os_str);
    let mut all: Vec<Vec<&OsStr>> = vec![[exec.program.as_os_str()].into_iter().chain(given()).collect()];
    if exec.is_loader() {
        let run: Vec<&OsStr> = given().collect();
        // Options of the loader can name libraries to load first.
        run.first().filter(|program| !program.as_bytes().starts_with(b"-"))?;
        all.push(run);
    }
    let called = exec.arguments.first().map(|name| base(name)).unwrap_or_default();
    if !called.is_empty() && called != base(exec.program.as_os_str()) {
        all.push([called].into_iter().chain(given()).collect());
    }
    Some(all)
}

/// An argument list for the analysis, with variables in front as env(1) takes them.
fn words<'w>(changed: &[&'w [u8]], arguments: &[&'w OsStr]) -> Vec<&'w [u8]> {
    let env: &[&[u8]] = if changed.is_empty() { &[] } else { &[b"env"] };
    [env, changed].concat().into_iter().chain(arguments.iter().map(|word| word.as_bytes())).collect()
}

/// Name and value of an entry of an environment.
fn split(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = entry.split_at(entry.iter().position(|&byte| byte == b'=')?);
    Some((name, value.get(1..)?))
}

fn base(name: &OsStr) -> &OsStr {
    Path::new(name).file_name().unwrap_or_default()
}

impl Judge for Programs<'_> {
    fn judge(&self, exec: &Exec) -> Ruling {
        let first = self.seen().add(exec);
        if self.run.options.gate != ExecGate::Enforce {
            return Ruling::Allow;
        }
        let found = self.find(exec, first);
        match found.decision {
            Decision::Allow => Ruling::Allow,
            Decision::Ask => Ruling::Ask,
            Decision::Deny => {
                self.seen().stop(exec, found.rule, found.message);
                Ruling::Deny
            }
        }
    }

    fn unlisted(&self, exec: &Exec) {
        let mut seen = self.seen();
        seen.add(exec);
        let message = "This program is not among those that may be executed (--allow-exec). Use one of them.";
        seen.stop(exec, "gate-unlisted".to_owned(), message.to_owned());
    }

    fn answer(&self, exec: &Exec, withdrawn: Withdrawn<'_>) -> bool {
        let wanted = Wanted::until(withdrawn);
        let unanswered = || {
            let message = format!("Nobody answered: {}.", Unanswered::Withdrawn);
            self.seen().stop(exec, "unanswered".to_owned(), message);
            false
        };
        // It waited for others that were asked about. Nobody is asked, and it is no attempt any more.
        if wanted.is_withdrawn() {
            return unanswered();
        }
        if self.run.options.pty.as_ref().is_some_and(|pty| pty.typed.is_some()) {
            let message =
                "Nobody can be asked while what is typed goes to the command. Run it without --pty.";
            self.seen().stop(exec, "gate-terminal".to_owned(), message.to_owned());
            return false;
        }
        let Some(requests) = self.requests(exec) else {
            let message = "Nobody can be asked about arguments that are not text.";
            self.seen().stop(exec, "gate-unreadable".to_owned(), message.to_owned());
            return false;
        };
        for request in requests {
            let found = match self.settled(exec, &request, wanted) {
                Ok(checked) if checked.decision == Decision::Allow => continue,
                Ok(checked) => Found::new(&checked),
                Err(error) => Found::deny("gate-unreadable", &error.to_string()),
            };
            self.seen().stop(exec, found.rule, found.message);
            return false;
        }
        // A yes that was typed after a signal can be read before the signal has reached the thread that takes it, which is
        // soon after.
        std::thread::sleep(SIGNAL);
        if wanted.is_withdrawn() { unanswered() } else { true }
    }
}
