//! Scripts that run beside what comes after them in the command: in the background, or in an earlier stage of a pipeline.
//!
//! When such a script is read nobody knows. Where the command writes it later, the text that is executed may be that one.

use super::Interpreter;
use crate::effect::Unknown;
use std::collections::BTreeSet;

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

/// Scripts that are being run beside.
#[derive(Debug, Default)]
pub(super) struct Scripts<'a> {
    aside: Aside,
    jobs: BTreeSet<&'a [u8]>,
    /// Of each pipeline that is being run, innermost last.
    stages: Vec<BTreeSet<&'a [u8]>>,
}

impl<'a> Scripts<'a> {
    /// A script is read to be run.
    pub(super) fn run(&mut self, path: &'a [u8]) {
        match (self.aside, self.stages.last_mut()) {
            (Aside::No, _) => {}
            (Aside::Stage, Some(stage)) => drop(stage.insert(path)),
            (Aside::Stage, None) | (Aside::Job, _) => drop(self.jobs.insert(path)),
        }
    }

    fn may_run(&self, path: &[u8]) -> bool {
        self.jobs.contains(path) || self.stages.iter().any(|stage| stage.contains(path))
    }
}

impl<'a> Interpreter<'a, '_> {
    /// Runs something beside what follows.
    pub(super) fn aside<R>(&mut self, how: Aside, inner: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.scripts.aside;
        self.scripts.aside = outer.max(how);
        let result = inner(self);
        self.scripts.aside = outer;
        result
    }

    /// Runs a pipeline. What its stages run is through when it is.
    pub(super) fn beside_each_other(&mut self, inner: impl FnOnce(&mut Self)) {
        self.scripts.stages.push(BTreeSet::new());
        inner(self);
        self.scripts.stages.pop();
    }

    /// A file is written: what runs beside may be what reads it.
    pub(super) fn judge_race(&mut self, path: &[u8]) {
        if self.scripts.may_run(path) {
            let reason = Unknown::Construct("a script is written while it may be run beside");
            self.unknown(reason, self.whole());
        }
    }
}
