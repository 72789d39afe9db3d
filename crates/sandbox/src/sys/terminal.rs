//! Terminals (ioctl_tty(2)), for the child and for a helper: nothing here touches `errno`.

use std::os::fd::RawFd;

use super::{Errno, call, close, descriptor, open, register};

/// The kernel's `struct termios` (asm-generic/termbits.h), which is not that of every C library.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) control: u32,
    pub(crate) local: u32,
    pub(crate) line: u8,
    pub(crate) characters: [u8; 19],
}

const _: () = assert!(size_of::<Attributes>() == 36);

// linux/asm-generic/ioctls.h. Not libc's: their type differs between C libraries.
const GET_ATTRIBUTES: usize = 0x5401;
const SET_ATTRIBUTES: usize = 0x5402;
const SET_SIZE: usize = 0x5414;
const LOCK: usize = 0x4004_5431;
const OPEN_PEER: usize = 0x5441;

/// An ioctl(2) that takes a number.
///
/// # Safety
/// `argument` must be what the kernel expects of this number.
unsafe fn control(fd: RawFd, number: usize, argument: usize) -> Result<usize, Errno> {
    // SAFETY: the caller vouches for the argument.
    unsafe { call(libc::SYS_ioctl, [register(fd), number, argument, 0, 0, 0]) }
}

/// How a terminal treats what is typed and shown. `TCGETS`.
pub(crate) fn attributes(terminal: RawFd) -> Result<Attributes, Errno> {
    let mut found = Attributes { input: 0, output: 0, control: 0, local: 0, line: 0, characters: [0; 19] };
    // SAFETY: the kernel fills in the struct, which outlives the call.
    unsafe { control(terminal, GET_ATTRIBUTES, (&raw mut found) as usize) }?;
    Ok(found)
}

/// Sets them at once. `TCSETS`.
pub(crate) fn set_attributes(terminal: RawFd, to: &Attributes) -> Result<(), Errno> {
    // SAFETY: the kernel reads the struct, which outlives the call.
    unsafe { control(terminal, SET_ATTRIBUTES, std::ptr::from_ref(to) as usize) }.map(drop)
}

/// A pseudo-terminal of the devpts that is mounted here, with its size in lines and columns: our side, and the program's.
pub(crate) fn open_terminal([rows, columns]: [u16; 2]) -> Result<[RawFd; 2], Errno> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    let master = open(c"/dev/pts/ptmx", flags)?;
    let unlock = 0i32;
    let size = [rows, columns, 0, 0];
    let made = (|| {
        // SAFETY: the kernel reads an int, which outlives the call.
        unsafe { control(master, LOCK, (&raw const unlock) as usize) }?;
        // SAFETY: takes a number.
        let slave = descriptor(unsafe { control(master, OPEN_PEER, flags as usize) }?);
        // SAFETY: the kernel reads four shorts, which outlive the call.
        unsafe { control(slave, SET_SIZE, size.as_ptr() as usize) }?;
        Ok([master, slave])
    })();
    if made.is_err() {
        close(master);
    }
    made
}
