//! An array that is being assigned, element by element.

use super::state::Element;
use crate::value::{Field, Origins};
use bumpalo::Bump;

/// An array that is being assigned.
pub(super) struct Filling<'a> {
    pub(super) all: Vec<Element<'a>>,
    /// The index of the next element without a subscript.
    next: i64,
    /// Whether all of it is known.
    pub(super) known: bool,
    pub(super) origins: Origins,
}

impl<'a> Filling<'a> {
    /// One that holds these elements, if they are known.
    pub(super) fn new(old: Option<Vec<Element<'a>>>, origins: Origins) -> Self {
        let known = old.is_some();
        let all = old.unwrap_or_default();
        Self { next: next_index(&all), all, known, origins }
    }

    /// The key of the next element without a subscript.
    pub(super) fn next_key(&self, arena: &'a Bump) -> &'a [u8] {
        arena.alloc_str(&self.next.to_string()).as_bytes()
    }

    /// Puts a word where its key says, if that is known.
    pub(super) fn put(&mut self, key: Option<&'a [u8]>, field: &Field<'a>) {
        self.origins = self.origins.union(field.value.origins);
        match key {
            Some(key) if !field.many && !key.starts_with(b"-") => {
                put(&mut self.all, Element { key, value: field.value });
                self.next = index_of(key).and_then(|index| index.checked_add(1)).unwrap_or(self.next);
            }
            _ => self.known = false,
        }
    }
}

/// Puts an element where its key belongs, in place of one that has the same.
fn put<'a>(all: &mut Vec<Element<'a>>, element: Element<'a>) {
    let last = all.last().map(|last| index_of(last.key));
    if last.is_none_or(|last| last.is_some() && last < index_of(element.key)) {
        all.push(element);
    } else {
        all.retain(|other| other.key != element.key);
        let place = all.partition_point(|other| before(other.key, element.key));
        all.insert(place, element);
    }
}

fn index_of(key: &[u8]) -> Option<i64> {
    std::str::from_utf8(key).ok()?.parse().ok()
}

/// Whether one key stands before another: those that are no indices stand in any order.
pub(super) fn before(a: &[u8], b: &[u8]) -> bool {
    match (index_of(a), index_of(b)) {
        (Some(a), Some(b)) => a < b,
        _ => true,
    }
}

fn next_index(elements: &[Element<'_>]) -> i64 {
    elements.iter().filter_map(|element| index_of(element.key)).max().map_or(0, |last| last.saturating_add(1))
}
