//! Descriptors that the child makes and the supervisor needs: passed over a local socket (unix(7), `SCM_RIGHTS`).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A connected pair of local sockets: ours, and the child's.
pub(crate) fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for the two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just made and belong to nobody else.
    let [ours, theirs] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    Ok((ours, theirs))
}

/// What came over a socket.
pub(crate) enum Told {
    /// A descriptor.
    Descriptor(OwnedFd),
    /// Two numbers: what failed, and how (errno(3)).
    Failed(u32, i32),
    /// Nothing, and nothing will.
    Nothing,
}

/// Waits for the descriptor that is sent over a socket. `None` when there will be none, because the other end is closed.
pub(crate) fn receive(socket: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    match told(socket, -1)? {
        Told::Descriptor(fd) => Ok(Some(fd)),
        Told::Nothing => Ok(None),
        Told::Failed(..) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// poll(2) until there is something to read, or the other end is closed.
fn wait_for(socket: &OwnedFd, patience: i32) -> io::Result<()> {
    let mut wait = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    loop {
        // SAFETY: one valid entry.
        match unsafe { libc::poll(&raw mut wait, 1, patience) } {
            1.. => return Ok(()),
            0 => return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT)),
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}

/// Waits for what is sent over a socket, so many milliseconds, or for ever if that is negative.
pub(crate) fn told(socket: &OwnedFd, patience: i32) -> io::Result<Told> {
    wait_for(socket, patience)?;
    let mut bytes = [0u8; 8];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut control = [0u64; 8]; // aligned as control messages must be, with room for one descriptor
    // SAFETY: all zero is a valid message header.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the header points to buffers of the stated sizes, which outlive the call.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    let [a, b, c, d, e, f, g, h] = bytes;
    match count {
        0 => return Ok(Told::Nothing),
        1 => {}
        8 => {
            let numbers = [[a, b, c, d], [e, f, g, h]];
            let [what, how] = numbers.map(u32::from_ne_bytes);
            return Ok(Told::Failed(what, how.cast_signed()));
        }
        ..0 => return Err(io::Error::last_os_error()),
        _ => return Err(io::ErrorKind::InvalidData.into()),
    }
    // SAFETY: the kernel has filled in the header; the macro returns null or a pointer into `control`.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message).as_ref() };
    let Some(header) = header.filter(|h| h.cmsg_type == libc::SCM_RIGHTS) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    // SAFETY: a message of this type carries at least one descriptor, of which there is exactly one here.
    let fd = unsafe { libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned() };
    // SAFETY: the kernel has just made the descriptor for us.
    Ok(Told::Descriptor(unsafe { OwnedFd::from_raw_fd(fd) }))
}
