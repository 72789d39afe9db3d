//! The words of commands that mean the same wherever they stand: their text, and the ones made at random.

use crate::random::Random;
use bumpalo::Bump;
use shward_syntax::{
    Assignment, AssignmentValue, Brace, Command, CommandKind, Options, PartKind, Redirect, RedirectTarget,
    Script, Word, WordPart, parse,
};
use std::collections::BTreeSet;

/// Adds the text of all static words of a command, those in substitutions included.
pub(crate) fn words(command: &str, all: &mut BTreeSet<Vec<u8>>) {
    let arena = Bump::new();
    if let Ok(parsed) = parse(&arena, command.as_bytes(), &Options::default()) {
        Walk { source: command.as_bytes(), all }.script(&parsed.script);
    }
}

/// Whether the text is one static word.
pub(crate) fn is_static_word(text: &[u8]) -> bool {
    let arena = Bump::new();
    // On a line of its own: a backslash at the very end would join the next one to it.
    let command = [b"p ", text, b"\n:"].concat();
    let Ok(parsed) = parse(&arena, &command, &Options::default()) else { return false };
    let [item, _] = parsed.script.items else { return false };
    let ([stage], false) = (item.list.first.stages, item.background) else { return false };
    match stage.command.kind {
        CommandKind::Simple(simple) => {
            match (simple.assignments.all(), simple.words, stage.command.redirects.all()) {
                ([], [_, word], []) => word.span().end as usize == text.len() + 2 && is_static(&word.parts()),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether the parts' value depends on nothing but the text, the home and the working directory.
fn is_static(parts: &[WordPart<'_>]) -> bool {
    parts.iter().all(|part| match part.kind {
        PartKind::Literal(_) | PartKind::Quoted(_) | PartKind::SingleQuoted(_) | PartKind::AnsiC(_) => true,
        PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => is_static(parts),
        PartKind::Brace(Brace::List(words)) => words.iter().all(|word| is_static(&word.parts())),
        PartKind::Brace(Brace::Range(_)) => true,
        PartKind::Tilde(login) => matches!(login, b"" | b"+"),
        // Numbers and operators: no name, whose value would be evaluated, and nothing assigned.
        PartKind::Arithmetic(expression) => expression.parts.iter().all(|part| match part.kind {
            PartKind::Quoted(text) => text.iter().all(|byte| b"0123456789+-*/%()<>&|^~?: ".contains(byte)),
            _ => false,
        }),
        _ => false,
    })
}

struct Walk<'w> {
    source: &'w [u8],
    all: &'w mut BTreeSet<Vec<u8>>,
}

impl Walk<'_> {
    fn script(&mut self, script: &Script<'_>) {
        for item in script.items {
            for pipeline in
                std::iter::once(&item.list.first).chain(item.list.rest.iter().map(|(_, next)| next))
            {
                pipeline.stages.iter().for_each(|stage| self.command(stage.command));
            }
        }
    }

    fn command(&mut self, command: &Command<'_>) {
        command.redirects.iter().for_each(|redirect| self.redirect(redirect));
        match command.kind {
            CommandKind::Simple(simple) => {
                simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
                simple.words.iter().for_each(|word| self.word(word));
            }
            CommandKind::BraceGroup(script) | CommandKind::Subshell(script) => self.script(&script),
            CommandKind::If(inner) => {
                for (condition, body) in inner.arms {
                    self.script(condition);
                    self.script(body);
                }
                inner.otherwise.iter().for_each(|body| self.script(body));
            }
            CommandKind::While(inner) | CommandKind::Until(inner) => {
                self.script(&inner.condition);
                self.script(&inner.body);
            }
            CommandKind::For(inner) | CommandKind::Select(inner) => {
                inner.words.unwrap_or_default().iter().for_each(|word| self.word(word));
                self.script(&inner.body);
            }
            CommandKind::ArithmeticFor(inner) => self.script(&inner.body),
            CommandKind::Case(inner) => {
                self.word(&inner.word);
                for arm in inner.arms {
                    arm.patterns.iter().for_each(|pattern| self.word(pattern));
                    self.script(&arm.body);
                }
            }
            CommandKind::Function(inner) => self.command(inner.body),
            CommandKind::Coprocess(inner) => self.command(inner.body),
            CommandKind::Conditional(_) | CommandKind::Arithmetic(_) => {}
        }
    }

    fn redirect(&mut self, redirect: &Redirect<'_>) {
        if let RedirectTarget::Word(word) = redirect.target {
            self.word(&word);
        }
    }

    fn assignment(&mut self, assignment: &Assignment<'_>) {
        match assignment.value {
            AssignmentValue::Scalar(word) => self.word(&word),
            AssignmentValue::Array(elements) => {
                elements.iter().for_each(|element| self.word(&element.value()));
            }
        }
    }

    fn word(&mut self, word: &Word<'_>) {
        let text = self.source.get(word.span().start as usize..word.span().end as usize).unwrap_or_default();
        // In backquotes and here-documents the text has escapes of its own; then it is another word, or none.
        if !text.is_empty() && is_static_word(text) {
            self.all.insert(text.to_vec());
        }
        self.parts(&word.parts());
    }

    fn parts(&mut self, parts: &[WordPart<'_>]) {
        for part in parts {
            match part.kind {
                PartKind::DoubleQuoted(inner) | PartKind::Locale(inner) => self.parts(inner),
                PartKind::CommandSubstitution(inner) => self.script(&inner.script),
                PartKind::ProcessSubstitution(inner) => self.script(&inner.script),
                PartKind::ArrayAssignment(inner) => self.assignment(inner),
                _ => {}
            }
        }
    }
}

/// Static words made at random: texts, quotations, escapes, braces, tildes and numbers side by side.
pub(crate) struct Generator(pub(crate) Random);

impl Generator {
    /// A text that need not be a static word.
    pub(crate) fn word(&mut self) -> String {
        let mut word = self.0.pick(&["", "", "", "~", "~/", "~+", "x=~", "a=b:~/"]).to_owned();
        for _ in 0..=self.0.below(5) {
            word += &self.piece(2);
        }
        word
    }

    fn text(&mut self, pieces: &[&str]) -> String {
        (0..=self.0.below(4)).map(|_| self.0.pick(pieces)).collect()
    }

    fn piece(&mut self, depth: usize) -> String {
        match self.0.below(if depth > 0 { 12 } else { 9 }) {
            0 | 1 => self.text(PLAIN),
            2 => format!("'{}'", self.text(&[PLAIN, SPECIAL, &["\"", "\\", "\n"]].concat())),
            3 | 4 => format!(
                "\"{}\"",
                self.text(
                    &[PLAIN, SPECIAL, &["\\\"", "\\$", "\\`", "\\\\", "\\a", "'", "\\\n", "$", "\n"]]
                        .concat()
                )
            ),
            5 => format!(
                "\\{}",
                self.0.pick(&[PLAIN, SPECIAL, &["'", "\"", "\\", "$", "`", "\n", "*", "?", "["]].concat())
            ),
            6 => format!("$'{}'", self.text(&[PLAIN, SPECIAL, ESCAPES].concat())),
            7 => format!("$\"{}\"", self.text(PLAIN)),
            8 => self
                .0
                .pick(&["\\\n", "''", "\"\"", "$", "{}", "{", "}", ",", "..", "{a}", "$''", "a\\\nb"])
                .to_owned(),
            9 => {
                let words: Vec<String> = (0..2 + self.0.below(2)).map(|_| self.alternative(depth)).collect();
                format!("{{{}}}", words.join(","))
            }
            10 => {
                let ends = ["1", "3", "-2", "007", "10", "a", "e", "Z", "+4", "0", "-01", "x", "12a"];
                let step = ["", "", "..2", "..-1", "..0", "..x"];
                format!("{{{}..{}{}}}", self.0.pick(&ends), self.0.pick(&ends), self.0.pick(&step))
            }
            _ => {
                let number = ["1", "2", "10", "0", "07", "-3", "(1+2)", "3*4"];
                let operator = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", " < ", " ? 1 : ", "**"];
                format!("$(({}{}{}))", self.0.pick(&number), self.0.pick(&operator), self.0.pick(&number))
            }
        }
    }

    fn alternative(&mut self, depth: usize) -> String {
        (0..self.0.below(3)).map(|_| self.piece(depth - 1)).collect()
    }
}

const PLAIN: &[&str] = &[
    "a", "b", "Z", "0", "7", "-", "_", "/", ".", ":", "=", "+", "@", "%", "^", "ä", "日", "😀", "\u{a0}",
    "--x", "a=b", "~", "!", "#", "]", "e\u{301}", "\u{202e}", "\r",
];

/// Special outside quotes.
const SPECIAL: &[&str] = &[
    " ", "\t", "*", "?", "[", "{", "}", ",", "(", ")", "<", ">", "|", "&", ";", "~", "#", "!", "{a,b}", "..",
    "  ",
];

/// In `$'…'`.
const ESCAPES: &[&str] = &[
    "\\n",
    "\\t",
    "\\\\",
    "\\'",
    "\\\"",
    "\\a",
    "\\b",
    "\\e",
    "\\E",
    "\\f",
    "\\r",
    "\\v",
    "\\?",
    "\\x41",
    "\\x7",
    "\\x{62}",
    "\\101",
    "\\7",
    "\\1234",
    "\\u00e9",
    "\\u20AC",
    "\\U0001F600",
    "\\u41",
    "\\cA",
    "\\c?",
    "\\q",
    "\\x",
    "\\u",
    "\\0",
    "\\xzz",
    "\\400",
    "\"",
    "$",
    "`",
    "\\$",
];
