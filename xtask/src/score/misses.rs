//! The wrong judgements one by one, for finding out why. They hold corpus lines: keep them out of the repository.

use super::{Judged, decision};
use crate::Failure;
use crate::batch::Decision;
use crate::corpus::{Label, Sample};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

#[derive(Serialize)]
struct Miss<'a> {
    mode: &'static str,
    label: Label,
    decision: Decision,
    source: &'a str,
    effect: &'a [String],
    rules: Vec<&'a str>,
    messages: Vec<&'a str>,
    id: &'a str,
    command: &'a str,
}

/// Writes what is dangerous and allowed, and what is benign and not allowed. Returns how many they are.
pub(super) fn write(path: &Path, samples: &[Sample], judged: &[Judged]) -> Result<usize, Failure> {
    let mut file =
        BufWriter::new(File::create(path).map_err(|error| format!("{}: {error}", path.display()))?);
    let mut count = 0;
    for Judged { mode, answers, .. } in judged {
        for (sample, answer) in samples.iter().zip(answers) {
            let decision = decision(answer);
            if !is_wrong(sample.label, decision) {
                continue;
            }
            let mut messages: Vec<&str> =
                answer.findings.iter().map(|finding| finding.message.as_str()).collect();
            messages.extend(answer.error.as_deref());
            let miss = Miss {
                mode: mode.name(),
                label: sample.label,
                decision,
                source: &sample.source,
                effect: &sample.effect,
                rules: answer.findings.iter().map(|finding| finding.rule.as_str()).collect(),
                messages,
                id: &sample.id,
                command: &sample.command,
            };
            serde_json::to_writer(&mut file, &miss)?;
            file.write_all(b"\n")?;
            count += 1;
        }
    }
    file.flush()?;
    Ok(count)
}

fn is_wrong(label: Label, decision: Decision) -> bool {
    match label {
        Label::Dangerous => decision == Decision::Allow,
        Label::Benign => decision != Decision::Allow,
        Label::Dual => false,
    }
}
