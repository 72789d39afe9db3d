//! The machine as a process of a run sees it: with the run's own layer over the workspace, and its private directories.

use super::{Follow, LISTED, Led, Machine, entries_of, follow, is_executable, kind_of, path, search};
use crate::reading;
use rustix::fs::{CWD, Dir, Mode, OFlags, ResolveFlags, Stat, fstat, open, openat2, readlinkat};
use rustix::io::Errno;
use shward_analysis::{Entries, FileKind, World};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// A machine within the root directory of a process. Links are followed there, also such as begin with `/`.
pub(crate) struct Within<'m> {
    machine: &'m Machine,
    root: OwnedFd,
}

impl<'m> Within<'m> {
    /// # Errors
    /// The process is gone, or may not be looked at.
    pub(crate) fn new(machine: &'m Machine, pid: i32) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { machine, root: open(format!("/proc/{pid}/root"), flags, Mode::empty())? })
    }

    fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::IN_ROOT)
    }

    /// Whether there is a regular file that has a name: not one in memory, and none that was removed while it was open.
    pub(crate) fn has_file(&self, path: &Path) -> bool {
        self.stat(path).is_ok_and(|found| kind_of(Ok(found)) == FileKind::File && found.st_nlink > 0)
    }

    fn stat(&self, path: &Path) -> Result<Stat, Errno> {
        fstat(self.open(path, OFlags::PATH)?)
    }
}

/// What a link says, to us: of one that the kernel makes, the path of the file in the process's own tree.
fn target(at: impl AsFd, path: &str) -> Option<PathBuf> {
    let target = readlinkat(at, path, Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

impl Follow for Within<'_> {
    fn canonicalize(&self, path: &Path) -> Option<PathBuf> {
        let file = self.open(path, OFlags::PATH).ok()?;
        target(CWD, &format!("/proc/self/fd/{}", file.as_raw_fd()))
    }

    fn read_link(&self, path: &Path) -> Option<PathBuf> {
        let link = self.open(path, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
        target(&link, "")
    }
}

impl World for Within<'_> {
    fn variable(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        self.machine.variable(name)
    }

    fn own(&self) -> &[Vec<u8>] {
        self.machine.own()
    }

    fn guarded(&self) -> &[Vec<u8>] {
        self.machine.guarded()
    }

    fn led(&self) -> &[Led] {
        self.machine.led()
    }

    fn canonical(&self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        follow(bytes, self).map(Cow::Owned)
    }

    fn kind(&self, bytes: &[u8]) -> FileKind {
        kind_of(self.stat(path(bytes)))
    }

    fn executable(&self, bytes: &[u8]) -> Option<bool> {
        self.stat(path(bytes)).ok().map(|found| is_executable(&found))
    }

    fn entries(&self, directory: &[u8], most: usize) -> Entries {
        entries_of(self.open(path(directory), LISTED).and_then(Dir::new), most)
    }

    fn program(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        let directories = &self.machine.search;
        if directories.is_empty() {
            return None;
        }
        let found =
            search(directories, name, |file| self.stat(file).is_ok_and(|found| is_executable(&found)));
        Some(found.map(Cow::Owned))
    }

    fn content(&self, bytes: &[u8], limit: usize) -> Option<Cow<'_, [u8]>> {
        // Looked at before it is opened for reading: a pipe or a device would block or give something else the next time.
        let fits = |found: &Stat| kind_of(Ok(*found)) == FileKind::File && found.st_size <= limit as i64;
        self.stat(path(bytes)).ok().filter(fits)?;
        let file = self.open(path(bytes), OFlags::RDONLY | OFlags::NONBLOCK).ok()?;
        fstat(&file).ok().filter(fits).filter(|_| reading::is_file(&file))?;
        let mut text = Vec::new();
        File::from(file).take(limit as u64 + 1).read_to_end(&mut text).ok()?;
        (text.len() <= limit).then_some(Cow::Owned(text))
    }
}
