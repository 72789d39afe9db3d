//! The notifications of a seccomp filter (seccomp_unotify(2)).

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::passing;

/// `struct seccomp_notif`, with `struct seccomp_data` written out.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Notification {
    pub(super) id: u64,
    /// The thread that makes the call, as we number it.
    pub(super) thread: u32,
    flags: u32,
    number: i32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

/// `struct seccomp_notif_resp`.
#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

// _IOWR('!', 0, struct seccomp_notif) and so on (linux/seccomp.h); the same on every architecture that this crate supports.
const RECEIVE: u64 = 0xc050_2100;
const SEND: u64 = 0xc018_2101;
const IS_VALID: u64 = 0x4008_2102;
const SET_FLAGS: u64 = 0x4008_2104;

const _: () = assert!(size_of::<Notification>() == 80 && size_of::<Response>() == 24);

/// The listening end of the filter.
#[derive(Debug)]
pub(super) struct Listener(OwnedFd);

impl Listener {
    /// Waits for the listener on the socket over which the child sends it. `None` when there will be none, because the sandbox
    /// could not be built.
    pub(super) fn receive(socket: &OwnedFd) -> io::Result<Option<Self>> {
        let Some(listener) = passing::receive(socket)?.map(Self) else { return Ok(None) };
        // Wakes whoever waits on the same processor, where that is known (Linux 6.6): half the time of a round trip.
        const SYNC_WAKE_UP: u64 = 1;
        // SAFETY: takes a number.
        unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS as _, SYNC_WAKE_UP) };
        Ok(Some(listener))
    }

    pub(super) fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// The next notification; `None` when the caller has died since, or we were interrupted. Blocks if there is none.
    pub(super) fn next(&self) -> io::Result<Option<Notification>> {
        let mut notification = Notification::default();
        // SAFETY: the struct has the size that the number of the control states, and is all zero as the kernel demands.
        if unsafe { libc::ioctl(self.as_raw_fd(), RECEIVE as _, &raw mut notification) } == 0 {
            return Ok(Some(notification));
        }
        match io::Error::last_os_error() {
            error if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => Ok(None),
            error => Err(error),
        }
    }

    /// Whether the caller still waits, so that its number still means the same thread.
    pub(super) fn is_valid(&self, notification: &Notification) -> bool {
        // SAFETY: the kernel reads eight bytes.
        unsafe { libc::ioctl(self.as_raw_fd(), IS_VALID as _, &raw const notification.id) == 0 }
    }

    /// Lets the call go on.
    pub(super) fn go_on(&self, notification: &Notification) {
        self.send(notification, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    /// Makes the call fail.
    pub(super) fn fail(&self, notification: &Notification, errno: i32) {
        self.send(notification, -errno, 0);
    }

    /// A caller that has died needs no answer, so nothing is made of failure.
    fn send(&self, notification: &Notification, error: i32, flags: u32) {
        let response = Response { id: notification.id, value: 0, error, flags };
        // SAFETY: the struct has the size that the number of the control states.
        unsafe { libc::ioctl(self.as_raw_fd(), SEND as _, &raw const response) };
    }
}

/// An event counter that poll(2) can wait for.
pub(super) fn event() -> io::Result<File> {
    // SAFETY: takes numbers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { File::from_raw_fd(fd) })
}
