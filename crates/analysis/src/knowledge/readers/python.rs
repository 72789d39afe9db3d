//! Python: program text, a module, a script, or standard input.

use crate::knowledge::apply;
use crate::knowledge::languages;
use crate::knowledge::module::module;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::{Origins, Stream};

/// Reads the arguments of `python`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    let Some(named) = scan.value(&["-m"]) else {
        let output = apply::apply(run, &scan);
        if scan.has(&["-i"]) && !scan.info {
            // The prompt comes after the program, and takes what is left of standard input.
            languages::standard_input(run, "python", &[]);
        }
        return output;
    };
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    module(run, named, &scan.operands)
}
