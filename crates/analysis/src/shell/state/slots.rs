//! How slots lie in memory: with their names, as they were before they were changed, and what functions have in common.

use super::{Content, Flags, Id, Slot, Space};
use crate::shell::spans::Spans;
use shward_syntax::Function;

/// A text that defines functions: many have the same.
#[derive(Debug)]
pub(in crate::shell) struct Home<'a> {
    /// How its spans map to the command that was asked about.
    pub(in crate::shell) spans: Spans,
    /// The text.
    pub(in crate::shell) text: &'a [u8],
    /// The functions that are defined in it.
    pub(in crate::shell) functions: &'a [&'a Function<'a>],
}

/// A slot with its name. A command may have one for every few of its bytes, so it lies here without room that nobody uses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) name: &'a [u8],
    pub(super) content: Content<'a>,
    /// When it was last changed, on whichever branch.
    pub(super) changed: u32,
    pub(super) flags: Flags,
    pub(super) space: Space,
}

impl<'a> Named<'a> {
    pub(super) const fn slot(&self) -> Slot<'a> {
        Slot { content: self.content, flags: self.flags }
    }

    pub(super) const fn put(&mut self, slot: Slot<'a>) {
        (self.content, self.flags) = (slot.content, slot.flags);
    }
}

/// What a slot was before it was changed. Of these there are as many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noted<'a> {
    pub(super) content: Content<'a>,
    pub(super) id: Id,
    pub(super) flags: Flags,
}

impl<'a> Noted<'a> {
    pub(super) const fn of(id: Id, slot: Slot<'a>) -> Self {
        Self { content: slot.content, id, flags: slot.flags }
    }

    pub(super) const fn slot(&self) -> Slot<'a> {
        Slot { content: self.content, flags: self.flags }
    }
}
