//! What the helper that makes namespaces ahead, and who waits for it, need.

use std::os::fd::RawFd;
use std::sync::atomic::AtomicU32;

use super::{Errno, call, register};

/// `unshare(2)`.
pub(crate) fn unshare(flags: i32) -> Result<(), Errno> {
    // SAFETY: takes a number.
    unsafe { call(libc::SYS_unshare, [flags as usize, 0, 0, 0, 0, 0]) }.map(drop)
}

/// Makes the calling process one of a namespace, of this kind (a flag of clone(2)). `setns(2)`.
pub(crate) fn enter_namespace(fd: RawFd, kind: i32) -> Result<(), Errno> {
    // SAFETY: takes numbers.
    unsafe { call(libc::SYS_setns, [register(fd), kind as usize, 0, 0, 0, 0]) }.map(drop)
}

/// The processors on which a task may run, one bit each; of the calling one for 0. sched_getaffinity(2).
pub(crate) fn processors(of: libc::pid_t, into: &mut Processors) -> Result<(), Errno> {
    // SAFETY: the kernel writes at most as many bytes as there are.
    unsafe {
        let [task, size] = [register(of), size_of_val(into)];
        call(libc::SYS_sched_getaffinity, [task, size, into.as_mut_ptr() as usize, 0, 0, 0])
    }
    .map(drop)
}

/// Has a task run on these only; the calling one for 0. sched_setaffinity(2).
pub(crate) fn run_on(task: libc::pid_t, processors: &Processors) -> Result<(), Errno> {
    // SAFETY: the kernel reads as many bytes as there are.
    unsafe {
        let [task, size] = [register(task), size_of_val(processors)];
        call(libc::SYS_sched_setaffinity, [task, size, processors.as_ptr() as usize, 0, 0, 0])
    }
    .map(drop)
}

/// One bit for each processor: 1024 of them.
pub(crate) type Processors = [usize; 1024 / usize::BITS as usize];

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

/// `read(2)`.
pub(crate) fn read(fd: RawFd, into: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel writes at most as many bytes as there are.
    unsafe { call(libc::SYS_read, [register(fd), into.as_mut_ptr() as usize, into.len(), 0, 0, 0]) }
}

/// `write(2)`.
pub(crate) fn write(fd: RawFd, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel reads at most as many bytes as there are.
    unsafe { call(libc::SYS_write, [register(fd), bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

/// Closes every descriptor from `first` up. close_range(2).
pub(crate) fn close_from(first: u32) -> Result<(), Errno> {
    // SAFETY: takes numbers.
    unsafe { call(libc::SYS_close_range, [first as usize, u32::MAX as usize, 0, 0, 0, 0]) }.map(drop)
}
