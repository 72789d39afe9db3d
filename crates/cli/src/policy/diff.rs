//! `policy diff`: what another policy decides about the commands of the audit log, or of a corpus.

use crate::args::Args;
use crate::ask::Directories;
use crate::exit::Exit;
use crate::flags::{CORPUS, JSON};
use crate::terminal::{self, Fail};
use crate::{setup, shown};
use serde::Deserialize;
use serde_json::{Value, json};
use shward::audit::{Entries, Event, Input};
use shward::{Action, Decision, Firewall, Request, Setting};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// A line of a corpus. Labels and whatever else stands there is left alone.
#[derive(Deserialize)]
struct Line {
    command: Option<String>,
    argv: Option<Vec<String>>,
    cwd: Option<PathBuf>,
}

/// A decision that is another one under the other policy.
struct Change {
    /// The record of the log, or the line of the corpus.
    at: u64,
    old: Decision,
    new: Decision,
    command: String,
}

/// Two policies, and what they decide differently so far.
struct Comparison {
    old: Firewall,
    new: Firewall,
    judged: u64,
    /// What no longer is a request, as one that is too long.
    unjudged: u64,
    changes: Vec<Change>,
}

impl Comparison {
    fn judge(&mut self, at: u64, request: &Request, contained: bool) {
        let mut setting = Setting::frozen();
        setting.contained = contained;
        let decided = |firewall: &Firewall| firewall.examine(request, &setting).ok().map(|c| c.decision);
        let (Some(old), Some(new)) = (decided(&self.old), decided(&self.new)) else {
            self.unjudged += 1;
            return;
        };
        self.judged += 1;
        if old != new {
            self.changes.push(Change { at, old, new, command: request.text().into_owned() });
        }
    }
}

/// Carries out `policy diff`.
///
/// # Errors
/// A policy, the log or the corpus cannot be read.
pub(super) fn run(args: &Args, old: &Path, new: &Path) -> Result<Exit, Fail> {
    let firewall = |path| super::of_file(args, Some(path)).map(Firewall::new);
    let mut comparison =
        Comparison { old: firewall(old)?, new: firewall(new)?, judged: 0, unjudged: 0, changes: Vec::new() };
    let directories = Directories::from(args)?;
    match args.get(&CORPUS) {
        Some(corpus) => of_corpus(&mut comparison, Path::new(corpus), &directories)?,
        None => of_log(&mut comparison, &setup::log_path(args)?, &directories)?,
    }
    show(args, &comparison)?;
    Ok(if comparison.changes.is_empty() { Exit::Allow } else { Exit::Found })
}

/// A request in this directory. The workspace is that of the options for what lies in it: records do not tell theirs.
fn request(action: Action, cwd: PathBuf, directories: &Directories) -> Request {
    let Directories { workspace, home, .. } = directories;
    let workspace = if cwd.starts_with(workspace) { workspace.clone() } else { cwd.clone() };
    Request { action, workspace, ..Request::command("", cwd, home) }
}

fn of_log(comparison: &mut Comparison, log: &Path, directories: &Directories) -> Result<(), Fail> {
    for entry in Entries::of_log(log).map_err(|e| Fail::io(e.to_string()))? {
        let entry = entry.map_err(|e| Fail::io(e.to_string()))?;
        let (Event::Check(decided) | Event::Hook(decided) | Event::Run(decided)) = &entry.record.event else {
            continue;
        };
        let cwd = decided.cwd.as_ref().map_or_else(|| "/".to_owned(), |cwd| cwd.to_lossy().into_owned());
        let action = match &decided.input {
            Input::Command(text) => Action::Command(text.to_lossy().into_owned()),
            Input::Argv(argv) => Action::Argv(argv.iter().map(|a| a.to_lossy().into_owned()).collect()),
        };
        comparison.judge(entry.seq, &request(action, cwd.into(), directories), decided.contained);
    }
    Ok(())
}

fn of_corpus(comparison: &mut Comparison, corpus: &Path, directories: &Directories) -> Result<(), Fail> {
    let told = |what: String| Fail::input(format!("{}: {what}", corpus.display()));
    let file = File::open(corpus).map_err(|e| Fail::io(format!("{}: {e}", corpus.display())))?;
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(|e| told(format!("line {number}: {e}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&line).map_err(|e| told(format!("line {number}: {e}")))?;
        let action = match (line.command, line.argv) {
            (Some(command), None) => Action::Command(command),
            (None, Some(argv)) => Action::Argv(argv),
            _ => return Err(told(format!("line {number}: give either \"command\" or \"argv\""))),
        };
        let cwd = line.cwd.unwrap_or_else(|| directories.cwd.clone());
        comparison.judge(number, &request(action, cwd, directories), false);
    }
    Ok(())
}

fn show(args: &Args, comparison: &Comparison) -> Result<(), Fail> {
    let Comparison { judged, unjudged, changes, .. } = comparison;
    let key = if args.has(&CORPUS) { "line" } else { "seq" };
    if args.has(&JSON) {
        let changed: Vec<Value> = changes
            .iter()
            .map(|c| json!({ key: c.at, "old": c.old.as_str(), "new": c.new.as_str(), "command": c.command }))
            .collect();
        return terminal::line(
            &json!({ "v": 1, "judged": judged, "unjudged": unjudged, "changed": changed }).to_string(),
        );
    }
    let mut out = String::new();
    for Change { at, old, new, command } in changes {
        let _ = writeln!(out, "{at:>6}  {old} → {new}  {}", shown::one_line(command));
    }
    let _ = write!(out, "{} of {judged} decisions change", changes.len());
    if *unjudged > 0 {
        let _ = write!(out, "; {unjudged} could not be judged");
    }
    terminal::line(&out)
}
