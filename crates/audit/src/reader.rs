//! Reading a log from its first line to its last, in constant memory, while others may append to it.

use crate::files::rotated_files;
use crate::record::Entry;
use crate::tail::LARGEST_WINDOW;
use std::collections::VecDeque;
use std::fs::{File, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Take};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a writer to finish its line.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The lines of some files, one after the other.
#[derive(Debug)]
pub(crate) struct Lines {
    waiting: VecDeque<Source>,
    current: Option<Current>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Source {
    path: PathBuf,
    /// Open already, because its name may lead elsewhere soon.
    file: Option<File>,
}

#[derive(Debug)]
struct Current {
    path: PathBuf,
    reader: BufReader<Take<File>>,
    line: u64,
}

/// One line, without its newline.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) path: &'a Path,
    /// Counted from 1 in each file.
    pub(crate) number: u64,
    pub(crate) bytes: &'a [u8],
}

impl Lines {
    /// The lines of `paths`, in this order.
    pub(crate) fn of_files(paths: &[PathBuf]) -> Lines {
        let waiting = paths.iter().map(|path| Source { path: path.clone(), file: None }).collect();
        Lines { waiting, current: None, bytes: Vec::new() }
    }

    /// The lines of the log at `path` and of the rotated files before it.
    pub(crate) fn of_log(path: &Path) -> Result<Lines, ReadError> {
        let error = |source| ReadError::Io { path: path.to_owned(), source };
        // First the file, then the list: what is rotated in between is in both, and is dropped from the list.
        let file = match File::open(path) {
            Ok(file) => Some(file),
            // A writer was killed between renaming the full file and making the next.
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => None,
            Err(other) => return Err(error(other)),
        };
        let inode = file
            .as_ref()
            .map(File::metadata)
            .transpose()
            .map_err(error)?
            .map(|data| (data.dev(), data.ino()));
        let mut waiting = VecDeque::new();
        for path in rotated_files(path).map_err(error)? {
            let metadata = path.metadata().map_err(|source| ReadError::Io { path: path.clone(), source })?;
            if Some((metadata.dev(), metadata.ino())) == inode {
                break;
            }
            waiting.push_back(Source { path, file: None });
        }
        match file {
            Some(_) => waiting.push_back(Source { path: path.to_owned(), file }),
            None if waiting.is_empty() => return Err(error(io::ErrorKind::NotFound.into())),
            None => {}
        }
        Ok(Lines { waiting, current: None, bytes: Vec::new() })
    }

    /// The next line, or `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        loop {
            if self.current.is_none() {
                let Some(source) = self.waiting.pop_front() else { return Ok(None) };
                self.current = Some(source.open()?);
            }
            let Some(current) = &mut self.current else { return Ok(None) };
            self.bytes.clear();
            let read = (&mut current.reader).take(LARGEST_WINDOW).read_until(b'\n', &mut self.bytes);
            let read = read.map_err(|source| ReadError::Io { path: current.path.clone(), source })?;
            if read == 0 {
                self.current = None;
                continue;
            }
            current.line += 1;
            if self.bytes.last() == Some(&b'\n') {
                self.bytes.pop();
            } else if read as u64 == LARGEST_WINDOW {
                // Whoever goes on goes on with the next line.
                let path = current.path.clone();
                let skipped = current.reader.skip_until(b'\n');
                skipped.map_err(|source| ReadError::Io { path: path.clone(), source })?;
                return Err(ReadError::TooLong { path, line: current.line });
            }
            break;
        }
        let (bytes, current) = (self.bytes.as_slice(), self.current.as_ref());
        Ok(current.map(|current| Line { path: &current.path, number: current.line, bytes }))
    }
}

impl Source {
    fn open(self) -> Result<Current, ReadError> {
        let error = |source| ReadError::Io { path: self.path.clone(), source };
        let file = match self.file {
            Some(file) => file,
            None => File::open(&self.path).map_err(error)?,
        };
        // What is there while no writer is at work ends in a whole line. What comes later is not read.
        let start = Instant::now();
        loop {
            match file.try_lock_shared() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => return Err(ReadError::Locked { path: self.path.clone() }),
                Err(TryLockError::Error(source)) => return Err(error(source)),
            }
        }
        let length = file.metadata().map_err(error)?.len();
        file.unlock().map_err(error)?;
        Ok(Current {
            reader: BufReader::with_capacity(64 << 10, file.take(length)),
            path: self.path,
            line: 0,
        })
    }
}

/// A log that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system refused.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Another process held the lock for too long.
    #[error("{} stays locked by another process (`fuser {}` names it)", path.display(), path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The line is longer than any that shward writes. The reader goes on with the next one.
    #[error("{}, line {line}: longer than any record", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: u64,
    },
    /// The line is not a record. The reader goes on with the next one.
    #[error("{}, line {line}: not a record: {source}", path.display())]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// The entries of a log, oldest first. The chain is not verified here.
#[derive(Debug)]
pub struct Entries {
    lines: Lines,
    failed: bool,
}

impl Entries {
    /// The entries of the log at `path`, those in rotated files included.
    ///
    /// # Errors
    ///
    /// There is no such log, or its directory cannot be read.
    pub fn of_log(path: &Path) -> Result<Entries, ReadError> {
        Ok(Entries { lines: Lines::of_log(path)?, failed: false })
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, ReadError>;

    /// Lines that are no records are errors, after which it goes on; any other error is the last item.
    fn next(&mut self) -> Option<Result<Entry, ReadError>> {
        if self.failed {
            return None;
        }
        match self.lines.next() {
            Ok(None) => None,
            Ok(Some(line)) => Some(serde_json::from_slice(line.bytes).map_err(|source| {
                ReadError::NotARecord { path: line.path.to_owned(), line: line.number, source }
            })),
            Err(error) => {
                self.failed = !matches!(error, ReadError::TooLong { .. });
                Some(Err(error))
            }
        }
    }
}
