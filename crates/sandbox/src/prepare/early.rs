//! Operations that may be done before there is a plan ([`Begun`](crate::begun::Begun)), and that plans then have.

use std::ffi::{CStr, CString};
use std::fs;
use std::path::{Path, PathBuf};

use super::parts::mask;
use super::to_c;
use crate::error::SandboxError;
use crate::operation::{Operation, Slot};
use crate::overlay::Layer;
use crate::paths::c_string;
use crate::sys::attribute;

/// Keeps who we are.
pub(crate) fn map_ids() -> Operation {
    // SAFETY: these two calls have no preconditions and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let same = |id: u32| to_c(format!("{id} {id} 1"));
    Operation::MapIds { user: same(user), group: same(group) }
}

/// Takes a device, to be attached once everything else is closed to devices. It is the machine's own, so that its permissions, owner and
/// times must stay as they are; what is written to it, a read-only mount does not stop.
pub(crate) fn take_device(path: &CStr, slot: Slot) -> Operation {
    let attributes = attribute::READ_ONLY | attribute::NO_SUID | attribute::NO_EXEC;
    Operation::TakeTree { path: path.to_owned(), attributes, slot }
}

/// The options of the scratch file system. tmpfs(5): a size of 0 would mean no limit, and so would inodes of no size.
pub(crate) fn scratch_options(bytes: u64) -> CString {
    const INODES_AT_LEAST: u64 = 4096;
    const BYTES_PER_INODE: u64 = 4096;
    let inodes = (bytes / BYTES_PER_INODE).saturating_add(INODES_AT_LEAST);
    to_c(format!("size={},nr_inodes={inodes},mode=0755", bytes.max(1)))
}

/// Private directories as they nearly always are, with their names in the scratch file system.
const USUAL: [(&str, u32, &CStr); 4] = [
    ("/dev/shm", 0o1777, c"shared-memory"),
    ("/run", 0o755, c"run"),
    ("/tmp", 0o1777, c"temporary"),
    ("/var/tmp", 0o1777, c"temporary-longer"),
];

/// The name of a private directory in the scratch file system. What has a name of its own has this mode.
pub(super) fn private_name(path: &Path, mode: u32, number: usize) -> CString {
    let usual = USUAL.iter().find(|(usual, usually, _)| path == Path::new(usual) && mode == *usually);
    usual.map_or_else(|| to_c(format!("{number}")), |(_, _, name)| (*name).to_owned())
}

/// What nearly every plan does in the scratch file system.
pub(crate) fn usual_scratch() -> impl Iterator<Item = Operation> {
    let file = Operation::ScratchFile { scratch: 0, name: mask(false, true).to_owned(), mode: 0o444 };
    let directory =
        Operation::ScratchDirectory { scratch: 0, name: mask(true, true).to_owned(), mode: 0o555 };
    // They are not taken yet: each would be a descriptor, of which we may have few.
    let private = USUAL.iter().map(|(_, mode, name)| Operation::ScratchDirectory {
        scratch: 0,
        name: CString::from(*name),
        mode: *mode,
    });
    [file, directory].into_iter().chain(private)
}

/// The canonical path of what gets an overlay.
pub(crate) fn overlaid(root: &Path) -> Result<PathBuf, SandboxError> {
    fs::canonicalize(root).map_err(|error| SandboxError::path("overlaid root", root, &error))
}

/// Mounts a layer on a root, whose path is canonical.
pub(crate) fn mount_overlay(root: &Path, layer: &Layer) -> Result<Operation, SandboxError> {
    Ok(Operation::MountOverlay {
        path: c_string(root.as_os_str(), "path")?,
        options: layer.mount_options()?,
        store: c_string(layer.store().as_os_str(), "path")?,
    })
}
