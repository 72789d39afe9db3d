//! What is printed reads as the same tree, and prints the same.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod support;

use bumpalo::Bump;
use shward_syntax::{Dialect, Options, parse, print};
use support::shell::{self, Random};
use support::{dump_up_to_layout, programs, table, words};

/// What is wrong with the printed form of a program, if it is one.
fn differs(program: &str) -> Option<String> {
    [Dialect::Bash, Dialect::Posix].into_iter().find_map(|dialect| {
        let options = Options { dialect, ..Options::default() };
        let arena = Bump::new();
        let parsed = parse(&arena, program.as_bytes(), &options).ok()?;
        let text = print(&parsed.script);
        let shown = String::from_utf8_lossy(&text);
        let again = match parse(&arena, &text, &options) {
            Ok(again) => again,
            Err(error) => return Some(format!("{dialect:?}\n{program}\n---\n{shown}\n--- {error}\n")),
        };
        let (tree, printed) = (dump_up_to_layout(&parsed.script), dump_up_to_layout(&again.script));
        if tree != printed {
            return Some(format!("{dialect:?}\n{program}\n---\n{shown}\n---\n{tree}\n{printed}\n"));
        }
        let settled = print(&again.script);
        (settled != text).then(|| format!("not settled\n{shown}\n{}", String::from_utf8_lossy(&settled)))
    })
}

fn check(programs: impl IntoIterator<Item = String>) {
    let mut count = 0;
    let wrong: Vec<String> =
        programs.into_iter().inspect(|_| count += 1).filter_map(|program| differs(&program)).collect();
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn tables() {
    let trees = table::rows(include_str!("data/trees.txt"));
    let posix = table::rows(include_str!("data/posix.txt"));
    check(trees.into_iter().chain(posix).map(|(program, _)| program));
}

#[test]
fn sample() {
    let text = include_str!("../../../corpus/dev-sample.jsonl");
    check(text.lines().map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["command"].as_str().unwrap().to_owned()
    }));
}

#[test]
fn corpora() {
    check(shell::corpus());
}

#[test]
fn random_words() {
    let mut random = Random::new(11);
    let rounds = if shell::full() { 2_000_000 } else { 20_000 };
    check((0..rounds).map(|round| {
        let depth = random.below(4);
        let word = words::random(&mut random, depth);
        words::FRAMES[round % words::FRAMES.len()].replace("WORD", &word)
    }));
}

#[test]
fn random_programs() {
    let corpus = shell::corpus();
    let mut random = Random::new(12);
    let rounds = if shell::full() { 2_000_000 } else { 20_000 };
    check((0..rounds).map(|_| programs::random(&mut random, &corpus)));
}

#[test]
fn what_a_layout_hides() {
    let text = |program: &str| {
        let arena = Bump::new();
        let parsed = parse(&arena, program.as_bytes(), &Options::default()).unwrap();
        String::from_utf8(print(&parsed.script)).unwrap()
    };
    for (program, canonical) in table::rows(include_str!("data/print.txt")) {
        assert_eq!(text(&program), canonical.replace("\\n", "\n").replace("\\t", "\t"), "{program}");
    }
}
