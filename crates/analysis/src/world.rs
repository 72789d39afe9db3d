//! What the analysis may ask of the machine. The pure crates never look for themselves.

use std::borrow::Cow;

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// There is nothing.
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A device, socket or pipe.
    Special,
    /// It cannot be told.
    Unknown,
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entries {
    /// Nothing is known of the machine's directories.
    NotTold,
    /// More names than were asked for, or the directory cannot be read.
    TooMany,
    /// All names, but `.` and `..`, and whether each may be a symbolic link. None where there is no directory.
    Names(Vec<(Vec<u8>, bool)>),
}

/// The machine, as far as a decision may depend on it. Paths are absolute bytes without NUL.
///
/// Every answer may be "not known", which is what it is unless a machine says otherwise; the analysis then assumes the worst that is
/// consistent with it.
pub trait World {
    /// The value of an environment variable at the start of the command. `None`: not known, it may be set or unset.
    /// `Some(None)`: known to be unset.
    fn variable(&self, _name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        None
    }

    /// Whether anything is known of environment variables. Where nothing is, nobody asks for one after the other.
    fn tells_variables(&self) -> bool {
        true
    }

    /// The path with every symbolic link resolved; for a path whose last components do not exist, the resolved part
    /// with the rest appended. `None`: not known.
    fn canonical(&self, _path: &[u8]) -> Option<Cow<'_, [u8]>> {
        None
    }

    /// What is at the path, links followed.
    fn kind(&self, _path: &[u8]) -> FileKind {
        FileKind::Unknown
    }

    /// Whether a regular file may be executed by somebody. `None`: not known.
    fn executable(&self, _path: &[u8]) -> Option<bool> {
        None
    }

    /// What is in a directory, if there are at most so many names in it.
    fn entries(&self, _directory: &[u8], _most: usize) -> Entries {
        Entries::NotTold
    }

    /// The file that `execvp` would run for a name without a slash. `Some(None)`: known to be absent.
    fn program(&self, _name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        None
    }

    /// Absolute places that belong to the firewall or the agents besides the usual ones: moved state and configuration,
    /// the audit log.
    fn own(&self) -> &[Vec<u8>] {
        &[]
    }

    /// Absolute places of files that no command may change: the firewall's program.
    fn guarded(&self) -> &[Vec<u8>] {
        &[]
    }

    /// Names that matter and are links, or lie behind one, each with where it leads: absolute, and that with every link resolved.
    /// What is there is what the name means.
    fn led(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &[]
    }

    /// The first `limit` bytes of a regular file. `None`: not known, not there, or longer.
    fn content(&self, _path: &[u8], _limit: usize) -> Option<Cow<'_, [u8]>> {
        None
    }
}

/// The empty world: nothing is known of any machine, so that the same command always gets the same plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frozen;

impl World for Frozen {
    fn tells_variables(&self) -> bool {
        false
    }
}
