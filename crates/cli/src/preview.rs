//! What a run did to the workspace, as a person reads it: the list, the difference, and what was refused.

use crate::args::Args;
use crate::diff::unified;
use crate::flags::{COMMIT, DROP, PREVIEW};
use crate::terminal::{self, Fail};
use shward::reviewing::{Reply, Shown, Terminal, one_line};
use shward::{ChangeReport, ChangesReport, Ending, Proposal, RefusedReport, Then};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many files are listed.
const MAX_FILES: usize = 200;

/// How many lines of difference are shown, in all and of one file, and how long a file may be to be compared, in bytes.
const MAX_LINES: usize = 400;
const MAX_LINES_OF_ONE: usize = 80;
const MAX_CONTENT: u64 = 256 * 1024;

/// How many refused files are named.
const MAX_REFUSED: usize = 20;

/// What the options say about the changes of a run. `unasked` is set if they are dropped because nobody could be asked.
pub(crate) fn then(args: &Args, json: bool, unasked: &Arc<AtomicBool>) -> Result<Then, Fail> {
    let unasked = unasked.clone();
    let (preview, commit, drop) = (args.has(&PREVIEW), args.has(&COMMIT), args.has(&DROP));
    match (preview, commit, drop) {
        (false, false, false) => Ok(Then::Commit),
        (false, ..) => Err(Fail::usage("--commit and --drop say what becomes of a --preview; give that too")),
        (true, true, true) => Err(Fail::usage("give --commit or --drop, not both")),
        (true, ..) => Ok(Then::Ask(Arc::new(move |proposal| {
            if !json {
                terminal::error(&text(proposal));
            }
            if commit || drop {
                return commit;
            }
            // Whoever has ended the command is not asked what is to become of it.
            if proposal.is_interrupted() {
                return false;
            }
            // The list first: with --json the person at the terminal has not seen it.
            let shown = if json { text(proposal) } else { String::new() };
            let stopped = || proposal.is_interrupted();
            match Terminal::default().confirm(&shown, "Commit these changes?", &stopped) {
                Ok(reply) => reply == Reply::Yes,
                Err(why) => {
                    unasked.store(true, Ordering::Relaxed);
                    terminal::error(&format!(
                        "shward: nobody could be asked ({why}); give --commit or --drop with --preview"
                    ));
                    false
                }
            }
        }))),
    }
}

/// The list and the difference.
fn text(proposal: &Proposal<'_>) -> String {
    let report = proposal.report;
    let contents = |file: &ChangeReport| proposal.contents(file, MAX_CONTENT);
    let mut out = list_with(report, &|file| {
        let found = contents(file);
        if found.iter().flatten().any(|bytes| !is_text(bytes)) {
            return Some("binary");
        }
        let before = match file.what {
            "deleted" => Some(file.size),
            _ => file.size_before.filter(|_| file.kind_before.is_none()),
        };
        let is_long = |size: u64, found: &Option<Vec<u8>>| size > MAX_CONTENT && found.is_none();
        let [old, new] = &found;
        (before.is_some_and(|size| is_long(size, old)) || file.what != "deleted" && is_long(file.size, new))
            .then_some("too long to be compared")
    });
    let mut left = MAX_LINES;
    for file in report.files.iter().filter(|file| file.kind == "file") {
        if left == 0 {
            out.push_str("\n… further differences are not shown\n");
            break;
        }
        let [before, after] = contents(file).map(|content| {
            content.filter(|bytes| is_text(bytes)).and_then(|bytes| String::from_utf8(bytes).ok())
        });
        let (before, after) = match (file.what, before, after) {
            ("created", _, Some(after)) => (String::new(), after),
            ("deleted", Some(before), _) => (before, String::new()),
            ("changed", Some(before), Some(after)) => (before, after),
            _ => continue,
        };
        let difference = unified(&before, &after, MAX_LINES_OF_ONE.min(left));
        if !difference.is_empty() {
            left = left.saturating_sub(difference.lines().count());
            let _ = write!(out, "\n{} {}\n{}", file.what, name(file), Shown::new(&difference).text());
        }
    }
    out
}

/// Whether a difference of lines can be shown.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// What was created, changed, deleted and refused.
pub(crate) fn list(report: &ChangesReport) -> String {
    list_with(report, &|_| None)
}

/// The same, with why the difference of a file is not shown.
fn list_with(report: &ChangesReport, unshown: &dyn Fn(&ChangeReport) -> Option<&'static str>) -> String {
    let mut out = String::from("shward: what the command did\n");
    for file in report.files.iter().take(MAX_FILES) {
        let _ = writeln!(out, "  {}  {}  ({})", file.what, name(file), what(file, unshown));
    }
    let all = report.created + report.changed + report.deleted;
    if all > MAX_FILES {
        let _ = writeln!(out, "  … {} more", all - MAX_FILES);
    }
    let bytes: u64 =
        report.files.iter().filter(|f| f.what != "deleted").fold(0, |sum: u64, f| sum.saturating_add(f.size));
    let _ = writeln!(
        out,
        "  {} created, {} changed, {} deleted; {bytes} bytes",
        report.created, report.changed, report.deleted
    );
    out.push_str(&refused(report));
    out
}

/// What it is, and what of that is another than before.
fn what(file: &ChangeReport, unshown: &dyn Fn(&ChangeReport) -> Option<&'static str>) -> String {
    let link = |target: &Option<String>| {
        target.as_ref().map_or("link".to_owned(), |target| format!("link to {}", one_line(target)))
    };
    let unshown = if file.kind == "file" { unshown(file) } else { None };
    let mut out = match (file.kind, file.size_before, file.kind_before) {
        ("file", Some(before), None) if before != file.size || unshown.is_some() => {
            format!("{before} → {} bytes", file.size)
        }
        ("file", ..) => format!("{} bytes", file.size),
        ("link", ..) => link(&file.target),
        (kind, ..) => kind.to_owned(),
    };
    if let Some(why) = unshown {
        out.push_str(&format!(", {why}"));
    }
    match (file.kind_before, &file.target_before) {
        (_, Some(_)) => out.push_str(&format!(", before {}", link(&file.target_before))),
        (Some(kind), None) => out.push_str(&format!(", before {kind}")),
        (None, None) => {}
    }
    // The permissions of a link mean nothing.
    if let Some(before) =
        file.mode_before.as_ref().filter(|_| file.kind != "link" && file.kind_before != Some("link"))
    {
        out.push_str(&format!(", mode {before} → {}", file.mode));
    } else if file.what == "created" && file.kind == "file" && runs(&file.mode) {
        out.push_str(&format!(", mode {}", file.mode));
    }
    out
}

/// Whether a file of these permissions can be executed, or has its owner's rights.
fn runs(mode: &str) -> bool {
    u32::from_str_radix(mode, 8).is_ok_and(|mode| mode & 0o7111 != 0)
}

/// What the policy keeps out. What lies in a directory that is kept out for the same reason is counted with it.
fn refused(report: &ChangesReport) -> String {
    let mut out = String::new();
    let mut tops: Vec<(&RefusedReport, usize)> = Vec::new();
    for refused in &report.refused {
        // They are in the order of their paths, so those below a directory follow it, though not always at once.
        let mut above = tops.iter_mut().rev().take(MAX_REFUSED);
        match above.find(|(top, _)| is_told_with(refused, top)) {
            Some((_, below)) => *below += 1,
            None => tops.push((refused, 0)),
        }
    }
    for (refused, below) in tops.iter().take(MAX_REFUSED) {
        let what = if refused.change.what == "deleted" { "deleted" } else { "committed" };
        let below = if *below > 0 { format!(" (with {below} in it)") } else { String::new() };
        let (name, reason) = (name(&refused.change), one_line(&refused.reason));
        let _ = writeln!(out, "shward: not {what}: {name}{below} {reason}");
    }
    if let Some(more) = tops.get(MAX_REFUSED..).filter(|more| !more.is_empty()) {
        let more = more.iter().fold(0, |sum: usize, (_, below)| sum.saturating_add(below + 1));
        let _ = writeln!(out, "shward: and {more} more are not committed");
    }
    if report.committed && !tops.is_empty() {
        out.push_str("shward: what is protected only a person can change, outside of shward\n");
    }
    if report.committed && report.work_tree_differs {
        out.push_str(
            "shward: git's index is committed, so the repository's work tree may differ there now from what git has checked out, and \
             `git commit -a` would take that back: see `git status`\n",
        );
    }
    for failed in &report.failed {
        let _ = writeln!(out, "shward: could not be committed: {}", one_line(failed));
    }
    out
}

/// Whether the line about a directory says all that there is to say.
fn is_told_with(refused: &RefusedReport, top: &RefusedReport) -> bool {
    top.change.kind == "directory"
        && top.reason == refused.reason
        && (top.change.what == "deleted") == (refused.change.what == "deleted")
        && refused.change.path.starts_with(&top.change.path)
}

/// What somebody has to know after a run.
pub(crate) fn say(ending: &Ending, previewed: bool, live: bool) {
    if let Some(reason) = ending.live.as_ref().filter(|_| !live) {
        terminal::error(&format!(
            "shward: changes went straight to the workspace and cannot be undone: {}",
            one_line(reason)
        ));
    }
    if ending.unseen && live {
        terminal::error(
            "shward: not all of what it created could be looked at or moved aside: look for files that others run or obey before \
             anything there is used",
        );
    }
    for path in &ending.moved_aside {
        terminal::error(&format!(
            "shward: moved aside, because it is protected: {}",
            one_line(&path.display().to_string())
        ));
    }
    let Some(changes) = &ending.changes else { return };
    if changes.not_kept {
        terminal::error(
            "shward: this run cannot be taken back: what was there before takes more room than is kept ([undo] size)",
        );
    }
    if ending.disk_exceeded.is_some() {
        // Nothing was looked at, and that nothing is left of it was told.
        return;
    }
    if !changes.committed {
        // What could not even be read or written was not seen by whoever looked at the list.
        let text = match (previewed, changes.failed.is_empty()) {
            (_, false) => refused(changes),
            (true, true) => String::new(),
            (false, true) => list(changes),
        };
        let end =
            if changes.is_empty() && previewed { "nothing was changed" } else { "nothing was committed" };
        terminal::error(&format!("{text}shward: {end}"));
    } else if !(previewed && changes.failed.is_empty()) {
        let text = refused(changes);
        if !text.is_empty() {
            terminal::error(&text);
        }
    } else if let Some(id) = &changes.undo {
        terminal::error(&format!("shward: committed; `shward undo {id}` takes it back"));
    }
}

fn name(file: &ChangeReport) -> String {
    one_line(&file.path.display().to_string()).to_string()
}
