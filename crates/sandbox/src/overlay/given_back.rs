//! Takes out of a layer what was [made movable](super::movable) and has not been changed, so that what is left is what overlayfs would
//! have put there without that: what a command did.
//!
//! A directory that stayed in its place is no longer to hide the one below. What a command has removed from it gets overlayfs' sign for
//! that, and what replaces a directory in it hides that one; then what is as it was made is removed. What was moved elsewhere is new
//! there, and looked at by nobody here.

use super::copied::State;
use super::movable::{Listed, Movable};
use super::tree::{Tree, is_opaque, is_ours, set_opaque};
use super::upper::{OWNER_ENTERS, inside};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Takes out of a layer that is no longer mounted what was put there and not changed. A second time does nothing.
pub(super) fn give_back(store: &Tree, movable: &Movable) -> io::Result<()> {
    let mut giver = Giver { store, movable, opened: BTreeMap::new() };
    let given = giver.all();
    giver.close().and(given)
}

struct Giver<'g> {
    store: &'g Tree,
    movable: &'g Movable,
    /// Directories that a command has closed even to their owner, with the permissions that it gave them. What is in one comes after it.
    opened: BTreeMap<PathBuf, u32>,
}

impl Giver<'_> {
    fn all(&mut self) -> io::Result<()> {
        for top in &self.movable.tops {
            if self.is_in_place(top)? {
                self.merge(top)?;
            }
        }
        for (above, mode) in self.movable.above.iter().rev() {
            // Where it cannot be looked for, what a command has closed lies above it, and hides what is below.
            let found = self.find(above).ok().flatten().filter(State::is_directory);
            if found.is_some_and(|found| self.left_with(above, &found) == *mode) && !self.hides(above) {
                self.remove_empty(above)?;
            }
        }
        Ok(())
    }

    /// Whether a directory is where it was put, and nothing above it hides what is below.
    fn is_in_place(&mut self, top: &Path) -> io::Result<bool> {
        let mut above: Vec<&Path> =
            top.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        above.reverse();
        for path in above {
            let Some(found) = self.find(path)?.filter(State::is_directory) else { return Ok(false) };
            self.open(path, found)?;
            if self.hides(path) {
                return Ok(false);
            }
        }
        let Some(found) = self.find(top)?.filter(State::is_directory) else { return Ok(false) };
        self.open(top, found)?;
        Ok(self.is_made(top, found) && self.hides(top))
    }

    /// Makes a directory one of which overlayfs shows what is below, and takes out what is as it was made.
    fn merge(&mut self, top: &Path) -> io::Result<()> {
        let (mut directories, mut same) = (Vec::new(), Vec::new());
        let mut waiting = vec![top.to_owned()];
        while let Some(directory) = waiting.pop() {
            let Some(Listed { itself, names }) = self.movable.directories.get(&directory) else { continue };
            let Some(found) = self.find(&directory)? else { continue };
            for (name, made) in names {
                let path = directory.join(name);
                match self.find(&path)? {
                    None => self.store.make_whiteout(&inside(&path))?,
                    Some(found) if found.is_device() => {}
                    Some(found) if found.is_directory() => {
                        self.open(&path, found)?;
                        match self.is_made(&path, found) {
                            true => waiting.push(path),
                            false => set_opaque(&self.full(&path), true)?,
                        }
                    }
                    Some(found) if found == *made => same.push(path),
                    Some(_) => {}
                }
            }
            let as_made = self.left_with(&directory, &found) == itself.permissions();
            directories.push((directory, as_made));
        }
        // Not before all of them say what is gone; and what is as it was shows from below from then on. Those in the directory may hide
        // something as well, if they were elsewhere meanwhile.
        for (directory, _) in directories.iter().rev() {
            set_opaque(&self.full(directory), false)?;
        }
        for path in same {
            self.store.unlink(&inside(&path))?;
        }
        for (directory, _) in directories.iter().rev().filter(|(_, as_made)| *as_made) {
            self.remove_empty(directory)?;
        }
        Ok(())
    }

    fn find(&self, path: &Path) -> io::Result<Option<State>> {
        Ok(self.store.stat(&inside(path))?.map(|stat| State::of(&stat)))
    }

    /// Whether an open directory is the one that was put there. What is in it may be another matter.
    fn is_made(&self, path: &Path, found: State) -> bool {
        let made = self.movable.directories.get(path);
        made.is_some_and(|made| made.itself.inode == found.inode) && is_ours(&self.full(path))
    }

    fn full(&self, path: &Path) -> PathBuf {
        self.store.path().join(inside(path))
    }

    /// Of a closed directory nobody is told.
    fn hides(&self, path: &Path) -> bool {
        is_opaque(&self.full(path))
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        match self.store.remove_directory(&inside(path)) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }

    /// The permissions that a command has left a directory with.
    fn left_with(&self, path: &Path, found: &State) -> u32 {
        self.opened.get(path).copied().unwrap_or(found.permissions())
    }

    fn open(&mut self, path: &Path, found: State) -> io::Result<()> {
        let mode = found.permissions();
        if mode & OWNER_ENTERS != OWNER_ENTERS {
            self.store.set_mode(&inside(path), mode | OWNER_ENTERS)?;
            self.opened.insert(path.to_owned(), mode);
        }
        Ok(())
    }

    /// As the command left them.
    fn close(&self) -> io::Result<()> {
        for (path, mode) in self.opened.iter().rev() {
            match self.store.set_mode(&inside(path), *mode) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}
