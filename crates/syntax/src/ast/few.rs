//! Nodes of which there are mostly none.

use bumpalo::Bump;
use std::ops::Deref;

/// A list that is nearly always empty, behind a single reference: what has one takes 8 bytes less than for a slice.
#[derive(Debug, Clone, Copy)]
pub struct Few<'a, T>(&'a &'a [T]);

impl<'a, T> Few<'a, T> {
    /// None.
    pub(crate) const NONE: Self = Self(&(&[] as &[T]));

    /// These.
    #[inline]
    pub(crate) fn new(arena: &'a Bump, all: &'a [T]) -> Self {
        if all.is_empty() { Self::NONE } else { Self(arena.alloc(all)) }
    }

    /// All of them, for as long as they lie in memory.
    #[must_use]
    #[inline]
    pub const fn all(&self) -> &'a [T] {
        self.0
    }
}

impl<T> Deref for Few<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0
    }
}

impl<'a, T> IntoIterator for Few<'a, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
