//! Assignments: `name=word`, `name+=word`, `name[subscript]=word`, `name=(…)`.

use super::word::Mode;
use super::{Parser, Result};
use crate::chars::{META, class, is_metacharacter, is_name_start};
use crate::cursor::END;
use crate::{
    Arithmetic, ArrayElement, Assignment, AssignmentValue, ErrorCode, NoteKind, PartKind, Word, WordPart,
};

/// What stands before an assignment's value.
struct Left<'a> {
    name: &'a [u8],
    subscript: Option<Arithmetic<'a>>,
    append: bool,
}

impl<'a> Parser<'a> {
    /// The assignment at the cursor, if there is one. `settled`: a redirection stands between this and an earlier
    /// assignment, so bash reads an ordinary word here and looks only afterwards whether it is an assignment.
    pub(super) fn assignment(&mut self, settled: bool) -> Result<Option<Assignment<'a>>> {
        let start = self.cursor.position();
        let Some(left) = self.assignment_left(settled)? else { return Ok(None) };
        if settled && self.cursor.peek() == b'(' {
            return self.fail(ErrorCode::UnexpectedToken, "the array before the redirection");
        }
        let value = self.assignment_value(start)?;
        let Left { name, subscript, append } = left;
        Ok(Some(Assignment { name, subscript, append, value, span: self.cursor.span_from(start) }))
    }

    /// An argument of a declaration builtin: `name=(…)` is one word.
    pub(super) fn declaration_argument(&mut self) -> Result<Word<'a>> {
        let start = self.cursor.position();
        if let Some((name, append)) = self.array_argument_name() {
            let array = self.cursor.position();
            let value = self.array_literal(array)?;
            let span = self.cursor.span_from(start);
            let assignment = Assignment { name, subscript: None, append, value, span };
            let kind = PartKind::ArrayAssignment(self.arena.alloc(assignment));
            let parts = self.arena.alloc_slice_copy(&[WordPart { kind, span }]);
            return Ok(Word::new(self.arena, parts, span));
        }
        self.word(Mode::ARGUMENT)
    }

    /// Steps over `name=` or `name+=` if a parenthesis follows.
    fn array_argument_name(&mut self) -> Option<(&'a [u8], bool)> {
        let before = self.cursor;
        if !is_name_start(self.cursor.peek()) {
            return None;
        }
        let name = self.name();
        let append = self.cursor.eat(b'+');
        if self.cursor.eat(b'=') && self.cursor.peek() == b'(' {
            return Some((name, append));
        }
        self.cursor = before;
        None
    }

    /// `name=`, `name+=`, `name[subscript]=`; steps over nothing if there is none.
    fn assignment_left(&mut self, settled: bool) -> Result<Option<Left<'a>>> {
        let before = self.cursor;
        if !is_name_start(self.cursor.peek()) {
            return Ok(None);
        }
        let name = self.name();
        let mut subscript = None;
        if self.cursor.peek() == b'[' {
            let open = self.cursor.position();
            subscript = Some(self.subscript()?);
            let text = self.cursor.slice(open, self.cursor.position());
            let assigns = matches!((self.cursor.peek(), self.cursor.peek_second()), (b'=', _) | (b'+', b'='));
            // Otherwise bash may have read the brackets as one piece, or not.
            if (settled || !assigns) && text.iter().any(|byte| class(*byte) & META != 0) {
                return self.fail_from(open, ErrorCode::BadSubscript, "");
            }
            if !assigns {
                self.spend(text.len())?;
                self.cursor = before;
                return Ok(None);
            }
        }
        let append = self.cursor.peek() == b'+' && self.cursor.peek_second() == b'=';
        if append {
            self.cursor.advance(1);
        }
        if !self.cursor.eat(b'=') {
            self.cursor = before;
            return Ok(None);
        }
        if append || subscript.is_some() {
            self.require_bash(before.position(), "name=value")?;
        }
        Ok(Some(Left { name, subscript, append }))
    }

    /// The right-hand side.
    fn assignment_value(&mut self, start: usize) -> Result<AssignmentValue<'a>> {
        if self.cursor.peek() == b'(' {
            let array = self.cursor.position();
            self.require_bash(start, "several variables, or set -- words")?;
            return self.array_literal(array);
        }
        self.scalar_value(Mode::VALUE).map(AssignmentValue::Scalar)
    }

    /// A word, or nothing.
    fn scalar_value(&mut self, mode: Mode) -> Result<Word<'a>> {
        if self.at_word() {
            self.word(mode)
        } else {
            let here = self.cursor.position();
            Ok(Word::new(self.arena, &[], self.cursor.span(here, here)))
        }
    }

    /// `(…)` after `=`.
    fn array_literal(&mut self, start: usize) -> Result<AssignmentValue<'a>> {
        self.note(NoteKind::PosixDiffers, start);
        self.cursor.advance(1);
        let opener = self.cursor.span_from(start);
        self.enter()?;
        let mark = self.stacks.elements.len();
        loop {
            self.newlines()?;
            match self.cursor.peek() {
                END => return self.unterminated(ErrorCode::UnterminatedArray, opener, "`)`"),
                b')' => break,
                b'[' => {
                    let element = self.subscripted_element()?;
                    self.stacks.elements.push(element);
                }
                _ if self.at_word() => {
                    let value = self.word(Mode::ELEMENT)?;
                    self.stacks.elements.push(ArrayElement::plain(value));
                }
                _ => return self.fail(ErrorCode::UnexpectedToken, "a word or `)`"),
            }
        }
        self.cursor.advance(1);
        self.leave();
        let text = self.cursor.slice(start, self.cursor.position());
        if self.in_substitution {
            self.spend(text.len())?;
            if text.contains(&b'\\') {
                return self.fail_from(start, ErrorCode::BackslashInArray, "");
            }
        }
        let next = self.cursor.peek();
        if next != END && !is_metacharacter(next) {
            return self.fail(ErrorCode::TextAfterArray, "");
        }
        Ok(AssignmentValue::Array(self.stacks.elements.take(self.arena, mark)))
    }

    /// An element that begins with `[`: `[subscript]=word`, or a pattern.
    fn subscripted_element(&mut self) -> Result<ArrayElement<'a>> {
        let before = self.cursor;
        let open = self.cursor.position();
        let subscript = self.subscript()?;
        let append = self.cursor.peek() == b'+' && self.cursor.peek_second() == b'=';
        if append {
            self.cursor.advance(1);
        }
        if self.cursor.eat(b'=') {
            // bash expands braces here before it looks for the subscript, and then no longer finds it.
            let value = self.scalar_value(Mode::VALUE_WITH_BRACES)?;
            if value.parts().iter().any(|part| matches!(part.kind, PartKind::Brace(_))) {
                return self.fail_from(open, ErrorCode::AmbiguousBrace, "");
            }
            return Ok(ArrayElement::keyed(self.arena, subscript, append, value));
        }
        let text = self.cursor.slice(open, self.cursor.position());
        if text.iter().any(|byte| class(*byte) & META != 0) {
            return self.fail_from(open, ErrorCode::BadSubscript, "`=` after the subscript");
        }
        self.spend(text.len())?;
        self.cursor = before;
        let value = self.word(Mode::ELEMENT)?;
        Ok(ArrayElement::plain(value))
    }
}
