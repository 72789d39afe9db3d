//! Dispositions of signals, and which are blocked.

use super::{Errno, call};

/// Sets every signal to its default and unblocks all: the child must run no handler of the supervisor (it shares its
/// memory), and the command must not inherit ignored signals.
pub(crate) fn reset_signals() -> Result<(), Errno> {
    default_signals()?;
    unblock_signals()
}

/// Sets every signal to its default.
pub(crate) fn default_signals() -> Result<(), Errno> {
    const SIGNALS: i32 = 64;
    // The kernel's sigaction: handler, flags, restorer, mask. All zero is SIG_DFL.
    let default = [0usize; 4];
    for signal in 1..=SIGNALS {
        if signal == libc::SIGKILL || signal == libc::SIGSTOP {
            continue;
        }
        // SAFETY: the struct is as large as the kernel's, and the old action is not asked for.
        unsafe { call(libc::SYS_rt_sigaction, [signal as usize, default.as_ptr() as usize, 0, 8, 0, 0]) }?;
    }
    Ok(())
}

/// Unblocks all signals.
pub(crate) fn unblock_signals() -> Result<(), Errno> {
    let none = 0u64;
    // SAFETY: the mask is eight bytes as stated.
    unsafe {
        call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, (&raw const none) as usize, 0, 8, 0, 0])
    }
    .map(drop)
}

/// Blocks all signals of this thread and returns the mask from before.
pub(crate) fn block_signals() -> u64 {
    let all = u64::MAX;
    let mut before = 0u64;
    // SAFETY: both masks are eight bytes as stated and outlive the call, which cannot fail with these arguments.
    let _ = unsafe {
        call(
            libc::SYS_rt_sigprocmask,
            [libc::SIG_SETMASK as usize, (&raw const all) as usize, (&raw mut before) as usize, 8, 0, 0],
        )
    };
    before
}

/// Puts back the mask that [`block_signals`] returned.
pub(crate) fn restore_signals(mask: u64) {
    // SAFETY: the mask is eight bytes as stated and outlives the call.
    let _ = unsafe {
        call(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, (&raw const mask) as usize, 0, 8, 0, 0])
    };
}
