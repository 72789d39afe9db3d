//! One idea per file: Rust files have at most 600 lines, with a reason up to 800.

use super::{Problem, Tree};
use crate::Failure;

const LIMIT: usize = 600;
const HARD_LIMIT: usize = 800;

/// Files that are better whole: path and why. Only as long as they are over the limit.
const LONGER: &[(&str, &str)] = &[];

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    Ok(check_with(tree, LONGER))
}

fn check_with(tree: &Tree, longer: &[(&str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts("", ".rs") {
        let lines = text.lines().count();
        let excused = longer.iter().any(|(longer, _)| *longer == path);
        let message = match (lines, excused) {
            (HARD_LIMIT.., _) if lines > HARD_LIMIT => format!("{lines} lines; never more than {HARD_LIMIT}"),
            (_, false) if lines > LIMIT => {
                format!("{lines} lines, more than {LIMIT}: split it, or give the reason in tidy's table")
            }
            (_, true) if lines <= LIMIT => {
                format!("{lines} lines: take it out of tidy's table of longer files")
            }
            _ => continue,
        };
        problems.push(Problem::new(path, 0, message));
    }
    for (path, _) in longer {
        if tree.text(path).is_none() {
            problems.push(Problem::new(*path, 0, "in tidy's table of longer files, but does not exist"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    #[test]
    fn long_files_need_a_reason_and_have_an_end() {
        let line = "// line\n";
        let tree = Seeded::new(&[
            ("a/fits.rs", &line.repeat(600)),
            ("a/long.rs", &line.repeat(601)),
            ("a/excused.rs", &line.repeat(800)),
            ("a/too_long.rs", &line.repeat(801)),
            ("a/shrunk.rs", line),
            ("a/data.txt", &line.repeat(5000)),
        ]);
        let excused = [("a/excused.rs", ""), ("a/too_long.rs", ""), ("a/shrunk.rs", ""), ("a/gone.rs", "")];
        let mut problems = check_with(&Tree::read(tree.path()).unwrap(), &excused);
        problems.sort();
        let found: Vec<(&str, &str)> = problems
            .iter()
            .map(|problem| (problem.path.as_str(), problem.message.split(':').next().unwrap()))
            .collect();
        assert_eq!(
            found,
            [
                ("a/gone.rs", "in tidy's table of longer files, but does not exist"),
                ("a/long.rs", "601 lines, more than 600"),
                ("a/shrunk.rs", "1 lines"),
                ("a/too_long.rs", "801 lines; never more than 800"),
            ]
        );
    }
}
