//! Ending a run from another thread.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};
use std::sync::Arc;

use crate::error::{SandboxError, Stage};

/// Cancels a run from another thread. Clones cancel the same run; once cancelled, it stays so.
#[derive(Debug, Clone)]
pub struct Cancel {
    event: Arc<File>,
}

impl Cancel {
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new() -> Result<Self, SandboxError> {
        // SAFETY: takes numbers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(SandboxError::last(Stage::Resources, "making an event descriptor"));
        }
        // SAFETY: the descriptor was just made and belongs to nobody else.
        Ok(Self { event: Arc::new(unsafe { File::from_raw_fd(fd) }) })
    }

    /// Kills the run that was started with this token, or the next one if it has not started yet.
    pub fn cancel(&self) {
        // A full counter (after 2^64 - 2 calls) would refuse, but then it is readable already.
        let _ = (&*self.event).write(&1u64.to_ne_bytes());
    }

    /// Whether it was asked for.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let mut event = libc::pollfd { fd: self.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the pointer is to one structure that outlives the call.
        unsafe { libc::poll(&raw mut event, 1, 0) == 1 }
    }

    /// What is readable once it was.
    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}
