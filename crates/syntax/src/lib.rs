//! Reads shell text into a syntax tree exactly as bash 5.2 and POSIX sh would, or refuses.
//!
//! The parser is strict: where bash's own reading depends on accidents of its implementation, it refuses with a
//! message that names the safe spelling. What it accepts, it reads as the shell does; no byte string makes it panic,
//! recurse without bound, or take more than linear time and memory.

//!
//! ```
//! let arena = bumpalo::Bump::new();
//! let parsed = shward_syntax::parse(&arena, b"echo hello | wc -c", &Default::default())?;
//! assert_eq!(parsed.script.items[0].list.first.stages.len(), 2);
//! # Ok::<(), shward_syntax::ParseError>(())
//! ```

mod ast;
mod chars;
mod cursor;
mod error;
mod parser;
mod print;

pub use ast::*;
pub use chars::{is_metacharacter, is_name, is_name_byte, is_name_start, is_reserved, takes_array_arguments};
pub use error::{ErrorCode, ParseError};
pub use print::print;

use bumpalo::Bump;

/// Reads a program: the text of `bash -c`, of a script file, of `eval`.
///
/// The nodes live in the arena; literals point into the source.
///
/// # Errors
///
/// A [`ParseError`] for what the shell rejects, for what it reads in more than one way, and for what exceeds the
/// limits of the options.
pub fn parse<'a>(arena: &'a Bump, source: &'a [u8], options: &Options) -> Result<Parsed<'a>, ParseError> {
    parser::Parser::new(arena, source, options).program(options.max_len)
}

/// Reads text as in a here-document: `$`, `` ` `` and `\` are special, quotes are not.
///
/// This is how the shell reads a value that it expands a second time: `PS4`, `${x@P}`, the text of an arithmetic
/// expression.
///
/// # Errors
///
/// As for [`parse`].
pub fn parse_word_text<'a>(
    arena: &'a Bump,
    text: &'a [u8],
    options: &Options,
) -> Result<&'a [WordPart<'a>], ParseError> {
    parser::Parser::new(arena, text, options).text(options.max_len)
}

/// The shell whose grammar is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// GNU bash 5.2.
    #[default]
    Bash,
    /// POSIX sh as dash implements it: what means something else there than in bash is refused.
    Posix,
}

/// What the reader may assume and how much it may spend.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The grammar.
    pub dialect: Dialect,
    /// `shopt -s extglob` is in force from the start (inside `[[ ]]` it always is).
    pub extglob: bool,
    /// Longest accepted source in bytes.
    pub max_len: usize,
    /// Deepest accepted nesting of commands, expansions and quotes.
    pub max_depth: u16,
}

impl Default for Options {
    fn default() -> Self {
        Self { dialect: Dialect::Bash, extglob: false, max_len: 4 << 20, max_depth: 100 }
    }
}

/// A parsed source.
#[derive(Debug, Clone, Copy)]
pub struct Parsed<'a> {
    /// The program.
    pub script: Script<'a>,
    /// What a careful reader should be told.
    pub notes: &'a [Note],
}

/// Something legal that other shells, or people, may read differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// zsh reads this construct differently (unquoted expansions are not split there, `=cmd`, `**`, …).
    ZshDiffers,
    /// dash and other POSIX shells read this bash construct differently.
    PosixDiffers,
    /// A here-document is ended by the end of the input, not by its delimiter.
    HereDocumentAtEnd,
    /// The text is not UTF-8.
    NotUtf8,
    /// A carriage return, which the shell takes as part of a word.
    CarriageReturn,
    /// A blank or invisible character outside ASCII, or a bidirectional control: people read it differently than the shell.
    InvisibleCharacter,
}
