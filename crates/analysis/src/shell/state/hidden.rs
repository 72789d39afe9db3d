//! Names that are given other slots, many at once or for a while.

use super::{Content, Id, Slot, Space, State, taken};

/// What was hidden.
#[derive(Debug)]
pub(in crate::shell) struct Hidden<'a> {
    /// What each was, in the order in which they were hidden.
    before: Vec<(Id, Slot<'a>)>,
    /// How long the trail was.
    trail: usize,
}

impl<'a> State<'a> {
    /// Gives a slot another content.
    pub(super) fn give(&mut self, space: Space, id: Id, slot: Slot<'a>) {
        let old = self.at(id);
        let slot = taken(space, old, slot);
        if slot == old && matches!(slot.content, Content::Unknown(_)) {
            self.repeats = self.repeats.wrapping_add(1);
        }
        self.set_id(id, slot);
    }

    /// Gives every file that was ever touched the slot that `change` says, if it says one. It is told when the file was last changed.
    pub(in crate::shell) fn set_each_file(&mut self, change: impl Fn(&Slot<'a>, u32) -> Option<Slot<'a>>) {
        for index in 0..self.slots.len() {
            let Some(named) = self.slots.get(index).filter(|named| named.space == Space::File) else {
                continue;
            };
            let old = named.slot();
            if let (Some(slot), Ok(id)) = (change(&old, named.changed), u32::try_from(index)) {
                self.set_id(Id(id), slot);
            }
        }
    }

    /// Gives each of these names, or every one of the space that was ever touched and `HOME`, another slot for a while. The space
    /// is not that of files.
    pub(in crate::shell) fn hide(
        &mut self,
        space: Space,
        names: Option<&[&'a [u8]]>,
        change: impl Fn(&Slot<'a>) -> Slot<'a>,
    ) -> Hidden<'a> {
        let ids: Vec<Id> = match names {
            Some(names) => names.iter().map(|name| self.enlist(space, name)).collect(),
            None => {
                self.enlist(space, b"HOME");
                self.own.get(space as usize).cloned().unwrap_or_default()
            }
        };
        let trail = self.trail.len();
        let mut before = Vec::with_capacity(ids.len());
        for id in ids {
            let slot = self.at(id);
            before.push((id, slot));
            self.give(space, id, change(&slot));
        }
        Hidden { before, trail }
    }

    /// Gives them back what they were. All marks that were set meanwhile are done with.
    pub(in crate::shell) fn unhide(&mut self, space: Space, hidden: Hidden<'a>) {
        for (id, slot) in hidden.before.into_iter().rev() {
            self.give(space, id, slot);
        }
        self.tidy(hidden.trail);
    }

    /// Of what was noted since, keeps for each name what it was first, and nothing where it is that again: what was hidden a
    /// thousand times is not to be found there two thousand times.
    fn tidy(&mut self, since: usize) {
        if self.trail.len() <= since {
            return;
        }
        let mut noted = self.trail.split_off(since);
        noted.sort_by_key(|noted| noted.id);
        noted.dedup_by_key(|noted| noted.id);
        noted.retain(|noted| !is_back(self.at(noted.id), noted.slot()));
        self.trail.append(&mut noted);
    }
}

/// Whether a slot is what it was, without comparing long arrays.
fn is_back<'a>(now: Slot<'a>, then: Slot<'a>) -> bool {
    match (now.content, then.content) {
        (Content::Array(now_all), Content::Array(all)) => {
            std::ptr::eq(now_all, all) && now.flags == then.flags
        }
        _ => now == then,
    }
}
