//! The directory that the stores live in, and what is demanded of it: whoever else may write there could answer for us.

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for another process of ours. Whoever may read a store can lock it, so there must be an end.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The file is opened again when it was removed while we waited for its lock. More often means that somebody is playing.
const MAX_TRIES: usize = 20;

/// Why a store cannot be relied on. The message names the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file or its directory could not be opened, read or written.
    #[error("{path:?}: {source}; see that this user may write there and that the disk is not full")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It belongs to somebody else.
    #[error("{path:?} belongs to user {owner}, so its content cannot be relied on; move it away")]
    Owner {
        /// The file or directory.
        path: PathBuf,
        /// The numeric user it belongs to.
        owner: u32,
    },
    /// Others may write it.
    #[error("{path:?} can be written by others (mode {mode:o}); run: chmod go-w {path:?}")]
    Writable {
        /// The file or directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is not a regular file, or the directory is none.
    #[error("{path:?} is not what it has to be (a {wanted}); move it away")]
    Kind {
        /// The file or directory.
        path: PathBuf,
        /// `regular file` or `directory`.
        wanted: &'static str,
    },
    /// Its content is not what was written.
    #[error("{path:?} is damaged; look at it if you want to know why, then remove it to start anew")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// There are more limits than are kept.
    #[error("{path:?} has no room for so many rate limits; merge some, and remove the file")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Somebody holds its lock.
    #[error("{path:?} has been locked by another process for {} s; find it with: fuser {path:?}", LOCK_TIMEOUT.as_secs())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// The directory of the stores, `shward` below the account's state. It is looked at again each time a store is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// The directory at this path, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes it, with mode 0700, unless it is there.
    ///
    /// # Errors
    /// It cannot be made, or it is not ours alone.
    pub fn create(&self) -> Result<(), StoreError> {
        match self.check() {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
                made.map_err(|source| StoreError::Io { path: self.0.clone(), source })?;
                self.check()
            }
            checked => checked,
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        let stat = rustix::fs::stat(&self.0).map_err(|e| io_error(&self.0, e))?;
        trusted(&self.0, &stat, FileType::Directory, "directory")
    }

    /// The file of this name with the exclusive lock held, made with mode 0600 if it is not there. Links are not followed.
    pub(crate) fn lock(&self, name: &str) -> Result<Locked, StoreError> {
        self.create()?;
        let path = self.0.join(name);
        for _ in 0..MAX_TRIES {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let file = rustix::fs::openat(CWD, &path, flags, Mode::from_raw_mode(0o600))
                .map_err(|e| io_error(&path, e))?;
            let file = File::from(file);
            lock(&file, &path)?;
            let stat = rustix::fs::fstat(&file).map_err(|e| io_error(&path, e))?;
            trusted(&path, &stat, FileType::RegularFile, "regular file")?;
            // Removed while we waited: what we would write there nobody would read.
            if stat.st_nlink > 0 {
                let length = u64::try_from(stat.st_size).unwrap_or(0);
                return Ok(Locked { file, path, length });
            }
        }
        Err(StoreError::Locked { path })
    }
}

/// A store's file, locked until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// Its length in bytes when it was locked.
    pub(crate) length: u64,
}

impl Locked {
    pub(crate) fn io(&self, source: io::Error) -> StoreError {
        StoreError::Io { path: self.path.clone(), source }
    }

    pub(crate) fn damaged(&self) -> StoreError {
        StoreError::Damaged { path: self.path.clone() }
    }
}

fn io_error(path: &Path, errno: rustix::io::Errno) -> StoreError {
    StoreError::Io { path: path.to_owned(), source: errno.into() }
}

fn trusted(path: &Path, stat: &Stat, kind: FileType, wanted: &'static str) -> Result<(), StoreError> {
    if FileType::from_raw_mode(stat.st_mode) != kind {
        return Err(StoreError::Kind { path: path.to_owned(), wanted });
    }
    let me = rustix::process::geteuid().as_raw();
    if stat.st_uid != me && stat.st_uid != 0 {
        return Err(StoreError::Owner { path: path.to_owned(), owner: stat.st_uid });
    }
    let mode = stat.st_mode & 0o7777;
    if mode & 0o022 != 0 {
        return Err(StoreError::Writable { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Waits for the exclusive lock, a little longer each time.
fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIMEOUT => std::thread::sleep(pause),
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(StoreError::Io { path: path.to_owned(), source }),
        }
        pause = (pause * 2).min(Duration::from_millis(4));
    }
}

/// Nanoseconds since this machine was started, time asleep included (`CLOCK_BOOTTIME`, clock_gettime(2)): the same for
/// all processes, and not moved when somebody sets the date.
pub(crate) fn boottime() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}
