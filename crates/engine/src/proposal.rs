//! What becomes of the changes of a run, and what is shown to whoever decides it.

use crate::outcome::{ChangeReport, ChangesReport};
use shward_sandbox::overlay::{Change, Run};
use std::fmt;
use std::sync::Arc;

/// What becomes of what a run changed in the workspace.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Then {
    /// It is committed, as far as it is not protected.
    #[default]
    Commit,
    /// It is shown and dropped.
    Drop,
    /// This decides. It is not asked when nothing was changed.
    Ask(Decide),
}

/// Looks at what would be committed and says whether it is.
pub type Decide = Arc<dyn Fn(&Proposal<'_>) -> bool + Send + Sync>;

impl fmt::Debug for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Commit => "Commit",
            Self::Drop => "Drop",
            Self::Ask(_) => "Ask",
        })
    }
}

/// What a run would do to the workspace, for whoever decides whether it does.
#[non_exhaustive]
pub struct Proposal<'r> {
    /// The list.
    pub report: &'r ChangesReport,
    pub(crate) run: &'r Run,
    pub(crate) accepted: &'r [Change],
    pub(crate) interrupted: &'r dyn Fn() -> bool,
}

impl fmt::Debug for Proposal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Proposal<'_> {
    /// Whether this process has been told to end, of which the run is kept until it is through
    /// ([interruptible](crate::RunOptions::interruptible)). Whoever waits for a person's answer has to look now and then, and must not
    /// take any later one for a yes.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        (self.interrupted)()
    }

    /// The contents of a listed file before and after; `None` where there is none, or it is longer than `limit` bytes.
    #[must_use]
    pub fn contents(&self, file: &ChangeReport, limit: u64) -> [Option<Vec<u8>>; 2] {
        // They are in the order of their paths.
        let found = self.accepted.binary_search_by(|change| change.path.cmp(&file.path)).ok();
        found
            .and_then(|at| self.accepted.get(at))
            .map_or([None, None], |change| self.run.contents(change, limit))
    }
}
