//! `audit`: verify and show the log.

use crate::args::{self, Args};
use crate::exit::Exit;
use crate::flags::{DECIDED, DECISIONS, Flag, HEAD, JSON, LAST, LOG, OF_RULE, OF_SESSION, PARTIAL, SINCE};
use crate::terminal::{self, Fail};
use crate::{setup, shown};
use shward::audit::{Changed, Ended, Entries, Entry, Event, Input, ReadError, Receipt, Report, Verification};
use std::collections::{BTreeSet, VecDeque};
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
        Some(("show", [word, ..])) => Err(Fail::usage(format!(
            "unexpected {word:?}; `audit show` takes options only: --log FILE reads another log"
        ))),
        Some((other, _)) => Err(Fail::usage(args::unknown_word(other, &["verify", "show"], WHAT))),
        None => Err(Fail::usage(WHAT)),
    }
}

/// What there is to do.
const WHAT: &str = "say what to do: shward audit verify, or shward audit show";

fn verify(args: &Args, files: &[String]) -> Result<Exit, Fail> {
    if args.has(&LAST) {
        return Err(Fail::usage("--last belongs to `audit show`; `audit verify` reads the whole log"));
    }
    let choosing: [&Flag; 4] = [&SINCE, &OF_SESSION, &DECIDED, &OF_RULE];
    if let Some(flag) = choosing.into_iter().find(|flag| args.has(flag)) {
        return Err(Fail::usage(format!(
            "--{} belongs to `audit show`; `audit verify` reads the whole log",
            flag.name
        )));
    }
    if !files.is_empty() && args.has(&LOG) {
        return Err(Fail::usage("name the files or give --log, not both"));
    }
    let mut verification = Verification::new().partial(args.has(&PARTIAL));
    let head = args.text(&HEAD).map_err(Fail::usage)?.map(head).transpose()?;
    if let Some(head) = head {
        verification = verification.anchor(head);
    }
    let report = if files.is_empty() {
        verification.log(&setup::log_path(args)?)
    } else {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        verification.files(&files)
    }
    .map_err(|e| unreadable(&e))?;
    if args.has(&JSON) {
        terminal::line(&json(&report).to_string())?;
    } else {
        terminal::line(&text(&report, head))?;
    }
    Ok(if report.broken.is_some() { Exit::Found } else { Exit::Allow })
}

/// What `verify` has printed as the head.
fn head(text: &str) -> Result<Receipt, Fail> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let parts = text.split_once(':').filter(|(seq, _)| digits(seq));
    let parts = parts.and_then(|(seq, hash)| Some((seq.parse().ok()?, hash.parse().ok()?)));
    let (seq, hash) = parts.ok_or_else(|| {
        Fail::usage(format!(
            "--head: {text:?} is no head; give what `shward audit verify` printed after `head:`, a number, a colon and 64 hexadecimal digits"
        ))
    })?;
    Ok(Receipt { seq, hash })
}

fn unreadable(error: &ReadError) -> Fail {
    match error {
        ReadError::Io { path, source } if source.kind() == std::io::ErrorKind::NotFound => Fail::io(format!(
            "there is no log at {}: nothing was recorded there yet, or --log FILE has to name another",
            path.display()
        )),
        other => Fail::io(other.to_string()),
    }
}

fn show(args: &Args) -> Result<Exit, Fail> {
    if args.has(&HEAD) || args.has(&PARTIAL) {
        return Err(Fail::usage("--head and --partial belong to `audit verify`"));
    }
    let last = args.number(&LAST, 1, 1_000_000).map_err(Fail::usage)?.unwrap_or(20);
    let last = usize::try_from(last).unwrap_or(usize::MAX);
    let mut wanted = Wanted::from(args)?;
    let mut kept: VecDeque<Result<Entry, ReadError>> = VecDeque::new();
    // Lines that are no records, since the last one that accounts for such.
    let (mut bad, mut unread) = (0_u64, None);
    let mut unaccounted = 0;
    for entry in Entries::of_log(&setup::log_path(args)?).map_err(|e| unreadable(&e))? {
        match &entry {
            Ok(Entry { record, .. }) if matches!(record.event, Event::Recovered(_)) => bad = 0,
            Ok(_) => unaccounted += std::mem::take(&mut bad),
            Err(ReadError::NotARecord { .. } | ReadError::TooLong { .. }) => bad += 1,
            Err(e) => {
                unread = Some(e.to_string());
                break;
            }
        }
        if !wanted.takes(&entry) {
            continue;
        }
        if kept.len() == last {
            kept.pop_front();
        }
        kept.push_back(entry);
    }
    unaccounted += bad;
    for entry in kept {
        let line = match (&entry, args.has(&JSON)) {
            (Ok(entry), true) => serde_json::to_string(entry).map_err(|e| Fail::io(e.to_string()))?,
            (Ok(entry), false) => entry_line(entry),
            (Err(e), true) => serde_json::json!({ "v": 1, "error": e.to_string() }).to_string(),
            (Err(e), false) => format!("{:>6}  {}", "??", shown::one_line(&e.to_string())),
        };
        terminal::line(&line)?;
    }
    if let Some(error) = unread {
        return Err(Fail::io(error));
    }
    if unaccounted > 0 {
        terminal::error(&format!(
            "shward: lines of the log that are no records: {unaccounted}; `shward audit verify` tells more"
        ));
        return Ok(Exit::Found);
    }
    Ok(Exit::Allow)
}

/// Which records are shown.
#[derive(Default)]
struct Wanted {
    since: Option<String>,
    session: Option<String>,
    decision: Option<String>,
    rule: Option<String>,
    /// Runs that were shown: how they ended is shown, too.
    runs: BTreeSet<u64>,
}

impl Wanted {
    fn from(args: &Args) -> Result<Self, Fail> {
        let text = |flag| args.text(flag).map_err(Fail::usage).map(|text| text.map(str::to_owned));
        let wanted = Self {
            since: text(&SINCE)?.map(|since| since.trim_end_matches('Z').to_owned()),
            session: text(&OF_SESSION)?,
            decision: text(&DECIDED)?,
            rule: text(&OF_RULE)?,
            runs: BTreeSet::new(),
        };
        if let Some(since) = wanted.since.as_deref().filter(|since| !is_time(since)) {
            return Err(Fail::usage(format!(
                "--since: {since:?} is no time; give one in UTC, or its beginning: 2026-11-25, 2026-11-25T14:30"
            )));
        }
        if let Some(other) = wanted.decision.as_deref().filter(|d| !DECISIONS.contains(d)) {
            return Err(Fail::usage(format!(
                "--decision: unknown decision {other:?}; decisions: {}",
                DECISIONS.join(" ")
            )));
        }
        Ok(wanted)
    }

    fn takes(&mut self, entry: &Result<Entry, ReadError>) -> bool {
        let chosen =
            [&self.since, &self.session, &self.decision, &self.rule].into_iter().any(Option::is_some);
        // What is no record may have been one of those that are asked for.
        let Ok(Entry { seq, time, record, .. }) = entry else { return true };
        // Times are written with the same number of digits, so their order is that of their text.
        if self.since.as_ref().is_some_and(|since| time < since)
            || self.session.is_some() && record.session != self.session
        {
            return false;
        }
        match &record.event {
            Event::Check(d) | Event::Hook(d) | Event::Run(d) => {
                let takes = self.decision.as_deref().is_none_or(|wanted| decision(d.decision) == wanted)
                    && self.rule.as_ref().is_none_or(|rule| d.rules.contains(rule));
                if takes && chosen {
                    self.runs.insert(*seq);
                }
                takes
            }
            Event::Outcome(e) if self.decision.is_some() || self.rule.is_some() => self.runs.contains(&e.run),
            _ => self.decision.is_none() && self.rule.is_none(),
        }
    }
}

/// Whether it is a time as the records have it, or a beginning of one that says the day.
fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00.000000";
    let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
    // Month, day, hour, minute and second, as far as both digits of one are there.
    const PARTS: [(usize, u8, u8); 5] = [(5, 1, 12), (8, 1, 31), (11, 0, 23), (14, 0, 59), (17, 0, 60)];
    let is_part = |(at, least, most): (usize, u8, u8)| {
        text.get(at..at + 2)
            .and_then(|digits| digits.parse().ok())
            .is_none_or(|n: u8| (least..=most).contains(&n))
    };
    (10..=FORM.len()).contains(&text.len())
        && text.bytes().zip(FORM).all(fits)
        && PARTS.into_iter().all(is_part)
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
        Event::Outcome(e) => write!(line, "outcome  of {}: {}", e.run, ended(e)),
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
    // A log that was handed over may say anything, wherever a time or a name should be.
    shown::one_line(&line)
}

/// How a run ended, and then what is to be known besides.
fn ended(e: &Ended) -> String {
    let how = match (e.exit_code, e.signal) {
        (Some(code), _) => format!("exit code {code} after {} ms", e.duration_ms),
        (None, Some(signal)) => format!("signal {signal} after {} ms", e.duration_ms),
        (None, None) => "not started".to_owned(),
    };
    let flags = [(e.timed_out, "timed out"), (e.cancelled, "cancelled")];
    let mut parts: Vec<String> = std::iter::once(how)
        .chain(flags.into_iter().filter(|(set, _)| *set).map(|(_, word)| word.to_owned()))
        .collect();
    parts.extend(e.changes.iter().map(changed));
    parts.extend(e.notes.iter().chain(&e.error).map(|text| shown::one_line(text)));
    parts.join("; ")
}

fn changed(c: &Changed) -> String {
    let mut out = format!("created {}, changed {}, deleted {}", c.created, c.changed, c.deleted);
    match &c.undo {
        Some(id) => out.push_str(&format!(", as {}", shown::one_line(id))),
        None if !c.committed => out.push_str(", not committed"),
        None => {}
    }
    if !c.refused.is_empty() {
        let named: Vec<String> = c.refused.iter().map(|path| shown::one_line(&path.to_lossy())).collect();
        out.push_str(&format!("; refused: {}", named.join(" ")));
        if c.more_refused > 0 {
            out.push_str(&format!(" and {} more", c.more_refused));
        }
    }
    out
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

/// `kept` is the head that was kept elsewhere.
fn text(report: &Report, kept: Option<Receipt>) -> String {
    let mut out = match &report.broken {
        None => format!("whole: {} records\n", report.records),
        Some(broken) => format!("broken: {broken}\n{} sound records before it\n", report.records),
    };
    if let Some(head) = &report.head {
        let _ = writeln!(out, "head: {}:{}", head.seq, head.hash);
    }
    if let (Some(kept), Some(head), None) = (kept, report.head, &report.broken) {
        // Of a part of a log nothing is said but what was read.
        let first = head.seq.saturating_add(1).saturating_sub(report.records);
        let _ = match kept.seq {
            seq if seq < first => {
                writeln!(out, "record {first} comes right after record {seq}, as its hash was kept")
            }
            seq if first > 0 => {
                writeln!(out, "records {first} to {seq} are as they were when the hash of the last was kept")
            }
            seq => writeln!(out, "record {seq} and everything before it is as it was when its hash was kept"),
        };
    }
    if report.recoveries > 0 {
        let _ = writeln!(out, "writers that were interrupted and recorded so: {}", report.recoveries);
    }
    out
}
