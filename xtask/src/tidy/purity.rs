//! The pure crates take values and return values: no file, no clock, no environment, no process, no output.
//!
//! Names are enough to hold this: whatever touches the outside world is reached through a handful of modules of
//! `std` or through another crate, and both are looked at here. Test code is free.

use super::lexer::{self, Token, group_length};
use super::modules::{is_below, module_files};
use super::{Problem, Tree};
use crate::Failure;

/// Directories of the crates that stay pure.
pub(super) const PURE: &[&str] = &["crates/syntax", "crates/analysis", "crates/policy", "crates/hosts"];

/// Modules of `std` that reach outside.
const FORBIDDEN_MODULES: &[&str] = &["env", "fs", "net", "os", "process", "thread", "time"];

/// Functions of `std::io` that reach outside; its traits and errors do not.
const FORBIDDEN_STREAMS: &[&str] = &["stdin", "stdout", "stderr"];

const FORBIDDEN_MACROS: &[&str] = &["dbg", "eprint", "eprintln", "print", "println"];

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    for directory in PURE {
        let source = format!("{directory}/src");
        let mut test_files = Vec::new();
        let mut seen = Vec::new();
        for (path, text) in tree.texts(&source, ".rs") {
            let (tokens, test_modules) = lexer::without_tests(&lexer::tokens(text));
            test_files.extend(test_modules.iter().flat_map(|name| module_files(path, name)));
            seen.extend(impurities(&tokens).map(|(line, what)| {
                Problem::new(path, line, format!("{what} reaches outside; a pure crate asks its World"))
            }));
        }
        problems.extend(seen.into_iter().filter(|problem| !is_below(&problem.path, &test_files)));
    }
    Ok(problems)
}

/// Lines and names of what reaches outside.
fn impurities(tokens: &[Token]) -> impl Iterator<Item = (usize, String)> {
    (0..tokens.len()).flat_map(|at| {
        let here = tokens.get(at..).unwrap_or_default();
        let mut found = Vec::new();
        if let [name, bang, ..] = here
            && let Some(word) = name.word()
            && bang.is_mark('!')
            && FORBIDDEN_MACROS.contains(&word)
        {
            found.push((name.line, format!("{word}!")));
        }
        if let Some(rest) = path_tail(here, "std") {
            found.extend(members(rest).filter_map(|(line, name, next)| {
                let is_macro = next.is_some_and(|token| token.is_mark('!'));
                let forbidden = FORBIDDEN_MODULES.contains(&name) && !is_macro;
                // Behind another name for all of std nothing could be seen any more.
                (forbidden || name == "*" || name == "self").then(|| (line, format!("std::{name}")))
            }));
        }
        if let [std, renamed, ..] = here
            && std.is_word("std")
            && renamed.is_word("as")
        {
            found.push((std.line, "std under another name".to_owned()));
        }
        if let Some(rest) = path_tail(here, "io") {
            found.extend(
                members(rest)
                    .filter(|(_, name, _)| FORBIDDEN_STREAMS.contains(name))
                    .map(|(line, name, _)| (line, format!("std::io::{name}"))),
            );
        }
        found
    })
}

/// What follows `name::` at the start of `tokens`.
fn path_tail<'a>(tokens: &'a [Token], name: &str) -> Option<&'a [Token]> {
    match tokens {
        [first, one, two, rest @ ..] if first.is_word(name) && one.is_mark(':') && two.is_mark(':') => {
            Some(rest)
        }
        _ => None,
    }
}

/// The names that a path goes on with: one, or those of a group `{a, b::c}`. Each with its line and the token
/// after it.
fn members(rest: &[Token]) -> impl Iterator<Item = (usize, &str, Option<&Token>)> {
    let group = rest.first().is_some_and(|token| token.is_mark('{'));
    let inside = if group { rest.get(1..group_length(rest)).unwrap_or_default() } else { rest };
    let mut depth = 0usize;
    let mut names = Vec::new();
    let mut expected = true;
    for (at, token) in inside.iter().enumerate() {
        if expected {
            let name = if token.is_mark('*') { Some("*") } else { token.word() };
            names.extend(name.map(|name| (token.line, name, inside.get(at + 1))));
            expected = false;
        }
        if !group {
            break;
        }
        if token.is_mark('{') {
            depth += 1;
        } else if token.is_mark('}') {
            depth = depth.saturating_sub(1);
        } else if token.is_mark(',') && depth == 0 {
            expected = true;
        }
    }
    names.into_iter()
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    fn found(source: &str) -> Vec<String> {
        let (tokens, _) = lexer::without_tests(&lexer::tokens(source));
        impurities(&tokens).map(|(_, what)| what).collect()
    }

    #[test]
    fn every_way_to_reach_outside_is_seen() {
        let table = [
            ("use std::fs;", "std::fs"),
            ("use std::{fmt, fs::File};", "std::fs"),
            ("use std::{collections::{self, HashMap}, time};", "std::time"),
            ("let x = ::std::env::var(\"X\");", "std::env"),
            ("std :: process :: exit(1)", "std::process"),
            ("use std::io::{self, Write, stdout};", "std::io::stdout"),
            ("io::stdin().lock()", "std::io::stdin"),
            ("use std::*;", "std::*"),
            ("use std::{self as s};", "std::self"),
            ("use std as s;", "std under another name"),
            ("extern crate std as s;", "std under another name"),
            ("r#std::net::TcpStream", "std::net"),
            ("println!(\"{x}\")", "println!"),
            ("dbg!(x)", "dbg!"),
            ("std::thread::spawn(f)", "std::thread"),
            ("use std::os::unix::ffi::OsStrExt;", "std::os"),
        ];
        for (source, expected) in table {
            assert_eq!(found(source), [expected], "{source}");
        }
    }

    #[test]
    fn what_only_looks_like_it_is_not() {
        let table = [
            "//! use std::fs;",
            "/* std::env::var */",
            "let help = \"std::fs and println!()\";",
            "let text = r#\"use std::fs;\"#;",
            "const V: &str = env!(\"CARGO_PKG_VERSION\");",
            "const V: &str = std::env!(\"CARGO_PKG_VERSION\");",
            "use std::{fmt, io::{self, Read}};",
            "let process = fs.env.time;",
            "#[cfg(test)] mod tests { use std::fs; fn f() { println!(); } }",
            "use core::time::Duration;",
        ];
        for source in table {
            assert_eq!(found(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn a_seeded_file_access_is_found_and_its_repair_accepted() {
        let tree = Seeded::new(&[
            ("crates/engine/src/lib.rs", "use std::fs;"),
            ("crates/syntax/src/lib.rs", "#[cfg(test)]\nmod checks;\nmod word;"),
            ("crates/syntax/src/checks.rs", "use std::fs;"),
            ("crates/syntax/src/checks/deep.rs", "use std::fs;"),
            ("crates/syntax/src/word.rs", "//! std::fs\n\nuse std::fs::File;"),
            ("crates/syntax/tests/all.rs", "use std::fs;"),
        ]);
        assert_eq!(
            tree.problems(check),
            ["crates/syntax/src/word.rs:3: std::fs reaches outside; a pure crate asks its World"]
        );
        tree.write(&[("crates/syntax/src/word.rs", "use std::fmt;")]);
        assert_eq!(tree.problems(check), [""; 0]);
    }
}
