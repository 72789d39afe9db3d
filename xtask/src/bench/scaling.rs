//! How the cost of a verdict grows with the length of the command, its nesting, and the number of rules in a policy.
//!
//! Counted is the time on a processor, not that on the wall: a curve has points that are measured at different moments.

use super::{median, micros};
use crate::Failure;
use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Each point is measured so many times; the median counts.
const TIMES: usize = 5;

/// The longest command that is judged.
const LONGEST: usize = 1 << 20;

/// The deepest nesting that is followed; what is deeper is asked about, and costs less.
const DEEPEST: usize = 32;

/// What a curve shows.
#[derive(Debug, Serialize)]
pub(super) struct Curve {
    /// Of the file.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) across: &'static str,
    pub(super) up: &'static str,
    /// Across and up.
    pub(super) points: Vec<(f64, f64)>,
}

impl Curve {
    pub(super) fn render(&self) -> String {
        let mut out = format!("{}: {} by {}\n", self.title, self.up, self.across);
        for (x, y) in &self.points {
            let _ = writeln!(out, "{x:12.0} {y:14.3}");
        }
        out
    }
}

pub(super) fn measure(binary: &Path, scratch: &Path) -> Result<Vec<Curve>, Failure> {
    Ok(vec![length(binary)?, nesting(binary)?, rules(binary, scratch)?])
}

fn length(binary: &Path) -> Result<Curve, Failure> {
    let mut points = Vec::new();
    let mut size = 1;
    while size <= LONGEST {
        let each = verdict(binary, &[], &of_length(size), (1 << 21) / size.max(200))?;
        points.push((size as f64, each * 1e3 / size as f64));
        size *= 4;
    }
    let (title, across, up) = ("Length of the command", "bytes", "nanoseconds per byte");
    Ok(Curve { name: "length", title, across, up, points })
}

/// A command of so many bytes: simple commands one after the other.
fn of_length(bytes: usize) -> String {
    let mut text = "ls -l src/main.rs; ".repeat(bytes / 19 + 1);
    text.truncate(bytes);
    // A part of a command is one; a blank alone is none, and a separator ends it.
    text.truncate(text.trim_end().len());
    text.push_str(&"l".repeat(bytes - text.len()));
    text
}

fn nesting(binary: &Path) -> Result<Curve, Failure> {
    let mut points = Vec::new();
    let mut depth = 1;
    while depth <= DEEPEST {
        let each = verdict(binary, &[], &of_depth(depth), 4000 / depth)?;
        points.push((depth as f64, each / depth as f64));
        depth *= 2;
    }
    let (title, across, up) = ("Substitutions in substitutions", "depth", "microseconds per level");
    Ok(Curve { name: "nesting", title, across, up, points })
}

fn of_depth(depth: usize) -> String {
    format!("{}echo x{}", "echo $(".repeat(depth), ")".repeat(depth))
}

fn rules(binary: &Path, scratch: &Path) -> Result<Curve, Failure> {
    let mut points = Vec::new();
    for count in [1, 10, 100, 1000, 10_000] {
        let file = scratch.join(format!("{count}.toml"));
        fs::write(&file, of_rules(count))?;
        let file = file.display().to_string();
        let command = "git status && ls -la src | head -20 && curl https://example.com/x > out.txt";
        points.push((count as f64, verdict(binary, &["--policy", &file], command, 4000)?));
    }
    let (title, across, up) = ("Rules in the policy", "rules", "microseconds per verdict");
    Ok(Curve { name: "rules", title, across, up, points })
}

fn of_rules(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let about = match n % 3 {
            0 => format!("decision = \"deny\"\nprogram = [\"tool{n}\", \"other{n}\"]"),
            1 => {
                format!("decision = \"ask\"\nprogram = \"p{n}\"\nsubcommand = \"push\"\noption = \"--force\"")
            }
            _ => format!(
                "decision = \"allow\"\nprogram = \"s{n}\"\neffect = \"connect\"\nhost = \"h{n}.example.com\""
            ),
        };
        let _ = writeln!(text, "[[rule]]\nid = \"r{n}\"\n{about}\nreason = \"Not here.\"");
        text
    })
}

/// Microseconds that one verdict on this command takes in `check --batch`: a run with many of it, without a run with one.
fn verdict(binary: &Path, options: &[&str], command: &str, count: usize) -> Result<f64, Failure> {
    let count = count.max(2);
    // Each in a directory of its own: what comes again would be remembered and not judged.
    let line = |n: usize| {
        let cwd = format!("/workspace/{n:06}");
        serde_json::json!({ "command": command, "cwd": cwd, "home": "/home/dev" }).to_string() + "\n"
    };
    let all: String = (0..count).map(line).collect();
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let one = batch(binary, options, &line(0))?;
        let all = batch(binary, options, &all)?;
        times.push(micros(all.saturating_sub(one)) / (count - 1) as f64);
    }
    median(&mut times).ok_or_else(|| "nothing was measured".into())
}

/// How much of a processor a batch of requests takes.
fn batch(binary: &Path, options: &[&str], input: &str) -> Result<Duration, Failure> {
    let before = of_children()?;
    let mut child = Command::new(binary)
        .args(["check", "--batch", "--frozen"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|e| format!("{}: {e}", binary.display()))?;
    let stdin = child.stdin.take();
    thread::scope(|scope| {
        let writer = scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        let status = child.wait()?;
        let _ = writer.join();
        if status.success() {
            Ok(of_children()?.saturating_sub(before))
        } else {
            Err(format!("a batch ended with {status}").into())
        }
    })
}

/// The time on a processor of all children that have ended (getrusage(2)).
fn of_children() -> Result<Duration, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let total = usage.user_time() + usage.system_time();
    let micros = total.tv_sec().saturating_mul(1_000_000).saturating_add(total.tv_usec());
    Ok(Duration::from_micros(micros.try_into().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_as_large_as_they_say() {
        for bytes in [1, 2, 17, 18, 19, 20, 100, 4096] {
            let text = of_length(bytes);
            assert_eq!(text.len(), bytes, "{text:?}");
            assert!(text.ends_with(|last: char| !last.is_whitespace()), "{text:?}");
        }
        assert_eq!(of_depth(2), "echo $(echo $(echo x))");
        assert_eq!(of_rules(7).matches("[[rule]]").count(), 7);
    }

    #[test]
    fn a_batch_that_fails_is_an_error() {
        assert!(batch(Path::new("/bin/false"), &[], "").is_err());
        assert!(batch(Path::new("/bin/no-such-program"), &[], "").is_err());
        assert!(batch(Path::new("/bin/true"), &[], "").is_ok());
    }
}
