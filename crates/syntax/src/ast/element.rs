//! Elements of arrays as they lie in the tree.

use super::{Arithmetic, Word};
use bumpalo::Bump;
use std::fmt;

/// An element of a compound array assignment. Most are a word and no more, and take no memory but its own.
#[derive(Clone, Copy)]
pub struct ArrayElement<'a>(Shape<'a>);

#[derive(Clone, Copy)]
enum Shape<'a> {
    Plain(Word<'a>),
    Keyed(&'a Keyed<'a>),
}

#[derive(Clone, Copy)]
struct Keyed<'a> {
    subscript: Arithmetic<'a>,
    append: bool,
    value: Word<'a>,
}

impl<'a> ArrayElement<'a> {
    /// A word.
    pub(crate) const fn plain(word: Word<'a>) -> Self {
        Self(Shape::Plain(word))
    }

    /// `[subscript]=value` or `[subscript]+=value`.
    pub(crate) fn keyed(arena: &'a Bump, subscript: Arithmetic<'a>, append: bool, value: Word<'a>) -> Self {
        Self(Shape::Keyed(arena.alloc(Keyed { subscript, append, value })))
    }

    /// The text in `[…]=`, if given.
    #[must_use]
    pub const fn subscript(&self) -> Option<&'a Arithmetic<'a>> {
        match self.0 {
            Shape::Plain(_) => None,
            Shape::Keyed(keyed) => Some(&keyed.subscript),
        }
    }

    /// `[…]+=`
    #[must_use]
    pub const fn append(&self) -> bool {
        matches!(self.0, Shape::Keyed(Keyed { append: true, .. }))
    }

    /// The word, subject to all expansions when there is no subscript.
    #[must_use]
    pub const fn value(&self) -> Word<'a> {
        match self.0 {
            Shape::Plain(word) => word,
            Shape::Keyed(keyed) => keyed.value,
        }
    }
}

impl fmt::Debug for ArrayElement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayElement")
            .field("subscript", &self.subscript())
            .field("append", &self.append())
            .field("value", &self.value())
            .finish()
    }
}
