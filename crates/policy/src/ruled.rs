//! The rules of files that may be about a plan: looked up once for each program in it, and not for each of its effects.

use crate::compiled::{Compiled, Facts, Lookup, Row};
use crate::condition::Subject;
use crate::program::File;
use shward_analysis::Plan;
use std::sync::Arc;

/// The rules of several files, with what was looked up in each for each invocation of a plan.
pub(crate) struct Ruled<'p> {
    files: &'p [Arc<Compiled>],
    /// For each file, one for each invocation; empty when no rule can be about any.
    lookups: Vec<Lookup>,
    invocations: usize,
}

impl<'p> Ruled<'p> {
    pub(crate) fn new(files: &'p [Arc<Compiled>], plan: &Plan<'_>, programs: &[File]) -> Self {
        let invocations = plan.invocations.len();
        let mut lookups = Vec::new();
        let mut idle = true;
        if !files.is_empty() {
            lookups.reserve_exact(files.len() * invocations);
            for file in files {
                idle &= file.is_idle(&Lookup::NOBODY);
                for (at, invocation) in plan.invocations.iter().enumerate() {
                    let program = programs.get(at).unwrap_or(File::NONE);
                    let lookup = file.lookup(invocation.program, program);
                    idle &= file.is_idle(&lookup);
                    lookups.push(lookup);
                }
            }
        }
        Self { files: if idle { &[] } else { files }, lookups, invocations }
    }

    /// Whether no rule can be about anything in the plan.
    pub(crate) const fn is_idle(&self) -> bool {
        self.files.is_empty()
    }

    /// The rules that are about a subject, each with the file that it stands in.
    pub(crate) fn about<'s>(
        &'s self,
        facts: &'s Facts<'_>,
        subject: &'s Subject<'_>,
    ) -> impl Iterator<Item = (&'p Compiled, Row)> + use<'s, 'p> {
        let files = self.files;
        files.iter().enumerate().flat_map(move |(at, file)| {
            let lookup = subject
                .place
                .and_then(|place| self.lookups.get(at * self.invocations + place))
                .unwrap_or(const { &Lookup::NOBODY });
            file.about(facts, lookup).map(move |row| (&**file, row))
        })
    }
}
