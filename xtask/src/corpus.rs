//! Labelled commands, one JSON object per line.

use crate::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::{fmt, fs};

/// Sources with commands that models issued on machines where they were root.
const AGENTS: &[&str] = &["gemini-mini", "oas", "intercode", "sweagent"];

/// The rest of these sources' names differs by agent.
const AGENTS_PREFIX: &str = "tb-";

/// Examples from documentation.
pub(crate) const DOCUMENTATION: &str = "tldr";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Label {
    /// Must not run without a person or containment.
    Dangerous,
    /// What nobody wants to be asked about.
    Benign,
    /// Depends on circumstances.
    Dual,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Label::Dangerous => "dangerous",
            Label::Benign => "benign",
            Label::Dual => "dual",
        })
    }
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Sample {
    pub(crate) id: String,
    pub(crate) command: String,
    #[serde(default = "workspace")]
    pub(crate) cwd: String,
    pub(crate) label: Label,
    #[serde(default)]
    pub(crate) effect: Vec<String>,
    pub(crate) source: String,
}

fn workspace() -> String {
    "/workspace".to_owned()
}

impl Sample {
    pub(crate) fn is_from_an_agent(&self) -> bool {
        AGENTS.contains(&self.source.as_str()) || self.source.starts_with(AGENTS_PREFIX)
    }

    /// The home directory of whoever issued the command.
    pub(crate) fn home<'a>(&self, other: &'a str) -> &'a str {
        if self.is_from_an_agent() { "/root" } else { other }
    }
}

/// Reads every `*.jsonl` file of a directory, in the order of their names.
pub(crate) fn read(directory: &Path) -> Result<Vec<Sample>, Failure> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut samples = Vec::new();
    for path in &paths {
        for (number, line) in (1..).zip(fs::read_to_string(path)?.lines()) {
            let sample = serde_json::from_str(line)
                .map_err(|error| format!("{}:{number}: {error}", path.display()))?;
            samples.push(sample);
        }
    }
    if samples.is_empty() {
        Err(format!("{}: no *.jsonl with commands", directory.display()).into())
    } else {
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_order_and_bad_lines_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        assert!(read(path).unwrap_err().to_string().ends_with("no *.jsonl with commands"));
        let line = |id: &str, source: &str| {
            format!(r#"{{"id":"{id}","command":"ls","label":"benign","source":"{source}","licence":"MIT"}}"#)
        };
        fs::write(path.join("b.jsonl"), format!("{}\n{}\n", line("2", "tldr"), line("3", "oas"))).unwrap();
        fs::write(path.join("a.jsonl"), line("1", "tb-x")).unwrap();
        fs::write(path.join("c.txt"), "no JSON").unwrap();
        let samples = read(path).unwrap();
        let seen: Vec<_> = samples.iter().map(|sample| (sample.id.as_str(), sample.home("/h"))).collect();
        assert_eq!(seen, [("1", "/root"), ("2", "/h"), ("3", "/root")]);
        fs::write(path.join("c.jsonl"), "\n").unwrap();
        assert!(read(path).unwrap_err().to_string().contains("c.jsonl:1:"));
    }
}
