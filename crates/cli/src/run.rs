//! `run`: decide, then run what is allowed in the sandbox.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{ALLOW_EXEC, ALLOW_HOST, CONTAIN, GATE, JSON, LIVE, MAX_OUTPUT, PREVIEW, PTY, TIMEOUT};
use crate::reviewers::Caller;
use crate::shown::one_line;
use crate::terminal::{self, Fail};
use crate::{ask, check, preview, setup};
use shward::{
    Beginning, Cancel, Containment, Decision, Error, ExecGate, LargePages, Outcome, OutputStream, Pty,
    RunOptions,
};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest time that can be asked for, in seconds: a day.
const MAX_TIMEOUT: u64 = 86_400;

/// The number of the signal on every machine that we build for (signal(7)).
const SIGPIPE: i32 = 13;

/// Carries out the verb.
///
/// # Errors
/// Nothing ran, because the options or the request are wrong, the decision could not be recorded, or the sandbox could
/// not be built; or the command ran and what became of it could not be told.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    let request = ask::request(args).map_err(not_run)?;
    let mut options = options(args)?;
    let json = args.has(&JSON);
    let unasked = Arc::new(AtomicBool::new(false));
    options.then = preview::then(args, json, &unasked)?;
    options.live = args.has(&LIVE);
    options.pty = args.has(&PTY).then(|| pty(json));
    // What threads need is done while the command runs, or before the first of them starts.
    let beginning = Beginning::of(&request, &options);
    LargePages::keep_small_blocks();
    let firewall = setup::reviewed(args, &request.workspace, Caller::Run).map_err(not_run)?;
    let cancel = Cancel::new().map_err(|e| not_run(Fail::io(e.to_string())))?;
    options.cancel = Some(cancel.clone());
    options.interruptible = true;
    let mut relay = Relay {
        limit: if args.get(&MAX_OUTPUT).is_some() { options.max_output } else { usize::MAX },
        written: [0, 0],
        cancel,
        closed: false,
    };
    let mut on_output = |stream: OutputStream, bytes: &[u8]| {
        if !json {
            relay.write(stream, bytes);
        }
    };
    let (outcome, unrecorded) = match firewall.run_begun(&request, &options, beginning, &mut on_output) {
        Ok(outcome) => (outcome, None),
        Err(Error::Unrecorded { outcome, error }) => (*outcome, Some(error)),
        Err(Error::BadRequest(e)) => return Err(Fail::input(e.to_string())),
        Err(e @ Error::BadHost(..)) => return Err(Fail::usage(e.to_string())),
        Err(e) => return Err(not_run(Fail::io(e.to_string()))),
    };
    // Before the outcome, whose writing may fail too.
    if let Some(error) = &unrecorded {
        terminal::error(&format!("shward: the command ran, but how it ended could not be recorded: {error}"));
    }
    if json {
        terminal::line(&serde_json::to_string(&outcome).map_err(|e| Fail::io(e.to_string()))?)?;
    } else {
        say(&outcome, &relay);
        let read_only =
            firewall.policy().all_settings().any(|s| s.read_only.as_ref().is_some_and(|set| set.value));
        say_unreached(&outcome, options.containment, read_only);
        for hint in outcome.ending.iter().flat_map(|ending| &ending.hints) {
            terminal::error(&format!("shward: perhaps because it ran in a sandbox: {hint}"));
        }
        if let Some(ending) = &outcome.ending {
            preview::say(ending, args.has(&PREVIEW), args.has(&LIVE));
        }
    }
    if let Some(signal) = outcome.ending.as_ref().and_then(|ending| ending.interrupted) {
        // Whoever waits for this process learns that it was ended, and a shell ends its loop.
        drop(firewall);
        shward::end_by(signal);
    }
    Ok(match exit(&outcome, relay.closed) {
        _ if unrecorded.is_some() => Exit::Io,
        // It did what it was to do, and nobody said that it may stay.
        Exit::Command(0) if unasked.load(Ordering::Relaxed) => Exit::Refused,
        exit => exit,
    })
}

/// A failure before anything ran, which for wrong usage and input keeps its own code.
fn not_run(fail: Fail) -> Fail {
    match fail.exit {
        Exit::Io => Fail { exit: Exit::NotRun, ..fail },
        _ => fail,
    }
}

/// A terminal for the command. Where somebody sits at ours, and what the command shows is shown there, that one types.
fn pty(json: bool) -> Pty {
    let ours = io::stdin();
    let typed = (!json && ours.is_terminal()).then(|| ours.as_fd().try_clone_to_owned().ok()).flatten();
    typed.map_or_else(Pty::default, Pty::typed)
}

fn options(args: &Args) -> Result<RunOptions, Fail> {
    let mut options = gated(args)?;
    if let Some(seconds) = args.number(&TIMEOUT, 1, MAX_TIMEOUT).map_err(Fail::usage)? {
        options.timeout = Some(Duration::from_secs(seconds));
    }
    if let Some(bytes) = args.number(&MAX_OUTPUT, 0, 1 << 30).map_err(Fail::usage)? {
        options.max_output = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    if let Some(name) = args.text(&CONTAIN).map_err(Fail::usage)? {
        options.containment = Containment::from_name(name).ok_or_else(|| {
            let levels: Vec<&str> = Containment::ALL.iter().map(|level| level.name()).collect();
            Fail::usage(format!("--contain: unknown level {name:?}; levels: {}", levels.join(" ")))
        })?;
    }
    let hosts = args.texts(&ALLOW_HOST).map_err(Fail::usage)?;
    if !hosts.is_empty() && args.get(&CONTAIN).is_none() {
        options.containment = Containment::Network;
    }
    options.allow_hosts = hosts.into_iter().map(str::to_owned).collect();
    Ok(options)
}

/// The options that say what becomes of the programs inside, the rest as by default.
///
/// # Errors
/// They are wrong.
pub(crate) fn gated(args: &Args) -> Result<RunOptions, Fail> {
    let mut options = RunOptions::default();
    if let Some(name) = args.text(&GATE).map_err(Fail::usage)? {
        options.gate = ExecGate::from_name(name).ok_or_else(|| {
            Fail::usage(format!("--gate: unknown mode {name:?}; modes: off observe enforce"))
        })?;
    }
    for path in args.texts(&ALLOW_EXEC).map_err(Fail::usage)? {
        if !path.starts_with('/') {
            return Err(Fail::usage(format!("--allow-exec: {path:?} is not an absolute path")));
        }
        options.allow_exec.push(path.into());
    }
    Ok(options)
}

/// Passes output on as it comes.
struct Relay {
    limit: usize,
    written: [usize; 2],
    cancel: Cancel,
    /// Nobody reads any more.
    closed: bool,
}

impl Relay {
    fn write(&mut self, stream: OutputStream, bytes: &[u8]) {
        let [out, err] = &mut self.written;
        let written = if stream == OutputStream::Stdout { out } else { err };
        let room = self.limit.saturating_sub(*written);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        *written += bytes.len();
        let done = match stream {
            OutputStream::Stdout => {
                io::stdout().lock().write_all(bytes).and_then(|()| io::stdout().lock().flush())
            }
            OutputStream::Stderr => io::stderr().lock().write_all(bytes),
        };
        // Nobody reads any more: the command would get SIGPIPE if it wrote there itself.
        if done.is_err() {
            self.closed = true;
            self.cancel.cancel();
        }
    }
}

fn say(outcome: &Outcome, relay: &Relay) {
    let Some(ending) = &outcome.ending else {
        let checked = &outcome.verdict;
        terminal::error(&format!("shward: not run: {}", check::text(checked).trim_end()));
        if checked.decision == Decision::Ask {
            terminal::error("shward: nobody answered; have a person allow it, or change the command");
        }
        return;
    };
    if ending.timed_out {
        terminal::error(&format!(
            "shward: timed out after {} s; the command and everything it started was killed",
            ending.timeout.as_secs()
        ));
    }
    if let Some(signal) = ending.interrupted {
        terminal::error(&format!(
            "shward: interrupted by signal {signal}; {}",
            if ending.cancelled {
                "the command and everything it started was killed"
            } else if ending.changes.as_ref().is_some_and(|changes| !changes.committed) {
                "the command had ended, and nothing of what it changed is kept"
            } else {
                "the command had ended, and what came of it is kept"
            }
        ));
    }
    if ending.output_exceeded {
        terminal::error(
            "shward: more output than the policy lets pass; the command and everything it started was killed",
        );
    }
    if let Some(used) = ending.disk_exceeded {
        let kept =
            if ending.live.is_some() { "what it wrote is still there" } else { "nothing of it is kept" };
        terminal::error(&format!(
            "shward: {}; the command and everything it started was killed, and {kept}",
            used.message()
        ));
    }
    if let Some(why) = &ending.session_lost {
        terminal::error(&format!("shward: the session is not remembered as it ended: {}", one_line(why)));
    }
    if ending.out_of_memory {
        terminal::error(
            "shward: the memory that the policy gives a run was used up, and something in it was killed",
        );
    }
    let refused = ending.connections.iter().filter(|connection| connection.result == "refused");
    let mut refused: Vec<&str> = refused.map(|connection| connection.destination.as_str()).collect();
    refused.sort_unstable();
    refused.dedup();
    if !refused.is_empty() {
        terminal::error(&format!(
            "shward: connections that the policy does not permit: {}",
            refused.join(" ")
        ));
    }
    let total = ending.stdout.total.saturating_add(ending.stderr.total);
    let shown = (relay.written.iter().sum::<usize>()) as u64;
    if shown < total && !ending.cancelled {
        let limit = if relay.limit == usize::MAX {
            "max-output of the policy"
        } else {
            "--max-output, or max-output of the policy"
        };
        terminal::error(&format!("shward: {} bytes of output are not shown ({limit})", total - shown));
    }
    for stopped in ending.gate.iter().flat_map(|gate| &gate.stopped) {
        let words = stopped.argv.iter().map(|word| one_line(word)).collect::<Vec<_>>().join(" ");
        let (rule, message) = (&stopped.rule, one_line(&stopped.message));
        terminal::error(&format!("shward: stopped before it ran: {words}: {message} [{rule}]"));
    }
    if ending.left_running {
        terminal::error(
            "shward: something that the command had started was still running half a second after its end, and was killed; `wait` waits for it",
        );
    }
    let limited = ending.output_exceeded || ending.disk_exceeded.is_some();
    if let Some(signal) = ending.signal.filter(|_| !ending.timed_out && !ending.cancelled && !limited) {
        terminal::error(&format!("shward: the command died of signal {signal}"));
    }
}

/// Why nothing outside was reached, which the command itself cannot tell from a network that is down. `read_only` is whether the
/// policy has every run so.
fn say_unreached(outcome: &Outcome, containment: Containment, read_only: bool) {
    let hosts = outcome.ending.as_ref().map_or(&[][..], |ending| &ending.unreached);
    if hosts.is_empty() {
        return;
    }
    let known: Vec<String> = hosts.iter().filter(|host| *host != "…").map(|host| one_line(host)).collect();
    let unknown = (known.len() < hosts.len()).then_some("a host that is not known");
    let named = known.iter().map(String::as_str).chain(unknown).collect::<Vec<_>>().join(", ");
    let mend = match containment {
        _ if read_only => "the policy has every run without a network ([sandbox] read-only)".to_owned(),
        Containment::Granted | Containment::Network => {
            let host = known.first().map_or("HOST", String::as_str);
            format!("a person can permit it in their policy, with [network] allow = [{host:?}]")
        }
        level => format!(
            "--contain {} has no network; without it, what the policy permits is reached ([network] allow)",
            level.name()
        ),
    };
    terminal::error(&format!("shward: nothing outside was reached ({named}): {mend}"));
}

/// `closed` is whether the run was ended because nobody reads its output.
fn exit(outcome: &Outcome, closed: bool) -> Exit {
    match &outcome.ending {
        None => Exit::Refused,
        Some(e) if e.timed_out => Exit::TimedOut,
        Some(e) => match (e.exit_code, e.signal) {
            // It did what it was to do, and that is not in the workspace.
            (Some(0), _) if e.changes.as_ref().is_some_and(|changes| !changes.failed.is_empty()) => Exit::Io,
            (Some(code), _) => Exit::Command(u8::try_from(code).unwrap_or(255)),
            // What a command gets that writes where nobody reads.
            (None, Some(_)) if closed && e.cancelled => Exit::Signal(SIGPIPE),
            (None, Some(signal)) => Exit::Signal(e.interrupted.unwrap_or(signal)),
            (None, None) => Exit::NotRun,
        },
    }
}
