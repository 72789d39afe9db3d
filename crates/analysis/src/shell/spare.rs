//! Memory in which plans grow, kept from one analysis to the next on the same thread.

use crate::effect::Effect;
use crate::plan::Invocation;
use std::cell::RefCell;

/// Most effects, and most invocations, for which memory is kept.
const KEPT: usize = 512;

/// For so many there is room at the start.
const FIRST: usize = 16;

/// A plan in the making.
type Growing<'a> = (Vec<Effect<'a>>, Vec<Invocation<'a>>);

thread_local! {
    static SPARE: RefCell<Growing<'static>> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// An empty plan.
pub(super) fn take<'a>() -> Growing<'a> {
    let (mut effects, mut invocations): Growing<'a> = SPARE.try_with(RefCell::take).unwrap_or_default();
    effects.reserve(FIRST);
    invocations.reserve(FIRST);
    (effects, invocations)
}

/// Keeps the memory of a plan that was copied, unless it has become large.
pub(super) fn give_back(effects: Vec<Effect<'_>>, invocations: Vec<Invocation<'_>>) {
    if effects.capacity() <= KEPT && invocations.capacity() <= KEPT {
        // Nothing is collected, in the memory of the vectors themselves.
        let effects = effects.into_iter().filter_map(nothing).collect();
        let invocations = invocations.into_iter().filter_map(nothing).collect();
        // A thread that ends has no use for it.
        let _ = SPARE.try_with(|spare| spare.replace((effects, invocations)));
    }
}

fn nothing<T, U>(_: T) -> Option<U> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let (effects, invocations) = take();
        let places = (effects.as_ptr() as usize, invocations.as_ptr() as usize);
        give_back(effects, invocations);
        let (effects, invocations) = take();
        assert_eq!((effects.as_ptr() as usize, invocations.as_ptr() as usize), places);
        give_back(Vec::with_capacity(KEPT + 1), invocations);
        assert_ne!(take().1.as_ptr() as usize, places.1, "what is large is not kept");
        drop(effects);
    }
}
