//! Works out everything a shell script may do, without running it.
//!
//! An abstract interpreter over the syntax tree. What it knows of programs is data in `knowledge/`; what it needs to
//! know of the machine it asks of a [`World`]. It reads no file, no clock and no environment of its own.

mod bracket;
mod effect;
mod knowledge;
mod place;
mod plan;
mod session;
mod shell;
mod value;
pub mod vocabulary;
mod world;

pub use effect::{Certainty, Covers, Effect, EffectKind, Endpoint, Rest, Scope, Target, Unknown, WriteMode};
pub use knowledge::{is_known_language, names_grave, printed};
pub use place::{Meaning, Scopes, scope_of};
pub use plan::{Invocation, Plan};
pub use shell::analyze;
pub use value::{Field, Origins, Piece, Stream, Value};
pub use world::{Entries, FileKind, Frozen, World};

use shward_syntax::Dialect;

/// What is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The command.
    pub source: Source<'a>,
    /// The absolute working directory it starts in.
    pub cwd: &'a [u8],
    /// The absolute directory that it may change.
    pub workspace: &'a [u8],
    /// The home directory of the user who runs it.
    pub home: &'a [u8],
    /// The shell that reads it.
    pub dialect: Dialect,
}

/// The two forms of a command.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Shell text.
    Command(&'a [u8]),
    /// An argument list, executed without a shell. Spans then count through the elements joined by one space.
    Argv(&'a [&'a [u8]]),
}
