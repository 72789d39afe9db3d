//! The real machine, as the analysis may see it.

use shward_analysis::{FileKind, World};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Answers from the file system and from a fixed set of environment variables.
#[derive(Debug, Clone)]
pub struct Machine {
    variables: Vec<(Vec<u8>, Vec<u8>)>,
    complete: bool,
    search: Vec<u8>,
}

impl Machine {
    /// The machine on which somebody else will run the command: of the environment nothing is certain, since the shell
    /// that runs it is not ours.
    #[must_use]
    pub fn of_others() -> Self {
        let search = std::env::var_os("PATH").map(OsString::into_vec).unwrap_or_default();
        Self { variables: Vec::new(), complete: false, search }
    }

    /// The machine on which shward itself runs the command, with exactly this environment.
    #[must_use]
    pub fn ours(environment: &[(Vec<u8>, Vec<u8>)]) -> Self {
        let search =
            environment.iter().find(|(n, _)| n == b"PATH").map(|(_, v)| v.clone()).unwrap_or_default();
        Self { variables: environment.to_vec(), complete: true, search }
    }
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

impl World for Machine {
    fn variable(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        match self.variables.iter().find(|(n, _)| n == name) {
            Some((_, value)) => Some(Some(Cow::Borrowed(value))),
            None if self.complete => Some(None),
            None => None,
        }
    }

    fn canonical(&self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        let mut existing = path(bytes);
        let mut missing = Vec::new();
        loop {
            if let Ok(resolved) = fs::canonicalize(existing) {
                let mut whole = resolved;
                whole.extend(missing.iter().rev());
                return Some(Cow::Owned(whole.into_os_string().into_vec()));
            }
            // A link that leads nowhere yet: writing through it creates what it names.
            if let Ok(aim) = fs::read_link(existing) {
                let parent = existing.parent().and_then(|p| fs::canonicalize(p).ok())?;
                let mut whole = parent.join(aim);
                whole.extend(missing.iter().rev());
                return Some(Cow::Owned(whole.into_os_string().into_vec()));
            }
            missing.push(existing.file_name()?);
            existing = existing.parent()?;
        }
    }

    fn kind(&self, bytes: &[u8]) -> FileKind {
        match fs::metadata(path(bytes)) {
            Ok(meta) if meta.is_file() => FileKind::File,
            Ok(meta) if meta.is_dir() => FileKind::Directory,
            Ok(_) => FileKind::Special,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => FileKind::Missing,
            Err(_) => FileKind::Unknown,
        }
    }

    fn program(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        if self.search.is_empty() {
            return None;
        }
        for directory in self.search.split(|&b| b == b':') {
            let directory = if directory.is_empty() { b".".as_slice() } else { directory };
            let file: PathBuf = path(directory).join(OsStr::from_bytes(name));
            if fs::metadata(&file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0) {
                return Some(Some(Cow::Owned(file.into_os_string().into_vec())));
            }
        }
        Some(None)
    }

    fn content(&self, bytes: &[u8], limit: usize) -> Option<Cow<'_, [u8]>> {
        // Opened only when it is a regular file: a pipe or a device would block or give something else the next time.
        fs::metadata(path(bytes)).ok().filter(|m| m.is_file() && m.len() <= limit as u64)?;
        let mut text = Vec::new();
        fs::File::open(path(bytes)).ok()?.take(limit as u64 + 1).read_to_end(&mut text).ok()?;
        (text.len() <= limit).then_some(Cow::Owned(text))
    }
}
