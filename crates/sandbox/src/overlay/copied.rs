//! Copies of what lies in the workspace, as much like it as another file can be: content, permissions, times and attributes.
//!
//! Others may work in the workspace meanwhile. Whatever is not as it was when it was found, is no longer there, or is a link by now,
//! ends the copy.

use super::tree::{ATTRIBUTES, Tree};
use super::upper::inside;
use rustix::fs::{FileType, Mode, OFlags, Stat, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::path::Path;

/// How many bytes the names of a file's attributes, or one of them, may have: what the kernel bounds them at (xattr(7)).
const LONGEST: usize = 1 << 16;

/// What of a file tells whether somebody has touched it. Nobody can set the time of the last change of anything (inode(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    device: u64,
    pub(super) inode: u64,
    /// With what it is.
    mode: u32,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl State {
    #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev.into(),
            inode: stat.st_ino.into(),
            mode: stat.st_mode,
            size: stat.st_size.into(),
            modified: (stat.st_mtime.into(), nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime.into(), nanoseconds(stat.st_ctime_nsec)),
        }
    }

    /// Nothing of it was changed at this time or later.
    pub(super) fn is_before(&self, time: Timespec) -> bool {
        self.changed < (time.tv_sec, nanoseconds(time.tv_nsec))
    }

    pub(super) fn is_directory(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::Directory
    }

    /// A character device 0/0 is the only one that a layer may hold.
    pub(super) fn is_device(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::CharacterDevice
    }

    /// The twelve permission bits.
    pub(super) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}

/// The error of what is not copied.
pub(super) fn unsuited() -> io::Error {
    io::ErrorKind::Unsupported.into()
}

fn nanoseconds(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(0)
}

#[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
fn times(stat: &Stat) -> Timestamps {
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    Timestamps {
        last_access: time(stat.st_atime.into(), nanoseconds(stat.st_atime_nsec)),
        last_modification: time(stat.st_mtime.into(), nanoseconds(stat.st_mtime_nsec)),
    }
}

/// Copies a regular file into a layer.
pub(super) fn file(workspace: &Tree, store: &Tree, path: &Path, found: &Stat) -> io::Result<()> {
    // A pipe in its place would block.
    let source = File::from(workspace.beneath(path, OFlags::RDONLY | OFlags::NONBLOCK)?);
    same(&source, found)?;
    let copy = File::from(store.make_file(&inside(path))?);
    // Where the file system can, both share their room (copy_file_range(2)). One that grows meanwhile is not followed.
    let size = u64::try_from(found.st_size).unwrap_or(0);
    if io::copy(&mut (&source).take(size), &mut &copy)? != size {
        return Err(unsuited());
    }
    dress(&source, &copy, found)?;
    same(&source, found)
}

/// Copies a symbolic link into a layer.
pub(super) fn link(workspace: &Tree, store: &Tree, path: &Path, found: &Stat) -> io::Result<()> {
    store.make_link(&workspace.target(path)?, &inside(path), &times(found))?;
    match workspace.stat(path)? {
        Some(now) if State::of(&now) == State::of(found) => Ok(()),
        _ => Err(unsuited()),
    }
}

/// Makes a directory of a layer look like that of the workspace. Gives back what it is then.
pub(super) fn directory(workspace: &Tree, store: &Tree, path: &Path, found: &Stat) -> io::Result<State> {
    let source = workspace.beneath(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let copy = store.beneath(&inside(path), OFlags::RDONLY | OFlags::DIRECTORY)?;
    same(&source, found)?;
    dress(&source, &copy, found)?;
    Ok(State::of(&rustix::fs::fstat(&copy)?))
}

/// Gives a directory of a layer the times of the one in the workspace.
pub(super) fn set_times(store: &Tree, path: &Path, found: &Stat) -> io::Result<()> {
    let copy = store.beneath(&inside(path), OFlags::RDONLY | OFlags::DIRECTORY)?;
    Ok(rustix::fs::futimens(&copy, &times(found))?)
}

/// Nobody has touched what is open since it was found.
fn same(open: impl AsFd, found: &Stat) -> io::Result<()> {
    match State::of(&rustix::fs::fstat(open)?) == State::of(found) {
        true => Ok(()),
        false => Err(unsuited()),
    }
}

/// Gives a copy the attributes, permissions and times of what it is one of. What its owner may write is not asked any more once it has
/// the permissions, and access control lists go after these, which would change them.
fn dress(source: impl AsFd, copy: impl AsFd, found: &Stat) -> io::Result<()> {
    let (source, copy) = (source.as_fd(), copy.as_fd());
    let mut lists = Vec::new();
    for name in names(source)?.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        match name {
            // What they would mean to overlayfs is not what they mean where they are.
            _ if name.starts_with(ATTRIBUTES) => return Err(unsuited()),
            // The power of whoever runs a file can be given by root alone.
            b"security.capability" => return Err(unsuited()),
            b"system.posix_acl_access" | b"system.posix_acl_default" => {
                lists.push((name.to_owned(), value(source, name)?))
            }
            _ if name.starts_with(b"user.") => set(copy, name, &value(source, name)?)?,
            // Those of security modules come with the place.
            _ => {}
        }
    }
    // A directory above may have given it others, which a rename does not.
    for name in [&b"system.posix_acl_access"[..], b"system.posix_acl_default"] {
        match rustix::fs::fremovexattr(copy, name) {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    rustix::fs::fchmod(copy, Mode::from_raw_mode(found.st_mode & 0o7777))?;
    for (name, value) in lists {
        set(copy, &name, &value)?;
    }
    Ok(rustix::fs::futimens(copy, &times(found))?)
}

fn set(copy: impl AsFd, name: &[u8], value: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::fsetxattr(copy, name, value, XattrFlags::empty())?)
}

/// The names of a file's attributes, each with a NUL after it.
fn names(file: impl AsFd) -> io::Result<Vec<u8>> {
    let file = file.as_fd();
    match read(|buffer| rustix::fs::flistxattr(file, buffer)) {
        // Some file systems have none at all.
        Err(Errno::NOTSUP) => Ok(Vec::new()),
        names => Ok(names?),
    }
}

fn value(file: impl AsFd, name: &[u8]) -> io::Result<Vec<u8>> {
    let file = file.as_fd();
    Ok(read(|buffer| rustix::fs::fgetxattr(file, name, buffer))?)
}

/// What a call writes, which does not say how much that is before it has room for it.
fn read(call: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 256];
    loop {
        match call(&mut buffer) {
            Err(Errno::RANGE) if buffer.len() < LONGEST => buffer.resize(LONGEST, 0),
            length => {
                buffer.truncate(length?);
                return Ok(buffer);
            }
        }
    }
}
