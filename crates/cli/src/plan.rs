//! A plan as a person reads it: its programs and its effects.

use crate::shown::one_line;
use shward::{EffectReport, InvocationReport, PlanReport};
use std::collections::HashSet;
use std::fmt::Write as _;

/// At most this many programs and effects are listed; `--json` has them all.
const MAX_LISTED: usize = 40;

/// The programs of a plan and its effects.
pub(crate) fn text(plan: &PlanReport) -> String {
    programs(plan) + &effects(plan)
}

fn programs(plan: &PlanReport) -> String {
    let lines = distinct(plan.invocations.iter().filter(|i| !i.builtin).map(program_line));
    if lines.is_empty() { String::new() } else { listed("programs", &lines) }
}

fn program_line(invocation: &InvocationReport) -> String {
    let words: Vec<String> =
        invocation.argv.iter().map(|w| w.as_deref().map_or_else(|| "…".to_owned(), quoted)).collect();
    format!("{}{}", one_line(&words.join(" ")), if invocation.certain { "" } else { "   (possibly)" })
}

fn effects(plan: &PlanReport) -> String {
    let lines = distinct(plan.effects.iter().map(effect_line));
    if lines.is_empty() {
        "\neffects\n  none beyond printing\n".to_owned()
    } else {
        listed("effects", &lines)
    }
}

/// Each line once, where it comes first.
fn distinct(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    lines.filter(|line| seen.insert(line.clone())).collect()
}

fn listed(title: &str, lines: &[String]) -> String {
    let mut out = format!("\n{title}\n");
    for line in lines.iter().take(MAX_LISTED) {
        let _ = writeln!(out, "  {line}");
    }
    if let Some(more @ 1..) = lines.len().checked_sub(MAX_LISTED) {
        let _ = writeln!(out, "  … and {more} more (--json lists all)");
    }
    out
}

fn effect_line(effect: &EffectReport) -> String {
    let mut line = format!("{:<10}", effect.kind);
    if let Some(path) = &effect.path {
        let _ = write!(line, " {}", one_line(path));
    }
    let below = if effect.path.as_deref().is_some_and(|path| path.ends_with('/')) { "" } else { "/" };
    match effect.rest {
        Some("unknown") if effect.path.is_none() => line.push_str(" a place that is not known"),
        Some("unknown") => line.push_str("… (the rest is not known)"),
        Some("glob") => {
            line.push_str(below);
            line.push_str("… (names that match)");
        }
        None if !effect.tree => {}
        _ => {
            line.push_str(below);
            line.push('…');
        }
    }
    if let Some(host) = &effect.host {
        let _ = write!(line, " {}", one_line(host));
    }
    if let Some(detail) = &effect.detail {
        let _ = write!(line, " {}", one_line(detail));
    }
    if let Some(scope) = effect.scope {
        let _ = write!(line, "   [{scope}]");
    }
    if effect.kind != "write" && !effect.origins.is_empty() {
        let _ = write!(line, "   from {}", effect.origins.join(", "));
    }
    if !effect.certain {
        line.push_str("   (possibly)");
    }
    line
}

/// A word as one would type it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-^~{}[]*?!#".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
