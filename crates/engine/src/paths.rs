//! What the file system says of a path: where it leads, and whether a program is there.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// [`Path::canonicalize`] in two system calls where there is nothing to resolve, in one where nothing is there.
pub(crate) fn canonical(path: &Path) -> std::io::Result<Cow<'_, Path>> {
    let bytes = path.as_os_str().as_bytes();
    if is_plain(bytes) {
        match without_links(bytes) {
            Ok(()) => return Ok(Cow::Borrowed(path)),
            // Were there a link before the name that is missing, that would have been told.
            Err(e @ Errno::NOENT) => return Err(e.into()),
            Err(_) => {}
        }
    }
    path.canonicalize().map(Cow::Owned)
}

/// Whether an absolute path is its names and nothing else.
pub(crate) fn is_plain(path: &[u8]) -> bool {
    let Some(names) = path.strip_prefix(b"/") else { return false };
    names.split(|b| *b == b'/').all(|name| !matches!(name, b"" | b"." | b".."))
}

/// Asks the kernel for what is at an absolute path, without following a link.
pub(crate) fn without_links(path: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).map(drop)
}

/// Whether it is a file that somebody may execute.
pub(crate) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// As [`Path::join`] of a name, with room for both from the beginning.
pub(crate) fn joined(directory: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(directory.as_os_str().len() + 1 + name.len());
    path.push(directory);
    path.push(name);
    path
}
