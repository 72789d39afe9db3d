//! Waiting until a command says that all is well: that a server answers, or that somebody else's build is done.

use crate::{Error, Firewall, Outcome, Request, RunOptions};
use shward_sandbox::{Cancel, OnOutput};
use std::time::{Duration, Instant};

/// For how long a command is tried, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// All in all, at most ten minutes.
    pub most: Duration,
    /// From the end of one attempt to the beginning of the next: a second to a minute.
    pub every: Duration,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { most: Duration::from_secs(120), every: Duration::from_secs(5) }
    }
}

impl Waiting {
    const MOST: Duration = Duration::from_secs(600);

    const fn is_accepted(&self) -> bool {
        self.most.as_nanos() <= Self::MOST.as_nanos()
            && self.every.as_secs() >= 1
            && self.every.as_secs() <= 60
    }
}

/// What came of waiting.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Waited {
    /// The command exited with 0.
    pub met: bool,
    /// How often it was run, or refused.
    pub attempts: u32,
    /// What came of the last attempt.
    pub outcome: Outcome,
}

impl Firewall {
    /// Runs a command until it exits with 0. Each run is judged and recorded for itself; all of them together are one attempt for
    /// the rate limits. What somebody was asked about is run once, since an answer holds for one run; and so is what is refused
    /// or cancelled.
    ///
    /// # Errors
    /// As for [`Firewall::run`]; and the waiting is longer or more frequent than is accepted.
    pub fn wait_for(
        &self,
        request: &Request,
        options: &RunOptions,
        waiting: &Waiting,
        on_output: OnOutput<'_>,
    ) -> Result<Waited, Error> {
        if !waiting.is_accepted() {
            return Err(Error::BadWaiting);
        }
        let started = Instant::now();
        let cancel = match &options.cancel {
            Some(cancel) => cancel.clone(),
            None => Cancel::new()?,
        };
        // Between attempts it can be cancelled too: then the next one is killed before it has begun.
        let _entry = request.call_id.as_deref().map(|id| self.running().enter(id, cancel.clone()));
        let mut options = RunOptions { cancel: Some(cancel), ..options.clone() };
        let mut attempts = 0;
        loop {
            options.at_most = Some(waiting.most.saturating_sub(started.elapsed()));
            let outcome = self.run(request, &options, &mut *on_output)?;
            attempts += 1;
            options.again = true;
            let ending = outcome.ending.as_ref();
            let cancelled = ending.is_none_or(|e| e.cancelled);
            let met = ending.is_some_and(|e| e.exit_code == Some(0) && !e.timed_out && !e.cancelled);
            let over = started.elapsed() + waiting.every >= waiting.most;
            if met || cancelled || over || outcome.verdict.review.is_some() {
                return Ok(Waited { met, attempts, outcome });
            }
            std::thread::sleep(waiting.every);
        }
    }
}
