//! `cargo xtask acceptance`: does shward parse what bash parses, and refuse what bash refuses?
//!
//! bash is the judge: `bash -n` reads a command and runs none of it. shward tells a refusal by a finding of the
//! rule `syntax`.

use crate::Failure;
use crate::batch::{self, Answer, Batch};
use crate::corpus::{self, Sample};
use crate::progress::Progress;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The rule of a finding that says that the command could not be parsed.
const SYNTAX: &str = "syntax";

/// Longest argument that Linux hands to a program (`MAX_ARG_STRLEN`, 32 pages, with its NUL).
const LONGEST_ARGUMENT: usize = 32 * 4096 - 1;

/// Differences of a kind that are shown; the rest is counted.
const SHOWN: usize = 40;

/// What `bash -n` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bash {
    Accepts,
    Refuses,
    /// The command cannot be handed to it.
    Cannot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    BashAcceptsAndWeRefuse,
    WeAcceptAndBashRefuses,
}

#[derive(Serialize)]
struct Difference<'a> {
    kind: Kind,
    id: &'a str,
    message: &'a str,
    command: &'a str,
}

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let (mut directory, mut binary, mut json) = (None, None, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().map(PathBuf::from).ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--binary" => binary = Some(value()?),
            "--json" => json = Some(value()?),
            other if other.starts_with('-') => return Err(format!("unknown option {other}").into()),
            other if directory.is_none() => directory = Some(PathBuf::from(other)),
            other => return Err(format!("unexpected {other}").into()),
        }
    }
    let samples = corpus::read(&directory.ok_or("acceptance needs a directory with *.jsonl files")?)?;
    let binary = match binary {
        Some(binary) => binary,
        None => batch::build(root)?,
    };
    let (answers, _) = Batch { binary: &binary, contained: false, plan: false, home: "/home/dev" }
        .judge("shward", &samples)?;
    let bash = ask_bash(&samples)?;

    let differences: Vec<Difference<'_>> = samples
        .iter()
        .zip(&answers)
        .zip(&bash)
        .filter_map(|((sample, answer), bash)| difference(sample, answer, *bash))
        .collect();
    report(&samples, &bash, &differences);
    if let Some(path) = json {
        let mut text = String::new();
        for difference in &differences {
            text.push_str(&serde_json::to_string(difference)?);
            text.push('\n');
        }
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn difference<'a>(sample: &'a Sample, answer: &'a Answer, bash: Bash) -> Option<Difference<'a>> {
    let finding =
        answer.findings.iter().find(|finding| finding.rule == SYNTAX).map(|finding| finding.message.as_str());
    let refusal = finding.or(answer.error.as_deref());
    let (kind, message) = match (bash, refusal) {
        (Bash::Accepts, Some(message)) => (Kind::BashAcceptsAndWeRefuse, message),
        (Bash::Refuses, None) => (Kind::WeAcceptAndBashRefuses, ""),
        (Bash::Accepts | Bash::Cannot, None) | (Bash::Refuses | Bash::Cannot, Some(_)) => return None,
    };
    Some(Difference { kind, id: &sample.id, message, command: &sample.command })
}

fn report(samples: &[Sample], bash: &[Bash], differences: &[Difference<'_>]) {
    let count = |kind| bash.iter().filter(|answer| **answer == kind).count();
    println!(
        "{} commands: bash accepts {}, refuses {}, cannot be asked about {}",
        samples.len(),
        count(Bash::Accepts),
        count(Bash::Refuses),
        count(Bash::Cannot)
    );
    for (kind, title) in [
        (Kind::BashAcceptsAndWeRefuse, "bash accepts and we refuse"),
        (Kind::WeAcceptAndBashRefuses, "we accept and bash refuses"),
    ] {
        let of_kind: Vec<_> = differences.iter().filter(|difference| difference.kind == kind).collect();
        println!("\n{title}: {}", of_kind.len());
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        of_kind.iter().for_each(|difference| *reasons.entry(difference.message).or_default() += 1);
        for (message, count) in reasons.iter().filter(|(message, _)| !message.is_empty()) {
            println!("  {count:>5} × {message}");
        }
        for difference in of_kind.iter().take(SHOWN) {
            println!("  {} {}", difference.id, difference.command.replace('\n', "⏎"));
        }
    }
}

/// What bash says of each sample. Several at a time, as each is a process.
fn ask_bash(samples: &[Sample]) -> Result<Vec<Bash>, Failure> {
    let next = AtomicUsize::new(0);
    let progress = Mutex::new(Progress::new("bash -n", samples.len()));
    let workers = thread::available_parallelism()?.get();
    let work = || {
        let mut answers = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(sample) = samples.get(at) else { return Ok(answers) };
            answers.push((at, bash_reads(&sample.command)?));
            if let Ok(mut progress) = progress.try_lock() {
                progress.show(at);
            }
        }
    };
    let found = thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let joined =
            handles.into_iter().map(|handle| handle.join().unwrap_or_else(|_| Err("a thread died".into())));
        joined.collect::<Result<Vec<Vec<(usize, Bash)>>, String>>()
    })?;
    let mut answers: Vec<(usize, Bash)> = found.into_iter().flatten().collect();
    answers.sort_by_key(|(at, _)| *at);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

fn bash_reads(command: &str) -> Result<Bash, String> {
    if command.contains('\0') || command.len() > LONGEST_ARGUMENT {
        return Ok(Bash::Cannot);
    }
    // No environment: BASH_ENV, exported functions and locale must not have a say.
    let status = Command::new("/bin/bash")
        .args(["-n", "-c", "--", command])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("/bin/bash: {error}"))?;
    Ok(if status.success() { Bash::Accepts } else { Bash::Refuses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::testing::{fake, sample};

    #[test]
    fn bash_only_reads() {
        let directory = tempfile::tempdir().unwrap();
        let made = directory.path().join("made");
        let table = [
            (format!("touch {}; $(touch {})", made.display(), made.display()), Bash::Accepts),
            ("-c".into(), Bash::Accepts),
            ("if".into(), Bash::Refuses),
            ("echo 'x".into(), Bash::Refuses),
            ("a\0b".into(), Bash::Cannot),
            ("x".repeat(LONGEST_ARGUMENT), Bash::Accepts),
            ("x".repeat(LONGEST_ARGUMENT + 1), Bash::Cannot),
        ];
        for (command, expected) in table {
            assert_eq!(bash_reads(&command), Ok(expected), "{command:.40}");
        }
        assert!(!made.exists());
    }

    #[test]
    fn both_kinds_of_difference_are_found() {
        let samples =
            ["ls", "echo 'x", "pwd", "if"].map(|command| sample(command, command, "benign", "oas", &[]));
        let directory = tempfile::tempdir().unwrap();
        // Refuses what has a `p` or an `x`.
        let script = r#"sed -e 's/.*"id":"\([^"]*[px][^"]*\)".*/{"id":"\1","decision":"deny","findings":[{"rule":"syntax","message":"m"}]}/;t' \
                            -e 's/.*"id":"\([^"]*\)".*/{"id":"\1","decision":"allow","findings":[]}/'"#;
        let binary = fake(directory.path(), script);
        let batch = Batch { binary: &binary, contained: false, plan: false, home: "/h" };
        let (answers, _) = batch.judge("test", &samples).unwrap();
        let bash = ask_bash(&samples).unwrap();
        let found: Vec<(&str, Kind)> = samples
            .iter()
            .zip(&answers)
            .zip(&bash)
            .filter_map(|((sample, answer), bash)| difference(sample, answer, *bash))
            .map(|difference| (difference.id, difference.kind))
            .collect();
        assert_eq!(found, [("pwd", Kind::BashAcceptsAndWeRefuse), ("if", Kind::WeAcceptAndBashRefuses)]);
    }
}
