//! Arithmetic expressions: their text and the expansions in it, not their grammar (POSIX 2.6.4).
//!
//! bash finds the end of `((…))` and `$((…))` by counting parentheses, and when what it finds does not look like
//! arithmetic it reads the text again as commands. Only text for which every count agrees is accepted.

use super::expansion::Context;
use super::quote::escapes;
use super::{Parser, Result};
use crate::cursor::END;
use crate::{Arithmetic, ErrorCode, PartKind, Span, WordPart};

/// Where an expression ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// At the parenthesis that closes the expression.
    Parenthesis,
    /// There, or at a semicolon.
    Semicolon,
    /// At the bracket that closes the expression.
    Bracket,
    /// Likewise, inside `${…}`.
    BracketInBraces,
    /// At a colon or brace, in `${x:offset:length}`.
    ColonOrBrace,
}

impl<'a> Parser<'a> {
    /// `((…))`, after the opening parentheses.
    pub(super) fn arithmetic_command(&mut self, start: usize) -> Result<Arithmetic<'a>> {
        let documents = self.documents;
        let expression = self.expression(Until::Parenthesis, start)?;
        if self.cursor.raw(1) != b')' || documents != self.documents {
            return self.fail_from(start, ErrorCode::AmbiguousArithmetic, "");
        }
        self.cursor.advance(2);
        Ok(expression)
    }

    /// The three expressions of `for ((`, after the opening parentheses, and the closing ones.
    pub(super) fn arithmetic_for_header(&mut self, start: usize) -> Result<[Arithmetic<'a>; 3]> {
        let documents = self.documents;
        let init = self.expression(Until::Semicolon, start)?;
        let mut others = [init; 2];
        for expression in &mut others {
            if self.cursor.peek() == b')' && self.cursor.raw(1) != b')' {
                return self.fail_from(start, ErrorCode::AmbiguousArithmetic, "");
            }
            if !self.cursor.eat(b';') {
                return self.fail_from(start, ErrorCode::BadArithmeticFor, "");
            }
            *expression = self.expression(Until::Semicolon, start)?;
        }
        if self.cursor.peek() != b')' {
            return self.fail_from(start, ErrorCode::BadArithmeticFor, "");
        }
        if self.cursor.raw(1) != b')' || documents != self.documents {
            return self.fail_from(start, ErrorCode::AmbiguousArithmetic, "");
        }
        self.cursor.advance(2);
        let [test, step] = others;
        Ok([init, test, step])
    }

    /// `$((…))`, after the opening parentheses.
    pub(super) fn arithmetic_expansion(&mut self, start: usize) -> Result<()> {
        self.enter()?;
        let (documents, cases) = (self.documents, self.cases);
        let from = self.cursor.position();
        let expression = self.expression(Until::Parenthesis, start)?;
        let text = self.cursor.slice(from, self.cursor.position());
        self.spend(text.len())?;
        let plain = self.cursor.raw(1) == b')'
            && documents == self.documents
            && cases == self.cases
            && parentheses_balance(text);
        if !plain {
            return self.fail_from(start, ErrorCode::AmbiguousArithmetic, "");
        }
        self.cursor.advance(2);
        self.leave();
        self.push(PartKind::Arithmetic(self.arena.alloc(expression)), start);
        Ok(())
    }

    /// `$[…]`, after the opening bracket.
    pub(super) fn bracket_arithmetic(&mut self, start: usize) -> Result<()> {
        self.enter()?;
        let expression = Arithmetic { brackets: true, ..self.expression(Until::Bracket, start)? };
        self.cursor.advance(1);
        self.leave();
        self.push(PartKind::Arithmetic(self.arena.alloc(expression)), start);
        Ok(())
    }

    /// `[…]` after the name in an assignment, at the bracket.
    pub(super) fn subscript(&mut self) -> Result<Arithmetic<'a>> {
        self.bracketed(Until::Bracket)
    }

    /// `[…]` after the name in `${…}`, at the bracket.
    pub(super) fn subscript_in_braces(&mut self) -> Result<Arithmetic<'a>> {
        self.bracketed(Until::BracketInBraces)
    }

    fn bracketed(&mut self, until: Until) -> Result<Arithmetic<'a>> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        self.enter()?;
        let expression = self.expression(until, start)?;
        self.cursor.advance(1);
        self.leave();
        Ok(expression)
    }

    /// The offset or length of a substring.
    pub(super) fn substring_expression(&mut self, opener: Span) -> Result<Arithmetic<'a>> {
        let here = self.cursor.position();
        self.expression_opened_by(Until::ColonOrBrace, opener, here)
    }

    fn expression(&mut self, until: Until, start: usize) -> Result<Arithmetic<'a>> {
        let opener = self.cursor.span_from(start);
        let here = self.cursor.position();
        self.expression_opened_by(until, opener, here)
    }

    /// The text up to the end, which is not stepped over.
    fn expression_opened_by(&mut self, until: Until, opener: Span, start: usize) -> Result<Arithmetic<'a>> {
        let mark = self.stacks.parts.len();
        let brackets = matches!(until, Until::Bracket | Until::BracketInBraces);
        let mut depth = 0_u32;
        let mut questions = 0_u32;
        loop {
            let byte = self.cursor.peek();
            match byte {
                END => {
                    return self.unterminated(
                        ErrorCode::UnterminatedArithmetic,
                        opener,
                        "the closing bracket",
                    );
                }
                b'$' => {
                    if !self.dollar(Context::Arithmetic)? {
                        self.push_quoted(1);
                    }
                    continue;
                }
                b'`' => {
                    self.backquoted(Context::Arithmetic)?;
                    continue;
                }
                b'\'' => {
                    self.literal_single_quotes(Context::Arithmetic)?;
                    continue;
                }
                b'"' => {
                    self.dropped_double_quotes()?;
                    continue;
                }
                b'\\' => {
                    if escapes(self.cursor.raw(1), true) {
                        self.escaped();
                    } else {
                        self.push_quoted(if self.cursor.raw(1) == END { 1 } else { 2 });
                    }
                    continue;
                }
                b'(' if !brackets => depth += 1,
                b')' if !brackets => match (depth, until) {
                    (0, Until::ColonOrBrace) => {}
                    (0, _) => break,
                    _ => depth -= 1,
                },
                b'[' if brackets => depth += 1,
                b']' if brackets => match depth {
                    0 => break,
                    _ => depth -= 1,
                },
                b';' if until == Until::Semicolon => break,
                b'}' if until == Until::ColonOrBrace => break,
                b'{' | b'}' if until == Until::BracketInBraces => {
                    return self.fail(ErrorCode::BadSubscript, "");
                }
                b'?' if until == Until::ColonOrBrace && depth == 0 => questions += 1,
                b':' if until == Until::ColonOrBrace && depth == 0 => match questions {
                    0 => break,
                    _ => questions -= 1,
                },
                b'<' | b'>' if brackets && self.cursor.peek_second() == b'(' => {
                    return self.fail(ErrorCode::AmbiguousProcessSubstitution, "");
                }
                _ => {}
            }
            let rest = self.cursor.rest();
            let length = rest.iter().skip(1).take_while(|byte| !is_special(**byte)).count();
            self.push_further(mark, 1 + length);
        }
        let parts = self.stacks.parts.take(self.arena, mark);
        Ok(Arithmetic { parts, span: self.cursor.span_from(start), brackets: false })
    }

    /// The next `length` bytes are literal, and one part with the text right before them: each parenthesis ends a run.
    fn push_further(&mut self, mark: usize, length: usize) {
        let here = self.cursor.position();
        let span = self.cursor.span(here, here + length);
        if let Some(last) = self.stacks.parts.get(mark..).and_then(<[_]>::last)
            && let PartKind::Quoted(text) = last.kind
            && last.span.end == span.start
            && (last.span.end - last.span.start) as usize == text.len()
            && let Some(before) = here.checked_sub(text.len())
            && std::ptr::eq(self.cursor.slice(before, here), text)
        {
            let kind = PartKind::Quoted(self.cursor.slice(before, here + length));
            let joined = WordPart { kind, span: last.span.to(span) };
            self.stacks.parts.truncate(self.stacks.parts.len() - 1);
            self.stacks.parts.push(joined);
            self.cursor.advance(length);
        } else {
            self.push_quoted(length);
        }
    }

    /// Double quotes in an expression: the text in them counts, they do not.
    fn dropped_double_quotes(&mut self) -> Result<()> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let opener = self.cursor.span_from(start);
        self.enter()?;
        self.quoted_text(Context::DoubleQuoted, opener)?;
        self.leave();
        Ok(())
    }
}

/// Whether a byte may matter in an expression of some kind.
fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'$' | b'`'
            | b'\''
            | b'"'
            | b'\\'
            | b'('
            | b')'
            | b'['
            | b']'
            | b';'
            | b'{'
            | b'}'
            | b'?'
            | b':'
            | b'<'
            | b'>'
    )
}

/// bash's own test for `$((…))`: outside quotes, parentheses never close before they open and all close.
pub(crate) fn parentheses_balance(text: &[u8]) -> bool {
    let mut depth = 0_u32;
    let mut quote = 0;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match (quote, *byte) {
            (b'\'', b'\'') | (b'"', b'"') => quote = 0,
            (b'\'', _) => {}
            (_, b'\\') => {
                bytes.next();
            }
            (0, byte @ (b'\'' | b'"')) => quote = byte,
            (0, b'(') => depth += 1,
            (0, b')') => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    depth == 0 && quote == 0
}
