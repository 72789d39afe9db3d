//! What lies in the directory of a run, and who works with it.

use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What overlayfs writes to.
pub(super) const UPPER: &str = "upper";
/// What overlayfs needs for itself.
pub(super) const WORK: &str = "work";
/// What a commit took out of the workspace.
pub(super) const SAVED: &str = "saved";
/// What the policy refused of new directories.
pub(super) const ASIDE: &str = "refused";
/// What a commit is to do.
pub(super) const JOURNAL: &str = "journal";
/// What an undo is to do.
pub(super) const UNDO: &str = "undo";
/// There once an undo has left something of the run.
pub(super) const TRIED: &str = "tried";

/// The lock of a run's directory, if nobody holds it.
pub(super) fn lock(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    // Somebody else may have finished and renamed it before we had the lock.
    let same = fs::metadata(path).ok()?.ino() == file.metadata().ok()?.ino();
    same.then_some(file)
}
