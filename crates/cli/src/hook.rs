//! `hook`: a host's event in, the host's answer out. Every failure of ours is a denial, and so is being late; the exit
//! code is 0 or 2.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags;
use crate::reviewers::Caller;
use crate::{check, help, setup, shown, terminal};
use shward::{Account, Action, Checked, Decision, Request, Setting};
use shward_hosts::{Answer, Change, Command, Question, claude};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

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
        Question::Change(change) => {
            let tool = shown::one_line(change.tool);
            return Ok(changed(args, change).unwrap_or_else(|message| {
                let reason = format!("shward failed, so {tool} may not change this file: {message}");
                claude::answer(shward_hosts::Decision::Deny, &reason)
            }));
        }
        Question::Command(command) => command,
    };
    let unasked_in = command.unasked_in.clone();
    let request = request(command)?;
    let firewall = setup::reviewed(args, &request.workspace, Caller::Hook).map_err(|f| f.message)?;
    let setting = setting();
    let checked = firewall.check(&request, &setting).map_err(|e| e.to_string())?;
    let mut reason = reason(&checked);
    if let Some(unasked) = check::unasked(&firewall, &request, &setting, &checked) {
        let _ = write!(reason, "\n{unasked}");
    }
    let mut decision = host_decision(checked.decision);
    if let (shward_hosts::Decision::Ask, Some(mode)) = (decision, unasked_in) {
        // What may run although nobody was asked is not allowed.
        decision = shward_hosts::Decision::Deny;
        let mode = shown::one_line(&mode.chars().take(40).collect::<String>());
        let _ = write!(
            reason,
            "\nIt needs an answer, and in the mode `{mode}` Claude Code may run it without one: it is denied until a person \
             has allowed it"
        );
    }
    // The process ends: what it has need not be given back piece by piece.
    std::mem::forget((firewall, request));
    Ok(claude::answer(decision, &reason))
}

/// Another tool than the shell changes a file: where no command may write, none of these may. About all else the host
/// decides, which asks by rules of its own.
fn changed(args: &Args, change: Change) -> Result<Answer, String> {
    let Change { tool, path, cwd, session, call_id } = change;
    let command = Command { cwd, session, call_id, ..Command::default() };
    let mut request = request(command)?;
    let path = notes(&request.cwd.join(&path), &request.home).unwrap_or(path);
    let places = places(&path, &request.home)?;
    if places.iter().any(|place| !can_be_told(&request.cwd.join(place))) {
        return Err(UNTOLD.to_owned());
    }
    request.action = Action::Command(opening(&places));
    request.reasoning = Some(format!("the tool {tool}"));
    let firewall = setup::reviewed(args, &request.workspace, Caller::Hook).map_err(|f| f.message)?;
    let setting = setting();
    let mut judged = firewall.examine(&request, &setting).map_err(|e| e.to_string())?;
    let told = judged.findings.len();
    judged.findings.retain(|finding| !OF_WORDS.contains(&&*finding.rule));
    if judged.findings.len() < told {
        judged.decision =
            judged.findings.iter().map(|finding| finding.decision).max().unwrap_or(Decision::Allow);
    }
    if judged.decision != Decision::Deny && judged.findings.iter().any(|finding| finding.rule == UNKNOWN) {
        return Err(UNTOLD.to_owned());
    }
    if judged.decision != Decision::Deny {
        return Ok(claude::no_opinion());
    }
    firewall.check(&request, &setting).map_err(|e| e.to_string())?;
    Ok(claude::answer(shward_hosts::Decision::Deny, &reason(&judged)))
}

/// The rule about what may be any file. No command is asked about here, which a sandbox could hold.
const UNKNOWN: &str = "unknown-written";

/// Why such a place is denied.
const UNTOLD: &str = "which file that is cannot be told, since the path leads through a process; name the file by its own path";

/// As many links as the kernel follows in one path (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Whether a path means the same file to whoever opens it, and when: none of its links is one of a process (proc(5)), which
/// leads wherever that process is or whatever it has opened.
fn can_be_told(path: &Path) -> bool {
    let proc = Path::new("/proc");
    let device = |place: &Path| place.symlink_metadata().map(|found| found.dev()).ok();
    let mut left: Vec<OsString> = path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
    let mut place = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = left.pop() {
        if name == ".." {
            place.pop();
            continue;
        }
        let above = place.clone();
        place.push(&name);
        if place != proc && place.starts_with(proc) {
            return false;
        }
        let Ok(aim) = place.read_link() else { continue };
        links += 1;
        // The same file system may be mounted elsewhere, too.
        if links > MAX_LINKS || device(&above) == device(proc) {
            return false;
        }
        left.extend(aim.components().rev().map(|part| part.as_os_str().to_owned()));
        place = above;
    }
    true
}

/// What the host keeps in its directory of settings, and neither obeys as a setting nor as a hook: the tables say nothing of it
/// in the usual place.
const NOTES: [&str; 7] = ["plans", "projects", "todos", "CLAUDE.md", "agents", "commands", "skills"];

/// The usual place of a note of the host's that lies in a directory of settings elsewhere, of which no command may change
/// anything. Links are followed, and a link is no note.
fn notes(path: &Path, home: &Path) -> Option<String> {
    let settings = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|d| d.is_absolute())?;
    if path.components().any(|part| part == Component::ParentDir) || path.is_symlink() {
        return None;
    }
    let settings = settings.canonicalize().ok()?;
    let (known, rest) = path.ancestors().find_map(|known| {
        let rest = path.strip_prefix(known).ok()?;
        Some((known.canonicalize().ok()?, rest))
    })?;
    let whole = known.join(rest);
    let below = whole.strip_prefix(settings).ok()?;
    let is_note = NOTES.iter().any(|directory| below.starts_with(directory));
    is_note.then(|| home.join(".claude").join(below).to_str().map(str::to_owned)).flatten()
}

/// The rules about how a command is written: the words in which a change is put here are nobody's.
const OF_WORDS: [&str; 5] =
    ["not-simple", "not-a-chain", "not-a-pipeline", "shell-refused", "program-unlisted"];

/// The files that a path may mean to the host.
///
/// # Errors
/// The path is read in more than one way.
fn places(path: &str, home: &Path) -> Result<Vec<String>, String> {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    if path.is_empty() || path.starts_with(blank) || path.ends_with(blank) {
        return Err(format!(
            "the path {path:?} is empty, or has blanks at an end; name the file without them"
        ));
    }
    let mut places = vec![path.to_owned()];
    if let Some(below) = path.strip_prefix('~').filter(|below| below.is_empty() || below.starts_with('/')) {
        // Hosts differ in whether that is a home directory.
        let home = home.to_str().ok_or("the home directory is not UTF-8")?;
        places.push(format!("{home}{below}"));
    }
    Ok(places)
}

/// The command that opens files to change them, and does nothing else.
fn opening(places: &[String]) -> String {
    let opened: Vec<String> = places.iter().map(|p| format!(">'{}'", p.replace('\'', "'\\''"))).collect();
    opened.join(" ")
}

fn setting() -> Setting {
    let mut setting = Setting::others();
    setting.host = Some(claude::HOST);
    setting
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
