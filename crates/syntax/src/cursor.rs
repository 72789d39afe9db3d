//! Where the parser stands in the text, and where that is in the source.
//!
//! Two things the rest of the parser need not think about live here: a backslash before a newline joins two lines
//! wherever the shell reads a token (POSIX 2.2.1), and the text may be *derived*, that is, a copy from which
//! escapes (backquotes) or leading tabs (here-documents) have been removed. A derived text carries a map, so that
//! every span points into what the user wrote.

use crate::Span;
use crate::chars::is_metacharacter;
use bumpalo::collections::Vec as BumpVec;

/// What [`Cursor::peek`] returns after the last byte. A NUL never occurs in a text that is read.
pub(crate) const END: u8 = 0;

/// From `derived` on, the text's bytes are the source's bytes from `source` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) derived: u32,
    pub(crate) source: u32,
}

/// A position in a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    position: usize,
    /// Ordered by `derived`; empty when the text is the source itself.
    map: &'a [Segment],
}

impl<'a> Cursor<'a> {
    /// At the beginning of a source.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, position: 0, map: &[] }
    }

    /// At the beginning of a derived text.
    pub(crate) fn derived(text: &'a [u8], map: &'a [Segment]) -> Self {
        Self { text, position: 0, map }
    }

    /// The same place in a text that ends at `end`.
    pub(crate) fn ending_at(self, end: usize) -> Self {
        Self { text: self.text.get(..end).unwrap_or(self.text), ..self }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    /// The text's length.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    /// The bytes between two positions.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        self.text.get(start..end).unwrap_or(&[])
    }

    /// The bytes from here on.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.get(self.position..).unwrap_or(&[])
    }

    /// The bytes from a position on.
    #[inline]
    pub(crate) fn from(&self, position: usize) -> &'a [u8] {
        self.text.get(position..).unwrap_or(&[])
    }

    /// The byte at a position, line continuations included.
    #[inline]
    pub(crate) fn byte_at(&self, position: usize) -> u8 {
        self.text.get(position).copied().unwrap_or(END)
    }

    /// The byte `ahead` of the position, line continuations included.
    #[inline]
    pub(crate) fn raw(&self, ahead: usize) -> u8 {
        self.byte_at(self.position + ahead)
    }

    /// Steps over line continuations and returns the byte there.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        match self.text.get(self.position) {
            None => END,
            Some(b'\\') => {
                while self.raw(0) == b'\\' && self.raw(1) == b'\n' {
                    self.position += 2;
                }
                self.raw(0)
            }
            Some(byte) => *byte,
        }
    }

    /// The byte after the one that [`peek`](Self::peek) returned, behind any line continuations.
    #[inline]
    pub(crate) fn peek_second(&self) -> u8 {
        let mut after = *self;
        after.position += 1;
        after.peek()
    }

    /// Whether a word that reaches to `ahead` of the position ends there. A process substitution would belong to it.
    #[inline]
    pub(crate) fn word_ends(&self, ahead: usize) -> bool {
        let mut after = *self;
        after.position += ahead;
        match after.peek() {
            END => true,
            b'<' | b'>' => after.peek_second() != b'(',
            byte => is_metacharacter(byte),
        }
    }

    /// The bytes up to where an unquoted word without line continuations would end.
    pub(crate) fn bare(&self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| is_metacharacter(*byte)).unwrap_or(rest.len());
        if self.word_ends(length) { rest.get(..length).unwrap_or(&[]) } else { &[] }
    }

    /// Steps over `count` bytes.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.position += count;
    }

    /// Steps over the byte if it is next, behind any line continuations.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        if found {
            self.position += 1;
        }
        found
    }

    /// Appends the bytes between two positions to a derived text, and to its map where they come from.
    pub(crate) fn copy_into(
        &self,
        start: usize,
        end: usize,
        text: &mut BumpVec<'_, u8>,
        map: &mut BumpVec<'_, Segment>,
    ) {
        let number = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        let derived = number(text.len());
        // What is nothing has a place as well, if nothing else is there: without a map the text would be the source itself.
        if start >= end && !map.is_empty() {
            return;
        }
        map.push(Segment { derived, source: self.offset(start) });
        if start >= end {
            return;
        }
        let first = self.map.partition_point(|segment| segment.derived <= number(start));
        for segment in self.map.get(first..).unwrap_or(&[]) {
            if segment.derived >= number(end) {
                break;
            }
            map.push(Segment {
                derived: derived + (segment.derived - number(start)),
                source: segment.source,
            });
        }
        text.extend_from_slice_copy(self.slice(start, end));
    }

    /// Where a position is in the source.
    pub(crate) fn offset(&self, position: usize) -> u32 {
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        let after = self.map.partition_point(|segment| segment.derived <= position);
        match after.checked_sub(1).and_then(|index| self.map.get(index)) {
            Some(segment) => segment.source.saturating_add(position - segment.derived),
            None => position,
        }
    }

    /// The source's span of the bytes between two positions.
    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        if self.map.is_empty() {
            return Span::new(
                u32::try_from(start).unwrap_or(u32::MAX),
                u32::try_from(end).unwrap_or(u32::MAX),
            );
        }
        let first = self.offset(start);
        if end <= start { Span::new(first, first) } else { Span::new(first, self.offset(end - 1) + 1) }
    }

    /// The source's span from a position to here.
    #[inline]
    pub(crate) fn span_from(&self, start: usize) -> Span {
        self.span(start, self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuations_are_stepped_over() {
        let mut cursor = Cursor::new(b"\\\n\\\na\\\n\\\nb\\c");
        assert_eq!((cursor.peek(), cursor.peek_second()), (b'a', b'b'));
        cursor.advance(1);
        assert!(cursor.eat(b'b'));
        assert_eq!((cursor.peek(), cursor.raw(1)), (b'\\', b'c'));
    }

    #[test]
    fn derived_offsets_point_into_the_source() {
        // The source is "x\`y", the derived text "x`y".
        let map = [Segment { derived: 0, source: 10 }, Segment { derived: 1, source: 12 }];
        let cursor = Cursor::derived(b"x`y", &map);
        assert_eq!(cursor.span(0, 1), Span::new(10, 11));
        assert_eq!(cursor.span(1, 3), Span::new(12, 14));
        assert_eq!(cursor.span(2, 2), Span::new(13, 13));
    }
}
