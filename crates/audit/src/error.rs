//! What can keep a record from being written, and what a person does about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The record was not written. Whoever gets this must not run the command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A directory or the file could not be created or opened.
    #[error(
        "the audit log {} cannot be opened ({source}), so nothing may run: make its directory writable for this \
         user or choose another place for the log",
        path.display()
    )]
    Open {
        /// The log, or the directory that could not be made.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// The path leads to a directory, a device, a pipe or a socket. A chain needs a file that keeps what it is told.
    #[error("the audit log {} is not a regular file, so nothing may run: choose another place for the log", path.display())]
    NotAFile {
        /// The log.
        path: PathBuf,
    },

    /// The file holds something else than records.
    #[error(
        "{} does not look like an audit log, so nothing is appended and nothing may run: move it away or choose \
         another place for the log",
        path.display()
    )]
    NotALog {
        /// The file.
        path: PathBuf,
    },

    /// Another process held the lock for too long.
    #[error(
        "the audit log {} stayed locked by another process for {waited:?}, so nothing may run: find that process \
         (`fuser {}`) and end it",
        path.display(), path.display()
    )]
    Locked {
        /// The log.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },

    /// The path led to another file each time it was looked at.
    #[error("the audit log {} is being replaced over and over, so nothing may run: find out by whom", path.display())]
    Unstable {
        /// The log.
        path: PathBuf,
    },

    /// The file could not be read, which is needed to continue the chain.
    #[error("the end of the audit log {} cannot be read ({source}), so nothing may run", path.display())]
    Read {
        /// The log or the rotated file before it.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// The record could not be written in full. What was written of it has been taken back where possible.
    #[error(
        "the record cannot be written to the audit log {} ({source}), so nothing may run: free space on its disk \
         or choose another place for the log",
        path.display()
    )]
    Write {
        /// The log.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// The full file could not be moved aside.
    #[error("the audit log {} is full and cannot be renamed to {} ({source}), so nothing may run", path.display(), to.display())]
    Rotate {
        /// The log.
        path: PathBuf,
        /// The name it should have got.
        to: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// The record is too long for one line.
    #[error(
        "the record takes {bytes} bytes and a line of the audit log holds {limit}, so nothing may run: use a shorter command"
    )]
    TooLong {
        /// Size of the line.
        bytes: usize,
        /// The most that a line may have.
        limit: usize,
    },

    /// The record has no JSON form.
    #[error("the record cannot be written as JSON ({0}), so nothing may run")]
    Encode(#[from] serde_json::Error),
}
