//! `hook`: a host's event in, the host's answer out. Every failure of ours is a denial, and so is being late; the exit
//! code is 0 or 2.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags;
use crate::reviewers::Caller;
use crate::{check, help, setup, shown, terminal};
use shward::{Account, Action, Checked, Decision, Request, Setting};
use shward_hosts::{Answer, Command, Question, claude};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Longest accepted event: the longest command with every byte escaped, and room for the rest.
const MAX_EVENT: u64 = 8 << 20;

/// How long a decision may take, in seconds. Hosts let the command run when a hook is late; this is well before the timeout
/// that `install` writes.
const DEADLINE: u32 = 20;

/// What a late decision is told as.
const LATE: &str = "shward: no decision within 20 s, so the command is denied; try again\n";

/// Answers the event on standard input.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> Exit {
    // A panic must not look like an answer: most hosts let the command run when a hook breaks.
    std::panic::set_hook(Box::new(|info| {
        terminal::error(&format!("shward: internal error, so the command is denied: {info}"));
        #[expect(
            clippy::exit,
            reason = "unwinding would end in exit code 101, which hosts take for no opinion"
        )]
        std::process::exit(2);
    }));
    if let Err(e) = shward::deadline(DEADLINE, LATE, Exit::Deny.code()) {
        return deny(&format!("the deadline cannot be watched: {e}"));
    }
    let Some(verb) = flags::verb("hook") else { return deny("the hook verb is missing") };
    let args = match Args::parse(verb, words) {
        Ok(args) => args,
        Err(message) => return deny(&message),
    };
    if args.has(&flags::HELP) {
        return match terminal::line(&help::verb(verb)) {
            Ok(()) => Exit::Allow,
            Err(fail) => deny(&fail.message),
        };
    }
    match args.operands.as_slice() {
        [host] if host == claude::HOST => {}
        _ => return deny("name the host: shward hook claude"),
    }
    match answer(&args) {
        Ok(answer) => say(&answer),
        Err(message) => say(&claude::answer(
            shward_hosts::Decision::Deny,
            &format!("shward failed, so the command is denied: {message}"),
        )),
    }
}

fn answer(args: &Args) -> Result<Answer, String> {
    let mut event = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_EVENT + 1)
        .read_to_end(&mut event)
        .map_err(|e| format!("standard input: {e}"))?;
    if event.len() as u64 > MAX_EVENT {
        return Err(format!("the event has more than {MAX_EVENT} bytes; put the data into a file"));
    }
    let command = match claude::question(&event).map_err(|e| e.to_string())? {
        Question::NotOurs => return Ok(claude::no_opinion()),
        Question::OtherShell(shell) => {
            let reason = format!("shward reads Bash only, so {shell} is denied; use the Bash tool instead");
            return Ok(claude::answer(shward_hosts::Decision::Deny, &reason));
        }
        Question::Command(command) => command,
    };
    let request = request(command)?;
    let firewall = setup::reviewed(args, &request.workspace, Caller::Hook).map_err(|f| f.message)?;
    let mut setting = Setting::others();
    setting.host = Some(claude::HOST);
    let checked = firewall.check(&request, &setting).map_err(|e| e.to_string())?;
    let mut reason = reason(&checked);
    if let Some(unasked) = check::unasked(&firewall, &request, &setting, &checked) {
        let _ = write!(reason, "\n{unasked}");
    }
    // The process ends: what it has need not be given back piece by piece.
    std::mem::forget((firewall, request));
    Ok(claude::answer(host_decision(checked.decision), &reason))
}

/// The host's project is the workspace, where it says what that is; else the directory of the command. A directory of
/// the event that is not absolute or goes up by `..` is refused by [`Request::validate`].
fn request(command: Command) -> Result<Request, String> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let project = absolute("CLAUDE_PROJECT_DIR");
    let cwd = match (command.cwd, &project) {
        (Some(cwd), _) => PathBuf::from(cwd),
        (None, Some(project)) => project.clone(),
        (None, None) => {
            std::env::current_dir().map_err(|e| format!("the event names no directory, and {e}"))?
        }
    };
    let home = absolute("HOME").or_else(|| Account::of_process().home().map(Path::to_owned));
    let home = home.ok_or("HOME is not set, and the account has no home directory")?;
    // Wherever the agent goes: were the workspace to follow, `cd` would widen what the agent may change.
    let workspace = project.unwrap_or_else(|| cwd.clone());
    Ok(Request {
        action: Action::Command(command.command),
        workspace,
        cwd,
        home,
        session: command.session,
        call_id: command.call_id,
        reasoning: command.reasoning,
    })
}

/// What the model (for a denial) or the person (for a question) is told.
fn reason(checked: &Checked) -> String {
    let mut out = String::new();
    for finding in checked.findings.iter().filter(|f| f.decision == checked.decision) {
        let _ = writeln!(out, "{} [{}]", shown::one_line(&finding.message), finding.rule);
        if let Some(suggestion) = &finding.suggestion {
            let _ = writeln!(out, "Instead: {}", shown::one_line(suggestion));
        }
    }
    let answered = check::answered(checked);
    for line in answered.lines() {
        let _ = writeln!(out, "{}", line.trim_start());
    }
    if out.is_empty() {
        "shward: nothing in it needs a question".to_owned()
    } else {
        format!("shward: {}", out.trim_end())
    }
}

fn say(answer: &Answer) -> Exit {
    // From here on the answer counts: half of it beside a denial would help nobody.
    shward::withdraw_deadline();
    let written =
        io::stdout().lock().write_all(answer.stdout.as_bytes()).and_then(|()| io::stdout().lock().flush());
    if !answer.stderr.is_empty() {
        terminal::error(&answer.stderr);
    }
    match (answer.exit, written) {
        (0, Ok(())) => Exit::Allow,
        (_, Ok(())) => Exit::Deny,
        (_, Err(e)) => deny(&format!("the answer could not be written: {e}")),
    }
}

fn deny(message: &str) -> Exit {
    terminal::error(&format!("shward: {message}; the command is denied"));
    Exit::Deny
}

/// The host's word for a decision.
fn host_decision(decision: Decision) -> shward_hosts::Decision {
    match decision {
        Decision::Allow => shward_hosts::Decision::Allow,
        Decision::Ask => shward_hosts::Decision::Ask,
        Decision::Deny => shward_hosts::Decision::Deny,
    }
}
