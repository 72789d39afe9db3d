//! Where branches begin, and what each did to the state.

use super::{Id, Slot, join_slots};
use crate::shell::flow::Flow;
use bumpalo::Bump;

/// A point since which it is known what has changed.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct Moment {
    pub(super) trail: usize,
}

/// A point to which the state can be taken back.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct Mark<'a> {
    pub(super) moment: Moment,
    pub(super) flow: Flow<'a>,
}

impl<'a> Mark<'a> {
    /// The same without what would be needed to go back.
    pub(in crate::shell) const fn moment(&self) -> Moment {
        self.moment
    }

    /// The flow at that point.
    pub(in crate::shell) const fn flow(&self) -> &Flow<'a> {
        &self.flow
    }
}

/// What a branch left behind, relative to the mark it started from.
#[derive(Debug)]
pub(in crate::shell) struct Branch<'a> {
    /// In the order of the slots.
    pub(super) changes: Vec<(Id, Change<'a>)>,
    /// Its flow at the end.
    pub(in crate::shell) flow: Flow<'a>,
}

/// What a branch did to one slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'a> {
    /// What the slot was.
    pub(super) before: Slot<'a>,
    /// What it is.
    pub(super) after: Slot<'a>,
}

impl<'a> Change<'a> {
    /// The same, on one way of two.
    fn or_not(&self, arena: &'a Bump) -> Self {
        Self { before: self.before, after: join_slots(arena, self.after, self.before) }
    }

    /// The same, on the other way of the two.
    fn not_or(&self, arena: &'a Bump) -> Self {
        Self { before: self.before, after: join_slots(arena, self.before, self.after) }
    }
}

impl<'a> Branch<'a> {
    /// Makes this branch cover another one from the same mark.
    pub(in crate::shell) fn absorb(&mut self, other: &Self, arena: &'a Bump) {
        if other.flow.ended {
            self.flow.miss(&other.flow);
            return;
        }
        if self.flow.ended {
            let mine = self.flow;
            self.changes.clone_from(&other.changes);
            self.flow = other.flow;
            self.flow.miss(&mine);
            return;
        }
        let mine = std::mem::take(&mut self.changes);
        self.changes.reserve(mine.len().max(other.changes.len()));
        let mut theirs = other.changes.iter().peekable();
        for (id, change) in mine {
            while let Some((theirs, other)) = theirs.next_if(|(theirs, _)| *theirs < id) {
                self.changes.push((*theirs, other.not_or(arena)));
            }
            let change = match theirs.next_if(|(theirs, _)| *theirs == id) {
                Some((_, other)) => Change { after: join_slots(arena, change.after, other.after), ..change },
                None => change.or_not(arena),
            };
            self.changes.push((id, change));
        }
        self.changes.extend(theirs.map(|(id, change)| (*id, change.not_or(arena))));
        self.flow = self.flow.join(&other.flow, arena);
    }

    /// Whether it changed a slot.
    pub(super) fn changed(&self, id: Id) -> bool {
        self.changes.binary_search_by_key(&id, |(changed, _)| *changed).is_ok()
    }

    /// How many names it changed.
    pub(in crate::shell) const fn size(&self) -> usize {
        self.changes.len()
    }
}
