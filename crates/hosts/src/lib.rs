//! The wire formats of the coding agents that ask shward, one module each.
//!
//! Pure functions: the host's event in, a [`Question`] out; a verdict in, the host's [`Answer`] out. Nothing here reads
//! a file or decides.

pub mod claude;

/// What a host asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// May this shell command run?
    Command(Command),
    /// May this file be changed, by another tool than a shell?
    Change(Change),
    /// A command for a shell whose language shward does not read; it is denied, because nobody would judge it.
    OtherShell(&'static str),
    /// The event is none of shward's business.
    NotOurs,
}

/// A shell command that a host is about to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// The command's text.
    pub command: String,
    /// The directory in which the host will run it.
    pub cwd: Option<String>,
    /// The host's session.
    pub session: Option<String>,
    /// The host's identity for this call.
    pub call_id: Option<String>,
    /// What the agent says the command is for.
    pub reasoning: Option<String>,
    /// The host's mode, where it is one in which it may run what it is told to ask about.
    pub unasked_in: Option<String>,
}

/// A file that a host is about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The host's name of the tool.
    pub tool: &'static str,
    /// The file, as the agent names it.
    pub path: String,
    /// The directory from which the host takes a path that is not absolute.
    pub cwd: Option<String>,
    /// The host's session.
    pub session: Option<String>,
    /// The host's identity for this call.
    pub call_id: Option<String>,
}

/// The three decisions, as hosts know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Allow,
    /// Let a person decide.
    Ask,
    /// Do not run it.
    Deny,
}

/// What the hook process says to its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// 0, or 2 for a denial.
    pub exit: u8,
}

/// An event that cannot be read; the answer to it is a denial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Not JSON, or not an object of the host's form.
    #[error("the event is not what {host} sends: {detail}")]
    Malformed {
        /// The host.
        host: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// The host's settings have another form than its documentation says.
    #[error("these are no settings of {host}: {detail}")]
    BadSettings {
        /// The host.
        host: &'static str,
        /// What is wrong.
        detail: String,
    },
}
