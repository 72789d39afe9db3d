//! `sed`: the script is the first operand unless `-e` or `-f` gives it; with `-i` the other operands are changed.

use crate::effect::WriteMode;
use crate::knowledge::languages;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::{Origins, Stream};

/// Reads the arguments of `sed`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let mut files: &[_] = &scan.operands;
    let mut origins = Origins::NONE;
    let given = scan.has(&["-e", "--expression", "-f", "--file"]);
    let input = run.call.stdin;
    if given {
        for script in scan.values(&["-e", "--expression"]) {
            let text = Stream { text: script.known(), origins: script.value.origins, source: None };
            origins = origins | languages::run(run, "sed", text, &[], script.span).origins;
        }
        for file in scan.values(&["-f", "--file"]) {
            languages::script(run, "sed", &file, &[]);
        }
    } else if let Some((script, rest)) = files.split_first() {
        files = rest;
        let text = Stream { text: script.known(), origins: script.value.origins, source: None };
        origins = origins | languages::run(run, "sed", text, &[], script.span).origins;
    }
    let in_place = scan.has(&["-i", "--in-place", "-I"]);
    for file in files {
        if in_place {
            let target = run.target(&file.value, false);
            let content = origins | run.session.read_origins(&target);
            run.writes(file, WriteMode::Modify, Stream { text: None, origins: content, source: Some(span) });
        } else if file.known() == Some(b"-") {
            origins = origins | input.origins;
        } else {
            origins = origins | run.reads(file, false);
        }
    }
    if in_place {
        return Stream::unknown(Origins::NONE, span);
    }
    let mut source = Some(span);
    if files.is_empty() {
        origins = origins | input.origins;
        source = input.source.or(source);
    }
    // Names that were edited are other names.
    let origins = if origins.contains(Origins::NAMES) {
        origins.without(Origins::NAMES) | Origins::FILE
    } else {
        origins
    };
    Stream { text: None, origins, source }
}
