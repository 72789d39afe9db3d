//! Perl: as the tables say, and the copies from before of the files that it changes in place.

use super::sed;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::Stream;

/// Reads the arguments of `perl`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let output = apply::apply(run, &scan);
    let Some(suffix) = scan.value(&["-i"]).filter(|_| !scan.info) else { return output };
    let script = usize::from(!scan.has(&["-e", "-E"]));
    let content = Stream { text: None, ..output };
    for file in scan.operands.iter().skip(script) {
        sed::backup(run, file, &suffix, content);
    }
    output
}
