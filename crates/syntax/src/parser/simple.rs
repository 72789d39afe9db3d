//! Simple commands: assignments, words and redirections in any order (POSIX 2.9.1).

use super::word::Mode;
use super::{Parser, Result};
use crate::chars::{BRACE, DIGIT, META, class, takes_array_arguments};
use crate::cursor::END;
use crate::{Command, CommandKind, ErrorCode, Few, PartKind, SimpleCommand, Word};

impl<'a> Parser<'a> {
    pub(super) fn simple_command(&mut self) -> Result<Command<'a>> {
        let start = self.cursor.position();
        let words = self.stacks.words.len();
        let redirects = self.stacks.redirects.len();
        let assignments = self.stacks.assignments.len();
        // A redirection between a declaration builtin and an array ends bash's readiness to see one.
        let mut arrays = false;
        // A redirection after an assignment ends its readiness to see subscripts and arrays in further ones.
        let mut settled = false;
        let mut end = start;
        loop {
            self.blanks();
            let byte = self.cursor.peek();
            let word_start = self.cursor.position();
            let class = class(byte);
            if class & META != 0 || byte == END {
                if byte == b'(' {
                    return self.function_at_parenthesis(start, words, redirects, assignments);
                }
                if !matches!(byte, b'<' | b'>' | b'&') {
                    break;
                }
                if let Some(redirect) = self.redirect()? {
                    self.stacks.redirects.push(redirect);
                    end = self.cursor.position();
                    arrays = false;
                    settled |= self.stacks.assignments.len() > assignments;
                    continue;
                }
                if byte == b'&' {
                    break;
                }
                arrays = false;
            } else if class & (DIGIT | BRACE) != 0
                && let Some(redirect) = self.redirect()?
            {
                self.stacks.redirects.push(redirect);
                end = self.cursor.position();
                arrays = false;
                settled |= self.stacks.assignments.len() > assignments;
                continue;
            }
            if self.stacks.words.len() == words {
                let first =
                    self.stacks.redirects.len() == redirects && self.stacks.assignments.len() == assignments;
                if !first && let Some((_, end)) = self.keyword()? {
                    return self.fail_word(end, ErrorCode::ReservedWordAfterPrefix, "a command name");
                }
                if let Some(assignment) = self.assignment(settled)? {
                    self.stacks.assignments.push(assignment);
                    end = self.cursor.position();
                    continue;
                }
                let word = self.word(Mode::ARGUMENT)?;
                arrays = !self.posix && !settled && word.bare().is_some_and(takes_array_arguments);
                self.stacks.words.push(word);
            } else {
                let word = match arrays {
                    true => self.declaration_argument()?,
                    false => self.word(Mode::ARGUMENT)?,
                };
                self.stacks.words.push(word);
            }
            if byte == b'{' && matches!(self.cursor.peek(), b'<' | b'>') {
                self.descriptor_element(word_start)?;
            }
            end = self.cursor.position();
        }
        let assignments = Few::new(self.arena, self.stacks.assignments.take(self.arena, assignments));
        let simple = SimpleCommand { assignments, words: self.stacks.words.take(self.arena, words) };
        let redirects = Few::new(self.arena, self.stacks.redirects.take(self.arena, redirects));
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return self.fail(ErrorCode::UnexpectedToken, "a command");
        }
        let span = self.cursor.span(start, end);
        Ok(Command { kind: CommandKind::Simple(simple), redirects, span })
    }

    /// `name (`: only `name ()` before a function's body may stand here.
    fn function_at_parenthesis(
        &mut self,
        start: usize,
        words: usize,
        redirects: usize,
        assignments: usize,
    ) -> Result<Command<'a>> {
        let only_a_word = self.stacks.words.len() == words + 1
            && self.stacks.redirects.len() == redirects
            && self.stacks.assignments.len() == assignments;
        let last = self.stacks.words.get(words..).and_then(<[_]>::last).copied();
        match last {
            Some(name) if only_a_word => {
                let mut ahead = self.cursor;
                ahead.advance(1);
                while matches!(ahead.peek(), b' ' | b'\t') {
                    ahead.advance(1);
                }
                if !ahead.eat(b')') {
                    return self.unexpected_parenthesis(name, "`)` after `name (`");
                }
                self.cursor = ahead;
                self.stacks.words.truncate(words);
                self.function(name, start)
            }
            Some(word) => self.unexpected_parenthesis(word, "a word or the end of the command"),
            None => self.fail(ErrorCode::UnexpectedToken, "a word or the end of the command"),
        }
    }

    /// A parenthesis after a word: perhaps an extended pattern was meant.
    pub(super) fn unexpected_parenthesis<T>(&mut self, word: Word<'a>, expected: &'static str) -> Result<T> {
        let here = self.cursor.position();
        let adjacent = word.span().end == self.cursor.offset(here);
        let operator = word.parts().last().is_some_and(|part| match part.kind {
            PartKind::Glob(byte) => matches!(byte, b'?' | b'*'),
            PartKind::Literal(text) => matches!(text.last(), Some(b'@' | b'+' | b'!')),
            _ => false,
        });
        let code = if adjacent && operator { ErrorCode::ExtglobOff } else { ErrorCode::UnexpectedToken };
        self.fail(code, expected)
    }

    /// Whether a word begins at the cursor, process substitutions included.
    pub(super) fn at_word(&mut self) -> bool {
        match self.cursor.peek() {
            END => false,
            b'<' | b'>' => self.cursor.peek_second() == b'(',
            byte => class(byte) & META == 0,
        }
    }

    /// Takes note of a literal `shopt -s extglob` among the items since `mark`: it holds from the next line on,
    /// because bash reads a line whole before it runs it.
    pub(super) fn note_options(&mut self, mark: usize) {
        if self.posix {
            return;
        }
        for item in self.stacks.items.get(mark..).unwrap_or(&[]) {
            let [stage] = item.list.first.stages else { continue };
            let CommandKind::Simple(simple) = stage.command.kind else { continue };
            if item.background || !item.list.rest.is_empty() {
                continue;
            }
            let mut words = simple.words.iter().map(Word::bare);
            if words.next() != Some(Some(b"shopt")) {
                continue;
            }
            let mut on = None;
            for word in words {
                match word {
                    Some(b"-s") => on = Some(true),
                    Some(b"-u") => on = Some(false),
                    Some(b"extglob") => self.extglob = on.unwrap_or(self.extglob),
                    _ => {}
                }
            }
        }
    }
}
