//! A child that shares our memory for a moment, and the stack that it has for that.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::error::{SandboxError, Stage};
use crate::sys::{self, Entry, Start};

/// Memory for the child's stack, with a guard page below.
#[derive(Debug)]
pub(crate) struct Stack {
    base: *mut libc::c_void,
}

impl Stack {
    pub(crate) const SIZE: usize = 128 * 1024;
    const GUARD: usize = 64 * 1024; // at least one page on every machine

    pub(crate) fn new() -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping touches no memory that exists.
        let base = unsafe { libc::mmap(ptr::null_mut(), Self::SIZE, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self { base };
        // SAFETY: the range lies within the mapping that was just made.
        let opened = unsafe {
            libc::mprotect(
                base.byte_add(Self::GUARD),
                Self::SIZE - Self::GUARD,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        if opened != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// The same, and what it was for in the error.
    pub(crate) fn for_child() -> Result<Self, SandboxError> {
        Self::new().map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(0);
            SandboxError::kernel(Stage::Resources, errno, "mapping a stack for the child")
        })
    }

    /// Where it was mapped, and its length with the guard page. Stacks grow downwards.
    pub(crate) fn range(&self) -> (*mut libc::c_void, usize) {
        (self.base, Self::SIZE)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and the child no longer uses it.
        unsafe { libc::munmap(self.base, Self::SIZE) };
    }
}

/// The child in new namespaces of its own, after it has called execve or exited.
///
/// # Safety
/// `entry` takes a pointer to what `argument` points to, and keeps to the rules of the child; nobody else uses that meanwhile.
pub(crate) unsafe fn make_child(
    namespaces: i32,
    entry: Entry,
    argument: *mut libc::c_void,
    stack: &Stack,
    group: RawFd,
) -> Result<OwnedFd, SandboxError> {
    let mut pidfd: RawFd = -1;
    let start = Start {
        entry,
        argument,
        stack: stack.range(),
        flags: namespaces | libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD,
        pidfd: &raw mut pidfd,
        lives: ptr::null_mut(),
        group,
    };
    let mask = sys::block_signals();
    // SAFETY: the stack is mapped; the caller vouches for function and argument. With CLONE_VFORK this thread is suspended until the
    // child has called execve or exited, so stack, plan and context outlive the child's use of them. Signals are blocked, so
    // no handler runs in the child while it shares our memory.
    let made = unsafe { start.make() };
    sys::restore_signals(mask);
    made.map_err(|errno| SandboxError::kernel(Stage::Clone, errno, "creating a process in new namespaces"))?;
    // SAFETY: clone succeeded with CLONE_PIDFD, so this is a new descriptor that belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(pidfd) })
}
