//! What was found for the last requests: the next one mostly has the same workspace and home directory, and names some of
//! the same places.

use super::hash_of;
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
    /// Those of no other directories have this number.
    number: usize,
}

/// Of so many different requests they are kept.
const KEPT: usize = 8;

/// Those of the last requests, and how many there were: the next one mostly has directories that one of them had.
type Last = (Vec<Known>, usize);

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new((Vec::new(), 0)) };
}

/// What `find` finds for these directories, if it was not found for one of the last requests. If it was, also a number that
/// stands for them, for [`place`].
pub(super) fn remembered(directories: [&[u8]; 4], find: impl FnOnce() -> Facts) -> (Facts, Option<usize>) {
    let is_same =
        |known: &&Known| known.directories.iter().zip(directories).all(|(known, now)| same(known, now));
    // A thread that ends remembers nothing.
    if let Ok(Some((facts, number))) =
        LAST.try_with(|last| last.borrow().0.iter().find(is_same).map(|known| (known.facts, known.number)))
    {
        return (facts, Some(number));
    }
    let facts = find();
    let _ = LAST.try_with(|last| {
        let (all, count) = &mut *last.borrow_mut();
        *count = count.wrapping_add(1);
        let known = Known { directories: directories.map(<[u8]>::to_vec), facts, number: *count };
        match all.get_mut(*count % KEPT) {
            Some(oldest) => *oldest = known,
            None => all.push(known),
        }
    });
    (facts, None)
}

/// What a path is where nothing but the directories of this number says it.
#[derive(Debug, Clone, Copy)]
struct Place {
    number: usize,
    length: u8,
    path: [u8; LONGEST],
    is: (Scope, Covers),
}

/// So many places are kept, of paths that are no longer than this.
const PLACES: usize = 256;
const LONGEST: usize = LENGTH as usize;
const LENGTH: u8 = 44;

thread_local! {
    static KNOWN_PLACES: RefCell<Vec<Option<Place>>> = const { RefCell::new(Vec::new()) };
}

/// What `find` finds for a path where nothing but the directories of this number says what it is, if it was not found before:
/// `/dev/null` and a few others are named in every second command.
pub(super) fn place(number: usize, path: &[u8], find: impl FnOnce() -> (Scope, Covers)) -> (Scope, Covers) {
    let Ok(length @ 0..=LENGTH) = u8::try_from(path.len()) else { return find() };
    let at = (hash_of(path) >> 32) as usize % PLACES;
    let is_same =
        |known: &&Place| known.number == number && same(known.path.get(..length.into()).unwrap_or(&[]), path);
    let known = KNOWN_PLACES.try_with(|all| {
        let all = all.borrow();
        all.get(at)?.as_ref().filter(|known| known.length == length).filter(is_same).map(|known| known.is)
    });
    if let Ok(Some(is)) = known {
        return is;
    }
    let is = find();
    let mut kept = [0; LONGEST];
    kept.iter_mut().zip(path).for_each(|(to, from)| *to = *from);
    let _ = KNOWN_PLACES.try_with(|all| {
        let mut all = all.borrow_mut();
        all.resize(PLACES, None);
        if let Some(place) = all.get_mut(at) {
            *place = Some(Place { number, length, path: kept, is });
        }
    });
    is
}
