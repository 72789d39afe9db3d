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
mod seek;

pub use ast::*;
pub use chars::{is_metacharacter, is_name, is_name_byte, is_name_start, is_reserved, takes_array_arguments};
pub use error::{ErrorCode, ParseError};
pub use print::print;
pub use seek::{OneOf, has_control, has_nul, order, same, until};

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

/// Reads a program piece by piece, so that not all of its tree needs to lie in memory at once.
///
/// ```
/// let mut reader = shward_syntax::Reader::new(b"cd src\nmake\n", &Default::default());
/// let mut lines = 0;
/// while !reader.is_done() {
///     let arena = bumpalo::Bump::new();
///     lines += reader.piece(&arena, 1)?.items.len();
/// }
/// assert_eq!(lines, 2);
/// # Ok::<(), shward_syntax::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    source: &'a [u8],
    options: Options,
    progress: parser::Progress,
}

impl<'a> Reader<'a> {
    /// At the beginning of a program.
    #[must_use]
    pub fn new(source: &'a [u8], options: &Options) -> Self {
        Self { source, options: *options, progress: parser::Progress::new(source, options) }
    }

    /// Reads on for at least so many bytes, to the end of a line; in the last line, to the end of an and-or list. After an
    /// error there is nothing more to read.
    ///
    /// # Errors
    ///
    /// As for [`parse`], which fails if any piece does.
    pub fn piece<'t>(&mut self, arena: &'t Bump, least: usize) -> Result<Piece<'t>, ParseError>
    where
        'a: 't,
    {
        parser::Parser::new(arena, self.source, &self.options).piece(
            &mut self.progress,
            least,
            self.options.max_len,
        )
    }

    /// What has not been read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.source.get(self.progress.position()..).unwrap_or_default()
    }

    /// Whether everything has been read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.progress.is_done()
    }

    /// What a careful reader should be told of what was read so far.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        self.progress.notes()
    }
}

/// A piece of a program.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'t> {
    /// The and-or lists, in order.
    pub items: &'t [Item<'t>],
    /// Every function that is defined anywhere in it, in the order in which they are named.
    pub functions: &'t [&'t Function<'t>],
    /// Its last line, which is the last of the program, goes on in the next piece.
    pub goes_on: bool,
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
    /// Every function that is defined anywhere in it, in the order in which they are named.
    pub functions: &'a [&'a Function<'a>],
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
