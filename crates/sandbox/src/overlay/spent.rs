//! Layers in which nothing was changed: put aside in one step, and taken apart when there is time.
//!
//! Most commands change nothing. What is left of their layers are empty directories, and removing those takes longer than it took
//! to make them: a file system that tells its disk what is free may wait for the disk each time. Whoever waits for a command has
//! nothing else to do, so that is when it is done. What overlayfs and the command had in their hands is removed and made anew; the
//! two directories that neither could touch, the layer's own and the empty one that overlayfs works in, serve again.

use super::parts::{UPPER, WORK, lock};
use super::remove::remove;
use super::tree::Tree;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The beginning of their names in the store.
pub(super) const SPENT: &str = "spent-";

/// The name of an empty layer that nobody has had.
const SPARE: &str = "spare";

/// How many are taken apart at once. A run leaves one at most, so that there are hardly ever more than there are runs at the same time.
const AT_ONCE: usize = 4;

/// What overlayfs makes in its work directory when it is mounted with `volatile`, from the inside out. The first is a file.
const KERNELS: [&str; 4] =
    ["work/work/incompat/volatile/dirty", "work/work/incompat/volatile", "work/work/incompat", "work/work"];

/// An empty layer, if there is one, and its lock. What is in it would be what the next command did, and what it leads to would be
/// where that goes, so it is looked at.
pub(super) fn spare(root: &Path) -> Option<(PathBuf, File)> {
    let spare = root.join(SPARE);
    let lock = lock(&spare)?;
    let tree = Tree::open(&spare).ok()?;
    let empty = |name: &str| tree.names(Path::new(name), 0).is_ok_and(|(_, more)| !more);
    (empty(UPPER) && empty(WORK)).then_some((spare, lock))
}

/// Takes some of the layers apart that runs which changed nothing have left in a store. What fails stays for the next time.
pub(super) fn sweep(root: &Path) {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let spent = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(SPENT.as_bytes()));
    for entry in spent.take(AT_ONCE) {
        let _ = take_apart(root, &entry.path());
    }
}

/// A spare layer is made of one that holds nothing but what overlayfs has made, if there is none yet; else it is removed.
fn take_apart(root: &Path, layer: &Path) -> io::Result<()> {
    // Else somebody else is at it, and the directory is a run's before we have begun.
    let Some(_lock) = lock(layer) else { return Ok(()) };
    let tree = Tree::open(layer)?;
    let at = tree.handle();
    strip(at)?;
    empty(at, &[UPPER])?;
    let spare = root.join(SPARE);
    if !spare.exists() {
        rustix::fs::mkdirat(at, UPPER, Mode::RWXU)?;
        if fs::rename(layer, &spare).is_ok() {
            return Ok(());
        }
        empty(at, &[UPPER])?;
    }
    empty(at, &[WORK])?;
    match fs::remove_dir(layer) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => remove(layer),
        _ => Ok(()),
    }
}

/// Removes from a layer what overlayfs has made in its work directory.
pub(super) fn strip(layer: &OwnedFd) -> Result<(), Errno> {
    let [file, directories @ ..] = KERNELS;
    let strip = || {
        gone(rustix::fs::unlinkat(layer, file, AtFlags::empty()))?;
        empty(layer, &directories)
    };
    match strip() {
        // overlayfs' directories are closed even for their owner.
        Err(Errno::ACCESS) => {
            let open = |path: &&str| gone(rustix::fs::chmodat(layer, *path, Mode::RWXU, AtFlags::empty()));
            directories.iter().rev().try_for_each(open)?;
            strip()
        }
        done => done,
    }
}

/// Removes empty directories.
fn empty(layer: &OwnedFd, paths: &[&str]) -> Result<(), Errno> {
    paths.iter().try_for_each(|path| gone(rustix::fs::unlinkat(layer, *path, AtFlags::REMOVEDIR)))
}

/// What is not there need not be removed.
fn gone(result: Result<(), Errno>) -> Result<(), Errno> {
    result.or_else(|error| if error == Errno::NOENT { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn layer(root: &Path, name: &str) {
        let layer = root.join(name);
        fs::create_dir_all(layer.join("work/work/incompat/volatile")).unwrap();
        fs::create_dir(layer.join("upper")).unwrap();
        fs::write(layer.join("work/work/incompat/volatile/dirty"), "").unwrap();
        for closed in [
            "work/work/incompat/volatile/dirty",
            "work/work/incompat/volatile",
            "work/work/incompat",
            "work/work",
        ] {
            fs::set_permissions(layer.join(closed), fs::Permissions::from_mode(0o000)).unwrap();
        }
    }

    #[test]
    fn some_are_removed_at_a_time_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        (0..AT_ONCE + 2).for_each(|number| layer(&root, &format!("spent-r{number}")));
        ["live-r9", "kept-r9-5"].iter().for_each(|name| layer(&root, name));
        fs::create_dir_all(root.join("spent-half/work")).unwrap();
        let left = || {
            let names = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_str().unwrap().starts_with(SPENT)).count()
        };
        sweep(&root);
        assert_eq!(left(), 3);
        // One serves again, and nothing is in it.
        let (found, held) = spare(&root).unwrap();
        for empty in [UPPER, WORK] {
            assert_eq!(fs::read_dir(found.join(empty)).unwrap().count(), 0);
        }
        assert!(spare(&root).is_none(), "it is somebody's");
        drop(held);
        sweep(&root);
        assert_eq!((left(), fs::read_dir(&root).unwrap().count()), (0, 3));
    }

    #[test]
    fn what_somebody_has_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        layer(&root, "spent-r1");
        let held = lock(&root.join("spent-r1")).unwrap();
        sweep(&root);
        assert!(root.join("spent-r1/work/work").exists());
        drop(held);
        sweep(&root);
        assert!(!root.join("spent-r1").exists());
    }

    #[test]
    fn what_is_not_empty_is_not_lost_by_it() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        layer(&root, "spent-r1");
        fs::write(root.join("spent-r1/upper/file"), "x").unwrap();
        sweep(&root);
        assert!(root.join("spent-r1/upper/file").exists());
    }
}
