//! The words inside `${…}`, which end at the first brace outside quotes.
//!
//! Inside double quotes, bash first pairs the quotes in the operand and then expands it as if they were ordinary
//! characters (single quotes) or were not there (double quotes). Where the two readings could differ, the text is
//! refused.

use super::expansion::Context;
use super::quote::escapes;
use super::{Parser, Result};
use crate::chars::{EXTGLOB, GLOB, QUOTE, class, is_name_byte};
use crate::cursor::END;
use crate::{ErrorCode, Parameter, ParameterName, PartKind, Span, Word, WordPart};
use bumpalo::collections::Vec as BumpVec;

/// What the word is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// After `-`, `=`, `?`, `+`.
    Word,
    /// After `#`, `%`, `^`, `,`, `~`, or a replacement.
    Pattern,
    /// After `/`, where a slash ends it too.
    SearchPattern,
    /// After `//`: the same, but a slash that stands first belongs to it.
    GlobalPattern,
}

impl<'a> Parser<'a> {
    /// The operand, up to the closing brace or slash, which is not stepped over.
    pub(super) fn operand(&mut self, kind: Operand, context: Context, opener: Span) -> Result<Word<'a>> {
        self.cursor.peek();
        let start = self.cursor.position();
        let mark = self.stacks.parts.len();
        if kind == Operand::Word && context.is_in_quotes() && context != Context::QuotedPattern {
            self.quoted_operand(opener)?;
        } else {
            self.unquoted_operand(kind, context, opener)?;
        }
        Ok(self.word_since(mark, self.cursor.span_from(start)))
    }

    /// An operand in which quotes work as they do in a word; blanks and operators are ordinary.
    fn unquoted_operand(&mut self, kind: Operand, context: Context, opener: Span) -> Result<()> {
        let in_quotes = context.is_in_quotes();
        let inner = if in_quotes { Context::QuotedPattern } else { Context::Operand };
        let slash = matches!(kind, Operand::SearchPattern | Operand::GlobalPattern);
        match self.cursor.peek() {
            b'~' => self.tilde_in_operand()?,
            b'/' if kind == Operand::GlobalPattern => self.push_literal(1),
            _ => {}
        }
        loop {
            let byte = self.cursor.peek();
            let class = class(byte);
            match byte {
                END => return self.unterminated(ErrorCode::UnterminatedParameter, opener, "`}`"),
                b'}' => return Ok(()),
                b'/' if slash => return Ok(()),
                b'\'' | b'"' if in_quotes && self.posix => {
                    return self.fail(ErrorCode::AmbiguousQuote, "");
                }
                b'<' | b'>' if self.cursor.peek_second() == b'(' => {
                    if in_quotes || self.posix {
                        return self.fail(ErrorCode::AmbiguousProcessSubstitution, "");
                    }
                    self.process_substitution()?;
                }
                _ if class & QUOTE != 0 => self.quotation_or_expansion(byte, inner)?,
                _ if self.extglob && class & EXTGLOB != 0 && self.cursor.peek_second() == b'(' => {
                    self.extended_glob(true)?;
                    let slashes = |part: &WordPart<'_>| {
                        let text = self.source.get(part.span.start as usize..part.span.end as usize);
                        text.is_some_and(|text| text.contains(&b'/'))
                    };
                    if slash && self.stacks.parts.last().is_some_and(slashes) {
                        return self.fail(ErrorCode::AmbiguousQuote, "a quoted `/`");
                    }
                }
                _ if class & GLOB != 0 => self.push_glob(byte),
                _ => {
                    let ends = |byte: &u8| {
                        crate::chars::class(*byte) & (QUOTE | GLOB | EXTGLOB) != 0
                            || matches!(byte, b'}' | b'<' | b'>')
                            || (slash && *byte == b'/')
                    };
                    let rest = self.cursor.rest();
                    let length = rest.iter().skip(1).take_while(|byte| !ends(byte)).count();
                    self.push_literal(1 + length);
                }
            }
        }
    }

    /// A tilde at the beginning of an operand: a prefix if only a login name follows it, up to a slash or the end.
    fn tilde_in_operand(&mut self) -> Result<()> {
        let start = self.cursor.position();
        let mut ahead = self.cursor;
        let mut login = BumpVec::new_in(self.arena);
        loop {
            ahead.advance(1);
            match ahead.peek() {
                b':' => return self.fail(ErrorCode::AmbiguousTilde, ""),
                b'/' | b'}' => break,
                byte if byte.is_ascii_alphanumeric() || b"+-_.".contains(&byte) => login.push(byte),
                _ => return Ok(()),
            }
        }
        self.cursor = ahead;
        self.push(PartKind::Tilde(login.into_bump_slice()), start);
        Ok(())
    }

    /// The operand of `"${x-word}"` and its kin.
    fn quoted_operand(&mut self, opener: Span) -> Result<()> {
        let mark = self.stacks.parts.len();
        loop {
            let byte = self.cursor.peek();
            match byte {
                END => return self.unterminated(ErrorCode::UnterminatedParameter, opener, "`}`"),
                b'}' => return Ok(()),
                b'\\' if self.cursor.raw(1) == b'}' || escapes(self.cursor.raw(1), true) => self.escaped(),
                b'\\' => {
                    let length = if self.cursor.raw(1) == END { 1 } else { 2 };
                    self.push_quoted(length);
                }
                b'"' => {
                    self.inner_quotes(mark)?;
                }
                b'\'' => self.literal_single_quotes(Context::QuotedOperand)?,
                b'`' => self.backquoted(Context::QuotedOperand)?,
                b'$' => {
                    if !self.dollar(Context::QuotedOperand)? {
                        self.push_quoted(1);
                    }
                }
                b'<' | b'>' if self.cursor.peek_second() == b'(' => {
                    return self.fail(ErrorCode::AmbiguousProcessSubstitution, "");
                }
                _ => {
                    let ends = |byte: &u8| class(*byte) & QUOTE != 0 || matches!(byte, b'}' | b'<' | b'>');
                    let length = self.cursor.rest().iter().skip(1).take_while(|byte| !ends(byte)).count();
                    self.push_quoted(1 + length);
                }
            }
        }
    }

    /// Double quotes inside `"${x-"…"}"`. bash removes them before it expands the text, so what stands on their
    /// sides must not combine.
    fn inner_quotes(&mut self, mark: usize) -> Result<()> {
        let before = self.stacks.parts.get(mark..).and_then(<[_]>::last).copied();
        let first = self.cursor.raw(1);
        self.double_quoted(Context::InnerQuotes)?;
        let inside = match self.stacks.parts.last() {
            Some(WordPart { kind: PartKind::DoubleQuoted(parts), .. }) => *parts,
            _ => &[],
        };
        let next = self.cursor.peek();
        let joined = match inside.last() {
            Some(last) => before.is_some_and(|part| self.combines(&part, first)) || self.combines(last, next),
            None => before.is_some_and(|part| self.combines(&part, next)),
        };
        if joined || next == b'"' {
            return self.fail(ErrorCode::AmbiguousQuote, "");
        }
        Ok(())
    }

    /// Whether the part would mean something else with the character right behind it.
    pub(super) fn combines(&self, part: &WordPart<'a>, next: u8) -> bool {
        match part.kind {
            PartKind::Quoted(text) | PartKind::Literal(text) => {
                text.ends_with(b"$") && !b" /.,%:=+~^}".contains(&next)
            }
            PartKind::Parameter(_) => self.is_unbraced_name(part) && is_name_byte(next),
            _ => false,
        }
    }

    /// Whether the part is `$name` without braces, which a following letter would lengthen.
    pub(super) fn is_unbraced_name(&self, part: &WordPart<'a>) -> bool {
        matches!(part.kind, PartKind::Parameter(Parameter { name: ParameterName::Variable(_), .. }))
            && self.source.get(part.span.start as usize + 1) != Some(&b'{')
    }

    /// Single quotes that bash pairs when it looks for the end of an expansion or expression, but that are ordinary
    /// characters when it expands the text between them.
    pub(super) fn literal_single_quotes(&mut self, context: Context) -> Result<()> {
        let start = self.cursor.position();
        let (from, to) = self.single_quoted_text()?;
        let after = self.cursor;
        let text = self.cursor.slice(from, to);
        self.spend(text.len())?;
        let ambiguous =
            |byte: &u8| *byte == b'"' || (self.posix && matches!(byte, b'}' | b'{' | b'\\' | b'$' | b'`'));
        if text.iter().any(ambiguous) || text.windows(2).any(|pair| pair == b"\\}") {
            return self.fail_from(start, ErrorCode::AmbiguousQuote, "");
        }
        self.cursor.set_position(start);
        self.push_quoted(1);
        self.cursor = self.cursor.ending_at(to);
        self.enter()?;
        self.quoted_text(context, Span::default())?;
        self.leave();
        self.cursor = after;
        self.cursor.set_position(to);
        self.push_quoted(1);
        Ok(())
    }
}
