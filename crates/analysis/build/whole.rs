//! What is wrong with a description though each of its lines is right.

use super::format::Level;
use super::words::{Condition, Style};
use std::collections::BTreeMap;

/// The options that a line depends on must exist, and be named in all their spellings.
fn conditions(
    line: usize,
    word: &str,
    names: &[String],
    levels: &[&Level],
    problems: &mut Vec<(usize, String)>,
) {
    for name in names {
        let mut options = levels.iter().flat_map(|l| &l.options);
        match options.find(|o| o.names.iter().any(|n| n.text == *name)) {
            None => problems.push((line, format!("`{word} {name}`: no such option at this level"))),
            // Few names on a line are spellings of one option; a long line lists several.
            Some(option) if option.names.len() <= 3 => {
                let spellings = option.names.iter().map(|n| n.text.as_str());
                let missing: Vec<&str> = spellings.filter(|n| !names.iter().any(|w| w == n)).collect();
                if !missing.is_empty() {
                    let message = format!("name them after `{word}` too, or give it a line of its own");
                    problems
                        .push((line, format!("‘{name}’ is listed with {}: {message}", missing.join(" "))));
                }
            }
            Some(_) => {}
        }
    }
}

/// Whether an option is listed at this level, or below it.
fn is_listed(level: &Level, name: &str) -> bool {
    level.options.iter().flat_map(|option| &option.names).any(|listed| listed.text == name)
        || level.subs.iter().any(|sub| is_listed(sub, name))
}

/// What only the whole description shows. `outer` are the levels around this one.
pub(crate) fn check<'l>(level: &'l Level, outer: &mut Vec<&'l Level>, problems: &mut Vec<(usize, String)>) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let style = level.style.or(outer.iter().rev().find_map(|l| l.style)).unwrap_or(Style::Gnu);
    outer.push(level);
    for option in &level.options {
        for name in &option.names {
            if let Some(first) = seen.insert(&name.text, option.line) {
                problems.push((option.line, format!("‘{}’ is already listed in line {first}", name.text)));
            }
            if !name.text.starts_with(['-', '+']) && !matches!(style, Style::Bare | Style::KeyValue) {
                let message = "is no option name in this style (the name of a value is in capitals)";
                problems.push((option.line, format!("‘{}’ {message}", name.text)));
            }
        }
    }
    for (index, line) in level.operands.iter().enumerate() {
        if line.when.is_empty() && index + 1 != level.operands.len() {
            problems.push((
                line.line,
                "an `operands` line without `when` is the fallback and comes last".to_owned(),
            ));
        }
        conditions(line.line, "when", &line.when, outer, problems);
    }
    for case in &level.cases {
        match case.condition {
            Condition::When => conditions(case.line, "when", &case.names, outer, problems),
            Condition::Unless => conditions(case.line, "unless", &case.names, outer, problems),
            Condition::Written | Condition::Named => {}
        }
    }
    for known in &level.facts {
        for name in known.options.iter().filter(|name| !is_listed(level, name)) {
            problems.push((known.line, format!("‘{name}’: no such option of this program")));
        }
    }
    let mut subs: BTreeMap<&str, usize> = BTreeMap::new();
    for sub in &level.subs {
        for name in &sub.names {
            if let Some(first) = subs.insert(name, sub.line) {
                problems
                    .push((sub.line, format!("subcommand ‘{name}’ is already described in line {first}")));
            }
        }
        check(sub, outer, problems);
    }
    outer.pop();
}
