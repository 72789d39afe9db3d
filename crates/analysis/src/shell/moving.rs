//! Directories that get another name while somebody stands in them: the shell itself, what runs beside it, or what runs again.
//!
//! Whoever stands in such a directory stands elsewhere then, and what its relative names mean nobody knows.

use super::Interpreter;
use super::flow::Status;
use super::levels::Levels;
use super::racing::Aside;
use crate::effect::{EffectKind, Rest, Scope, Target, Unknown};
use crate::session::Session;
use crate::value::{Origins, Value};
use shward_syntax::Span;
use std::collections::BTreeSet;

/// So many places, and so many renamed directories, are kept in mind of what runs beside or again.
const MOST: usize = 64;

/// What got another name, and where others stand.
#[derive(Debug, Default)]
pub(super) struct Moving<'a> {
    /// Files and directories that got another name, in their order.
    renamed: Vec<Target<'a>>,
    /// Places of what builds make, to which the command has moved what they do not make again.
    pub(super) hoards: Option<BTreeSet<&'a [u8]>>,
    pub(super) gone: super::news::Gone<'a>,
    /// The words of the command that is being run of which one is made of the other, each of each.
    pub(super) renaming: Option<(Span, Span)>,
    /// Loops are being run over several words, some of which stand for any number of others.
    pub(super) lists: bool,
    jobs: Beside<'a>,
    /// Of each pipeline that is being run.
    stages: Levels<Beside<'a>>,
    /// Of everything that may be run again.
    again: Levels<Beside<'a>>,
    /// Who runs: each stage and each job has a number of its own.
    who: u32,
    /// How many there were.
    all: u32,
}

/// What runs beside something else.
#[derive(Debug, Default)]
struct Beside<'a> {
    /// Where it stands, or will.
    place: Option<&'a [u8]>,
    /// Where else. Hardly anything stands in more than one place.
    others: Vec<&'a [u8]>,
    /// What it gives another name, and who does.
    renames: Vec<(Target<'a>, u32)>,
}

impl<'a> Beside<'a> {
    /// Gives false if there are too many.
    fn stand(&mut self, place: &'a [u8]) -> bool {
        if self.place.is_none() {
            self.place = Some(place);
        } else if !self.places().any(|known| known == place) {
            self.others.push(place);
            return self.others.len() < MOST;
        }
        true
    }

    fn places(&self) -> impl Iterator<Item = &'a [u8]> {
        self.place.iter().chain(&self.others).copied()
    }
}

impl<'a> Moving<'a> {
    /// What is run from here on may be run several times.
    pub(super) fn begin_repeating(&mut self) {
        self.again.begin();
    }

    /// No longer, unless something around it does the same: that knows where it stood.
    pub(super) fn end_repeating(&mut self) {
        if let Some(inner) = self.again.end()
            && let Some(around) = self.again.innermost()
        {
            for place in inner.places() {
                around.stand(place);
            }
        }
    }

    pub(super) fn begin_pipeline(&mut self) {
        self.stages.begin();
    }

    pub(super) fn end_pipeline(&mut self) {
        self.stages.end();
    }

    /// Somebody else runs from here on. Gives who did.
    pub(super) const fn another(&mut self) -> u32 {
        self.all = self.all.saturating_add(1);
        std::mem::replace(&mut self.who, self.all)
    }

    /// The one before runs on.
    pub(super) const fn back_to(&mut self, who: u32) {
        self.who = who;
    }

    /// Those beside whom something runs.
    fn beside(&mut self, aside: Aside) -> Option<&mut Beside<'a>> {
        aside.beside(&mut self.jobs, &mut self.stages)
    }

    fn others(&self) -> impl Iterator<Item = &Beside<'a>> {
        self.stages.all().chain(self.again.all()).chain([&self.jobs])
    }
}

impl<'a> Interpreter<'a, '_> {
    /// The shell, or what it starts, stands here now: whoever runs beside it may give this another name.
    pub(super) fn stands(&mut self) {
        let aside = self.scripts.aside();
        let may_be_moved =
            |place: &&[u8]| self.moving.others().any(|other| other.is_moved(place, self.moving.who));
        let places = self.state.flow.places;
        if places.iter().filter_map(|(place, _)| place).any(|place| may_be_moved(&place)) {
            self.state.flow.places.add(None, Status::Either);
        }
        let mut kept = true;
        for place in places.iter().filter_map(|(place, _)| place) {
            kept &= self.moving.beside(aside).is_none_or(|beside| beside.stand(place));
            kept &= self.moving.again.innermost().is_none_or(|again| again.stand(place));
        }
        if !kept {
            self.unknown(
                Unknown::Budget("directories in which something stands that runs beside"),
                self.whole(),
            );
        }
    }

    /// A file or directory gets another name.
    pub(super) fn renames(&mut self, from: &Target<'a>) {
        let (_, others) = self.aliases(from);
        let others = others.into_iter().map(|path| Target { path, ..*from });
        for target in std::iter::once(*from).chain(others) {
            self.moving.renamed.push(target);
            let (aside, who) = (self.scripts.aside(), self.moving.who);
            if let Some(beside) = self.moving.beside(aside) {
                // Of too many, each may be any directory.
                let many = beside.renames.len() >= MOST;
                let target = if many { Target { path: b"", rest: Rest::Unknown, ..target } } else { target };
                if beside.renames.len() <= MOST {
                    beside.renames.push((target, who));
                }
            }
            if self.moving.others().any(|other| other.places().any(|place| target.moves(place))) {
                let reason = Unknown::Construct("a directory gets another name while something stands in it");
                self.unknown(reason, self.whole());
            }
        }
    }

    /// What the command has moved among what builds make does not come back when that is deleted.
    pub(super) fn hoard_deleted(&mut self, kind: EffectKind<'a>) -> EffectKind<'a> {
        let kind = self.own_deleted(kind);
        let EffectKind::Delete { target, kept } = kind else { return kind };
        let Some(hoards) = self.moving.hoards.as_ref().filter(|_| target.scope == Scope::Product) else {
            return kind;
        };
        // In the order of bytes, what lies below a place stands behind its slash.
        let below = &*self.arena.alloc_slice_copy(&[target.path, b"/"].concat());
        let around = |at: usize| target.path.get(..at).is_some_and(|place| hoards.contains(place));
        let slashes = target.path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let held = hoards.contains(target.path)
            || hoards.range(below..).next().is_some_and(|place| place.starts_with(below))
            || slashes.map(|(at, _)| at).any(around);
        match held {
            true => EffectKind::Delete { target: Target { scope: Scope::Workspace, ..target }, kept },
            false => kind,
        }
    }

    /// Where a directory got another name in which the shell stands, it is not known any more where that is.
    pub(super) fn find_itself(&mut self) {
        let settled = self.state.flow.settled as usize;
        let all = self.moving.renamed.len();
        self.state.flow.settled = u32::try_from(all).unwrap_or(u32::MAX);
        if settled >= all {
            return;
        }
        self.budget.spend(all - settled);
        let places = self.state.flow.places;
        for place in places.iter().filter_map(|(place, _)| place) {
            // It may lead over a link.
            let stands = self.target(&Value::text(place, Origins::LITERAL));
            let (own, others) = self.aliases(&stands);
            let since = self.moving.renamed.get(settled..).unwrap_or_default();
            let moves = |place: &[u8]| since.iter().any(|from| from.moves(place));
            if moves(place) || moves(own) || others.into_iter().any(moves) {
                self.state.flow.places.add(None, Status::Either);
            }
        }
    }
}

impl Beside<'_> {
    /// Whether one other than this gives the place another name.
    fn is_moved(&self, place: &[u8], who: u32) -> bool {
        self.renames.iter().any(|(from, other)| *other != who && from.moves(place))
    }
}
