//! What a command created, changed and deleted, and what of it a policy refuses.

use super::journal::Unit;
use super::parts::UPPER;
use super::tree::{Kind, Tree, is_opaque};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// There was nothing before.
    Created,
    /// Its content, or what it is, or its permissions changed.
    Changed,
    /// It is gone.
    Deleted,
}

impl ChangeKind {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// One file or directory that is not as it was. Directories are listed when they came, went, or changed their permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// What happened.
    pub what: ChangeKind,
    /// What it is, or was when it is gone.
    pub kind: Kind,
    /// What it was, if there was something.
    pub kind_before: Option<Kind>,
    /// Bytes of content, before when it is gone.
    pub size: u64,
    /// Bytes of content before, if there was a file.
    pub size_before: Option<u64>,
    /// The twelve permission bits, before when it is gone.
    pub mode: u32,
    /// Those before, if there was something.
    pub mode_before: Option<u32>,
    /// Of a file or link that was there: its inode number and the time of the last change of its content, in seconds and nanoseconds.
    /// Whether somebody changed it meanwhile is told by these, too, where its length is the same.
    pub found: Option<(u64, (i64, u64))>,
    /// A whole directory is gone or was put in the place of another one: what was in it is gone too, unless listed otherwise.
    pub whole: bool,
}

/// Something that is not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What it was.
    pub change: Change,
    /// Why, as a clause that follows the path.
    pub reason: Cow<'static, str>,
}

/// Before and after, for a policy that has to look at more than a name.
#[derive(Debug)]
pub struct Sight<'t> {
    pub(super) store: &'t Tree,
    pub(super) lower: &'t Tree,
}

impl Sight<'_> {
    /// The content that a regular file now has in the layer; `None` when there is none or it is longer than `limit`.
    #[must_use]
    pub fn after(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.store.content(&Path::new(UPPER).join(path), limit).ok().flatten()
    }

    /// The content that a regular file had before, likewise.
    #[must_use]
    pub fn before(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.lower.content(path, limit).ok().flatten()
    }

    /// Where a symbolic link of the layer leads.
    #[must_use]
    pub fn target(&self, path: &Path) -> Option<PathBuf> {
        self.store.target(&Path::new(UPPER).join(path)).ok()
    }

    /// Whether something was there before.
    #[must_use]
    pub fn existed(&self, path: &Path) -> bool {
        self.lower.look(path).ok().flatten().is_some()
    }

    /// Whether something is there now, in the layer or, as far as the layer does not hide it, below.
    #[must_use]
    pub fn exists(&self, path: &Path) -> bool {
        let inside = Path::new(UPPER).join(path);
        match self.store.look(&inside).ok().flatten() {
            Some(found) => !found.whiteout,
            None => {
                let hidden = path.ancestors().skip(1).any(|above| {
                    let above = Path::new(UPPER).join(above);
                    self.store.look(&above).ok().flatten().is_some_and(|found| found.kind != Kind::Directory)
                        || is_opaque(&self.store.path().join(above))
                });
                !hidden && self.existed(path)
            }
        }
    }
}

/// What may be committed. It is asked about every change; what it refuses stays as it was.
pub trait CommitPolicy {
    /// Why a change is not committed, as a clause that follows its path; `None` when it may be.
    ///
    /// For a directory that was put in the place of another one the answer holds for everything in it.
    fn refuses(&self, change: &Change, sight: &Sight<'_>) -> Option<Cow<'static, str>>;

    /// What a file means, as for [`Store::undo_by_meaning`](super::Store::undo_by_meaning).
    fn meaning(&self, path: &Path, content: Content<'_>) -> Option<Vec<u8>> {
        let _ = (path, content);
        None
    }
}

/// Reads a file that may be gone, or longer than anybody reads.
pub type Content<'c> = &'c dyn Fn() -> Option<Vec<u8>>;

/// What a file means, where other programs write it anew unasked and leave its meaning as it was (git's index, with `git status`); `None`
/// for a file of which every byte counts.
pub type Meaning = fn(&Path, Content<'_>) -> Option<Vec<u8>>;

/// How long the files of a run are together whose meaning is looked at, in bytes.
pub(super) const MAX_MEANING: u64 = 64 << 20;

/// Reads a file of which no more is read than is left, and takes it from that.
pub(super) fn within(left: &Cell<u64>, read: impl FnOnce(u64) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let bytes = read(left.get())?;
    left.set(left.get().saturating_sub(bytes.len() as u64));
    Some(bytes)
}

/// A meaning, as a journal keeps it.
pub(super) fn digest(meaning: &[u8]) -> [u8; 32] {
    Sha256::digest(meaning).into()
}

/// The policy that refuses nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Accept;

impl CommitPolicy for Accept {
    fn refuses(&self, _change: &Change, _sight: &Sight<'_>) -> Option<Cow<'static, str>> {
        None
    }
}

/// What a command did, ready to be committed.
#[derive(Debug, Default)]
pub struct Changes {
    /// What would be committed, by path.
    pub accepted: Vec<Change>,
    /// What would not be.
    pub refused: Vec<Refused>,
    pub(crate) units: Vec<Unit>,
    /// What some of the files mean that the units bring.
    pub(crate) meanings: BTreeMap<PathBuf, [u8; 32]>,
    /// What of new directories has to be moved out of them first.
    pub(crate) aside: Vec<PathBuf>,
    /// Signs of deletion in new directories, where they mean nothing.
    pub(crate) stale: Vec<PathBuf>,
    /// Files of the layer with attributes of overlayfs.
    pub(crate) marked: Vec<PathBuf>,
    /// New directories that their owner may not write in.
    pub(crate) closed: Vec<PathBuf>,
    /// Directories of the layer that their owner may not look into, from the outside in.
    pub(crate) opened: Vec<Opened>,
    /// Bytes that will be kept so that the commit can be undone.
    pub(crate) kept_bytes: u64,
    /// There is nothing in the layer at all.
    pub(crate) untouched: bool,
}

impl Changes {
    /// Whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.refused.is_empty()
    }
}

/// A directory of the layer that has to be opened for as long as it is worked in.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) mode: u32,
    /// It is moved to the workspace as it is, and so closed again before.
    pub(crate) moves: bool,
}
