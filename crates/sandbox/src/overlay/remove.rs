//! Removes a tree that a command has made, however it made it: nested deeper than a path can name, or unreadable.
//!
//! A directory whose path has become long is moved up beside the others before it is emptied, so depth costs neither stack nor
//! descriptors.

use super::tree::{Kind, Tree};
use rustix::fs::RenameFlags;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Names that are read at once, so that a huge directory does not fill memory.
const BATCH: usize = 4096;

/// How many bytes a path may have. Moving a directory costs as much as removing one.
const LONG: usize = 1024;

/// Removes a directory and everything in it.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let root = Tree::open(path)?;
    let mut waiting = vec![PathBuf::new()];
    let mut number: u64 = 0;
    while let Some(directory) = waiting.last().cloned() {
        let gone = match directory.as_os_str().is_empty() {
            true => fs::remove_dir(path),
            false => root.remove_directory(&directory),
        };
        match gone {
            Ok(()) => {
                waiting.pop();
                continue;
            }
            // rmdir(2): either may be said.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
                ) => {}
            Err(error) => return Err(error),
        }
        // overlayfs' work directory and what the command made may be closed even for their owner.
        let _ = fs::set_permissions(path.join(&directory), fs::Permissions::from_mode(0o700));
        let (names, _) = root.names(&directory, BATCH)?;
        if names.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        for name in names {
            let name = directory.join(name);
            if root.look(&name)?.is_none_or(|found| found.kind != Kind::Directory) {
                root.unlink(&name)?;
                continue;
            }
            if name.as_os_str().len() < LONG {
                waiting.push(name);
                continue;
            }
            // Moving a directory needs the right to write in it (its `..` changes).
            let _ = fs::set_permissions(path.join(&name), fs::Permissions::from_mode(0o700));
            loop {
                number += 1;
                let flat = PathBuf::from(format!("r{number}"));
                match root.rename(&name, &root, &flat, RenameFlags::NOREPLACE) {
                    Ok(()) => {
                        waiting.push(flat);
                        break;
                    }
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_and_closed_trees_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().canonicalize().unwrap().join("top");
        // Deeper than any path: by moving it down, as a command can.
        fs::create_dir(&top).unwrap();
        fs::write(top.join("r1"), "in the way").unwrap();
        for _ in 0..3000 {
            let down = place.path().join("down");
            fs::create_dir(&down).unwrap();
            fs::rename(&top, down.join("long-name-of-a-directory")).unwrap();
            fs::rename(&down, &top).unwrap();
        }
        fs::create_dir(top.join("closed")).unwrap();
        fs::write(top.join("closed/file"), "").unwrap();
        fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        remove(&top).unwrap();
        assert!(!top.exists());
    }
}
