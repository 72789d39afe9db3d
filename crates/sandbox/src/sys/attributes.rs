//! Extended attributes by directory and name (xattr(7)).

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::{Errno, call, register};

/// listxattrat, Linux 6.13; the same number on every machine, and not in every libc yet.
const LIST: libc::c_long = 465;

/// The names of a file's attributes, each with a NUL after it, without following a link; how many bytes they take. `ENOSYS`, or what a
/// filter of system calls says instead, before Linux 6.13.
pub(crate) fn list_attributes(directory: RawFd, name: &CStr, list: &mut [u8]) -> Result<usize, Errno> {
    let flags = libc::AT_SYMLINK_NOFOLLOW as usize;
    let arguments =
        [register(directory), name.as_ptr() as usize, flags, list.as_mut_ptr() as usize, list.len(), 0];
    // SAFETY: the name is NUL-terminated, and the kernel writes at most as many bytes as there are.
    unsafe { call(LIST, arguments) }
}
