//! `git diff`, and what else prints lines of the working tree: outside a repository, and for paths outside it, `git diff`
//! compares two files of the machine; inside of it, a secret that is named is printed.

use crate::effect::Scope;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::Stream;

/// Options with which no line is printed, unless [`PATCH`] is among them.
const SUMMARY: &[&str] = &[
    "--stat",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--quiet",
    "--raw",
    "-s",
    "--no-patch",
    "--check",
];

const PATCH: &[&str] = &["-p", "-u", "--patch", "--patch-with-stat", "--patch-with-raw", "-U", "--unified"];

/// Reads the arguments of `git diff`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let mut output = apply::apply(run, &scan);
    if scan.info || scan.has(&["--no-index"]) {
        return output;
    }
    let prints = !scan.has(SUMMARY) || scan.has(PATCH);
    for operand in &scan.operands {
        let prefix = operand.value.known_prefix();
        let outside = prefix.starts_with(b"/") || prefix.starts_with(b"..") && !prefix.starts_with(b"...");
        if outside || prints && run.target(&operand.value, false).scope == Scope::Secret {
            output.origins = output.origins | run.reads(operand, false);
        }
    }
    output
}
