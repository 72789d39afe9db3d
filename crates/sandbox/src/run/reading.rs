//! Reads what a command writes.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};

use super::{OnOutput, Stream};
use crate::capture::Collector;
use crate::descriptor;
use crate::error::{SandboxError, Stage};

/// One captured stream.
pub(super) struct Reading {
    stream: Stream,
    /// `None` once it has ended, or when it is not captured.
    pipe: Option<File>,
    /// The pipe was asked to hold more.
    grown: bool,
    pub(super) collector: Collector,
}

impl Reading {
    pub(super) fn new(stream: Stream, pipe: Option<File>, limit: usize) -> Self {
        Self { stream, pipe, grown: false, collector: Collector::new(limit) }
    }

    pub(super) fn fd(&self) -> RawFd {
        self.pipe.as_ref().map_or(-1, AsRawFd::as_raw_fd) // poll(2) ignores negative ones
    }

    /// Reads while the buffer gets full, and not for ever: another stream may wait. A command that writes so much gets a pipe
    /// that holds more, so that it and we change places less often.
    pub(super) fn read_much(
        &mut self,
        buffer: &mut [u8],
        on_output: &mut Option<OnOutput<'_>>,
    ) -> Result<(), SandboxError> {
        const AT_ONCE: usize = 16;
        for _ in 0..AT_ONCE {
            if self.read(buffer, on_output)? != More::Likely {
                break;
            }
            if let Some(pipe) = self.pipe.as_ref().filter(|_| !self.grown) {
                descriptor::enlarge(pipe);
                self.grown = true;
            }
        }
        Ok(())
    }

    /// Reads once.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        on_output: &mut Option<OnOutput<'_>>,
    ) -> Result<More, SandboxError> {
        let Some(pipe) = &mut self.pipe else { return Ok(More::No) };
        let stream = self.stream;
        let seen = |bytes: &[u8]| {
            if let Some(on_output) = on_output.as_mut().filter(|_| !bytes.is_empty()) {
                on_output(stream, bytes);
            }
        };
        match self.collector.read(buffer, |space| pipe.read(space), seen) {
            Ok((0, _)) => {
                self.pipe = None;
                Ok(More::No)
            }
            Ok((_, full)) => Ok(if full { More::Likely } else { More::Perhaps }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(More::No),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(More::Perhaps),
            // The end of a terminal that nobody has open any more.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => {
                self.pipe = None;
                Ok(More::No)
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                Err(SandboxError::kernel(Stage::Supervise, errno, "reading output"))
            }
        }
    }
}

/// Whether there is more to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    No,
    Perhaps,
    /// There was space for no more.
    Likely,
}
