//! The list of programs that may be executed at all, by inode.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::SandboxError;

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Identity {
    /// The number of its device.
    pub device: u64,
    /// The number of its inode.
    pub inode: u64,
}

impl Identity {
    /// The identity of what a path leads to.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be reached.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let data = fs::metadata(path)?;
        Ok(Self { device: data.dev(), inode: data.ino() })
    }
}

/// A program of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Every link resolved.
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
    /// The dynamic loader that the kernel opens to run it (elf(5), `PT_INTERP`): it must be executable for the kernel, and is
    /// still no program of the list.
    pub(crate) loader: Option<PathBuf>,
}

/// Resolves a program of the list.
pub(crate) fn listed(path: &Path) -> Result<Listed, SandboxError> {
    let failed = |error: &std::io::Error| SandboxError::path("program", path, error);
    let found = fs::canonicalize(path).map_err(|error| failed(&error))?;
    let identity = Identity::of(&found).map_err(|error| failed(&error))?;
    let loader = File::open(&found).ok().and_then(|file| interpreter(&file));
    let loader = loader.and_then(|path| fs::canonicalize(path).ok());
    Ok(Listed { path: found, identity, loader })
}

/// The path in the `PT_INTERP` program header, if this is an ELF file of this machine's word size that has one.
fn interpreter(file: &File) -> Option<PathBuf> {
    const HEADERS: usize = 64;
    const PT_INTERP: u32 = 3;
    const ENTRY: u64 = 56;
    let mut header = [0; HEADERS];
    (&*file).read_exact(&mut header).ok()?;
    let long = |bytes: &[u8], at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let half = |bytes: &[u8], at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    if !header.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let (offset, count) = (long(&header, 32)?, half(&header, 56)?);
    (0..u64::from(count)).find_map(|number| {
        let mut entry = [0; ENTRY as usize];
        file.read_exact_at(&mut entry, offset.checked_add(number * ENTRY)?).ok()?;
        let kind = u32::from_ne_bytes(entry.get(..4)?.try_into().ok()?);
        if kind != PT_INTERP {
            return None;
        }
        let (at, size) = (long(&entry, 8)?, long(&entry, 32)?.min(libc::PATH_MAX as u64));
        let mut path = vec![0; size as usize];
        file.read_exact_at(&mut path, at).ok()?;
        let end = path.iter().position(|byte| *byte == 0)?;
        path.truncate(end);
        CString::new(path).ok().map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path.to_bytes())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_program_names_its_loader() {
        let this = listed(&std::env::current_exe().unwrap()).unwrap();
        // A static test program has none.
        if let Some(loader) = &this.loader {
            assert!(loader.is_absolute() && loader.is_file(), "{this:?}");
        }
        let shell = listed(Path::new("/bin/sh")).unwrap();
        assert_eq!(shell.path, fs::canonicalize("/bin/sh").unwrap());
        assert_eq!(listed(Path::new("/etc/passwd")).unwrap().loader, None);
        assert!(listed(Path::new("/does/not/exist")).is_err());
    }
}
