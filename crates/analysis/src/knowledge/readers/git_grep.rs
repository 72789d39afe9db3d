//! `git grep`: what stands behind the pattern are files, lines of which are shown.

use super::git_diff;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::value::{Origins, Stream};

/// Reads the arguments of `git grep`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let output = apply::apply(run, &scan);
    if scan.info {
        return output;
    }
    let pattern = usize::from(!scan.has(&["-e", "-f"]));
    if let Some(pager) = scan.value(&["-O", "--open-files-in-pager"]) {
        // It is started with the files in which something was found.
        let places = scan.operands.get(pattern..).filter(|places| !places.is_empty());
        let here = [values::field(b".", Origins::LITERAL, pager.span)];
        places.unwrap_or(&here).iter().for_each(|place| run.command_words_on(&pager, place));
    }
    if scan.has(&["--no-index"]) {
        return output;
    }
    let prints = !scan.has(&[
        "-l",
        "--files-with-matches",
        "--name-only",
        "-L",
        "--files-without-match",
        "-c",
        "--count",
        "-q",
    ]);
    git_diff::shows(run, scan.operands.get(pattern..).unwrap_or_default(), prints, output)
}
