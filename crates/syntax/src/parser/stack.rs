//! Where nodes wait until their number is known and they move, as a slice, to their place in the arena.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use std::ops::Deref;

/// So many values are not held twice.
const LARGE: usize = 4096;

/// A stack that lives in the arena while it is small, which costs no allocation, and on the heap when it grows, so
/// that growing leaves nothing behind in the arena.
pub(super) struct Stack<'a, T> {
    /// Never grows beyond `capacity`, which it gets with its first value. At most one of the two holds anything.
    near: BumpVec<'a, T>,
    far: Vec<T>,
    capacity: usize,
}

impl<'a, T: Copy> Stack<'a, T> {
    pub(super) fn new(arena: &'a Bump, capacity: usize) -> Self {
        Self { near: BumpVec::new_in(arena), far: Vec::new(), capacity }
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.far.is_empty() && self.near.len() < self.near.capacity() {
            self.near.push(value);
        } else {
            self.push_further(value);
        }
    }

    /// The first value, or one for which there is no room.
    #[cold]
    fn push_further(&mut self, value: T) {
        if self.far.is_empty() && self.near.capacity() == 0 && self.capacity > 0 {
            self.near.reserve_exact(self.capacity);
            self.near.push(value);
            return;
        }
        self.far.extend_from_slice(&self.near);
        self.near.clear();
        self.far.push(value);
    }

    /// Takes away those from `start` up to `end`, and what lies above moves down.
    pub(super) fn remove(&mut self, start: usize, end: usize) {
        let range = start..end.clamp(start, self.len());
        if self.far.is_empty() {
            self.near.drain(range);
        } else {
            self.far.drain(range);
        }
    }

    #[inline]
    pub(super) fn truncate(&mut self, length: usize) {
        self.near.truncate(length);
        self.far.truncate(length);
    }

    /// Moves what was pushed since `mark` into the arena.
    #[inline]
    pub(super) fn take(&mut self, arena: &'a Bump, mark: usize) -> &'a [T] {
        match self.get(mark..) {
            None | Some([]) => &[],
            Some(values) if values.len() > LARGE => self.take_large(arena, mark),
            Some(values) => {
                let slice = arena.alloc_slice_copy(values);
                self.truncate(mark);
                slice
            }
        }
    }
}

impl<'a, T: Copy> Stack<'a, T> {
    /// The same of so many that they should not lie in both places at once: memory goes with them, bit by bit.
    #[cold]
    fn take_large(&mut self, arena: &'a Bump, mark: usize) -> &'a [T] {
        let far = &mut self.far;
        let Some(values) = far.get_mut(mark..) else { return &[] };
        values.reverse();
        let count = values.len();
        let slice = arena.alloc_slice_fill_iter(Leaving { far, count });
        self.far.shrink_to(mark);
        slice
    }
}

/// Gives the last values of a vector, and its memory with them.
struct Leaving<'v, T> {
    far: &'v mut Vec<T>,
    count: usize,
}

impl<T> Iterator for Leaving<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.count = self.count.checked_sub(1)?;
        let next = self.far.pop();
        if self.far.len() < self.far.capacity() / 8 * 7 {
            self.far.shrink_to_fit();
        }
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl<T> ExactSizeIterator for Leaving<'_, T> {}

impl<T> Deref for Stack<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        if self.far.is_empty() { &self.near } else { &self.far }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_it_moves_to_the_heap() {
        let arena = Bump::new();
        let mut stack = Stack::new(&arena, 2);
        for number in 0..5 {
            stack.push(number);
        }
        assert_eq!(stack.take(&arena, 3), [3, 4]);
        assert_eq!(&stack[..], [0, 1, 2]);
        stack.truncate(0);
        stack.push(9);
        assert_eq!(stack.take(&arena, 0), [9]);
        assert!(stack.is_empty());
    }

    #[test]
    fn what_lies_above_moves_down() {
        for capacity in [8, 2] {
            let arena = Bump::new();
            let mut stack = Stack::new(&arena, capacity);
            (0..5).for_each(|number| stack.push(number));
            stack.remove(1, 3);
            assert_eq!(&stack[..], [0, 3, 4]);
            stack.remove(2, 9);
            assert_eq!(&stack[..], [0, 3]);
        }
    }

    #[test]
    fn what_is_taken_is_what_was_pushed() {
        for (below, count) in [(0, 3), (2, LARGE), (0, LARGE + 1), (3, 20 * LARGE)] {
            let arena = Bump::new();
            let mut stack = Stack::new(&arena, 4);
            (0..below + count).for_each(|value| stack.push(value));
            let taken = stack.take(&arena, below);
            assert!(taken.iter().copied().eq(below..below + count));
            assert!(stack.iter().copied().eq(0..below));
            assert!(count <= LARGE || stack.far.capacity() <= below + 8, "its memory is gone");
            stack.push(7);
            assert_eq!(stack.last(), Some(&7));
        }
    }
}
