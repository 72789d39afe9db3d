//! A directory, held by a handle, and everything in it by relative path.
//!
//! Others may work in the same directory while a commit goes on. So a path is never followed through a symbolic link or out of the
//! directory (openat2(2), `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS`): what was judged under a name is what is moved.

use crate::sys;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat, Timestamps, XattrFlags,
};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe with a name.
    Pipe,
    /// A socket with a path.
    Socket,
    /// A device.
    Special,
}

/// What identifies a file's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) kind: Kind,
    /// A character device 0/0: overlayfs' sign that the name is gone.
    pub(crate) whiteout: bool,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    /// Bytes that it takes of the disk; not kept in a journal.
    pub(crate) room: u64,
    /// The twelve permission bits.
    pub(crate) mode: u32,
    /// Time of the last change of the content, in seconds and nanoseconds.
    pub(crate) changed: (i64, u64),
}

impl Meta {
    #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
    fn new(stat: &Stat) -> Self {
        let file_type = FileType::from_raw_mode(stat.st_mode);
        let kind = match file_type {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            _ => Kind::Special,
        };
        Self {
            kind,
            whiteout: file_type == FileType::CharacterDevice && stat.st_rdev == 0,
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            room: u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512),
            mode: stat.st_mode & 0o7777,
            changed: (stat.st_mtime.into(), u64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        }
    }
}

/// An open directory.
#[derive(Debug)]
pub(crate) struct Tree {
    path: PathBuf,
    root: Rc<OwnedFd>,
    /// The directory that was used last: neighbours are dealt with one after the other.
    last: RefCell<Option<(PathBuf, Rc<OwnedFd>)>>,
}

const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Tree {
    /// Opens a directory by its canonical path.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let root = rustix::fs::openat2(CWD, path, HANDLE, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        Ok(Self { path: path.to_owned(), root: Rc::new(root), last: RefCell::new(None) })
    }

    /// The directory itself.
    pub(super) fn handle(&self) -> &OwnedFd {
        &self.root
    }

    /// The device and number of the directory, which no other one has while this is open.
    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        let stat = rustix::fs::fstat(&self.root)?;
        #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
        Ok((stat.st_dev.into(), stat.st_ino.into()))
    }

    /// Where it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens what is there, through no link.
    pub(super) fn beneath(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        Ok(rustix::fs::openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)?)
    }

    /// A handle of a directory in it; the empty path is itself.
    fn directory(&self, path: &Path) -> io::Result<Rc<OwnedFd>> {
        if path.as_os_str().is_empty() {
            return Ok(self.root.clone());
        }
        if let Some((last, handle)) = &*self.last.borrow()
            && last == path
        {
            return Ok(handle.clone());
        }
        let handle = Rc::new(self.beneath(path, HANDLE)?);
        *self.last.borrow_mut() = Some((path.to_owned(), handle.clone()));
        Ok(handle)
    }

    /// A directory's handle and the name in it.
    fn place<'p>(&self, path: &'p Path) -> io::Result<(Rc<OwnedFd>, &'p OsStr)> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        Ok((self.directory(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// The path may mean another directory from now on.
    fn forget(&self) {
        *self.last.borrow_mut() = None;
    }

    /// What is there, without following a link; `None` when nothing is.
    pub(crate) fn look(&self, path: &Path) -> io::Result<Option<Meta>> {
        Ok(self.stat(path)?.map(|stat| Meta::new(&stat)))
    }

    /// The same, with all that the kernel tells.
    pub(super) fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let stat = self.place(path).and_then(|(directory, name)| {
            Ok(rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?)
        });
        match stat {
            Ok(stat) => Ok(Some(stat)),
            Err(error) => match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP) => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// The names in a directory, and whether there are more than `limit`.
    pub(crate) fn names(&self, path: &Path, limit: usize) -> io::Result<(Vec<OsString>, bool)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let handle = if path.as_os_str().is_empty() {
            rustix::fs::openat(&self.root, ".", flags | OFlags::CLOEXEC, Mode::empty())?
        } else {
            self.beneath(path, flags)?
        };
        let mut names = Vec::new();
        for entry in Dir::new(handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if names.len() == limit {
                return Ok((names, true));
            }
            names.push(OsString::from_vec(name.to_vec()));
        }
        // The order in which a directory gives its names means nothing.
        names.sort_unstable();
        Ok((names, false))
    }

    /// Whether overlayfs keeps attributes on a file, or nobody can tell.
    pub(crate) fn has_attributes(&self, path: &Path) -> bool {
        let mut list = [0; 256];
        let listed = self.place(path).ok().and_then(|(directory, name)| {
            let name = CString::new(name.as_bytes()).ok()?;
            let length = sys::list_attributes(directory.as_raw_fd(), &name, &mut list).ok()?;
            list.get(..length)
        });
        match listed {
            Some(list) => names_of_ours(list).next().is_some(),
            // Other kernels, and lists that are longer, by the whole path.
            None => attributes(&self.path.join(path)).map_or(true, |found| !found.is_empty()),
        }
    }

    /// The content of a regular file, unless it is longer than `limit` bytes.
    pub(crate) fn content(&self, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        use std::io::Read as _;
        // A pipe that nobody writes to would block.
        let file = std::fs::File::from(self.beneath(path, OFlags::RDONLY | OFlags::NONBLOCK)?);
        let found = file.metadata()?;
        if !found.is_file() || found.len() > limit {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= limit).then_some(bytes))
    }

    /// The content of a symbolic link.
    pub(crate) fn target(&self, path: &Path) -> io::Result<PathBuf> {
        let (directory, name) = self.place(path)?;
        let target = rustix::fs::readlinkat(&directory, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// renameat2(2) from here to another place. Both are on one file system.
    pub(crate) fn rename(&self, from: &Path, other: &Self, to: &Path, flags: RenameFlags) -> io::Result<()> {
        let (source, old) = self.place(from)?;
        let (target, new) = other.place(to)?;
        let renamed = rustix::fs::renameat_with(&source, old, &target, new, flags);
        self.forget();
        other.forget();
        // The handles of the parents stay valid, and the next step is most likely beside this one.
        if renamed.is_ok() {
            *self.last.borrow_mut() = Some((parent(from), source));
            *other.last.borrow_mut() = Some((parent(to), target));
        }
        Ok(renamed?)
    }

    /// chmod(2) of a directory.
    pub(crate) fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        // There is no chmod that does not follow links before Linux 6.6; by way of a handle that passed none it is the same. The
        // handle is one that needs no right to read.
        let handle = rustix::fs::openat(&directory, name, HANDLE | OFlags::NOFOLLOW, Mode::empty())?;
        let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
        Ok(rustix::fs::chmodat(CWD, path, Mode::from_raw_mode(mode), AtFlags::empty())?)
    }

    /// Removes what is no directory.
    pub(crate) fn unlink(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        Ok(rustix::fs::unlinkat(&directory, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        self.forget();
        Ok(rustix::fs::unlinkat(&directory, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes a directory that only its owner may look into, where nothing is.
    pub(super) fn make_directory(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        Ok(rustix::fs::mkdirat(&directory, name, Mode::RWXU)?)
    }

    /// Makes a file that only its owner may open, where nothing is.
    pub(super) fn make_file(&self, path: &Path) -> io::Result<OwnedFd> {
        let (directory, name) = self.place(path)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)?)
    }

    /// Makes a symbolic link with these times, where nothing is.
    pub(super) fn make_link(&self, target: &Path, path: &Path, times: &Timestamps) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        rustix::fs::symlinkat(target, &directory, name)?;
        Ok(rustix::fs::utimensat(&directory, name, times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Gives a file another name.
    pub(super) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (source, old) = self.place(from)?;
        let (target, new) = self.place(to)?;
        Ok(rustix::fs::linkat(&source, old, &target, new, AtFlags::empty())?)
    }

    /// Makes overlayfs' sign that a name is gone, where nothing is. That takes no power, unlike any other device (mknod(2)).
    pub(super) fn make_whiteout(&self, path: &Path) -> io::Result<()> {
        let (directory, name) = self.place(path)?;
        Ok(rustix::fs::mknodat(&directory, name, FileType::CharacterDevice, Mode::empty(), 0)?)
    }

    /// Makes a directory and what is missing above it.
    pub(crate) fn make_directories(&self, path: &Path, mode: u32) -> io::Result<()> {
        let mut above: Vec<&Path> = path.ancestors().filter(|p| !p.as_os_str().is_empty()).collect();
        above.reverse();
        for each in above {
            let (directory, name) = self.place(each)?;
            match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(mode)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// The attributes that overlayfs keeps on its upper layer when mounted with `userxattr`.
pub(super) const ATTRIBUTES: &[u8] = b"user.overlay.";

/// Removes overlayfs' attributes from a file of a layer that is no longer mounted. The path is absolute.
pub(crate) fn strip(path: &Path) -> io::Result<()> {
    let strip = |names: &[OsString]| {
        names.iter().try_for_each(|name| rustix::fs::lremovexattr(path, name.as_os_str()))
    };
    let names = attributes(path)?;
    match strip(&names) {
        // Whoever may not write to a file may not change its attributes either (xattr(7)), and its owner may write when it likes.
        Err(Errno::ACCESS) => {
            let mode = std::fs::symlink_metadata(path)?.permissions();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode.mode() | 0o600))?;
            let names = attributes(path)?;
            let stripped = strip(&names);
            std::fs::set_permissions(path, mode)?;
            Ok(stripped?)
        }
        stripped => Ok(stripped?),
    }
}

/// overlayfs' attributes on a file.
pub(crate) fn attributes(path: &Path) -> io::Result<Vec<OsString>> {
    let mut buffer = vec![0; 256];
    let length = loop {
        match rustix::fs::llistxattr(path, &mut buffer[..]) {
            Ok(length) => break length,
            // The kernel bounds a list at 64 KiB (xattr(7)).
            Err(Errno::RANGE) if buffer.len() < 1 << 16 => buffer.resize(1 << 16, 0),
            // Links and special files have no attributes of this kind, and some file systems have none at all.
            Err(Errno::NOTSUP | Errno::PERM) => break 0,
            Err(error) => return Err(error.into()),
        }
    };
    let list = buffer.get(..length).unwrap_or_default();
    Ok(names_of_ours(list).map(|name| OsStr::from_bytes(name).to_owned()).collect())
}

/// overlayfs' attributes among the names of a list.
fn names_of_ours(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|name| name.starts_with(ATTRIBUTES))
}

/// The attribute of a directory of a layer that hides what the directory below it holds.
const OPAQUE: &str = "user.overlay.opaque";

/// Whether the file system of a directory can keep that attribute (xattr(7)).
pub(super) fn keeps_marks(directory: &Path) -> bool {
    !matches!(rustix::fs::getxattr(directory, OPAQUE, &mut [0; 4]), Err(Errno::OPNOTSUPP))
}

/// Whether a directory of a layer hides what the directory below it holds.
pub(crate) fn is_opaque(path: &Path) -> bool {
    let mut value = [0; 4];
    matches!(rustix::fs::lgetxattr(path, OPAQUE, &mut value[..]), Ok(1) if value.starts_with(b"y"))
}

/// The attribute of a directory that we have put into a layer. Through the overlay nobody can set one whose name begins so, or sees it.
const OURS: &str = "user.overlay.shward";

/// Marks a directory as one that we have put there.
pub(super) fn set_ours(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::lsetxattr(path, OURS, b"y", XattrFlags::empty())?)
}

/// Whether a directory is one that we have put there: its number may be that of another by now.
pub(super) fn is_ours(path: &Path) -> bool {
    rustix::fs::lgetxattr(path, OURS, &mut [0; 4][..]).is_ok()
}

/// Has a directory of a layer hide what the directory below it holds, or no longer.
pub(super) fn set_opaque(path: &Path, opaque: bool) -> io::Result<()> {
    match opaque {
        true => Ok(rustix::fs::lsetxattr(path, OPAQUE, b"y", XattrFlags::empty())?),
        false => match rustix::fs::lremovexattr(path, OPAQUE) {
            Err(Errno::NODATA) => Ok(()),
            removed => Ok(removed?),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// What was judged under a name must not land under another: somebody may put a link in the place of a directory meanwhile.
    #[test]
    fn no_link_is_passed_and_nothing_outside_is_reached() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("in/d")).unwrap();
        for name in ["in/d/x", "in/f", "out"] {
            fs::write(root.join(name), "x").unwrap();
        }
        for (name, target) in [("l", "d"), ("u", "..")] {
            std::os::unix::fs::symlink(target, root.join("in").join(name)).unwrap();
        }
        let tree = Tree::open(&root.join("in")).unwrap();
        assert!(tree.look(Path::new("d/x")).unwrap().is_some());
        for path in ["l/x", "u/out", "../out"].map(Path::new) {
            assert!(!matches!(tree.look(path), Ok(Some(_))), "{path:?}");
            assert!(tree.content(path, 9).is_err(), "{path:?}");
            assert!(tree.unlink(path).is_err(), "{path:?}");
            let beside = path.with_file_name("new");
            assert!(tree.rename(Path::new("f"), &tree, &beside, RenameFlags::NOREPLACE).is_err(), "{path:?}");
        }
        assert!(Tree::open(&root.join("in/l")).is_err());
    }

    /// Whatever else a file has, however much of it, and where its path ends.
    #[test]
    fn attributes_are_found_by_name() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("d/e")).unwrap();
        std::os::unix::fs::symlink("with", root.join("d/link")).unwrap();
        let file = |name: &str, attributes: &[String]| {
            let path = root.join("d").join(name);
            fs::write(&path, "").unwrap();
            attributes
                .iter()
                .all(|name| rustix::fs::setxattr(&path, name.as_str(), b"x", XattrFlags::empty()).is_ok())
        };
        let many: Vec<String> = (0..9).map(|n| format!("user.{}{n}", "long".repeat(10))).collect();
        let ours = "user.overlay.origin".to_owned();
        let set = file("without", &[])
            && file("other", &["user.overlaid".to_owned()])
            && file("with", &["user.a".to_owned(), ours.clone()])
            && file("many", &many)
            && file("many-with", &[many.as_slice(), &[ours]].concat());
        // proc(5) has none, as tmpfs has none of users before Linux 6.6.
        assert!(!keeps_marks(Path::new("/proc/self")));
        assert_eq!(keeps_marks(&root), set);
        if !set {
            println!("skipped: no attributes here");
            return;
        }
        let tree = Tree::open(&root).unwrap();
        for (name, has) in [
            ("d/without", false),
            ("d/other", false),
            ("d/with", true),
            ("d/link", false),
            ("d/many", false),
            ("d/many-with", true),
            ("d/e", false),
            ("d/nothing", true), // nobody can tell
        ] {
            assert_eq!(tree.has_attributes(Path::new(name)), has, "{name}");
            let known = attributes(&root.join(name)).map_or(true, |found| !found.is_empty());
            assert_eq!(known, has, "{name}");
        }
    }
}
