//! A table: its entries in the order of the text, found by name.

use super::{Key, Value};
use std::collections::HashMap;

/// With more entries than this, names are looked up in a map: a table of many keys must not cost their square.
const FEW: usize = 12;

/// Who has written a table, which says who else may add to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Written {
    /// Nobody yet: a header below it names it.
    #[default]
    Implied,
    /// Its own header.
    Header,
    /// Keys with dots.
    Dotted,
    /// Braces. Nothing is added to it.
    Inline,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table<'t> {
    entries: Vec<(Key<'t>, Value<'t>)>,
    pub(super) written: Written,
    rare: Option<Box<Rare>>,
}

/// What few tables have, apart so that the others stay small.
#[derive(Debug, Clone, Default)]
struct Rare {
    /// Of a table with many entries: where each stands.
    places: HashMap<String, usize>,
    /// Of the root: where each header of the text begins, in order.
    headers: Vec<usize>,
}

impl PartialEq for Table<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl<'t> Table<'t> {
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        if self.entries.len() > FEW {
            return self.rare.as_ref()?.places.get(name).copied();
        }
        self.entries.iter().position(|(key, _)| key.name == name)
    }

    /// Adds an entry whose name is not there yet, and returns where it is.
    pub(super) fn add(&mut self, key: Key<'t>, value: Value<'t>) -> usize {
        let at = self.entries.len();
        if at >= FEW {
            let places = &mut self.rare.get_or_insert_default().places;
            if at == FEW {
                let known = self.entries.iter().enumerate();
                places.extend(known.map(|(at, (key, _))| (key.name.clone().into_owned(), at)));
            }
            places.insert(key.name.clone().into_owned(), at);
        }
        self.entries.push((key, value));
        at
    }

    pub(super) fn at_mut(&mut self, at: usize) -> Option<&mut Value<'t>> {
        self.entries.get_mut(at).map(|(_, value)| value)
    }

    pub(super) fn key_at(&self, at: usize) -> Option<&Key<'t>> {
        self.entries.get(at).map(|(key, _)| key)
    }

    /// The value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.entries.get(self.position(name)?).map(|(_, value)| value)
    }

    /// Of the table of a whole text: where each header begins, in order.
    pub(crate) fn headers(&self) -> &[usize] {
        self.rare.as_ref().map_or(&[], |rare| &rare.headers)
    }

    pub(super) fn set_headers(&mut self, headers: Vec<usize>) {
        self.rare.get_or_insert_default().headers = headers;
    }

    /// Every entry, in the order of the text.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key<'t>, &Value<'t>)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}
