//! What the parser makes of programs: trees, refusals, spans, notes. The tables are in `tests/data`.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod support;

use bumpalo::Bump;
use shward_syntax::{ErrorCode, NoteKind, Options, Parsed, parse, parse_word_text};
use std::collections::BTreeSet;
use support::{dump, dump_parts, table, walk};

fn notes(source: &str) -> Vec<NoteKind> {
    let arena = Bump::new();
    let parsed = parse(&arena, source.as_bytes(), &Options::default()).unwrap();
    parsed.notes.iter().map(|note| note.kind).collect()
}

#[test]
fn programs_have_the_trees_of_the_table() {
    for (program, expected) in table::rows(include_str!("data/trees.txt")) {
        let arena = Bump::new();
        match parse(&arena, program.as_bytes(), &Options::default()) {
            Ok(parsed) => {
                assert_eq!(dump(&parsed.script), expected, "\n{program}");
                walk::check(&parsed, program.as_bytes());
            }
            Err(error) => panic!("{error}\n{program}"),
        }
    }
}

#[test]
fn refusals_are_those_of_the_table() {
    let mut seen = BTreeSet::new();
    for (program, expected) in table::rows(include_str!("data/refused.txt")) {
        let arena = Bump::new();
        match parse(&arena, program.as_bytes(), &Options::default()) {
            Ok(parsed) => panic!("accepted: {program}\n{}", dump(&parsed.script)),
            Err(error) => {
                let opener = error.opener.map(|span| format!(" opener {span:?}")).unwrap_or_default();
                assert_eq!(format!("{} {:?}{opener}", error.code, error.span), expected, "\n{program}");
                assert!(error.span.end as usize <= program.len());
                assert!(!error.to_string().contains('\n'));
                seen.insert(error.code.as_str());
            }
        }
    }
    // These need long or unprintable programs, or another dialect, and have tests of their own.
    seen.extend([
        "too-long",
        "too-deep",
        "too-complex",
        "too-many",
        "control-byte",
        "not-posix",
        "too-many-here-documents",
    ]);
    let missing: Vec<_> = ErrorCode::ALL.iter().filter(|code| !seen.contains(code.as_str())).collect();
    assert!(missing.is_empty(), "codes without an example: {missing:?}");
}

#[test]
fn bytes_that_the_shell_uses_internally_are_refused() {
    for (program, at) in [(&b"a\0b"[..], 1), (b"a '\x01'", 3), (b"\x7f", 0)] {
        let arena = Bump::new();
        let error = parse(&arena, program, &Options::default()).unwrap_err();
        assert_eq!((error.code, error.span.start), (ErrorCode::ControlByte, at));
    }
}

#[test]
fn spans_inside_derived_text_point_into_the_source() {
    let arena = Bump::new();
    // The inner command is read from text without the backslashes, the last one from text without tabs.
    let source = "a `b \\`cc dd\\``\ncat <<-E\n\t\t$(ee)\n\tE\n";
    let parsed = parse(&arena, source.as_bytes(), &Options::default()).unwrap();
    walk::check(&parsed, source.as_bytes());
    let spans = format!("{parsed:?}");
    for inner in ["cc", "dd", "ee"] {
        let start = source.find(inner).unwrap();
        let needle = format!("span: {start}..{}", start + 2);
        assert!(spans.contains(&needle), "{inner} is not at {needle}");
    }
}

#[test]
fn items_know_their_lines() {
    let arena = Bump::new();
    let source = "a\nb; c\n\ncat <<E; d\nx\nE\ne `\nf`\n{ g\n}; h \\\n; i\nj";
    let parsed = parse(&arena, source.as_bytes(), &Options::default()).unwrap();
    let lines: Vec<u32> = parsed.script.items.iter().map(|item| item.line).collect();
    assert_eq!(lines, [0, 1, 1, 2, 2, 3, 4, 4, 4, 5]);
}

#[test]
fn extglob_holds_from_the_next_line_on() {
    let arena = Bump::new();
    let accepted = |source: &str| parse(&arena, source.as_bytes(), &Options::default()).is_ok();
    assert!(accepted("shopt -s extglob\na @(b)"));
    assert!(!accepted("shopt -s extglob; a @(b)"));
    assert!(!accepted("shopt -s extglob\nshopt -u extglob\na @(b)"));
    assert!(!accepted("{ shopt -s extglob\na @(b); }"));
    assert!(!accepted("x && shopt -s extglob\na @(b)"));
    assert!(parse(&arena, b"a @(b)", &Options { extglob: true, ..Options::default() }).is_ok());
}

#[test]
fn careful_readers_are_told() {
    assert_eq!(notes("echo a"), []);
    assert_eq!(notes("a\r\nb\r\n"), [NoteKind::CarriageReturn]);
    assert_eq!(notes("id\u{a0}-u \u{202e}x"), [NoteKind::InvisibleCharacter]);
    assert_eq!(notes("cat <<E\nx"), [NoteKind::HereDocumentAtEnd]);
    assert_eq!(notes("[[ a ]]; ((1)); a+=b"), [NoteKind::PosixDiffers]);
    assert_eq!(notes("rm $x ${y}"), [NoteKind::ZshDiffers]);
    let arena = Bump::new();
    let Parsed { notes, .. } = parse(&arena, b"echo \xff", &Options::default()).unwrap();
    assert_eq!(
        notes.iter().map(|note| (note.kind, note.span.start)).collect::<Vec<_>>(),
        [(NoteKind::NotUtf8, 5)]
    );
}

#[test]
fn text_is_read_as_in_a_here_document() {
    let arena = Bump::new();
    let read = |text: &'static str| {
        parse_word_text(&arena, text.as_bytes(), &Options::default())
            .map(dump_parts)
            .map_err(|error| error.code)
    };
    assert_eq!(read("a 'b' \"c\" ; |").as_deref(), Ok(r#"Q"a \'b\' \"c\" ; |""#));
    assert_eq!(read("$x$(y z)`w`\\$v").as_deref(), Ok(r#"${x}+$((cmd y z))+`(cmd w)`+Q"$v""#));
    assert_eq!(read("").as_deref(), Ok(""));
    assert_eq!(read("$(x"), Err(ErrorCode::UnterminatedSubstitution));
}
