//! Whole processes, one of each in every round, so that what else the machine does meets all of them.

use super::{bubblewrap, median, micros};
use crate::Failure;
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds that do not count: caches fill.
const WARM_UP: usize = 5;

/// What was measured of one command.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    name: &'static str,
    /// Microseconds from start to end, the median; nothing where the command cannot be run here.
    micros: Option<f64>,
    /// The median, over the rounds, of its time through that of `/bin/true`.
    to_true: Option<f64>,
}

struct Subject {
    name: &'static str,
    program: OsString,
    arguments: Vec<OsString>,
    input: Option<PathBuf>,
}

impl Subject {
    fn new(name: &'static str, program: impl Into<OsString>, arguments: &[&str]) -> Subject {
        Subject {
            name,
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            input: None,
        }
    }

    /// How long one run takes; `None` if it does not succeed.
    fn time(&self, home: &Path) -> Option<Duration> {
        let mut command = within(&self.program, home);
        command.args(&self.arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.stdin(match &self.input {
            Some(path) => Stdio::from(File::open(path).ok()?),
            None => Stdio::null(),
        });
        let start = Instant::now();
        let status = command.status().ok()?;
        let took = start.elapsed();
        status.success().then_some(took)
    }
}

/// A program as each of them is started.
fn within(program: impl Into<OsString>, home: &Path) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(home).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", home);
    command
}

pub(super) fn measure(
    root: &Path,
    binary: &Path,
    scratch: &Path,
    rounds: usize,
) -> Result<Vec<Row>, Failure> {
    let event = scratch.join("event.json");
    let told = serde_json::json!({
        "session_id": "bench", "cwd": scratch, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": "git status" },
    });
    fs::write(&event, told.to_string())?;
    let (protected, filter) = bubblewrap::protected(root, within(binary, scratch), scratch)?;
    let bwrap = |name, arguments, input| Subject { name, program: "bwrap".into(), arguments, input };
    let subjects = [
        Subject::new("/bin/true", "/bin/true", &[]),
        Subject::new("sh -c true", "/bin/sh", &["-c", "true"]),
        bwrap("bwrap … /bin/true", bubblewrap::plain(), None),
        bwrap("bwrap, same protections", protected, Some(filter)),
        Subject::new("shward check --frozen", binary, &["check", "--frozen", "--", "git status"]),
        Subject::new("shward check", binary, &["check", "--log", "audit.jsonl", "--", "git status"]),
        Subject {
            input: Some(event),
            ..Subject::new("shward hook claude", binary, &["hook", "claude", "--log", "audit.jsonl"])
        },
        Subject::new("shward run -- true", binary, &["run", "--log", "audit.jsonl", "--", "true"]),
        Subject::new("shward run -- /bin/true", binary, &["run", "--log", "audit.jsonl", "--", "/bin/true"]),
    ];
    let mut times: Vec<Vec<Option<Duration>>> = subjects.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds + WARM_UP {
        for (subject, times) in subjects.iter().zip(&mut times) {
            // What does not work once is not tried again and again.
            let works = times.first().is_none_or(Option::is_some);
            let took = if works { subject.time(scratch) } else { None };
            if round >= WARM_UP || took.is_none() {
                times.push(took);
            }
        }
    }
    let base = times.first().cloned().unwrap_or_default();
    if base.iter().all(Option::is_none) {
        return Err("/bin/true does not run".into());
    }
    Ok(subjects.iter().zip(&times).map(|(subject, times)| row(subject.name, times, &base)).collect())
}

fn row(name: &'static str, times: &[Option<Duration>], base: &[Option<Duration>]) -> Row {
    let mut all: Vec<f64> = times.iter().flatten().map(|took| micros(*took)).collect();
    let pairs = times.iter().zip(base).filter_map(|(took, base)| took.zip(*base));
    let mut ratios: Vec<f64> = pairs.map(|(took, base)| took.as_secs_f64() / base.as_secs_f64()).collect();
    Row { name, micros: median(&mut all), to_true: median(&mut ratios) }
}

pub(super) fn render(rows: &[Row]) -> String {
    let mut out = format!("{:24} {:>12} {:>14}\n", "whole process", "microseconds", "to /bin/true");
    for row in rows {
        let _ = match (row.micros, row.to_true) {
            (Some(micros), Some(ratio)) => writeln!(out, "{:24} {micros:12.0} {ratio:14.2}", row.name),
            _ => writeln!(out, "{:24} {:>12}", row.name, "not here"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_pairs() {
        let of = |micros: &[u64]| -> Vec<Option<Duration>> {
            micros.iter().map(|m| Some(Duration::from_micros(*m))).collect()
        };
        // The machine is slow in the second round, for both.
        let found = row("x", &of(&[20, 200, 20]), &of(&[10, 100, 10]));
        assert_eq!((found.micros, found.to_true), (Some(20.0), Some(2.0)));
        let found = row("x", &[None], &of(&[10]));
        assert_eq!((found.micros, found.to_true), (None, None));
        assert!(render(&[found]).contains("not here"));
    }

    #[test]
    fn what_fails_has_no_time() {
        let home = std::env::temp_dir();
        assert!(Subject::new("", "/bin/true", &[]).time(&home).is_some());
        assert!(Subject::new("", "/bin/false", &[]).time(&home).is_none());
        assert!(Subject::new("", "/bin/no-such-program", &[]).time(&home).is_none());
    }
}
