//! Descriptors that the supervisor makes for the child: pipes and files in memory.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{SandboxError, Stage};

/// The descriptor on which process 1 reports.
pub(crate) const STATUS_FD: i32 = 3;

/// `memfd_create(2)`, close-on-exec, with `mode` saying whether it may be executed. Kernels before 6.3 do not know that flag,
/// and there it is not needed.
pub(crate) fn memory_file(name: &CStr, mode: u32) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is NUL-terminated.
    let mut fd = unsafe { libc::memfd_create(name.as_ptr(), flags | mode) };
    if fd < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        // SAFETY: as above.
        fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    }
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// Seals a memory file against every change.
pub(crate) fn seal(file: &File) -> io::Result<()> {
    let seals = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;
    // SAFETY: F_ADD_SEALS takes a number.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A pipe whose read end does not block and whose write end is above the standard descriptors.
pub(crate) fn pipe() -> Result<(File, OwnedFd), SandboxError> {
    let mut ends = [-1; 2];
    // SAFETY: the array has room for the two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(SandboxError::last(Stage::Resources, "making a pipe"));
    }
    // SAFETY: both were just made and belong to nobody else.
    let [read, write] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    // SAFETY: F_SETFL takes a number.
    if unsafe { libc::fcntl(read.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
        return Err(SandboxError::last(Stage::Resources, "making a pipe"));
    }
    Ok((read.into(), above_standard(write)?))
}

/// What a pipe holds at most that was made here, in bytes.
pub(crate) const MOST_IN_A_PIPE: u64 = 1 << 20;

/// Asks for a pipe that holds a megabyte instead of 64 KiB (pipe(7)). Whether it does changes the speed only.
pub(crate) fn enlarge(pipe: &File) {
    // SAFETY: F_SETPIPE_SZ takes a number.
    unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, MOST_IN_A_PIPE) };
}

/// The child puts its descriptors to 0..=3 one after the other, so nothing that it needs may lie there before.
pub(crate) fn above_standard(fd: OwnedFd) -> Result<OwnedFd, SandboxError> {
    if fd.as_raw_fd() > STATUS_FD {
        return Ok(fd);
    }
    // SAFETY: takes numbers.
    let moved = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, STATUS_FD + 1) };
    if moved < 0 {
        return Err(SandboxError::last(Stage::Resources, "moving a descriptor"));
    }
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(moved) })
}
