//! Alternatives, collected.

use super::{Choice, MAX_ALTERNATIVES, Val, covers, has_no_room_for, holds};
use bumpalo::Bump;
use std::cell::Cell;

/// Alternatives that are collected one after the other, in time that grows with their number only.
pub(in super::super) struct Union<'a> {
    pub(super) arena: &'a Bump,
    /// The only one so far.
    one: Option<Val<'a>>,
    /// Two or more that differ; else empty. Not in the arena, in which what it outgrows would stay.
    pub(super) all: Vec<Val<'a>>,
    /// The bits of these; see [`Val::bit`].
    bits: u64,
    /// One of these could act.
    acts: bool,
    /// What stands for the rest, where there was no room for all: `Lost`, `Count`, `Data`.
    rest: [bool; 3],
}

impl<'a> Union<'a> {
    pub(in super::super) fn new(arena: &'a Bump) -> Self {
        Self { arena, one: None, all: Vec::new(), bits: 0, acts: false, rest: [false; 3] }
    }

    /// Adds everything that `val` may be.
    #[inline]
    pub(in super::super) fn add(&mut self, val: Val<'a>) {
        let Some(one) = self.one else {
            self.one = Some(val);
            return;
        };
        if matches!(val, Val::Never) {
            return;
        }
        if self.all.is_empty() {
            if one.same(&val) {
                return;
            }
            if matches!(one, Val::OneOf(_)) && covers(&one, &val) {
                return;
            }
        }
        self.add_new(val);
    }

    /// The same of what is not all among what was added so far.
    pub(super) fn add_new(&mut self, val: Val<'a>) {
        let Some(one) = self.one else {
            self.one = Some(val);
            return;
        };
        if self.all.is_empty() {
            if matches!(one, Val::Never) {
                self.one = Some(val);
                return;
            }
            if let Val::OneOf(choice) = one
                && has_no_room_for(choice, &val)
            {
                return;
            }
            // Alternatives were told apart when they were collected.
            let most = one.alternatives().len() + val.alternatives().len() + 1;
            self.all = Vec::with_capacity(most.min(MAX_ALTERNATIVES + 3));
            match one {
                Val::OneOf(choice) => {
                    self.all.extend_from_slice(choice.vals);
                    (self.bits, self.acts) = (choice.bits, choice.acts);
                }
                one => self.push(&one),
            }
        }
        val.alternatives().iter().for_each(|each| self.put(each));
        if self.all.len() == 1 {
            self.one = self.all.pop();
        }
    }

    /// Whether nothing was added yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.one.is_none()
    }

    /// Whether there is no room for others.
    pub(super) fn is_full(&self) -> bool {
        self.all.len() >= MAX_ALTERNATIVES
    }

    fn push(&mut self, each: &Val<'a>) {
        self.bits |= each.bit();
        self.acts |= each.acts();
        self.all.push(*each);
    }

    /// Whether it was collected. Of what was not, the bit nearly always tells.
    fn has(&self, each: &Val<'a>) -> bool {
        self.bits & each.bit() != 0 && (each.is_alike() || holds(&self.all, each))
    }

    fn put(&mut self, each: &Val<'a>) {
        if self.all.len() < MAX_ALTERNATIVES {
            if !self.has(each) {
                self.push(each);
            }
            return;
        }
        let (rest, kind) = each.rest();
        // Where there is no room for more, what stands for the rest says it all.
        if self.rest.get(kind) != Some(&false) {
            return;
        }
        if self.has(&rest) {
            self.tell(kind);
        } else if !self.has(each) {
            self.tell(kind);
            self.push(&rest);
        }
    }

    /// There is what stands for the rest.
    fn tell(&mut self, kind: usize) {
        if let Some(told) = self.rest.get_mut(kind) {
            *told = true;
        }
    }

    /// What was collected, if anything was; what is the same as an older choice is that choice.
    pub(in super::super) fn get_or(self, old: &'a Choice<'a>) -> Option<Val<'a>> {
        let is_old = self.all.len() == old.len()
            && self.bits == old.bits
            && self.all.iter().zip(old.vals).all(|(new, old)| new.same(old));
        if is_old { Some(Val::OneOf(old)) } else { self.get() }
    }

    /// What was collected, if anything was.
    pub(in super::super) fn get(self) -> Option<Val<'a>> {
        if self.all.is_empty() {
            return self.one;
        }
        let Self { arena, bits, acts, all, .. } = self;
        let vals = arena.alloc_slice_copy(&all);
        let choice = Choice { vals, bits, acts, weight: Cell::new(None), extent: Cell::new(None) };
        Some(Val::OneOf(arena.alloc(choice)))
    }
}
