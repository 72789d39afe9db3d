//! The syntax tree, in POSIX's own terms, every node with a byte span.
//!
//! Nodes live in a caller-given arena (`bumpalo::Bump`) and are plain shared references into it, so that a tree costs
//! no per-node allocation, is freed at once, and can be kept (functions, traps) as long as the arena lives.
//! Text is bytes: a shell does not know encodings. A literal is a slice of the source where it can be, a decoded copy
//! in the arena where it must.

mod element;
mod few;
mod parameter;
mod word;

pub use element::ArrayElement;
pub use few::Few;
pub(crate) use parameter::More;
pub use parameter::{Parameter, ParameterName, ParameterOperation, Replace, Subscript};
pub use word::{Parts, Word};

use std::cell::Cell;
use std::fmt;

/// A half-open range of byte offsets into the source text that was given to [`parse`](crate::parse).
///
/// Nodes inside backquotes and here-documents, whose text the shell derives before it reads it, still point into
/// the original source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// A span from `start` to `end`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A program: what POSIX calls `complete_commands`, or the `compound_list` inside a compound command.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// The and-or lists, in order.
    pub items: &'a [Item<'a>],
    /// From the first item to the last.
    pub span: Span,
}

/// One and-or list and how it is ended.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The list.
    pub list: AndOr<'a>,
    /// Ended by `&`: runs asynchronously, in a subshell.
    pub background: bool,
    /// The list without its terminator.
    pub span: Span,
    /// The line that the item belongs to, counted from 0 in its list. bash reads a program line by line, so all items
    /// of a line are read before the first of them runs. A line that is continued, by a backslash or inside a compound
    /// command, is still the same one.
    pub line: u32,
}

/// Pipelines joined by `&&` and `||`, which bind equally and from the left.
#[derive(Debug, Clone, Copy)]
pub struct AndOr<'a> {
    /// The first pipeline.
    pub first: Pipeline<'a>,
    /// The others, each with the operator before it.
    pub rest: &'a [(Connector, Pipeline<'a>)],
}

/// `&&` or `||`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`, possibly `!`-negated or timed.
#[derive(Debug, Clone, Copy)]
pub struct Pipeline<'a> {
    /// The stages; empty only for a bare `!` or `time`.
    pub stages: &'a [Stage<'a>],
    /// An odd number of `!` stands before it.
    pub negated: bool,
    /// The reserved word `time` stands before it.
    pub timed: bool,
    /// From `!`, `time` or the first command to the end of the last.
    pub span: Span,
}

/// A command in a pipeline.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// The command.
    pub command: &'a Command<'a>,
    /// Joined to the next stage by `|&`: standard error goes into the pipe too.
    pub pipes_stderr: bool,
}

/// A command with its redirections.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    /// What kind of command it is.
    pub kind: CommandKind<'a>,
    /// Its redirections, in the order in which the shell performs them.
    pub redirects: Few<'a, Redirect<'a>>,
    /// The whole command, redirections included.
    pub span: Span,
}

/// Every command form of bash 5.2 and POSIX sh.
#[derive(Debug, Clone, Copy)]
pub enum CommandKind<'a> {
    /// Assignments and words.
    Simple(SimpleCommand<'a>),
    /// `{ list; }`
    BraceGroup(Script<'a>),
    /// `( list )`
    Subshell(Script<'a>),
    /// `if … then … elif … else … fi`
    If(&'a If<'a>),
    /// `while … do … done`
    While(&'a Loop<'a>),
    /// `until … do … done`
    Until(&'a Loop<'a>),
    /// `for name in words; do … done`
    For(&'a For<'a>),
    /// `select name in words; do … done`
    Select(&'a For<'a>),
    /// `for ((init; test; step)); do … done`
    ArithmeticFor(&'a ArithmeticFor<'a>),
    /// `case word in … esac`
    Case(&'a Case<'a>),
    /// `[[ expression ]]`
    Conditional(&'a Conditional<'a>),
    /// `(( expression ))`
    Arithmetic(&'a Arithmetic<'a>),
    /// `name() command` or `function name command`
    Function(&'a Function<'a>),
    /// `coproc [name] command`
    Coprocess(&'a Coprocess<'a>),
}

/// A simple command.
#[derive(Debug, Clone, Copy)]
pub struct SimpleCommand<'a> {
    /// Assignments before the command word.
    pub assignments: Few<'a, Assignment<'a>>,
    /// The command word and its arguments; empty when there are only assignments or redirections.
    pub words: &'a [Word<'a>],
}

/// `if`: the conditions with their bodies (`if`, then each `elif`), and `else`.
#[derive(Debug, Clone, Copy)]
pub struct If<'a> {
    /// (condition, body) pairs.
    pub arms: &'a [(Script<'a>, Script<'a>)],
    /// The `else` body.
    pub otherwise: Option<Script<'a>>,
}

/// `while` and `until`.
#[derive(Debug, Clone, Copy)]
pub struct Loop<'a> {
    /// The condition.
    pub condition: Script<'a>,
    /// The body.
    pub body: Script<'a>,
}

/// `for` and `select`.
#[derive(Debug, Clone, Copy)]
pub struct For<'a> {
    /// The variable's name.
    pub name: &'a [u8],
    /// Where the name stands.
    pub name_span: Span,
    /// The words after `in`; `None` means `"$@"`.
    pub words: Option<&'a [Word<'a>]>,
    /// The body.
    pub body: Script<'a>,
}

/// `for (( ; ; ))`.
#[derive(Debug, Clone, Copy)]
pub struct ArithmeticFor<'a> {
    /// Evaluated once, before.
    pub init: Arithmetic<'a>,
    /// Evaluated before each turn; empty means true.
    pub test: Arithmetic<'a>,
    /// Evaluated after each turn.
    pub step: Arithmetic<'a>,
    /// The body.
    pub body: Script<'a>,
}

/// `case`.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The word that is matched.
    pub word: Word<'a>,
    /// The clauses.
    pub arms: &'a [CaseArm<'a>],
}

/// One `pattern) list ;;` clause.
#[derive(Debug, Clone, Copy)]
pub struct CaseArm<'a> {
    /// The patterns, joined by `|`.
    pub patterns: &'a [Word<'a>],
    /// The list; may be empty.
    pub body: Script<'a>,
    /// How the clause ends.
    pub end: CaseEnd,
}

/// What follows a matched `case` clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseEnd {
    /// `;;`, or nothing before `esac`.
    Break,
    /// `;&`: the next list runs unconditionally.
    FallThrough,
    /// `;;&`: the next patterns are tried.
    Continue,
}

/// `[[ … ]]`.
#[derive(Debug, Clone, Copy)]
pub struct Conditional<'a> {
    /// The expression.
    pub expression: &'a Test<'a>,
}

/// An expression in `[[ ]]`.
#[derive(Debug, Clone, Copy)]
pub enum Test<'a> {
    /// `e1 && e2`
    And(&'a Test<'a>, &'a Test<'a>),
    /// `e1 || e2`
    Or(&'a Test<'a>, &'a Test<'a>),
    /// `! e`
    Not(&'a Test<'a>),
    /// `( e )`
    Group(&'a Test<'a>),
    /// A unary operator such as `-f`, with its operand.
    Unary(&'a [u8], Word<'a>),
    /// A binary operator such as `==` or `-eq`, with its operands.
    Binary(&'a [u8], Word<'a>, Word<'a>),
    /// A lone word: true when not empty.
    Word(Word<'a>),
}

/// The text of an arithmetic expression, before its own expansions are done.
#[derive(Debug, Clone, Copy)]
pub struct Arithmetic<'a> {
    /// The text and the expansions in it, read as if in double quotes (a double quote itself is dropped).
    pub parts: &'a [WordPart<'a>],
    /// The expression without its delimiters.
    pub span: Span,
    /// It is spelled `$[…]`.
    pub brackets: bool,
}

/// A function definition.
#[derive(Debug, Clone, Copy)]
pub struct Function<'a> {
    /// The name, after quote removal (bash permits almost any word).
    pub name: &'a [u8],
    /// Where the name stands.
    pub name_span: Span,
    /// The body with its redirections, which are performed at each call.
    pub body: &'a Command<'a>,
}

/// `coproc`.
#[derive(Debug, Clone, Copy)]
pub struct Coprocess<'a> {
    /// The name; bash uses `COPROC` when none is given.
    pub name: Option<&'a [u8]>,
    /// The command.
    pub body: &'a Command<'a>,
}

/// `name=value`, `name[subscript]+=value`, `name=(…)`.
#[derive(Debug, Clone, Copy)]
pub struct Assignment<'a> {
    /// The variable's name.
    pub name: &'a [u8],
    /// The text in `[…]`, which is arithmetic or an associative key.
    pub subscript: Option<Arithmetic<'a>>,
    /// `+=`
    pub append: bool,
    /// What is assigned.
    pub value: AssignmentValue<'a>,
    /// The whole assignment.
    pub span: Span,
}

/// The right-hand side of an assignment.
#[derive(Debug, Clone, Copy)]
pub enum AssignmentValue<'a> {
    /// A word; no parts when empty.
    Scalar(Word<'a>),
    /// `(…)`
    Array(&'a [ArrayElement<'a>]),
}

/// A redirection.
#[derive(Debug, Clone, Copy)]
pub struct Redirect<'a> {
    /// The descriptor before the operator.
    pub descriptor: Descriptor<'a>,
    /// The operator.
    pub operator: RedirectOperator,
    /// What is on its right.
    pub target: RedirectTarget<'a>,
    /// From the descriptor to the end of the target word.
    pub span: Span,
}

/// The descriptor that a redirection acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptor<'a> {
    /// Not written: 0 for input operators, 1 for output, 1 and 2 for `&>`.
    Default,
    /// Written as digits.
    Number(u32),
    /// `{name}`: the shell picks a descriptor of 10 or more and stores it in the variable.
    Variable(&'a [u8]),
}

/// The redirection operators of bash 5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectOperator {
    /// `<`
    Input,
    /// `>`
    Output,
    /// `>>`
    Append,
    /// `>|`
    Clobber,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`: a descriptor, `-`, or in bash a file that gets both streams.
    DuplicateOutput,
    /// `&>`
    OutputBoth,
    /// `&>>`
    AppendBoth,
    /// `<<` and `<<-`
    HereDocument,
    /// `<<<`
    HereString,
}

/// The right-hand side of a redirection.
#[derive(Debug, Clone, Copy)]
pub enum RedirectTarget<'a> {
    /// A file name, descriptor or here-string.
    Word(Word<'a>),
    /// A here-document.
    HereDocument(&'a HereDocument<'a>),
}

/// A here-document.
#[derive(Debug)]
pub struct HereDocument<'a> {
    /// The delimiter after quote removal.
    pub delimiter: &'a [u8],
    /// Any part of the delimiter was quoted: the body is literal.
    pub quoted: bool,
    /// `<<-`: leading tabs are removed.
    pub strip_tabs: bool,
    /// The body, filled in when the parser reaches the line after the operator.
    pub(crate) body: Cell<&'a [WordPart<'a>]>,
    /// The span of the body, likewise.
    pub(crate) body_span: Cell<Span>,
}

impl<'a> HereDocument<'a> {
    /// The body as word parts that are all quoted (no splitting, no globs): literal text and, if unquoted, expansions.
    #[must_use]
    pub fn body(&self) -> &'a [WordPart<'a>] {
        self.body.get()
    }

    /// Where the body stands, without the delimiter line.
    #[must_use]
    pub fn body_span(&self) -> Span {
        self.body_span.get()
    }
}

/// A part of a word.
#[derive(Debug, Clone, Copy)]
pub struct WordPart<'a> {
    /// What it is.
    pub kind: PartKind<'a>,
    /// Where it stands, quotes included.
    pub span: Span,
}

/// The kinds of word parts.
#[derive(Debug, Clone, Copy)]
pub enum PartKind<'a> {
    /// Unquoted literal text without glob characters (a `]` is literal). Line continuations are already removed.
    Literal(&'a [u8]),
    /// A character quoted by a backslash, or literal text inside double quotes and here-documents.
    Quoted(&'a [u8]),
    /// `'…'`
    SingleQuoted(&'a [u8]),
    /// `$'…'`, decoded as bash does (a NUL ends the text).
    AnsiC(&'a [u8]),
    /// `"…"`: `Quoted` text and expansions; empty for `""`.
    DoubleQuoted(&'a [WordPart<'a>]),
    /// `$"…"`: like double quotes, but the message catalogue may replace it.
    Locale(&'a [WordPart<'a>]),
    /// An unquoted `*`, `?` or `[`. Whether `[` opens a bracket expression is known only after expansion.
    Glob(u8),
    /// `?(…)`, `*(…)`, `+(…)`, `@(…)`, `!(…)` where extended patterns are read.
    ExtendedGlob(&'a ExtendedGlob<'a>),
    /// `{a,b}` or `{1..9}` where bash expands it.
    Brace(&'a Brace<'a>),
    /// An unquoted tilde prefix: the login name after `~`, or `+`, `-`, digits; empty for the home directory.
    Tilde(&'a [u8]),
    /// `$name`, `${…}`.
    Parameter(&'a Parameter<'a>),
    /// `$(…)`, `` `…` ``, `${ …; }`.
    CommandSubstitution(&'a CommandSubstitution<'a>),
    /// `<(…)`, `>(…)`.
    ProcessSubstitution(&'a ProcessSubstitution<'a>),
    /// `$((…))`, `$[…]`.
    Arithmetic(&'a Arithmetic<'a>),
    /// `name=(…)` as an argument of a declaration builtin; always the only part of its word.
    ArrayAssignment(&'a Assignment<'a>),
}

/// An extended pattern.
#[derive(Debug, Clone, Copy)]
pub struct ExtendedGlob<'a> {
    /// `?`, `*`, `+`, `@` or `!`.
    pub operator: u8,
    /// The alternatives.
    pub patterns: &'a [Word<'a>],
}

/// A brace expansion.
#[derive(Debug, Clone, Copy)]
pub enum Brace<'a> {
    /// `{a,b,…}`; alternatives may be empty words.
    List(&'a [Word<'a>]),
    /// `{first..last..step}`.
    Range(&'a BraceRange<'a>),
}

/// `{first..last..step}`; the texts are as written, both integers or both single letters.
#[derive(Debug, Clone, Copy)]
pub struct BraceRange<'a> {
    /// The first element.
    pub first: &'a [u8],
    /// The last element.
    pub last: &'a [u8],
    /// The increment, if given.
    pub step: Option<&'a [u8]>,
}

/// A command substitution.
#[derive(Debug, Clone, Copy)]
pub struct CommandSubstitution<'a> {
    /// Its spelling.
    pub form: SubstitutionForm,
    /// The commands.
    pub script: Script<'a>,
    /// It stands inside double quotes or a here-document: the result is not split.
    pub quoted: bool,
}

/// How a command substitution is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubstitutionForm {
    /// `$(…)`
    Dollar,
    /// `` `…` ``
    Backquote,
    /// `${ …; }` (bash 5.3), which runs in the current shell.
    Current,
    /// `${| …; }` (bash 5.3), whose value is `REPLY`.
    Reply,
}

/// A process substitution.
#[derive(Debug, Clone, Copy)]
pub struct ProcessSubstitution<'a> {
    /// `>(…)`: the commands read what is written to the name; else `<(…)`.
    pub output: bool,
    /// The commands.
    pub script: Script<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of these there may be one for every byte or two, and a long command takes for each of its bytes what they take.
    #[test]
    fn what_there_is_most_of_is_small() {
        assert_eq!(size_of::<WordPart<'_>>(), 32);
        assert_eq!(size_of::<Word<'_>>(), 24);
        assert_eq!(size_of::<Command<'_>>(), 48);
        assert_eq!(size_of::<ArrayElement<'_>>(), 24);
        assert_eq!(size_of::<Stage<'_>>(), 16);
        assert_eq!(size_of::<Item<'_>>(), 64);
        assert_eq!(size_of::<Redirect<'_>>(), 64);
        assert_eq!(size_of::<Assignment<'_>>(), 88);
        assert_eq!(size_of::<Parameter<'_>>(), 40);
        assert_eq!(size_of::<Brace<'_>>(), 16);
    }
}
