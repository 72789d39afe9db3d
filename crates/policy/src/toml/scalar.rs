//! Texts, numbers and switches.

use super::parse::Parser;
use super::{Error, Inner, Span, Value};
use std::borrow::Cow;

impl<'t> Parser<'t> {
    /// A text of any of the four kinds.
    pub(super) fn string(&mut self) -> Result<Value<'t>, Error> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (quote, long) = match rest {
            [b'"', b'"', b'"', ..] => (b'"', true),
            [b'\'', b'\'', b'\'', ..] => (b'\'', true),
            [b'"', ..] => (b'"', false),
            _ => (b'\'', false),
        };
        let marks = if long { 3 } else { 1 };
        let start = self.at + marks;
        let text = match (quote, long) {
            (b'"', false) => self.quoted()?,
            (_, false) => self.literal()?,
            (quote, true) => self.long(quote)?,
        };
        Ok(Value { inner: Inner::Text(text), span: Span::new(start, self.at - marks) })
    }

    /// `'…'`.
    pub(super) fn literal(&mut self) -> Result<Cow<'t, str>, Error> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'\'') => {
                    let text = self.text.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(Cow::Borrowed(text));
                }
                Some(b'\t' | b' '..=b'~' | 0x80..) => self.at += 1,
                _ => return self.open_text(start, '\''),
            }
        }
    }

    /// `"…"`.
    pub(super) fn quoted(&mut self) -> Result<Cow<'t, str>, Error> {
        self.at += 1;
        let start = self.at;
        let mut piece = start;
        let mut own = String::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    let text = self.text.get(piece..self.at).unwrap_or_default();
                    self.at += 1;
                    if piece == start {
                        return Ok(Cow::Borrowed(text));
                    }
                    own.push_str(text);
                    return Ok(Cow::Owned(own));
                }
                Some(b'\\') => {
                    own.push_str(self.text.get(piece..self.at).unwrap_or_default());
                    own.push(self.escape()?);
                    piece = self.at;
                }
                Some(b'\t' | b' '..=b'~' | 0x80..) => self.at += 1,
                _ => return self.open_text(start, '"'),
            }
        }
    }

    /// `"""…"""` and `'''…'''`. Every end of a line in it is one line feed, however the file is written.
    fn long(&mut self, quote: u8) -> Result<Cow<'t, str>, Error> {
        self.at += 3;
        let start = self.at;
        self.eat_line_end();
        let mut own = String::new();
        let mut piece = self.at;
        loop {
            match self.peek() {
                Some(byte) if byte == quote => {
                    let run = (0..5).take_while(|n| self.peek_at(*n) == Some(quote)).count();
                    if run < 3 {
                        self.at += run;
                        continue;
                    }
                    // One or two marks before the three that end it belong to the text.
                    own.push_str(self.text.get(piece..self.at + run - 3).unwrap_or_default());
                    self.at += run;
                    return Ok(Cow::Owned(own));
                }
                Some(b'\\') if quote == b'"' => {
                    own.push_str(self.text.get(piece..self.at).unwrap_or_default());
                    if !self.joined_line() {
                        own.push(self.escape()?);
                    }
                    piece = self.at;
                }
                Some(b'\r') if self.peek_at(1) == Some(b'\n') => {
                    own.push_str(self.text.get(piece..self.at).unwrap_or_default());
                    self.at += 1;
                    piece = self.at;
                }
                Some(b'\n' | b'\t' | b' '..=b'~' | 0x80..) => self.at += 1,
                _ => return self.open_text(start, char::from(quote)),
            }
        }
    }

    /// A backslash at the end of a line: neither it nor the blanks and lines that follow belong to the text.
    fn joined_line(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        self.skip_blanks();
        if !self.eat_line_end() {
            self.at = start;
            return false;
        }
        loop {
            self.skip_blanks();
            if !self.eat_line_end() {
                return true;
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let start = self.at;
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        let digits = match letter {
            Some(b'b') => return Ok('\u{8}'),
            Some(b't') => return Ok('\t'),
            Some(b'n') => return Ok('\n'),
            Some(b'f') => return Ok('\u{c}'),
            Some(b'r') => return Ok('\r'),
            Some(b'"') => return Ok('"'),
            Some(b'\\') => return Ok('\\'),
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => {
                let message = r#"no escape begins like this; known are \b \t \n \f \r \" \\ \u and \U"#;
                return Self::error(Span::new(start, start + 2), message);
            }
        };
        let number = self.text.get(self.at..self.at + digits).unwrap_or_default();
        self.at += digits;
        let is_hex = number.bytes().all(|b| b.is_ascii_hexdigit()) && !number.is_empty();
        let char = u32::from_str_radix(number, 16).ok().filter(|_| is_hex).and_then(char::from_u32);
        match char {
            Some(char) => Ok(char),
            None => Self::error(Span::new(start, self.at), "this is no character's number"),
        }
    }

    /// The problem of a text without an end, or with what may not stand in it.
    fn open_text<T>(&self, start: usize, quote: char) -> Result<T, Error> {
        match self.peek() {
            None | Some(b'\n' | b'\r') => {
                Self::error(Span::new(start, self.at), format!("the text has no end: `{quote}` is missing"))
            }
            Some(_) => self.expected(r"no control character in a text, or its number as in \u0000,"),
        }
    }

    /// What stands without quotation marks: a number or a switch.
    pub(super) fn bare(&mut self) -> Result<Inner<'t>, Error> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'+' | b'.' | b':')
        ) {
            self.at += 1;
        }
        let word = self.text.get(start..self.at).unwrap_or_default();
        match word {
            "" => return self.expected("a value"),
            "true" => return Ok(Inner::Switch(true)),
            "false" => return Ok(Inner::Switch(false)),
            _ => {}
        }
        if let Some(number) = whole(word) {
            return Ok(Inner::Whole(number));
        }
        if is_fraction(word) {
            return Ok(Inner::Fraction);
        }
        let span = Span::new(start, self.at);
        let digits = word.trim_start_matches(['+', '-']);
        if digits.contains(':') || digits.bytes().filter(|b| *b == b'-').count() == 2 {
            return Self::error(span, "dates and times are not used in policies");
        }
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Self::error(span, "this is no number, or one that is too large");
        }
        Self::error(span, "a text stands between quotation marks, as in \"text\"")
    }
}

/// Without underscores, if each stands between digits.
fn plain_digits(word: &str, is_digit: fn(&u8) -> bool) -> Option<Cow<'_, str>> {
    let bytes = word.as_bytes();
    let between = bytes.iter().enumerate().filter(|(_, b)| **b == b'_').all(|(at, _)| {
        let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(is_digit);
        digit(at.checked_sub(1)) && digit(Some(at + 1))
    });
    let digits = !word.is_empty() && bytes.iter().all(|b| *b == b'_' || is_digit(b));
    (between && digits).then(|| if word.contains('_') { word.replace('_', "").into() } else { word.into() })
}

/// A whole number of 64 bits, in any of the four notations.
fn whole(word: &str) -> Option<i64> {
    for (prefix, radix, is_digit) in [
        ("0x", 16, u8::is_ascii_hexdigit as fn(&u8) -> bool),
        ("0o", 8, |b: &u8| (b'0'..=b'7').contains(b)),
        ("0b", 2, |b: &u8| matches!(b, b'0' | b'1')),
    ] {
        if let Some(digits) = word.strip_prefix(prefix) {
            return i64::from_str_radix(&plain_digits(digits, is_digit)?, radix).ok();
        }
    }
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let digits = plain_digits(digits, u8::is_ascii_digit)?;
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    if sign.is_empty() { digits.parse().ok() } else { format!("{sign}{digits}").parse().ok() }
}

fn is_fraction(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if matches!(unsigned, "inf" | "nan") {
        return true;
    }
    let decimal = |text: &str| plain_digits(text, u8::is_ascii_digit).is_some();
    let whole = |text: &str| decimal(text) && (text.len() == 1 || !text.starts_with('0'));
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits = exponent.is_none_or(|e| decimal(e.strip_prefix(['+', '-']).unwrap_or(e)));
    match mantissa.split_once('.') {
        Some((before, after)) => whole(before) && decimal(after) && exponent_fits,
        None => exponent.is_some() && whole(mantissa) && exponent_fits,
    }
}
