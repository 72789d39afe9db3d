//! `git diff`: outside a repository, and for paths outside it, it compares two files of the machine.

use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::Stream;

/// Reads the arguments of `git diff`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let mut output = apply::apply(run, &scan);
    if scan.info || scan.has(&["--no-index"]) {
        return output;
    }
    for operand in &scan.operands {
        let prefix = operand.value.known_prefix();
        if prefix.starts_with(b"/") || prefix.starts_with(b"..") && !prefix.starts_with(b"...") {
            output.origins = output.origins | run.reads(operand, false);
        }
    }
    output
}
