//! A pseudo-terminal for a command (pty(7)): made inside the sandbox, in its own devpts, and served by the supervisor, which holds the
//! other side of it and nothing else.
//!
//! Whatever the command does to its terminal, it does to its own: nothing that it could push into the input of that one
//! (`TIOCSTI`, which the filter refuses besides) reaches the terminal at which somebody sits. What is typed there is passed on byte for byte.

mod raw;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use self::raw::Raw;
use crate::error::{SandboxError, Stage};
use crate::plan::Plan;
use crate::{descriptor, passing};

/// How often the size of the terminal at which somebody sits is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(200);

/// What ends a line-wise input (termios(3), `VEOF`).
const END: u8 = 4;

/// The most that is taken from somebody who types before it is passed on, in bytes.
const PIECE: usize = 4096;

/// The pseudo-terminal of a plan that has one ([`Confinement::terminal`](crate::Confinement::terminal)).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pty {
    /// Its lines, if nobody sits at a terminal that has a size of its own.
    pub rows: u16,
    /// Its columns, likewise.
    pub columns: u16,
    /// The terminal at which somebody types. While the command runs it is raw: every key goes to the command, also those that
    /// would interrupt or suspend us, and its size is the command's. It is put back on every exit, also when this process is
    /// killed. Without one the command's input is at its end.
    pub typed: Option<Arc<OwnedFd>>,
}

impl Default for Pty {
    /// 24 lines of 80 columns, at which nobody types.
    fn default() -> Self {
        Self { rows: 24, columns: 80, typed: None }
    }
}

impl Pty {
    /// At which the one types who sits at this terminal.
    #[must_use]
    pub fn typed(terminal: OwnedFd) -> Self {
        Self { typed: Some(Arc::new(terminal)), ..Self::default() }
    }

    /// Lines and columns.
    fn size(&self) -> [u16; 2] {
        let seen = self.typed.as_ref().and_then(|typed| size_of_terminal(typed.as_raw_fd()));
        seen.unwrap_or([self.rows, self.columns])
    }
}

/// A pseudo-terminal that is about to be made.
#[derive(Debug)]
pub(crate) struct Offer {
    ours: OwnedFd,
    theirs: OwnedFd,
    pty: Pty,
    size: [u16; 2],
}

impl Offer {
    /// What a plan with a terminal needs before its child is made.
    pub(crate) fn of(plan: &Plan, pty: Option<Pty>) -> Result<Option<Self>, SandboxError> {
        match (plan.terminal, pty) {
            (true, pty) => {
                let (ours, theirs) = passing::sockets().map_err(|error| failed(&error))?;
                let pty = pty.unwrap_or_default();
                let size = pty.size();
                Ok(Some(Self { ours, theirs: descriptor::above_standard(theirs)?, pty, size }))
            }
            (false, Some(_)) => Err(SandboxError::request(
                "there is a pseudo-terminal and the plan has none",
                "make the plan with `terminal`",
            )),
            (false, None) => Ok(None),
        }
    }

    /// The socket over which it comes, and its size.
    pub(crate) fn for_child(&self) -> (RawFd, [u16; 2]) {
        (self.theirs.as_raw_fd(), self.size)
    }

    /// Takes it from the child, and begins to pass on what is typed.
    pub(crate) fn take(self) -> Result<Session, SandboxError> {
        let Self { ours, theirs, pty, size } = self;
        drop(theirs); // or the wait would never end
        let taken = || {
            let master = passing::receive(&ours)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            rustix::io::ioctl_fionbio(&master, true)?;
            let mut session = Session { master: File::from(master), typed: None, size, pending: Vec::new() };
            match pty.typed {
                Some(typed) => session.typed = Some(Raw::new(typed)?),
                None => session.pending.push(END),
            }
            io::Result::Ok(session)
        };
        taken().map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> SandboxError {
    SandboxError::kernel(
        Stage::Terminal,
        error.raw_os_error().unwrap_or(libc::EIO),
        "serving the pseudo-terminal",
    )
}

/// Our side of a pseudo-terminal. Dropping it puts the terminal back at which somebody sits.
#[derive(Debug)]
pub(crate) struct Session {
    master: File,
    typed: Option<Raw>,
    size: [u16; 2],
    /// What was typed and has not been passed on.
    pending: Vec<u8>,
}

impl Session {
    /// Where the command's output comes from.
    pub(crate) fn output(&self) -> Result<File, SandboxError> {
        self.master.try_clone().map_err(|error| failed(&error))
    }

    /// What to wait for: something typed, or room for what was. Negative ones are not waited for.
    pub(crate) fn wanted(&self) -> [RawFd; 2] {
        match (&self.typed, self.pending.is_empty()) {
            (Some(typed), true) => [typed.as_raw_fd(), -1],
            (None, true) => [-1, -1],
            (_, false) => [-1, self.master.as_raw_fd()],
        }
    }

    /// Whether somebody sits at a terminal whose size has to be followed.
    pub(crate) fn is_followed(&self) -> bool {
        self.typed.is_some()
    }

    /// Passes on what can be passed on without waiting.
    pub(crate) fn pass(&mut self, typed: i16) {
        if let Some(raw) = self.typed.as_ref().filter(|_| typed != 0) {
            let mut piece = [0; PIECE];
            match raw.file().read(&mut piece) {
                Ok(count @ 1..) => self.pending.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // It hung up. Nothing at all may also mean that somebody else has read it.
                Ok(_) if typed & libc::POLLHUP == 0 => {}
                _ => self.typed = None,
            }
        }
        if !self.pending.is_empty() {
            match self.master.write(&self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                // Nobody is left who could read it.
                Err(_) => self.pending.clear(),
            }
        }
        let now = self.typed.as_ref().and_then(|typed| size_of_terminal(typed.as_raw_fd()));
        if let Some(size) = now.filter(|size| *size != self.size) {
            self.size = size;
            set_size(self.master.as_raw_fd(), size);
        }
    }
}

/// Lines and columns of a terminal that knows them. ioctl_tty(2), `TIOCGWINSZ`.
fn size_of_terminal(terminal: RawFd) -> Option<[u16; 2]> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel writes the struct, which outlives the call.
    let result = unsafe { libc::ioctl(terminal, libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_row > 0 && size.ws_col > 0).then_some([size.ws_row, size.ws_col])
}

/// Sets them, and has whoever runs there told. `TIOCSWINSZ`.
fn set_size(terminal: RawFd, [rows, columns]: [u16; 2]) {
    let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel reads the struct, which outlives the call.
    unsafe { libc::ioctl(terminal, libc::TIOCSWINSZ, &raw const size) };
}
