//! Python's lexical grammar (language reference, chapter 2): names, numbers, decoded strings, f-strings with the tokens
//! of their expressions, brackets that know where they close.
//!
//! Of indentation only this is kept: how far a logical line is indented.

use super::escapes::{parse, unescape};
pub(super) use super::keywords::Keyword;
use super::keywords::keyword;
use super::symbols::{MAX_NAMES, Sym, Symbols, key, short_name};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::{is_name_byte, is_name_start, until};

/// The indentation of a line that says nothing: with tabs in it, or too deep.
pub(super) const ANY_COLUMN: u8 = u8::MAX;

/// Deepest nesting of brackets and f-strings that is followed.
const MAX_DEPTH: usize = 90;

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Name(Sym),
    Keyword(Keyword),
    /// A whole number that fits, or any other number.
    Number(Option<u32>),
    /// A string or bytes literal, decoded; also the literal parts of an f-string. Behind two references all tokens are small.
    Text(&'a &'a [u8]),
    /// `(`, `[`, `{`; `f` starts an f-string and `%` an expression in it. `close` is the index of the partner, `clause`
    /// that of the `for` that makes it a comprehension, or 0.
    Open {
        kind: u8,
        close: u32,
        clause: u32,
    },
    Close,
    Comma,
    Colon,
    Semicolon,
    Dot,
    Assign,
    /// `+=` and its kin, with the operator's first byte.
    Augment(u8),
    Arrow,
    Walrus,
    /// `==`, `!=`, `<`, `>`, `<=`, `>=`.
    Compare,
    /// `+ - * / % @ & | ^ ~`, and `D` for `**`, `I` for `//`, `L` for `<<`, `R` for `>>`.
    Operator(u8),
    Ellipsis,
    /// The end of a logical line, and how far the next one is indented: 0, or see [`scopes`](super::scopes).
    Newline {
        column: u8,
    },
}

impl Token<'_> {
    /// Whether no operator follows here, so that the expression before it is complete.
    pub(super) const fn ends_expression(&self) -> bool {
        matches!(
            self,
            Self::Comma | Self::Close | Self::Colon | Self::Semicolon | Self::Assign | Self::Newline { .. }
        )
    }
}

/// Splits a program into tokens; `None` if it is no Python, or in an encoding of its own.
pub(super) fn tokens<'a>(
    arena: &'a Bump,
    text: &'a [u8],
    symbols: &mut Symbols<'a>,
) -> Option<&'a [Token<'a>]> {
    if declares_encoding(text) {
        return None;
    }
    symbols.expect(text.len());
    let mut lexer = Lexer {
        arena,
        text,
        at: 0,
        // There are nearly always fewer.
        tokens: BumpVec::with_capacity_in(text.len() / 4 + 8, arena),
        open: Vec::new(),
        symbols,
    };
    let text_after_mark = text.strip_prefix(b"\xef\xbb\xbf").map_or(0, |_| 3);
    lexer.at = text_after_mark;
    lexer.line_start();
    while let Some(byte) = text.get(lexer.at) {
        if *byte == b' ' {
            lexer.at += 1;
        } else {
            lexer.token()?;
        }
    }
    lexer.tokens.push(Token::Newline { column: 0 });
    lexer.open.is_empty().then(|| lexer.tokens.into_bump_slice())
}

/// A comment in the first two lines may choose an encoding (PEP 263), in which other bytes are other characters.
fn declares_encoding(text: &[u8]) -> bool {
    text.split(|b| matches!(b, b'\n' | b'\r')).take(2).any(|line| {
        let line = line.trim_ascii_start();
        if !line.starts_with(b"#") {
            return false;
        }
        let Some(at) = line.windows(6).position(|w| w == b"coding") else { return false };
        let rest = line.get(at + 6..).unwrap_or_default();
        let Some(name) = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"=")) else { return false };
        let name = name.trim_ascii_start();
        let end = name.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')));
        let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
        ![&b"utf-8"[..], b"utf8", b"ascii", b"us-ascii", b"latin-1", b"iso-8859-1", b"iso-8859-15"]
            .iter()
            .any(|known| name.eq_ignore_ascii_case(known))
    })
}

struct Lexer<'a, 's> {
    arena: &'a Bump,
    text: &'a [u8],
    at: usize,
    tokens: BumpVec<'a, Token<'a>>,
    /// Indices of the open brackets.
    open: Vec<usize>,
    symbols: &'s mut Symbols<'a>,
}

impl<'a> Lexer<'a, '_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn slice(&self, from: usize) -> &'a [u8] {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn push(&mut self, token: Token<'a>, length: usize) -> Option<()> {
        self.tokens.push(token);
        self.at += length;
        Some(())
    }

    /// The start of a physical line: notes whether it is indented.
    fn line_start(&mut self) {
        let start = self.at;
        self.at += spaces(self.rest());
        let spaces_end = self.at;
        while matches!(self.byte(0), b' ' | b'\t' | 0x0c) {
            self.at += 1;
        }
        let blank = matches!(self.byte(0), b'\n' | b'\r' | b'#');
        if blank || !self.open.is_empty() {
            return;
        }
        let column = if self.at == spaces_end {
            u8::try_from(self.at - start).unwrap_or(ANY_COLUMN)
        } else {
            ANY_COLUMN
        };
        match self.tokens.last_mut() {
            Some(Token::Newline { column: last }) => *last = column,
            None => self.tokens.push(Token::Newline { column }),
            Some(_) => self.tokens.push(Token::Newline { column }),
        }
    }

    // Inlined, it is a loop over the whole text.
    #[inline(always)]
    fn token(&mut self) -> Option<()> {
        use Token as T;
        let here = self.byte(0);
        if is_name_start(here) {
            return self.word();
        }
        let next = self.byte(1);
        match here {
            b' ' => {
                self.at += if next == b' ' { spaces(self.rest()) } else { 1 };
                Some(())
            }
            b'\t' | 0x0c | b'\r' => {
                self.at += 1;
                if self.byte(0) != b'\n' && self.text.get(self.at - 1) == Some(&b'\r') {
                    self.line_start();
                }
                Some(())
            }
            b'\n' => {
                self.at += 1;
                self.line_start();
                Some(())
            }
            b'\\' => {
                self.at += 1;
                self.at += match (self.byte(0), self.byte(1)) {
                    (b'\r', b'\n') => 2,
                    (b'\n' | b'\r', _) => 1,
                    _ => return None,
                };
                Some(())
            }
            b'#' => {
                self.at += until(self.rest(), [b'\n', b'\r']);
                Some(())
            }
            b'"' | b'\'' => self.string(self.at),
            b'0'..=b'9' => self.number(),
            b'.' if next.is_ascii_digit() => self.number(),
            b'.' if next == b'.' && self.byte(2) == b'.' => self.push(T::Ellipsis, 3),
            b'.' => self.push(T::Dot, 1),
            c @ (b'(' | b'[' | b'{') => self.open(c),
            c @ (b')' | b']' | b'}') => self.close(c),
            b',' => self.push(T::Comma, 1),
            b';' => self.push(T::Semicolon, 1),
            b':' if next == b'=' => self.push(T::Walrus, 2),
            b':' => self.push(T::Colon, 1),
            b'-' if next == b'>' => self.push(T::Arrow, 2),
            b'=' if next == b'=' => self.push(T::Compare, 2),
            b'=' => self.push(T::Assign, 1),
            b'!' if next == b'=' => self.push(T::Compare, 2),
            c @ (b'<' | b'>') if next == c => self.operator(if c == b'<' { b'L' } else { b'R' }, 2),
            b'<' if next == b'>' => self.push(T::Compare, 2),
            b'<' | b'>' => self.push(T::Compare, if next == b'=' { 2 } else { 1 }),
            b'*' if next == b'*' => self.operator(b'D', 2),
            b'/' if next == b'/' => self.operator(b'I', 2),
            c @ (b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^') => self.operator(c, 1),
            b'~' => self.push(T::Operator(b'~'), 1),
            0x80.. => self.word(),
            _ => None,
        }
    }

    /// A token of an expression in an f-string.
    fn token_within(&mut self) -> Option<()> {
        self.token()
    }

    fn operator(&mut self, name: u8, length: usize) -> Option<()> {
        if self.byte(length) == b'=' {
            self.push(Token::Augment(name), length + 1)
        } else {
            self.push(Token::Operator(name), length)
        }
    }

    fn open(&mut self, kind: u8) -> Option<()> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        self.open.push(self.tokens.len());
        self.push(Token::Open { kind, close: 0, clause: 0 }, 1)
    }

    fn close(&mut self, by: u8) -> Option<()> {
        let opener = match by {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            other => other,
        };
        let at = self.open.pop()?;
        let here = u32::try_from(self.tokens.len()).ok()?;
        match self.tokens.get_mut(at) {
            Some(Token::Open { kind, close, .. }) if *kind == opener => *close = here,
            _ => return None,
        }
        let length = usize::from(by != b'f' && by != b'%');
        self.push(Token::Close, length)
    }

    fn word(&mut self) -> Option<()> {
        let from = self.at;
        // Most names end within eight bytes.
        let Some(start) = self.rest().first_chunk() else { return self.any_word() };
        let Some((length, key)) = short_name(start) else { return self.long_word() };
        let next = start.get(length).copied().unwrap_or(0);
        if next >= 0x80 || length <= 2 && matches!(next, b'"' | b'\'') {
            return self.any_word();
        }
        self.at += length;
        self.push_word(key, from)
    }

    /// A word of which eight bytes are sure.
    #[inline(never)]
    fn long_word(&mut self) -> Option<()> {
        let from = self.at;
        self.at += 8;
        loop {
            match self.rest().first_chunk().map(short_name) {
                Some(None) => self.at += 8,
                Some(Some((more, _))) => {
                    self.at += more;
                    break;
                }
                None if is_name_byte(self.byte(0)) => self.at += 1,
                None => break,
            }
        }
        if self.byte(0) >= 0x80 {
            self.at = from;
            return self.any_word();
        }
        self.push_word(key(self.slice(from)), from)
    }

    #[inline(never)]
    fn any_word(&mut self) -> Option<()> {
        let from = self.at;
        while is_name_byte(self.byte(0)) {
            self.at += 1;
        }
        match self.byte(0) {
            b'"' | b'\'' if self.at - from <= 2 && is_prefix(self.slice(from)) => return self.string(from),
            0x80.. => {
                let more = self.rest().iter().position(|byte| !is_name_byte(*byte) && byte.is_ascii());
                self.at = more.map_or(self.text.len(), |more| self.at + more);
                if !is_plain(self.slice(from)) {
                    return None;
                }
            }
            _ => {}
        }
        self.push_word(key(self.slice(from)), from)
    }

    /// The word that began at `from` and ends here.
    #[inline(always)]
    fn push_word(&mut self, key: u64, from: usize) -> Option<()> {
        let token = match keyword(key) {
            Some(keyword) => {
                if keyword == Keyword::For {
                    self.mark_comprehension();
                }
                Token::Keyword(keyword)
            }
            None => Token::Name(self.symbols.intern_by(key, self.slice(from))),
        };
        if self.symbols.len() > MAX_NAMES {
            return None;
        }
        self.tokens.push(token);
        Some(())
    }

    /// A `for` right inside a bracket makes it a comprehension.
    fn mark_comprehension(&mut self) {
        let here = match self.tokens.last() {
            Some(Token::Keyword(Keyword::Async)) => self.tokens.len() - 1,
            _ => self.tokens.len(),
        };
        if let Some(Token::Open { clause, .. }) = self.open.last().and_then(|at| self.tokens.get_mut(*at))
            && *clause == 0
        {
            *clause = u32::try_from(here).unwrap_or(0);
        }
    }

    fn number(&mut self) -> Option<()> {
        let from = self.at;
        while self.byte(0).is_ascii_alphanumeric() || matches!(self.byte(0), b'_' | b'.') {
            let exponent = matches!(self.byte(0), b'e' | b'E') && !self.slice(from).starts_with(b"0x");
            self.at += 1;
            if exponent && matches!(self.byte(0), b'+' | b'-') {
                self.at += 1;
            }
        }
        let digits = self.slice(from);
        let value = match digits {
            [b'0', b'x' | b'X', hex @ ..] => parse(hex, 16),
            [b'0', b'o' | b'O', octal @ ..] => parse(octal, 8),
            [b'0', b'b' | b'B', binary @ ..] => parse(binary, 2),
            _ => parse(digits, 10),
        };
        self.tokens.push(Token::Number(value));
        Some(())
    }

    /// A string literal whose prefix starts at `from`; stands at the quote.
    fn string(&mut self, from: usize) -> Option<()> {
        let prefix = self.slice(from);
        let has = |letters: [u8; 2]| !prefix.is_empty() && prefix.iter().any(|byte| letters.contains(byte));
        let (raw, bytes) = (has([b'r', b'R']), has([b'b', b'B']));
        let formatted = has([b'f', b'F']) || has([b't', b'T']);
        let quote = self.byte(0);
        let triple = self.byte(1) == quote && self.byte(2) == quote;
        self.at += if triple { 3 } else { 1 };
        if formatted {
            return self.formatted(Quote { quote, triple, raw });
        }
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += until(self.rest(), [quote, b'\\', b'\n']);
            if self.at >= self.text.len() {
                return None;
            }
            match self.byte(0) {
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                b'\n' if !triple => return None,
                c if c == quote && (!triple || (self.byte(1) == quote && self.byte(2) == quote)) => break,
                _ => self.at += 1,
            }
        }
        let inner = self.slice(start);
        self.at += if triple { 3 } else { 1 };
        let text = if escaped && !raw { unescape(self.arena, inner, !bytes)? } else { inner };
        self.tokens.push(Token::Text(self.arena.alloc(text)));
        Some(())
    }

    /// The parts of an f-string, up to its closing quote (PEP 701).
    fn formatted(&mut self, quote: Quote) -> Option<()> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }
        self.open.push(self.tokens.len());
        self.tokens.push(Token::Open { kind: b'f', close: 0, clause: 0 });
        self.parts(quote, false)?;
        self.at += if quote.triple { 3 } else { 1 };
        self.close(b'f')
    }

    /// Literal parts and fields, up to the closing quote, or up to `}` in a format specification.
    fn parts(&mut self, quote: Quote, specification: bool) -> Option<()> {
        let mut start = self.at;
        let mut escaped = false;
        loop {
            self.at += until(self.rest(), [quote.quote, b'\\', b'\n', b'{', b'}']);
            if self.at >= self.text.len() {
                return None;
            }
            let c = self.byte(0);
            let closes = c == quote.quote
                && (!quote.triple || (self.byte(1) == quote.quote && self.byte(2) == quote.quote));
            match c {
                _ if closes => {
                    return if specification { None } else { self.literal(start, escaped, quote.raw) };
                }
                b'\n' if !quote.triple => return None,
                b'{' if self.byte(1) == b'{' && !specification => {
                    self.at += 1;
                    self.literal(start, escaped, quote.raw)?;
                    self.at += 1;
                    (start, escaped) = (self.at, false);
                }
                b'}' if specification => return self.literal(start, escaped, quote.raw),
                b'}' if self.byte(1) == b'}' => {
                    self.at += 1;
                    self.literal(start, escaped, quote.raw)?;
                    self.at += 1;
                    (start, escaped) = (self.at, false);
                }
                b'}' => return None,
                b'{' => {
                    self.literal(start, escaped, quote.raw)?;
                    self.field(quote)?;
                    (start, escaped) = (self.at, false);
                }
                // `\N{…}` names a character; what looks like a field in it is none.
                b'\\' if !quote.raw && self.byte(1) == b'N' && self.byte(2) == b'{' => {
                    escaped = true;
                    while self.byte(0) != b'}' {
                        if self.at >= self.text.len() || self.byte(0) == quote.quote {
                            return None;
                        }
                        self.at += 1;
                    }
                    self.at += 1;
                }
                b'\\' => {
                    escaped = true;
                    let skipped = self.byte(1);
                    self.at += if matches!(skipped, b'{' | b'}') { 1 } else { 2 };
                }
                _ => self.at += 1,
            }
        }
    }

    fn literal(&mut self, start: usize, escaped: bool, raw: bool) -> Option<()> {
        let inner = self.slice(start);
        if !inner.is_empty() {
            let text = if escaped && !raw { unescape(self.arena, inner, true)? } else { inner };
            self.tokens.push(Token::Text(self.arena.alloc(text)));
        }
        Some(())
    }

    /// `{expression!conversion:specification}`; stands at `{`.
    fn field(&mut self, quote: Quote) -> Option<()> {
        self.open(b'%')?;
        let depth = self.open.len();
        loop {
            if self.at >= self.text.len() {
                return None;
            }
            let own = self.open.len() == depth;
            match self.byte(0) {
                b'}' if own => break,
                b'!' if own && self.byte(1) != b'=' => {
                    self.at += 1;
                    while self.byte(0).is_ascii_alphanumeric() {
                        self.at += 1;
                    }
                }
                b':' if own => {
                    self.at += 1;
                    self.tokens.push(Token::Colon);
                    self.parts(quote, true)?;
                }
                b'\n' | b'\r' | b' ' => self.at += 1,
                _ => self.token_within()?,
            }
        }
        self.close(b'%')?;
        self.at += 1;
        Some(())
    }
}

/// How many spaces a text begins with.
fn spaces(text: &[u8]) -> usize {
    let mut rest = text;
    // Of eight at a time: the first byte that is none is the lowest one that differs.
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let others = u64::from_le_bytes(*word) ^ u64::from_le_bytes([b' '; 8]);
        if others != 0 {
            return text.len() - rest.len() + others.trailing_zeros() as usize / 8;
        }
        rest = after;
    }
    text.len() - rest.len() + rest.iter().take_while(|byte| **byte == b' ').count()
}

/// How a string is written.
#[derive(Clone, Copy)]
struct Quote {
    quote: u8,
    triple: bool,
    raw: bool,
}

fn is_prefix(word: &[u8]) -> bool {
    word.iter().all(|b| matches!(b, b'r' | b'R' | b'b' | b'B' | b'u' | b'U' | b'f' | b'F' | b't' | b'T'))
}

/// Whether a name has no characters that Python would normalise into ASCII letters (NFKC).
fn is_plain(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| {
        word.chars().all(|c| {
            matches!(c, '\0'..='\x7f' | '\u{c0}'..='\u{131}' | '\u{391}'..='\u{3ce}' | '\u{400}'..='\u{481}'
                | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
        })
    })
}
