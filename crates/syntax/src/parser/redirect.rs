//! Redirections (POSIX 2.7, and bash's `&>`, `<<<`, `{name}>`).

use super::word::Mode;
use super::{Parser, Result};
use crate::chars::{is_metacharacter, is_name};
use crate::cursor::END;
use crate::{Descriptor, ErrorCode, PartKind, Redirect, RedirectOperator, RedirectTarget, Word, WordPart};

impl<'a> Parser<'a> {
    /// The redirection at the cursor, if there is one.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect<'a>>> {
        let start = self.cursor.position();
        match self.cursor.peek() {
            b'<' | b'>' if self.cursor.peek_second() != b'(' => {
                self.operator(Descriptor::Default, start).map(Some)
            }
            b'&' if self.cursor.peek_second() == b'>' => {
                self.skip_two();
                let append = self.cursor.eat(b'>');
                self.require_bash(start, "> file 2>&1")?;
                let operator =
                    if append { RedirectOperator::AppendBoth } else { RedirectOperator::OutputBoth };
                self.finish(Descriptor::Default, operator, start).map(Some)
            }
            b'0'..=b'9' => match self.numbered_descriptor(start)? {
                Some(descriptor) => self.operator(descriptor, start).map(Some),
                None => Ok(None),
            },
            b'{' => match self.named_descriptor(start)? {
                Some(descriptor) => self.operator(descriptor, start).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Steps over digits if a redirection operator follows.
    fn numbered_descriptor(&mut self, start: usize) -> Result<Option<Descriptor<'a>>> {
        let before = self.cursor;
        let mut number: u32 = 0;
        let mut digits = 0_usize;
        while let byte @ b'0'..=b'9' = self.cursor.peek() {
            number = number.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
            digits += 1;
            self.cursor.advance(1);
        }
        if !matches!(self.cursor.peek(), b'<' | b'>') {
            self.cursor = before;
            return Ok(None);
        }
        if self.cursor.peek_second() == b'(' {
            return self.fail_from(start, ErrorCode::GluedDescriptor, "a descriptor and a word");
        }
        if i32::try_from(number).is_err() {
            return self.fail_from(start, ErrorCode::DescriptorTooLarge, "");
        }
        if self.posix && digits > 1 {
            return self.fail_from(start, ErrorCode::NotPosix, "a descriptor of one digit");
        }
        Ok(Some(Descriptor::Number(number)))
    }

    /// Steps over `{name}` if a redirection operator follows.
    fn named_descriptor(&mut self, start: usize) -> Result<Option<Descriptor<'a>>> {
        let mut after = self.cursor;
        after.advance(1);
        let inside = after.position();
        // Lines may be continued within the name, too.
        loop {
            match after.peek() {
                END | b'}' | b'{' | b'\'' | b'"' | b'$' | b'`' => break,
                byte if is_metacharacter(byte) => break,
                _ => after.advance(1),
            }
        }
        let text = self.cursor.slice(inside, after.position());
        if !after.eat(b'}') || !matches!(after.peek(), b'<' | b'>') {
            return Ok(None);
        }
        if text.contains(&b'\\') {
            return self.fail_word(after.position(), ErrorCode::GluedDescriptor, "");
        }
        let name_length = text.iter().position(|byte| *byte == b'[').unwrap_or(text.len());
        if !text.get(..name_length).is_some_and(is_name) {
            return Ok(None);
        }
        if name_length < text.len() {
            return self.fail_word(after.position(), ErrorCode::DescriptorElement, "");
        }
        if after.peek_second() == b'(' {
            return self.fail_word(after.position(), ErrorCode::GluedDescriptor, "");
        }
        self.cursor = after;
        self.require_bash(start, "a descriptor number")?;
        Ok(Some(Descriptor::Variable(text)))
    }

    /// Refuses a word like `{a[$i]}` before a redirection: its quotes and expansions kept it from being read as a descriptor.
    pub(super) fn descriptor_element(&mut self, start: usize) -> Result<()> {
        let word = self.cursor.slice(start, self.cursor.position());
        let Some(element) = word.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"]}")) else {
            return Ok(());
        };
        match element.iter().position(|byte| *byte == b'[') {
            Some(end) if element.get(..end).is_some_and(is_name) => {
                self.fail_from(start, ErrorCode::DescriptorElement, "")
            }
            _ => Ok(()),
        }
    }

    /// The operator and its target, behind the descriptor.
    fn operator(&mut self, descriptor: Descriptor<'a>, start: usize) -> Result<Redirect<'a>> {
        let first = self.cursor.peek();
        self.cursor.advance(1);
        let second = self.cursor.peek();
        let operator = match (first, second) {
            (b'<', b'<') => {
                self.cursor.advance(1);
                match self.cursor.peek() {
                    b'<' => {
                        self.cursor.advance(1);
                        self.require_bash(start, "a here-document, or printf … |")?;
                        return self.finish(descriptor, RedirectOperator::HereString, start);
                    }
                    b'-' => {
                        self.cursor.advance(1);
                        return self.here_document(descriptor, true, start);
                    }
                    _ => return self.here_document(descriptor, false, start),
                }
            }
            (b'<', b'&') => RedirectOperator::DuplicateInput,
            (b'<', b'>') => RedirectOperator::ReadWrite,
            (b'>', b'>') => RedirectOperator::Append,
            (b'>', b'&') => RedirectOperator::DuplicateOutput,
            (b'>', b'|') => RedirectOperator::Clobber,
            (b'<', _) => return self.finish(descriptor, RedirectOperator::Input, start),
            _ => return self.finish(descriptor, RedirectOperator::Output, start),
        };
        self.cursor.advance(1);
        self.finish(descriptor, operator, start)
    }

    /// The target word.
    fn finish(
        &mut self,
        descriptor: Descriptor<'a>,
        operator: RedirectOperator,
        start: usize,
    ) -> Result<Redirect<'a>> {
        self.blanks();
        let duplicates =
            matches!(operator, RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput);
        let word = if duplicates && self.cursor.peek() == b'-' {
            self.closing_target()?
        } else if self.at_word() {
            self.target(operator, duplicates)?
        } else {
            return self.fail(ErrorCode::MissingTarget, "a word");
        };
        let span = self.cursor.span_from(start);
        Ok(Redirect { descriptor, operator, target: RedirectTarget::Word(word), span })
    }

    /// `-` after `>&` or `<&`, which bash takes as a token of its own.
    fn closing_target(&mut self) -> Result<Word<'a>> {
        let start = self.cursor.position();
        let text = self.cursor.slice(start, start + 1);
        self.cursor.advance(1);
        let next = self.cursor.peek();
        if next != END && !is_metacharacter(next) {
            return self.fail(ErrorCode::GluedClose, "");
        }
        let span = self.cursor.span_from(start);
        let parts = self.arena.alloc_slice_copy(&[WordPart { kind: PartKind::Literal(text), span }]);
        Ok(Word::new(self.arena, parts, span))
    }

    fn target(&mut self, operator: RedirectOperator, duplicates: bool) -> Result<Word<'a>> {
        let start = self.cursor.position();
        let mode = if operator == RedirectOperator::HereString { Mode::VALUE } else { Mode::ARGUMENT };
        let word = self.word(mode)?;
        let text = self.cursor.slice(start, self.cursor.position());
        if matches!(self.cursor.peek(), b'<' | b'>')
            && reads_as_descriptor(text)
            && (self.posix || !duplicates)
        {
            return self.fail_from(start, ErrorCode::GluedDescriptor, "");
        }
        if duplicates {
            let digits = text.strip_suffix(b"-").unwrap_or(text);
            if digits.len() > 9 && digits.iter().all(u8::is_ascii_digit) {
                return self.fail_from(start, ErrorCode::DescriptorTooLarge, "");
            }
            if word.parts().iter().any(expands_again) {
                return self.fail_from(start, ErrorCode::TargetExpandedTwice, "");
            }
            let literal = word.parts().iter().all(|part| !is_expansion(part));
            if self.posix && literal && !digits.iter().all(u8::is_ascii_digit) {
                return self.fail_from(start, ErrorCode::NotPosix, "> file 2>&1");
            }
        }
        Ok(word)
    }
}

/// Whether bash's lexer would take the text before `<` or `>` for a descriptor.
pub(super) fn reads_as_descriptor(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit) || (text.starts_with(b"{") && text.ends_with(b"}"))
}

/// Whether quoted text would mean something when it is expanded a second time.
fn expands_again(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Quoted(text) | PartKind::SingleQuoted(text) | PartKind::AnsiC(text) => {
            text.iter().any(|byte| b"$`\\\"'*?[{~ \t\n<>".contains(byte))
        }
        PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => parts.iter().any(expands_again),
        _ => false,
    }
}

/// Whether the part's value is not known from the text.
fn is_expansion(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Parameter(_)
        | PartKind::CommandSubstitution(_)
        | PartKind::ProcessSubstitution(_)
        | PartKind::Arithmetic(_) => true,
        PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => parts.iter().any(is_expansion),
        _ => false,
    }
}
