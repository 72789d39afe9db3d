//! `jq`, and what it has in common with `yq`: their language computes on the input and can do nothing else but look at the environment and load modules
//! and, that of `yq`, files.

use crate::effect::{Certainty, Unknown, WriteMode};
use crate::knowledge::apply;
use crate::knowledge::languages;
use crate::knowledge::languages::jq::{environment, uses};
use crate::knowledge::proceed;
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Scan};
use crate::value::{Origins, Stream};
use crate::world::FileKind;

/// Options that make every operand a file.
const FROM_FILE: [&str; 2] = ["-f", "--from-file"];

/// Reads the arguments of `jq` and its kin.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    read_as(run, at, Form::Jq)
}

/// Which of the two languages it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Jq,
    /// It has files besides what is read.
    Yq,
}

/// Reads the arguments of one of the two.
pub(super) fn read_as<'a>(run: &mut Run<'_, 'a>, at: &At<'a>, form: Form) -> Stream<'a> {
    let scan = run.scan(at);
    if scan.sub.is_some() {
        return proceed(run, &scan);
    }
    let mut output = apply::apply(run, &scan);
    if scan.info {
        return output;
    }
    if form == Form::Yq {
        first_of_yq(run, &scan);
    }
    let file = scan.value(&FROM_FILE);
    let program = match (file, scan.operands.first()) {
        (Some(file), _) => {
            let text = run.session.file_text(&file.value).text;
            text.filter(|program| run.session.reads_program(program.len()))
        }
        (None, Some(program)) => program.known(),
        (None, None) => return output,
    };
    let span = file.or(scan.operands.first().copied()).map_or(run.call.span, |field| field.span);
    let Some(program) = program else {
        // Whatever it is, it can print the environment.
        run.emit(environment(), span, Certainty::Possible);
        output.origins = output.origins | Origins::ALL_VARIABLES;
        return output;
    };
    if form == Form::Yq && scan.has(&["-s"]) && program.contains(&b'/') {
        // To one of the two programs of this name, it says how the files are called that it writes.
        run.not_understood(Unknown::Argument, span);
    }
    if uses(
        program,
        &[
            b"import",
            b"include",
            b"modulemeta",
            b"load",
            b"load_str",
            b"load_xml",
            b"load_props",
            b"load_base64",
        ],
    ) {
        run.not_understood(Unknown::Construct("jq-module"), span);
    }
    let told = ["--arg", "--argjson", "--args", "--jsonargs", "-n", "--null-input"];
    let harmless = form == Form::Jq
        && !scan.has(&told)
        && !program.windows(6).any(|six| six == b"script")
        && !languages::names_grave_anywhere(program);
    if harmless && output.origins.contains(Origins::FILE) {
        // Its words only choose and count: what comes out is what went in.
        output.origins = output.origins.without(Origins::LITERAL);
    }
    if scan.has(&["-r", "--raw-output", "-j", "--join-output"]) && output.origins.contains(Origins::FILE) {
        // What data say, as if it were text of its own.
        output.origins = output.origins | Origins::TOLD;
    }
    if uses(program, &[b"env", b"ENV", b"strenv", b"envsubst"]) {
        run.does(environment(), span);
        output.origins = output.origins | Origins::ALL_VARIABLES;
    }
    output
}

/// To `yq` the first operand is an expression, unless there is a file of that name (yq 4.40, `cmd/utils.go`), or another expression is given: then
/// it is read like the others. Where nothing else is read, it most likely is.
fn first_of_yq<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) {
    let Some(first) = scan.operands.first().copied() else { return };
    let told = scan.has(&["--from-file", "--expression"]);
    let alone = scan.operands.len() == 1 && run.call.stdin.origins == Origins::TERMINAL;
    let target = run.target(&first.value, false);
    if !(told || alone || run.session.world().kind(target.path) == FileKind::File) {
        return;
    }
    let origins = run.reads(&first, false);
    if scan.has(&["-i", "--inplace", "--in-place"]) {
        let content = Stream { text: None, origins, source: Some(first.span) };
        run.writes(&first, WriteMode::Modify, content);
    }
}
