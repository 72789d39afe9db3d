//! What the child does between clone and execve.
//!
//! It runs on a stack of its own in the supervisor's memory, while other threads of the supervisor go on. So: no
//! allocation, no locks, no panics, no destructors; only raw system calls on what the plan has prepared. Whatever fails is
//! written where the supervisor reads it, and the child exits before anything of the command has run.

use std::ffi::c_void;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use crate::begun::Begun;
use crate::operation::Operation;
use crate::perform::{Sockets, complete, perform};
use crate::plan::Plan;
use crate::sys::{self, Errno};

/// How far the child came, read by the supervisor after the child has gone.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// 0 while nothing failed, else one more than the index of the failed operation; the operation after the last is the
    /// start of process 1.
    failed: AtomicU32,
    errno: AtomicI32,
}

impl Progress {
    pub(crate) fn fail(&self, index: u32, errno: Errno) {
        self.errno.store(errno, Ordering::Relaxed);
        self.failed.store(index.saturating_add(1), Ordering::Release);
    }

    /// Index of the failed operation and its errno.
    pub(crate) fn failure(&self) -> Option<(usize, Errno)> {
        let failed = self.failed.load(Ordering::Acquire);
        Some((failed.checked_sub(1)? as usize, self.errno.load(Ordering::Relaxed)))
    }
}

/// All that the child needs, lent by the supervisor, which waits.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) plan: &'a Plan,
    /// One per slot of the plan; negative while unused.
    pub(crate) slots: &'a mut [RawFd],
    /// Standard input, output, error and the status pipe; all above 3.
    pub(crate) descriptors: [RawFd; 4],
    /// The socket over which the exec gate gets the filter's listener; above 3, or negative.
    pub(crate) gate: RawFd,
    /// The socket over which the proxy outside gets its listening socket; negative without one.
    pub(crate) proxy: RawFd,
    /// The socket over which our side of the pseudo-terminal goes out, negative without one, and the terminal's size.
    pub(crate) terminal: (RawFd, [u16; 2]),
    /// The program of process 1.
    pub(crate) image: RawFd,
    /// The user namespace is one that was used before, with user and group mapped.
    pub(crate) mapped: bool,
    /// What was done before there was a plan.
    pub(crate) begun: Option<&'a Begun>,
    pub(crate) progress: &'a Progress,
}

/// Entry point for clone(2).
///
/// # Safety
/// `context` must point to a [`Context`] that stays alive and untouched until the child has called execve or exited.
pub(crate) unsafe extern "C" fn enter(context: *mut c_void) -> i32 {
    // SAFETY: the supervisor passes its context and is suspended (CLONE_VFORK) while the child uses it.
    let context = unsafe { &mut *context.cast::<Context<'_>>() };
    let Context { plan, slots, descriptors, gate, proxy, terminal, image, mapped, begun, progress } = context;
    let sockets = Sockets { gate: *gate, proxy: *proxy, terminal: terminal.0, size: terminal.1 };
    // Modes in the plan are meant as they are.
    let umask = sys::set_umask(0);
    let mut index = 0;
    let done = |operation: &Operation| *mapped && matches!(operation, Operation::MapIds { .. });
    for operation in &plan.operations {
        let result = match begun.and_then(|begun| begun.take(operation)) {
            _ if done(operation) => Ok(()),
            Some(fd) => complete(operation, fd, slots),
            None => perform(operation, slots, descriptors, &sockets),
        };
        if let Err(errno) = result {
            progress.fail(index, errno);
            sys::exit_now(1);
            return 1;
        }
        index = index.saturating_add(1);
    }
    sys::set_umask(umask);
    // SAFETY: both arrays are null-terminated and live in the plan.
    let errno = unsafe { sys::execute(*image, c"", plan.arguments.as_ptr(), plan.environment.as_ptr()) };
    progress.fail(index, errno);
    sys::exit_now(1);
    1
}

pub(crate) extern "C" fn entry(context: *mut c_void) -> i32 {
    // SAFETY: only `make_child`, here and ahead, passes this function to clone, with a context as `enter` demands.
    unsafe { enter(context) }
}
