//! Brace expansion, exactly where bash does it.
//!
//! bash expands braces in a word's text before it looks at anything else, with a scanner that knows quotes and
//! substitutions only roughly. This module applies the same rules to the parts of the word; a word in which the
//! rough scanner could see something else than the parser did, or whose results would combine into new syntax, is
//! refused.

use super::{Parser, Result};
use crate::chars::is_name_byte;
use crate::{
    Brace, BraceRange, ErrorCode, Parameter, ParameterName, ParameterOperation, ParseError, PartKind, Parts,
    Span, Subscript, SubstitutionForm, WordPart,
};

/// What the scanner distinguishes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Open,
    Close,
    Comma,
    /// A dot that another one follows.
    Dots,
    Text,
    /// Anything that is not unquoted literal text.
    Part,
}

/// A unit and where its text is. A word may have one for each of its bytes.
#[derive(Clone, Copy)]
struct Piece {
    unit: Unit,
    /// The part that it is a slice of: where that waits among the others.
    part: u32,
    start: u32,
    end: u32,
}

/// Most pieces of a word with braces, all of which are there beside the parts that they become.
const MOST_PIECES: usize = 64 << 10;

impl<'a> Parser<'a> {
    /// Replaces the parts since `mark`, one of which has an unquoted `{`, by what brace expansion makes of them.
    pub(super) fn expand_braces(&mut self, mark: usize) -> Result<()> {
        if self.stacks.parts.len() - mark > MOST_PIECES {
            return self.fail(ErrorCode::TooComplex, "");
        }
        let mut pieces = Vec::new();
        for (at, part) in self.stacks.parts.iter().enumerate().skip(mark) {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            match part.kind {
                PartKind::Literal(text) => cut(text, at, &mut pieces),
                _ => pieces.push(Piece { unit: Unit::Part, part: at, start: 0, end: 0 }),
            }
        }
        if !pieces.iter().any(|piece| piece.unit == Unit::Close) {
            return Ok(());
        }
        if pieces.len() > MOST_PIECES {
            return self.fail(ErrorCode::TooComplex, "");
        }
        let original = self.stacks.parts.len();
        let expanded = self.expand(&pieces, true)?;
        if !expanded {
            self.stacks.parts.truncate(original);
            return Ok(());
        }
        // The new parts stand behind the old ones.
        self.stacks.parts.remove(mark, original);
        Ok(())
    }

    /// Refuses a word, from `start` to the cursor, in which bash's scanner could see braces where there are none, or
    /// miss some.
    pub(super) fn check_hidden_braces(&mut self, mark: usize, start: usize) -> Result<()> {
        let parts = self.stacks.parts.get(mark..).unwrap_or(&[]);
        if parts.iter().all(|part| self.is_transparent(part)) {
            return Ok(());
        }
        let text = self.cursor.slice(start, self.cursor.position());
        let separated = text.contains(&b',') || text.windows(2).any(|pair| pair == b"..");
        if separated && text.contains(&b'{') && text.contains(&b'}') {
            return self.fail_from(start, ErrorCode::AmbiguousBrace, "");
        }
        Ok(())
    }

    /// Pushes the parts that the pieces become; true if there is a brace expansion among them.
    fn expand(&mut self, pieces: &[Piece], word_start: bool) -> Result<bool> {
        self.enter()?;
        let mut rest = pieces;
        let mark = self.stacks.parts.len();
        let mut word_start = word_start;
        let mut any = false;
        while let Some((open, close)) = self.find_braces(rest)? {
            let before = rest.get(..open).unwrap_or(&[]);
            let inside = rest.get(open + 1..close).unwrap_or(&[]);
            let braces = rest.get(open..=close).unwrap_or(&[]);
            self.emit(before)?;
            word_start &= before.is_empty();
            let left = self.stacks.parts.get(mark..).and_then(<[_]>::last).copied();
            let brace = if inside.iter().any(|piece| matches!(piece.unit, Unit::Comma)) {
                Some(self.list_of(inside, word_start)?)
            } else {
                self.range_of(inside)?
            };
            match brace {
                Some(brace) => {
                    any = true;
                    let kind = PartKind::Brace(self.arena.alloc(brace));
                    self.stacks.parts.push(WordPart { kind, span: self.span_of(braces) });
                }
                None => self.emit(braces)?,
            }
            rest = rest.get(close + 1..).unwrap_or(&[]);
            if let Some(brace) = &brace
                && (rest.first().is_some_and(|piece| self.starts_with_tilde(piece))
                    || before.last().is_some_and(|piece| self.is_open_tilde(piece))
                    || self.lengthens(left, brace, rest.first()))
            {
                return ambiguous(self.span_of(pieces));
            }
            word_start = false;
        }
        self.emit(rest)?;
        self.leave();
        Ok(any)
    }

    /// The first pair of braces that bash takes for an expansion.
    fn find_braces(&mut self, pieces: &[Piece]) -> Result<Option<(usize, usize)>> {
        for (open, piece) in pieces.iter().enumerate() {
            if !matches!(piece.unit, Unit::Open) {
                continue;
            }
            // `{}` at the beginning is left alone, as find and xargs need it.
            if open == 0 && matches!(pieces.get(1), Some(Piece { unit: Unit::Close, .. })) {
                continue;
            }
            self.spend(pieces.len() - open)?;
            let mut level = 0_u32;
            let mut separated = false;
            for (index, piece) in pieces.iter().enumerate().skip(open + 1) {
                match piece.unit {
                    Unit::Open => level += 1,
                    Unit::Close if level > 0 => level -= 1,
                    Unit::Close if separated => return Ok(Some((open, index))),
                    Unit::Comma if level == 0 => separated = true,
                    Unit::Dots if level == 0 && !self.before_close(pieces, index) => separated = true,
                    _ => {}
                }
            }
        }
        Ok(None)
    }

    /// `{a,b}`: the words between the commas.
    fn list_of(&mut self, inside: &[Piece], word_start: bool) -> Result<Brace<'a>> {
        self.spend(inside.len())?;
        let mark = self.stacks.words.len();
        let mut level = 0_u32;
        let mut from = 0;
        for (index, piece) in inside.iter().enumerate() {
            match piece.unit {
                Unit::Open => level += 1,
                Unit::Close => level = level.saturating_sub(1),
                Unit::Comma if level == 0 => {
                    self.alternative(inside, from, index, word_start)?;
                    from = index + 1;
                }
                _ => {}
            }
        }
        self.alternative(inside, from, inside.len(), word_start)?;
        Ok(Brace::List(self.stacks.words.take(self.arena, mark)))
    }

    fn alternative(&mut self, inside: &[Piece], from: usize, to: usize, word_start: bool) -> Result<()> {
        let pieces = inside.get(from..to).unwrap_or(&[]);
        let mark = self.stacks.parts.len();
        if pieces.first().is_some_and(|piece| self.starts_with_tilde(piece)) {
            let rest = self.tilde_in_alternative(pieces, word_start)?;
            self.expand(&rest, false)?;
        } else {
            self.expand(pieces, word_start)?;
        }
        let parts = self.stacks.parts.get(mark..).unwrap_or_default();
        if let Some(WordPart { kind: PartKind::Literal(text), span }) = parts.last()
            && text.ends_with(b"$")
        {
            return ambiguous(*span);
        }
        let span = match (parts.first(), parts.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => {
                let at = inside
                    .get(to)
                    .map_or_else(|| self.span_of(inside).end, |piece| self.piece_span(piece).start);
                Span::new(at, at)
            }
        };
        let word = self.word_since(mark, span);
        self.stacks.words.push(word);
        Ok(())
    }

    /// Whether `$name` before the braces or at the end of an alternative is lengthened by what comes to stand behind
    /// it: `$x{a,b}` becomes `$xa $xb`.
    fn lengthens(&self, left: Option<WordPart<'a>>, brace: &Brace<'a>, right: Option<&Piece>) -> bool {
        let name_follows = right.is_some_and(|piece| match piece.unit {
            Unit::Part | Unit::Comma | Unit::Dots | Unit::Close => false,
            Unit::Open => true,
            Unit::Text => self.text_of(piece).first().is_some_and(|byte| is_name_byte(*byte)),
        });
        let left = left.is_some_and(|part| self.is_unbraced_name(&part));
        match brace {
            Brace::Range(_) => left,
            Brace::List(words) => {
                words.iter().any(|word| match (word.parts().first(), word.parts().last()) {
                    (Some(first), Some(last)) => {
                        let starts = match first.kind {
                            PartKind::Literal(text) => text.first().is_some_and(|byte| is_name_byte(*byte)),
                            PartKind::Brace(_) => true,
                            _ => false,
                        };
                        let ends = matches!(last.kind, PartKind::Brace(_)) || self.is_unbraced_name(last);
                        (left && starts) || (name_follows && ends)
                    }
                    _ => left && name_follows,
                })
            }
        }
    }

    /// `{~/a,~/b}`: the tilde prefix is expanded in each word that results. Pushes it and returns the rest.
    fn tilde_in_alternative(&mut self, pieces: &[Piece], word_start: bool) -> Result<Vec<Piece>> {
        let Some((first, others)) = pieces.split_first() else { return Ok(Vec::new()) };
        let text = self.text_of(first);
        let login = text.iter().skip(1).take_while(|byte| **byte != b'/').count();
        let plain = text.get(1..=login).unwrap_or(&[]).iter().all(u8::is_ascii_alphanumeric);
        if !word_start || !plain || text.len() == login + 1 {
            return ambiguous(self.piece_span(first));
        }
        let middle = first.start + u32::try_from(login + 1).unwrap_or(0);
        let (prefix, rest) = (Piece { end: middle, ..*first }, Piece { start: middle, ..*first });
        let kind = PartKind::Tilde(self.text_of(&prefix).get(1..).unwrap_or(&[]));
        let span = self.piece_span(&prefix);
        self.stacks.parts.push(WordPart { kind, span });
        Ok(std::iter::once(rest).chain(others.iter().copied()).collect())
    }

    /// `{first..last..step}`; `None` if it is not a sequence, so that the braces are literal.
    fn range_of(&mut self, inside: &[Piece]) -> Result<Option<Brace<'a>>> {
        let span = self.span_of(inside);
        let (Some(first), Some(last)) = (inside.first(), inside.last()) else { return Ok(None) };
        if inside.iter().any(|piece| matches!(piece.unit, Unit::Part)) {
            // A comma inside a quotation makes bash drop the braces; without one they are literal.
            let text = self.source.get(span.start as usize..span.end as usize).unwrap_or(b",");
            return if text.contains(&b',') { ambiguous(span) } else { Ok(None) };
        }
        if !inside.iter().all(|piece| piece.part == first.part) {
            return ambiguous(span);
        }
        let text = self.text_of(&Piece { end: last.end, ..*first });
        let Some(range) = sequence(text) else { return Ok(None) };
        if let ([a], [b]) = (range.first, range.last)
            && a.is_ascii_alphabetic()
            && b.is_ascii_alphabetic()
            && a.is_ascii_uppercase() != b.is_ascii_uppercase()
        {
            // Between the cases lie a backquote and a backslash, which bash then reads as such.
            return ambiguous(span);
        }
        Ok(Some(Brace::Range(self.arena.alloc(range))))
    }

    /// Pushes pieces as they are, adjacent text as one literal.
    fn emit(&mut self, pieces: &[Piece]) -> Result<()> {
        let mut pending: Option<Piece> = None;
        for piece in pieces {
            if piece.unit == Unit::Part {
                self.push_piece(pending.take());
                if let Some(part) = self.stacks.parts.get(piece.part as usize).copied() {
                    self.stacks.parts.push(part);
                }
                continue;
            }
            pending = match pending {
                Some(before) if before.part == piece.part && before.end == piece.start => {
                    Some(Piece { end: piece.end, ..before })
                }
                before => {
                    self.push_piece(before);
                    Some(*piece)
                }
            };
        }
        self.push_piece(pending);
        Ok(())
    }

    fn push_piece(&mut self, piece: Option<Piece>) {
        if let Some(piece) = piece {
            let kind = PartKind::Literal(self.text_of(&piece));
            let span = self.piece_span(&piece);
            self.stacks.parts.push(WordPart { kind, span });
        }
    }

    /// The literal that a piece is a slice of, and where it stands.
    fn literal_of(&self, piece: &Piece) -> (&'a [u8], Span) {
        match self.stacks.parts.get(piece.part as usize) {
            Some(WordPart { kind: PartKind::Literal(text), span }) => (text, *span),
            Some(part) => (&[], part.span),
            None => (&[], Span::default()),
        }
    }

    fn text_of(&self, piece: &Piece) -> &'a [u8] {
        self.literal_of(piece).0.get(piece.start as usize..piece.end as usize).unwrap_or(&[])
    }

    /// Exact unless the text was joined over a line continuation.
    fn piece_span(&self, piece: &Piece) -> Span {
        let (text, span) = self.literal_of(piece);
        let exact = (span.end - span.start) as usize == text.len();
        if exact { Span::new(span.start + piece.start, span.start + piece.end) } else { span }
    }

    fn span_of(&self, pieces: &[Piece]) -> Span {
        match (pieces.first(), pieces.last()) {
            (Some(first), Some(last)) => self.piece_span(first).to(self.piece_span(last)),
            _ => Span::default(),
        }
    }

    fn starts_with_tilde(&self, piece: &Piece) -> bool {
        piece.unit == Unit::Text && self.text_of(piece).first() == Some(&b'~')
    }

    /// Whether what follows would belong to the tilde's login name.
    fn is_open_tilde(&self, piece: &Piece) -> bool {
        self.starts_with_tilde(piece) && !self.text_of(piece).contains(&b'/')
    }

    /// Whether the two dots at `index` stand right before a closing brace, where they do not count.
    fn before_close(&self, pieces: &[Piece], index: usize) -> bool {
        let second_is_alone = pieces.get(index + 1).is_some_and(|piece| self.text_of(piece) == b".");
        second_is_alone && matches!(pieces.get(index + 2), Some(Piece { unit: Unit::Close, .. }))
    }

    /// Whether bash's brace scanner skips the part as one piece, as the parser did.
    fn is_transparent(&self, part: &WordPart<'a>) -> bool {
        match part.kind {
            PartKind::Literal(_) | PartKind::Quoted(_) | PartKind::Glob(_) | PartKind::Tilde(_) => true,
            // bash has turned `$'…'` into single quotes before.
            PartKind::SingleQuoted(_) | PartKind::AnsiC(_) | PartKind::ProcessSubstitution(_) => true,
            PartKind::DoubleQuoted(parts) | PartKind::Locale(parts) => {
                parts.iter().all(|part| self.is_transparent_in_quotes(part))
            }
            PartKind::Parameter(parameter) => {
                let braces = |part: &WordPart<'a>| match part.kind {
                    PartKind::Literal(text) => text.contains(&b'{'),
                    _ => !self.is_transparent(part),
                };
                is_plain(parameter) || operand(parameter).is_some_and(|parts| !parts.iter().any(braces))
            }
            PartKind::CommandSubstitution(substitution) => {
                matches!(substitution.form, SubstitutionForm::Dollar | SubstitutionForm::Backquote)
            }
            PartKind::Arithmetic(arithmetic) => !arithmetic.brackets,
            PartKind::ExtendedGlob(_) | PartKind::Brace(_) | PartKind::ArrayAssignment(_) => false,
        }
    }

    /// Likewise for a part between double quotes, where the scanner looks for the closing quote.
    fn is_transparent_in_quotes(&self, part: &WordPart<'a>) -> bool {
        match part.kind {
            PartKind::Quoted(_) => true,
            PartKind::Parameter(parameter) => {
                // Text in which nothing means anything to the scanner is passed over.
                let passed = |part: &WordPart<'a>| match part.kind {
                    PartKind::Quoted(_) | PartKind::Glob(_) => true,
                    PartKind::Literal(text) => !text.iter().any(|byte| b"\"'`\\$(){}".contains(byte)),
                    _ => false,
                };
                is_plain(parameter) || operand(parameter).is_some_and(|parts| parts.iter().all(passed))
            }
            PartKind::CommandSubstitution(substitution) => match substitution.form {
                SubstitutionForm::Dollar => true,
                SubstitutionForm::Backquote => {
                    let text = self.source.get(part.span.start as usize..part.span.end as usize);
                    text.is_some_and(|text| !text.contains(&b'"'))
                }
                SubstitutionForm::Current | SubstitutionForm::Reply => false,
            },
            PartKind::Arithmetic(arithmetic) => !arithmetic.brackets,
            _ => false,
        }
    }
}

fn ambiguous<T>(span: Span) -> Result<T> {
    Err(ParseError { code: ErrorCode::AmbiguousBrace, span, opener: None, before: 0, expected: "" })
}

/// Cuts literal text where the scanner looks.
fn cut(text: &[u8], part: u32, pieces: &mut Vec<Piece>) {
    let piece = |unit, start: usize, end: usize| {
        let at = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Piece { unit, part, start: at(start), end: at(end) }
    };
    let mut from = 0;
    for (index, byte) in text.iter().enumerate() {
        let unit = match byte {
            b'{' => Unit::Open,
            b'}' => Unit::Close,
            b',' => Unit::Comma,
            b'.' if text.get(index + 1) == Some(&b'.') => Unit::Dots,
            _ => continue,
        };
        if from < index {
            pieces.push(piece(Unit::Text, from, index));
        }
        pieces.push(piece(unit, index, index + 1));
        from = index + 1;
    }
    if from < text.len() {
        pieces.push(piece(Unit::Text, from, text.len()));
    }
}

/// `x..y` or `x..y..step` as bash's `expand_seqterm` accepts it.
fn sequence(text: &[u8]) -> Option<BraceRange<'_>> {
    let dots = text.windows(2).position(|pair| pair == b"..")?;
    let first = text.get(..dots)?;
    let rest = text.get(dots + 2..)?;
    let letter = |text: &[u8]| matches!(text, [byte] if byte.is_ascii_alphabetic());
    let (last, step) = match rest.windows(2).position(|pair| pair == b"..") {
        Some(dots) => (rest.get(..dots)?, Some(rest.get(dots + 2..)?)),
        None => (rest, None),
    };
    let kinds_agree = (letter(first) && letter(last)) || (is_integer(first) && is_integer(last));
    let step_is_good = step.is_none_or(is_integer);
    (kinds_agree && step_is_good).then_some(BraceRange { first, last, step })
}

/// An optional sign and digits that fit 64 bits.
fn is_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    digits.first().is_some_and(u8::is_ascii_digit)
        && std::str::from_utf8(text).is_ok_and(|text| text.parse::<i64>().is_ok())
}

/// No text other than names in it.
fn is_plain(parameter: &Parameter<'_>) -> bool {
    let name = !matches!(parameter.name, ParameterName::Special(b'$'));
    let subscript = !matches!(parameter.subscript(), Some(Subscript::Index(_)));
    let operation = matches!(
        parameter.operation(),
        ParameterOperation::None | ParameterOperation::Length | ParameterOperation::Transform(_)
    );
    name && subscript && operation
}

/// The only operand, if there is exactly one and no subscript.
fn operand<'a>(parameter: &Parameter<'a>) -> Option<Parts<'a>> {
    if matches!(parameter.subscript(), Some(Subscript::Index(_))) {
        return None;
    }
    match parameter.operation() {
        ParameterOperation::Default { word, .. }
        | ParameterOperation::Alternative { word, .. }
        | ParameterOperation::RemovePrefix { pattern: word, .. }
        | ParameterOperation::RemoveSuffix { pattern: word, .. }
        | ParameterOperation::Case { pattern: word, .. } => Some(word.parts()),
        _ => None,
    }
}
