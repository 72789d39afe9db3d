//! Programs in other languages, inside commands: evasions that must not be allowed, and ordinary ones that must be.
//!
//! The tables are `inline/*.txt`: one program after the other, separated by `%%`. Nothing is known of the machine, and
//! the command is judged as one that somebody else will run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward::{Decision, Firewall, Policy, Request, Setting};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The languages that have tables; the programs of `shell` are whole commands, and those of `programs`, of which each is about
/// an option, a variable or a file of some program.
const LANGUAGES: [&str; 8] = ["python", "javascript", "perl", "php", "ruby", "sql", "shell", "programs"];

fn programs(table: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inline").join(format!("{table}.txt"));
    let text = fs::read_to_string(file).unwrap();
    text.split("\n%%\n").map(|program| program.trim_end_matches('\n').to_owned()).collect()
}

/// A word as a shell gives it to a program unchanged.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The command that runs a program of a table.
fn command(language: &str, program: &str) -> String {
    match language {
        "python" => format!("python3 -c {}", quoted(program)),
        "javascript" => format!("node -e {}", quoted(program)),
        "perl" => format!("perl -e {}", quoted(program)),
        "php" => format!("php -r {}", quoted(program)),
        "ruby" => format!("ruby -e {}", quoted(program)),
        // The client, its arguments and the text, which may hold the separator itself.
        "sql" => {
            let words = if program.starts_with("sqlite3|-") { 5 } else { 3 };
            program.splitn(words, '|').map(quoted).collect::<Vec<_>>().join(" ")
        }
        _ => program.to_owned(),
    }
}

fn judge(firewall: &Firewall, command: &str) -> Decision {
    let request = Request::command(command.to_owned(), "/app".to_owned(), "/root");
    // What is not a request at all is refused.
    firewall.examine(&request, &Setting::frozen()).map_or(Decision::Deny, |checked| checked.decision)
}

/// The programs on which the judgement is wrong, and how many there are.
fn wrong(kind: &str, is_right: impl Fn(Decision) -> bool) -> (usize, Vec<String>) {
    let firewall = Firewall::new(Policy::default());
    let mut all = 0;
    let mut wrong = Vec::new();
    for language in LANGUAGES {
        for program in programs(&format!("{kind}-{language}")) {
            all += 1;
            let command = command(language, &program);
            let decision = judge(&firewall, &command);
            if !is_right(decision) {
                wrong.push(format!("{decision:?}: {command}"));
            }
        }
    }
    (all, wrong)
}

#[test]
fn evasions_are_not_allowed() {
    let (all, wrong) = wrong("hostile", |decision| decision != Decision::Allow);
    assert!(all >= 360, "{all} evasions");
    assert!(wrong.is_empty(), "{} allowed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn ordinary_programs_are_allowed() {
    let (all, wrong) = wrong("harmless", |decision| decision == Decision::Allow);
    assert!(all >= 240, "{all} programs");
    assert!(wrong.is_empty(), "{} interrupted:\n{}", wrong.len(), wrong.join("\n"));
}

/// Truncated and mutated programs: no reader panics or hangs.
#[test]
fn no_program_is_too_odd_to_read() {
    const PIECES: [&str; 22] = [
        "(", ")", "{", "}", "[", "'", "\"", "`", "\\", "/", "$", "@", "%", "%%", "s/", "${", "\u{1}", "\n",
        "é", "=>", ";", ".",
    ];
    let firewall = Firewall::new(Policy::default());
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap()
    };
    for language in LANGUAGES.into_iter().filter(|language| *language != "programs") {
        for kind in ["hostile", "harmless"] {
            for program in programs(&format!("{kind}-{language}")) {
                let letters: Vec<char> = program.chars().collect();
                for _ in 0..4 {
                    let cut: String = letters.iter().take(next() % (letters.len() + 1)).collect();
                    judge(&firewall, &command(language, &cut));
                    let at = next() % (letters.len() + 1);
                    let mut changed: String = letters.iter().take(at).collect();
                    changed.push_str(PIECES[next() % PIECES.len()]);
                    changed.extend(letters.iter().skip(at + next() % 2));
                    judge(&firewall, &command(language, &changed));
                }
            }
        }
    }
}

/// What readers could be slow on, at the longest length that each reads: none takes time out of proportion.
#[test]
fn long_programs_take_linear_time() {
    const BODIES: [&str; 16] = [
        "(",
        "[",
        "{",
        "'a'+",
        "`${",
        "a=>",
        "s/a/b/;",
        "$x{a}",
        "x;",
        "/*",
        "-- \n",
        "f(",
        "if x:\n ",
        "@{",
        "\"$a\".",
        "f('a'+'b');",
    ];
    let firewall = Firewall::new(Policy::default());
    for language in ["python", "javascript", "perl", "php", "ruby", "sql"] {
        for body in BODIES {
            for length in [120 << 10, 1_000_000] {
                let text = body.repeat(length / body.len());
                let program = if language == "sql" { format!("sqlite3|a.db|{text}") } else { text };
                let start = Instant::now();
                judge(&firewall, &command(language, &program));
                assert!(start.elapsed() < Duration::from_secs(20), "{language}: {length} bytes of {body}");
            }
        }
    }
}
