//! A rehearsal: what a reader that goes over a program several times would have recorded. If the last time told all that
//! one more would tell, what it noted is carried out instead.

use super::{Report, Sends};
use crate::effect::{EffectKind, Endpoint, WriteMode};
use crate::value::{Origins, Stream, Value};
use std::ops::Range;

/// Most that is noted; a program that does more is read once more.
const MAX_DEEDS: usize = 1024;

/// What most programs have room in.
const FEW_DEEDS: usize = 16;

/// A method of [`Report`] with what it was called with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deed<'a> {
    Emit(EffectKind<'a>, bool),
    Once(EffectKind<'a>),
    ChangeDirectory(Value<'a>),
    Wander(bool),
    Read(Value<'a>, bool),
    TakeIn,
    List(Value<'a>, bool),
    Write(Option<Value<'a>>, WriteMode),
    Put(Value<'a>, Value<'a>, bool),
    Link(Option<Value<'a>>, Option<Value<'a>>),
    Carry(Value<'a>, Value<'a>),
    TakeAway(Option<Value<'a>>, Option<Value<'a>>),
    Delete(Option<Value<'a>>, bool),
    Metadata(Option<Value<'a>>, &'static str),
    Execute(Value<'a>),
    Code(&'static str, Origins),
    UnseenCode(&'static str, Origins),
    Connect(Endpoint<'a>, Sends),
    Shell(Option<Value<'a>>, Option<Stream<'a>>, Option<Value<'a>>),
    Start(&'a [Option<Value<'a>>], bool, Option<Stream<'a>>, Option<Value<'a>>),
    SetVariable(&'a [u8], Value<'a>),
    LoadBelow(Value<'a>),
    Mention(Value<'a>, bool),
    Print(Option<&'a [u8]>),
    /// Not carried out: it holds only if the script has not made this file from such origins.
    FollowUnlessMade(Value<'a>, Origins),
}

impl Deed<'_> {
    /// Whether what a file holds, or where a name leads, may be different after it.
    const fn changes(&self) -> bool {
        match self {
            Self::Emit(kind, _) | Self::Once(kind) => {
                matches!(kind, EffectKind::Write { .. } | EffectKind::Delete { .. })
            }
            Self::Mention(_, foreign) => *foreign,
            Self::Wander(_)
            | Self::Read(..)
            | Self::TakeIn
            | Self::List(..)
            | Self::Execute(_)
            | Self::Code(..)
            | Self::UnseenCode(..)
            | Self::Connect(..)
            | Self::LoadBelow(_)
            | Self::Print(_)
            | Self::FollowUnlessMade(..) => false,
            Self::ChangeDirectory(_)
            | Self::Write(..)
            | Self::Put(..)
            | Self::Link(..)
            | Self::TakeAway(..)
            | Self::Carry(..)
            | Self::Delete(..)
            | Self::Metadata(..)
            | Self::Shell(..)
            | Self::Start(..)
            | Self::SetVariable(..) => true,
        }
    }
}

/// What was noted so far.
#[derive(Debug, Default)]
pub(super) struct Rehearsal<'a> {
    deeds: Vec<Deed<'a>>,
    /// What was noted in the rehearsal before this one.
    last: Vec<Deed<'a>>,
    /// Not all was noted, or something was asked whose answer depends on what is recorded.
    partial: bool,
    /// The same of what was noted since it was last asked how much is.
    asked: bool,
}

impl<'a> Report<'_, 'a> {
    /// From now on nothing is recorded; what would be is noted. Forgets what was noted before.
    pub(in super::super) fn rehearse(&mut self) {
        let rehearsal = self.rehearsal.get_or_insert_with(|| Rehearsal {
            deeds: Vec::with_capacity(FEW_DEEDS),
            ..Rehearsal::default()
        });
        std::mem::swap(&mut rehearsal.deeds, &mut rehearsal.last);
        rehearsal.deeds.clear();
        rehearsal.partial = false;
    }

    /// How much is noted, and whether that is not all of what was to be noted since this was called last.
    pub(in super::super) fn noted(&mut self) -> (usize, bool) {
        self.rehearsal
            .as_mut()
            .map_or((0, true), |rehearsal| (rehearsal.deeds.len(), std::mem::take(&mut rehearsal.asked)))
    }

    /// Whether what was noted in this range of the last rehearsal can be carried out as it is: no file is followed, now that
    /// what the script makes is recorded.
    pub(in super::super) fn may_carry_out(&self, range: Range<usize>) -> bool {
        let deeds = self.rehearsed.get(range).unwrap_or_default();
        !deeds.iter().any(|deed| matches!(deed, Deed::FollowUnlessMade(..)))
            || !self.session.has_made_files() && !deeds.iter().any(Deed::changes)
    }

    /// Does once more what was noted in this range of the last rehearsal: notes it, or carries it out. Gives where it is noted
    /// now.
    pub(in super::super) fn repeat(&mut self, range: Range<usize>) -> Range<usize> {
        let Some(rehearsal) = &mut self.rehearsal else {
            for at in range.clone() {
                if let Some(deed) = self.rehearsed.get(at).copied() {
                    self.act(deed);
                }
            }
            return range;
        };
        let from = rehearsal.deeds.len();
        // Most statements do nothing.
        if !range.is_empty() {
            let deeds = rehearsal.last.get(range).unwrap_or_default();
            let room = MAX_DEEDS.saturating_sub(from);
            rehearsal.partial |= deeds.len() > room;
            rehearsal.deeds.extend_from_slice(deeds.get(..room).unwrap_or(deeds));
        }
        from..rehearsal.deeds.len()
    }

    /// Notes what is to be done, if this is a rehearsal.
    pub(super) fn rehearses(&mut self, deed: impl FnOnce() -> Deed<'a>) -> bool {
        let Some(rehearsal) = &mut self.rehearsal else { return false };
        if rehearsal.deeds.len() < MAX_DEEDS {
            rehearsal.deeds.push(deed());
        } else {
            (rehearsal.partial, rehearsal.asked) = (true, true);
        }
        true
    }

    /// What is asked next may have another answer once what was rehearsed is recorded.
    pub(in super::super) const fn asks(&mut self) {
        if let Some(rehearsal) = &mut self.rehearsal {
            (rehearsal.partial, rehearsal.asked) = (true, true);
        }
    }

    /// A file of the script's would be followed, if it has one of these origins. Whether this is a rehearsal.
    pub(in super::super) fn rehearses_following(&mut self, path: Value<'a>, made: Origins) -> bool {
        self.rehearses(|| Deed::FollowUnlessMade(path, made))
    }

    /// Ends the rehearsal. If it `stands` for what is to be recorded and told all of that, it is carried out; else the
    /// answer is no, and the program has to be read once more.
    pub(in super::super) fn carry_out(&mut self, stands: bool) -> bool {
        let Some(rehearsal) = self.rehearsal.take() else { return false };
        if rehearsal.partial || !stands || !self.nothing_is_followed(&rehearsal.deeds) {
            self.rehearsed = rehearsal.deeds;
            return false;
        }
        rehearsal.deeds.into_iter().for_each(|deed| self.act(deed));
        true
    }

    /// Whether no file is followed that the script has made, as far as that can be told before all this is done.
    fn nothing_is_followed(&mut self, deeds: &[Deed<'a>]) -> bool {
        let mut changed = false;
        deeds.iter().all(|deed| {
            changed |= deed.changes();
            let Deed::FollowUnlessMade(path, made) = deed else { return true };
            !changed
                && (!self.session.has_made_files() || !self.session.file_text(path).origins.intersects(*made))
        })
    }

    fn act(&mut self, deed: Deed<'a>) {
        match deed {
            Deed::Emit(kind, certain) => self.emit(kind, certain),
            Deed::Once(kind) => self.once(kind),
            Deed::ChangeDirectory(to) => self.change_directory(to),
            Deed::Wander(wanders) => self.wander(wanders),
            Deed::Read(path, tree) => self.reads(Some(&path), tree),
            Deed::TakeIn => self.takes_in_found(),
            Deed::List(path, tree) => self.lists(Some(&path), tree),
            Deed::Write(path, mode) => self.writes(path.as_ref(), mode),
            Deed::Put(from, to, moved) => self.puts(&from, &to, moved),
            Deed::Link(link, aim) => self.links(link.as_ref(), aim.as_ref()),
            Deed::Carry(from, to) => self.carries(Some(&from), Some(&to)),
            Deed::TakeAway(path, to) => self.takes_away(path.as_ref(), to.as_ref()),
            Deed::Delete(path, tree) => self.deletes(path.as_ref(), tree),
            Deed::Metadata(path, what) => self.metadata(path.as_ref(), what),
            Deed::Execute(path) => self.executes(&path),
            Deed::Code(language, origin) => self.code(language, origin),
            Deed::UnseenCode(language, origin) => self.unseen_code(language, origin),
            Deed::Connect(endpoint, sends) => self.connects(endpoint, sends),
            Deed::Shell(line, stdin, directory) => self.shell(line.as_ref(), stdin, directory),
            Deed::Start(arguments, more, stdin, directory) => self.starts(arguments, more, stdin, directory),
            Deed::SetVariable(name, value) => self.sets_variable(name, value),
            Deed::LoadBelow(directory) => self.loads_below(&directory),
            Deed::Mention(value, foreign) => self.mention(&value, foreign),
            Deed::Print(text) => self.prints(text),
            Deed::FollowUnlessMade(..) => {}
        }
    }
}
