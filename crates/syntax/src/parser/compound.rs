//! Compound commands: groups, `if`, loops, `case` (POSIX 2.9.4, and bash's `select` and arithmetic `for`).

use super::word::Mode;
use super::{Parser, Place, Result};
use crate::chars::{Keyword, is_name};
use crate::cursor::END;
use crate::{
    ArithmeticFor, Case, CaseArm, CaseEnd, CommandKind, ErrorCode, For, If, Loop, Script, Span, Word,
};

impl<'a> Parser<'a> {
    pub(super) fn brace_group(&mut self, opener: Span) -> Result<CommandKind<'a>> {
        let script = self.nonempty_list(Place::Inner)?;
        self.expect_keyword(Keyword::CloseBrace, opener, "`}`")?;
        Ok(CommandKind::BraceGroup(script))
    }

    pub(super) fn if_command(&mut self, opener: Span) -> Result<CommandKind<'a>> {
        let mut arms = bumpalo::collections::Vec::with_capacity_in(1, self.arena);
        let mut otherwise = None;
        loop {
            let condition = self.nonempty_list(Place::Inner)?;
            self.expect_keyword(Keyword::Then, opener, "`then`")?;
            let body = self.nonempty_list(Place::Inner)?;
            arms.push((condition, body));
            if !self.eat_keyword(Keyword::Elif)? {
                break;
            }
        }
        if self.eat_keyword(Keyword::Else)? {
            otherwise = Some(self.nonempty_list(Place::Inner)?);
        }
        self.expect_keyword(Keyword::Fi, opener, "`fi`")?;
        let command = If { arms: arms.into_bump_slice(), otherwise };
        Ok(CommandKind::If(self.arena.alloc(command)))
    }

    pub(super) fn loop_command(&mut self, keyword: Keyword, opener: Span) -> Result<CommandKind<'a>> {
        let condition = self.nonempty_list(Place::Inner)?;
        self.expect_keyword(Keyword::Do, opener, "`do`")?;
        let body = self.nonempty_list(Place::Inner)?;
        self.expect_keyword(Keyword::Done, opener, "`done`")?;
        let command = &*self.arena.alloc(Loop { condition, body });
        Ok(if keyword == Keyword::While { CommandKind::While(command) } else { CommandKind::Until(command) })
    }

    pub(super) fn for_command(&mut self, keyword: Keyword, opener: Span) -> Result<CommandKind<'a>> {
        self.blanks();
        if keyword == Keyword::For && self.cursor.peek() == b'(' && self.cursor.peek_second() == b'(' {
            return self.arithmetic_for(opener);
        }
        let start = self.cursor.position();
        self.cursor.peek();
        let name = self.cursor.bare();
        self.cursor.advance(name.len());
        if !is_name(name) {
            return self.fail_from(start, ErrorCode::BadLoopName, "a name");
        }
        let name_span = self.cursor.span_from(start);
        let mut words = None;
        self.blanks();
        if self.cursor.peek() == b';' {
            self.cursor.advance(1);
            self.newlines()?;
        } else {
            self.newlines()?;
            if self.eat_keyword(Keyword::In)? {
                words = Some(self.for_words()?);
            }
        }
        let body = self.do_group(opener)?;
        let command = &*self.arena.alloc(For { name, name_span, words, body });
        Ok(if keyword == Keyword::For { CommandKind::For(command) } else { CommandKind::Select(command) })
    }

    /// The words after `in` and the separator behind them.
    fn for_words(&mut self) -> Result<&'a [Word<'a>]> {
        let mark = self.stacks.words.len();
        loop {
            self.blanks();
            match self.cursor.peek() {
                b';' => {
                    self.cursor.advance(1);
                    break;
                }
                b'\n' => break,
                END => return self.fail(ErrorCode::UnexpectedEnd, "`;` or a newline"),
                _ if self.at_word() => {
                    let word = self.word(Mode::ARGUMENT)?;
                    self.stacks.words.push(word);
                }
                _ => return self.fail(ErrorCode::UnexpectedToken, "a word, `;` or a newline"),
            }
        }
        let words = self.stacks.words.take(self.arena, mark);
        self.newlines()?;
        Ok(words)
    }

    /// `do … done`, or in bash `{ … }`.
    fn do_group(&mut self, opener: Span) -> Result<Script<'a>> {
        if self.eat_keyword(Keyword::Do)? {
            let body = self.nonempty_list(Place::Inner)?;
            self.expect_keyword(Keyword::Done, opener, "`done`")?;
            return Ok(body);
        }
        let start = self.cursor.position();
        if self.eat_keyword(Keyword::OpenBrace)? {
            self.require_bash(start, "do … done")?;
            let body = self.nonempty_list(Place::Inner)?;
            self.expect_keyword(Keyword::CloseBrace, opener, "`}`")?;
            return Ok(body);
        }
        if self.cursor.at_end() {
            return self.unterminated(ErrorCode::UnterminatedCommand, opener, "`do`");
        }
        self.fail(ErrorCode::UnexpectedToken, "`do`")
    }

    /// `for ((init; test; step))`, at the parentheses.
    fn arithmetic_for(&mut self, opener: Span) -> Result<CommandKind<'a>> {
        let start = self.cursor.position();
        self.skip_two();
        self.require_bash(start, "for name in words, or while")?;
        let [init, test, step] = self.arithmetic_for_header(start)?;
        self.blanks();
        if self.cursor.peek() == b';' {
            self.cursor.advance(1);
        }
        self.newlines()?;
        let body = self.do_group(opener)?;
        let command = ArithmeticFor { init, test, step, body };
        Ok(CommandKind::ArithmeticFor(self.arena.alloc(command)))
    }

    pub(super) fn case_command(&mut self, opener: Span) -> Result<CommandKind<'a>> {
        self.cases += 1;
        self.blanks();
        if !self.at_word() {
            return self.fail(ErrorCode::UnexpectedToken, "a word");
        }
        let word = self.word(Mode::SINGLE)?;
        self.newlines()?;
        self.expect_keyword(Keyword::In, opener, "`in`")?;
        let mark = self.stacks.arms.len();
        loop {
            self.newlines()?;
            if self.eat_keyword(Keyword::Esac)? {
                break;
            }
            let arm_start = self.cursor.position();
            let patterns = self.case_patterns(opener)?;
            let body = self.list(Place::Clause)?;
            self.blanks();
            let end = self.case_end()?;
            self.stacks.arms.push(CaseArm { patterns, body, end: end.unwrap_or(CaseEnd::Break) });
            if end.is_none() {
                self.newlines()?;
                self.expect_keyword(Keyword::Esac, opener, "`;;` or `esac`")?;
                break;
            }
            if self.posix && end != Some(CaseEnd::Break) {
                return self.fail_from(arm_start, ErrorCode::NotPosix, "`;;`");
            }
        }
        let arms = self.stacks.arms.take(self.arena, mark);
        Ok(CommandKind::Case(self.arena.alloc(Case { word, arms })))
    }

    /// `[(] pattern | pattern … )`
    fn case_patterns(&mut self, opener: Span) -> Result<&'a [Word<'a>]> {
        if self.cursor.peek() == b'(' {
            self.cursor.advance(1);
        }
        let mark = self.stacks.words.len();
        loop {
            self.blanks();
            if self.cursor.at_end() {
                return self.unterminated(ErrorCode::UnterminatedCommand, opener, "a pattern or `esac`");
            }
            if !self.at_word() {
                return self.fail(ErrorCode::UnexpectedToken, "a pattern");
            }
            let word = self.word(Mode::SINGLE)?;
            self.stacks.words.push(word);
            self.blanks();
            match self.cursor.peek() {
                b'|' => self.cursor.advance(1),
                b')' => {
                    self.cursor.advance(1);
                    break;
                }
                b'(' => return self.unexpected_parenthesis(word, "`)` or `|`"),
                _ => return self.fail(ErrorCode::UnexpectedToken, "`)` or `|`"),
            }
        }
        Ok(self.stacks.words.take(self.arena, mark))
    }

    /// `;;`, `;&` or `;;&`.
    fn case_end(&mut self) -> Result<Option<CaseEnd>> {
        if self.cursor.peek() != b';' {
            return Ok(None);
        }
        let start = self.cursor.position();
        self.cursor.advance(1);
        if self.cursor.eat(b'&') {
            self.require_bash(start, "`;;`")?;
            return Ok(Some(CaseEnd::FallThrough));
        }
        if !self.cursor.eat(b';') {
            return self.fail(ErrorCode::UnexpectedToken, "`;;`");
        }
        if self.cursor.eat(b'&') {
            self.require_bash(start, "`;;`")?;
            return Ok(Some(CaseEnd::Continue));
        }
        Ok(Some(CaseEnd::Break))
    }
}
