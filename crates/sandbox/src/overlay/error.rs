//! Why an overlay, a commit or an undo was not possible.

use std::io;
use std::path::{Path, PathBuf};

/// Why an overlay, a commit or an undo was not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OverlayError {
    /// An overlay cannot be used for this directory. The reason is a sentence without a full stop.
    #[error("no overlay on {path:?}: {reason}")]
    Unsuited {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The store could not be read or written.
    #[error("{path:?}: {source}; see that this user may write there and that the disk is not full")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store's directory could be changed by others, who would then decide what is written to the workspace.
    #[error("{path:?} is not a directory of this user alone; move it away")]
    Untrusted {
        /// The directory.
        path: PathBuf,
    },
    /// A journal is not what was written.
    #[error("{path:?} is damaged; the run that it belongs to can be neither finished nor undone")]
    Damaged {
        /// The journal.
        path: PathBuf,
    },
    /// Nobody else may commit at the same time, and others did for longer than anybody waits.
    #[error("{0}")]
    Others(&'static str),
    /// What a command did could not be committed, and is kept where somebody can look at it.
    #[error("{source}; nothing was committed, and what the command wrote is kept in {path:?} for now")]
    Rescued {
        /// Where it is kept.
        path: PathBuf,
        /// Why it could not be committed.
        source: Box<OverlayError>,
    },
    /// The beginning of a name that several runs have.
    #[error(
        "several runs that are kept for this workspace begin with {0:?}; `shward undo --list` shows them"
    )]
    Ambiguous(String),
    /// The run was committed, and there was no room to keep what was there before it.
    #[error(
        "{0} cannot be taken back: there was no room to keep what was there before it ([undo] size in the policy)"
    )]
    Past(String),
    /// There is no such run.
    #[error("no run {0:?} is kept for this workspace; `shward undo --list` shows what is")]
    Unknown(String),
}

impl OverlayError {
    pub(crate) fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }

    /// Whether it is this user who may not.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }

    pub(crate) fn unsuited(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unsuited { path: path.to_owned(), reason: reason.into() }
    }
}
