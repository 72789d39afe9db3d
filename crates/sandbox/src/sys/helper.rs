//! What the helper that makes namespaces ahead, and who waits for it, need.

use std::sync::atomic::AtomicU32;

use super::{Errno, call};

/// `unshare(2)`.
pub(crate) fn unshare(flags: i32) -> Result<(), Errno> {
    // SAFETY: takes a number.
    unsafe { call(libc::SYS_unshare, [flags as usize, 0, 0, 0, 0, 0]) }.map(drop)
}

/// The process whose child this is. getppid(2), which cannot fail.
pub(crate) fn parent() -> usize {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_getppid, [0; 6]) }.unwrap_or(0)
}

/// Waits while a word has a value, or less long. futex(2); not private to a process, because the kernel wakes that way
/// when a thread ends (set_tid_address(2)).
pub(crate) fn wait_while(word: &AtomicU32, value: u32) {
    // SAFETY: the word outlives the call, and there is no timeout. Every way in which it fails is a reason to look again.
    let _ = unsafe {
        call(libc::SYS_futex, [word.as_ptr() as usize, libc::FUTEX_WAIT as usize, value as usize, 0, 0, 0])
    };
}

/// Wakes everybody who waits for a word.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: the word outlives the call, which takes only its address.
    let _ = unsafe {
        call(libc::SYS_futex, [word.as_ptr() as usize, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0])
    };
}
