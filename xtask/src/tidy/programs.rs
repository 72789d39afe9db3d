//! Knowledge of programs is data: nothing in the code goes by how a program is called. What is known of it stands in its
//! description, so that one with another name and the same description does the same.

use super::lexer;
use super::{Problem, Tree};
use crate::Failure;

/// Where arguments are interpreted.
const ENGINE: &str = "crates/analysis/src/knowledge";

/// What holds a program on its way to effects is called this there.
const RUNS: [&str; 3] = ["run", "on", "inner"];

/// Files in which it counts how a program is called, and why.
const EXCUSED: &[(&str, &str)] = &[
    ("crates/analysis/src/knowledge/program.rs", "what is not described is told by its name"),
    ("crates/analysis/src/knowledge/readers/env.rs", "the same program goes on under its name"),
    ("crates/analysis/src/knowledge/readers/handed.rs", "what it hands on is described under its name"),
];

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    let mut excused = Vec::new();
    for (path, text) in tree.texts(ENGINE, ".rs").filter(|(path, _)| !path.contains("/tests")) {
        let (tokens, _) = lexer::without_tests(&lexer::tokens(text));
        let asks = tokens.windows(3).filter(|three| {
            let [run, dot, name] = three else { return false };
            RUNS.iter().any(|word| run.is_word(word)) && dot.is_mark('.') && name.is_word("name")
        });
        let lines: Vec<usize> = asks.filter_map(|three| three.first().map(|token| token.line)).collect();
        if let Some((file, _)) = EXCUSED.iter().find(|(file, _)| *file == path).filter(|_| !lines.is_empty())
        {
            excused.push(*file);
            continue;
        }
        let message = "asks how a program is called: what is known of it belongs into its description (docs/knowledge.md)";
        problems.extend(lines.into_iter().map(|line| Problem::new(path, line, message)));
    }
    let there = |file: &str| tree.text(file).is_some();
    for (file, _) in EXCUSED.iter().filter(|(file, _)| there(file) && !excused.contains(file)) {
        problems.push(Problem::new(
            *file,
            0,
            "asks no more how a program is called: take it out of tidy's list",
        ));
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    #[test]
    fn a_program_that_is_asked_for_its_name_is_found() {
        let seeded = Seeded::new(&[
            ("crates/analysis/src/knowledge/a.rs", "fn a(run: &Run) -> bool {\n    run.name == \"cp\"\n}\n"),
            ("crates/analysis/src/knowledge/b.rs", "fn b(run: &Run) { matches!(run . name, \"cp\") }\n"),
            (
                "crates/analysis/src/knowledge/c.rs",
                "// run.name\nfn c(given: &Given) { given.name == \"-c\" }\n",
            ),
            ("crates/analysis/src/knowledge/tests/d.rs", "fn d(run: &Run) { run.name }\n"),
            ("crates/analysis/src/knowledge/readers/handed.rs", "fn e(run: &Run) { run.name }\n"),
            ("crates/analysis/src/knowledge/readers/env.rs", "fn f() {}\n"),
            ("crates/analysis/src/shell/g.rs", "fn g(run: &Run) { run.name }\n"),
        ]);
        let problems = seeded.problems(check);
        assert_eq!(problems.len(), 3, "{problems:#?}");
        assert!(problems[0].starts_with("crates/analysis/src/knowledge/a.rs:2: asks how"), "{problems:#?}");
        assert!(problems[1].starts_with("crates/analysis/src/knowledge/b.rs:1: asks how"), "{problems:#?}");
        assert!(problems[2].contains("env.rs: asks no more"), "{problems:#?}");
    }
}
