//! Whether an answer is still wanted. Whoever asks may be told to end meanwhile, and what is asked about may be gone.

use std::fmt;
use std::time::Duration;

/// How long a wait is until it is seen whether it is to be stopped: a signal may come just before it, or to another thread.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// Whether somebody waits for an answer. By default somebody does.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'w>(Option<&'w (dyn Fn() -> bool + Sync)>);

impl<'w> Wanted<'w> {
    /// Until this says that nobody waits any more, for which it is asked some ten times a second.
    #[must_use]
    pub const fn until(withdrawn: &'w (dyn Fn() -> bool + Sync)) -> Self {
        Self(Some(withdrawn))
    }

    /// Whether nobody waits any more: then the answer is no, whatever is said.
    #[must_use]
    pub fn is_withdrawn(self) -> bool {
        self.0.is_some_and(|withdrawn| withdrawn())
    }
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_withdrawn() { "Withdrawn" } else { "Wanted" })
    }
}
