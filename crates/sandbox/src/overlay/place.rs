//! Whether a workspace is suited for an overlay, and where its store can lie.
//!
//! What can be told without trying is told before anything is decided or recorded. What then still fails is an error of the run.

use super::error::OverlayError;
use super::tree::keeps_marks;
use crate::elsewhere::Mounts;
use crate::kernel;
use rustix::fs::{AtFlags, CWD, StatxFlags};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// File systems whose directories overlayfs takes as an upper layer: with whiteouts, `d_type` and `user` attributes
/// (overlayfs.rst, "Upper and lower"). Numbers from linux/magic.h.
const FILE_SYSTEMS: [i64; 6] = [
    0xef53,      // ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0xf2f5_2010, // f2fs
    0xca45_1a4e, // bcachefs
];

/// Whether an overlay on this directory would work, as far as can be told without trying.
pub(crate) fn suited(workspace: &Path) -> Result<(), OverlayError> {
    let unsuited = |reason: String| Err(OverlayError::unsuited(workspace, reason));
    if kernel::kernel_version().is_none_or(|version| version < (5, 11)) {
        return unsuited("Linux 5.11 or later is needed for an overlay in a user namespace".into());
    }
    let known = fs::read("/proc/filesystems").unwrap_or_default();
    if !known.split(|byte| *byte == b'\n').any(|line| line.ends_with(b"\toverlay")) {
        return unsuited("the kernel does not know overlayfs; load it with `modprobe overlay`".into());
    }
    let meta = fs::metadata(workspace).map_err(|error| OverlayError::io(workspace, error))?;
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    if (meta.uid(), meta.gid()) != (user, group) {
        return unsuited(format!(
            "it belongs to user {} and group {}, and a user namespace of user {user} and group {group} cannot copy such files",
            meta.uid(),
            meta.gid()
        ));
    }
    if rustix::fs::access(workspace, rustix::fs::Access::WRITE_OK).is_err() {
        return unsuited("this user cannot write there".into());
    }
    let mounts = Mounts::read();
    if let Some(inner) = mounts.places().find(|place| *place != workspace && place.starts_with(workspace)) {
        return unsuited(format!("another file system is mounted on {}", inner.display()));
    }
    Ok(())
}

/// Where the store of a workspace lies if the state directory is on another file system. Whoever writes there writes what is
/// committed, so that no command may.
#[must_use]
pub fn beside(workspace: &Path) -> Option<PathBuf> {
    Some(workspace.parent()?.join(format!(".shward-{}", rustix::process::geteuid().as_raw())))
}

/// The directory of layers in a state directory. What else tells whose a store is lies there, too.
pub(super) const OVERLAY: &str = "overlay";

/// The directories for the stores beside workspaces, each path followed by NUL.
const PLACES: &str = "places";

/// The longest list of them that is read, in bytes.
const MAX_PLACES: u64 = 1 << 20;

/// Every directory in which layers of this state directory's user may lie, so that no command of any workspace sees one.
#[must_use]
pub fn stores(state: &Path) -> Vec<PathBuf> {
    let within = state.join(OVERLAY);
    let mut found: Vec<PathBuf> =
        listed(&within).split(|byte| *byte == 0).map(|path| OsStr::from_bytes(path).into()).collect();
    found.retain(|path| path.is_absolute() && path.is_dir());
    found.push(within);
    found
}

fn listed(within: &Path) -> Vec<u8> {
    let mut listed = Vec::new();
    if let Ok(file) = File::open(within.join(PLACES)) {
        let _ = file.take(MAX_PLACES).read_to_end(&mut listed);
    }
    listed
}

/// Puts a store that lies elsewhere on the list.
fn list(within: &Path, store: &Path) -> Result<(), OverlayError> {
    let mut line = store.as_os_str().as_bytes().to_vec();
    if listed(within).split(|byte| *byte == 0).any(|path| path == line) {
        return Ok(());
    }
    line.push(0);
    let path = within.join(PLACES);
    // One call, so that two at once do not mix.
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
    file.and_then(|mut file| file.write_all(&line)).map_err(|error| OverlayError::io(&path, error))
}

/// The directory for the store of a workspace, made if it is not there.
pub(crate) fn root(state: &Path, workspace: &Path) -> Result<PathBuf, OverlayError> {
    let wanted = mount_of(workspace).map_err(|error| OverlayError::io(workspace, error))?;
    let beside = beside(workspace);
    let mut mine = None;
    for candidate in std::iter::once(state.join(OVERLAY)).chain(beside) {
        // Nothing is made on another file system.
        let there = candidate.ancestors().find(|above| above.exists());
        if there.and_then(|there| mount_of(there).ok()) != Some(wanted) {
            continue;
        }
        match private(&candidate) {
            Ok(root) => {
                mine = Some(root);
                break;
            }
            Err(error @ OverlayError::Untrusted { .. }) => return Err(error),
            Err(_) => {}
        }
    }
    let within = private(&state.join(OVERLAY))?;
    if let Some(mine) = mine.as_ref().filter(|mine| **mine != within) {
        list(&within, mine)?;
    }
    let Some(mine) = mine else {
        return Err(OverlayError::unsuited(
            workspace,
            "neither the state directory nor a directory beside it is on its file system and can be written",
        ));
    };
    let kind = rustix::fs::statfs(&mine).map_err(|error| OverlayError::io(&mine, error))?.f_type;
    #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
    if !FILE_SYSTEMS.contains(&i64::from(kind)) {
        return Err(OverlayError::unsuited(
            workspace,
            "its file system is not one that can be an upper layer (ext4, xfs, btrfs, tmpfs, f2fs, bcachefs)",
        ));
    }
    // Such a layer is mounted all the same, and then every removal of a directory that was there fails.
    if !keeps_marks(&mine) {
        return Err(OverlayError::unsuited(
            workspace,
            "its file system keeps no attributes of users, as tmpfs does from Linux 6.6 on; work on a disk, or with a newer kernel",
        ));
    }
    Ok(mine)
}

/// Makes a directory of this user alone, or sees that it is one.
pub(super) fn private(path: &Path) -> Result<PathBuf, OverlayError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| OverlayError::io(path, error))?;
    let meta = fs::symlink_metadata(path).map_err(|error| OverlayError::io(path, error))?;
    let mine = meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0;
    if !mine {
        return Err(OverlayError::Untrusted { path: path.to_owned() });
    }
    fs::canonicalize(path).map_err(|error| OverlayError::io(path, error))
}

/// The identity of the mount that a path lies on: rename(2) does not cross it, even within one file system.
fn mount_of(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)?;
    Ok(found.stx_mnt_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// Who else may write there could put a run of their own in it, which the next recovery would finish.
    #[test]
    fn a_store_that_is_not_of_this_user_alone_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let [mine, link, file] = ["mine", "link", "file"].map(|name| place.path().join(name));
        assert_eq!(private(&mine).unwrap(), mine.canonicalize().unwrap());
        assert_eq!(fs::metadata(&mine).unwrap().mode() & 0o7777, 0o700);
        private(&mine).unwrap();
        let refused = |path: &Path| matches!(private(path), Err(OverlayError::Untrusted { .. }));
        for mode in [0o701, 0o710, 0o720, 0o750, 0o755, 0o777] {
            fs::set_permissions(&mine, fs::Permissions::from_mode(mode)).unwrap();
            assert!(refused(&mine), "{mode:o}");
        }
        fs::set_permissions(&mine, fs::Permissions::from_mode(0o700)).unwrap();
        symlink(&mine, &link).unwrap();
        assert!(refused(&link));
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(private(&file).is_err());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&mine, Some(65_534), None).unwrap();
            assert!(refused(&mine));
        }
    }
}
