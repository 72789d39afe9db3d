//! What is asked of a worker and what it saw: one JSON object per line in each direction.

use serde::{Deserialize, Serialize};

/// A command and how to run it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The shell's argument list, the program first; the command is its last element.
    pub(crate) argv: Vec<String>,
    /// The working directory, made if it is missing.
    pub(crate) cwd: String,
    /// How programs that are not there answer.
    pub(crate) answer: Answer,
}

/// What a program that is not there does in place of running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// Prints a word and succeeds.
    Word,
    /// Prints nothing and fails.
    Failure,
}

/// Something that a process asked the kernel for. It need not have been granted: an attempt counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Event {
    /// What.
    #[serde(flatten)]
    pub(crate) act: Act,
    /// The programs whose process it was in, from the shell to the one that did it, without the first shell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) by: Vec<String>,
}

/// The acts that are looked at. Paths are absolute and normalised; a link in the last place is not followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
pub(crate) enum Act {
    /// A program is executed.
    Exec {
        /// The file as it was given to the kernel, without the directories of `PATH`.
        program: String,
        /// The argument list.
        argv: Vec<String>,
        /// The working directory.
        cwd: String,
    },
    /// A file is opened for writing, emptied, or created, or a directory, link or node is made.
    Write {
        /// Which.
        path: String,
        /// What it leads to, if it is a symbolic link.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<String>,
    },
    /// A directory entry is removed or renamed to something else.
    Delete {
        /// Which.
        path: String,
    },
    /// Mode, owner or times change.
    Metadata {
        /// Whose.
        path: String,
    },
}

/// All that was seen of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// In the order in which it happened, without repetitions.
    pub(crate) events: Vec<Event>,
    /// Why it was ended early: `time`, `processes`, `events` or `repetition`. What was seen before is true nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<String>,
}

/// What a worker says of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// What was seen.
    pub(crate) seen: Seen,
    /// A program that is not there was stood for. If none was, the other answer would have made no difference.
    pub(crate) answered: bool,
}

/// Says that a worker is ready, or why it will never be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// `None` if it is ready.
    pub(crate) error: Option<String>,
}
