//! The terminal at which somebody sits, while its keys go elsewhere; and its way back, whatever becomes of this process.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::descriptor;
use crate::spawn::Stack;
use crate::sys::{self, Attributes};

/// Told to the helper when there is nothing left for it to do.
const DONE: u8 = 1;

/// What the helper needs, in memory that it shares with us.
#[derive(Debug)]
struct Shared {
    terminal: RawFd,
    /// It ends when we end, in whatever way.
    pipe: RawFd,
    before: Attributes,
    /// Not 0 while the helper uses this memory (`CLONE_CHILD_CLEARTID`).
    lives: AtomicU32,
}

/// A terminal in raw mode. Dropping it puts it back. A helper process waits for our death and does it then: nobody is left at a terminal
/// that shows nothing of what they type because we were killed.
#[derive(Debug)]
pub(super) struct Raw {
    terminal: File,
    shared: Box<Shared>,
    /// The helper waits at the other end.
    telling: OwnedFd,
    _waiting: File,
    _stack: Stack,
    pid: libc::pid_t,
}

impl Raw {
    /// # Errors
    /// It is no terminal, or there can be no helper.
    pub(super) fn new(terminal: Arc<OwnedFd>) -> io::Result<Self> {
        let terminal = File::from(terminal.try_clone()?);
        let before = sys::attributes(terminal.as_raw_fd()).map_err(io::Error::from_raw_os_error)?;
        let (waiting, telling) = descriptor::pipe().map_err(|_| io::Error::last_os_error())?;
        rustix::io::ioctl_fionbio(&waiting, false)?;
        let stack = Stack::new()?;
        let shared = Box::new(Shared {
            terminal: terminal.as_raw_fd(),
            pipe: waiting.as_raw_fd(),
            before,
            lives: AtomicU32::new(1),
        });
        let flags = libc::CLONE_VM | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
        // They stay blocked in the helper: neither a key nor a hang-up ends it, and it may write to the terminal of others.
        let mask = sys::block_signals();
        // SAFETY: the stack is mapped and its top aligned; stack and `shared` live until the helper has gone, which `drop`
        // waits for, or until this process is gone, and then the memory is the helper's alone.
        let pid = unsafe {
            libc::clone(
                helper,
                stack.top(),
                flags,
                (&raw const *shared).cast_mut().cast(),
                ptr::null_mut::<libc::pid_t>(),
                ptr::null_mut::<libc::c_void>(),
                shared.lives.as_ptr(),
            )
        };
        sys::restore_signals(mask);
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let raw = Self { terminal, shared, telling, _waiting: waiting, _stack: stack, pid };
        sys::set_attributes(raw.as_raw_fd(), &made_raw(before)).map_err(io::Error::from_raw_os_error)?;
        Ok(raw)
    }

    pub(super) fn as_raw_fd(&self) -> RawFd {
        self.terminal.as_raw_fd()
    }

    pub(super) fn file(&self) -> &File {
        &self.terminal
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = sys::set_attributes(self.as_raw_fd(), &self.shared.before);
        let _ = sys::write(self.telling.as_raw_fd(), &[DONE]);
        loop {
            match self.shared.lives.load(Ordering::Acquire) {
                0 => break,
                lives => sys::wait_while(&self.shared.lives, lives),
            }
        }
        // SAFETY: waits for our own child by its number; no status is asked for. ECHILD: somebody else has reaped it.
        while unsafe { libc::waitpid(self.pid, ptr::null_mut(), libc::__WALL) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}

/// The helper. No allocation, no locks, no panics, and nothing that touches our `errno`.
extern "C" fn helper(shared: *mut libc::c_void) -> i32 {
    // SAFETY: it outlives the helper; what is not atomic in it is never written.
    let shared = unsafe { &*shared.cast::<Shared>() };
    // Of the descriptors that it got copies of, it keeps the two that it needs: a lock or a pipe of ours is not its own to hold. Neither
    // is a standard one, so they are not in each other's way.
    let ready = sys::place_descriptor(shared.pipe, 0).is_ok()
        && sys::place_descriptor(shared.terminal, 1).is_ok()
        && sys::close_from(2).is_ok();
    if ready {
        let mut byte = 0u8;
        let told = sys::read(0, std::slice::from_mut(&mut byte));
        if !matches!(told, Ok(1..)) {
            let _ = sys::set_attributes(1, &shared.before);
        }
    }
    sys::exit_now(0);
    0
}

/// As cfmakeraw(3) has it, but that a read never waits: it is only made when there is something.
fn made_raw(mut with: Attributes) -> Attributes {
    with.input &= !(libc::IGNBRK
        | libc::BRKINT
        | libc::PARMRK
        | libc::ISTRIP
        | libc::INLCR
        | libc::IGNCR
        | libc::ICRNL
        | libc::IXON);
    with.output &= !libc::OPOST;
    with.local &= !(libc::ECHO | libc::ECHONL | libc::ICANON | libc::ISIG | libc::IEXTEN);
    with.control &= !(libc::CSIZE | libc::PARENB);
    with.control |= libc::CS8;
    for at in [libc::VMIN, libc::VTIME] {
        if let Some(value) = with.characters.get_mut(at) {
            *value = 0;
        }
    }
    with
}
