//! `git show`, `git log`, `git cat-file`, `git archive`: what was committed is printed, by the name that it had then:
//! `REVISION:PATH`, or as a path among the operands.

use super::git_diff;
use crate::effect::Scope;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Scan};
use crate::knowledge::values;
use crate::value::{Field, Piece, Stream, Value};

/// Options with which `git log` prints lines of files.
const LINES: &[&str] =
    &["-L", "-c", "--cc", "-m", "--dd", "--remerge-diff", "--diff-merges", "-W", "--function-context"];

/// Options with which `git cat-file` tells of an object only what it is.
const ABOUT: &[&str] = &["-t", "-s", "-e", "--batch-check"];

/// Most lines of standard input that are looked at.
const MAX_LINES: usize = 256;

/// Reads the arguments of such a subcommand.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let mut output = apply::apply(run, &scan);
    if scan.info || !prints(run, at, &scan) {
        return output;
    }
    let mut named = scan.operands.to_vec();
    // `START,END:FILE`
    named.extend(scan.values(&["-L"]));
    if let (true, Some(text)) = (scan.has(&["--batch", "--batch-command"]), run.call.stdin.text) {
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(MAX_LINES);
        let span = run.call.span;
        let origins = run.call.stdin.origins;
        named.extend(words.map(|word| values::field(word, origins, span)));
    }
    for word in named {
        for path in paths(&word).into_iter().flatten() {
            let file = Field { value: path, ..word };
            if run.target(&file.value, false).scope == Scope::Secret {
                output.origins = output.origins | run.reads(&file, false);
            }
        }
    }
    output
}

/// Whether lines of files are printed.
fn prints<'a>(run: &Run<'_, 'a>, at: &At<'a>, scan: &Scan<'a>) -> bool {
    let before = run.call.argv.len().checked_sub(at.args.len() + 1).and_then(|at| run.call.argv.get(at));
    match before.and_then(|word| word.known()) {
        Some(b"log" | b"shortlog" | b"whatchanged") => scan.has(git_diff::PATCH) || scan.has(LINES),
        Some(b"cat-file") => !scan.has(ABOUT),
        Some(b"archive") => true,
        _ => !scan.has(git_diff::SUMMARY) || scan.has(git_diff::PATCH),
    }
}

/// The paths that a word may name: itself, and what stands behind the first and the last of its colons.
fn paths<'a>(word: &Field<'a>) -> [Option<Value<'a>>; 3] {
    let Some((Piece::Text(last), before)) = word.value.split_last() else {
        return [Some(word.value), None, None];
    };
    let behind = |at: Option<usize>| {
        let path = at.and_then(|at| last.get(at + 1..))?;
        Some(Value::text(path, word.value.origins))
    };
    let colon = |byte: &u8| *byte == b':';
    let itself = (before.is_empty() || !word.value.has_unknown()).then_some(word.value);
    [itself, behind(last.iter().position(colon)), behind(last.iter().rposition(colon))]
}
