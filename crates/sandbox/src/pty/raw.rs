//! The terminal at which somebody sits, while its keys go elsewhere; and its way back, whatever becomes of this process.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::sync::Arc;

use crate::descriptor;
use crate::helper::Helper;
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
}

/// A terminal in raw mode. Dropping it puts it back. A helper process waits for our death and does it then: nobody is left at a terminal
/// that shows nothing of what they type because we were killed.
#[derive(Debug)]
pub(super) struct Raw {
    terminal: File,
    helper: Helper<Shared>,
    /// The helper waits at the other end.
    telling: OwnedFd,
    _waiting: File,
}

impl Raw {
    /// # Errors
    /// It is no terminal, or there can be no helper.
    pub(super) fn new(terminal: Arc<OwnedFd>) -> io::Result<Self> {
        let terminal = File::from(terminal.try_clone()?);
        let before = sys::attributes(terminal.as_raw_fd()).map_err(io::Error::from_raw_os_error)?;
        let (waiting, telling) = descriptor::pipe().map_err(|_| io::Error::last_os_error())?;
        rustix::io::ioctl_fionbio(&waiting, false)?;
        let shared = Shared { terminal: terminal.as_raw_fd(), pipe: waiting.as_raw_fd(), before };
        // Neither a key nor a hang-up ends it, and it may write to the terminal of others: signals are blocked in it.
        // SAFETY: the function takes a `Shared`, and keeps to the rules.
        let helper = unsafe { Helper::start(helper, 0, shared)? };
        let raw = Self { terminal, helper, telling, _waiting: waiting };
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
        let _ = sys::set_attributes(self.as_raw_fd(), &self.helper.shared().before);
        let _ = sys::write(self.telling.as_raw_fd(), &[DONE]);
    }
}

/// The helper. No allocation, no locks, no panics, and nothing that touches our `errno`.
extern "C" fn helper(shared: *mut libc::c_void) -> i32 {
    // SAFETY: it outlives the helper, and is never written.
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
