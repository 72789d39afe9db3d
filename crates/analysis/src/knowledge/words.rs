//! The vocabulary of the knowledge files: styles, roles and effects, with the names that `docs/knowledge.md` gives them.
//!
//! The build script and the engine share this module, so a word has one meaning. The build script writes the tables
//! with the `Debug` form of these types.

/// When effects that depend on something happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// One of the options is given.
    When,
    /// None of the options is given.
    Unless,
    /// The script has written a file of one of these names.
    Written,
    /// An operand is one of these words.
    Named,
}

/// How a program's options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `getopt_long`: clusters, joined values, abbreviations, operands mixed in.
    Gnu,
    /// The same, but the first operand ends the options.
    Posix,
    /// As [`Style::Gnu`] without abbreviations.
    Exact,
    /// Long names behind one dash.
    SingleDash,
    /// As [`Style::SingleDash`], and the first operand ends the options.
    Go,
    /// As [`Style::SingleDash`], and no value is joined to a single letter.
    Words,
    /// No options: every word is an operand, unless it is listed.
    Bare,
    /// `key=value`.
    KeyValue,
}

/// What a value or an operand means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Text,
    Name,
    NameOrRead,
    /// `KEY=FILE`, or a file alone; several, if commas divide them.
    ReadKeyed,
    Form,
    /// Inert, or a file that is read, unless one of these stands in it.
    Plain(&'static str),
    PlainFile(&'static str),
    PlainWrite(&'static str),
    Read,
    ReadBeside,
    List,
    ReadList,
    ReadNamed,
    Write,
    WritePrefix,
    Append,
    Create,
    Modify,
    Truncate,
    WriteBelow,
    Delete,
    DeleteTree,
    DeleteNamed,
    Move,
    Metadata(&'static str),
    Dest,
    DestLink,
    Chdir,
    Run,
    RunElsewhere,
    Exec,
    ExecLine,
    ExecElsewhere,
    ExecApart,
    /// A script of the project's own, or a program; perhaps a file with text in this language.
    Task(&'static str),
    RunAll,
    RunAllElsewhere,
    Program,
    ProgramOnFiles,
    Code(&'static str),
    Script(&'static str),
    Module(&'static str),
    Load,
    Config,
    Setting,
    Connect,
    Download,
    Mount,
    Upload,
    Send,
    Identify,
    Mode,
    Listen,
    Process,
    Variable,
    Subscript,
    Unknown,
}

impl Role {
    /// Whether this operand and all that follow are a command.
    pub(crate) const fn is_command(self) -> bool {
        matches!(
            self,
            Self::Exec
                | Self::ExecLine
                | Self::ExecElsewhere
                | Self::ExecApart
                | Self::Task(_)
                | Self::RunAll
                | Self::RunAllElsewhere
        )
    }

    /// Whether a value in this role cannot do more than tell the program what to read or print.
    pub(crate) const fn is_tame(self) -> bool {
        matches!(
            self,
            Self::Text
                | Self::NameOrRead
                | Self::ReadKeyed
                | Self::Form
                | Self::Read
                | Self::List
                | Self::ReadList
                | Self::ReadNamed
                | Self::Config
        )
    }
}

/// An effect that does not depend on a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// An effect on a fixed place.
    Place(Role, &'static str),
    Recursive,
    /// The options end after this one.
    Last,
    /// Standard input is not read.
    NoInput,
    Exec,
    Code(&'static str),
    /// The files that the condition names are executed as text in this language.
    Loads(&'static str),
    Connect(&'static str),
    Listen,
    ListenLocally,
    Send,
    Signal(&'static str),
    Privilege(&'static str),
    Persist(&'static str),
    System(&'static str),
    Package(&'static str),
    Vcs(&'static str),
    Remote(&'static str, &'static str),
    Environment,
    Secret,
    /// The program obeys what lies in the directory where it runs (`here`), and that names programs; a subcommand does
    /// not (`nothing`).
    Obeys(&'static str),
    Unknown(&'static str),
}

/// What standard input means when it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdin {
    Data,
    None,
    Code(&'static str),
    List,
}

/// Where standard output comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// What was read, and these origins.
    Origins(&'static [&'static str]),
    /// Nothing of what was read.
    None,
    /// Counts, sums, names, messages.
    Status,
}

/// Which of so many buckets, a power of two, a program's name lies in.
pub(crate) fn bucket(name: &[u8], buckets: usize) -> usize {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let hash = name.iter().fold(0x811c_9dc5, mix);
    (hash ^ (hash >> 15)) as usize & (buckets - 1)
}
