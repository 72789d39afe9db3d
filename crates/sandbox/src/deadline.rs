//! A deadline for the whole process, kept by the kernel.
//!
//! A thread that sleeps until then does the same, but making one costs a short-lived process more than its work: a stack,
//! an arena of the allocator, and a second task for the scheduler.

use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::{io, mem, ptr};

static MESSAGE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static STATUS: AtomicI32 = AtomicI32::new(0);

/// After so many seconds the process writes `message` to standard error and ends with `status`, whatever it does then;
/// unless [`withdraw_deadline`] comes first. There is one deadline for a process; it counts time in which the machine runs
/// (`alarm(2)`, signal `SIGALRM`).
///
/// # Errors
/// The handler of the signal cannot be set (sigaction(2)).
pub fn deadline(seconds: u32, message: &'static str, status: u8) -> io::Result<()> {
    LENGTH.store(message.len(), Ordering::SeqCst);
    STATUS.store(i32::from(status), Ordering::SeqCst);
    MESSAGE.store(message.as_ptr().cast_mut(), Ordering::SeqCst);
    // SAFETY: all bytes zero are a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = late as *const () as libc::sighandler_t;
    // SAFETY: a valid action, whose handler calls nothing but functions that are safe in one.
    if unsafe { libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a set of signals that is emptied before it is used. Whoever started us may have blocked the signal.
    let unblocked = unsafe {
        let mut signals: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGALRM);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const signals, ptr::null_mut())
    };
    if unblocked != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: no memory is involved.
    unsafe { libc::alarm(seconds) };
    Ok(())
}

/// There is no deadline any more. When this returns it has not been missed.
pub fn withdraw_deadline() {
    // SAFETY: no memory is involved.
    unsafe { libc::alarm(0) };
}

/// The handler: write(2) and _exit(2) are safe in one (signal-safety(7)).
extern "C" fn late(_: libc::c_int) {
    let message = MESSAGE.load(Ordering::SeqCst);
    // SAFETY: pointer and length are of one `&'static str`, stored before the handler was set.
    unsafe { libc::write(2, message.cast_const().cast(), LENGTH.load(Ordering::SeqCst)) };
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(STATUS.load(Ordering::SeqCst)) };
}
