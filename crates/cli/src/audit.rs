//! `audit`: verify and show the log.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{JSON, LAST};
use crate::terminal::{self, Fail};
use crate::{setup, shown};
use shward::audit::{Entries, Entry, Event, Input, Report, Verification};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Carries out the verb.
///
/// # Errors
/// The options are wrong or the log cannot be read.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    let operands: Vec<String> = args.operands.iter().map(|o| o.to_string_lossy().into_owned()).collect();
    match operands.split_first().map(|(verb, rest)| (verb.as_str(), rest)) {
        Some(("verify", files)) => verify(args, files),
        Some(("show", [])) => show(args),
        _ => Err(Fail::usage("say what to do: shward audit verify, or shward audit show")),
    }
}

fn verify(args: &Args, files: &[String]) -> Result<Exit, Fail> {
    if args.has(&LAST) {
        return Err(Fail::usage("--last belongs to `audit show`; `audit verify` reads the whole log"));
    }
    let verification = Verification::new();
    let report = if files.is_empty() {
        verification.log(&setup::log_path(args)?)
    } else {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        verification.files(&files)
    }
    .map_err(|e| Fail::io(e.to_string()))?;
    if args.has(&JSON) {
        terminal::line(&json(&report).to_string())?;
    } else {
        terminal::line(&text(&report))?;
    }
    Ok(if report.broken.is_some() { Exit::Found } else { Exit::Allow })
}

fn show(args: &Args) -> Result<Exit, Fail> {
    let last = args.number(&LAST, 1, 1_000_000).map_err(Fail::usage)?.unwrap_or(20);
    let last = usize::try_from(last).unwrap_or(usize::MAX);
    let mut kept: VecDeque<Entry> = VecDeque::new();
    for entry in Entries::of_log(&setup::log_path(args)?).map_err(|e| Fail::io(e.to_string()))? {
        let entry = entry.map_err(|e| Fail::io(format!("{e}; `shward audit verify` tells more")))?;
        if kept.len() == last {
            kept.pop_front();
        }
        kept.push_back(entry);
    }
    for entry in kept {
        let line = if args.has(&JSON) {
            serde_json::to_string(&entry).map_err(|e| Fail::io(e.to_string()))?
        } else {
            entry_line(&entry)
        };
        terminal::line(&line)?;
    }
    Ok(Exit::Allow)
}

fn entry_line(entry: &Entry) -> String {
    let mut line = format!("{:>6}  {}  ", entry.seq, entry.time.get(..19).unwrap_or(&entry.time));
    let _ = match &entry.record.event {
        Event::Check(d) | Event::Hook(d) | Event::Run(d) => {
            let what = match &entry.record.event {
                Event::Check(_) => "check",
                Event::Hook(_) => "hook",
                _ => "run",
            };
            let command = match &d.input {
                Input::Command(text) => text.to_lossy().into_owned(),
                Input::Argv(argv) => {
                    argv.iter().map(|a| a.to_lossy().into_owned()).collect::<Vec<_>>().join(" ")
                }
            };
            let rules = if d.rules.is_empty() { String::new() } else { format!(" [{}]", d.rules.join(" ")) };
            let how = match (d.unconfined, d.no_process) {
                (true, _) => " (not confined)",
                (_, true) => " (no process)",
                _ => "",
            };
            write!(line, "{what:<8} {:<5} {}{how}{rules}", decision(d.decision), shown::one_line(&command))
        }
        Event::Outcome(e) => match (e.exit_code, e.signal, &e.error) {
            (_, _, Some(error)) => write!(line, "outcome  of {}: {}", e.run, shown::one_line(error)),
            (Some(code), _, _) => {
                write!(line, "outcome  of {}: exit code {code} after {} ms", e.run, e.duration_ms)
            }
            (_, signal, _) => write!(
                line,
                "outcome  of {}: signal {} after {} ms",
                e.run,
                signal.unwrap_or(0),
                e.duration_ms
            ),
        },
        Event::Answer(a) => {
            let (answer, command) = (if a.yes { "allow" } else { "deny" }, a.command.to_lossy());
            write!(line, "answer   {answer:<5} {} by {}", shown::one_line(&command), shown::one_line(&a.by))
        }
        Event::Undo(u) => {
            let (command, by) = (u.command.to_lossy(), shown::one_line(&u.by));
            write!(line, "undo     {} {} by {by}", u.id, shown::one_line(&command))
        }
        Event::Undone(u) => match &u.error {
            Some(error) => write!(line, "undone   of {}: {}", u.undo, shown::one_line(error)),
            None => write!(line, "undone   of {}: {} restored, {} left", u.undo, u.restored, u.left),
        },
        Event::Recovered(d) => write!(line, "recovered after {} damaged bytes", d.damaged_bytes),
        _ => write!(line, "an event of a newer version"),
    };
    line
}

fn decision(decision: shward::audit::Decision) -> &'static str {
    match decision {
        shward::audit::Decision::Allow => "allow",
        shward::audit::Decision::Ask => "ask",
        shward::audit::Decision::Deny => "deny",
    }
}

fn json(report: &Report) -> serde_json::Value {
    let mut value = serde_json::json!({ "v": 1, "ok": report.broken.is_none() });
    if let (Some(object), Ok(serde_json::Value::Object(fields))) =
        (value.as_object_mut(), serde_json::to_value(report))
    {
        object.extend(fields);
    }
    value
}

fn text(report: &Report) -> String {
    let mut out = match &report.broken {
        None => format!("whole: {} records\n", report.records),
        Some(broken) => format!("broken: {broken}\n{} sound records before it\n", report.records),
    };
    if let Some(head) = &report.head {
        let _ = writeln!(out, "head: record {} {}", head.seq, head.hash);
    }
    if report.recoveries > 0 {
        let _ = writeln!(out, "writers that were interrupted and recorded so: {}", report.recoveries);
    }
    out
}
