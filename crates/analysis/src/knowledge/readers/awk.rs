//! `awk`: the program is the first operand unless `-f` or `-e` gives it; operands of the form `NAME=value` are assignments.

use crate::effect::{Unknown, WriteMode};
use crate::knowledge::languages;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::script;
use crate::knowledge::values;
use crate::value::{Field, Origins, Stream, contains};

/// Whether a program prints nothing, whatever it reads: a pattern that never matches, or one action in which nothing prints.
fn prints_nothing(program: &Field<'_>) -> bool {
    let Some(text) = program.known().map(<[u8]>::trim_ascii) else { return false };
    let alone = text.starts_with(b"{") && text.iter().filter(|byte| **byte == b'}').count() == 1;
    let bare: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    // Of each file, or of all of them, a line is left, or as many empty ones as there were.
    let one = matches!(
        bare.as_slice(),
        b"NR==1"
            | b"FNR==1"
            | b"NR<2"
            | b"FNR<2"
            | b"NR<=1"
            | b"FNR<=1"
            | b"1==0"
            | b"{print\"\"}"
            | b"END{}"
            | b"BEGIN{}"
    );
    one || matches!(text, b"0" | b"" | b"\"\"") || alone && text.ends_with(b"}") && !contains(text, b"print")
}

/// Reads the arguments of `awk`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let mut operands: &[_] = &scan.operands;
    let mut origins =
        scan.values(&["-v", "--assign"]).fold(Origins::NONE, |all, value| all | value.value.origins);
    let mut in_place = false;
    for library in scan.values(&["-i", "--include"]) {
        if library.known() == Some(b"inplace") {
            in_place = true;
        } else {
            script::execute(run, "awk", &library, &[]);
        }
    }
    for setting in scan.values(&["-v", "--assign"]).filter(|_| in_place) {
        // What is kept of the files, under another name.
        let prefix = setting.value.known_prefix();
        if setting.known().is_none() || prefix.starts_with(b"inplace::") || prefix.starts_with(b"INPLACE") {
            run.not_understood(Unknown::Argument, setting.span);
        }
    }
    for option in scan.values(&["-W"]) {
        // mawk's `exec FILE` takes the program from there.
        run.not_understood(Unknown::Argument, option.span);
    }
    for library in scan.values(&["-l", "--load"]) {
        run.code("native", None, library.value.origins, library.span);
    }
    for file in scan.values(&["-f", "--file", "-E", "--exec"]) {
        script::execute(run, "awk", &file, &[]);
    }
    let libraries = scan.values(&["-i", "--include"]).filter(|each| each.known() != Some(b"inplace"));
    let files = scan.values(&["-f", "--file", "-E", "--exec"]).count() + libraries.count();
    let texts: Vec<_> = scan.values(&["-e", "--source"]).collect();
    let given = scan.has(&["-f", "--file", "-E", "--exec"]) || !texts.is_empty();
    // All of them are one program, and a statement may begin in one and end in the next.
    if files + texts.len() > 1 && files > 0 && (!texts.is_empty() || run.session.has_made_files()) {
        run.code("awk", None, Origins::FILE, span);
    }
    if let Some(first) = texts.first() {
        let origins_of = texts.iter().fold(Origins::NONE, |all, text| all | text.value.origins);
        let known: Option<Vec<&[u8]>> = texts.iter().map(|text| text.known()).collect();
        let text = known.map(|all| -> &'a [u8] { run.arena().alloc_slice_copy(&all.join(&b'\n')) });
        let program = Stream { text, origins: origins_of, source: None };
        origins = origins | languages::run(run, "awk", program, &[], first.span).origins;
    }
    if !given && let Some((text, rest)) = operands.split_first() {
        operands = rest;
        let program = Stream { text: text.known(), origins: text.value.origins, source: None };
        origins = origins | languages::run(run, "awk", program, &[], text.span).origins;
    }
    for option in ["-o", "--pretty-print", "-p", "--profile", "-d", "--dump-variables"] {
        if scan.has(&[option]) {
            let named = scan.value(&[option]);
            let default: &[u8] = if option.starts_with("-d") || option.starts_with("--d") {
                b"awkvars.out"
            } else {
                b"awkprof.out"
            };
            let file = named.unwrap_or_else(|| values::field(default, Origins::LITERAL, span));
            run.writes(
                &file,
                WriteMode::Replace,
                Stream { text: None, origins: Origins::LITERAL, source: Some(span) },
            );
        }
    }
    let input = run.call.stdin;
    let mut source = Some(span);
    let prints = !texts.is_empty() || given || !scan.operands.first().is_some_and(prints_nothing);
    let mut files = 0usize;
    for operand in operands {
        let prefix = operand.value.known_prefix();
        let name = prefix.split(|b| *b == b'=').next().unwrap_or_default();
        let assigns = name.len() < prefix.len()
            && name.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
            && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
        if assigns {
            origins = origins | operand.value.origins;
            continue;
        }
        files += 1;
        // gawk connects to what has such a name.
        if prefix.starts_with(b"/inet") {
            run.not_understood(Unknown::Argument, operand.span);
        }
        if operand.known() == Some(b"-") {
            origins = origins | input.origins;
        } else if in_place {
            let mode = if prints { WriteMode::Modify } else { WriteMode::Truncate };
            run.writes(operand, mode, Stream { text: None, origins: Origins::FILE, source });
        } else {
            origins = origins | run.reads(operand, false);
        }
    }
    if files == 0 {
        origins = origins | input.origins;
        source = input.source.or(source);
    }
    Stream { text: None, origins: origins.edited(), source }
}
