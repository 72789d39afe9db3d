//! File systems that are mounted nowhere yet.

use std::ffi::CStr;
use std::os::fd::RawFd;

use super::{Errno, call, close, descriptor, register};

/// `FSCONFIG_SET_STRING` and `FSCONFIG_CMD_CREATE` of linux/mount.h.
const SET_STRING: usize = 1;
const CREATE: usize = 6;

/// A new tmpfs with options as for mount(2), nosuid and nodev.
pub(crate) fn new_tmpfs(options: &CStr) -> Result<RawFd, Errno> {
    use super::attribute::{NO_DEV, NO_SUID};
    new(c"tmpfs", c"shward", options, NO_SUID | NO_DEV)
}

/// A new devpts with options as for mount(2), nosuid and noexec.
pub(crate) fn new_devpts(options: &CStr) -> Result<RawFd, Errno> {
    use super::attribute::{NO_EXEC, NO_SUID};
    new(c"devpts", c"devpts", options, NO_SUID | NO_EXEC)
}

/// fsopen(2), fsconfig(2), fsmount(2).
fn new(kind: &CStr, source: &CStr, options: &CStr, attributes: u64) -> Result<RawFd, Errno> {
    const CLOSE_ON_EXEC: usize = 1; // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
    // SAFETY: the name outlives the call.
    let context = unsafe { call(libc::SYS_fsopen, [kind.as_ptr() as usize, CLOSE_ON_EXEC, 0, 0, 0, 0]) };
    let context = context.map(descriptor)?;
    let made = configure(context, source, options).and_then(|()| {
        // SAFETY: takes numbers.
        unsafe {
            call(libc::SYS_fsmount, [register(context), CLOSE_ON_EXEC, attributes as usize, 0, 0, 0])
                .map(descriptor)
        }
    });
    close(context);
    made
}

fn configure(context: RawFd, source: &CStr, options: &CStr) -> Result<(), Errno> {
    set(context, c"source", source.to_bytes())?;
    for option in options.to_bytes().split(|byte| *byte == b',') {
        let Some(at) = option.iter().position(|byte| *byte == b'=') else { return Err(libc::EINVAL) };
        let (Some(key), Some(value)) = (option.get(..at), option.get(at.saturating_add(1)..)) else {
            return Err(libc::EINVAL);
        };
        let mut name = [0; 32];
        copied(key, &mut name)?;
        set(context, CStr::from_bytes_until_nul(&name).map_err(|_| libc::EINVAL)?, value)?;
    }
    // SAFETY: takes numbers; the other arguments have no meaning.
    unsafe { call(libc::SYS_fsconfig, [register(context), CREATE, 0, 0, 0, 0]) }.map(drop)
}

fn set(context: RawFd, key: &CStr, value: &[u8]) -> Result<(), Errno> {
    let mut text = [0; 32];
    copied(value, &mut text)?;
    // SAFETY: both strings end with a null and outlive the call.
    unsafe {
        let [key, value] = [key.as_ptr() as usize, text.as_ptr() as usize];
        call(libc::SYS_fsconfig, [register(context), SET_STRING, key, value, 0, 0])
    }
    .map(drop)
}

/// Copied to where at least one null follows.
fn copied(from: &[u8], to: &mut [u8; 32]) -> Result<(), Errno> {
    if from.len() >= to.len() {
        return Err(libc::ENAMETOOLONG);
    }
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    Ok(())
}

/// A copy of a descriptor above another one, closed at execve. fcntl(2), `F_DUPFD_CLOEXEC`.
pub(crate) fn duplicate_above(fd: RawFd, other: RawFd) -> Result<RawFd, Errno> {
    let from = register(other).saturating_add(1);
    // SAFETY: takes numbers.
    unsafe { call(libc::SYS_fcntl, [register(fd), libc::F_DUPFD_CLOEXEC as usize, from, 0, 0, 0]) }
        .map(descriptor)
}
