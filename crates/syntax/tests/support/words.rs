//! Random words, and what the tree says about the programs in which they stand.

use super::shell::Random;
use super::value;
use shward_syntax::{AssignmentValue, CommandKind, Parsed, RedirectTarget};

const PIECES: &[&str] = &[
    "a",
    "b",
    "'",
    "\"",
    "\\",
    "$",
    "`",
    "{",
    "}",
    "(",
    ")",
    "${",
    "$(echo ",
    "$((1))",
    "$'",
    "$\"",
    "x",
    "y",
    "u",
    "$x",
    "$y",
    "${x}",
    "${u:-",
    "${y:-",
    "${x:+",
    "${x#",
    "${x%",
    "${x/",
    "${u-",
    "/",
    "~",
    "-",
    ":",
    "#",
    "%",
    "'q'",
    "\"d\"",
    "\"$x\"",
    "''",
    "\"\"",
    "\\\n",
    "\\'",
    "\\\"",
    "\\$",
    "\\`",
    "\\}",
    "\\{",
    "\\\\",
    "$(echo a)",
    "`echo b`",
    "\"`echo \\\"c\\\"`\"",
    "{a,b}",
    ",",
    "..",
    "{x,",
    "[",
    "]",
    "*",
    "?",
    "$'\\n'",
    "$'\\x41'",
    "!",
    "=",
    "a=",
    "~/",
    "é",
    " ",
    "+",
    "@",
    "^",
    "%%",
    "##",
    "//",
    "$[1]",
    "${#x}",
    "0",
    "1",
];

/// Where a random word is put, and how its value is printed.
pub const FRAMES: &[&str] = &[
    "printf '<%s>' WORD",
    "v=WORD\nprintf '<%s>' \"$v\"",
    "IFS= read -r -d '' v <<E\nWORD\nE\nprintf '<%s>' \"$v\"",
    "IFS= read -r -d '' v <<<WORD\nprintf '<%s>' \"$v\"",
    "a=(WORD)\nprintf '<%s>' \"${a[@]}\"",
];

/// A random word, nested `depth` deep at most.
pub fn random(random: &mut Random, depth: usize) -> String {
    let mut word = String::new();
    for _ in 0..=random.below(6) {
        let inner = |random: &mut Random| self::random(random, depth - 1);
        let piece = match if depth > 0 { random.below(14) } else { 13 } {
            0 => format!("\"{}\"", inner(random)),
            1 => format!("$(echo {})", inner(random)),
            2 => format!("${{u:-{}}}", inner(random)),
            3 => format!("`echo {}`", inner(random)),
            4 => format!("'{}'", inner(random)),
            5 => format!("${{x/{}/{}}}", self::random(random, 0), inner(random)),
            6 => format!("{{{},{}}}", inner(random), inner(random)),
            7 => format!("$'{}'", self::random(random, 0)),
            8 => format!("${{y:-\"{}\"}}", inner(random)),
            _ => (*random.pick(PIECES)).to_owned(),
        };
        word.push_str(&piece);
    }
    word
}

/// The fields that the tree says the frame prints.
pub fn expected(parsed: &Parsed<'_>) -> Option<Vec<Vec<u8>>> {
    let [stage] = parsed.script.items.first()?.list.first.stages else { return None };
    let CommandKind::Simple(simple) = stage.command.kind else { return None };
    match (simple.assignments.all(), simple.words, stage.command.redirects.all(), parsed.script.items.len()) {
        ([], [_, _, words @ ..], [], 1) => value::fields(words),
        ([assignment], [], [], 2) => match assignment.value {
            AssignmentValue::Scalar(word) => Some(vec![value::single(&word.parts())?]),
            AssignmentValue::Array(elements) => {
                let words: Vec<_> = elements.iter().map(|element| element.value()).collect();
                elements.iter().all(|element| element.subscript().is_none()).then(|| value::fields(&words))?
            }
        },
        ([_], _, [redirect], 2) => match redirect.target {
            RedirectTarget::HereDocument(document) => Some(vec![value::single(document.body())?]),
            // A here-string, to which the shell adds a newline.
            RedirectTarget::Word(word) => {
                Some(vec![[value::single(&word.parts())?, b"\n".to_vec()].concat()])
            }
        },
        _ => None,
    }
}

/// The fields as `printf '<%s>'` prints them.
pub fn printed(fields: &[Vec<u8>]) -> String {
    match fields {
        [] => "<>".to_owned(),
        _ => fields.iter().map(|field| format!("<{}>", String::from_utf8_lossy(field))).collect(),
    }
}
