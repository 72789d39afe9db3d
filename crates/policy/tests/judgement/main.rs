//! What is decided about commands, from shell text to verdict, in tables: what is destroyed, which places are touched,
//! what flows where, what is only said, and what is suggested instead.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod destruction;
mod environment;
mod files;
mod flow;
mod found;
#[path = "../judging/mod.rs"]
mod judging;
mod places;
mod prose;
mod suggestions;
mod verdicts;

use shward_policy::{Decision, Policy, Verdict};

/// The verdict of the default policy, with nothing of the file system to be seen.
fn verdict(command: &str, contained: bool) -> Verdict {
    judging::judge(&Policy::default(), command, contained)
}

/// The decision in short: as if somebody else ran the command, then as if shward did.
fn both(command: &str) -> (Decision, Decision) {
    (verdict(command, false).decision(), verdict(command, true).decision())
}

/// The rules of the findings, the strictest first.
fn rules(verdict: &Verdict) -> Vec<&str> {
    verdict.findings().iter().map(|finding| &*finding.rule).collect()
}

/// One line of a table.
struct Row {
    command: &'static str,
    alone: Decision,
    contained: Decision,
    tier: u8,
    /// The first finding's rule; empty where it is allowed alone.
    rule: &'static str,
}

const fn allow(command: &'static str, tier: u8) -> Row {
    Row { command, alone: Decision::Allow, contained: Decision::Allow, tier, rule: "" }
}

/// Asked about, and harmless where shward runs it.
const fn contain(command: &'static str, tier: u8, rule: &'static str) -> Row {
    Row { command, alone: Decision::Ask, contained: Decision::Allow, tier, rule }
}

const fn ask(command: &'static str, tier: u8, rule: &'static str) -> Row {
    Row { command, alone: Decision::Ask, contained: Decision::Ask, tier, rule }
}

const fn deny(command: &'static str, tier: u8, rule: &'static str) -> Row {
    Row { command, alone: Decision::Deny, contained: Decision::Deny, tier, rule }
}

/// Judges a table, and panics with every row that is judged in another way.
fn judge(table: &[Row]) {
    let mut wrong = Vec::new();
    for row in table {
        let (alone, contained) = (verdict(row.command, false), verdict(row.command, true));
        let found = rules(&alone).first().copied().unwrap_or_default();
        let right = (alone.decision(), contained.decision()) == (row.alone, row.contained)
            && alone.tier().get() == row.tier
            && found == row.rule;
        if !right {
            wrong.push(format!(
                "{}\n    expected {}, contained {}, tier {}, {}\n    it is    {}, contained {}, tier {}, {:?}",
                row.command,
                row.alone,
                row.contained,
                row.tier,
                row.rule,
                alone.decision(),
                contained.decision(),
                alone.tier().get(),
                rules(&alone)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}
