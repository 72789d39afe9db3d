//! The part of the state that tells of files.

use super::{Content, Flags, Id, Moment, Slot, Space, State, join_slots};
use std::collections::BTreeMap;
use std::ops::Bound;

/// A file that is written beside what follows.
#[derive(Debug, Clone, Copy)]
pub(in crate::shell) struct Racing<'a> {
    id: Id,
    shared: Slot<'a>,
    after: Slot<'a>,
}

impl<'a> State<'a> {
    /// The files that were written and whose names begin like this, and how many were passed that way.
    pub(in crate::shell) fn files_below(&self, prefix: &[u8]) -> (Vec<(&'a [u8], Slot<'a>)>, usize) {
        let Some(names) = self.names.get(Space::File as usize) else { return (Vec::new(), 0) };
        let all = names.ids.range::<[u8], _>((Bound::Included(prefix), Bound::Unbounded));
        let mut passed = 0;
        let found = all
            .take_while(|(name, _)| name.starts_with(prefix))
            .inspect(|_| passed += 1)
            .filter_map(|(_, id)| self.slots.get(id.0 as usize))
            .filter(|named| matches!(named.content, Content::File(_)))
            .map(|named| (named.name, named.slot()))
            .collect();
        (found, passed)
    }

    /// Files that have changed since then, with what was known of them.
    fn changed_files(&self, since: Moment) -> BTreeMap<Id, Slot<'a>> {
        let mut files = BTreeMap::new();
        for old in self.trail.get(since.trail..).unwrap_or_default() {
            if self.slots.get(old.id.0 as usize).is_some_and(|named| named.space == Space::File) {
                files.entry(old.id).or_insert_with(|| old.slot());
            }
        }
        files
    }

    /// What has been written since then is written beside what follows: any time, or not yet. Gives what
    /// [`settle`](Self::settle) takes.
    pub(in crate::shell) fn share_files(&mut self, since: Moment) -> Vec<Racing<'a>> {
        let mut racing = Vec::new();
        if self.changes(since) == 0 {
            return racing;
        }
        for (id, before) in self.changed_files(since) {
            let after = self.at(id);
            let joined = match before.content {
                Content::File(_) => join_slots(self.arena, after, before),
                _ => after,
            };
            let shared = Slot { flags: joined.flags.with(Flags::SHARED), ..joined };
            self.set_id(id, shared);
            racing.push(Racing { id, shared, after: joined });
        }
        racing
    }

    /// What was written beside is written now; where nothing else wrote, that is what is there.
    pub(in crate::shell) fn settle(&mut self, racing: &[Racing<'a>]) {
        for Racing { id, shared, after } in racing {
            let now = self.at(*id);
            let slot =
                if now == *shared { *after } else { Slot { flags: now.flags.without(Flags::SHARED), ..now } };
            self.set_id(*id, slot);
        }
    }
}
