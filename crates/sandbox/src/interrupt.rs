//! Signals to this process that end a run, and not the process before what came of the run has been told.

use std::sync::atomic::{AtomicI32, Ordering};
use std::{mem, ptr};

use crate::cancel::Cancel;

/// What a terminal, a service manager or the program that started us sends to have an end.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// After a signal the process is ended if the run has not been wound up in so many seconds, as when nobody reads its output.
const PATIENCE: libc::c_uint = 5;

/// The event of the run that is to be cancelled; negative while there is none.
static EVENT: AtomicI32 = AtomicI32::new(NOBODY);
const NOBODY: i32 = -1;

/// The signal that came, or 0.
static CAME: AtomicI32 = AtomicI32::new(0);

/// While this is there, the first of these signals cancels a run. A second one of its kind does what it does otherwise. Dropping it puts
/// back what was before.
#[derive(Debug)]
pub(crate) struct Interrupts {
    before: Vec<(libc::c_int, Action)>,
    /// What is written to must not be closed.
    _cancel: Cancel,
}

struct Action(libc::sigaction);

impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Action")
    }
}

impl Interrupts {
    /// `None` where another run of this process has them. What is ignored, as with nohup(1), stays so.
    pub(crate) fn of(cancel: &Cancel) -> Option<Self> {
        EVENT.compare_exchange(NOBODY, cancel.as_raw_fd(), Ordering::SeqCst, Ordering::SeqCst).ok()?;
        CAME.store(0, Ordering::SeqCst);
        let mut interrupts = Self { before: Vec::new(), _cancel: cancel.clone() };
        for signal in SIGNALS {
            // Anew each time: a second signal of this kind ends the process.
            interrupts.set(
                signal,
                received as *const () as libc::sighandler_t,
                libc::SA_RESETHAND | libc::SA_RESTART,
            );
        }
        interrupts.set(libc::SIGALRM, libc::SIG_DFL, 0);
        Some(interrupts)
    }

    fn set(&mut self, signal: libc::c_int, handler: libc::sighandler_t, flags: libc::c_int) {
        // SAFETY: all bytes zero are a valid `sigaction`: no flags, an empty mask.
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = unsafe { mem::zeroed() };
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        // SAFETY: a place for one action.
        if unsafe { libc::sigaction(signal, ptr::null(), &raw mut before) } != 0
            || before.sa_sigaction == libc::SIG_IGN && handler != libc::SIG_DFL
        {
            return;
        }
        // SAFETY: a valid action, whose handler calls nothing but functions that are safe in one.
        if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } == 0 {
            self.before.push((signal, Action(before)));
        }
    }

    /// The signal that came.
    pub(crate) fn came(&self) -> Option<i32> {
        Some(CAME.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        if self.came().is_some() {
            // SAFETY: no memory is involved.
            unsafe { libc::alarm(0) };
        }
        for (signal, Action(before)) in &self.before {
            // SAFETY: the action that was there before.
            unsafe { libc::sigaction(*signal, before, ptr::null_mut()) };
        }
        EVENT.store(NOBODY, Ordering::SeqCst);
    }
}

/// The handler: write(2) and alarm(2) are safe in one (signal-safety(7)), and what they leave in `errno` is put back.
extern "C" fn received(signal: libc::c_int) {
    // SAFETY: the place of this thread's `errno`.
    let errno = unsafe { *libc::__errno_location() };
    CAME.store(signal, Ordering::SeqCst);
    let one = 1u64.to_ne_bytes();
    // SAFETY: eight bytes that outlive the call; a descriptor that is open while it stands in EVENT.
    unsafe { libc::write(EVENT.load(Ordering::SeqCst), one.as_ptr().cast(), one.len()) };
    // SAFETY: no memory is involved.
    unsafe { libc::alarm(PATIENCE) };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Ends this process as a signal that nothing handles does, so that whoever waits for it is told so. It returns only if the signal is
/// ignored, blocked, or one that ends nothing.
pub fn end_by(signal: i32) {
    // SAFETY: no memory is involved.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
