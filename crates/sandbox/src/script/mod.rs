//! Commands that run without a shell: what a shell would do with them, said as data.
//!
//! A [`Script`] is a tree of pipelines, lists and redirections in which every word is known. It is compiled, outside of the sandbox,
//! to a list of system calls and jumps (`machine`); process 1 forks a child which carries that list out. So the text of a command
//! is read once, by whoever made the tree, and nothing inside the sandbox reads it again.
//!
//! What a script does is what bash does with the text that it stands for, messages of failing redirections included; the differences
//! are that a process killed by a signal is told of in other words, and that process numbers differ.

mod compile;
mod machine;
mod perform;
mod redirect;
mod say;
mod shown;

pub(crate) use compile::compile;
pub(crate) use machine::{Assembler, BASE as TABLE, Cell, Label, Value};

use std::ffi::OsString;
use std::path::PathBuf;

use crate::gate::Identity;

/// A command with what it is to be seen as in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// What is carried out.
    pub list: List,
}

/// Commands joined by the operators of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum List {
    /// Commands at the same time, each reading what the one before writes; the status is that of the last.
    Pipeline {
        /// At least one.
        commands: Vec<Command>,
        /// `!`: the status is turned around.
        negated: bool,
    },
    /// `&&`: the second runs if the first succeeded.
    And(Box<List>, Box<List>),
    /// `||`: the second runs if the first failed.
    Or(Box<List>, Box<List>),
    /// `;`: one after the other.
    Sequence(Vec<List>),
}

/// A command with its redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub action: Action,
    /// Its redirections, in order.
    pub redirects: Vec<Redirect>,
    /// The line on which messages say that it stands, counted from 1.
    pub line: u32,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// A program is executed.
    Program(Program),
    /// Bytes are written to standard output.
    Print {
        /// The builtin that this stands for, in messages.
        name: &'static str,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The name of the current directory is written to standard output.
    PrintDirectory,
    /// Nothing is done, with this status.
    Status(u8),
    /// The current directory is changed.
    Enter {
        /// The directory as it was named.
        given: Vec<u8>,
        /// Its absolute path without `.` and `..`, which becomes `PWD`.
        directory: PathBuf,
    },
    /// `{ … }`: the list, with the redirections around it.
    Group(Box<List>),
    /// `( … )`: the list in a process of its own.
    Subshell(Box<List>),
}

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The path that execve(2) gets; a relative one is relative to the directory in which the command runs.
    pub path: PathBuf,
    /// The argument vector, the zeroth argument included.
    pub arguments: Vec<OsString>,
    /// Variables that it gets besides the script's, or instead of them.
    pub variables: Vec<(OsString, OsString)>,
    /// The file that the path must lead to, or the program is not executed.
    pub identity: Option<Identity>,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor that is changed, at most [`MAX_DESCRIPTOR`].
    pub descriptor: u8,
    /// What becomes of it.
    pub target: Target,
}

/// The highest descriptor that a script can redirect: those above are the shell's own.
pub const MAX_DESCRIPTOR: u8 = 9;

/// What a descriptor becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// A file.
    File {
        /// Its path, relative to the directory in which the command runs.
        path: PathBuf,
        /// How it is opened.
        mode: Mode,
    },
    /// A copy of another descriptor.
    Copy(u8),
    /// Nothing: it is closed.
    Closed,
    /// A text to read.
    Text(Vec<u8>),
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// To read.
    Read,
    /// To write, emptied, and created if it is not there.
    Write,
    /// To write at its end, and created if it is not there.
    Append,
    /// To read and write, and created if it is not there.
    ReadWrite,
}

/// How bash begins its messages.
fn prefix(line: u32) -> Vec<u8> {
    format!("bash: line {line}: ").into_bytes()
}
