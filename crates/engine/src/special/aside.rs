//! What a run without an overlay has made where it must not is given another name.

use super::SET_ID;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// The ending of a file that a command created where it must not.
pub(super) const REFUSED: &str = "refused-by-shward";

/// Where in the workspace that lies which was made under a name, whatever links the run has made on the way: at the end of them, or, where
/// they lead out of the workspace, it is the link. What lies outside no run has made.
pub(super) fn made_in(path: &Path, workspace: &Path) -> PathBuf {
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    let real = directory.zip(path.file_name()).map(|(directory, name)| directory.join(name));
    if let Some(real) = real.filter(|real| real.starts_with(workspace)) {
        return real;
    }
    let inside = path.ancestors().take_while(|above| above.starts_with(workspace) && *above != workspace);
    inside.filter(|above| above.is_symlink()).last().unwrap_or(path).to_owned()
}

/// How many other names are tried in their order where the first cannot be had, and how many at random.
const MAX_NAMES: [usize; 2] = [16, 64];

/// What an owner needs to look into a directory and to change what is in it.
const OWNER: u32 = 0o700;

const HANDLE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A handle of a directory at or below another one, without following a link: whoever else runs something there may put links in the place
/// of directories meanwhile. The path may be longer than the kernel takes at once.
fn open_below(workspace: &Path, directory: &Path) -> io::Result<OwnedFd> {
    let below = directory.strip_prefix(workspace).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut handle = rustix::fs::open(workspace, HANDLE, Mode::empty())?;
    for part in below.components() {
        let Component::Normal(name) = part else { return Err(io::ErrorKind::InvalidInput.into()) };
        handle = rustix::fs::openat(&handle, name, HANDLE, Mode::empty())?;
    }
    Ok(handle)
}

/// Gives what is there another name, whatever names a run has taken, also where it has closed the directory to its owner. Nobody gets
/// the rights of its owner or group from it any more.
pub(super) fn set_aside(path: &Path, workspace: &Path) -> io::Result<()> {
    in_directory(path, workspace, rename_aside)
}

/// Removes what is no directory, likewise.
pub(super) fn remove(path: &Path, workspace: &Path) -> io::Result<()> {
    in_directory(path, workspace, |directory, name| {
        Ok(rustix::fs::unlinkat(directory, name, AtFlags::empty())?)
    })
}

/// Does something to a name in its directory, which is opened for that if a run has closed it to its owner.
fn in_directory(
    path: &Path,
    workspace: &Path,
    act: impl Fn(&OwnedFd, &OsStr) -> io::Result<()>,
) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory = open_below(workspace, above)?;
    match act(&directory, name) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let closed = Mode::from_raw_mode(rustix::fs::fstat(&directory)?.st_mode);
            set_mode(&directory, closed | Mode::from_raw_mode(OWNER))?;
            let done = act(&directory, name);
            set_mode(&directory, closed).and(done)
        }
        done => done,
    }
}

fn rename_aside(directory: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let file = rustix::fs::openat(
        directory,
        name,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mode = rustix::fs::fstat(&file)?.st_mode;
    let gives = FileType::from_raw_mode(mode) == FileType::RegularFile && mode & SET_ID != 0;
    let rename = |aside: &OsStr, flags| {
        Ok::<(), io::Error>(rustix::fs::renameat_with(directory, name, directory, aside, flags)?)
    };
    // What was moved aside before goes, if it can.
    let usual = [name.as_bytes(), b".", REFUSED.as_bytes()].concat();
    let renamed = match rename(OsStr::from_bytes(&usual), RenameFlags::empty()) {
        Err(error) if is_of_the_name(&error) => {
            let other = |number: u64| format!("{number}.{REFUSED}");
            let free = |number: &u64| !is_there(directory, OsStr::new(&other(*number)));
            // Where many are taken, those that follow are, too.
            let [in_order, at_random] = MAX_NAMES;
            let some = RandomState::new();
            let random = (0..at_random).map(|attempt| some.hash_one(attempt));
            let number = (1..).take(in_order).chain(random).find(free).ok_or(error)?;
            rename(OsStr::new(&other(number)), RenameFlags::NOREPLACE)
        }
        renamed => renamed,
    };
    renamed.and_then(|()| if gives { set_mode(&file, Mode::from_raw_mode(mode & !SET_ID)) } else { Ok(()) })
}

fn is_there(directory: &OwnedFd, name: &OsStr) -> bool {
    rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// Whether nothing can have just this name, or something else has it.
fn is_of_the_name(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error().map(Errno::from_raw_os_error),
        Some(Errno::EXIST | Errno::ISDIR | Errno::NAMETOOLONG | Errno::NOTDIR | Errno::NOTEMPTY)
    )
}

/// chmod(2), by a handle that needs no right to read.
fn set_mode(directory: &OwnedFd, mode: Mode) -> io::Result<()> {
    let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
    Ok(rustix::fs::chmodat(CWD, path, mode & Mode::from_raw_mode(0o7777), AtFlags::empty())?)
}

/// Directories that a run has closed to its owner, opened for as long as somebody looks into them.
#[derive(Debug, Default)]
pub(super) struct Opened(Vec<(PathBuf, Mode)>);

impl Opened {
    /// Opens one, if it is this user's.
    pub(super) fn open(&mut self, directory: &Path, workspace: &Path) -> io::Result<()> {
        let handle = open_below(workspace, directory)?;
        let closed = Mode::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode);
        set_mode(&handle, closed | Mode::from_raw_mode(OWNER))?;
        self.0.push((directory.to_owned(), closed));
        Ok(())
    }

    /// Closes them again, the inner ones first. Those that were moved meanwhile stay open.
    pub(super) fn close(self, workspace: &Path) {
        for (directory, mode) in self.0.into_iter().rev() {
            let _ = open_below(workspace, &directory).and_then(|handle| set_mode(&handle, mode));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn links_do_not_lead_a_change_of_names_out_of_the_workspace() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (workspace, outside) = (root.join("w"), root.join("o"));
        fs::create_dir_all(workspace.join("a/real")).unwrap();
        fs::create_dir_all(outside.join("hooks")).unwrap();
        symlink(&outside, workspace.join("out")).unwrap();
        symlink("a", workspace.join("in")).unwrap();
        symlink(&outside, workspace.join("a/out")).unwrap();
        for (path, expected) in [
            ("a/real", "a/real"),
            ("in/real", "a/real"),
            ("out/hooks", "out"),
            ("in/out/hooks", "in"),
            ("a/out/hooks", "a/out"),
            ("a/out", "a/out"),
        ] {
            assert_eq!(made_in(&workspace.join(path), &workspace), workspace.join(expected), "{path}");
        }
    }

    #[test]
    fn nobody_is_led_elsewhere_by_a_link() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir(root.join("o")).unwrap();
        fs::write(root.join("o/x"), "").unwrap();
        fs::set_permissions(root.join("o"), Permissions::from_mode(0o500)).unwrap();
        symlink("o", root.join("l")).unwrap();
        let moved = set_aside(&root.join("l/x"), &root);
        let opened = Opened::default().open(&root.join("l"), &root);
        let mode = fs::metadata(root.join("o")).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(root.join("o"), Permissions::from_mode(0o700)).unwrap();
        assert!(moved.is_err() && opened.is_err() && root.join("o/x").exists());
        assert_eq!(mode, 0o500);
    }

    /// A run may have made something under every name that it knows.
    #[test]
    fn there_is_always_another_name() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let long = "n".repeat(250);
        for directory in ["f.refused-by-shward/x", "d/x", "d.refused-by-shward/x", "1.refused-by-shward/x"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for (name, aside) in [
            ("f", "2.refused-by-shward"),
            (&long, "3.refused-by-shward"),
            ("d", "4.refused-by-shward"),
            ("a", "a.refused-by-shward"),
            ("a", "a.refused-by-shward"),
        ] {
            if name != "d" {
                fs::write(root.join(name), name).unwrap();
            }
            set_aside(&root.join(name), &root).unwrap();
            assert!(root.join(name).symlink_metadata().is_err() && root.join(aside).exists(), "{name}");
        }
    }

    #[test]
    fn paths_may_be_longer_than_the_kernel_takes() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let mut deep = root.clone();
        let mut handle = rustix::fs::open(&root, HANDLE, Mode::empty()).unwrap();
        for _ in 0..30 {
            let name = "d".repeat(200);
            rustix::fs::mkdirat(&handle, &name, Mode::RWXU).unwrap();
            handle = rustix::fs::openat(&handle, &name, HANDLE, Mode::empty()).unwrap();
            deep.push(name);
        }
        set_aside(&deep, &root).unwrap();
        assert!(open_below(&root, &deep).is_err());
        deep.as_mut_os_string().push(".refused-by-shward");
        open_below(&root, &deep).unwrap();
    }
}
