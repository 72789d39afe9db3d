//! Quoting: backslash, single and double quotes (POSIX 2.2), `$'…'` and `$"…"`.

use super::expansion::Context;
use super::{Parser, Result};
use crate::cursor::END;
use crate::seek::until;
use crate::{ErrorCode, PartKind, Span, WordPart};
use bumpalo::collections::Vec as BumpVec;

impl<'a> Parser<'a> {
    /// A backslash outside quotes. At the end of the text it stands for itself, but if quotes reach over several
    /// lines before it, bash drops it.
    pub(super) fn backslash(&mut self) -> Result<()> {
        if self.cursor.raw(1) != END {
            self.escaped();
        } else if self.source.contains(&b'\n') {
            return self.fail(ErrorCode::TrailingBackslash, "a character");
        } else {
            self.push_quoted(1);
        }
        Ok(())
    }

    /// `'…'`
    pub(super) fn single_quoted(&mut self) -> Result<()> {
        let start = self.cursor.position();
        let (from, to) = self.single_quoted_text()?;
        self.push(PartKind::SingleQuoted(self.cursor.slice(from, to)), start);
        Ok(())
    }

    /// Steps over `'…'` and returns the bounds of the text in it.
    pub(super) fn single_quoted_text(&mut self) -> Result<(usize, usize)> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let rest = self.cursor.rest();
        match until(rest, [b'\'']) {
            length if length < rest.len() => {
                self.cursor.advance(length + 1);
                Ok((start + 1, start + 1 + length))
            }
            _ => {
                let opener = self.cursor.span_from(start);
                self.cursor.advance(rest.len());
                self.unterminated(ErrorCode::UnterminatedSingleQuote, opener, "`'`")
            }
        }
    }

    /// `"…"`
    pub(super) fn double_quoted(&mut self, context: Context) -> Result<()> {
        let start = self.cursor.position();
        let parts = self.double_quoted_parts(context)?;
        self.push(PartKind::DoubleQuoted(parts), start);
        Ok(())
    }

    /// `$"…"`, at the double quote.
    pub(super) fn locale_quoted(&mut self, start: usize) -> Result<()> {
        let parts = self.double_quoted_parts(Context::DoubleQuoted)?;
        self.push(PartKind::Locale(parts), start);
        Ok(())
    }

    /// `"…"`; `context` is the one inside: `DoubleQuoted` or `InnerQuotes`.
    fn double_quoted_parts(&mut self, context: Context) -> Result<&'a [WordPart<'a>]> {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let opener = self.cursor.span_from(start);
        self.enter()?;
        let mark = self.stacks.parts.len();
        self.quoted_text(context, opener)?;
        self.leave();
        Ok(self.stacks.parts.take(self.arena, mark))
    }

    /// The text from here to the end, as in a here-document.
    pub(super) fn here_document_text(&mut self) -> Result<&'a [WordPart<'a>]> {
        let mark = self.stacks.parts.len();
        self.quoted_text(Context::HereDocument, Span::default())?;
        Ok(self.stacks.parts.take(self.arena, mark))
    }

    /// Text in which only `$`, `` ` `` and `\` are special: to the closing double quote, which is stepped over, or,
    /// in every other context, to the end of the text.
    pub(super) fn quoted_text(&mut self, context: Context, opener: Span) -> Result<()> {
        let closes = matches!(context, Context::DoubleQuoted | Context::InnerQuotes);
        loop {
            match self.cursor.peek() {
                END if closes => {
                    return self.unterminated(ErrorCode::UnterminatedDoubleQuote, opener, "`\"`");
                }
                END => return Ok(()),
                b'"' if closes => {
                    self.cursor.advance(1);
                    return Ok(());
                }
                b'\\' if closes && self.in_document_operand => {
                    return self.fail(ErrorCode::DocumentOperand, "");
                }
                b'\\' if context == Context::InnerQuotes => {
                    return self.fail(ErrorCode::AmbiguousQuote, "");
                }
                b'\\' if escapes(self.cursor.raw(1), closes) => self.escaped(),
                b'$' => {
                    if !self.dollar(context)? {
                        self.push_quoted(1);
                    }
                }
                b'`' => self.backquoted(context)?,
                _ => {
                    let length =
                        self.quoted_run(closes, context == Context::InnerQuotes || self.in_document_operand);
                    if length == 0 {
                        // A backslash of which it is not known whether it quotes.
                        return self.fail(ErrorCode::DocumentOperand, "");
                    }
                    self.push_quoted(length);
                }
            }
        }
    }

    /// A backslash and the character that it quotes.
    pub(super) fn escaped(&mut self) {
        let start = self.cursor.position();
        self.cursor.advance(2);
        self.push(PartKind::Quoted(self.cursor.slice(start + 1, start + 2)), start);
    }

    /// The next `length` bytes are quoted text.
    pub(super) fn push_quoted(&mut self, length: usize) {
        let start = self.cursor.position();
        self.cursor.advance(length);
        self.push(PartKind::Quoted(self.cursor.slice(start, start + length)), start);
    }

    /// How many bytes from here on stand for themselves in quoted text.
    fn quoted_run(&self, closes: bool, stops_at_backslash: bool) -> usize {
        let rest = self.cursor.rest();
        let mut length = 0;
        loop {
            let more = rest.get(length..).unwrap_or_default();
            // Only one that closes stops at a double quote: then the first of the others is looked for twice, without harm.
            length += until(more, [b'$', b'`', b'\\', if closes { b'"' } else { b'$' }]);
            match rest.get(length) {
                None | Some(b'$' | b'`') => return length,
                Some(b'"') if closes => return length,
                Some(b'\\') if stops_at_backslash => return length,
                Some(b'\\') => match rest.get(length + 1) {
                    None => return length + 1,
                    Some(b'\n') => return length,
                    Some(next) if escapes(*next, closes) => return length,
                    Some(_) => length += 2,
                },
                Some(_) => length += 1,
            }
        }
    }

    /// `$'…'`, at the single quote.
    pub(super) fn ansi_c_quoted(&mut self, start: usize) -> Result<()> {
        let text = self.ansi_c_text(start)?;
        self.push(PartKind::AnsiC(text), start);
        Ok(())
    }

    /// Steps over `'…'` after `$` and decodes it as bash does.
    pub(super) fn ansi_c_text(&mut self, start: usize) -> Result<&'a [u8]> {
        self.cursor.advance(1);
        let opener = self.cursor.span_from(start);
        let mut text = BumpVec::new_in(self.arena);
        // A NUL ends the text, but not the quotation.
        let mut ended = false;
        loop {
            let byte = self.cursor.raw(0);
            match byte {
                END if self.cursor.at_end() => {
                    return self.unterminated(ErrorCode::UnterminatedSingleQuote, opener, "`'`");
                }
                b'\'' => {
                    self.cursor.advance(1);
                    return Ok(text.into_bump_slice());
                }
                b'\\' => {
                    let length = text.len();
                    let nul = self.ansi_c_escape(&mut text)?;
                    if ended {
                        text.truncate(length);
                    }
                    ended |= nul;
                }
                _ => {
                    self.cursor.advance(1);
                    if !ended {
                        text.push(byte);
                    }
                }
            }
        }
    }

    /// One escape of `$'…'`, appended to the text; true if it is a NUL.
    fn ansi_c_escape(&mut self, text: &mut BumpVec<'a, u8>) -> Result<bool> {
        let start = self.cursor.position();
        let letter = self.cursor.raw(1);
        self.cursor.advance(2);
        let value = match letter {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => letter,
            b'0'..=b'7' => {
                self.cursor.set_position(start + 1);
                // Three octal digits may exceed a byte; bash keeps the low eight bits.
                self.digits(8, 3).map_or(0, |(value, _)| (value & 0xff) as u8)
            }
            b'x' => return self.hexadecimal_escape(text),
            b'u' | b'U' => {
                let most = if letter == b'u' { 4 } else { 8 };
                match self.digits(16, most) {
                    Some((value, _)) => return self.unicode_escape(start, value, text),
                    None => {
                        text.extend_from_slice_copy(&[b'\\', letter]);
                        return Ok(false);
                    }
                }
            }
            b'c' => {
                let control = self.cursor.raw(0);
                if !control.is_ascii_graphic() || matches!(control, b'\\' | b'\'') {
                    return self.fail_from(start, ErrorCode::BadEscape, "");
                }
                self.cursor.advance(1);
                if control == b'?' { 0x7f } else { control.to_ascii_uppercase() & 0x1f }
            }
            END => {
                self.cursor.set_position(start + 1);
                text.push(b'\\');
                return Ok(false);
            }
            _ => {
                text.extend_from_slice_copy(&[b'\\', letter]);
                return Ok(false);
            }
        };
        if value == 0 {
            return Ok(true);
        }
        text.push(value);
        Ok(false)
    }

    /// `\xHH` or `\x{H…}`, after the letter.
    fn hexadecimal_escape(&mut self, text: &mut BumpVec<'a, u8>) -> Result<bool> {
        let braces = self.cursor.raw(0) == b'{';
        if braces {
            self.cursor.advance(1);
        }
        let Some((value, _)) = self.digits(16, if braces { usize::MAX } else { 2 }) else {
            // bash drops the brace of `\x{` without digits; that is a mistake rather than a text to rely on.
            if braces {
                return self.fail(ErrorCode::BadEscape, "hexadecimal digits");
            }
            text.extend_from_slice_copy(b"\\x");
            return Ok(false);
        };
        if braces && self.cursor.raw(0) == b'}' {
            self.cursor.advance(1);
        }
        let byte = (value & 0xff) as u8;
        if byte != 0 {
            text.push(byte);
        }
        Ok(byte == 0)
    }

    /// Appends a code point as UTF-8.
    fn unicode_escape(&mut self, start: usize, value: u32, text: &mut BumpVec<'a, u8>) -> Result<bool> {
        let Some(character) = char::from_u32(value) else {
            return self.fail_from(start, ErrorCode::BadEscape, "a Unicode character");
        };
        if value == 0 {
            return Ok(true);
        }
        text.extend_from_slice_copy(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(false)
    }

    /// Up to `most` digits of the radix, wrapping; `None` if there are none.
    fn digits(&mut self, radix: u32, most: usize) -> Option<(u32, usize)> {
        let mut value: u32 = 0;
        let mut count = 0;
        while count < most {
            let Some(digit) = char::from(self.cursor.raw(0)).to_digit(radix) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            count += 1;
            self.cursor.advance(1);
        }
        (count > 0).then_some((value, count))
    }
}

/// Whether a backslash quotes the character in double quotes (or a here-document, where `"` is ordinary).
pub(super) fn escapes(next: u8, in_double_quotes: bool) -> bool {
    matches!(next, b'$' | b'`' | b'\\') || (next == b'"' && in_double_quotes)
}
