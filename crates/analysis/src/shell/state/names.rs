//! The names that a command has touched, and their slots.

use super::Id;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The name spaces of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::shell) enum Space {
    /// Variables.
    Variable,
    /// Functions.
    Function,
    /// Aliases.
    Alias,
    /// Command names that `hash -p` or `enable -n` have changed.
    Command,
    /// Files that the script has written, by absolute path. Not part of a shell's own state: what a subshell writes stays.
    File,
}

/// How many name spaces there are.
pub(super) const SPACES: usize = Space::File as usize + 1;

/// The names of one space.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// All of them, in order.
    pub(super) ids: BTreeMap<&'a [u8], Id>,
    /// The one that was found last, since names are asked for again and again while a command runs.
    last: Cell<Option<(&'a [u8], Id)>>,
}

impl<'a> Names<'a> {
    /// None yet.
    pub(super) const fn new() -> Self {
        Self { ids: BTreeMap::new(), last: Cell::new(None) }
    }

    /// The slot of a name that was touched before.
    #[inline]
    pub(super) fn find(&self, name: &[u8]) -> Option<Id> {
        if let Some(id) = self.last_found(name) {
            return Some(id);
        }
        let (name, id) = self.ids.get_key_value(name)?;
        self.last.set(Some((name, *id)));
        Some(*id)
    }

    /// The slot of a name; `fresh` if it never was touched.
    pub(super) fn enlist(&mut self, name: &'a [u8], fresh: Id) -> Id {
        if let Some(id) = self.last_found(name) {
            return id;
        }
        let id = *self.ids.entry(name).or_insert(fresh);
        self.last.set(Some((name, id)));
        id
    }

    /// The same memory holds the same name.
    fn last_found(&self, name: &[u8]) -> Option<Id> {
        self.last.get().filter(|(last, _)| std::ptr::eq(*last, name)).map(|(_, id)| id)
    }
}
