//! No file tells on which machine it was made, and none is unfinished.

use super::{Problem, Tree};
use crate::Failure;

/// Collected commands keep what people wrote.
const EXEMPT: &str = "corpus/";

/// What must not be in a file, and why. Spelled in two parts, so that this file passes its own check.
const TRACES: &[(&str, &str)] = &[
    (concat!("to", "do!"), "unfinished"),
    (concat!("unim", "plemented!"), "unfinished"),
    (concat!("/wo", "rk/"), "a path of a build machine"),
    (concat!("/fa", "rm/"), "a path of a build machine"),
    (concat!("arti", "factory"), "a private registry"),
];

/// Marks that people put into comments. Elsewhere they are just words that somebody searches for.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

const COMMENT_STARTS: &[&str] = &["//", "///", "//!", "/*", "*", "#", "<!--", ";", "--"];

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    for (path, text) in tree.texts("", "").filter(|(path, _)| !path.starts_with(EXEMPT)) {
        for (number, line) in (1..).zip(text.lines()) {
            for (trace, reason) in TRACES {
                if occurrences(line, trace).next().is_some() {
                    problems.push(Problem::new(path, number, format!("`{trace}`: {reason}")));
                }
            }
            for mark in MARKS {
                if occurrences(line, mark).any(|(before, after)| is_remark(before, after)) {
                    problems.push(Problem::new(
                        path,
                        number,
                        format!("`{mark}`: open work belongs to the issues"),
                    ));
                }
            }
        }
    }
    Ok(problems)
}

/// What stands before and after `trace` where it occurs in `line` and is not a part of a longer name
/// (`mktemp /tmp/x.XXXXXX`, `/home/work/`).
fn occurrences<'a>(line: &'a str, trace: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let continues = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_path = trace.starts_with('/');
    line.match_indices(trace).filter_map(move |(at, _)| {
        let (before, rest) = line.split_at_checked(at)?;
        let after = rest.strip_prefix(trace)?;
        let joined = |letter: char| continues(letter) || (is_path && ".-~$}".contains(letter));
        let part = before.ends_with(joined) || (!is_path && after.starts_with(continues));
        (!part).then_some((before, after))
    })
}

/// Whether a mark between these is a remark of the author.
fn is_remark(before: &str, after: &str) -> bool {
    let word = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    COMMENT_STARTS.contains(&word) || after.starts_with([':', '('])
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    #[test]
    fn a_seeded_trace_is_found_and_a_longer_name_is_not() {
        let harmless = [
            concat!("mktemp /tmp/a.XX", "XXXX"),
            concat!("cd ~/wo", "rk/a && ls /home/wo", "rk/ ../wo", "rk/"),
            concat!("/wo", "rkspace/a"),
            concat!("fn to", "do() {}"),
            concat!("grep -rn TO", "DO . # find each FIX", "ME"),
        ]
        .join("\n");
        let tree = Seeded::new(&[
            ("a.md", &harmless),
            ("corpus/a.jsonl", concat!("FIX", "ME")),
            ("b.rs", concat!("fn f() {\n    to", "do!()\n}\n")),
            ("c.sh", concat!("cd '/wo", "rk/main'\n# XX", "X later\n<!-- TO", "DO -->\na FIX", "ME: b\n")),
        ]);
        let found: Vec<String> =
            tree.problems(check).iter().map(|text| text.rsplitn(3, ':').last().unwrap().to_owned()).collect();
        assert_eq!(found, ["b.rs:2", "c.sh:1", "c.sh:2", "c.sh:3", "c.sh:4"]);
        tree.write(&[("b.rs", "fn f() {}"), ("c.sh", "cd \"$1\"")]);
        assert_eq!(tree.problems(check), [""; 0]);
    }
}
