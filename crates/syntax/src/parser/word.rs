//! Words: adjacent quoted and unquoted parts up to a metacharacter (POSIX 2.3), globs, tildes, extended patterns.

use super::expansion::Context;
use super::{Parser, Result};
use crate::chars::{
    BRACE, DIGIT, EXTGLOB, GLOB, META, NAME, QUOTE, TILDE, class, is_metacharacter, is_name_byte,
    is_name_start,
};
use crate::cursor::END;
use crate::{ErrorCode, ExtendedGlob, NoteKind, PartKind, Span, Word, WordPart};
use bumpalo::collections::Vec as BumpVec;

/// Where a tilde prefix may stand in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tilde {
    Never,
    /// At the beginning.
    Start,
    /// At the beginning and after each colon.
    Value,
    /// At the beginning, and if the word looks like an assignment, as in its value.
    Argument,
}

/// How a word is read, which depends on where it stands.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    braces: bool,
    tilde: Tilde,
    /// Extended patterns are read whether or not `extglob` is on.
    pattern: bool,
    /// The right-hand side of `=~`: parentheses and `|` belong to the word.
    regex: bool,
}

impl Mode {
    const BASE: Self = Self { braces: false, tilde: Tilde::Start, pattern: false, regex: false };
    /// A command's word, a loop's word, a redirection's target.
    pub(super) const ARGUMENT: Self = Self { braces: true, tilde: Tilde::Argument, ..Self::BASE };
    /// A word that is not brace-expanded: after `case`, a `case` pattern, in `[[ ]]`.
    pub(super) const SINGLE: Self = Self { tilde: Tilde::Argument, ..Self::BASE };
    /// The value of an assignment, a here-string.
    pub(super) const VALUE: Self = Self { tilde: Tilde::Value, ..Self::BASE };
    /// The value of a subscripted element, where a brace expansion has to be seen to be refused.
    pub(super) const VALUE_WITH_BRACES: Self = Self { braces: true, ..Self::VALUE };
    /// An element of a compound assignment.
    pub(super) const ELEMENT: Self = Self { braces: true, ..Self::BASE };
    /// A function's name, a here-document's delimiter.
    pub(super) const NAME: Self = Self { tilde: Tilde::Never, ..Self::BASE };
    /// The right-hand side of `==` and `!=` in `[[ ]]`.
    pub(super) const PATTERN: Self = Self { pattern: true, ..Self::SINGLE };
    /// The right-hand side of `=~` in `[[ ]]`.
    pub(super) const REGEX: Self = Self { regex: true, ..Self::SINGLE };

    pub(super) fn is_regex(self) -> bool {
        self.regex
    }
}

/// Why a run of literal text ended, and what was seen in it.
struct Run {
    /// An unquoted `{` is in it.
    brace: bool,
    /// A tilde prefix follows.
    tilde: bool,
}

impl<'a> Parser<'a> {
    /// Reads a word. The caller has made sure that one begins here.
    pub(super) fn word(&mut self, mode: Mode) -> Result<Word<'a>> {
        self.cursor.peek();
        if !mode.regex
            && let Some(word) = self.plain_word()
        {
            return Ok(word);
        }
        let start = self.cursor.position();
        let mark = self.stacks.parts.len();
        let extglob = self.extglob || mode.pattern;
        let mut brace = false;
        let mut opaque = false;
        if mode.tilde != Tilde::Never && self.cursor.peek() == b'~' {
            self.tilde(mode.tilde == Tilde::Value)?;
        }
        loop {
            let byte = self.cursor.peek();
            let class = class(byte);
            if class & META != 0 || byte == END {
                match byte {
                    b'<' | b'>' if self.cursor.peek_second() == b'(' && !mode.regex => {
                        self.process_substitution()?;
                    }
                    b'<' | b'>' if mode.regex => {
                        return self.fail(ErrorCode::BadConditional, "a quoted `<` or `>`");
                    }
                    b'(' if mode.regex => self.regex_group()?,
                    b'|' if mode.regex => self.push_literal(1),
                    _ => break,
                }
            } else if class & QUOTE != 0 {
                opaque = true;
                self.quotation_or_expansion(byte, Context::Word)?;
            } else if extglob && class & EXTGLOB != 0 && self.cursor.peek_second() == b'(' {
                opaque = true;
                self.extended_glob(false)?;
            } else if class & GLOB != 0 {
                self.push_glob(byte);
            } else {
                let run = self.literal(start, mode.tilde, extglob)?;
                brace |= run.brace;
                if run.tilde {
                    self.tilde(true)?;
                }
            }
        }
        if mode.braces && !self.posix {
            if opaque {
                self.check_hidden_braces(mark, start)?;
            }
            if brace {
                self.expand_braces(mark)?;
                if mode.tilde == Tilde::Argument {
                    self.forget_later_tildes(mark);
                }
            }
        }
        Ok(self.word_since(mark, self.cursor.span_from(start)))
    }

    /// A word in which nothing means anything, and behind which nothing but a blank or an operator begins: as most are.
    #[inline]
    fn plain_word(&mut self) -> Option<Word<'a>> {
        let start = self.cursor.position();
        let rest = self.cursor.rest();
        let length = rest.iter().position(|byte| class(*byte) & !(NAME | DIGIT) != 0).unwrap_or(rest.len());
        if !matches!(rest.get(length), None | Some(b' ' | b'\n' | b';' | b'|' | b'&' | b'\t')) {
            return None;
        }
        let text = rest.get(..length).filter(|text| !text.is_empty())?;
        let span = self.cursor.span(start, start + length);
        let word = Word::literal(&[WordPart { kind: PartKind::Literal(text), span }], span)?;
        self.cursor.set_position(start + length);
        Some(word)
    }

    /// The word of the parts that were pushed since `mark`.
    #[inline]
    pub(super) fn word_since(&mut self, mark: usize, span: Span) -> Word<'a> {
        if let Some(word) = self.stacks.parts.get(mark..).and_then(|parts| Word::literal(parts, span)) {
            self.stacks.parts.truncate(mark);
            return word;
        }
        let parts = self.stacks.parts.take(self.arena, mark);
        Word::new(self.arena, parts, span)
    }

    /// Brace expansion makes new words of an argument, in which bash no longer sees an assignment: only a tilde at the
    /// beginning is a prefix.
    fn forget_later_tildes(&mut self, mark: usize) {
        let parts = self.stacks.parts.get(mark..).unwrap_or(&[]);
        let is_brace = |part: &WordPart<'_>| matches!(part.kind, PartKind::Brace(_));
        let is_tilde = |part: &WordPart<'_>| matches!(part.kind, PartKind::Tilde(_));
        if !parts.iter().any(is_brace) || !parts.iter().skip(1).any(is_tilde) {
            return;
        }
        for (index, part) in self.stacks.parts.take(self.arena, mark).iter().enumerate() {
            let kind = match part.kind {
                PartKind::Tilde(login) if index > 0 => {
                    let mut text = BumpVec::with_capacity_in(login.len() + 1, self.arena);
                    text.push(b'~');
                    text.extend_from_slice_copy(login);
                    PartKind::Literal(text.into_bump_slice())
                }
                kind => kind,
            };
            self.stacks.parts.push(WordPart { kind, span: part.span });
        }
    }

    /// Unquoted text without special characters, line continuations removed.
    fn literal(&mut self, word: usize, tilde: Tilde, extglob: bool) -> Result<Run> {
        let start = self.cursor.position();
        let mut seen = 0;
        let mut at = start;
        let mut joined: Option<BumpVec<'a, u8>> = None;
        let mut piece = start;
        let mut before_tilde = false;
        loop {
            for byte in self.cursor.from(at) {
                let class = class(*byte);
                if class & (META | QUOTE | GLOB | TILDE | EXTGLOB) != 0 {
                    break;
                }
                seen |= class;
                at += 1;
            }
            let byte = self.cursor.byte_at(at);
            let class = class(byte);
            if class & (META | QUOTE | GLOB | TILDE | EXTGLOB) != 0 || byte == END {
                if byte == b'\\' && self.cursor.byte_at(at + 1) == b'\n' {
                    let text = joined.get_or_insert_with(|| BumpVec::new_in(self.arena));
                    text.extend_from_slice_copy(self.cursor.slice(piece, at));
                    at += 2;
                    piece = at;
                    continue;
                }
                if class & (META | QUOTE | GLOB) != 0 || byte == END {
                    break;
                }
                if class & TILDE != 0 && at > start {
                    let previous = match &joined {
                        Some(text) if piece == at => text.last().copied(),
                        _ => Some(self.cursor.byte_at(at - 1)),
                    };
                    if self.tilde_may_follow(previous, word, at, tilde)? {
                        before_tilde = true;
                        break;
                    }
                }
                if class & EXTGLOB != 0 && extglob && at > start {
                    let mut ahead = self.cursor;
                    ahead.set_position(at);
                    if ahead.peek_second() == b'(' {
                        break;
                    }
                }
            }
            seen |= class;
            at += 1;
        }
        let text = match joined {
            Some(mut text) => {
                text.extend_from_slice_copy(self.cursor.slice(piece, at));
                text.into_bump_slice()
            }
            None => self.cursor.slice(start, at),
        };
        self.cursor.set_position(at);
        let span = self.cursor.span(start, at);
        self.stacks.parts.push(WordPart { kind: PartKind::Literal(text), span });
        Ok(Run { brace: seen & BRACE != 0, tilde: before_tilde })
    }

    /// Whether the unquoted `~` at `at` begins a tilde prefix, given the literal byte before it.
    fn tilde_may_follow(
        &mut self,
        previous: Option<u8>,
        word: usize,
        at: usize,
        tilde: Tilde,
    ) -> Result<bool> {
        match (tilde, previous) {
            (Tilde::Value, Some(b':')) => Ok(true),
            (Tilde::Argument, Some(byte @ (b'=' | b':'))) if !self.posix => {
                let before = self.joined(word, at)?;
                self.spend(before.len())?;
                Ok(match value_start(before) {
                    Some(value) => byte == b':' || value == before.len(),
                    None => false,
                })
            }
            _ => Ok(false),
        }
    }

    /// The text between two positions without its line continuations.
    fn joined(&mut self, from: usize, to: usize) -> Result<&'a [u8]> {
        let text = self.cursor.slice(from, to);
        if !text.windows(2).any(|pair| pair == b"\\\n") {
            return Ok(text);
        }
        if text.contains(&b'\'') {
            // Between single quotes it would be none.
            return self.fail(ErrorCode::AmbiguousTilde, "");
        }
        let mut joined = BumpVec::with_capacity_in(text.len(), self.arena);
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            match (byte, bytes.as_slice()) {
                (b'\\', [b'\n', ..]) => {
                    bytes.next();
                }
                (b'\\', [quoted, ..]) => {
                    joined.extend_from_slice_copy(&[b'\\', *quoted]);
                    bytes.next();
                }
                _ => joined.push(*byte),
            }
        }
        Ok(joined.into_bump_slice())
    }

    /// A tilde prefix, or a literal tilde if what follows rules that out. `value`: in an assignment's value.
    fn tilde(&mut self, value: bool) -> Result<()> {
        let start = self.cursor.position();
        let mut ahead = self.cursor;
        ahead.advance(1);
        let mut login = BumpVec::new_in(self.arena);
        let prefix = loop {
            let byte = ahead.peek();
            match byte {
                END | b'/' => break true,
                b':' if value => break true,
                // Elsewhere bash takes what stands between the colon and the next slash literally.
                b':' => return self.fail(ErrorCode::AmbiguousTilde, ""),
                // bash expands this one and takes all that follows for quoted.
                b'=' if ahead.peek_second() == b'~' => return self.fail(ErrorCode::AmbiguousTilde, ""),
                // What a process substitution stands for belongs to the login name.
                b'<' | b'>' if !self.posix && ahead.peek_second() == b'(' => break false,
                _ if class(byte) & META != 0 => break true,
                _ if class(byte) & (QUOTE | GLOB | BRACE | TILDE) != 0 || byte == b'}' || byte == b',' => {
                    // Then bash may expand a later one that begins no value.
                    if self.begins_again(ahead.position())? {
                        return self.fail(ErrorCode::AmbiguousTilde, "");
                    }
                    break false;
                }
                _ => login.push(byte),
            }
            ahead.advance(1);
        };
        if prefix {
            self.cursor = ahead;
            self.push(PartKind::Tilde(login.into_bump_slice()), start);
        }
        // A literal tilde begins the run of text that the caller reads next.
        Ok(())
    }

    /// Whether `=~` stands in what is left of a word, before any slash. Quotes are not looked at: it may be told too often.
    fn begins_again(&mut self, from: usize) -> Result<bool> {
        let (mut parentheses, mut braces) = (0_u32, 0_u32);
        let mut at = from;
        let found = loop {
            let byte = self.cursor.byte_at(at);
            let outside = parentheses == 0 && braces == 0;
            match byte {
                END => break false,
                b'=' if self.cursor.byte_at(at + 1) == b'~' => break true,
                b'$' if self.cursor.byte_at(at + 1) == b'{' => {
                    braces += 1;
                    at += 1;
                }
                b'}' => braces = braces.saturating_sub(1),
                b'(' => parentheses += 1,
                b')' if parentheses > 0 => parentheses -= 1,
                b'/' if outside => break false,
                _ if outside && class(byte) & META != 0 => break false,
                _ => {}
            }
            at += 1;
        };
        self.spend(at - from)?;
        Ok(found)
    }

    /// `?(…)` and its kin. `in_braces`: inside `${…}`, where an unquoted `}` would end the expansion.
    pub(super) fn extended_glob(&mut self, in_braces: bool) -> Result<()> {
        let start = self.cursor.position();
        let operator = self.cursor.peek();
        self.skip_two();
        self.note(NoteKind::ZshDiffers, start);
        let opener = self.cursor.span_from(start);
        self.enter()?;
        let mark = self.stacks.words.len();
        loop {
            let word_start = self.cursor.position();
            let parts_mark = self.stacks.parts.len();
            self.pattern_text(true, in_braces, opener)?;
            let word = self.word_since(parts_mark, self.cursor.span_from(word_start));
            self.stacks.words.push(word);
            let bar = self.cursor.peek() == b'|';
            self.cursor.advance(1);
            if !bar {
                break;
            }
        }
        self.leave();
        let patterns = self.stacks.words.take(self.arena, mark);
        let glob = self.arena.alloc(ExtendedGlob { operator, patterns });
        self.push(PartKind::ExtendedGlob(glob), start);
        Ok(())
    }

    /// A parenthesised group in a regular expression, as parts with literal parentheses.
    fn regex_group(&mut self) -> Result<()> {
        let start = self.cursor.position();
        self.push_literal(1);
        let opener = self.cursor.span_from(start);
        self.enter()?;
        self.pattern_text(false, false, opener)?;
        self.push_literal(1);
        self.leave();
        Ok(())
    }

    /// Text in parentheses, in which blanks and operators are literal, up to the closing parenthesis, or to the next
    /// `|` if that separates `alternatives`.
    fn pattern_text(&mut self, alternatives: bool, in_braces: bool, opener: Span) -> Result<()> {
        let mut depth = 0_u32;
        loop {
            let byte = self.cursor.peek();
            let class = class(byte);
            match byte {
                END => return self.unterminated(ErrorCode::UnterminatedPattern, opener, "`)`"),
                b')' if depth == 0 => return Ok(()),
                b'|' if depth == 0 && alternatives => return Ok(()),
                b'<' | b'>' if self.cursor.peek_second() == b'(' => {
                    return self.fail(ErrorCode::AmbiguousProcessSubstitution, "");
                }
                b'}' if in_braces => return self.fail(ErrorCode::AmbiguousQuote, "a quoted `}`"),
                b'(' => {
                    depth += 1;
                    self.push_literal(1);
                }
                b')' => {
                    depth -= 1;
                    self.push_literal(1);
                }
                _ if class & QUOTE != 0 => self.quotation_or_expansion(byte, Context::Word)?,
                _ if alternatives && class & EXTGLOB != 0 && self.cursor.peek_second() == b'(' => {
                    self.extended_glob(in_braces)?;
                }
                _ if class & GLOB != 0 => self.push_glob(byte),
                _ => {
                    let length = self
                        .cursor
                        .rest()
                        .iter()
                        .skip(1)
                        .take_while(|byte| {
                            crate::chars::class(**byte) & (META | QUOTE | GLOB | EXTGLOB) == 0
                                && **byte != b'}'
                        })
                        .count();
                    self.push_literal(1 + length);
                }
            }
        }
    }

    /// A part that begins with `\`, `'`, `"`, `` ` `` or `$`.
    pub(super) fn quotation_or_expansion(&mut self, byte: u8, context: Context) -> Result<()> {
        match byte {
            b'\\' => self.backslash()?,
            b'\'' => self.single_quoted()?,
            b'"' if self.posix && context != Context::Word => self.double_quoted(Context::InnerQuotes)?,
            b'"' => self.double_quoted(Context::DoubleQuoted)?,
            b'`' => self.backquoted(context)?,
            _ => {
                if !self.dollar(context)? {
                    self.push_literal(1);
                }
            }
        }
        Ok(())
    }

    /// A variable's name at the cursor; empty if there is none.
    pub(super) fn name(&mut self) -> &'a [u8] {
        let rest = self.cursor.rest();
        let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
        let name = rest.get(..length).unwrap_or(&[]);
        self.cursor.advance(length);
        if self.cursor.raw(0) != b'\\' || self.cursor.raw(1) != b'\n' {
            return name;
        }
        let mut joined = BumpVec::from_iter_in(name.iter().copied(), self.arena);
        while is_name_byte(self.cursor.peek()) {
            joined.push(self.cursor.peek());
            self.cursor.advance(1);
        }
        joined.into_bump_slice()
    }

    /// Pushes a part that ends at the cursor.
    pub(super) fn push(&mut self, kind: PartKind<'a>, start: usize) {
        let span = self.cursor.span_from(start);
        self.stacks.parts.push(WordPart { kind, span });
    }

    /// The next `length` bytes are literal.
    pub(super) fn push_literal(&mut self, length: usize) {
        let start = self.cursor.position();
        self.cursor.advance(length);
        self.push(PartKind::Literal(self.cursor.slice(start, start + length)), start);
    }

    pub(super) fn push_glob(&mut self, byte: u8) {
        let start = self.cursor.position();
        self.cursor.advance(1);
        self.push(PartKind::Glob(byte), start);
    }
}

/// Where the value begins if the text begins like an assignment: `name=`, `name+=`, `name[…]=`.
fn value_start(text: &[u8]) -> Option<usize> {
    let name = text.iter().take_while(|byte| is_name_byte(**byte)).count();
    if !text.first().is_some_and(|byte| is_name_start(*byte)) {
        return None;
    }
    let mut at = name;
    if text.get(at) == Some(&b'[') {
        let rest = text.get(at..)?;
        let close = rest.windows(2).position(|pair| matches!(pair, b"]=" | b"]+"))?;
        if rest.get(..close)?.iter().any(|byte| is_metacharacter(*byte)) {
            return None;
        }
        at += close + 1;
    }
    if text.get(at) == Some(&b'+') {
        at += 1;
    }
    (text.get(at) == Some(&b'=')).then_some(at + 1)
}
