//! The state of the shell, as far as it is known: variables, functions, aliases, written files and the [`Flow`].
//!
//! Branches are explored one after the other from the same state and joined afterwards. Nothing is copied for that:
//! every change of a slot is noted in a trail, so that a branch is undone by walking the trail back, and a join touches
//! only what one of the branches changed.

mod branch;
mod handed;
mod hidden;
mod names;
mod slots;
mod written;

use super::flow::Flow;
use crate::value::{Origins, Stream, Value};
use branch::Change;
pub(super) use branch::{Branch, Mark, Moment};
use bumpalo::Bump;
pub(super) use handed::HandedOn;
pub(super) use names::Space;
use names::{Names, SPACES};
use shward_syntax::Function;
pub(super) use slots::Home;
use slots::{Named, Noted};
use std::cell::Cell;
pub(super) use written::Racing;

/// A slot, as an index that is cheap to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(u32);

/// What is known of one name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot<'a> {
    /// Its value.
    pub(super) content: Content<'a>,
    /// Its attributes.
    pub(super) flags: Flags,
}

/// The value of a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Content<'a> {
    /// As the shell found it when it started; of functions, aliases and files: none.
    Initial,
    /// Known to be unset.
    Unset,
    /// A variable with one value.
    Scalar(Value<'a>),
    /// An array: its elements by key (decimal for indexed arrays), in order.
    Array(&'a [Element<'a>]),
    /// A variable that may be anything, unset included.
    Unknown(Origins),
    /// The functions that the name may stand for.
    Functions(&'a [Body<'a>]),
    /// An alias, and the line that defined it, as they are counted through all texts.
    Alias {
        /** Its text; `None` if not known. */
        text: Option<&'a [u8]>,
        /** The line. */
        line: u32,
    },
    /// The content of a file.
    File(Stream<'a>),
    /// A command name that stands for another program, if it is known which.
    Command(Option<Value<'a>>),
}

/// An element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element<'a> {
    /// Its index in decimal, or its associative key.
    pub(super) key: &'a [u8],
    /// Its value.
    pub(super) value: Value<'a>,
}

/// A function that a name may stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'a> {
    /// Its definition.
    pub(super) function: &'a Function<'a>,
    /// Where it stands.
    pub(super) home: &'a Home<'a>,
}

impl PartialEq for Body<'_> {
    fn eq(&self, other: &Self) -> bool {
        // `eval` of the same text reads the same function anew.
        std::ptr::eq(self.function, other.function)
            || (self.home.spans == other.home.spans
                && self.function.name_span == other.function.name_span
                && self.function.body.span == other.function.body.span
                && self.home.text == other.home.text)
    }
}

/// Attributes of a variable or function, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flags(u16);

impl Flags {
    /// None.
    pub(super) const NONE: Self = Self(0);
    /// `declare -x`: programs get it.
    pub(super) const EXPORTED: Self = Self(1);
    /// `declare -i`: assigned text is evaluated as arithmetic.
    pub(super) const INTEGER: Self = Self(1 << 1);
    /// `declare -n`: it stands for the variable that its value names.
    pub(super) const REFERENCE: Self = Self(1 << 2);
    /// `declare -A`.
    pub(super) const ASSOCIATIVE: Self = Self(1 << 3);
    /// `declare -a`.
    pub(super) const INDEXED: Self = Self(1 << 4);
    /// `declare -l`, `-u` or `-c`: assigned text changes case.
    pub(super) const RECASED: Self = Self(1 << 5);
    /// Its text, whatever it is, is a decimal number.
    pub(super) const NUMBER: Self = Self(1 << 6);
    /// A function that may also be undefined; a file that may also be what it was before; a variable that may lack some of
    /// its attributes.
    pub(super) const MAYBE: Self = Self(1 << 7);
    /// An unset variable that `local` hid (declared, no value).
    pub(super) const DECLARED: Self = Self(1 << 8);
    /// What is not known of it is a number, or was in the environment before: arithmetic evaluates it without harm.
    pub(super) const TRUSTED: Self = Self(1 << 9);

    /// `readonly`: what is assigned later is not taken.
    pub(super) const READ_ONLY: Self = Self(1 << 10);

    /// A file that something running beside may write at any time.
    pub(super) const SHARED: Self = Self(1 << 11);

    /// Given before a command, and since then neither assigned nor declared anew: gone when the command is through.
    pub(super) const TEMPORARY: Self = Self(1 << 12);

    /// A file that was written since the redirection that was the last to open it.
    pub(super) const TOUCHED: Self = Self(1 << 13);

    /// What is derived from the value and ends with it.
    pub(super) const GUESSED: Self =
        Self(Self::NUMBER.0 | Self::DECLARED.0 | Self::TRUSTED.0 | Self::TEMPORARY.0);

    /// Whether all of `other` are among these.
    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether only one of both has some of `which`.
    const fn differ(self, other: Self, which: Self) -> bool {
        (self.0 ^ other.0) & which.0 != 0
    }

    /// The attributes of both. Where one lacks what changes the meaning of a later assignment, that is not sure.
    pub(super) const fn joined(self, other: Self) -> Self {
        let both = self.with(other).without(Self::GUESSED);
        if self.differ(other, Self(Self::EXPORTED.0 | Self::INTEGER.0 | Self::ASSOCIATIVE.0)) {
            both.with(Self::MAYBE)
        } else {
            both
        }
    }

    /// These and `other`.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without `other`.
    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl<'a> Slot<'a> {
    /// The slot of a name that was never touched.
    pub(super) const INITIAL: Self = Self { content: Content::Initial, flags: Flags::NONE };

    /// A slot with this content and no attributes.
    pub(super) const fn of(content: Content<'a>) -> Self {
        Self { content, flags: Flags::NONE }
    }

    /// Where the value comes from.
    pub(super) fn origins(&self) -> Origins {
        match self.content {
            Content::Initial | Content::Command(_) => Origins::ENVIRONMENT,
            Content::Unset | Content::Functions(_) | Content::Alias { .. } => Origins::NONE,
            Content::Scalar(value) => value.origins,
            Content::Array(elements) => {
                elements.iter().fold(Origins::NONE, |all, element| all.union(element.value.origins))
            }
            Content::Unknown(origins) => origins,
            Content::File(stream) => stream.origins,
        }
    }

    fn is_trusted(&self) -> bool {
        match self.content {
            Content::Initial | Content::Unset => true,
            Content::Unknown(_) => self.flags.has(Flags::TRUSTED) || self.flags.has(Flags::NUMBER),
            _ => self.is_number(),
        }
    }

    fn is_number(&self) -> bool {
        match self.content {
            Content::Scalar(value) => self.flags.has(Flags::NUMBER) || value.known().is_some_and(is_decimal),
            Content::Unknown(_) => self.flags.has(Flags::NUMBER),
            _ => false,
        }
    }
}

/// Whether text is a decimal number without superfluous zeroes, which arithmetic reads as itself.
pub(super) fn is_decimal(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    match digits {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// All of the state.
#[derive(Debug)]
pub(super) struct State<'a> {
    arena: &'a Bump,
    /// Those of each space, once any was touched.
    names: Vec<Names<'a>>,
    slots: Vec<Named<'a>>,
    /// The slots of each space but that of files, of which there may be any number.
    own: [Vec<Id>; Space::File as usize],
    /// Counts changes; never taken back.
    clock: u32,
    repeats: u32,
    /// What slots were before they were changed.
    trail: Vec<Noted<'a>>,
    /// No mark that still counts lies behind this place of the trail.
    marked: Cell<usize>,
    /// Whether any file was ever touched.
    files: bool,
    /// Whether what was written to a whole directory is kept, under its name with a slash at the end.
    wholes: bool,
    /// Working directory, descriptors, options, positional parameters.
    pub(super) flow: Flow<'a>,
}

impl<'a> State<'a> {
    /// The state of a shell that has just started.
    pub(super) const fn new(arena: &'a Bump, flow: Flow<'a>) -> Self {
        Self {
            arena,
            names: Vec::new(),
            slots: Vec::new(),
            own: [const { Vec::new() }; Space::File as usize],
            clock: 0,
            repeats: 0,
            trail: Vec::new(),
            marked: Cell::new(0),
            files: false,
            wholes: false,
            flow,
        }
    }

    /// Gives back all memory; nothing is known any more.
    pub(super) fn give_up(&mut self) {
        if self.slots.is_empty() {
            return;
        }
        self.names = Vec::new();
        self.slots = Vec::new();
        self.own = [const { Vec::new() }; Space::File as usize];
        self.files = false;
        self.trail = Vec::new();
    }

    /// Whether any name of a space was ever touched.
    pub(super) fn has_touched(&self, space: Space) -> bool {
        self.names.get(space as usize).is_some_and(|names| !names.ids.is_empty())
    }

    /// The slot of a name, if it was ever touched.
    pub(super) fn find(&self, space: Space, name: &[u8]) -> Option<Id> {
        self.names.get(space as usize).and_then(|names| names.find(name))
    }

    /// What is known of a name.
    pub(super) fn get(&self, space: Space, name: &[u8]) -> Slot<'a> {
        self.find(space, name).map_or(Slot::INITIAL, |id| self.at(id))
    }

    fn at(&self, id: Id) -> Slot<'a> {
        self.slots.get(id.0 as usize).map_or(Slot::INITIAL, Named::slot)
    }

    /// Gives a name a new slot, and notes the old one.
    pub(super) fn set(&mut self, space: Space, name: &'a [u8], slot: Slot<'a>) {
        let id = self.enlist(space, name);
        self.give(space, id, slot);
    }

    /// How often something was given what is not known that was not known before: it may have changed.
    pub(super) const fn repeats(&self) -> u32 {
        self.repeats
    }

    /// The slot of a name, which is touched now if it never was.
    fn enlist(&mut self, space: Space, name: &'a [u8]) -> Id {
        let fresh = Id(u32::try_from(self.slots.len()).unwrap_or(u32::MAX));
        if self.names.is_empty() {
            self.names.resize_with(SPACES, Names::new);
        }
        let id = self.names.get_mut(space as usize).map_or(fresh, |names| names.enlist(name, fresh));
        if id == fresh {
            let Slot { content, flags } = Slot::INITIAL;
            self.slots.push(Named { name, content, changed: 0, flags, space });
            match self.own.get_mut(space as usize) {
                Some(own) => own.push(id),
                None => {
                    self.files = true;
                    self.wholes |= name.ends_with(b"/");
                }
            }
        }
        id
    }

    fn set_id(&mut self, id: Id, slot: Slot<'a>) {
        if let Some(named) = self.slots.get_mut(id.0 as usize)
            && named.slot() != slot
        {
            // Between two marks only what it was at the first of them is ever asked for.
            let noted = self.trail.last().is_some_and(|last| last.id == id);
            if !noted || self.trail.len() <= self.marked.get() {
                self.trail.push(Noted::of(id, named.slot()));
            }
            self.clock += 1;
            named.put(slot);
            named.changed = self.clock;
        }
    }

    /// Gives every name of a space, files excepted, that was ever touched the slot that `change` says, if it says one.
    pub(super) fn set_each(
        &mut self,
        space: Space,
        change: impl Fn(&'a [u8], &Slot<'a>) -> Option<Slot<'a>>,
    ) {
        let own = self.own.get_mut(space as usize).map(std::mem::take).unwrap_or_default();
        for id in &own {
            let Some(named) = self.slots.get(id.0 as usize) else { continue };
            let old = named.slot();
            if let Some(slot) = change(named.name, &old) {
                self.set_id(*id, taken(space, old, slot));
            }
        }
        if let Some(place) = self.own.get_mut(space as usize) {
            *place = own;
        }
    }

    /// Every name of a space, files excepted, that was ever touched, with what is known of it.
    pub(super) fn touched(&self, space: Space) -> impl Iterator<Item = (&'a [u8], Slot<'a>)> + '_ {
        let own = self.own.get(space as usize).map_or(&[][..], Vec::as_slice);
        own.iter().filter_map(|id| self.slots.get(id.0 as usize)).map(|named| (named.name, named.slot()))
    }

    /// Every file that was ever written, with what is known of it.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'a [u8], Slot<'a>)> + '_ {
        self.slots.iter().filter(|named| named.space == Space::File).map(|named| (named.name, named.slot()))
    }

    /// Whether any file was ever written.
    pub(super) const fn has_files(&self) -> bool {
        self.files
    }

    /// Whether it is known of whole directories what was written there.
    pub(super) const fn has_wholes(&self) -> bool {
        self.wholes
    }

    /// Every name, files excepted, that has changed since the clock showed this.
    pub(super) fn changed_since(&self, clock: u32) -> impl Iterator<Item = (Space, &'a [u8], Slot<'a>)> + '_ {
        self.own
            .iter()
            .flatten()
            .filter_map(|id| self.slots.get(id.0 as usize))
            .filter(move |named| named.changed > clock)
            .map(|named| (named.space, named.name, named.slot()))
    }

    /// When a name was last changed.
    pub(super) fn changed_at(&self, space: Space, name: &[u8]) -> Option<u32> {
        self.find(space, name).and_then(|id| self.slots.get(id.0 as usize)).map(|named| named.changed)
    }

    /// What the clock shows.
    pub(super) const fn clock(&self) -> u32 {
        self.clock
    }

    /// How many names, files excepted, were ever touched; what a walk over all of them costs.
    pub(super) fn size(&self) -> usize {
        self.own.iter().map(Vec::len).sum()
    }

    /// How many names were ever touched; what a walk over all files costs.
    pub(super) const fn size_with_files(&self) -> usize {
        self.slots.len()
    }

    /// A point to come back to.
    pub(super) fn mark(&self) -> Mark<'a> {
        Mark { moment: self.moment(), flow: self.flow }
    }

    /// A point after which changes are asked for.
    pub(super) fn moment(&self) -> Moment {
        self.marked.set(self.trail.len());
        Moment { trail: self.trail.len() }
    }

    /// How much has changed since then; what leaving or joining costs.
    pub(super) const fn changes(&self, since: Moment) -> usize {
        self.trail.len().saturating_sub(since.trail)
    }

    /// Whether nothing but names of this space has changed since the mark.
    pub(super) fn changed_only(&self, space: Space, mark: &Mark<'a>) -> bool {
        let changes = self.trail.get(mark.moment.trail..).unwrap_or_default();
        changes
            .iter()
            .all(|noted| self.slots.get(noted.id.0 as usize).is_some_and(|named| named.space == space))
    }

    /// What the state is now, relative to the mark.
    pub(super) fn branch(&self, mark: &Mark<'a>) -> Branch<'a> {
        Branch { changes: self.changed(mark.moment), flow: self.flow }
    }

    /// What has changed since then, in the order of the slots.
    fn changed(&self, since: Moment) -> Vec<(Id, Change<'a>)> {
        let trail = self.trail.get(since.trail..).unwrap_or_default();
        let change =
            |noted: &Noted<'a>| (noted.id, Change { before: noted.slot(), after: self.at(noted.id) });
        let mut changes: Vec<_> = trail.iter().map(change).collect();
        // Of those of one slot the first was made first, and stays.
        changes.sort_by_key(|(id, _)| *id);
        changes.dedup_by_key(|(id, _)| *id);
        changes
    }

    /// Takes everything back to the mark.
    pub(super) fn rewind(&mut self, mark: &Mark<'a>) {
        while self.trail.len() > mark.moment.trail {
            let Some(old) = self.trail.pop() else { break };
            if let Some(named) = self.slots.get_mut(old.id.0 as usize) {
                named.put(old.slot());
            }
        }
        self.flow = mark.flow;
    }

    /// Takes back what a subshell changed: everything but the files it wrote.
    pub(super) fn leave_subshell(&mut self, mark: &Mark<'a>) {
        let mut files = Vec::new();
        for Noted { id, .. } in self.trail.get(mark.moment.trail..).unwrap_or_default() {
            if let Some(named) = self.slots.get(id.0 as usize)
                && named.space == Space::File
            {
                files.push((*id, named.slot()));
            }
        }
        self.rewind(mark);
        for (id, slot) in files {
            self.set_id(id, slot);
        }
    }

    /// What has changed in this space since then may also be as it was before.
    pub(super) fn doubt(&mut self, space: Space, since: Moment) {
        for (id, change) in self.changed(since) {
            if self.slots.get(id.0 as usize).is_some_and(|named| named.space == space) {
                let joined = join_slots(self.arena, change.before, self.at(id));
                self.set_id(id, joined);
            }
        }
    }

    /// Makes the state what a branch left behind. The state must be at the mark the branch started from.
    pub(super) fn enter(&mut self, branch: &Branch<'a>) {
        for (id, change) in &branch.changes {
            self.set_id(*id, change.after);
        }
        self.flow = branch.flow;
    }

    /// Makes the state cover both what it is and what the branch left behind; both started from the mark.
    pub(super) fn join(&mut self, mark: &Mark<'a>, branch: &Branch<'a>) {
        if branch.flow.ended {
            self.flow.miss(&branch.flow);
            self.join_files(branch);
            return;
        }
        if self.flow.ended {
            let mine = self.branch(mark);
            self.rewind(mark);
            self.enter(branch);
            self.flow.miss(&mine.flow);
            self.join_files(&mine);
            return;
        }
        let mine = self.branch(mark);
        for (id, theirs) in &branch.changes {
            let joined = join_slots(self.arena, self.at(*id), theirs.after);
            self.set_id(*id, joined);
        }
        for (id, change) in &mine.changes {
            if !branch.changed(*id) {
                let joined = join_slots(self.arena, self.at(*id), change.before);
                self.set_id(*id, joined);
            }
        }
        self.flow = self.flow.join(&branch.flow, self.arena);
    }

    fn join_files(&mut self, branch: &Branch<'a>) {
        for (id, theirs) in &branch.changes {
            if self.slots.get(id.0 as usize).is_some_and(|named| named.space == Space::File) {
                let joined = join_slots(self.arena, self.at(*id), theirs.after);
                self.set_id(*id, joined);
            }
        }
    }
}

/// What a slot becomes that was `old` and is given another. A read-only variable may keep what it has.
fn taken<'a>(space: Space, old: Slot<'a>, mut slot: Slot<'a>) -> Slot<'a> {
    if space == Space::Variable && old.flags.has(Flags::READ_ONLY) && old.content != slot.content {
        slot.content = Content::Unknown(old.origins().union(slot.origins()));
        slot.flags = slot.flags.without(Flags::GUESSED).with(Flags::READ_ONLY);
    }
    slot
}

/// The least that covers both.
pub(super) fn join_slots<'a>(arena: &'a Bump, a: Slot<'a>, b: Slot<'a>) -> Slot<'a> {
    if a == b {
        return a;
    }
    let number = a.is_number() && b.is_number();
    let trusted = a.is_trusted() && b.is_trusted();
    let flags = a.flags.joined(b.flags);
    let flags = if trusted { flags.with(Flags::TRUSTED) } else { flags };
    let origins = a.origins().union(b.origins());
    let content = match (a.content, b.content) {
        (x, y) if x == y => x,
        (Content::Functions(x), Content::Functions(y)) => {
            let fresh = y.iter().filter(|body| !x.contains(body));
            Content::Functions(
                arena.alloc_slice_fill_iter(x.iter().chain(fresh).copied().collect::<Vec<_>>()),
            )
        }
        (Content::Functions(x), _) => {
            return Slot { content: Content::Functions(x), flags: flags.with(Flags::MAYBE) };
        }
        (_, Content::Functions(y)) => {
            return Slot { content: Content::Functions(y), flags: flags.with(Flags::MAYBE) };
        }
        (Content::Alias { line, .. }, _) | (_, Content::Alias { line, .. }) => {
            Content::Alias { text: None, line }
        }
        (Content::File(x), Content::File(y)) => {
            let text = x.text.filter(|text| y.text == Some(text));
            // One text or another: that neither is known is worse than what either comes from.
            let lost = text.is_none() && (x.text.is_some() || y.text.is_some());
            let origins = if lost { origins.union(Origins::UNKNOWN) } else { origins };
            Content::File(Stream { text, origins, source: x.source.or(y.source) })
        }
        // What may be run is this text, or what was there before.
        (Content::File(x), _) | (_, Content::File(x)) => {
            let content = Content::File(Stream { origins: x.origins.union(Origins::FILE), ..x });
            return Slot { content, flags: flags.with(Flags::MAYBE) };
        }
        (Content::Command(Some(_)), _) | (_, Content::Command(Some(_))) => {
            Content::Command(Some(Value::unknown(Origins::UNKNOWN)))
        }
        (Content::Command(None), _) | (_, Content::Command(None)) => Content::Command(None),
        // The same of variables, but for numbers.
        (Content::Scalar(x), _) | (_, Content::Scalar(x)) if x.known().is_some() && !number => {
            Content::Unknown(origins.union(Origins::UNKNOWN))
        }
        _ => Content::Unknown(origins),
    };
    Slot { content, flags: if number { flags.with(Flags::NUMBER) } else { flags } }
}
