//! Whether the last word of a command is made of the word before it, so that each value gives another one (`mv "$f" "${f%.js}.ts"`): what
//! is moved by such names lies beside what it was.

use super::Interpreter;
use super::words::Got;
use crate::value::{Piece, Value};
use shward_syntax::{ParameterName, ParameterOperation, PartKind, Span, Word, WordPart};

impl<'a> Interpreter<'a, '_> {
    /// Notes whether it is so of the words of a command.
    pub(super) fn note_renaming(&mut self, words: &[Word<'_>]) {
        self.moving.renaming = None;
        let [_, .., from, to] = words else { return };
        let [WordPart { kind: PartKind::DoubleQuoted([only]), .. }] = *from.parts() else { return };
        let Some((name, ParameterOperation::None)) = variable(only) else { return };
        let mut found = None;
        let (mut alike, mut text) = (true, Vec::new());
        each_part(&to.parts(), &mut |part| match part.kind {
            PartKind::Literal(literal) | PartKind::Quoted(literal) | PartKind::SingleQuoted(literal) => {
                text.extend_from_slice(literal);
            }
            _ => match (variable(part), found) {
                (Some((other, operation)), None) if other == name => found = Some(operation),
                _ => alike = false,
            },
        });
        // What goes up may come to the same place by several names.
        let up = text.windows(2).any(|two| two == b"..");
        let Some(operation) = found.filter(|_| alike && !text.is_empty() && !up) else { return };
        let name = self.lasting(name);
        let Got::One(value, _) = self.lookup(name, from.span()) else { return };
        if leaves_the_rest(&operation, &value, self.moving.lists) {
            self.moving.renaming = Some((self.span(from.span()), self.span(to.span())));
        }
    }

    /// Whether this word of the command that is being run is made of that one.
    pub(super) fn is_renaming(&self, from: Span, to: Span) -> bool {
        self.moving.renaming == Some((from, to))
    }
}

/// Each part of a word, those between double quotes too.
fn each_part<'t>(parts: &[WordPart<'t>], inner: &mut dyn FnMut(&WordPart<'t>)) {
    for part in parts {
        match part.kind {
            PartKind::DoubleQuoted(parts) => parts.iter().for_each(&mut *inner),
            _ => inner(part),
        }
    }
}

/// The variable that a part expands, and what is done to its value.
fn variable<'t>(part: &WordPart<'t>) -> Option<(&'t [u8], ParameterOperation<'t>)> {
    let PartKind::Parameter(parameter) = part.kind else { return None };
    let ParameterName::Variable(name) = parameter.name else { return None };
    (!parameter.indirect() && parameter.subscript().is_none()).then(|| (name, parameter.operation()))
}

/// Whether an operation takes nothing from a value but an end that each of its values surely has. Of names from several lists the
/// ends differ.
fn leaves_the_rest(operation: &ParameterOperation<'_>, value: &Value<'_>, several: bool) -> bool {
    let pattern = match operation {
        ParameterOperation::None => return true,
        ParameterOperation::RemoveSuffix { longest: false, pattern } => pattern,
        _ => return false,
    };
    let Some((Piece::Text(end), _)) = value.split_last() else { return false };
    match *pattern.parts() {
        [WordPart { kind: PartKind::Literal(text), .. }] => end.ends_with(text),
        // The shortest of them begins at the last dot.
        [WordPart { kind: PartKind::Literal(b"."), .. }, WordPart { kind: PartKind::Glob(b'*'), .. }] => {
            !several && end.contains(&b'.')
        }
        _ => false,
    }
}
