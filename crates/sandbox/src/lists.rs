//! Lists of the kernel that a plan is made from: what is mounted where, and the sockets that have a name.
//!
//! Nothing else that is asked for a plan takes the kernel as long: it makes them anew for each read, and a process that has just begun has
//! no place in proc(5) yet. So the helper ([`Ahead`](crate::Ahead)) reads them, on another processor, before it makes the namespaces in
//! which they would be others.

use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::elsewhere::Mounts;
use crate::paths::contents;
use crate::sys;

/// Both lists.
#[derive(Debug)]
pub(crate) struct Lists {
    pub(crate) mounts: Mounts,
    /// The content of `/proc/net/unix` (proc_net(5)).
    pub(crate) sockets: Vec<u8>,
}

impl Lists {
    /// Without /proc there is nothing to read; a plan then fails at its own use of /proc.
    pub(crate) fn read() -> Self {
        Self { mounts: Mounts::read(), sockets: contents("/proc/self/net/unix").unwrap_or_default() }
    }
}

/// The same, read by a helper that shares our memory.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    mounts: One,
    sockets: One,
    /// Somebody has used them.
    lent: AtomicBool,
    /// Something was mounted before the namespace of mounts was made.
    outdated: AtomicBool,
}

impl ReadAhead {
    /// Reads both, of the process whose directory in a mount of proc this is. By the helper, and once: it neither allocates nor locks
    /// nor panics. What it gives is for [`ReadAhead::hold`].
    pub(crate) fn read(&self, own: RawFd) -> RawFd {
        let mounts = self.mounts.read(own, c"mountinfo");
        sys::close(self.sockets.read(own, c"net/unix"));
        mounts
    }

    /// Holds the list of mounts against those that the new namespace was made of. proc_pid_mounts(5): who has the list open is told of
    /// every change.
    pub(crate) fn hold(&self, mounts: RawFd) {
        if sys::has_news(mounts) {
            self.outdated.store(true, Ordering::Release);
        }
        sys::close(mounts);
    }

    /// Both, if they have been read to their ends.
    pub(crate) fn lists(&self) -> Option<Lists> {
        let (mounts, sockets) = (self.mounts.content()?, self.sockets.content()?);
        self.lent.store(true, Ordering::Relaxed);
        Some(Lists { mounts: Mounts::parse(mounts), sockets: sockets.to_vec() })
    }

    /// Whether a plan was made from mounts that are others by now. A command could see there what the plan means to hide.
    pub(crate) fn misled(&self) -> bool {
        self.lent.load(Ordering::Relaxed) && self.outdated.load(Ordering::Acquire)
    }
}

/// What is longer is left to who needs it.
const MOST: usize = 16 * 1024;

/// The content of a file.
#[derive(Debug)]
struct One {
    room: Box<UnsafeCell<MaybeUninit<[u8; MOST]>>>,
    /// 0 until it is there.
    length: AtomicUsize,
}

// SAFETY: the room is the helper's, which reads once, until the length is not 0, and only read from then on.
unsafe impl Sync for One {}

impl Default for One {
    fn default() -> Self {
        // SAFETY: nothing needs to be in it. Written by nobody here, so that no page of it is touched for nothing.
        let room = unsafe { Box::new_uninit().assume_init() };
        Self { room, length: AtomicUsize::new(0) }
    }
}

impl One {
    /// Gives the open file, or what is negative.
    fn read(&self, at: RawFd, name: &CStr) -> RawFd {
        let Ok(file) = sys::open_at(at, name, libc::O_RDONLY | libc::O_CLOEXEC) else { return -1 };
        let room: *mut u8 = self.room.get().cast();
        // SAFETY: it is ours until the length is written, and after this there is something in all of it.
        let room = unsafe {
            room.write_bytes(0, MOST);
            slice::from_raw_parts_mut(room, MOST)
        };
        let mut length = 0;
        // At the last byte nobody can tell whether it was the end.
        while let Some(rest) = room.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match sys::read(file, rest) {
                Ok(0) => {
                    self.length.store(length, Ordering::Release);
                    break;
                }
                Ok(more) => length = length.saturating_add(more),
                Err(_) => break,
            }
        }
        file
    }

    fn content(&self) -> Option<&[u8]> {
        let length = self.length.load(Ordering::Acquire);
        // SAFETY: so much was written before the length was, and nobody writes again.
        (length != 0).then(|| unsafe { slice::from_raw_parts(self.room.get().cast(), length) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perform::own_directory;
    use std::fs;

    #[test]
    fn what_was_read_ahead_is_what_is_there() {
        let ahead = ReadAhead::default();
        assert!(ahead.lists().is_none());
        let own = own_directory().unwrap();
        let mounts = ahead.read(own);
        sys::close(own);
        let (lists, now) = (ahead.lists().unwrap(), Lists::read());
        assert!(lists.mounts.places().eq(now.mounts.places()));
        assert!(lists.sockets.starts_with(b"Num "));
        ahead.hold(mounts);
        // What was never opened may have changed.
        assert!(!ahead.misled());
        ahead.hold(-1);
        assert!(ahead.misled());
    }

    #[test]
    fn what_has_no_room_is_not_there() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("list");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        for (length, fits) in [(1, true), (MOST - 1, true), (MOST, false), (MOST + 1, false)] {
            fs::write(&path, vec![b'x'; length]).unwrap();
            let one = One::default();
            sys::close(one.read(libc::AT_FDCWD, &name));
            assert_eq!(one.content().map(<[u8]>::len), fits.then_some(length));
        }
        let one = One::default();
        assert!(one.read(libc::AT_FDCWD, c"/nowhere/at/all") < 0);
        assert!(one.content().is_none());
    }
}
