//! One commit at a time: what has been judged must not become something else before it is committed.
//!
//! What a file means can depend on what lies beside it: `config` is a setting where `HEAD`, `objects` and `refs` are. Of two runs at the
//! same time each could bring a part, judged where the other part was not. So whoever commits holds the lock of the store from before it
//! judges until it has committed. No command sees the store, so none can hold that lock.

use super::error::OverlayError;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long somebody waits for the others. Commits take milliseconds; who was stopped in the midst of one must not stop everybody.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long between two looks.
const BETWEEN: Duration = Duration::from_millis(2);

/// Nobody else commits to the workspaces of this store while the value lives.
#[derive(Debug)]
pub struct Turn(File);

impl Turn {
    pub(super) fn wait(root: &Path) -> Result<Self, OverlayError> {
        Self::within(root, PATIENCE).map_err(|error| OverlayError::io(root, error))
    }

    fn within(root: &Path, patience: Duration) -> io::Result<Self> {
        let lock = File::open(root)?;
        let since = Instant::now();
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(lock)),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if since.elapsed() < patience => std::thread::sleep(BETWEEN),
                Err(Errno::WOULDBLOCK) => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "somebody else commits all the time",
                    ));
                }
                Err(error) => return Err(error.into()),
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
        let first = Turn::within(root.path(), Duration::ZERO).unwrap();
        let copy = first.0.try_clone().unwrap();
        assert!(Turn::within(root.path(), 2 * BETWEEN).is_err());
        drop(first);
        assert!(Turn::within(root.path(), Duration::ZERO).is_ok());
        drop(copy);
    }
}
