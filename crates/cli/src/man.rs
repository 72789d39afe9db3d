//! `man`: the manual page, written from the tables.

use crate::args::Args;
use crate::exit::{self, Exit};
use crate::flags::{Flag, VERBS, Verb};
use crate::terminal::{self, Fail};
use std::fmt::Write as _;

/// Carries out the verb.
///
/// # Errors
/// Something stands after it.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    if !args.operands.is_empty() {
        return Err(Fail::usage("there is one page, about everything: shward man | man -l -"));
    }
    terminal::line(page().trim_end()).map(|()| Exit::Allow)
}

/// Files that an operator has to know.
const FILES: &[(&str, &str)] = &[
    (
        "/etc/shward/policy.d/*.toml",
        "The system's policy. The directory and its files belong to root, and nobody else may write them.",
    ),
    ("/etc/shward/passwd", "Accounts that are not in /etc/passwd, in the form of passwd(5)."),
    ("~/.config/shward/policy.toml", "The user's policy ($XDG_CONFIG_HOME)."),
    (
        ".shward.toml",
        "A project's policy, in its directory or above. It only tightens until a person trusts it.",
    ),
    (
        "~/.local/state/shward/",
        "The audit log (audit.jsonl), what is trusted, answered, counted, and kept to be undone ($XDG_STATE_HOME).",
    ),
    (
        "/var/lib/shward/compiled/",
        "What was found of the system's policy files. It can be removed at any time.",
    ),
];

/// The page in the macros of man(7).
fn page() -> String {
    let mut out = format!(
        ".TH SHWARD 1 \"\" \"shward {}\"\n.SH NAME\nshward \\- the firewall between AI agents and the shell\n\
         .SH SYNOPSIS\n.B shward\n.I VERB\n.RI [ OPTIONS ]\n\
         .SH DESCRIPTION\nshward reads a command the way the shell will, works out everything it may do, and decides \
         .BR allow ,\n.B ask\nor\n.B deny\nfrom a policy. What is allowed it can run in a kernel sandbox that permits no \
         more than was decided. Every decision goes into a log that shows tampering.\n.SH VERBS\n",
        env!("CARGO_PKG_VERSION")
    )
    .replace("decides .BR", "decides\n.BR");
    for verb in VERBS {
        of_verb(verb, &mut out);
    }
    out.push_str(".SH EXIT STATUS\n");
    for (code, meaning) in exit::TABLE {
        let _ = writeln!(out, ".TP\n.B {}\n{}", text(code), text(meaning));
    }
    out.push_str(".SH FILES\n");
    for (path, what) in FILES {
        let _ = writeln!(out, ".TP\n.I {}\n{}", text(path), text(what));
    }
    out
}

fn of_verb(verb: &Verb, out: &mut String) {
    let _ = writeln!(out, ".SS {}\n{}.", verb.name, text(verb.summary));
    out.push_str(".PP\n.nf\n");
    for line in format!("shward {} {}", verb.name, verb.usage).lines() {
        let _ = writeln!(out, ".B {}", text(line.trim()));
    }
    let _ = writeln!(out, ".fi\n.PP\n{}", text(&verb.about.replace('\n', " ")));
    verb.flags().for_each(|flag| of_flag(flag, out));
    if !verb.examples.is_empty() {
        out.push_str(".PP\nExamples:\n");
    }
    for (command, what) in verb.examples {
        let _ = writeln!(out, ".TP\n.B {}\n{}", text(command), text(what));
    }
}

fn of_flag(flag: &Flag, out: &mut String) {
    let name = text(&format!("--{}", flag.name));
    let _ = match flag.value {
        Some(value) => writeln!(out, ".TP\n.BI \"{name} \" {}", text(value)),
        None => writeln!(out, ".TP\n.B {name}"),
    };
    let mut lines = flag.help.lines();
    let _ = writeln!(out, "{}", text(lines.next().unwrap_or_default()));
    for line in lines {
        let _ = writeln!(out, ".br\n{}", text(line.trim()));
    }
}

/// Text in which nothing is a request or an escape to roff, and each `-` is one to search for and copy.
fn text(plain: &str) -> String {
    let mut out = String::new();
    for letter in plain.chars() {
        match letter {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '"' => out.push_str("\\(dq"),
            '`' => out.push_str("\\(ga"),
            '~' => out.push_str("\\(ti"),
            '^' => out.push_str("\\(ha"),
            '…' => out.push_str("\\&..."),
            other => out.push(other),
        }
    }
    if out.starts_with('.') { format!("\\&{out}") } else { out }
}
