//! Paths as the caller gave them, checked and resolved.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;

/// For the kernel; a NUL byte would end it early.
pub(crate) fn c_string(text: &OsStr, what: &str) -> Result<CString, SandboxError> {
    CString::new(text.as_bytes())
        .map_err(|_| SandboxError::request(format!("the {what} contains a NUL byte"), "remove it"))
}

/// The whole of a file whose size the kernel does not tell (proc(5)). std's own function begins with 32 bytes there and doubles
/// them, and some of these files are made anew for every read.
pub(crate) fn contents(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    const AT_ONCE: usize = 16 * 1024;
    let mut bytes = Vec::with_capacity(AT_ONCE);
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Nothing is resolved against a directory that may change.
pub(crate) fn absolute(path: &Path, what: &str) -> Result<CString, SandboxError> {
    if !path.is_absolute() {
        return Err(SandboxError::request(
            format!("the {what} `{}` is not an absolute path", path.display()),
            "resolve it first: nothing is searched here",
        ));
    }
    c_string(path.as_os_str(), what)
}

/// The canonical working directory, which must exist now (and is entered as seen inside, later).
pub(crate) fn directory(path: &Path) -> Result<CString, SandboxError> {
    const WHAT: &str = "working directory";
    absolute(path, WHAT)?;
    let found = fs::canonicalize(path).map_err(|error| SandboxError::path(WHAT, path, &error))?;
    if !found.is_dir() {
        return Err(SandboxError::path(WHAT, path, &io::Error::from_raw_os_error(libc::ENOTDIR)));
    }
    c_string(found.as_os_str(), WHAT)
}

/// The canonical path, or `None` when there is nothing that the caller (and so the command) could reach.
pub(crate) fn existing(path: &Path, what: &str) -> Result<Option<PathBuf>, SandboxError> {
    absolute(path, what)?;
    match fs::canonicalize(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ELOOP | libc::ENAMETOOLONG) => Ok(None),
            _ => Err(SandboxError::path(what, path, &error)),
        },
    }
}
