//! Small changes to a command, at characters and at tokens.

use super::random::Random;

/// What is put in: the tokens that shells give a meaning.
const TOKENS: &[&str] = &[
    ";",
    "&",
    "|",
    "&&",
    "||",
    "\n",
    " ",
    "\t",
    "(",
    ")",
    "{ ",
    " }",
    "$(",
    "`",
    "${",
    "}",
    "$((",
    "))",
    "<(",
    ">(",
    "<",
    ">",
    ">>",
    "<<<",
    "<<E\n",
    "\nE\n",
    ">&",
    "<&",
    "&>",
    "2>&1",
    ">|",
    "<>",
    "'",
    "\"",
    "\\",
    "\\\n",
    "$'",
    "$\"",
    "$",
    "$x",
    "$1",
    "$@",
    "\"$@\"",
    "$*",
    "${x:-p}",
    "${x#*}",
    "${!x}",
    "${x@Q}",
    "${x^}",
    "*",
    "?",
    "[a-z]",
    "~",
    "{a,b}",
    "{1..3}",
    "!",
    "#",
    " #",
    "=",
    "+=",
    "x=",
    "x=(a b)",
    "a[0]=",
    "if ",
    "then ",
    "fi",
    "for x in a b; do ",
    "done",
    "while false; do ",
    "case x in x) ",
    "esac",
    "[[ ",
    " ]]",
    "(( ",
    "))",
    "function f { ",
    "f() { ",
    "eval ",
    "exec ",
    "command ",
    "builtin ",
    "env ",
    "time ",
    "coproc ",
    "trap ",
    "set -- ",
    "shift ",
    "local ",
    "export ",
    "declare ",
    "read x",
    "unset x",
    "alias a=",
    "cd d",
    ". ./a",
    "p",
    "q",
    "-",
    "--",
    "-x",
    "0",
    "1",
    "10",
    "\u{a0}",
    "\u{1}",
    "\r",
    "é",
    "%",
    ":",
    ",",
    "@",
    "^",
];

pub(super) fn mutated(random: &mut Random, base: &str) -> String {
    let mut text: Vec<char> = base.chars().collect();
    for _ in 0..=random.below(3) {
        let at = random.below(text.len() + 1);
        match random.below(6) {
            0 | 1 => {
                let token: Vec<char> = random.pick(TOKENS).chars().collect();
                text.splice(at..at, token);
            }
            2 => {
                let end = text.len().min(at + 1 + random.below(4));
                text.drain(at..end);
            }
            3 => {
                // A part of it once more, elsewhere.
                let end = text.len().min(at + 1 + random.below(12));
                let part: Vec<char> = text.get(at..end).unwrap_or_default().to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, part);
            }
            4 => {
                let end = text.len().min(at + 1);
                let token: Vec<char> = random.pick(TOKENS).chars().collect();
                text.splice(at..end, token);
            }
            _ => {
                let to = random.below(text.len().max(1));
                if at < text.len() && to < text.len() {
                    text.swap(at, to);
                }
            }
        }
    }
    text.into_iter().collect()
}
