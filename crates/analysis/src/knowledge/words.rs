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

/// What is known of a program under some of its names, or under all: a line of its description that begins with this word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// It looks at no files but those that its options and operands name.
    NoOwnFiles,
    /// It takes an address for a name in the file system.
    NoAddresses,
    /// It is installed under this name with a version behind it, too.
    Versioned,
    /// It reads all of its input before it writes.
    Soaks,
    /// What it writes into files is the text of what it reads.
    Copies,
    /// It puts files elsewhere as they are: nothing of its own words gets into them.
    PutsFiles,
    /// `-` is the name of a file that it writes.
    WritesDash,
    /// What it prints is computed.
    Computes(Computed),
    /// What it prints is text that nobody has seen in this form.
    Decodes,
    /// The same, but of names, which stay what they are.
    Reorders,
    /// It makes links of what it is given.
    Links,
    /// It fails where there is something already at a place at which it is to make a directory.
    MakesNew,
    /// What it prints are names of files.
    PrintsNames,
    /// The same, and each lies at or below the working directory if what it is given does.
    NamesHere,
    /// The same, and each begins with one of the places that it is given.
    NamesLed,
    /// It looks into hidden directories, too, unless an expression among its words leaves out one by name.
    FindsHidden,
    /// What it prints are lines that it has read.
    SameLines,
    /// Of these it keeps those in which a text that it is given is found, read like this.
    Keeps(Syntax),
    /// It keeps the others.
    LeavesOut,
    /// Capitals are as good as small letters in that text.
    AnyCase,
    /// With some arguments, what it prints is a text of a known kind.
    Tells(Telling),
    /// The name of what it puts somewhere is nothing of what is in it.
    NamesApart,
    /// Where an address belongs, a plain word is what its own configuration calls a place.
    NamesRemotes,
    /// Where it connects it enters an account, and reads and writes whatever that may.
    EntersAccounts,
    /// A word that begins with the name of a host is fetched from there.
    FetchesHosts,
    /// What it loads is text in JavaScript, too.
    LoadsModules,
    /// A shell that reads what POSIX says and nothing else.
    ReadsPosix,
    /// A shell whose grammar is much like that of bash, and not the same.
    ReadsKindred,
    /// A shell with a grammar of its own.
    ReadsOther,
    /// A shell that refuses redirections, directories and paths of programs.
    Restricted,
    ReadsPostgres,
    ReadsMysql,
    ReadsSqlite,
    /// What it starts goes on when it is over.
    GoesOn,
    /// Its own options say what is done around a program in Perl.
    PerlOptions,
    /// It makes a packed file what it was.
    Unpacks,
    /// A packed file has this ending.
    Packs(&'static str),
    /// It runs what a build file says.
    Follows(Build),
    /// Projects have it among their own packages, under the name of the package.
    ProjectTool,
    /// A Python module of this name is this program.
    Module(&'static str),
    /// It is installed with the name of a subcommand behind its own and a dash, too.
    Dashed,
}

impl Fact {
    /// The bit that stands for it, whatever its value.
    pub(crate) const fn bit(self) -> u64 {
        1 << match self {
            Self::NoOwnFiles => 0,
            Self::NoAddresses => 1,
            Self::Versioned => 2,
            Self::Soaks => 3,
            Self::Copies => 4,
            Self::PutsFiles => 5,
            Self::WritesDash => 6,
            Self::Computes(_) => 7,
            Self::Decodes => 8,
            Self::Reorders => 9,
            Self::Links => 10,
            Self::PrintsNames => 11,
            Self::NamesHere => 12,
            Self::NamesLed => 35,
            Self::FindsHidden => 37,
            Self::MakesNew => 36,
            Self::SameLines => 13,
            Self::Keeps(_) => 38,
            Self::LeavesOut => 39,
            Self::AnyCase => 40,
            Self::Tells(_) => 14,
            Self::NamesApart => 15,
            Self::NamesRemotes => 16,
            Self::FetchesHosts => 17,
            Self::LoadsModules => 18,
            Self::ReadsPosix => 19,
            Self::ReadsKindred => 20,
            Self::ReadsOther => 21,
            Self::Restricted => 22,
            Self::ReadsPostgres => 23,
            Self::ReadsMysql => 24,
            Self::ReadsSqlite => 25,
            Self::PerlOptions => 26,
            Self::Unpacks => 27,
            Self::Packs(_) => 28,
            Self::Follows(_) => 29,
            Self::ProjectTool => 30,
            Self::Module(_) => 31,
            Self::GoesOn => 32,
            Self::EntersAccounts => 33,
            Self::Dashed => 34,
        }
    }
}

/// Of which kind a text is that a program prints, and with which arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Telling {
    /// How many lines, words or bytes there are.
    Counts,
    /// How many lines match.
    Matches,
    /// A number, without arguments.
    Number,
    /// A word, without arguments.
    Word,
    /// The number of a user or group.
    Ids,
    /// What kind of machine this is.
    Machine,
    Moment,
    /// Size and time of a file.
    Sizes,
    /// Names and numbers of commits.
    Commits,
    /// The name of a file that it has made.
    NewFile,
}

/// How a text is read that is looked for in lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Syntax {
    /// As it is.
    Fixed,
    /// As POSIX's basic regular expression.
    Basic,
    /// As an extended one.
    Extended,
    /// As one of Perl's, or of those that are much like them.
    Perl,
}

/// In which files stands what a program is told to run by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    Makefile,
    Justfile,
    /// `package.json`.
    Package,
    /// `deno.json`, and what it takes in its stead.
    Tasks,
    /// `composer.json`.
    Composer,
}

/// The options beside which something is known of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Whatever options are given.
    All,
    /// If no others than these are given.
    With,
    /// If one of these is given.
    When,
    /// If none of these is given.
    Unless,
}

/// How what a program prints comes from what it reads, or from its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Computed {
    /// What it reads, as it is.
    Whole,
    Base64,
    Base32,
    Hex,
    /// Byte for byte by a table.
    Mapped,
    /// Each line from its end.
    Mirrored,
    /// The last line first.
    Backwards,
    FirstLines,
    LastLines,
    Columns,
    Sorted,
    /// Of what it reads, in a way that is not computed here.
    Somehow,
    /// Its arguments, with a blank between them.
    Words,
    /// By the format that is its first argument.
    Formatted,
    /// Numbers, one after the other.
    Numbers,
    LastName,
    /// All but the last name of a path.
    Parent,
    /// The directory that it works in.
    Here,
    Nothing,
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
    CreateLike,
    Member,
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
    RunOnFile,
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
    /// A file with such assignments.
    Variables,
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
    /// Control is handed to whoever types, unless this variable of the environment names what is started instead.
    TerminalUnless(&'static str),
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
