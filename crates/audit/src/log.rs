//! Appending: one record, one line, one `write`, under an exclusive lock, before anything runs.

use crate::error::Error;
use crate::files;
use crate::record::{Event, Record, VERSION};
use crate::tail::{self, Receipt, Tail};
use crate::{Digest, MAX_LINE, time};
use serde::Serialize;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The log is opened again when it was replaced meanwhile. A rotation causes one more try; a hundred mean that
/// somebody is playing with it.
const MAX_TRIES: usize = 100;

/// How the log is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// A file that would grow beyond this is renamed and the chain goes on in a new one. A single record may be
    /// larger.
    pub max_bytes: u64,
    /// Wait until the record is on the disk itself (`fdatasync`). Without it a record survives the death of the
    /// process but not of the machine.
    pub sync: bool,
    /// How long to wait for other writers. Whoever may open the log can lock it forever, so there must be an end.
    pub lock_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { max_bytes: 64 << 20, sync: false, lock_timeout: Duration::from_secs(2) }
    }
}

impl Settings {
    /// With another limit for the size of a file, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Settings {
        self.max_bytes = bytes;
        self
    }

    /// With or without `fdatasync` after each record.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Settings {
        self.sync = sync;
        self
    }

    /// With another limit for waiting for the lock.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Settings {
        self.lock_timeout = timeout;
        self
    }
}

/// A log that records are appended to. Threads may share it; processes may open the same path.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    settings: Settings,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<(File, FileId)>,
    /// Where the chain stood after our own last record, and the file it is in.
    last: Option<Last>,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    file: FileId,
    length: u64,
    head: Receipt,
}

/// Device and inode number: which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId(u64, u64);

impl FileId {
    fn of(metadata: &fs::Metadata) -> FileId {
        FileId(metadata.dev(), metadata.ino())
    }
}

impl Log {
    /// Opens the log at `path` with the default settings. See [`Log::open_with`].
    ///
    /// # Errors
    ///
    /// See [`Log::open_with`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Log, Error> {
        Log::open_with(path, Settings::default())
    }

    /// Opens the log at `path`; makes it, with mode 0600, and missing directories, with mode 0700.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] or [`Error::NotAFile`].
    pub fn open_with(path: impl Into<PathBuf>, settings: Settings) -> Result<Log, Error> {
        let path = path.into();
        let file = open_file(&path)?;
        Ok(Log { path, settings, state: Mutex::new(State { file: Some(file), last: None }) })
    }

    /// Where the log is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record. When this returns, the record is in the file.
    ///
    /// # Errors
    ///
    /// The record is not in the log: the caller must not run the command.
    pub fn append(&self, record: &Record) -> Result<Receipt, Error> {
        self.append_at(record, SystemTime::now())
    }

    fn append_at(&self, record: &Record, now: SystemTime) -> Result<Receipt, Error> {
        // A thread that panicked here left at worst a torn line, which is handled as any other.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..MAX_TRIES {
            let (file, id) = match state.file.take() {
                Some(file) => file,
                None => open_file(&self.path)?,
            };
            lock(&file, &self.path, self.settings.lock_timeout)?;
            let locked = Locked { file: &file, id, log: self };
            let done = locked.append(state.last, record, now)?;
            drop(locked);
            if let Some((receipt, last)) = done {
                state.file = Some((file, id));
                state.last = Some(last);
                return Ok(receipt);
            }
        }
        Err(Error::Unstable { path: self.path.clone() })
    }
}

/// The file with the exclusive lock held.
struct Locked<'a> {
    file: &'a File,
    id: FileId,
    log: &'a Log,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Cannot fail for a lock that is held; and closing the file would release it as well.
        let _ = self.file.unlock();
    }
}

impl Locked<'_> {
    /// `None` when the file is not, or no longer, the one at the log's path.
    fn append(
        &self,
        last: Option<Last>,
        record: &Record,
        now: SystemTime,
    ) -> Result<Option<(Receipt, Last)>, Error> {
        // What is at the path now: if it is the file that was opened, its length is that of the file.
        let id = self.id;
        let length = match fs::metadata(&self.log.path) {
            Ok(named) if FileId::of(&named) == id => named.len(),
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.read_error(source)),
        };

        let tail = match last {
            // Nobody wrote since we did.
            Some(last) if last.file == id && last.length == length => {
                Tail { head: Some(last.head), damage: None, closed: true }
            }
            _ => tail::read(self.file, length)
                .map_err(|source| self.read_error(source))?
                .ok_or_else(|| Error::NotALog { path: self.log.path.clone() })?,
        };
        let carried = if tail.head.is_none() { self.carried()? } else { None };
        let head = latest(tail.head.or(carried), last.map(|last| last.head));

        let mut lines = Lines { bytes: Vec::new(), head, now: time::rfc3339(now) };
        if !tail.closed {
            lines.bytes.push(b'\n');
        }
        if let Some(damage) = tail.damage {
            let event = Event::Recovered(damage.after(head.map_or(Digest::ZERO, |head| head.hash)));
            lines.push(&Record { session: None, call_id: None, event }, Some(damage.hash))?;
        }
        let written = lines.push(record, None)?;

        let grown = length.saturating_add(lines.bytes.len() as u64);
        if let Tail { head: Some(head), damage: None, closed: true } = tail
            && grown > self.log.settings.max_bytes
        {
            self.rotate(head)?;
            return Ok(None);
        }
        write_once(self.file, &lines.bytes, length)
            .and_then(|()| self.sync(length == 0))
            .map_err(|source| Error::Write { path: self.log.path.clone(), source })?;
        Ok(Some((written, Last { file: id, length: grown, head: written })))
    }

    /// Where the chain stood at the end of the newest rotated file, for an empty one to go on from.
    fn carried(&self) -> Result<Option<Receipt>, Error> {
        let rotated = files::rotated_files(&self.log.path).map_err(|source| self.read_error(source))?;
        let Some(newest) = rotated.last() else { return Ok(None) };
        let tail = File::open(newest)
            .and_then(|file| tail::read(&file, file.metadata()?.len()))
            .map_err(|source| Error::Read { path: newest.clone(), source })?;
        match tail {
            Some(Tail { head: Some(head), .. }) => Ok(Some(head)),
            _ => Err(Error::NotALog { path: newest.clone() }),
        }
    }

    /// Moves the file aside. Other writers that wait for its lock will see that the path leads elsewhere.
    fn rotate(&self, head: Receipt) -> Result<(), Error> {
        let to = files::rotated_name(&self.log.path, head.seq);
        let error = |source| Error::Rotate { path: self.log.path.clone(), to: to.clone(), source };
        // `rename` would replace a file of that name, and with it a part of the chain.
        if to.try_exists().map_err(error)? {
            return Err(error(io::ErrorKind::AlreadyExists.into()));
        }
        fs::rename(&self.log.path, &to).map_err(error)
    }

    fn sync(&self, new_file: bool) -> io::Result<()> {
        if !self.log.settings.sync {
            return Ok(());
        }
        self.file.sync_data()?;
        // A file that is on the disk under no name is lost as well.
        if new_file { File::open(files::directory(&self.log.path))?.sync_all() } else { Ok(()) }
    }

    fn read_error(&self, source: io::Error) -> Error {
        Error::Read { path: self.log.path.clone(), source }
    }
}

/// The chain never goes back. If the file holds less than this process has written to it, it was tampered with:
/// going on from what we know leaves a break that verification finds.
fn latest(found: Option<Receipt>, known: Option<Receipt>) -> Option<Receipt> {
    match (found, known) {
        (Some(found), Some(known)) if found.seq > known.seq => Some(found),
        (found, known) => known.or(found),
    }
}

/// Lines that are written together.
struct Lines {
    bytes: Vec<u8>,
    head: Option<Receipt>,
    now: String,
}

impl Lines {
    /// Adds a record. `prev` is given when what comes before is not a record.
    fn push(&mut self, record: &Record, prev: Option<Digest>) -> Result<Receipt, Error> {
        let line = Line {
            v: VERSION,
            seq: self.head.map_or(0, |head| head.seq.saturating_add(1)),
            time: &self.now,
            prev: prev.or(self.head.map(|head| head.hash)).unwrap_or(Digest::ZERO),
            record,
        };
        let seq = line.seq;
        let line = serde_json::to_vec(&line)?;
        if line.len() > MAX_LINE {
            return Err(Error::TooLong { bytes: line.len(), limit: MAX_LINE });
        }
        let head = Receipt { seq, hash: Digest::of(&line) };
        self.bytes.extend(line);
        self.bytes.push(b'\n');
        self.head = Some(head);
        Ok(head)
    }
}

/// An [`Entry`](crate::Entry) that borrows.
#[derive(Serialize)]
struct Line<'a> {
    v: u8,
    seq: u64,
    time: &'a str,
    prev: Digest,
    #[serde(flatten)]
    record: &'a Record,
}

fn open_file(path: &Path) -> Result<(File, FileId), Error> {
    let open_error = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Open { path, source }
    };
    // A pipe that is opened for reading and writing waits for nobody (fifo(7)).
    let open = |create| OpenOptions::new().read(true).append(true).create(create).mode(0o600).open(path);
    let file = match open(false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = files::directory(path);
            DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(open_error(directory))?;
            open(true)
        }
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        opened => opened,
    };
    let file = file.map_err(open_error(path))?;
    let metadata = file.metadata().map_err(open_error(path))?;
    if !metadata.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let id = FileId::of(&metadata);
    Ok((file, id))
}

/// Waits for the exclusive lock, but not for ever.
fn lock(file: &File, path: &Path, timeout: Duration) -> Result<(), Error> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(20);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() >= timeout => {
                return Err(Error::Locked { path: path.to_owned(), waited: timeout });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
            Err(TryLockError::Error(source)) => return Err(Error::Open { path: path.to_owned(), source }),
        }
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}

/// Writes all of `bytes` with one system call to a file that has `length` bytes, or takes back what was written.
fn write_once(mut file: &File, bytes: &[u8], length: u64) -> io::Result<()> {
    let result = loop {
        match file.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    let error = match result {
        Ok(written) if written == bytes.len() => return Ok(()),
        Ok(_) => io::ErrorKind::StorageFull.into(),
        Err(error) => error,
    };
    // If this fails too (append-only attribute), the torn line stays and the next writer records it.
    let _ = file.set_len(length);
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_space_is_an_error() {
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        assert_eq!(write_once(&full, b"x\n", 0).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn the_chain_never_goes_back() {
        let head = |seq, text: &str| Receipt { seq, hash: Digest::of(text.as_bytes()) };
        let table = [
            (None, None, None),
            (Some(head(1, "a")), None, Some(head(1, "a"))),
            (None, Some(head(1, "a")), Some(head(1, "a"))),
            (Some(head(2, "b")), Some(head(1, "a")), Some(head(2, "b"))),
            (Some(head(1, "a")), Some(head(2, "b")), Some(head(2, "b"))),
            (Some(head(2, "x")), Some(head(2, "b")), Some(head(2, "b"))),
        ];
        for (found, known, expected) in table {
            assert_eq!(latest(found, known), expected);
        }
    }
}
