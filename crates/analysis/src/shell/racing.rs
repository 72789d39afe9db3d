//! Scripts that are written while they may be read: in the background, in an earlier stage of a pipeline, or by themselves.
//!
//! When a script that runs beside is read nobody knows, and of one that runs a shell reads line by line. Where the command writes it
//! meanwhile, the text that is executed may be that one.

use super::Interpreter;
use super::levels::Levels;
use crate::effect::{EffectKind, Unknown};
use std::collections::{BTreeMap, BTreeSet};

/// How what is being run stands to what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Aside {
    /// What follows begins when it is through.
    #[default]
    No,
    /// It runs beside the other stages of its pipeline.
    Stage,
    /// It runs beside everything else.
    Job,
}

impl Aside {
    /// What is noted for those beside whom something runs: all jobs, or the innermost pipeline.
    pub(super) fn beside<'n, T: Default>(
        self,
        jobs: &'n mut T,
        stages: &'n mut Levels<T>,
    ) -> Option<&'n mut T> {
        match self {
            Self::No => None,
            Self::Stage => Some(stages.innermost().unwrap_or(jobs)),
            Self::Job => Some(jobs),
        }
    }
}

/// Texts by their address, and the paths at which they lie.
type Texts<'a> = BTreeMap<usize, (&'a [u8], &'a [&'a [u8]])>;

/// Scripts that are being run beside.
#[derive(Debug, Default)]
pub(super) struct Scripts<'a> {
    aside: Aside,
    jobs: BTreeSet<&'a [u8]>,
    /// Of each pipeline that is being run.
    stages: Levels<BTreeSet<&'a [u8]>>,
    /// The same of everything that may be run again.
    again: Levels<BTreeSet<&'a [u8]>>,
    /// Places of which everything may be run beside, of the same three kinds.
    places: Places<'a>,
    /// Files of the disk that were read beside something, of which nothing has been believed yet.
    pending: BTreeSet<&'a [u8]>,
    /// One of those was changed before something was believed.
    stale: bool,
    /// So many pipelines are being run, one inside of the other.
    pipelines: u32,
    /// Those of which something was: a word was made of it, or it was carried out.
    believed: BTreeSet<&'a [u8]>,
    /// The same in each pipeline that is being run.
    believed_stages: Levels<BTreeSet<&'a [u8]>>,
    /// Texts that the command has written, by address, and the paths at which they lie.
    texts: Option<Texts<'a>>,
    /// Of these, by address, what may not have been there to be read.
    doubted: Option<BTreeSet<usize>>,
    /// The paths of the scripts that are being run, innermost last.
    running: Vec<&'a [&'a [u8]]>,
}

/// Most places of one kind that are told apart. Of more, it may be any.
const MAX_PLACES: usize = 8;

/// Places of which everything may be run.
#[derive(Debug, Default)]
struct Places<'a> {
    jobs: Vec<&'a [u8]>,
    stages: Levels<Vec<&'a [u8]>>,
    again: Levels<Vec<&'a [u8]>>,
}

fn put<'a>(places: &mut Vec<&'a [u8]>, place: &'a [u8]) {
    match places.len() {
        _ if places.contains(&place) => {}
        0..MAX_PLACES => places.push(place),
        _ => *places = vec![b"/"],
    }
}

impl<'a> Places<'a> {
    fn all(&self) -> impl Iterator<Item = &'a [u8]> {
        let levels = self.stages.all().chain(self.again.all()).flatten();
        self.jobs.iter().chain(levels).copied()
    }
}

impl<'a> Scripts<'a> {
    /// Whatever lies at a place, or below it, is run.
    pub(super) fn use_place(&mut self, place: &'a [u8]) {
        let Places { jobs, stages, again } = &mut self.places;
        if let Some(again) = again.innermost() {
            put(again, place);
        }
        if let Some(beside) = self.aside.beside(jobs, stages) {
            put(beside, place);
        }
    }

    /// Whether an effect may change what is run.
    fn may_be_changed(&self, kind: &EffectKind<'_>) -> bool {
        self.places.all().any(|place| kind.may_change(place))
            || self.believed().any(|place| kind.may_refill(place))
    }

    fn believed(&self) -> impl Iterator<Item = &'a [u8]> {
        self.believed_stages.all().chain([&self.believed]).flatten().copied()
    }

    /// A file of the disk is read as it is now.
    pub(super) fn looks(&mut self, path: &'a [u8]) {
        if self.aside != Aside::No {
            self.pending.insert(path);
        }
    }

    /// What was read decides over what is done: where something that runs beside it changes the file, that may be something else. Gives
    /// whether it may be so already.
    fn believes(&mut self) -> bool {
        let mut read = std::mem::take(&mut self.pending);
        if let Some(beside) = self.aside.beside(&mut self.believed, &mut self.believed_stages) {
            beside.append(&mut read);
        }
        std::mem::take(&mut self.stale)
    }

    /// The files of which something may come out of what is being run.
    pub(super) fn looked_at(&mut self) -> BTreeSet<&'a [u8]> {
        std::mem::take(&mut self.pending)
    }

    /// Nobody gets to see any more what was read.
    fn is_through(&mut self) {
        if self.aside == Aside::No && self.pipelines == 0 {
            self.pending.clear();
            self.stale = false;
        }
    }

    /// A script is read to be run, or a file for what it holds.
    pub(super) fn use_file(&mut self, path: &'a [u8]) {
        if let Some(again) = self.again.innermost() {
            again.insert(path);
        }
        if let Some(beside) = self.aside.beside(&mut self.jobs, &mut self.stages) {
            beside.insert(path);
        }
    }

    /// A text was read at these paths.
    pub(super) fn read(&mut self, text: &'a [u8], paths: &'a [&'a [u8]]) {
        self.texts.get_or_insert_default().insert(text.as_ptr().addr(), (text, paths));
    }

    /// A text was read from a file that may not be there, or hold another one.
    pub(super) fn doubt(&mut self, text: &[u8]) {
        self.doubted.get_or_insert_default().insert(text.as_ptr().addr());
    }

    /// Whether a text is one of these.
    pub(super) fn is_doubted(&self, text: &[u8]) -> bool {
        self.doubted.as_ref().is_some_and(|doubted| doubted.contains(&text.as_ptr().addr()))
    }

    /// A text, or a part of it, is run from here on. Gives whether it is known where it lies.
    pub(super) fn begin(&mut self, text: &[u8]) -> bool {
        let start = text.as_ptr().addr();
        let last = self.texts.as_ref().and_then(|texts| texts.range(..=start).next_back());
        let paths = last.and_then(|(address, (whole, paths))| {
            (start + text.len() <= address + whole.len()).then_some(*paths)
        });
        self.running.extend(paths);
        paths.is_some()
    }

    pub(super) const fn aside(&self) -> Aside {
        self.aside
    }

    /// What is run from here on may be run several times.
    pub(super) fn begin_repeating(&mut self) {
        self.again.begin();
        self.begin_turn();
    }

    /// No longer, unless something around it does the same.
    pub(super) fn end_repeating(&mut self) {
        self.end_turn();
        if let Some(files) = self.again.end()
            && let Some(around) = self.again.innermost()
        {
            around.extend(files);
        }
    }

    /// The turn of a loop begins: what it writes may be what the next one runs.
    pub(super) fn begin_turn(&mut self) {
        self.places.again.begin();
    }

    /// It is over.
    pub(super) fn end_turn(&mut self) {
        if let Some(places) = self.places.again.end()
            && let Some(around) = self.places.again.innermost()
        {
            places.into_iter().for_each(|place| put(around, place));
        }
    }

    /// Whether others of a pipeline read what is being printed, or run beside it.
    pub(super) fn is_in_a_pipeline(&self) -> bool {
        self.aside != Aside::No
    }

    /// The text that was begun last is through.
    pub(super) fn end(&mut self) {
        self.running.pop();
    }

    fn may_use(&self, path: &[u8]) -> bool {
        self.jobs.contains(path)
            || self.stages.all().chain(self.again.all()).any(|files| files.contains(path))
            || self.believed().any(|file| file == path)
            || self.running.iter().any(|paths| paths.contains(&path))
    }
}

impl<'a> Interpreter<'a, '_> {
    /// Runs something beside what follows.
    pub(super) fn aside<R>(&mut self, how: Aside, inner: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.scripts.aside;
        self.scripts.aside = outer.max(how);
        let who = self.moving.another();
        self.stands();
        let result = inner(self);
        self.moving.back_to(who);
        self.scripts.aside = outer;
        self.scripts.is_through();
        result
    }

    /// Runs a pipeline. What its stages run is through when it is.
    pub(super) fn beside_each_other(&mut self, inner: impl FnOnce(&mut Self)) {
        self.scripts.stages.begin();
        self.scripts.places.stages.begin();
        self.scripts.believed_stages.begin();
        self.scripts.pipelines += 1;
        self.moving.begin_pipeline();
        inner(self);
        self.moving.end_pipeline();
        self.scripts.stages.end();
        self.scripts.places.stages.end();
        self.scripts.believed_stages.end();
        self.scripts.pipelines = self.scripts.pipelines.saturating_sub(1);
        self.scripts.is_through();
    }

    /// Something is done: what runs may be what that makes.
    pub(super) fn judge_change(&mut self, kind: &EffectKind<'a>) {
        if !kind.is_change() {
            return;
        }
        if !self.scripts.pending.is_empty() {
            self.budget.spend(self.scripts.pending.len());
            self.scripts.stale |= self.scripts.pending.iter().any(|file| kind.may_refill(file));
        }
        if self.scripts.may_be_changed(kind) {
            self.budget.spend(self.scripts.believed().count());
            let reason = Unknown::Construct("a file is written while it may be read or run");
            self.unknown(reason, self.whole());
        }
    }

    /// What was read decides over what is done.
    pub(super) fn believes(&mut self) {
        if self.scripts.believes() {
            let reason = Unknown::Construct("a file is written while it may be read or run");
            self.unknown(reason, self.whole());
        }
    }

    /// A file is written: what runs may be what reads it.
    pub(super) fn judge_race(&mut self, path: &[u8]) {
        self.scripts.stale |= self.scripts.pending.contains(path);
        if self.scripts.may_use(path) {
            let reason = Unknown::Construct("a file is written while it may be read or run");
            self.unknown(reason, self.whole());
        }
    }
}
