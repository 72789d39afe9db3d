//! Looks into directories that a run has left closed, even for their owner, and leaves them as closed as they were.
//!
//! Only root can look into a directory of mode 000. Whoever else wants to know whether it is as a run left it has to open it, and
//! closes it when that is known. A process that is killed meanwhile leaves it open to its owner; whoever looks next takes that for
//! what it is.

use super::journal::Unit;
use super::step::Step;
use super::tree::{Kind, Meta, Tree};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What an owner needs to look into a directory.
const OWNER_LOOKS: u32 = 0o500;

/// A workspace, with what a run closed in it open for a moment. Dropping it closes that again.
pub(super) struct Ajar<'t> {
    workspace: &'t Tree,
    /// Their permissions when they are closed. A directory comes before what is in it.
    opened: BTreeMap<PathBuf, u32>,
}

impl<'t> Ajar<'t> {
    /// Opens what these units have closed, as far as nobody has changed its permissions since.
    pub(super) fn open(workspace: &'t Tree, units: &[Unit]) -> Self {
        let mut closed: BTreeMap<PathBuf, (u32, Option<u64>)> = BTreeMap::new();
        for unit in units {
            if let Step::Mode { path, after, .. } = &unit.step
                && after & OWNER_LOOKS != OWNER_LOOKS
            {
                closed.insert(path.clone(), (*after, None));
            }
            let directories = unit.entries.iter().filter(|entry| entry.meta.kind == Kind::Directory);
            for entry in directories.filter(|entry| entry.meta.mode & OWNER_LOOKS != OWNER_LOOKS) {
                let path = join(unit.step.path(), &entry.path);
                closed.insert(path, (entry.meta.mode, Some(entry.meta.inode)));
            }
        }
        let mut opened = BTreeMap::new();
        for (path, (mode, inode)) in closed {
            let Ok(Some(found)) = workspace.look(&path) else { continue };
            let ours = found.kind == Kind::Directory
                && (found.mode == mode || found.mode == mode | OWNER_LOOKS)
                && inode.is_none_or(|inode| inode == found.inode);
            if ours && (found.mode != mode || workspace.set_mode(&path, mode | OWNER_LOOKS).is_ok()) {
                opened.insert(path, mode);
            }
        }
        Self { workspace, opened }
    }

    /// What is there, as if nothing had been opened.
    pub(super) fn look(&self, path: &Path) -> io::Result<Option<Meta>> {
        let found = self.workspace.look(path)?;
        Ok(match (found, self.opened.get(path)) {
            (Some(found), Some(mode)) => Some(Meta { mode: *mode, ..found }),
            (found, _) => found,
        })
    }

    /// The content of a regular file of at most so many bytes.
    pub(super) fn content(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.workspace.content(path, limit).ok().flatten()
    }

    /// The names in a directory, as [`Tree::names`] has them.
    pub(super) fn names(&self, path: &Path, limit: usize) -> io::Result<Vec<std::ffi::OsString>> {
        self.workspace.names(path, limit).map(|(names, _)| names)
    }
}

impl Drop for Ajar<'_> {
    fn drop(&mut self) {
        for (path, mode) in self.opened.iter().rev() {
            let _ = self.workspace.set_mode(path, *mode);
        }
    }
}

/// `Path::join`, without a slash after an empty end.
pub(super) fn join(path: &Path, end: &Path) -> PathBuf {
    if end.as_os_str().is_empty() { path.to_owned() } else { path.join(end) }
}
