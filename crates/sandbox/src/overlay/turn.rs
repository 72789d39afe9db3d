//! One commit at a time: what has been judged must not become something else before it is committed.
//!
//! What a file means can depend on what lies beside it: `config` is a setting where `HEAD`, `objects` and `refs` are. Of two runs at the
//! same time each could bring a part, judged where the other part was not. So whoever commits holds the lock of the store from before it
//! judges until it has committed. No command sees the store, so none can hold that lock.

use super::error::OverlayError;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long somebody waits for the others. Commits take milliseconds; who was stopped in the midst of one must not stop everybody.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How long between two looks.
const BETWEEN: Duration = Duration::from_millis(2);

/// Nobody else commits to the workspaces of this store while the value lives.
#[derive(Debug)]
pub struct Turn(File);

impl Turn {
    pub(super) fn wait(root: &Path) -> Result<Self, OverlayError> {
        Self::within(root, PATIENCE, &|| false)
    }

    /// Waits no longer than that, and not once somebody says so, who is asked all the time.
    pub(super) fn within(
        root: &Path,
        patience: Duration,
        ended: &dyn Fn() -> bool,
    ) -> Result<Self, OverlayError> {
        let lock = File::open(root).map_err(|error| OverlayError::io(root, error))?;
        let since = Instant::now();
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(lock)),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if ended() => {
                    return Err(OverlayError::Others("this was ended while others were committing"));
                }
                Err(Errno::WOULDBLOCK) if since.elapsed() < patience => std::thread::sleep(BETWEEN),
                Err(Errno::WOULDBLOCK) => {
                    return Err(OverlayError::Others("others were committing all the time"));
                }
                Err(error) => return Err(OverlayError::io(root, error)),
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Closing is not enough: a process that was just started has a copy until it calls execve(2).
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other() {
        let root = tempfile::tempdir().unwrap();
        let first = Turn::within(root.path(), Duration::ZERO, &|| true).unwrap();
        let copy = first.0.try_clone().unwrap();
        assert!(Turn::within(root.path(), 2 * BETWEEN, &|| false).is_err());
        let since = Instant::now();
        let asked = std::cell::Cell::new(0);
        let ended = || asked.replace(asked.get() + 1) == 3;
        assert!(matches!(Turn::within(root.path(), PATIENCE, &ended), Err(OverlayError::Others(_))));
        assert!(since.elapsed() < PATIENCE / 2);
        drop(first);
        assert!(Turn::within(root.path(), Duration::ZERO, &|| true).is_ok());
        drop(copy);
    }
}
