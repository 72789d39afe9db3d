//! Keeps deadline and cancellation while nobody takes the output, and looks after the disk.
//!
//! Whoever gets the output may be kept waiting by whoever reads it, and until then nobody looks at the clock. So from the first
//! piece of output on a thread does. A command that writes nothing is spared it, unless it goes on for long enough to fill a disk.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::descriptor;
use crate::space::{Meter, Used};

/// Why it has killed the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barked {
    /// The time was over.
    TimedOut = 1,
    /// Somebody cancelled.
    Cancelled = 2,
    /// Too little room was left on a disk.
    Reserve = 3,
    /// The run had written more than it may.
    Most = 4,
}

impl Barked {
    const fn of(used: Used) -> Self {
        match used {
            Used::Reserve => Self::Reserve,
            Used::Most => Self::Most,
        }
    }
}

/// The thread. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Watchdog {
    why: Arc<AtomicU8>,
    /// When the last of this is closed, the thread ends.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Kills the process of a pidfd at the deadline, when `cancel` can be read, or when its room is used up. Leaves the
    /// meter where it is and gives nothing when there can be no thread or no descriptor now.
    pub(crate) fn start(
        process: RawFd,
        cancel: Option<RawFd>,
        deadline: Option<Instant>,
        meter: &mut Option<Meter>,
    ) -> Option<Self> {
        // SAFETY: both are open for as long as the caller supervises the command, which is where they come from.
        let copy = |fd: RawFd| unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().ok();
        let process = copy(process)?;
        let cancel = match cancel {
            Some(cancel) => Some(copy(cancel)?),
            None => None,
        };
        let (stopped, stop) = descriptor::pipe().ok()?;
        let why = Arc::new(AtomicU8::new(0));
        let said = why.clone();
        // It calls a few functions only.
        let thread = thread::Builder::new().stack_size(64 << 10);
        // Sent, because what a thread that cannot be made was to take is lost.
        let (give, given) = mpsc::channel();
        let thread = thread.spawn(move || {
            let meter = given.recv().ok().flatten();
            watch(&process, cancel.as_ref(), &stopped, deadline, meter, &said);
        });
        let thread = thread.ok()?;
        // It waits for it.
        let _ = give.send(meter.take());
        Some(Self { why, stop: Some(stop), thread: Some(thread) })
    }

    /// Why the command was killed, if it was. It is not killed after this.
    pub(crate) fn finish(mut self) -> Option<Barked> {
        self.end();
        match self.why.load(Ordering::Acquire) {
            1 => Some(Barked::TimedOut),
            2 => Some(Barked::Cancelled),
            3 => Some(Barked::Reserve),
            4 => Some(Barked::Most),
            _ => None,
        }
    }

    fn end(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.end();
    }
}

fn watch(
    process: &OwnedFd,
    cancel: Option<&OwnedFd>,
    stopped: &File,
    deadline: Option<Instant>,
    mut meter: Option<Meter>,
    why: &AtomicU8,
) {
    // Whether it has ended comes first: nobody is killed for a disk that somebody else fills then.
    let mut next = meter.is_some().then_some(Duration::ZERO);
    let why_now = loop {
        let mut wait = vec![PollFd::new(stopped, PollFlags::IN), PollFd::new(process, PollFlags::IN)];
        wait.extend(cancel.map(|cancel| PollFd::new(cancel, PollFlags::IN)));
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.into_iter().chain(next).min();
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut wait, left.as_ref()) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break Barked::Cancelled, // nothing can be watched any more
            Ok(_) => {}
        }
        let ready = |at: usize| wait.get(at).is_some_and(|fd| !fd.revents().is_empty());
        // Who cancels may do so because their own output found the disk full, and then nothing of the run is to stay there.
        let cancelled = ready(2);
        let looked = meter.as_mut().filter(|_| cancelled).map(Meter::look).transpose();
        match looked.err() {
            Some(used) => break Barked::of(used),
            None if ready(0) || ready(1) => return,
            None if cancelled => break Barked::Cancelled,
            None => {}
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break Barked::TimedOut;
        }
        next = match meter.as_mut().map(Meter::look).transpose() {
            Ok(next) => next,
            Err(used) => break Barked::of(used),
        };
    };
    why.store(why_now as u8, Ordering::Release);
    // SAFETY: a pidfd, a signal and no information; the process is not taken for another one.
    unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            process.as_raw_fd(),
            libc::SIGKILL,
            std::ptr::null::<u8>(),
            0,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Reserve, Space};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use std::process::Command;

    #[test]
    fn who_has_ended_is_not_killed_for_a_full_disk_unless_it_was_cancelled() {
        let mut space = Space::new();
        space.reserves = vec![("/tmp".into(), Reserve { bytes: None, at_least: u64::MAX })];
        let (cancelled, cancel) = descriptor::pipe().unwrap();
        drop(cancel);
        for (program, cancelled, expected) in [
            ("true", None, None),
            ("cat", None, Some(Barked::Reserve)),
            ("true", Some(cancelled.as_raw_fd()), Some(Barked::Reserve)),
        ] {
            let mut child = Command::new(program).stdin(std::process::Stdio::piped()).spawn().unwrap();
            let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
            let pidfd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
            let ends = program == "true";
            let ended = || poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).unwrap();
            if ends {
                ended();
            }
            let mut meter = Meter::new(&space);
            let watchdog = Watchdog::start(pidfd.as_raw_fd(), cancelled, None, &mut meter).unwrap();
            ended();
            assert_eq!(watchdog.finish(), expected, "{program} {cancelled:?}");
            assert_eq!(child.wait().unwrap().success(), ends);
        }
    }
}
