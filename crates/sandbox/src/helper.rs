//! A helper process that shares our memory: no copy of it is made, and it lives when we wait or have died.
//!
//! What it runs is code as in the child of a sandbox: no allocation, no locks, no panics, and nothing that touches our `errno`.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::stack::Stack;
use crate::sys::{self, Entry, Start};

/// What the helper and we have in common.
#[derive(Debug)]
struct Shared<S> {
    /// Not 0 while the helper uses this memory. The kernel sets it to 0 and wakes who waits (`CLONE_CHILD_CLEARTID`).
    lives: AtomicU32,
    data: S,
}

/// A helper and what it shares with us. Dropping it waits until it has gone: whoever has it tells it to end before.
#[derive(Debug)]
pub(crate) struct Helper<S: Sync> {
    shared: Box<Shared<S>>,
    /// The helper runs on it as long as it lives.
    _stack: Stack,
    pid: libc::pid_t,
}

impl<S: Sync> Helper<S> {
    /// Starts it, with no signal that reaches it but `SIGKILL` and `SIGSTOP`. `flags` say what it shares besides memory.
    ///
    /// # Safety
    /// `entry` takes a pointer to an `S`, which it may use until it ends, and keeps to what is said above.
    pub(crate) unsafe fn start(entry: Entry, flags: i32, data: S) -> io::Result<Self> {
        let stack = Stack::new()?;
        let shared = Box::new(Shared { lives: AtomicU32::new(1), data });
        let start = Start {
            entry,
            argument: (&raw const shared.data).cast_mut().cast(),
            stack: stack.range(),
            flags: flags | libc::CLONE_VM | libc::CLONE_CHILD_CLEARTID,
            pidfd: ptr::null_mut(),
            lives: shared.lives.as_ptr(),
            group: -1,
        };
        // They stay blocked in the helper, so no handler of ours runs there.
        let mask = sys::block_signals();
        // SAFETY: stack and `shared` live until the helper has gone, which `drop` waits for, or until this process is gone, and then
        // the memory is the helper's alone. The caller vouches for the function.
        let made = unsafe { start.make() };
        sys::restore_signals(mask);
        let pid = made.map_err(io::Error::from_raw_os_error)?;
        Ok(Self { shared, _stack: stack, pid })
    }

    /// What it shares with us.
    pub(crate) fn shared(&self) -> &S {
        &self.shared.data
    }

    /// Its number.
    pub(crate) fn pid(&self) -> libc::pid_t {
        self.pid
    }

    /// Until the helper uses our memory no more.
    pub(crate) fn wait(&self) {
        loop {
            match self.shared.lives.load(Ordering::Acquire) {
                0 => return,
                lives => sys::wait_while(&self.shared.lives, lives),
            }
        }
    }
}

impl<S: Sync> Drop for Helper<S> {
    fn drop(&mut self) {
        self.wait();
        // SAFETY: waits for our own child by its number; no status is asked for. ECHILD: somebody else has reaped it.
        while unsafe { libc::waitpid(self.pid, ptr::null_mut(), libc::__WALL) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}
