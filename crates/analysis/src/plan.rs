//! The result of the analysis: everything a script may do.

use crate::effect::Effect;
use crate::value::{Field, Origins};
use shward_syntax::{Note, ParseError, Span};

/// Everything a script may do.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The programs that may be started, wrappers and what they wrap both.
    pub invocations: &'a [Invocation<'a>],
    /// The effects, in the order in which they were found.
    pub effects: &'a [Effect<'a>],
    /// The text was refused by the parser; there are then no effects but one `Unknown`.
    pub refused: Option<ParseError>,
    /// What the parser noted.
    pub notes: &'a [Note],
    /// Names that matter and lead elsewhere, each with where it leads, as the machine tells ([`World::led`](crate::World::led)).
    pub led: &'a [(&'a [u8], &'a [u8])],
}

/// A program that may be started.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The command word, if known.
    pub program: Option<&'a [u8]>,
    /// The argument list, the command word first.
    pub argv: &'a [Field<'a>],
    /// The working directory, if known.
    pub cwd: Option<&'a [u8]>,
    /// Variables set for it in its environment by assignments and wrappers: names and values.
    pub env: &'a [(&'a [u8], Field<'a>)],
    /// Where its standard input comes from.
    pub stdin: Origins,
    /// It runs whenever the script runs without an error, and its argument list is known.
    pub certain: bool,
    /// A builtin or function of the shell, not a program.
    pub builtin: bool,
    /// It looks at no files but those that its arguments name: it has no configuration, state or cache of its own.
    pub no_own_files: bool,
    /// The part of the command that starts it.
    pub span: Span,
}
