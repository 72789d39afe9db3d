//! `[[ … ]]`, which bash parses with a grammar of its own.

use super::word::Mode;
use super::{Parser, Result};
use crate::chars::Keyword;
use crate::cursor::END;
use crate::{CommandKind, Conditional, ErrorCode, Span, Test, Word};

impl<'a> Parser<'a> {
    /// After `[[`.
    pub(super) fn conditional_command(&mut self, opener: Span) -> Result<CommandKind<'a>> {
        let expression = self.test_or(opener)?;
        self.newlines()?;
        if !self.eat_test_end()? {
            return if self.cursor.at_end() {
                self.unterminated(ErrorCode::UnterminatedCommand, opener, "`]]`")
            } else {
                self.fail(ErrorCode::BadConditional, "`&&`, `||` or `]]`")
            };
        }
        Ok(CommandKind::Conditional(self.arena.alloc(Conditional { expression })))
    }

    fn test_or(&mut self, opener: Span) -> Result<&'a Test<'a>> {
        self.enter()?;
        let left = self.test_and(opener)?;
        let test = if self.eat_doubled(b'|')? {
            let right = self.test_or(opener)?;
            self.arena.alloc(Test::Or(left, right))
        } else {
            left
        };
        self.leave();
        Ok(test)
    }

    fn test_and(&mut self, opener: Span) -> Result<&'a Test<'a>> {
        self.enter()?;
        let left = self.test_term(opener)?;
        let test = if self.eat_doubled(b'&')? {
            let right = self.test_and(opener)?;
            self.arena.alloc(Test::And(left, right))
        } else {
            left
        };
        self.leave();
        Ok(test)
    }

    /// Steps over `&&` or `||` and the newlines around it.
    fn eat_doubled(&mut self, byte: u8) -> Result<bool> {
        self.newlines()?;
        let found = self.cursor.peek() == byte && self.cursor.peek_second() == byte;
        if found {
            self.skip_two();
        }
        Ok(found)
    }

    fn test_term(&mut self, opener: Span) -> Result<&'a Test<'a>> {
        self.newlines()?;
        match self.cursor.peek() {
            END => return self.unterminated(ErrorCode::UnterminatedCommand, opener, "an expression"),
            b'(' => {
                let start = self.cursor.position();
                self.cursor.advance(1);
                let group = self.cursor.span_from(start);
                let inner = self.test_or(group)?;
                self.newlines()?;
                if !self.cursor.eat(b')') {
                    return self.unterminated(ErrorCode::BadConditional, group, "`)`");
                }
                return Ok(self.arena.alloc(Test::Group(inner)));
            }
            _ => {}
        }
        self.cursor.peek();
        if self.cursor.bare() == b"!" {
            self.cursor.advance(1);
            self.enter()?;
            let inner = self.test_term(opener)?;
            self.leave();
            return Ok(self.arena.alloc(Test::Not(inner)));
        }
        if let Some(operator) = self.unary_operator() {
            self.blanks();
            let operand = self.test_operand(Mode::SINGLE)?;
            return Ok(self.arena.alloc(Test::Unary(operator, operand)));
        }
        let left = self.test_operand(Mode::SINGLE)?;
        self.newlines()?;
        let Some(operator) = self.binary_operator() else {
            return Ok(self.arena.alloc(Test::Word(left)));
        };
        self.blanks();
        let mode = match operator {
            b"=" | b"==" | b"!=" => Mode::PATTERN,
            b"=~" => Mode::REGEX,
            _ => Mode::SINGLE,
        };
        let right = self.test_operand(mode)?;
        Ok(self.arena.alloc(Test::Binary(operator, left, right)))
    }

    /// A word that is not `]]`.
    fn test_operand(&mut self, mode: Mode) -> Result<Word<'a>> {
        let regex_start = mode.is_regex() && matches!(self.cursor.peek(), b'(' | b'|');
        if !(self.at_word() || regex_start) || self.at_test_end()? {
            return self.fail(ErrorCode::BadConditional, "a word");
        }
        let start = self.cursor.position();
        let word = self.word(mode)?;
        let text = self.cursor.slice(start, self.cursor.position());
        let descriptor =
            text.iter().all(u8::is_ascii_digit) || (text.starts_with(b"{") && text.ends_with(b"}"));
        if descriptor && matches!(self.cursor.peek(), b'<' | b'>') {
            return self.fail_from(start, ErrorCode::GluedDescriptor, "");
        }
        Ok(word)
    }

    fn at_test_end(&mut self) -> Result<bool> {
        Ok(matches!(self.keyword()?, Some((Keyword::CloseTest, _))))
    }

    fn eat_test_end(&mut self) -> Result<bool> {
        self.eat_keyword(Keyword::CloseTest)
    }

    /// Steps over a unary operator.
    fn unary_operator(&mut self) -> Option<&'a [u8]> {
        self.cursor.peek();
        let text = self.cursor.bare();
        let [b'-', letter] = text else { return None };
        b"abcdefghknoprstuvwxzGLNORS".contains(letter).then(|| {
            self.cursor.advance(2);
            text
        })
    }

    /// Steps over a binary operator.
    fn binary_operator(&mut self) -> Option<&'a [u8]> {
        let text = match self.cursor.peek() {
            b'<' | b'>' if self.cursor.peek_second() != b'(' => {
                let start = self.cursor.position();
                self.cursor.slice(start, start + 1)
            }
            _ => self.cursor.bare(),
        };
        let known = matches!(
            text,
            b"<" | b">"
                | b"="
                | b"=="
                | b"!="
                | b"=~"
                | b"-eq"
                | b"-ne"
                | b"-lt"
                | b"-le"
                | b"-gt"
                | b"-ge"
                | b"-nt"
                | b"-ot"
                | b"-ef"
        );
        known.then(|| {
            self.cursor.advance(text.len());
            text
        })
    }
}
