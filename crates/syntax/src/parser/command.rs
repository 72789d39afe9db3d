//! One command: the dispatch on its first token, function definitions and coprocesses.

use super::{Parser, Place, Result};
use crate::chars::{Keyword, is_name, is_reserved};
use crate::cursor::END;
use crate::{Command, CommandKind, Coprocess, ErrorCode, Few, Function, PartKind, Redirect, Span, Word};

impl<'a> Parser<'a> {
    /// A simple command, compound command, function definition or coprocess.
    pub(super) fn command(&mut self) -> Result<Command<'a>> {
        self.blanks();
        let start = self.cursor.position();
        match self.cursor.peek() {
            END => return self.fail(ErrorCode::UnexpectedEnd, "a command"),
            b'(' => return self.compound_at_parenthesis(),
            b'\n' | b';' | b'|' | b')' => return self.fail(ErrorCode::UnexpectedToken, "a command"),
            b'&' if self.cursor.peek_second() != b'>' => {
                return self.fail(ErrorCode::UnexpectedToken, "a command");
            }
            _ => {}
        }
        match self.keyword()? {
            Some((keyword, end)) if keyword.opens_compound() => self.compound(keyword, end),
            Some((Keyword::Time, _)) => self.simple_command(),
            Some((keyword, end)) => {
                if self.posix && keyword.is_bash_only() {
                    return self.fail_posix("another command name");
                }
                let opener = self.cursor.span(start, end);
                match keyword {
                    Keyword::Function => {
                        self.cursor.set_position(end);
                        self.function_after_keyword(start)
                    }
                    Keyword::Coproc => {
                        self.cursor.set_position(end);
                        self.coprocess(start, opener)
                    }
                    _ => self.fail_word(end, ErrorCode::UnexpectedReservedWord, "a command"),
                }
            }
            None => self.simple_command(),
        }
    }

    /// A compound command at its first reserved word, with its redirections.
    pub(super) fn compound(&mut self, keyword: Keyword, end: usize) -> Result<Command<'a>> {
        let start = self.cursor.position();
        if self.posix && keyword.is_bash_only() {
            return self.fail_posix("[ … ], case, or another command name");
        }
        self.cursor.set_position(end);
        let opener = self.cursor.span_from(start);
        if keyword.is_bash_only() {
            self.require_bash(start, "")?;
        }
        self.enter()?;
        let kind = match keyword {
            Keyword::OpenBrace => self.brace_group(opener)?,
            Keyword::If => self.if_command(opener)?,
            Keyword::While | Keyword::Until => self.loop_command(keyword, opener)?,
            Keyword::For | Keyword::Select => self.for_command(keyword, opener)?,
            Keyword::Case => self.case_command(opener)?,
            _ => self.conditional_command(opener)?,
        };
        self.leave();
        self.finish_compound(kind, start)
    }

    /// `(( … ))` or `( … )`, with redirections.
    fn compound_at_parenthesis(&mut self) -> Result<Command<'a>> {
        let start = self.cursor.position();
        self.enter()?;
        let kind = if self.cursor.peek_second() == b'(' {
            self.skip_two();
            self.require_bash(start, "( ( for nested subshells, or [ … ] for arithmetic tests")?;
            let expression = self.arithmetic_command(start)?;
            CommandKind::Arithmetic(self.arena.alloc(expression))
        } else {
            self.cursor.advance(1);
            let opener = self.cursor.span_from(start);
            let script = self.nonempty_list(Place::Inner)?;
            self.blanks();
            if !self.cursor.eat(b')') {
                return self.unterminated(ErrorCode::UnterminatedCommand, opener, "`)`");
            }
            CommandKind::Subshell(script)
        };
        self.leave();
        self.finish_compound(kind, start)
    }

    /// Whether a compound command begins at the cursor, and if so reads it.
    fn compound_command(&mut self) -> Result<Option<Command<'a>>> {
        self.blanks();
        if self.cursor.peek() == b'(' {
            return self.compound_at_parenthesis().map(Some);
        }
        match self.keyword()? {
            Some((keyword, end)) if keyword.opens_compound() => self.compound(keyword, end).map(Some),
            _ => Ok(None),
        }
    }

    fn finish_compound(&mut self, kind: CommandKind<'a>, start: usize) -> Result<Command<'a>> {
        let end = self.cursor.position();
        let redirects = self.redirects()?;
        let span = self.cursor.span(start, end);
        let span = redirects.last().map_or(span, |last| span.to(last.span));
        Ok(Command { kind, redirects, span })
    }

    /// The redirections after a compound command. A word after them is an error, reserved or not.
    fn redirects(&mut self) -> Result<Few<'a, Redirect<'a>>> {
        let mark = self.stacks.redirects.len();
        loop {
            self.blanks();
            let Some(redirect) = self.redirect()? else { break };
            self.stacks.redirects.push(redirect);
        }
        let redirects = Few::new(self.arena, self.stacks.redirects.take(self.arena, mark));
        let next = self.cursor.peek();
        if !redirects.is_empty() && next != END && !crate::chars::is_metacharacter(next) {
            return self.fail(ErrorCode::UnexpectedToken, "a command separator");
        }
        Ok(redirects)
    }

    /// `function name [()] command`, after the reserved word.
    fn function_after_keyword(&mut self, start: usize) -> Result<Command<'a>> {
        self.note(crate::NoteKind::PosixDiffers, start);
        self.blanks();
        let next = self.cursor.peek();
        if next == END || crate::chars::is_metacharacter(next) {
            return self.fail(ErrorCode::BadFunctionName, "a name");
        }
        let name = self.word(super::word::Mode::NAME)?;
        self.blanks();
        if self.cursor.peek() == b'(' {
            let mut ahead = self.cursor;
            ahead.advance(1);
            while matches!(ahead.peek(), b' ' | b'\t') {
                ahead.advance(1);
            }
            if ahead.eat(b')') {
                self.cursor = ahead;
            }
        }
        self.function(name, start)
    }

    /// A function definition, after the name and its parentheses.
    pub(super) fn function(&mut self, name: Word<'a>, start: usize) -> Result<Command<'a>> {
        let name_span = name.span();
        let Some(name) = self.function_name(name) else {
            return Err(crate::ParseError {
                code: ErrorCode::BadFunctionName,
                span: name_span,
                opener: None,
                before: 0,
                expected: "",
            });
        };
        self.newlines()?;
        self.enter()?;
        let Some(body) = self.compound_command()? else {
            return self.fail(ErrorCode::BadFunctionBody, "{ or another compound command");
        };
        self.leave();
        let span = self.cursor.span(start, start + 1).to(body.span);
        let function: &_ = self.arena.alloc(Function { name, name_span, body: self.arena.alloc(body) });
        self.functions.push(function);
        Ok(Command { kind: CommandKind::Function(function), redirects: Few::NONE, span })
    }

    /// The name as bash takes it: any unquoted text without expansions; in POSIX a name.
    fn function_name(&self, word: Word<'a>) -> Option<&'a [u8]> {
        let name = match &*word.parts() {
            [part] => match part.kind {
                PartKind::Literal(text) => text,
                _ => return None,
            },
            parts => {
                let mut name = bumpalo::collections::Vec::new_in(self.arena);
                for part in parts {
                    match part.kind {
                        PartKind::Literal(text) => name.extend_from_slice_copy(text),
                        PartKind::Glob(byte) => name.push(byte),
                        _ => return None,
                    }
                }
                name.into_bump_slice()
            }
        };
        let accepted = !name.contains(&b'$') && !is_reserved(name) && (!self.posix || is_name(name));
        accepted.then_some(name)
    }

    /// `coproc [name] command`, after the reserved word.
    fn coprocess(&mut self, start: usize, opener: Span) -> Result<Command<'a>> {
        self.note(crate::NoteKind::PosixDiffers, start);
        self.enter()?;
        let name = self.coprocess_name()?;
        let body = match self.compound_command()? {
            Some(body) => body,
            None => {
                self.check_coprocess_word()?;
                let body = self.command()?;
                if matches!(body.kind, CommandKind::Function(_)) {
                    return self.fail_from(start, ErrorCode::BadCoprocess, "a command");
                }
                if self.in_substitution {
                    return self.fail_from(start, ErrorCode::CoprocessInSubstitution, "");
                }
                body
            }
        };
        self.leave();
        let span = opener.to(body.span);
        let coprocess = Coprocess { name, body: self.arena.alloc(body) };
        Ok(Command { kind: CommandKind::Coprocess(self.arena.alloc(coprocess)), redirects: Few::NONE, span })
    }

    /// After `coproc` and one word, whatever it is, bash still takes reserved words for what they are.
    fn check_coprocess_word(&mut self) -> Result<()> {
        let reserved = |parser: &mut Self| {
            parser.keyword().map(|found| found.is_some_and(|(keyword, _)| keyword != Keyword::Time))
        };
        let before = self.cursor;
        let mut wrong = reserved(self)?;
        if !wrong && self.at_word() {
            self.word(super::word::Mode::NAME)?;
            self.spend(self.cursor.position() - before.position())?;
            self.blanks();
            wrong = self.cursor.peek() == b'(' || reserved(self)?;
        }
        if wrong {
            return self.fail(ErrorCode::BadCoprocess, "");
        }
        self.cursor = before;
        Ok(())
    }

    /// A word before a compound command names the coprocess; otherwise it is the command.
    fn coprocess_name(&mut self) -> Result<Option<&'a [u8]>> {
        self.blanks();
        let before = self.cursor;
        if !crate::chars::is_name_start(self.cursor.peek()) || self.keyword()?.is_some() {
            return Ok(None);
        }
        let name = self.name();
        if matches!(self.cursor.peek(), b' ' | b'\t') {
            self.blanks();
            let compound = self.cursor.peek() == b'('
                || self.keyword()?.is_some_and(|(keyword, _)| keyword.opens_compound());
            if compound {
                return Ok(Some(name));
            }
        }
        self.cursor = before;
        Ok(None)
    }
}
