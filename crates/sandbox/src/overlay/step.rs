//! The steps that a commit or an undo consists of.
//!
//! Each is one system call, so it has happened or not. Which of the two shows on the store's side, where nobody else writes: that
//! makes carrying out a list of steps again harmless, and is all that recovery needs.

use super::tree::Tree;
use rustix::fs::RenameFlags;
use std::io;
use std::path::{Path, PathBuf};

/// One step. Paths are relative: `inside` to the directory of the run in the store, `path` to the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Moves something from the store to where nothing is.
    In { inside: PathBuf, path: PathBuf },
    /// Moves something to the store.
    Out { inside: PathBuf, path: PathBuf },
    /// Exchanges two things. `inode` is that of the one in the store before.
    Exchange { inside: PathBuf, path: PathBuf, inode: u64 },
    /// Changes the permissions of a directory.
    Mode { path: PathBuf, before: u32, after: u32 },
}

impl Step {
    /// What it changes in the workspace.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::In { path, .. }
            | Self::Out { path, .. }
            | Self::Exchange { path, .. }
            | Self::Mode { path, .. } => path,
        }
    }

    /// Whether it has been carried out.
    pub(crate) fn is_done(&self, store: &Tree, workspace: &Tree) -> io::Result<bool> {
        match self {
            Self::Mode { path, after, .. } => {
                Ok(workspace.look(path)?.is_some_and(|there| there.mode == *after))
            }
            _ => self.is_done_in(store),
        }
    }

    /// The same of one that shows in the store, as all do but changes of permissions.
    pub(crate) fn is_done_in(&self, store: &Tree) -> io::Result<bool> {
        Ok(match self {
            Self::In { inside, .. } => store.look(inside)?.is_none(),
            Self::Out { inside, .. } => store.look(inside)?.is_some(),
            Self::Exchange { inside, inode, .. } => {
                store.look(inside)?.is_none_or(|there| there.inode != *inode)
            }
            Self::Mode { .. } => false,
        })
    }

    /// Carries it out, unless that has been done.
    pub(crate) fn carry_out(&self, store: &Tree, workspace: &Tree) -> io::Result<()> {
        if self.is_done(store, workspace)? {
            return Ok(());
        }
        match self {
            Self::In { inside, path } => store.rename(inside, workspace, path, RenameFlags::NOREPLACE),
            Self::Out { inside, path } => workspace.rename(path, store, inside, RenameFlags::NOREPLACE),
            Self::Exchange { inside, path, .. } => {
                store.rename(inside, workspace, path, RenameFlags::EXCHANGE)
            }
            Self::Mode { path, after, .. } => workspace.set_mode(path, *after),
        }
    }
}
