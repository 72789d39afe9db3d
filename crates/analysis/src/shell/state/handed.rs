//! What the script hands on to a program that it starts.

use super::{Content, Flags, Space, State};

/// What a program is given by the script, and finds of it: two that have the same do the same.
#[derive(Debug, PartialEq)]
pub(in crate::shell) struct HandedOn<'a> {
    /// Where it is started.
    directory: Option<&'a [u8]>,
    /// Exported variables and functions, and whether they may lack something.
    given: Vec<(&'a [u8], Content<'a>, bool)>,
    /// When a file was last written.
    written: Option<u32>,
}

impl<'a> State<'a> {
    /// What a program is handed that is started now, but for variables that each shell sets by itself. It costs a walk over all names,
    /// those of files among them.
    pub(in crate::shell) fn handed_on(
        &self,
        directory: Option<&'a [u8]>,
        is_set_anew: impl Fn(&[u8]) -> bool,
    ) -> HandedOn<'a> {
        let exported = |space| self.touched(space).filter(|(_, slot)| slot.flags.has(Flags::EXPORTED));
        let variables = exported(Space::Variable).filter(|(name, _)| !is_set_anew(name));
        let given = variables
            .chain(exported(Space::Function))
            .map(|(name, slot)| (name, slot.content, slot.flags.has(Flags::MAYBE)))
            .collect();
        let files = self.slots.iter().filter(|named| named.space == Space::File);
        HandedOn { directory, given, written: files.map(|named| named.changed).max() }
    }
}
