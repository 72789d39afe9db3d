//! `undo`: takes back what runs have changed in the workspace.

use crate::args::Args;
use crate::ask::Directories;
use crate::exit::Exit;
use crate::flags::{JSON, LIST};
use crate::terminal::{self, Fail};
use crate::{setup, state};
use serde_json::{Value, json};
use shward::audit::Log;
use shward::reviewing::{Approver as _, Terminal, one_line};
use shward::{Error, Kept, OverlayError, UndoReport};
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, SystemTime};

/// How many runs can be taken back at once.
const MAX: usize = 1000;

/// How many paths of a run are listed, of what is back and of what was left; `--json` has them all.
const MAX_LISTED: usize = 40;

/// From so many files on it takes a while, which somebody at a terminal is told.
const MANY: usize = 10_000;

/// Carries out the verb.
///
/// # Errors
/// There is no such run, or the store cannot be used.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    let workspace = Directories::from(args)?.workspace;
    let json = args.has(&JSON);
    let undoing = setup::undoing().ok_or_else(|| state::missing("nothing is kept to be undone"))?;
    let fail = |error: Error| match error {
        Error::Kept(OverlayError::Unknown(_) | OverlayError::Ambiguous(_) | OverlayError::Past(_)) => {
            Fail::usage(error.to_string())
        }
        _ => Fail::io(error.to_string()),
    };
    let kept = undoing.list(&workspace).map_err(|error| fail(error.into()))?;
    let past = undoing.past(&workspace).map_err(|error| fail(error.into()))?;
    let operand = match args.operands.as_slice() {
        [] => "1",
        [one] => one.to_str().ok_or_else(|| Fail::usage("give a number of runs, or an id"))?,
        [_, more, ..] => {
            return Err(Fail::usage(format!("unexpected {more:?}; give a number of runs, or one id")));
        }
    };
    if args.has(&LIST) {
        if !args.operands.is_empty() {
            return Err(Fail::usage("--list lists every run that is kept; leave out the number or id"));
        }
        list(&kept, &past, json)?;
        return Ok(Exit::Allow);
    }
    // What came before a run that cannot be taken back is not the last any more.
    let past = past.iter().max_by_key(|past| past.time);
    let mut stopped = None;
    let ids: Vec<String> = match operand.parse::<usize>() {
        // What was tried and could not be done is not tried again, unless by its name: it would keep back what came before it.
        Ok(count @ 1..=MAX) => {
            let after = |kept: &&Kept| past.is_none_or(|past| kept.time > past.time);
            let runs = kept.iter().filter(|kept| !kept.tried).filter(after);
            let ids: Vec<_> = runs.take(count).map(|kept| kept.id.clone()).collect();
            stopped = past.filter(|_| ids.len() < count);
            ids
        }
        Ok(_) => return Err(Fail::usage(format!("give a number from 1 to {MAX}, or an id"))),
        Err(_) => vec![operand.to_owned()],
    };
    // The latest first: an older run is only as it was when what came after it is gone.
    let (mut undone, mut unrecorded) = (Vec::new(), None);
    if !ids.is_empty() {
        let log = Log::open(setup::log_path(args)?).map_err(|e| Fail::io(e.to_string()))?;
        let by = Terminal::default().name();
        for id in &ids {
            let files = kept.iter().find(|kept| kept.id == *id).map_or(0, |kept| kept.counts.iter().sum());
            if !json && files >= MANY && io::stderr().is_terminal() {
                terminal::error(&format!("shward: taking back {files} files …"));
            }
            match undoing.undo_recorded(&workspace, id, &by, &log) {
                Ok(report) => undone.push(report),
                Err(Error::UnrecordedUndo { report, error }) => {
                    undone.push(*report);
                    unrecorded = Some(error);
                    break;
                }
                Err(error) => return Err(fail(error)),
            }
        }
    }
    // Who names a number wants so many; nobody has named one by saying nothing.
    let fewer = operand.parse().ok().filter(|asked| !args.operands.is_empty() && undone.len() < *asked);
    let skipped = undone.iter().any(|report| !report.skipped.is_empty());
    if json {
        let mut object = json!({ "v": 1, "undone": undone });
        if let (Some(stopped), Some(object)) = (stopped, object.as_object_mut()) {
            object.insert("stopped_by".to_owned(), not_kept(stopped));
        }
        terminal::line(&object.to_string())?;
    } else {
        let kept = undoing.list(&workspace).unwrap_or_default();
        terminal::line(&text(&undone, &kept, fewer, stopped))?;
    }
    match unrecorded {
        Some(error) => {
            Err(Fail::io(format!("what was taken back could not be recorded, and no more was: {error}")))
        }
        None => Ok(if skipped || fewer.is_some() || stopped.is_some() { Exit::Found } else { Exit::Allow }),
    }
}

fn list(kept: &[Kept], past: &[Kept], json: bool) -> Result<(), Fail> {
    if json {
        let runs: Vec<_> = kept
            .iter()
            .map(|kept| {
                let [created, changed, deleted] = kept.counts;
                json!({
                    "id": kept.id, "command": kept.title, "time_ms": kept.time, "created": created,
                    "changed": changed, "deleted": deleted, "bytes": kept.bytes, "tried": kept.tried,
                })
            })
            .collect();
        let past: Vec<_> = past.iter().map(not_kept).collect();
        return terminal::line(&json!({ "v": 1, "runs": runs, "not_kept": past }).to_string());
    }
    let mut all: Vec<(&Kept, bool)> = kept.iter().map(|kept| (kept, true)).collect();
    all.extend(past.iter().map(|past| (past, false)));
    all.sort_by_key(|(run, _)| Reverse(run.time));
    let mut out = String::new();
    for (run, is_kept) in all {
        let [created, changed, deleted] = run.counts;
        let what = match is_kept {
            true => format!("+{created} ~{changed} -{deleted}"),
            false => "cannot be taken back: no room for what was there before".to_owned(),
        };
        let tried = if run.tried { "  (something is left of it; only `undo ID` tries again)" } else { "" };
        let _ = writeln!(out, "{}  {:>9}  {what}  {}{tried}", run.id, ago(run.time), one_line(&run.title));
    }
    if out.is_empty() {
        out.push_str("nothing that can be taken back is kept for this workspace\n");
    }
    terminal::line(&out)
}

/// A run that cannot be taken back.
fn not_kept(past: &Kept) -> Value {
    json!({ "id": past.id, "command": past.title, "time_ms": past.time })
}

/// `kept` is what can be taken back now, `asked` how many runs were to be, if they were fewer, `stopped` the run before which none was.
fn text(undone: &[UndoReport], kept: &[Kept], asked: Option<usize>, stopped: Option<&Kept>) -> String {
    let tried = kept.iter().filter(|kept| kept.tried).count();
    let mut out = String::new();
    for report in undone {
        let what = if report.restored.is_empty() { "nothing could be taken back of" } else { "taken back" };
        let _ = writeln!(out, "{what}: {}", one_line(&report.command));
        for path in report.restored.iter().take(MAX_LISTED) {
            let _ = writeln!(out, "  {}", one_line(path));
        }
        if let Some(more @ 1..) = report.restored.len().checked_sub(MAX_LISTED) {
            let _ = writeln!(out, "  … and {more} more");
        }
        for skipped in report.skipped.iter().take(MAX_LISTED) {
            let _ = writeln!(out, "  left: {} {}", one_line(&skipped.path), skipped.reason);
        }
        let id = &report.id;
        if let Some(more @ 1..) = report.skipped.len().checked_sub(MAX_LISTED) {
            let _ = writeln!(out, "  left: … and {more} more (`shward undo --json {id}` lists all)");
        }
        if kept.iter().any(|kept| kept.id == *id) {
            let _ = writeln!(
                out,
                "  `shward undo {id}` tries what is left again; `shward undo` goes on with the run before"
            );
        }
    }
    if let Some(stopped) = stopped {
        let _ = writeln!(
            out,
            "cannot be taken back: {}: there was no room to keep what was there before it ([undo] size); what came before that run is \
             taken back by its id only, which `shward undo --list` shows",
            one_line(&stopped.title)
        );
    }
    if let Some(asked) = asked {
        let _ = writeln!(
            out,
            "{} of {asked} runs: no more {} for this workspace",
            undone.len(),
            if stopped.is_some() { "can be taken back" } else { "are kept" }
        );
    }
    if undone.is_empty() && stopped.is_some() {
        out.push_str("nothing was taken back\n");
    } else if undone.is_empty() && tried > 0 {
        let _ = writeln!(
            out,
            "nothing more can be taken back but what is left of {tried} runs; `shward undo --list` shows them, `shward undo ID` tries again"
        );
    } else if undone.is_empty() {
        out.push_str("nothing that can be taken back is kept for this workspace\n");
    } else {
        out.push_str("not taken back: what the command did outside the workspace or sent over a network\n");
    }
    out
}

/// How long ago, roughly.
fn ago(milliseconds: u64) -> String {
    let then = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds);
    let seconds = then.elapsed().unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}
