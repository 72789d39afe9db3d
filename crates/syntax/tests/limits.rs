//! Hostile input: deep nesting, floods, unterminated everything. Nothing may crash, hang or take much memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a panic is how a test fails")]
mod support;

use bumpalo::Bump;
use proptest::prelude::*;
use shward_syntax::{Dialect, ErrorCode, Note, Options, ParseError, Parsed, Reader, parse, parse_word_text};
use support::walk;

/// `open` n times, `inner`, `close` n times.
fn nest(open: &str, inner: &str, close: &str, n: usize) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

/// Constructs that nest, as what opens, what is inside, what closes.
const NESTED: &[(&str, &str, &str)] = &[
    ("(", "a", ")"),
    ("( ", "a", " )"),
    ("{ ", "a;", " };"),
    ("$(", "a", ")"),
    ("\"$(", "a", ")\""),
    ("$((", "1", "))"),
    ("$[", "1", "]"),
    ("((", "1", "))"),
    ("<(cat ", "a", ")"),
    ("${a:-", "x", "}"),
    ("\"${a:-", "x", "}\""),
    ("${a[", "0", "]}"),
    ("${a/", "x", "}"),
    ("${a:", "1", "}"),
    ("${ ", "a;", " }"),
    ("if ", "a", "; then b; fi"),
    ("while a; do ", "b", "; done"),
    ("for a in b; do ", "c", "; done"),
    ("for ((;;)); do ", "c", "; done"),
    ("case a in b) ", "c", " ;; esac"),
    ("f() { ", "a;", " };"),
    ("a=($(", "b", "))"),
    ("{a,", "b", "}"),
    ("! ", "a", ""),
    ("time ", "a", ""),
    ("coproc ", "a", ""),
    ("[[ ! ", "a", " ]]"),
    ("echo {a,$(", "b", ")}"),
    ("cat <<E\n$(", "", ")\nE\n"),
    ("a[", "0", "]=1"),
    ("\"`echo ", "a", "`\""),
    ("$(( '", "1", "' ))"),
    ("\"${a:-'", "1", "'}\""),
];

/// Inputs that are long without nesting.
fn floods() -> Vec<String> {
    let mut inputs = vec![
        format!("[[ {} ]]", nest("( ", "a", " )", 50_000)),
        format!("[[ {}a ]]", "! ".repeat(50_000)),
        format!("[[ {} ]]", vec!["a"; 10_000].join(" && ")),
        format!("(({}))", nest("(", "1", ")", 100_000)),
        format!("echo {}", nest("@(", "a", ")", 50_000)),
        format!("echo {}", "a".repeat(1_000_000)),
        format!("echo {}", "a ".repeat(500_000)),
        format!("echo '{}'", "a".repeat(1_000_000)),
        format!("echo \"{}\"", "a".repeat(1_000_000)),
        format!("echo \"{}\"", "$a".repeat(400_000)),
        vec!["a"; 100_000].join("|"),
        vec!["a"; 100_000].join("&&"),
        vec!["a"; 300_000].join(";"),
        vec!["a"; 300_000].join("\n"),
        format!("echo {}", "{a,b}".repeat(3000)),
        format!("echo {}", nest("{a,", "", "}", 3000)),
        format!("echo {}", "{".repeat(20_000)),
        format!("echo {}", "{a,".repeat(20_000)),
        format!("echo {}", "{}".repeat(20_000)),
        format!("echo {}", "{1..2}".repeat(20_000)),
        format!("echo $'{}'", "\\x41".repeat(250_000)),
        format!("echo \"{}", "a b $(c) ".repeat(100_000)),
        format!("echo {}", "\\a".repeat(500_000)),
        format!("echo {}a", "\\\n".repeat(500_000)),
        format!("echo {}", "a\\\n".repeat(300_000)),
        format!("{}=1", "a\\\n".repeat(300_000)),
        format!("# {}", "a".repeat(1_000_000)),
        format!("echo {}", "`a` ".repeat(100_000)),
        format!("echo {}", "$(a) ".repeat(100_000)),
        format!("echo {}", "${a:-b} ".repeat(100_000)),
        format!("echo {}", "$((1)) ".repeat(100_000)),
        format!("if a; then b; {}fi", "elif a; then b; ".repeat(10_000)),
        format!("case a in {}esac", "a) b;; ".repeat(10_000)),
        format!("case a in {}) b;; esac", vec!["a"; 50_000].join("|")),
        format!("echo $(({}))", vec!["1"; 100_000].join("+")),
        format!("a {}", ">b ".repeat(50_000)),
        format!("{}c", "a=b ".repeat(50_000)),
        format!("a=({})", "b ".repeat(50_000)),
        format!("a=({})", "[b]=c ".repeat(50_000)),
        "${#".repeat(5000),
        "'\"'".repeat(50_000),
        format!("echo {}", "é\u{a0}世🦀".repeat(50_000)),
        "<".repeat(100_000),
        format!("cat <<E\n{}E\n", "$a `b` $(c) text\n".repeat(50_000)),
        format!("cat <<-E\n{}\tE\n", "\t$a `b` $(c) text\n".repeat(50_000)),
        format!("cat <<E\n{}", "\\\n".repeat(300_000)),
        format!("cat <<EEEEEEEE\n{}", "EEEEEEE\n".repeat(100_000)),
        format!("echo {}", "$".repeat(500_000)),
        format!("echo {}", "*".repeat(1_000_000)),
        format!("echo ${{a/{}}}", "/".repeat(100_000)),
        ";".repeat(100_000),
        "99999999999999999999".repeat(1000) + ">a",
        format!("a {}", "~:".repeat(200_000)),
        format!("a b=~{}", ":~".repeat(200_000)),
        format!("{}=~{}", "b".repeat(100_000), ":~".repeat(100_000)),
        format!("a {}=~{}", "b".repeat(100_000), ":~".repeat(100_000)),
        format!("{}{}", "((a) | b".repeat(200), ")".repeat(200)),
        format!("echo {}", "$((a) | b".repeat(200)),
        format!("echo {}", "\"${x:-$(echo \"${y:-`echo ".repeat(60)),
        format!("a[{}", "b[".repeat(50_000)),
        format!("{} a[0", "a[b] ".repeat(50_000)),
        "f() ".repeat(50_000),
        "coproc a ".repeat(50_000),
        "a <<E\n".repeat(10_000),
    ];
    for n in [15, 16, 17, 200] {
        let operators: String = (0..n).map(|index| format!(" <<E{index}")).collect();
        let bodies: String = (0..n).map(|index| format!("x\nE{index}\n")).collect();
        inputs.push(format!("cat{operators}\n{bodies}"));
    }
    for n in [10, 20, 30, 60] {
        let backquotes: String =
            (0..n).map(|depth| format!("{}`echo ", "\\".repeat((1 << depth.min(14)) - 1))).collect();
        inputs.push(format!("echo {backquotes}"));
        let documents: String = (0..n).map(|index| format!("cat <<E{index}\n$(")).collect();
        let ends: String = (0..n).rev().map(|index| format!(")\nE{index}\n")).collect();
        inputs.push(documents + &ends);
    }
    inputs
}

/// Parses on a small stack and checks what must hold of any input.
fn survive(inputs: Vec<Vec<u8>>, options: Options) {
    let parse_all = move || {
        for input in inputs {
            let arena = Bump::new();
            if let Ok(parsed) = parse(&arena, &input, &options) {
                walk::check(&parsed, &input);
            }
            let used = arena.allocated_bytes();
            assert!(used < 400 * input.len() + (1 << 16), "{used} bytes for {}", input.len());
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(parse_all).unwrap().join().unwrap();
}

#[test]
fn nesting_never_overflows_the_stack() {
    let mut inputs = Vec::new();
    for (open, inner, close) in NESTED {
        for n in [90, 1000, 10_000, 100_000] {
            inputs.push(nest(open, inner, close, n).into_bytes());
            inputs.push(open.repeat(n).into_bytes());
        }
    }
    survive(inputs.clone(), Options::default());
    survive(inputs.clone(), Options { extglob: true, ..Options::default() });
    survive(inputs, Options { dialect: Dialect::Posix, ..Options::default() });
}

#[test]
fn floods_take_linear_memory() {
    let inputs: Vec<Vec<u8>> = floods().into_iter().map(String::into_bytes).collect();
    survive(inputs.clone(), Options::default());
    survive(inputs, Options { extglob: true, ..Options::default() });
}

#[test]
fn limits_hold_exactly() {
    let code = |source: &str, options: &Options| {
        parse(&Bump::new(), source.as_bytes(), options).map(|_| ()).map_err(|error| error.code)
    };
    let options = Options { max_len: 10, ..Options::default() };
    assert_eq!(code("echo 12345", &options), Ok(()));
    assert_eq!(code("echo 123456", &options), Err(ErrorCode::TooLong));
    // The program itself is a level, each subshell and its list are one more each.
    let options = Options { max_depth: 5, ..Options::default() };
    assert_eq!(code("((a) )", &options), Err(ErrorCode::AmbiguousArithmetic));
    assert_eq!(code("( (a) )", &options), Ok(()));
    assert_eq!(code("( ( (a) ) )", &options), Err(ErrorCode::TooDeep));
    let documents = |n: usize| format!("a{}\n{}", " <<E".repeat(n), "E\n".repeat(n));
    assert_eq!(code(&documents(16), &Options::default()), Ok(()));
    assert_eq!(code(&documents(17), &Options::default()), Err(ErrorCode::TooManyHereDocuments));
    let opened = |n: usize| format!("a {}", "{b,".repeat(n));
    assert_eq!(code(&(opened(100) + "}"), &Options::default()), Ok(()));
    assert_eq!(code(&(opened(20_000) + "}"), &Options::default()), Err(ErrorCode::TooComplex));
    for joined in ["|", "&&", "||", "|& "] {
        let commands = |n: usize| vec!["a"; n].join(joined);
        // Of a list the first pipeline lies apart.
        let most = 16_384 + usize::from(matches!(joined, "&&" | "||"));
        assert_eq!(code(&commands(most), &Options::default()), Ok(()));
        assert_eq!(code(&commands(most + 1), &Options::default()), Err(ErrorCode::TooMany));
    }
}

/// Pieces of shell that random programs are made of.
fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "x=",
        "1",
        " ",
        "\t",
        "\n",
        ";",
        "&",
        "|",
        "(",
        ")",
        "<",
        ">",
        "{",
        "}",
        "[",
        "]",
        "'",
        "\"",
        "`",
        "\\",
        "$",
        "#",
        "!",
        "~",
        "*",
        "?",
        "=",
        "+",
        "@",
        "-",
        ":",
        "/",
        "%",
        "^",
        ",",
        ".",
        "..",
        "$(",
        "${",
        "$((",
        "))",
        "((",
        "[[",
        "]]",
        "<<E\n",
        "E\n",
        "<<-",
        "<<<",
        "<(",
        "&>",
        ">&",
        ";;",
        "if ",
        "then ",
        "fi",
        "case ",
        " in ",
        "esac",
        "do ",
        "done",
        "for ",
        "time ",
        "coproc ",
        "function ",
        "declare a=(",
        "$'",
        "$\"",
        "\\\n",
        "{a,b}",
        "{1..3}",
        "@(",
        "$x",
        "${x:-",
        "${x/",
        "${!",
        "é",
        "\r",
        "\u{a0}",
        "shopt -s extglob\n",
    ])
}

fn dialects() -> [Options; 3] {
    let options = Options::default();
    [options, Options { extglob: true, ..options }, Options { dialect: Dialect::Posix, ..options }]
}

/// The tree as text, and what was noted.
fn printed(parsed: &Parsed<'_>) -> (String, Vec<Note>) {
    (format!("{:?}", parsed.script.items), parsed.notes.to_vec())
}

/// The same, read line by line and, in the last line, list by list.
fn in_pieces(source: &[u8], options: &Options) -> Result<(String, Vec<Note>), ParseError> {
    let arena = Bump::new();
    let mut reader = Reader::new(source, options);
    let mut items = Vec::new();
    while !reader.is_done() {
        items.extend_from_slice(reader.piece(&arena, 1)?.items);
    }
    Ok((format!("{items:?}"), reader.notes().to_vec()))
}

fn check(source: &[u8]) {
    for options in dialects() {
        let arena = Bump::new();
        let whole = parse(&arena, source, &options);
        assert_eq!(in_pieces(source, &options), whole.as_ref().map_err(|error| *error).map(printed));
        match whole {
            Ok(parsed) => walk::check(&parsed, source),
            Err(error) => {
                assert!(error.span.start <= error.span.end && error.span.end as usize <= source.len());
                assert!(error.opener.is_none_or(|opener| opener.end as usize <= source.len()));
            }
        }
        // Any text may be read as in a here-document.
        let _ = parse_word_text(&arena, source, &options);
    }
}

/// What is left of a text may be nothing: that, too, lies where it came from.
#[test]
fn derived_text_that_is_empty_has_a_place() {
    for source in [
        "a `\\\n`",
        "a \"`\\\n`\"",
        "a `\\\n\\\n` b",
        "a `b \\`\\\n\\``",
        "a <<E\n\\\nE\n",
        "a <<-E\n\t\\\nE\n",
    ] {
        check(source.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(source in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&source);
    }

    #[test]
    fn arbitrary_tokens_never_panic(tokens in prop::collection::vec(token(), 0..40)) {
        check(tokens.concat().as_bytes());
    }
}
