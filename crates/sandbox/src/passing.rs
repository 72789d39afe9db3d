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

/// Waits for the descriptor that is sent over a socket. `None` when there will be none, because the other end is closed.
pub(crate) fn receive(socket: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = [0u64; 8]; // aligned as control messages must be, with room for one descriptor
    // SAFETY: all zero is a valid message header.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the header points to buffers of the stated sizes, which outlive the call.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    match count {
        0 => return Ok(None),
        1 => {}
        _ => return Err(io::Error::last_os_error()),
    }
    // SAFETY: the kernel has filled in the header; the macro returns null or a pointer into `control`.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message).as_ref() };
    let Some(header) = header.filter(|h| h.cmsg_type == libc::SCM_RIGHTS) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    // SAFETY: a message of this type carries at least one descriptor, of which there is exactly one here.
    let fd = unsafe { libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned() };
    // SAFETY: the kernel has just made the descriptor for us.
    Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) }))
}
