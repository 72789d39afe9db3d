//! Writes a syntax tree as shell text.
//!
//! The text reads as the tree it was written from, in the dialect that the tree was read in: comments, line
//! continuations, indentation, the order of redirections among words and the spelling of escapes are gone, and what
//! the shell would see is not. Two programs with the same text are the same program.
//!
//! What decides how a piece of text has to be written is where it stands; [`Context`] mirrors the parser's.

mod arithmetic;
mod command;
mod word;

use crate::{HereDocument, Script};

/// What surrounds a word part, as far as it decides how the part is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// Unquoted.
    Word,
    /// Unquoted, in an alternative of a brace expansion.
    Alternative,
    /// The operand of an unquoted `${…}`.
    Operand,
    /// A pattern or replacement in `"${…}"`, where quotes work as if outside.
    QuotedPattern,
    /// Between double quotes.
    DoubleQuoted,
    /// Between double quotes in the operand of `"${…}"`.
    InnerQuotes,
    /// The body of a here-document.
    HereDocument,
    /// The operand of `"${…}"`.
    QuotedOperand,
    /// An arithmetic expression.
    Arithmetic,
}

/// The program as text that [`parse`](crate::parse) reads as the same tree, written in one way.
///
/// Each line is one that the shell reads at once, so commands stay on one line, or on two, as they were. The tree has
/// to come from the parser: what a hand-made literal would mean in its place is not looked at. Time and memory are
/// linear in the tree, times the depth to which backquotes and here-documents nest.
///
/// ```
/// let arena = bumpalo::Bump::new();
/// let source = b"if   true # always\nthen\n  >out echo \"a\"${x}\\\n; fi";
/// let parsed = shward_syntax::parse(&arena, source, &Default::default())?;
/// assert_eq!(shward_syntax::print(&parsed.script), b"if true; then echo \"a\"$x > out; fi");
/// # Ok::<(), shward_syntax::ParseError>(())
/// ```
#[must_use]
pub fn print(script: &Script<'_>) -> Vec<u8> {
    let mut printer = Printer::default();
    printer.text(script);
    printer.out
}

/// The text so far, and what has to be known of the place that is being written.
#[derive(Default)]
struct Printer<'t> {
    out: Vec<u8>,
    /// Here-documents whose bodies follow the line that is being written.
    pending: Vec<&'t HereDocument<'t>>,
    /// The delimiters of the here-documents whose bodies are being written.
    around: Vec<&'t [u8]>,
    /// Inside a substitution, where a line must not look like the end of a here-document around it.
    nested: bool,
    /// Inside `$(…)`, `<(…)` or `${ …; }`.
    in_substitution: bool,
    /// Inside an array in a substitution, where a backslash is refused.
    without_backslash: bool,
    /// Between single quotes that are ordinary characters, where no other quote may stand.
    in_pair: bool,
    /// A here-document ended with the text, in the middle of a line: nothing can follow.
    ended: bool,
}

impl Printer<'_> {
    fn put(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }
}
