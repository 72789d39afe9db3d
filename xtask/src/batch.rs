//! Putting many commands through one `shward check --batch`.

use crate::Failure;
use crate::corpus::Sample;
use crate::plan::Plan;
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Decision {
    Allow,
    Ask,
    Deny,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        })
    }
}

/// One answer of `check --batch`.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    id: String,
    pub(crate) decision: Option<Decision>,
    #[serde(default)]
    pub(crate) findings: Vec<Finding>,
    /// Given if it was asked for.
    #[serde(default)]
    pub(crate) plan: Option<Plan>,
    /// Given in place of a decision.
    pub(crate) error: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Finding {
    pub(crate) rule: String,
    pub(crate) message: String,
}

#[derive(Serialize)]
struct Request<'a> {
    id: &'a str,
    command: &'a str,
    cwd: &'a str,
    workspace: &'a str,
    home: &'a str,
}

/// How to ask.
pub(crate) struct Batch<'a> {
    pub(crate) binary: &'a Path,
    pub(crate) contained: bool,
    /// The plans are wanted as well.
    pub(crate) plan: bool,
    /// Home directory of the sources that have no other.
    pub(crate) home: &'a str,
}

impl Batch<'_> {
    /// The answers to all samples, in their order, and how long that took.
    pub(crate) fn judge(
        &self,
        name: &'static str,
        samples: &[Sample],
    ) -> Result<(Vec<Answer>, Duration), Failure> {
        let start = Instant::now();
        let mut command = Command::new(self.binary);
        command.args(["check", "--batch", "--frozen"]);
        if self.contained {
            command.arg("--contained");
        }
        if self.plan {
            command.arg("--plan");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.binary.display()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the pipes of a child are missing".into());
        };
        let answers = thread::scope(|scope| {
            let writer = scope.spawn(move || self.write(BufWriter::new(input), samples));
            let answers = read(BufReader::new(output), samples, Progress::new(name, samples.len()));
            if answers.is_err() {
                // It may be waiting for someone to read, and the writer for it.
                let _ = child.kill();
            }
            // Its reader has gone if it failed, and then the reader's error tells more than the broken pipe.
            let written = writer.join().unwrap_or(Ok(()));
            let answers = answers?;
            written?;
            Ok::<_, Failure>(answers)
        });
        let status = child.wait()?;
        let answers = answers.map_err(|error| format!("{} ({status}): {error}", self.binary.display()))?;
        Ok((answers, start.elapsed()))
    }

    fn write(&self, mut input: impl Write, samples: &[Sample]) -> io::Result<()> {
        for sample in samples {
            let request = Request {
                id: &sample.id,
                command: &sample.command,
                cwd: &sample.cwd,
                workspace: &sample.cwd,
                home: sample.home(self.home),
            };
            serde_json::to_writer(&mut input, &request)?;
            input.write_all(b"\n")?;
        }
        input.flush()
    }
}

fn read(output: impl BufRead, samples: &[Sample], mut progress: Progress) -> Result<Vec<Answer>, Failure> {
    let mut answers = Vec::with_capacity(samples.len());
    let mut lines = output.lines();
    for sample in samples {
        let line = lines.next().ok_or_else(|| format!("no answer to {}", sample.id))??;
        let answer: Answer =
            serde_json::from_str(&line).map_err(|error| format!("{error} in the answer {line}"))?;
        if answer.id != sample.id {
            return Err(format!("{} was answered where {} was asked", answer.id, sample.id).into());
        }
        if answer.decision.is_none() && answer.error.is_none() {
            return Err(format!("neither decision nor error in the answer {line}").into());
        }
        answers.push(answer);
        progress.show(answers.len());
    }
    match lines.next() {
        None => Ok(answers),
        Some(_) => Err("more answers than questions".into()),
    }
}

/// Builds shward for release and tells where it is.
pub(crate) fn build(root: &Path) -> Result<PathBuf, Failure> {
    eprintln!("building shward for release …");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--package", "shward-cli", "--bin", "shward"])
        .args(["--quiet", "--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("shward does not build".into());
    }
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
    }
    let messages = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut executables =
        messages.filter_map(|line| serde_json::from_slice::<Message>(line).ok()?.executable);
    executables.next_back().ok_or_else(|| "cargo did not tell where shward is".into())
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A program that stands for shward: a shell script in `directory`.
    pub(crate) fn fake(directory: &Path, script: &str) -> PathBuf {
        let path = directory.join("shward");
        // Another process writes it: a file that this one has open for writing may be so in the children that
        // other tests are starting, and then it cannot be executed.
        let mut writer = Command::new("sh");
        writer
            .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod +x \"$0\""])
            .arg(&path)
            .arg(script);
        assert!(writer.status().unwrap().success());
        path
    }

    pub(crate) fn sample(id: &str, command: &str, label: &str, source: &str, effects: &[&str]) -> Sample {
        let json = serde_json::json!({
            "id": id, "command": command, "label": label, "source": source, "effect": effects,
        });
        serde_json::from_value(json).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{fake, sample};
    use super::*;

    #[test]
    fn answers_are_matched_with_questions() {
        let directory = tempfile::tempdir().unwrap();
        let samples: Vec<Sample> =
            (0..5000).map(|number| sample(&number.to_string(), "ls", "benign", "tldr", &[])).collect();
        let answer = r#"sed -e 's/.*"id":"\([^"]*\)".*/{"v":1,"id":"\1","decision":"allow","findings":[]}/'"#;
        let table = [
            (answer.to_owned(), ""),
            (format!("{answer} | sed '7s/allow/perhaps/'"), "unknown variant `perhaps`"),
            (format!("{answer} | sed '7s/decision/d/'"), "neither decision nor error"),
            (format!("{answer} | sed 7d"), "7 was answered where 6 was asked"),
            (format!("{answer} | head -n 10"), "no answer to 10"),
            (format!("{answer}; echo '{{}}'"), "more answers than questions"),
            ("exit 78".to_owned(), "(exit status: 78): no answer to 0"),
        ];
        for (script, expected) in table {
            let binary = fake(directory.path(), &script);
            let result = Batch { binary: &binary, contained: false, plan: false, home: "/home/dev" }
                .judge("test", &samples);
            match result {
                Ok((answers, _)) => assert_eq!((answers.len(), expected), (5000, "")),
                Err(error) => {
                    assert!(!expected.is_empty() && error.to_string().contains(expected), "{error}")
                }
            }
        }
    }
}
