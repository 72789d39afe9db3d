//! bash is the judge: of what is a program, of its structure, and of what words mean.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod support;

use bumpalo::Bump;
use shward_syntax::{ErrorCode, Options, Parsed, parse};
use support::shell::{self, Random, ask};
use support::{dump_canonical, programs, table, value, walk, words};

/// What is refused although `bash -n` accepts it, and why.
const STRICTER: &[(ErrorCode, &str)] = &[
    (ErrorCode::ControlByte, "bash takes the byte for its own escape"),
    (ErrorCode::BadSubstitution, "bash refuses it when it runs"),
    (ErrorCode::BadLoopName, "bash refuses it when it runs"),
    (ErrorCode::BadFunctionName, "bash refuses it when it runs"),
    (ErrorCode::BadEscape, "bash's result depends on its version"),
    (ErrorCode::BadCoprocess, "bash expands the name"),
    (ErrorCode::BadDelimiter, "bash compares the unexpanded text"),
    (ErrorCode::BadSubscript, "bash reads the brackets differently in different places"),
    (ErrorCode::AmbiguousArithmetic, "bash reads it again as commands"),
    (ErrorCode::AmbiguousQuote, "bash removes quotes and reads again"),
    (ErrorCode::AmbiguousTilde, "bash does not expand what follows"),
    (ErrorCode::AmbiguousBrace, "the results are read again"),
    (ErrorCode::AmbiguousProcessSubstitution, "bash reads it as two things"),
    (ErrorCode::AmbiguousCurrentShell, "bash 5.2 and 5.3 differ"),
    (ErrorCode::AnsiCInExpansion, "bash removes the quotes and reads again"),
    (ErrorCode::BackslashInArray, "bash prints and reads it again"),
    (ErrorCode::CoprocessInSubstitution, "bash prints and reads it again"),
    (ErrorCode::DescriptorElement, "evaluates a subscript"),
    (ErrorCode::DescriptorTooLarge, "bash takes the number for a word"),
    (ErrorCode::GluedClose, "bash reads two words"),
    (ErrorCode::GluedDescriptor, "bash reads one word"),
    (ErrorCode::GluedProcessId, "bash takes the second dollar for another expansion"),
    (ErrorCode::HereDocumentInSubstitution, "bash prints and reads it again"),
    (ErrorCode::HereDocumentEnd, "bash ends the here-document there"),
    (ErrorCode::ReservedWordAfterPrefix, "bash prints and reads it again"),
    (ErrorCode::SplitReservedWord, "an obfuscation"),
    (ErrorCode::DocumentOperand, "bash reads it wrongly"),
    (ErrorCode::TimeInSubstitution, "bash takes it for a word, but only at first"),
    (ErrorCode::TargetExpandedTwice, "bash expands it twice"),
    (ErrorCode::TrailingBackslash, "bash keeps it or not, depending on the line before"),
    (ErrorCode::TextAfterArray, "bash glues the text to the array"),
];

/// Like `bash -c`, which is what the corpora are for.
fn bash_accepts(bash: &str, program: &str) -> bool {
    ask(bash, &["-n", "-c", "--", program], b"").accepted()
}

/// The disagreement between the parser and bash about whether this is a program, if it is not explained.
fn disagreement(bash: &str, program: &str) -> Option<String> {
    let arena = Bump::new();
    let parsed = parse(&arena, program.as_bytes(), &Options::default());
    match (&parsed, bash_accepts(bash, program)) {
        (Ok(parsed), true) => {
            walk::check(parsed, program.as_bytes());
            None
        }
        (Err(_), false) => None,
        // bash only reads the line, it does not run it, so extglob stays off.
        (Ok(_), false) if program.contains("shopt -s extglob\n") => None,
        (Ok(_), false) => Some(format!("accepted: {program:?}")),
        (Err(error), true) => {
            let empty_test = error.code == ErrorCode::BadConditional && program.contains("[[ ]]");
            let explained = empty_test || STRICTER.iter().any(|(code, _)| *code == error.code);
            // bash reads backquotes and here-documents when it runs them, and `${ …; }` only since 5.3.
            let later =
                ["<<", "`", "${ ", "${\n", "${\t", "${|", "${\\\n"].iter().any(|text| program.contains(text));
            (!explained && !later).then(|| format!("refused: {program:?}: {error}"))
        }
    }
}

#[test]
fn bash_agrees_on_the_tables() {
    let Some(bash) = shell::bash() else { return };
    let trees = table::rows(include_str!("data/trees.txt"));
    let refused = table::rows(include_str!("data/refused.txt"));
    let wrong: Vec<_> =
        trees.iter().chain(&refused).filter_map(|(program, _)| disagreement(bash, program)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn bash_agrees_on_the_corpora() {
    let Some(bash) = shell::bash() else { return };
    let wrong: Vec<_> = shell::corpus().iter().filter_map(|program| disagreement(bash, program)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Parses what bash's own printer makes of the program: it must have the same tree.
fn structure_differs(bash: &str, program: &str) -> Option<String> {
    // A backslash at the end means something else in a file; the printer does not write coprocesses, the options of
    // `time`, blanks in `for ((` and the parenthesis before `esac` so that they can be read again; and it only reads,
    // so extglob stays off.
    const LOST: &[&str] = &["coproc", "time", "(esac", "shopt -s extglob", "function a="];
    let header = program.contains("for") && program.contains("((");
    if program.ends_with('\\') || header || LOST.iter().any(|word| program.contains(word)) {
        return None;
    }
    let arena = Bump::new();
    let parsed = parse(&arena, program.as_bytes(), &Options::default()).ok()?;
    let printed = ask(bash, &["--pretty-print"], program.as_bytes());
    if !printed.success || !printed.stderr.is_empty() || printed.stdout.trim_ascii().is_empty() {
        return None;
    }
    let ours = comparable(&parsed);
    match parse(&arena, &printed.stdout, &Options::default()) {
        Ok(theirs) if comparable(&theirs) == ours => None,
        // `$'…'` is printed decoded.
        Err(error) if error.code == ErrorCode::ControlByte => None,
        Ok(theirs) => Some(format!("{program:?}\n   {ours}\n   {}", comparable(&theirs))),
        Err(error) => Some(format!("{program:?}\n   {error}")),
    }
}

fn comparable(parsed: &Parsed<'_>) -> String {
    dump_canonical(&parsed.script)
}

#[test]
fn bash_prints_the_same_structure() {
    let Some(bash) = shell::bash() else { return };
    let tables = table::rows(include_str!("data/trees.txt"));
    let programs = tables.into_iter().map(|(program, _)| program).chain(shell::corpus());
    let wrong: Vec<_> = programs.filter_map(|program| structure_differs(bash, &program)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Random sequences of tokens, and corpus lines with random changes: both must be judged and read as bash does.
#[test]
fn bash_agrees_on_random_programs() {
    let Some(bash) = shell::bash() else { return };
    let corpus: Vec<String> = shell::corpus().into_iter().filter(|command| command.len() < 300).collect();
    let mut random = Random::new(20);
    let mut wrong = Vec::new();
    for _ in 0..if shell::full() { 30_000 } else { 800 } {
        let program = programs::random(&mut random, &corpus);
        wrong.extend(disagreement(bash, &program));
        wrong.extend(structure_differs(bash, &program));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_mean_what_bash_makes_of_them() {
    let Some(bash) = shell::bash() else { return };
    let mut random = Random::new(7);
    let mut compared = 0;
    let rounds = if shell::full() { 40_000 } else { 1500 };
    for round in 0..rounds {
        let depth = random.below(4);
        let word = words::random(&mut random, depth);
        let program = words::FRAMES[round % words::FRAMES.len()].replace("WORD", &word);
        let arena = Bump::new();
        let Ok(parsed) = parse(&arena, program.as_bytes(), &Options::default()) else { continue };
        let Some(fields) = words::expected(&parsed) else { continue };
        let answer = ask(bash, &["--norc", "-c", "--", &format!("{}{program}", value::PROLOGUE)], b"");
        let theirs = String::from_utf8_lossy(&answer.stdout);
        assert_eq!(words::printed(&fields), theirs, "\n{program}\n{}", answer.stderr);
        compared += 1;
    }
    assert!(compared * 5 > rounds, "only {compared} words could be compared");
}

#[test]
fn every_program_that_other_parsers_lose_is_seen_or_refused() {
    // What only shows when a value is expanded a second time is for the analysis to see.
    const BY_VALUE: &[&str] = &[
        "x='$(touch pwned)'; echo y >&\"$x\"",
        "declare 'a[$(touch pwned)]=1'",
        "[[ -v 'a[$(touch pwned)]' ]]",
        "x='a[$(touch pwned)]'; echo $((x))",
        "RANDOM='a[$(touch pwned)]'",
        "x='$(touch pwned)'; echo ${x@P}",
        "PS4='$(touch pwned)'; set -x; :",
    ];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/parser_differentials.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED: parser_differentials.jsonl is not there");
        return;
    };
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let command = row["command"].as_str().unwrap();
        let arena = Bump::new();
        let Ok(parsed) = parse(&arena, command.as_bytes(), &Options::default()) else { continue };
        let tree = support::dump(&parsed.script);
        for program in row["observed"].as_array().unwrap() {
            let program = program.as_str().unwrap();
            let seen =
                [format!("(cmd {program}"), format!(" {program} ")].iter().any(|text| tree.contains(text));
            assert!(seen || BY_VALUE.contains(&command), "{program} is not in {tree}\n{command}");
        }
    }
}
