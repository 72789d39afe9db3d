//! Runs that are under way, by the names of their calls, so that they can be cancelled.

use shward_sandbox::Cancel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The runs that are under way, by the ids of their calls.
#[derive(Debug, Default)]
pub(crate) struct Running {
    runs: Mutex<Vec<Arc<Run>>>,
}

#[derive(Debug)]
struct Run {
    call_id: String,
    cancel: Cancel,
}

/// Takes a run off the list when it is over, however it ends.
#[derive(Debug)]
pub(crate) struct Entry<'r> {
    running: &'r Running,
    run: Arc<Run>,
}

impl Running {
    /// The list. A thread that panicked while it held the list left it whole: entries are added and removed in one step.
    fn list(&self) -> MutexGuard<'_, Vec<Arc<Run>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a run on the list for as long as the entry lives.
    pub(crate) fn enter(&self, call_id: &str, cancel: Cancel) -> Entry<'_> {
        let run = Arc::new(Run { call_id: call_id.to_owned(), cancel });
        self.list().push(run.clone());
        Entry { running: self, run }
    }

    pub(crate) fn cancel(&self, call_id: &str) -> usize {
        let list = self.list();
        let meant = list.iter().filter(|run| run.call_id == call_id);
        meant.map(|run| run.cancel.cancel()).count()
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.running.list().retain(|run| !Arc::ptr_eq(run, &self.run));
    }
}
