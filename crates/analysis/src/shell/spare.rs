//! Memory in which plans and frames grow, kept from one analysis to the next on the same thread.

use super::functions::Frame;
use crate::effect::Effect;
use crate::plan::Invocation;
use bumpalo::Bump;
use std::cell::RefCell;

/// Most effects, invocations and frames for which memory is kept.
const KEPT: usize = 512;

/// For so many there is room at the start.
const FIRST: usize = 16;

/// A plan in the making, and what is being run for it.
#[derive(Debug, Default)]
pub(super) struct Spare<'a> {
    pub(super) effects: Vec<Effect<'a>>,
    pub(super) invocations: Vec<Invocation<'a>>,
    pub(super) frames: Vec<Frame<'a>>,
}

thread_local! {
    static SPARE: RefCell<Spare<'static>> = RefCell::default();
}

/// Nothing yet.
pub(super) fn take<'a>() -> Spare<'a> {
    let Spare { mut effects, mut invocations, frames } = SPARE.try_with(RefCell::take).unwrap_or_default();
    effects.reserve(FIRST);
    invocations.reserve(FIRST);
    Spare { effects, invocations, frames: emptied(frames) }
}

/// Keeps the memory of a plan that was copied, unless it has become large.
pub(super) fn give_back(spare: Spare<'_>) {
    let Spare { effects, invocations, frames } = spare;
    if effects.capacity() <= KEPT && invocations.capacity() <= KEPT && frames.capacity() <= KEPT {
        let (effects, invocations) = (emptied(effects), emptied(invocations));
        // A thread that ends has no use for it.
        let _ = SPARE.try_with(|kept| kept.replace(Spare { effects, invocations, frames: emptied(frames) }));
    }
}

/// Puts what has grown into the arena, and gives the memory in which it grew. What is large goes bit by bit, so that it never
/// lies in both.
pub(super) fn settled<T: Copy>(arena: &Bump, mut all: Vec<T>) -> (&[T], Vec<T>) {
    if all.len() <= KEPT {
        return (arena.alloc_slice_copy(&all), all);
    }
    all.reverse();
    (arena.alloc_slice_fill_iter(Leaving(all)), Vec::new())
}

/// Does something with each element in order, and leaves none. What is large goes bit by bit, too.
pub(super) fn each<T>(all: &mut Vec<T>, with: impl FnMut(T)) {
    if all.len() <= KEPT {
        return all.drain(..).for_each(with);
    }
    all.reverse();
    Leaving(std::mem::take(all)).for_each(with);
}

/// Gives what is in a vector, the last first, and its memory with it.
struct Leaving<T>(Vec<T>);

impl<T> Iterator for Leaving<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let next = self.0.pop();
        if self.0.len() * 8 < self.0.capacity() * 7 {
            self.0.shrink_to_fit();
        }
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<T> ExactSizeIterator for Leaving<T> {}

/// A vector without anything in it, in the same memory: what is collected in place of things of the same size stays there.
fn emptied<T, U>(all: Vec<T>) -> Vec<U> {
    all.into_iter().filter_map(|_| None).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_grown_stays_as_it_is() {
        let arena = Bump::new();
        for length in [0, 1, KEPT, KEPT + 1, 20 * KEPT] {
            let all: Vec<usize> = (0..length).collect();
            assert_eq!(settled(&arena, all.clone()).0, all);
            let (mut left, mut seen) = (all.clone(), Vec::new());
            each(&mut left, |number| seen.push(number));
            assert_eq!((left.len(), seen), (0, all));
        }
    }

    #[test]
    fn memory_is_used_again() {
        let mut spare = take();
        spare.frames.reserve(1);
        let places = |spare: &Spare<'_>| {
            (
                spare.effects.as_ptr() as usize,
                spare.invocations.as_ptr() as usize,
                spare.frames.as_ptr() as usize,
            )
        };
        let before = places(&spare);
        give_back(spare);
        let spare = take();
        assert_eq!(places(&spare), before);
        give_back(Spare { effects: Vec::with_capacity(KEPT + 1), ..spare });
        assert!(take().frames.capacity() == 0, "what is large is not kept");
    }
}
