//! The POSIX dialect: what dash reads as bash does is read, what it reads differently is refused.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod support;

use bumpalo::Bump;
use shward_syntax::{Dialect, ErrorCode, Options, parse};
use support::shell::{self, Random, ask};
use support::{dump, table, value, words};

const POSIX: Options = Options { dialect: Dialect::Posix, extglob: false, max_len: 4 << 20, max_depth: 100 };

#[test]
fn what_dash_reads_differently_is_refused() {
    for (program, instead) in table::rows(include_str!("data/posix.txt")) {
        let arena = Bump::new();
        match parse(&arena, program.as_bytes(), &POSIX) {
            Ok(parsed) => panic!("accepted: {program}: {}", dump(&parsed.script)),
            Err(error) => {
                assert_eq!(
                    (error.code, error.expected),
                    (ErrorCode::NotPosix, instead.as_str()),
                    "{program}"
                );
            }
        }
        assert!(parse(&arena, program.as_bytes(), &Options::default()).is_ok(), "{program}");
    }
}

#[test]
fn words_that_only_bash_reserves_are_ordinary() {
    let arena = Bump::new();
    let read = |program: &'static str| {
        parse(&arena, program.as_bytes(), &POSIX)
            .map(|parsed| dump(&parsed.script))
            .map_err(|error| error.code)
    };
    assert_eq!(read("time a").as_deref(), Ok("(cmd time a)"));
    assert_eq!(read("time (a)"), Err(ErrorCode::UnexpectedToken));
    assert_eq!(read("echo {a,b} {1..3}").as_deref(), Ok("(cmd echo {a,b} {1..3})"));
    assert_eq!(read("a b=~/c").as_deref(), Ok("(cmd a b=~/c)"));
    assert_eq!(read("b=~/c:~").as_deref(), Ok("(cmd b=T[]+/c:+T[])"));
}

#[test]
fn dash_accepts_what_is_accepted() {
    let Some(dash) = shell::dash() else { return };
    let trees = table::rows(include_str!("data/trees.txt"));
    let mut accepted = 0;
    let mut wrong = Vec::new();
    for program in trees.into_iter().map(|(program, _)| program).chain(shell::corpus()) {
        let arena = Bump::new();
        if parse(&arena, program.as_bytes(), &POSIX).is_err() {
            continue;
        }
        accepted += 1;
        let answer = ask(dash, &["-n", "-c", &program], b"");
        // dash takes a program that begins with a sign for options.
        if !answer.success && !program.starts_with(['-', '+']) {
            wrong.push(format!("{program:?}: {}", answer.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 100, "only {accepted} programs were accepted");
}

#[test]
fn words_mean_what_dash_makes_of_them() {
    const FRAMES: &[&str] = &["printf '<%s>' WORD", "v=WORD\nprintf '<%s>' \"$v\""];
    let Some(dash) = shell::dash() else { return };
    let mut random = Random::new(3);
    let mut compared = 0;
    let rounds = if shell::full() { 40_000 } else { 1500 };
    for round in 0..rounds {
        let depth = random.below(4);
        let word = words::random(&mut random, depth);
        // dash's echo knows escapes of its own.
        if word.contains("echo") && word.contains('\\') {
            continue;
        }
        let program = FRAMES[round % FRAMES.len()].replace("WORD", &word);
        let arena = Bump::new();
        let Ok(parsed) = parse(&arena, program.as_bytes(), &POSIX) else { continue };
        let Some(fields) = words::expected(&parsed) else { continue };
        let answer = ask(dash, &["-c", &format!("{}{program}", value::PROLOGUE)], b"");
        let theirs = String::from_utf8_lossy(&answer.stdout);
        assert_eq!(words::printed(&fields), theirs, "\n{program}\n{}", answer.stderr);
        compared += 1;
    }
    assert!(compared * 10 > rounds, "only {compared} words could be compared");
}
