//! Random programs: sequences of tokens, and given ones with random changes.

use super::shell::Random;

/// A sequence of tokens, or one of the programs with random changes.
pub fn random(random: &mut Random, given: &[String]) -> String {
    if random.below(2) == 0 || given.is_empty() {
        return soup(random);
    }
    let mut program = given[random.below(given.len())].clone();
    for _ in 0..=random.below(3) {
        mutate(&mut program, random);
    }
    program
}

const TOKENS: &[&str] = &[
    "a",
    "b",
    "x=1",
    "a=",
    "a[1]=2",
    "a=(b c)",
    "'q q'",
    "\"d $x\"",
    "$x",
    "${x:-b}",
    "${x#a}",
    "$(c)",
    "`d`",
    "<(e)",
    ">(f)",
    "$((1+2))",
    "((1))",
    "[[",
    "]]",
    "-f",
    "==",
    "=~",
    "(",
    ")",
    "{",
    "}",
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "while",
    "until",
    "do",
    "done",
    "for",
    "in",
    "select",
    "case",
    "esac",
    "function",
    "!",
    "|",
    "||",
    "&&",
    "&",
    ";",
    ";;",
    ";&",
    ";;&",
    "|&",
    "\n",
    "#c",
    "<",
    "> f",
    ">>",
    "2>&1",
    ">&-",
    "<&3",
    "&>g",
    "<<<w",
    "<<E\nbody $x\nE\n",
    "<<-'E'\n\tt\n\tE\n",
    "{fd}>z",
    "3<",
    "\\\n",
    "\\a",
    "$'x'",
    "$\"y\"",
    "{a,b}",
    "{1..3}",
    "*",
    "?",
    "[a]",
    "~",
    "~/x",
    "x)",
    "f()",
    "()",
    "-p",
    "--",
    "declare",
    "export",
    "echo",
    "1",
    "12",
    ":",
    "=",
    "+=",
    "@(a)",
    "!(b)",
    "$",
    "\"",
    "'",
    "${",
    "$(",
    "))",
    "((",
    "a|b)",
    "x;",
    "-a",
];

/// A random sequence of tokens.
fn soup(random: &mut Random) -> String {
    let mut program = String::new();
    for _ in 0..=random.below(12) {
        program.push_str(random.pick(TOKENS));
        if random.below(4) > 0 {
            program.push(' ');
        }
    }
    program
}

/// Takes out a character, or puts in a token.
fn mutate(line: &mut String, random: &mut Random) {
    let positions: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
    let at = positions[random.below(positions.len())];
    if random.below(3) == 0 {
        let end =
            positions[(positions.partition_point(|position| *position <= at) + 1).min(positions.len() - 1)];
        if at < end {
            line.replace_range(at..end, "");
        }
    } else {
        line.insert_str(at, random.pick(TOKENS));
    }
}
