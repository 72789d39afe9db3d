//! `--help`, written from the tables.

use crate::exit;
use crate::flags::{VERBS, Verb};
use std::fmt::Write;

/// The width of the options' names.
const COLUMN: usize = 20;

/// How long a line is at most, if its words let it be.
const WIDTH: usize = 110;

/// Text in lines, each after the first after so many blanks.
fn wrapped(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut column = indent;
    for word in text.split(' ') {
        if column + 1 + word.len() > WIDTH {
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        } else if !out.is_empty() {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out
}

/// The help of the whole program.
pub(crate) fn program() -> String {
    let mut out = String::from(
        "shward: the firewall between AI agents and the shell\n\n\
         Usage: shward VERB [OPTIONS]\n\nVerbs:\n",
    );
    for verb in VERBS {
        let _ = writeln!(out, "  {:<13}{}", verb.name, verb.summary);
    }
    out.push_str("\nExit codes:\n");
    for (code, meaning) in exit::TABLE {
        let _ = writeln!(out, "  {code:<13}{}", wrapped(meaning, 15));
    }
    out.push_str(
        "\nTry:\n  shward explain -- 'find . -name \"*.tmp\" -delete'\n  shward run -- 'echo hi > out.txt; ls'\n\n\
         `shward VERB --help` tells more. `shward --version` prints the version.\n",
    );
    out
}

/// The help of one verb.
pub(crate) fn verb(verb: &Verb) -> String {
    let mut out = format!(
        "{}\n\nUsage: {}\n\n{}\n\nOptions:\n",
        verb.summary,
        format!("shward {} {}", verb.name, verb.usage).trim_end(),
        verb.about
    );
    for flag in verb.flags() {
        let left = match flag.value {
            Some(value) => format!("--{} {value}", flag.name),
            None => format!("--{}", flag.name),
        };
        // What is longer than its column has a line of its own.
        let gap = if left.len() < COLUMN { "" } else { "\n                      " };
        let lines: Vec<String> = flag.help.lines().map(|line| wrapped(line, COLUMN + 2)).collect();
        let help = lines.join("\n                        ");
        let _ = writeln!(out, "  {left:<COLUMN$}{gap}{help}");
    }
    if !verb.examples.is_empty() {
        out.push_str("\nExamples:\n");
        for (command, what) in verb.examples {
            let _ = writeln!(out, "  {command}\n      {what}");
        }
    }
    out
}
