//! What calling a known function does: the closed vocabulary of the module tables.

use crate::effect::WriteMode;
use shward_syntax::order;

/// What calling a known function, or touching a known value, does. Numbers are positions of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Computes, and gives back nothing that could act.
    Inert,
    /// As `Inert`, and whatever it is given it only looks at from outside: `print`, `len`, `type`.
    Opaque,
    /// As `Opaque`, but keeps what it is given: an exception.
    Keep,
    /// `type`: of one thing it looks at it, of three it makes a class.
    Class,
    /// Changes the container that it is given first: `heapq.heappush`, `list.append`.
    Mutate,
    /// `print`.
    Print,
    /// Gives back its first argument in another form: `str`, `os.path.abspath`.
    Same,
    /// Gives back what its arguments hold, in any order: `sorted`, `set`.
    Items,
    /// Gives back what its argument holds as it stands there: `list`, `tuple`.
    Sequence,
    /// `dict`.
    Dict,
    /// Gives back one of the things that its argument holds: `next`, `max`.
    Element,
    /// Gives back a number.
    Count,
    /// `abs`, `round`: of a number a number, of an object what its class says.
    Measure,
    /// `range`: numbers.
    Range,
    /// `enumerate`: pairs of a number and what its argument holds.
    Enumerate,
    /// `zip`: tuples of what its arguments hold.
    Zip,
    /// `map`, `filter`: calls its first argument with what the others hold.
    Apply,
    /// A computation on text that is followed.
    Fold(Fold),
    /// A path object of its arguments.
    PathOf,
    /// A fixed path.
    Place(&'static str),
    /// Makes an object that acts later.
    Make(Object),
    /// A value that is one.
    Is(Object),
    /// `open(path, mode)`.
    Open,
    /// Reads a file, gives its content.
    Read(u8),
    /// Looks at a file's metadata.
    Look(u8),
    /// Lists a directory, gives names.
    List(u8),
    /// Lists a directory, gives paths.
    Entries,
    /// Names that match a pattern.
    Glob,
    /// `os.walk`.
    Walk,
    /// Writes a file.
    Write(u8, WriteMode),
    /// Writes the file that argument N, or the argument of this name, names, if there is one.
    WriteAlso(u8, &'static str, WriteMode),
    /// Reads a file or an address.
    Source,
    /// `fcntl.ioctl`.
    Control,
    /// `help`: looks, or imports the module that a text names.
    Help,
    /// `argparse.FileType(mode)`: opens what the arguments name.
    FileType,
    /// `unittest.defaultTestLoader`, and what it finds tests with.
    Loader,
    /// `argparse.ArgumentParser`.
    Parser,
    /// Reads an XML document.
    ReadDocument,
    /// Reads the first, and changes it if it is told to.
    ReadInPlace,
    /// Removes a file, or a tree.
    Delete(u8, bool),
    /// Renames the first to the second.
    Rename,
    /// Copies the first to the second; whether trees.
    Copy(bool),
    /// Makes the second a link to the first.
    Link,
    /// Changes metadata of the first.
    Metadata(&'static str),
    /// Changes the working directory.
    Chdir,
    /// Changes the working directory for a while: `contextlib.chdir`.
    ChdirWithin,
    /// A path as it counts from the root: `os.path.abspath`.
    Absolute,
    /// Replaces what a name stands for, for a while: `unittest.mock.patch`.
    Patch,
    /// `os.popen`: a shell command line, and whether the program writes to it.
    ShellPipe,
    /// A shell command line.
    Shell,
    /// `subprocess`: a list of arguments, or a command line.
    Run,
    /// Replaces or starts a process: the program is argument N; its arguments are a list, or follow one by one.
    Start(u8, Arguments),
    /// Python text.
    Eval,
    /// A formula or a template, which the package evaluates.
    Formula,
    /// `compile`.
    Compile,
    /// A module by its name.
    Import,
    /// An attribute by its name.
    Attribute,
    /// `attrgetter`: attributes by their names, of what is given later.
    Getter,
    /// `methodcaller`: a method by its name, of what is given later.
    Caller,
    /// Sets an attribute by its name.
    SetAttribute,
    /// Runs a program of this name with a list of arguments: `pytest.main(arguments)`.
    Main(&'static str),
    /// Runs a Python file or module.
    RunModule,
    /// Connects to the URL that argument N gives, and sends the others.
    Url(u8),
    /// Downloads the first to the second.
    Download,
    /// Connects to a host and port, or to a pair of them.
    Host(&'static str),
    /// Connects somewhere.
    Network,
    /// Listens.
    Listen,
    /// Listens at a path, which argument N, or the argument of this name, gives.
    ListenAt(u8, &'static str),
    /// Signals a process.
    Kill,
    /// Processes of the machine.
    Processes,
    /// Takes another user's rights.
    Privilege,
    /// Decodes or decrypts what nobody can read.
    Decode,
    /// Unpickles what argument N gives, or the file it names.
    Unpickle,
    /// The same of a file that is made if it is missing, and added to: `shelve.open`.
    Shelf,
    /// Loads native code from the file that argument N names.
    Load,
    /// Reads one variable of the environment.
    Variable,
    /// Changes a variable of the environment.
    SetVariable,
    /// Code of a language runs that is not read.
    Code(&'static str),
    /// Unpacks an archive: argument N below argument M.
    Unpack(u8, u8),
    /// `shutil.make_archive(base_name, format, root_dir, base_dir)`: packs a directory.
    Pack,
    /// Opens an archive or compressed file: path and mode.
    Archive,
    /// Opens a local database.
    Database,
    /// A statement for a local database, which may name files.
    Statement,
    /// A file handle on a descriptor: socket, pipe.
    Duplicate,
    /// A temporary file.
    Temporary,
    /// A temporary file or directory that is made where there was none.
    Fresh(Fresh),
    /// What the project's own code, or a package that is not known, does.
    Project,
    /// Control is handed to a terminal.
    Terminal,
    /// Packages are installed.
    Install,
}

/// How a new program gets its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    /// One list after the program.
    List,
    /// One list after the program, and the environment.
    ListAndVariables,
    /// One by one after the program, the environment last.
    RestAndVariables,
    /// One by one after the program, the name that it gets to see first.
    Rest,
    /// One by one after the program.
    Following,
    /// The list itself, program first.
    Whole,
}

/// What a function that makes a temporary file gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fresh {
    /// An open file.
    File,
    /// The path of a directory.
    Directory,
    /// A descriptor and the path of a file.
    Descriptor,
}

/// Computations on text that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    JoinPath,
    BaseName,
    DirName,
    /// A path without what leads back again.
    Normal,
    Character,
    /// A moment in a given format.
    Date,
    Base64,
    Hex,
    Home,
    Here,
    Quote,
    Text,
}

impl Act {
    /// Whether it does nothing, however it is called.
    pub(super) const fn is_inert(self) -> bool {
        matches!(
            self,
            Self::Inert
                | Self::Opaque
                | Self::Keep
                | Self::Class
                | Self::Absolute
                | Self::Print
                | Self::Same
                | Self::Items
                | Self::Sequence
                | Self::Dict
                | Self::Element
                | Self::Count
                | Self::Measure
                | Self::Range
                | Self::Enumerate
                | Self::Zip
                | Self::Fold(_)
                | Self::PathOf
                | Self::Place(_)
                | Self::Is(_)
                | Self::Decode
                | Self::Temporary
                | Self::Fresh(_)
                | Self::Look(_)
                | Self::List(_)
                | Self::Entries
                | Self::Glob
                | Self::Walk
                | Self::Project
        )
    }
}

/// How much a call that is not understood may do with the places that its arguments name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Only what matters wherever it goes.
    Sensitive,
    /// Anything.
    Anything,
}

/// Things whose methods act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    /// A socket.
    Socket,
    /// A process that was started.
    Process,
    /// A client of a protocol: its methods connect and send.
    Client,
    /// A server.
    Server,
    /// `os.environ`, or a copy.
    Environment,
    /// `sys.argv`.
    Arguments,
    /// `sys.path`.
    SearchPath,
    /// `sys.modules`.
    Modules,
    /// `sys.stdin`.
    Stdin,
    /// `sys.stdout`.
    Stdout,
    /// `sys.stderr`.
    Stderr,
    /// An archive.
    Archive,
    /// An XML document.
    Document,
    /// A database, local or elsewhere.
    Database,
    /// A library of native code.
    Native,
}

/// A module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Module {
    pub(super) name: &'static str,
    /// What public names do that are not listed.
    pub(super) rest: Act,
    /// Names, sorted.
    pub(super) members: &'static [(&'static str, Act)],
}

pub(super) const fn module(name: &'static str, rest: Act, members: &'static [(&'static str, Act)]) -> Module {
    Module { name, rest, members }
}

/// A module that only computes.
pub(super) const fn pure(name: &'static str) -> Module {
    Module { name, rest: Act::Inert, members: &[] }
}

/// What a member of a module does, if it is listed.
pub(super) fn member(module: &Module, name: &[u8]) -> Option<Act> {
    let at = module.members.binary_search_by(|(n, _)| order(n.as_bytes(), name)).ok()?;
    module.members.get(at).map(|(_, act)| *act)
}
