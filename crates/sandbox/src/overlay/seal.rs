//! What makes a journal ours.
//!
//! Where the state directory lies on another file system the store lies beside the workspace, and that may be inside of another
//! workspace, where a command could make such a directory before there is one. Whatever it writes there must mean nothing. So a
//! journal ends with a keyed digest of itself and of the place that it was written for, and the key lies in the state directory,
//! which no command sees.

use super::error::OverlayError;
use super::place;
use rustix::fs::RenameFlags;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// How long a key and a seal are, in bytes.
pub(super) const LENGTH: usize = 32;

/// The name of the key in the state directory.
const KEY: &str = "key";

/// What only this user's shward knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key([u8; LENGTH]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// The key of a state directory, made if there is none.
    pub(crate) fn of(state: &Path) -> Result<Self, OverlayError> {
        let directory = place::private(&state.join(place::OVERLAY))?;
        let path = directory.join(KEY);
        let found = match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(&directory, &path).and_then(|()| read(&path))
            }
            found => found,
        };
        found
            .map_err(|error| OverlayError::io(&path, error))?
            .map(Self)
            .ok_or(OverlayError::Untrusted { path })
    }

    /// The seal of a file with this name and content in a run's directory.
    pub(crate) fn seal(self, directory: &Path, name: &str, content: &[u8]) -> io::Result<[u8; LENGTH]> {
        let mut inner = Sha256::new_with_prefix(self.0);
        // A run's directory has several names in its life, and one identity: `STATE-ID`, then perhaps `-BYTES`.
        let id = directory.file_name().unwrap_or_default().as_bytes().split(|byte| *byte == b'-').nth(1);
        let store = directory.parent().unwrap_or(Path::new("")).as_os_str().as_bytes();
        for part in [store, id.unwrap_or_default(), name.as_bytes()] {
            inner.update((part.len() as u64).to_le_bytes());
            inner.update(part);
        }
        inner.update(fs::symlink_metadata(directory)?.ino().to_le_bytes());
        inner.update(content);
        // Twice, so that nobody can go on where the first one ended.
        Ok(Sha256::new_with_prefix(self.0).chain_update(inner.finalize()).finalize().into())
    }
}

/// `None` if somebody else could have made it, or knows it.
fn read(path: &Path) -> io::Result<Option<[u8; LENGTH]>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    let meta = file.metadata()?;
    let mine =
        meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0;
    let mut bytes = Vec::new();
    file.take(LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok().filter(|_| mine))
}

/// Under its name it is whole, and the first of several that are made at once is the key.
fn make(directory: &Path, path: &Path) -> io::Result<()> {
    let mut key = [0; LENGTH];
    if getrandom(&mut key, GetRandomFlags::empty())? != LENGTH {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut name = [0; 8];
    getrandom(&mut name, GetRandomFlags::empty())?;
    let new = directory.join(format!("{KEY}.{:016x}", u64::from_le_bytes(name)));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    let made = file.write_all(&key).and_then(|()| file.sync_all()).and_then(|()| {
        Ok(rustix::fs::renameat_with(rustix::fs::CWD, &new, rustix::fs::CWD, path, RenameFlags::NOREPLACE)?)
    });
    if made.is_err() {
        let _ = fs::remove_file(&new);
    }
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|()| File::open(directory)?.sync_all()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_seal_is_of_one_key_one_place_and_one_content() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let [key, other] = ["state", "other"].map(|state| Key::of(&root.join(state)).unwrap());
        assert_eq!(Key::of(&root.join("state")).unwrap(), key);
        for directory in ["live-r1", "live-r2"] {
            fs::create_dir(root.join(directory)).unwrap();
        }
        let [one, two] = ["live-r1", "live-r2"].map(|name| root.join(name));
        let seal =
            |key: Key, directory: &Path, name, content: &[u8]| key.seal(directory, name, content).unwrap();
        let expected = seal(key, &one, "journal", b"x");
        for different in [
            seal(other, &one, "journal", b"x"),
            seal(key, &two, "journal", b"x"),
            seal(key, &one, "undo", b"x"),
            seal(key, &one, "journal", b"y"),
        ] {
            assert_ne!(different, expected);
        }
        fs::rename(&one, root.join("kept-r1-5")).unwrap();
        assert_eq!(seal(key, &root.join("kept-r1-5"), "journal", b"x"), expected);
        // Another directory under the same name.
        fs::rename(&two, &one).unwrap();
        assert_ne!(seal(key, &one, "journal", b"x"), expected);
    }

    #[test]
    fn a_key_that_others_could_know_is_none() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().canonicalize().unwrap();
        Key::of(&state).unwrap();
        let key = state.join("overlay/key");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Key::of(&state), Err(OverlayError::Untrusted { .. })));
        fs::remove_file(&key).unwrap();
        fs::write(&key, "short").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(Key::of(&state), Err(OverlayError::Untrusted { .. })));
    }
}
