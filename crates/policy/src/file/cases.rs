//! A file of cases that a policy is tried on: `[[case]]` with a command and what it gets.

use super::diagnostic::{BadPolicy, Diagnostic, Problems};
use super::keys::{DECISIONS, Key, Kind};
use super::read::{Reader, decision, tables};
use super::{Source, check, read_toml};
use crate::decision::Decision;
use crate::toml::Value;

/// A case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The command.
    pub command: String,
    /// What it gets.
    pub decision: Decision,
    /// When shward runs it; else when somebody else does.
    pub contained: bool,
    /// A rule that must be among the findings.
    pub rule: Option<String>,
    /// The line, from 1.
    pub line: u32,
}

const CASE: &[Key] = &[
    Key { name: "command", kind: Kind::Text, doc: "The command.", example: r#""git push""# },
    Key { name: "decision", kind: Kind::Word(DECISIONS), doc: "What it gets.", example: r#""ask""# },
    Key { name: "contained", kind: Kind::Switch, doc: "When shward runs it.", example: "false" },
    Key { name: "rule", kind: Kind::Text, doc: "A rule that is among the findings.", example: r#""push""# },
];

const FILE: &[Key] = &[Key { name: "case", kind: Kind::Tables(CASE), doc: "A case.", example: "" }];

/// Reads the cases of a file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn cases(source: &Source) -> Result<Vec<Case>, BadPolicy> {
    let bad = |diagnostics| BadPolicy::new(&source.name, &source.text, diagnostics);
    let table = read_toml(source, &[])?;
    let mut problems = Problems::default();
    check::table(&table, FILE, &mut problems);
    if !problems.is_empty() {
        return Err(bad(problems.into_vec()));
    }
    let reader = Reader::new(source);
    let mut out = Vec::new();
    for (item, span) in tables(table.get("case")) {
        let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
        let wanted = text("decision").as_deref().and_then(decision);
        let (Some(command), Some(decision)) = (text("command"), wanted) else {
            problems.push(Diagnostic::new("missing-key", span, "a case needs `command` and `decision`"));
            continue;
        };
        out.push(Case {
            command,
            decision,
            contained: item.get("contained").and_then(Value::as_bool).unwrap_or(false),
            rule: text("rule"),
            line: reader.line(span),
        });
    }
    if problems.is_empty() { Ok(out) } else { Err(bad(problems.into_vec())) }
}
