//! What a run did to the workspace, as a person reads it: the list, the difference, and what was refused.

use crate::args::Args;
use crate::diff::unified;
use crate::flags::{COMMIT, DROP, PREVIEW};
use crate::terminal::{self, Fail};
use shward::reviewing::{Reply, Shown, Terminal, one_line};
use shward::{ChangeReport, ChangesReport, Ending, Proposal, Then};
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
    let mut out = list(report);
    let mut left = MAX_LINES;
    for file in report.files.iter().filter(|file| file.kind == "file") {
        if left == 0 {
            out.push_str("\n… further differences are not shown\n");
            break;
        }
        let [before, after] = proposal.contents(file, MAX_CONTENT).map(|content| {
            content.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'))
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

/// What was created, changed, deleted and refused.
pub(crate) fn list(report: &ChangesReport) -> String {
    let mut out = String::from("shward: what the command did\n");
    for file in report.files.iter().take(MAX_FILES) {
        let _ = writeln!(out, "  {}  {}  ({})", file.what, name(file), what(file));
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
fn what(file: &ChangeReport) -> String {
    let link = |target: &Option<String>| {
        target.as_ref().map_or("link".to_owned(), |target| format!("link to {}", one_line(target)))
    };
    let mut out = match (file.kind, file.size_before, file.kind_before) {
        ("file", Some(before), None) if before != file.size => format!("{before} → {} bytes", file.size),
        ("file", ..) => format!("{} bytes", file.size),
        ("link", ..) => link(&file.target),
        (kind, ..) => kind.to_owned(),
    };
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

/// What the policy keeps out.
fn refused(report: &ChangesReport) -> String {
    let mut out = String::new();
    for refused in report.refused.iter().take(MAX_REFUSED) {
        let _ =
            writeln!(out, "shward: not committed: {} {}", name(&refused.change), one_line(&refused.reason));
    }
    if report.refused.len() > MAX_REFUSED {
        let _ = writeln!(out, "shward: and {} more are not committed", report.refused.len() - MAX_REFUSED);
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
