//! Directories for a moment, which are gone with the value; and what a process that was killed has left of them goes with a later one.
//! Whoever has one holds its lock (flock(2)), which the kernel lifts when the process dies.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// How old something has to be to count as left: it is locked when it has been made.
const OLD: Duration = Duration::from_secs(60);

/// A directory of this user's alone.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// What it lies in, if that is this user's, too.
    ours: Option<PathBuf>,
    _lock: File,
}

impl Scratch {
    /// Makes one, among others of this user's in `base`.
    pub(crate) fn new(base: &Path, kind: &str) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let nanoseconds =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{kind}-{}-{nanoseconds:x}-{number}", std::process::id());
        let user = rustix::process::geteuid().as_raw();
        let ours = base.join(format!("shward-{user}"));
        let mut made: io::Result<Self> = Err(io::ErrorKind::NotFound.into());
        // Whoever was the last there may just be removing it.
        for _ in 0..8 {
            let _ = private(&ours);
            let is_ours = fs::symlink_metadata(&ours)
                .is_ok_and(|m| m.is_dir() && m.uid() == user && m.mode() & 0o077 == 0);
            // Somebody else can have taken the name, but not one that nobody can tell beforehand.
            let path = if is_ours { ours.join(&name) } else { base.join(format!("shward-{name}")) };
            made = private(&path)
                .and_then(|()| path.canonicalize())
                .and_then(|path| Ok((lock(&path)?, path)))
                .map(|(_lock, path)| Self { path, ours: is_ours.then(|| ours.clone()), _lock });
            if made.as_ref().err().map(io::Error::kind) != Some(io::ErrorKind::NotFound) {
                if is_ours {
                    sweep(&ours);
                }
                break;
            }
        }
        made
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        // Unless there are others in it.
        let _ = self.ours.as_ref().map(fs::remove_dir);
    }
}

/// Fails if it is there: nobody else can have prepared it.
fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// The lock of a directory, if nobody holds it.
fn lock(path: &Path) -> io::Result<File> {
    let directory = File::open(path)?;
    rustix::fs::flock(&directory, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

/// Removes what was left by processes that are gone.
fn sweep(ours: &Path) {
    for entry in fs::read_dir(ours).into_iter().flatten().flatten() {
        let made = entry.metadata().and_then(|data| data.modified()).ok();
        let old = made.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > OLD);
        if old && let Ok(_held) = lock(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_have_left_is_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let first = Scratch::new(base.path(), "kind").unwrap();
        let ours = first.path().parent().unwrap().to_owned();
        let [dead, young, alive] = ["dead", "young", "alive"].map(|name| ours.join(name));
        for path in [&dead, &young, &alive] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "x").unwrap();
        }
        for path in [&dead, &alive, &first.path().to_owned()] {
            File::open(path).unwrap().set_modified(SystemTime::now() - 2 * OLD).unwrap();
        }
        let held = lock(&alive).unwrap();
        let second = Scratch::new(base.path(), "kind").unwrap();
        assert!(!dead.exists() && young.exists() && alive.exists() && first.path().exists());
        drop(held);
        for path in [&young, &alive] {
            fs::remove_dir_all(path).unwrap();
        }
        drop((first, second));
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_others_can_enter_is_not_used() {
        let base = tempfile::tempdir().unwrap();
        let user = rustix::process::geteuid().as_raw();
        let taken = base.path().join(format!("shward-{user}"));
        for (make, case) in [
            ((|path| DirBuilder::new().mode(0o755).create(path)) as fn(&Path) -> io::Result<()>, "open"),
            (|path| std::os::unix::fs::symlink("/usr", path), "link"),
            (|path| fs::write(path, "x"), "file"),
        ] {
            make(&taken).unwrap();
            let scratch = Scratch::new(base.path(), "kind").unwrap();
            assert_eq!(scratch.path().parent(), base.path().canonicalize().ok().as_deref(), "{case}");
            drop(scratch);
            let _ = fs::remove_file(&taken).or_else(|_| fs::remove_dir(&taken));
        }
    }
}
