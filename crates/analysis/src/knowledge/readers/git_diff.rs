//! `git diff`, and what else prints lines of the working tree: outside a repository, and for paths outside it, `git diff`
//! compares two files of the machine; inside of it, a secret that is named is printed.

use crate::effect::Scope;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Scan};
use crate::knowledge::values;
use crate::value::{Field, Origins, Stream};

/// Options beside which `--name-only` prints nothing but names.
const CHOOSE: [&str; 14] = [
    "--name-only",
    "--cached",
    "--staged",
    "--diff-filter",
    "-z",
    "-M",
    "--find-renames",
    "--no-renames",
    "-w",
    "--ignore-all-space",
    "-b",
    "--no-color",
    "--no-ext-diff",
    "--exit-code",
];

/// Options with which no line is printed, unless [`PATCH`] is among them.
pub(super) const SUMMARY: &[&str] = &[
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

/// Options with which lines are printed whatever else is.
pub(super) const PATCH: &[&str] =
    &["-p", "-u", "--patch", "--patch-with-stat", "--patch-with-raw", "-U", "--unified"];

/// Reads the arguments of `git diff`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let mut output = apply::apply(run, &scan);
    if scan.info || scan.has(&["--no-index"]) {
        return output;
    }
    let prints = !scan.has(SUMMARY) || scan.has(PATCH);
    if prints_names(at, &scan) {
        let here = values::field(b".", Origins::LITERAL, run.call.span);
        run.lists(&here, false);
        output.origins = Origins::NAMES;
    }
    shows(run, &scan.operands, prints, output)
}

/// Lines of these files are shown: of those outside of a repository, and within if they are secrets and `prints` says so.
pub(super) fn shows<'a>(
    run: &mut Run<'_, 'a>,
    files: &[Field<'a>],
    prints: bool,
    mut output: Stream<'a>,
) -> Stream<'a> {
    for file in files {
        let prefix = file.value.known_prefix();
        let outside = prefix.starts_with(b"/") || prefix.starts_with(b"..") && !prefix.starts_with(b"...");
        if outside || prints && run.target(&file.value, false).scope == Scope::Secret {
            output.origins = output.origins | run.reads(file, false);
        }
    }
    output
}

/// Whether it prints names of files, each below the working tree. Those of the index are, and of what was checked out; the
/// trees of any other commit may hold whatever somebody put there.
fn prints_names(at: &At<'_>, scan: &Scan<'_>) -> bool {
    let revisions = at.args.iter().take_while(|arg| arg.known() != Some(b"--"));
    scan.has(&["--name-only"])
        && !scan.lost
        && scan.own().iter().all(|given| CHOOSE.contains(&given.name))
        && revisions
            .clone()
            .all(|arg| arg.known().is_some_and(|text| text == b"HEAD" || text.starts_with(b"-")))
        && scan.operands.iter().all(|operand| {
            operand.known().is_some_and(|text| !text.starts_with(b"/") && !text.starts_with(b".."))
        })
}
