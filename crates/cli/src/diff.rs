//! The difference of two texts, line by line, as much of it as fits.

use std::fmt::Write as _;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The largest table that is filled, in cells: beyond it all lines between the common beginning and end count as replaced.
const MAX_CELLS: usize = 1 << 20;

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Both(&'t str),
    Before(&'t str),
    After(&'t str),
}

/// The changed lines with a little around them, in the form of a unified diff (diff(1)), at most `limit` lines.
pub(crate) fn unified(before: &str, after: &str, limit: usize) -> String {
    let lines = compare(&before.lines().collect::<Vec<_>>(), &after.lines().collect::<Vec<_>>());
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Both(_)))
        .map(|(at, _)| at)
        .collect();
    let near = |at: usize| {
        let after = changed.partition_point(|changed| *changed < at.saturating_sub(CONTEXT));
        changed.get(after).is_some_and(|changed| *changed <= at + CONTEXT)
    };
    let mut out = String::new();
    let (mut number, mut written, mut gap) = ((1, 1), 0, true);
    for (at, line) in lines.iter().enumerate() {
        if near(at) {
            if written == limit {
                let rest = changed.len() - changed.partition_point(|changed| *changed < at);
                let _ = writeln!(out, "… {rest} more changed lines");
                break;
            }
            if gap {
                let _ = writeln!(out, "@@ -{} +{} @@", number.0, number.1);
            }
            let _ = match line {
                Line::Both(text) => writeln!(out, " {text}"),
                Line::Before(text) => writeln!(out, "-{text}"),
                Line::After(text) => writeln!(out, "+{text}"),
            };
            written += 1;
        }
        gap = !near(at);
        number.0 += usize::from(!matches!(line, Line::After(_)));
        number.1 += usize::from(!matches!(line, Line::Before(_)));
    }
    out
}

fn compare<'t>(before: &[&'t str], after: &[&'t str]) -> Vec<Line<'t>> {
    let common = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let start = common(&mut before.iter().zip(after));
    let (head, before) = before.split_at(start);
    let after = after.get(start..).unwrap_or_default();
    let end = common(&mut before.iter().rev().zip(after.iter().rev()));
    let (before, tail) = before.split_at(before.len() - end);
    let after = after.get(..after.len() - end).unwrap_or_default();

    let mut lines: Vec<Line<'t>> = head.iter().map(|line| Line::Both(line)).collect();
    if (before.len() + 1).saturating_mul(after.len() + 1) <= MAX_CELLS {
        between(before, after, &mut lines);
    } else {
        lines.extend(before.iter().map(|line| Line::Before(line)));
        lines.extend(after.iter().map(|line| Line::After(line)));
    }
    lines.extend(tail.iter().map(|line| Line::Both(line)));
    lines
}

/// By the longest common subsequence.
fn between<'t>(before: &[&'t str], after: &[&'t str], lines: &mut Vec<Line<'t>>) {
    // `table[i][j]` is its length for what begins at line i of the one and line j of the other.
    let mut table = vec![vec![0u32; after.len() + 1]];
    for old in before.iter().rev() {
        let below = table.last().cloned().unwrap_or_default();
        let mut row = vec![0u32; after.len() + 1];
        let mut right = 0;
        for (j, new) in after.iter().enumerate().rev() {
            let cell = |at: usize| below.get(at).copied().unwrap_or(0);
            right = if old == new { cell(j + 1) + 1 } else { cell(j).max(right) };
            if let Some(cell) = row.get_mut(j) {
                *cell = right;
            }
        }
        table.push(row);
    }
    table.reverse();
    let length = |i: usize, j: usize| table.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    let (mut i, mut j) = (0, 0);
    loop {
        match (before.get(i), after.get(j)) {
            (Some(old), Some(new)) if old == new => {
                lines.push(Line::Both(old));
                (i, j) = (i + 1, j + 1);
            }
            (Some(old), new) if new.is_none() || length(i + 1, j) >= length(i, j + 1) => {
                lines.push(Line::Before(old));
                i += 1;
            }
            (_, Some(new)) => {
                lines.push(Line::After(new));
                j += 1;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of one side of a comparison.
    fn side(lines: &[Line<'_>], before: bool) -> Vec<String> {
        let of = |line: &Line<'_>| match line {
            Line::Both(text) => Some((*text).to_owned()),
            Line::Before(text) => before.then(|| (*text).to_owned()),
            Line::After(text) => (!before).then(|| (*text).to_owned()),
        };
        lines.iter().filter_map(of).collect()
    }

    #[test]
    fn both_sides_can_be_read_back() {
        let texts = ["", "a", "a\nb\nc", "b\nc", "a\nx\nc", "c\nb\na", "a\na\na", "x\na\nb\ny\nc\nz"];
        for before in texts {
            for after in texts {
                let (b, a): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
                let lines = compare(&b, &a);
                assert_eq!(side(&lines, true), b, "{before:?} {after:?}");
                assert_eq!(side(&lines, false), a, "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn only_what_changed_is_shown_with_its_surroundings() {
        let before: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let mut after = before.clone();
        after[9] = "ten".to_owned();
        let shown = unified(&before.join("\n"), &after.join("\n"), 100);
        assert_eq!(shown, "@@ -7 +7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
        assert_eq!(unified("same\n", "same\n", 100), "");
        assert_eq!(unified("", "new\n", 100), "@@ -1 +1 @@\n+new\n");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let after: String = (0..5000).map(|n| format!("{n}\n")).collect();
        let shown = unified("x\n", &after, 10);
        assert_eq!(shown.lines().count(), 12, "{shown}");
        assert!(shown.ends_with("… 4991 more changed lines\n"), "{shown}");
    }
}
