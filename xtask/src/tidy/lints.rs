//! One home for lints: every crate takes the workspace's, so that `missing_docs` and the bans on panics hold
//! everywhere. The sandbox alone needs `unsafe`; Cargo has no way to override a single lint, so it repeats them.

use super::lexer;
use super::{Problem, Tree};
use crate::Failure;
use std::collections::BTreeMap;

const SANDBOX: &str = "crates/sandbox/Cargo.toml";
const FUZZ: &str = "fuzz/Cargo.toml";

/// The lint in which the sandbox differs.
const UNSAFE: &str = "unsafe_code";

/// Lints that no crate may switch off inside its source.
const EVERYWHERE: &[&str] = &["missing_docs", UNSAFE];

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let workspace = tree.text("Cargo.toml").map(sections).unwrap_or_default();
    let mut problems = Vec::new();
    for (path, text) in tree.texts("", "/Cargo.toml") {
        // A workspace of its own, which forbids unsafe code as well: what fuzzing needs is not part of the product.
        if path == FUZZ {
            continue;
        }
        let manifest = sections(text);
        if !manifest.contains_key("package") {
            continue;
        }
        if path == SANDBOX {
            problems.extend(repeats(&workspace, &manifest).map(|message| Problem::new(path, 0, message)));
        } else if value(&manifest, "lints", "workspace") != Some("true") {
            problems.push(Problem::new(
                path,
                0,
                "does not take the workspace's lints (`[lints] workspace = true`)",
            ));
        }
    }
    for (path, text) in tree.texts("", ".rs") {
        let sandbox = path.starts_with("crates/sandbox/");
        for (line, lint) in allowed(text) {
            if !(sandbox && lint == UNSAFE) {
                problems.push(Problem::new(path, line, format!("switches off `{lint}`")));
            }
        }
    }
    Ok(problems)
}

/// Where the sandbox's lints are not the workspace's. More lints are welcome.
fn repeats(workspace: &Sections, sandbox: &Sections) -> impl Iterator<Item = String> {
    let mut messages = Vec::new();
    for group in ["rust", "clippy"] {
        let lints = workspace.get(&format!("workspace.lints.{group}")).cloned().unwrap_or_default();
        for (lint, level) in lints {
            let own = value(sandbox, &format!("lints.{group}"), &lint);
            if lint != UNSAFE && own != Some(level.as_str()) {
                messages.push(format!(
                    "lint {lint} is {} here and {level} in the workspace",
                    own.unwrap_or("absent")
                ));
            }
        }
    }
    messages.into_iter()
}

/// Lines and names of the lints of [`EVERYWHERE`] that stand in an `allow(…)` or `expect(…)` outside of tests.
fn allowed(source: &str) -> Vec<(usize, &'static str)> {
    let (tokens, _) = lexer::without_tests(&lexer::tokens(source));
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let arguments = tokens.get(at + 1..).unwrap_or_default();
        let opens = arguments.first().is_some_and(|token| token.is_mark('('));
        // `.expect(` is a method.
        let method =
            at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|token| token.is_mark('.'));
        if !opens || method || !(token.is_word("allow") || token.is_word("expect")) {
            continue;
        }
        let arguments = arguments.get(..lexer::group_length(arguments)).unwrap_or_default();
        for lint in EVERYWHERE {
            found.extend(
                arguments.iter().filter(|token| token.is_word(lint)).map(|token| (token.line, *lint)),
            );
        }
    }
    found
}

/// Section name → key → value as written without blanks.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

fn value<'a>(sections: &'a Sections, section: &str, key: &str) -> Option<&'a str> {
    sections.get(section)?.get(key).map(String::as_str)
}

/// The part of TOML that the manifests' lint tables use: `[section]` and `key = value`, one per line. Anything
/// else is skipped, and then missed by the checks above, which fail.
fn sections(text: &str) -> Sections {
    let mut sections = Sections::new();
    let mut current = String::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            current = name.trim().to_owned();
            sections.entry(current.clone()).or_default();
        } else if let Some((key, value)) = line.split_once('=') {
            let value = value.split_whitespace().collect();
            sections.entry(current.clone()).or_default().insert(key.trim().to_owned(), value);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    const WORKSPACE: &str = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nmissing_docs = \"deny\"\n\
        [workspace.lints.clippy]\nall = { level = \"deny\", priority = -1 } # first\n";
    const SOUND: &str = "[package]\n[lints.rust]\nmissing_docs = \"deny\"\nunsafe_code = \"allow\"\nextra = \"deny\"\n\
        [lints.clippy]\nall = {level=\"deny\", priority = -1}\n";
    const INHERITS: &str = "[package]\n[lints]\nworkspace = true\n";

    #[test]
    fn a_crate_with_lints_of_its_own_is_found() {
        let tree = Seeded::new(&[
            ("Cargo.toml", WORKSPACE),
            ("crates/sandbox/Cargo.toml", SOUND),
            ("crates/audit/Cargo.toml", INHERITS),
        ]);
        assert_eq!(tree.problems(check), [""; 0]);

        let weaker = SOUND.replace("missing_docs = \"deny\"", "missing_docs = \"warn\"");
        let fewer = SOUND.replace("missing_docs = \"deny\"\n", "");
        let expected = "crates/sandbox/Cargo.toml: lint missing_docs is";
        let table = [
            (
                "crates/sandbox/Cargo.toml",
                weaker.as_str(),
                format!("{expected} \"warn\" here and \"deny\" in the workspace"),
            ),
            (
                "crates/sandbox/Cargo.toml",
                &fewer,
                format!("{expected} absent here and \"deny\" in the workspace"),
            ),
            (
                "crates/audit/Cargo.toml",
                "[package]\n",
                "crates/audit/Cargo.toml: does not take the workspace's lints (`[lints] workspace = true`)"
                    .into(),
            ),
            (
                "crates/audit/src/lib.rs",
                "//! allow(missing_docs)\n#![allow(dead_code, missing_docs)]\n",
                "crates/audit/src/lib.rs:2: switches off `missing_docs`".into(),
            ),
            (
                "crates/audit/src/lib.rs",
                "#[expect(unsafe_code)] fn f() {}",
                "crates/audit/src/lib.rs:1: switches off `unsafe_code`".into(),
            ),
        ];
        for (path, text, expected) in table {
            tree.write(&[(path, text)]);
            assert_eq!(tree.problems(check), [expected]);
            tree.write(&[
                ("crates/sandbox/Cargo.toml", SOUND),
                ("crates/audit/Cargo.toml", INHERITS),
                ("crates/audit/src/lib.rs", "#[cfg(test)] mod t { #![allow(missing_docs)] }"),
            ]);
            assert_eq!(tree.problems(check), [""; 0]);
        }
    }
}
