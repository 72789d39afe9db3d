//! `sed`: the script is the first operand unless `-e` or `-f` gives it; with `-i` the other operands are changed.

use crate::effect::WriteMode;
use crate::knowledge::languages;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::script;
use crate::value::{Field, Origins, Piece, Stream, Value};

/// The copy of a file from before: an asterisk in the suffix stands for its name, and it may lie elsewhere (`-i/old/*`).
pub(super) fn backup<'a>(run: &mut Run<'_, 'a>, file: &Field<'a>, suffix: &Field<'a>, content: Stream<'a>) {
    let arena = run.arena();
    let origins = file.value.origins | suffix.value.origins;
    let Some(suffix) = suffix.known() else {
        run.writes(&Field { value: Value::unknown(origins), ..*file }, WriteMode::Replace, content);
        return;
    };
    let mut pieces = Vec::new();
    for (index, text) in suffix.split(|byte| *byte == b'*').enumerate() {
        if index > 0 {
            pieces.extend_from_slice(&file.value.pieces());
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
    }
    if !suffix.contains(&b'*') {
        pieces.splice(0..0, file.value.pieces().iter().copied());
    }
    let name = |pieces: &[Piece<'a>]| match pieces.iter().map(text_of).collect::<Option<Vec<_>>>() {
        Some(texts) => Value::text(arena.alloc_slice_copy(&texts.concat()), origins),
        None => Value::of(arena, pieces, origins),
    };
    run.writes(&Field { value: name(&pieces), ..*file }, WriteMode::Replace, content);
}

const fn text_of<'a>(piece: &Piece<'a>) -> Option<&'a [u8]> {
    match piece {
        Piece::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether a script may put instructions into what it edits that do harm. One word alone says little.
fn is_grave(script: &Field<'_>) -> bool {
    script.known().is_none_or(|text| {
        // `2irm x`: what is put in begins behind the command.
        let address = |byte: &u8| byte.is_ascii_digit() || b"$,~+!".contains(byte);
        let command = text.iter().position(|byte| !address(byte)).unwrap_or_default();
        let put = text.get(command..).unwrap_or_default();
        let put = match put {
            [b'a' | b'i' | b'c', put @ ..] => put,
            _ => &[],
        };
        text.iter().any(|byte| b" \t`|$(".contains(byte))
            && (languages::names_grave_anywhere(text) || languages::names_grave_anywhere(put))
    })
}

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
            script::execute(run, "sed", &file, &[]);
        }
    } else if let Some((script, rest)) = files.split_first() {
        files = rest;
        let text = Stream { text: script.known(), origins: script.value.origins, source: None };
        origins = origins | languages::run(run, "sed", text, &[], script.span).origins;
    }
    let scripts = scan.values(&["-e", "--expression"]);
    if scripts.chain(scan.operands.first().copied().filter(|_| !given)).any(|script| is_grave(&script)) {
        // Its words are instructions, where what comes out is executed.
        origins = origins | Origins::LITERAL;
    }
    let in_place = scan.has(&["-i", "--in-place", "-I"]);
    let quiet = scan.has(&["-n", "--quiet", "--silent"]);
    let texts: Option<Vec<&[u8]>> = if scan.has(&["-f", "--file"]) {
        None
    } else if given {
        scan.values(&["-e", "--expression"]).map(|script| script.known()).collect()
    } else {
        scan.operands.first().map(|script| script.known().into_iter().collect())
    };
    // With a suffix, a copy of before is kept.
    let lost = in_place
        && scan.value(&["-i", "--in-place"]).is_none()
        && texts.is_some_and(|texts| {
            !texts.is_empty() && languages::sed::keeps_nothing(&texts.join(&b'\n'), quiet)
        });
    let mode = if lost { WriteMode::Truncate } else { WriteMode::Modify };
    for file in files {
        if in_place {
            let target = run.target(&file.value, false);
            let content = (origins | run.session.read_origins(&target)).edited();
            let content = Stream { text: None, origins: content, source: Some(span) };
            run.writes(file, mode, content);
            if let Some(suffix) = scan.value(&["-i", "--in-place"]) {
                backup(run, file, &suffix, content);
            }
        } else if file.known() == Some(b"-") {
            origins = origins | input.origins;
        } else {
            origins = origins | run.reads(file, false);
        }
    }
    if in_place {
        return Stream::unknown(Origins::NONE, span);
    }
    if quiet {
        // A part of it, which the script chooses.
        origins = origins | Origins::LITERAL;
    }
    let mut source = Some(span);
    if files.is_empty() {
        origins = origins | input.origins;
        source = input.source.or(source);
    }
    Stream { text: None, origins: origins.edited(), source }
}
