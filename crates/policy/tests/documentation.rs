//! `docs/rules.md` describes every rule, as the table has it; `docs/parity.md` names tests that are there.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod judging;

use judging::judge;
use shward_policy::{Policy, Profile, Rule, rules};

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md"));

/// The sections of the page: heading, decisions, example, counterexample.
fn sections() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let sections = PAGE.split("\n## ").skip(1).map(|section| {
        let (id, text) = section.split_once('\n').expect("a heading ends");
        let line = |start: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(start));
            found.unwrap_or_else(|| panic!("{id}: no line starts with {start}"))
        };
        let code =
            |start: &str| line(start).strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).expect(id);
        (id, line("*").trim_end_matches('*'), code("- Meets it: "), code("- Does not: "))
    });
    sections.collect()
}

fn decisions(rule: &Rule) -> String {
    let floor = if rule.floor { " · floor" } else { "" };
    format!("{} · contained: {} · tier {}{floor}", rule.alone, rule.contained, rule.tier.get())
}

#[test]
fn every_rule_has_its_section() {
    let described: Vec<(&str, String)> =
        sections().iter().map(|(id, line, ..)| (*id, (*line).to_owned())).collect();
    let there: Vec<(&str, String)> = rules().map(|rule| (rule.id, decisions(rule))).collect();
    assert_eq!(described, there);
}

#[test]
fn ids_are_kebab_case_and_unique() {
    let mut seen = std::collections::BTreeSet::new();
    for rule in rules() {
        assert!(rule.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", rule.id);
        assert!(seen.insert(rule.id), "{} twice", rule.id);
    }
}

/// The rules that a command meets when somebody else runs it.
fn met(command: &str) -> Vec<String> {
    let found =
        [Profile::Workspace, Profile::ReadOnly].map(|profile| judge(&Policy::new(profile), command, false));
    found
        .iter()
        .flat_map(|verdict| verdict.findings().iter().map(|finding| finding.rule.to_string()))
        .collect()
}

#[test]
fn examples_meet_their_rules_and_counterexamples_do_not() {
    let mut wrong = Vec::new();
    for (id, _, example, counterexample) in sections() {
        let found = met(example);
        if !found.iter().any(|found| found == id) {
            wrong.push(format!("{id}: `{example}` meets {found:?}"));
        }
        if met(counterexample).iter().any(|found| found == id) {
            wrong.push(format!("{id}: `{counterexample}` meets it"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each row of the features of other systems names at least one test, by its file and name, and each of those is there.
#[test]
fn every_feature_names_its_tests() {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let page = std::fs::read_to_string(format!("{crates}/../docs/parity.md")).expect("the page is there");
    let mut numbers = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, .., shown] = cells[..] else { panic!("{row}") };
        numbers.push(number.parse::<u32>().expect(row));
        for part in shown.split(';') {
            let (file, names) = part.trim().strip_prefix('`').and_then(|p| p.split_once('`')).expect(row);
            let text = std::fs::read_to_string(format!("{crates}/{file}")).unwrap_or_default();
            // What stands in parentheses is a part of the test.
            let names = names.split('(').next().unwrap_or_default();
            for name in names.split(',').map(str::trim) {
                let (attribute, function) = ("#[test]\n".to_owned(), format!("fn {name}()"));
                let tested = text.split(&attribute).skip(1).any(|t| t.trim_start().starts_with(&function));
                assert!(tested, "row {number}: there is no test {name} in {file}");
            }
        }
    }
    assert_eq!(numbers, (1..=41).collect::<Vec<_>>());
}
