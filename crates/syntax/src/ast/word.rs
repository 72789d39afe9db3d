//! Words as they lie in the tree.

use super::{PartKind, Span, WordPart};
use bumpalo::Bump;
use std::fmt;

/// A word: adjacent parts, before any expansion.
///
/// A command may have one for every two of its bytes, so it is small, and one that is a lone literal has no part of its own.
#[derive(Clone, Copy)]
pub struct Word<'a>(Shape<'a>);

impl fmt::Debug for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Word").field("parts", &&*self.parts()).field("span", &self.span()).finish()
    }
}

#[derive(Clone, Copy)]
enum Shape<'a> {
    /// Unquoted literal text that stands in the source as it is.
    Literal { text: &'a [u8], start: u32 },
    /// Anything else.
    Parts { parts: &'a [WordPart<'a>], start: u32, length: [u8; 3] },
    /// A word of more than 16 MiB.
    Long(&'a (&'a [WordPart<'a>], Span)),
}

/// The parts of a word, in order.
#[derive(Debug, Clone, Copy)]
pub enum Parts<'a> {
    /// A lone literal.
    One([WordPart<'a>; 1]),
    /// As they lie in memory.
    All(&'a [WordPart<'a>]),
}

impl<'a> std::ops::Deref for Parts<'a> {
    type Target = [WordPart<'a>];

    fn deref(&self) -> &[WordPart<'a>] {
        match self {
            Self::One(part) => part,
            Self::All(parts) => parts,
        }
    }
}

impl<'a> Word<'a> {
    /// A word of these parts.
    pub(crate) fn new(arena: &'a Bump, parts: &'a [WordPart<'a>], span: Span) -> Self {
        if let Some(word) = Self::literal(parts, span) {
            return word;
        }
        let length = span.end.checked_sub(span.start).map(u32::to_be_bytes);
        Self(match length {
            Some([0, length @ ..]) => Shape::Parts { parts, start: span.start, length },
            _ => Shape::Long(arena.alloc((parts, span))),
        })
    }

    /// A word of these parts, if it needs none.
    pub(crate) fn literal(parts: &[WordPart<'a>], span: Span) -> Option<Self> {
        match parts {
            [WordPart { kind: PartKind::Literal(text), span: whole }]
                if *whole == span && span.end.checked_sub(span.start) == u32::try_from(text.len()).ok() =>
            {
                Some(Self(Shape::Literal { text, start: span.start }))
            }
            _ => None,
        }
    }

    /// The parts; none only for the empty right-hand side of an assignment or expansion.
    #[must_use]
    #[inline]
    pub fn parts(&self) -> Parts<'a> {
        match self.0 {
            Shape::Literal { text, .. } => {
                Parts::One([WordPart { kind: PartKind::Literal(text), span: self.span() }])
            }
            Shape::Parts { parts, .. } => Parts::All(parts),
            Shape::Long((parts, _)) => Parts::All(parts),
        }
    }

    /// The whole word.
    #[must_use]
    #[inline]
    pub fn span(&self) -> Span {
        match self.0 {
            Shape::Literal { text, start } => {
                Span::new(start, start.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX)))
            }
            Shape::Parts { start, length: [a, b, c], .. } => {
                Span::new(start, start.saturating_add(u32::from_be_bytes([0, a, b, c])))
            }
            Shape::Long((_, span)) => *span,
        }
    }

    /// The text of a word that is entirely literal and unquoted, as reserved words and aliases must be.
    #[must_use]
    #[inline]
    pub fn bare(&self) -> Option<&'a [u8]> {
        match self.0 {
            Shape::Literal { text, .. } => Some(text),
            Shape::Parts { parts: [WordPart { kind: PartKind::Literal(text), .. }], .. }
            | Shape::Long(([WordPart { kind: PartKind::Literal(text), .. }], _)) => Some(text),
            _ => None,
        }
    }
}
