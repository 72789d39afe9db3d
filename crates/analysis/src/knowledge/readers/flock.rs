//! `flock`: a lock file or an open descriptor, then a command, or a command line after `-c`.

use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::session::Reentry;
use crate::value::{Origins, Stream};

/// Reads the arguments of `flock`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let mut scan = run.scan(at);
    let span = run.call.span;
    let descriptor = scan.operands.first().and_then(|lock| lock.known());
    if descriptor.is_some_and(|text| !text.is_empty() && text.iter().all(u8::is_ascii_digit)) {
        return Stream::unknown(Origins::NONE, span);
    }
    let command = scan.command;
    if let Some((first, rest)) = command.split_first()
        && matches!(first.known(), Some(b"-c" | b"--command"))
    {
        scan.command = &[];
        apply::apply(run, &scan);
        return match rest.first() {
            Some(line) => run.shell(line, run.call.stdin, Reentry::New),
            None => Stream::unknown(Origins::NONE, span),
        };
    }
    apply::apply(run, &scan)
}
