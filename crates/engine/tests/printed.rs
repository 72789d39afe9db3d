//! What programs print when all that they read is known: what is predicted is what they print, byte for byte.
//!
//! Each command is a program that prints its arguments, with up to three behind it that change text. The shells and programs of
//! the machine are asked in our own sandbox, with everything read-only and no network. `SHWARD_FULL` takes more commands,
//! `SHWARD_SEED` other ones.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is how a test fails"
)]
#![allow(clippy::print_stderr, reason = "what is left out is told")]

mod random;

use bumpalo::Bump;
use random::Random;
use shward_analysis::{Frozen, Request, Source, analyze};
use shward_sandbox::{Confinement, Options, Stdin, run};
use shward_syntax::Dialect;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Where the shells start: it is there on every machine, and it cannot be written.
const CWD: &str = "/usr";

/// The shells that are asked, how they are read, and their program.
const SHELLS: [(Dialect, &str, &[&str]); 3] = [
    (Dialect::Bash, "/bin/bash", &["bash", "--norc", "--noprofile"]),
    (Dialect::Posix, "/bin/dash", &["dash"]),
    (Dialect::Posix, "/bin/busybox", &["busybox", "sh"]),
];

/// What texts are made of.
const PIECES: [&str; 44] = [
    "a", "b", "rm", " ", " -", "7", "42", "-5", "--5", "+3", "0x1f", "010", "\n", "\n", "\t", "#", ":", ",",
    "/", "x y", "\\n", "\\t", "\\c", "\\'", "\\\"", "\\?", "\\\\", "\\", "\\0101", "\\101", "\\8", "\\x41",
    "\\x", "\\e", "\\a", "%", "%%", "\"", "[", "]", "=", "*", "YWJj", "6162",
];

/// What formats are made of, besides.
const CONVERSIONS: [&str; 22] = [
    "%s", "%s", "%s\\n", "%b", "%b", "%d", "%i", "%u", "%x", "%X", "%o", "%c", "%5s", "%-5s|", "%05d",
    "%-05d", "%03x", "%.2s", "%q", "% d", "%+d", "%5b",
];

/// Programs that change text, with what may stand for `@`.
const FILTERS: [&str; 58] = [
    "cat",
    "cat -",
    "cat -u",
    "tee",
    "rev",
    "tac",
    "sort",
    "sort -r",
    "sort -u",
    "sort -n",
    "tr a b",
    "tr ab '\\n'",
    "tr '\\n' ' '",
    "tr -d '\\n'",
    "tr -d '\\\\'",
    "tr -d a-c",
    "tr -dc 'a-z\\n'",
    "tr -cd '[:digit:]'",
    "tr -s ' '",
    "tr -s '\\n' ' '",
    "tr a-z A-Z",
    "tr '[:lower:]' '[:upper:]'",
    "tr '[a-z]' '[b-zA]'",
    "tr abc '[x*]'",
    "tr abc '[x*2]y'",
    "tr 'a-' 'xy'",
    "tr ab-7 xyz",
    "tr '\\101\\n' x ",
    "tr '[=a=]' b",
    "tr abc xy",
    "tr -t abc xy",
    "head -n 1",
    "head -n2",
    "head -1",
    "head -c 3",
    "head -n -1",
    "head -c -1",
    "head",
    "tail -n 1",
    "tail -n +2",
    "tail -2",
    "tail -c 3",
    "tail -c +3",
    "tail -n -1",
    "tail -c -2",
    "cut -c1-2",
    "cut -c 2-",
    "cut -d: -f1",
    "cut -d ' ' -f 2-",
    "cut -d, -f3,1",
    "cut -f2",
    "cut -s -d: -f2",
    "cut -b 3-1",
    "cut -c0",
    "base64",
    "base64 -w 7",
    "base64 -w0",
    "base32",
];

/// Programs that turn encoded text back; only of these what they print when the text is wrong depends on their version.
const DECODERS: [&str; 6] =
    ["base64 -d", "base64 --decode -i", "base32 -d", "xxd -r -p", "xxd -p | xxd -r -p", "xxd -p"];

struct Generator(Random);

impl Generator {
    fn word(&mut self, pieces: &[&str]) -> String {
        let text: String = (0..=self.0.below(4)).map(|_| self.0.pick(pieces)).collect();
        format!("'{}'", text.replace('\'', "'\\''"))
    }

    fn words(&mut self) -> String {
        (0..self.0.below(4)).map(|_| format!(" {}", self.word(&PIECES))).collect()
    }

    fn command(&mut self) -> String {
        let mut command = match self.0.below(8) {
            0..=3 => {
                let format = self.word(&[&PIECES[..], &CONVERSIONS, &CONVERSIONS].concat());
                let program =
                    self.0.pick(&["printf", "printf", "printf --", "env printf", "/usr/bin/printf"]);
                format!("{program} {format}{}", self.words())
            }
            4 | 5 => {
                let program = self.0.pick(&[
                    "echo",
                    "echo -n",
                    "echo -e",
                    "echo -ne",
                    "echo -E",
                    "echo -en -",
                    "env echo",
                    "/bin/echo -e",
                ]);
                format!("{program}{}", self.words())
            }
            6 => format!(
                "seq {}",
                self.0.pick(&[
                    "5", "2 4", "5 -2 1", "-3 3", "9 12", "0", "3 1", "1 2 6", "08 11", "-w 8 11", "1.5 3",
                    "1 0 3", "+1 3"
                ])
            ),
            _ => {
                let program = self.0.pick(&["basename", "dirname"]);
                format!(
                    "{program} {}",
                    self.0.pick(&[
                        "/a/b.c",
                        "a/b/",
                        "/",
                        "//",
                        "a",
                        "a//b",
                        "''",
                        "/a/b.c .c",
                        "b.c b.c",
                        "../x",
                        ".",
                        "a/ b/",
                        "-a x.c .c",
                        "/a/"
                    ])
                )
            }
        };
        for _ in 0..self.0.below(4) {
            let filter = if self.0.below(5) == 0 { self.0.pick(&DECODERS) } else { self.0.pick(&FILTERS) };
            command += &format!(" | {filter}");
        }
        command
    }
}

/// A command whose output is the argument of `p`; the point keeps newlines at the end.
fn shown(command: &str) -> String {
    format!("p \"$({command}; echo .)\"")
}

/// What is predicted; `None` if it is not known.
fn predicted(command: &str, dialect: Dialect) -> Option<Vec<u8>> {
    let arena = Bump::new();
    let command = shown(command);
    let request = Request {
        source: Source::Command(command.as_bytes()),
        cwd: CWD.as_bytes(),
        workspace: CWD.as_bytes(),
        home: b"/home/dev",
        dialect,
    };
    let plan = analyze(&arena, &request, &Frozen);
    let invocation = plan.invocations.last()?;
    match invocation.argv {
        [name, text] if name.known() == Some(b"p") => Some(text.known()?.to_vec()),
        _ => None,
    }
}

/// What a shell gives to `p`. `None` if there is no such shell or sandbox.
fn asked(commands: &[String], program: &str, arguments: &[&str]) -> Option<HashMap<usize, Vec<u8>>> {
    if !Path::new(program).exists() {
        return None;
    }
    let mut script = "p() { printf '%s\\0' \"$n\" \"$1\"; }\n".to_owned();
    for (number, command) in commands.iter().enumerate() {
        script += &format!("n={number}\n{}\n", shown(command));
    }
    let plan = Confinement::new(program, CWD)
        .arguments(arguments.iter().copied())
        .variable("HOME", "/home/dev")
        .variable("PATH", "/usr/bin:/bin")
        .variable("LC_ALL", "C.UTF-8")
        .prepare()
        .ok()?;
    let mut options = Options::default();
    options.stdin = Stdin::Bytes(script.into_bytes());
    options.max_output = 64 << 20;
    options.timeout = Some(Duration::from_secs(300));
    let output = run(&plan, options).ok()?.stdout.to_bytes();
    let mut tokens = output.split(|byte| *byte == 0);
    let mut answers = HashMap::new();
    while let (Some(number), Some(text)) = (tokens.next(), tokens.next()) {
        answers.insert(std::str::from_utf8(number).unwrap().parse().unwrap(), text.to_vec());
    }
    Some(answers)
}

#[test]
fn programs_print_what_is_predicted() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let count = if std::env::var_os("SHWARD_FULL").is_some() { 10_000 } else { 600 };
    let mut generator = Generator(Random(number("SHWARD_SEED").unwrap_or(0x5eed)));
    let commands: Vec<String> = (0..count).map(|_| generator.command()).collect();
    for (dialect, program, arguments) in SHELLS {
        let Some(answers) = asked(&commands, program, arguments) else {
            eprintln!("SKIPPED: there is no {program}, or no sandbox to run it in");
            continue;
        };
        let (mut compared, mut wrong) = (0, Vec::new());
        for (number, command) in commands.iter().enumerate() {
            let (Some(ours), Some(theirs)) = (predicted(command, dialect), answers.get(&number)) else {
                continue;
            };
            compared += 1;
            if ours != *theirs {
                wrong.push(format!(
                    "{command:?}\n  shward {}\n  {program} {}",
                    ours.escape_ascii(),
                    theirs.escape_ascii()
                ));
            }
        }
        eprintln!("{program}: {compared} of {count} compared, {} differ", wrong.len());
        assert!(compared * 5 > count, "{compared} of {count} are known");
        assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(40)].join("\n"));
    }
}
