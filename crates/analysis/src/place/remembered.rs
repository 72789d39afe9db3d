//! What was found for the last requests: the next one mostly has the same workspace and home directory.

use crate::effect::{Covers, Scope};
use shward_syntax::same;
use std::cell::RefCell;

/// What is known of a workspace and a home directory by their names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    /// See `Map::boundless`.
    pub(super) boundless: bool,
    /// See `Map::at_home`.
    pub(super) at_home: bool,
    /// See `Map::usual_home`.
    pub(super) usual_home: bool,
    /// See `Map::plain`.
    pub(super) plain: bool,
    /// See `Map::itself`.
    pub(super) itself: Option<(Scope, Covers)>,
}

/// Facts, and the directories that they are about.
struct Known {
    directories: [Vec<u8>; 4],
    facts: Facts,
}

/// Of so many different requests they are kept.
const KEPT: usize = 8;

/// Those of the last requests, and how many there were: the next one mostly has directories that one of them had.
type Last = (Vec<Known>, usize);

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new((Vec::new(), 0)) };
}

/// What `find` finds for these directories, if it was not found for one of the last requests.
pub(super) fn remembered(directories: [&[u8]; 4], find: impl FnOnce() -> Facts) -> Facts {
    let is_same =
        |known: &&Known| known.directories.iter().zip(directories).all(|(known, now)| same(known, now));
    // A thread that ends remembers nothing.
    if let Ok(Some(facts)) =
        LAST.try_with(|last| last.borrow().0.iter().find(is_same).map(|known| known.facts))
    {
        return facts;
    }
    let facts = find();
    let known = Known { directories: directories.map(<[u8]>::to_vec), facts };
    let _ = LAST.try_with(|last| {
        let (all, count) = &mut *last.borrow_mut();
        *count = count.wrapping_add(1);
        match all.get_mut(*count % KEPT) {
            Some(oldest) => *oldest = known,
            None => all.push(known),
        }
    });
    facts
}
