//! Ids that people write into policies and read in logs: each means one thing and is spelled one way.

use super::lexer::{self, Kind};
use super::{Problem, Tree};
use crate::Failure;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Rules are declared as `id: "kebab-case"` in this directory.
const RULES: &str = "crates/policy/src";

/// Programs are described under `program NAME…` in the files `*.cmds` of this directory.
const KNOWLEDGE: &str = "crates/analysis/knowledge";

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    let mut rules = Unique::default();
    for (path, text) in tree.texts(RULES, ".rs") {
        let (tokens, _) = lexer::without_tests(&lexer::tokens(text));
        for window in tokens.windows(3) {
            let [name, colon, value] = window else { continue };
            let Kind::Text(id) = &value.kind else { continue };
            if !(name.is_word("id") && colon.is_mark(':')) {
                continue;
            }
            if !is_kebab_case(id) {
                problems.push(Problem::new(path, value.line, format!("rule id `{id}` is not kebab-case")));
            }
            problems.extend(rules.declare("rule id", id, path, value.line));
        }
    }
    let mut programs = Unique::default();
    for (path, text) in tree.texts(KNOWLEDGE, ".cmds") {
        for (line, names) in
            (1..).zip(text.lines()).filter_map(|(at, line)| Some((at, line.strip_prefix("program ")?)))
        {
            for name in names.split_whitespace() {
                problems.extend(programs.declare("program", name, path, line));
            }
        }
    }
    Ok(problems)
}

#[derive(Default)]
struct Unique<'a> {
    first: HashMap<String, (&'a str, usize)>,
}

impl<'a> Unique<'a> {
    fn declare(&mut self, what: &str, id: &str, path: &'a str, line: usize) -> Option<Problem> {
        match self.first.entry(id.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert((path, line));
                None
            }
            Entry::Occupied(first) => {
                let (first_path, first_line) = first.get();
                let message = format!("{what} `{id}` is also declared at {first_path}:{first_line}");
                Some(Problem::new(path, line, message))
            }
        }
    }
}

/// Words of lower-case letters and digits, the first of them beginning with a letter, joined by single hyphens.
fn is_kebab_case(id: &str) -> bool {
    id.starts_with(|letter: char| letter.is_ascii_lowercase())
        && id.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    #[test]
    fn kebab_case() {
        for good in ["a", "secret-read", "tier4-x", "x-2"] {
            assert!(is_kebab_case(good), "{good}");
        }
        for bad in ["", "A", "a_b", "a--b", "-a", "a-", "4a", "a b", "é"] {
            assert!(!is_kebab_case(bad), "{bad}");
        }
    }

    #[test]
    fn a_repeated_or_misspelled_id_is_found() {
        let rules = r#"
            Rule { id: "read-secret", tier: 4 },
            // id: "read-secret"
            #[cfg(test)] mod tests { const X: Rule = Rule { id: "read-secret" }; }
        "#;
        let tree = Seeded::new(&[
            ("crates/policy/src/rules.rs", rules),
            ("crates/policy/src/floor.rs", "Rule {\n id: \"read_home\" }, Rule { id: \"read-secret\" }"),
            ("crates/analysis/knowledge/a.cmds", "program ls dir\n  sub program ls\n"),
            ("crates/analysis/knowledge/b.cmds", "# program ls\n\nprogram vdir dir\n"),
        ]);
        assert_eq!(
            tree.problems(check),
            [
                "crates/analysis/knowledge/b.cmds:3: program `dir` is also declared at crates/analysis/knowledge/a.cmds:1",
                "crates/policy/src/floor.rs:2: rule id `read_home` is not kebab-case",
                "crates/policy/src/rules.rs:2: rule id `read-secret` is also declared at crates/policy/src/floor.rs:2",
            ]
        );
        tree.write(&[
            ("crates/policy/src/floor.rs", "Rule { id: \"read-home\" }"),
            ("crates/analysis/knowledge/b.cmds", "program vdir\n"),
        ]);
        assert_eq!(tree.problems(check), [""; 0]);
    }
}
