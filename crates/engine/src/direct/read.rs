//! From the syntax tree to what runs without a shell.
//!
//! Everything that is read here has one meaning whatever the machine looks like: words without expansions, lists, pipelines,
//! redirections to names that are known, `cd` to a directory that is known, and the builtins that only print or only have a status.
//! One node that is anything else, and the whole command is a shell's.

use bumpalo::Bump;
use shward_sandbox::script::{Action, Command, List, MAX_DESCRIPTOR, Mode, Program, Redirect, Target};
use shward_syntax::{
    AndOr, AssignmentValue, CommandKind, Connector, Descriptor, Options, PartKind, Pipeline,
    Redirect as Written, RedirectOperator, RedirectTarget, Script, SimpleCommand, Word, WordPart,
    is_reserved, parse,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

/// Words that bash carries out itself (bash(1), Shell Builtin Commands), in order.
const BUILTINS: [&str; 61] = [
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Variables that mean something to the shell that sets them, apart from those that begin with one of [`OWN_PREFIXES`].
const OWN: [&str; 24] = [
    "CDPATH",
    "COLUMNS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "EXECIGNORE",
    "FUNCNAME",
    "GROUPS",
    "IFS",
    "LINENO",
    "LINES",
    "OLDPWD",
    "PATH",
    "POSIXLY_CORRECT",
    "POSIX_PEDANTIC",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "UID",
    "_",
];
const OWN_PREFIXES: [&str; 6] = ["BASH", "COMP", "HIST", "LANG", "LC_", "SRANDOM"];

/// Commands of one request; more are a shell's.
const MAX_COMMANDS: usize = 500;

/// Lists inside each other.
const MAX_DEPTH: usize = 32;

/// Where commands find their programs.
pub(super) trait Find {
    /// The program of this name for a command that starts in this directory, if it is beyond doubt what a shell would execute.
    /// `touched` says whether something has run before, or runs beside it, that could have changed files.
    fn find(&self, name: &[u8], cwd: Option<&Path>, touched: bool) -> Option<Program>;
}

/// What was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) list: List,
    /// The current directory of the shell itself may be another one afterwards.
    pub(super) moves: bool,
}

/// Reads a command that starts in this directory; `None` if it needs a shell.
pub(super) fn read(text: &[u8], cwd: &Path, find: &dyn Find) -> Option<Read> {
    let arena = Bump::new();
    let script = parse(&arena, text, &Options::default()).ok()?.script;
    let mut reader = Reader { text, find, touched: false, commands: 0, depth: 0, moves: false, end: 0 };
    let (list, _) = reader.script(&script, Place::at(cwd))?;
    Some(Read { list, moves: reader.moves })
}

/// Where a command may be when it starts, as far as it starts at all.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// It never starts.
    Nowhere,
    Known(PathBuf),
    Unknown,
}

impl Place {
    fn at(path: &Path) -> Self {
        Self::Known(path.to_owned())
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nowhere, place) | (place, Self::Nowhere) => place,
            (a, b) if a == b => a,
            _ => Self::Unknown,
        }
    }

    fn known(&self) -> Option<&Path> {
        match self {
            Self::Known(path) => Some(path),
            Self::Nowhere | Self::Unknown => None,
        }
    }
}

/// Where what follows is: after success, and after failure.
type After = [Place; 2];

fn same(place: &Place) -> After {
    [place.clone(), place.clone()]
}

fn joined([success, failure]: After) -> Place {
    success.or(failure)
}

/// Where a list ends.
fn end(list: &AndOr<'_>) -> Option<u32> {
    let last = list.rest.last().map_or(&list.first, |(_, pipeline)| pipeline);
    Some(last.stages.last()?.command.span.end)
}

struct Reader<'r> {
    text: &'r [u8],
    find: &'r dyn Find,
    /// Something has run that could have changed files.
    touched: bool,
    commands: usize,
    depth: usize,
    moves: bool,
    /// Where the innermost subshell ends, or outside of one what bash reads at once: a line, with all that is begun on it.
    end: u32,
}

impl Reader<'_> {
    fn script(&mut self, script: &Script<'_>, place: Place) -> Option<(List, After)> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || script.items.is_empty() {
            return None;
        }
        let mut after = same(&place);
        let mut lists = Vec::with_capacity(script.items.len());
        for item in script.items {
            if item.background {
                return None;
            }
            if self.depth == 1 {
                let read = script.items.iter().filter(|other| other.line == item.line);
                self.end = read.filter_map(|other| end(&other.list)).max()?;
            }
            let (list, then) = self.and_or(&item.list, joined(after))?;
            after = then;
            lists.push(list);
        }
        // bash gives the place of its process to the last program of a line, but of `&&` and `||` only where the line is nothing else.
        if let [.., before, item] = script.items
            && self.depth == 1
            && before.line == item.line
            && !item.list.rest.is_empty()
        {
            let list = Box::new(lists.pop()?);
            let command = Command { action: Action::Group(list), redirects: Vec::new(), line: 1 };
            lists.push(List::Pipeline { commands: vec![command], negated: false });
        }
        self.depth -= 1;
        let list = if lists.len() == 1 { lists.pop()? } else { List::Sequence(lists) };
        Some((list, after))
    }

    fn and_or(&mut self, list: &AndOr<'_>, place: Place) -> Option<(List, After)> {
        // Each turn makes the tree deeper.
        if list.rest.len() > MAX_DEPTH {
            return None;
        }
        let (mut tree, mut after) = self.pipeline(&list.first, place)?;
        for (connector, pipeline) in list.rest {
            let [success, failure] = after;
            match connector {
                Connector::And => {
                    let (next, [then, or]) = self.pipeline(pipeline, success)?;
                    tree = List::And(Box::new(tree), Box::new(next));
                    after = [then, failure.or(or)];
                }
                Connector::Or => {
                    let (next, [then, or]) = self.pipeline(pipeline, failure)?;
                    tree = List::Or(Box::new(tree), Box::new(next));
                    after = [success.or(then), or];
                }
            }
        }
        Some((tree, after))
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'_>, place: Place) -> Option<(List, After)> {
        if pipeline.timed || pipeline.stages.is_empty() {
            return None;
        }
        let alone = pipeline.stages.len() == 1;
        let before = self.moves;
        let mut after = same(&place);
        let mut commands = Vec::with_capacity(pipeline.stages.len());
        for stage in pipeline.stages {
            let (mut command, then) = self.command(stage.command, &place)?;
            if stage.pipes_stderr {
                command.redirects.push(Redirect { descriptor: 2, target: Target::Copy(1) });
            }
            if alone {
                after = then;
            }
            commands.push(command);
        }
        if !alone {
            self.moves = before; // each was in a process of its own
        }
        if pipeline.negated {
            after.reverse();
        }
        Some((List::Pipeline { commands, negated: pipeline.negated }, after))
    }

    fn command(&mut self, command: &shward_syntax::Command<'_>, place: &Place) -> Option<(Command, After)> {
        self.commands += 1;
        if self.commands > MAX_COMMANDS {
            return None;
        }
        let redirects = self.redirects(command.redirects.all())?;
        let (action, after) = match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, place)?,
            // A pipe made where a standard descriptor is missing would take its place.
            _ if redirects.iter().any(|redirect| redirect.target == Target::Closed) => return None,
            CommandKind::BraceGroup(script) => {
                let (list, after) = self.script(script, place.clone())?;
                (Action::Group(Box::new(list)), after)
            }
            CommandKind::Subshell(script) => {
                let before = (self.moves, self.end);
                self.end = command.span.end;
                let (list, _) = self.script(script, place.clone())?;
                (self.moves, self.end) = before;
                (Action::Subshell(Box::new(list)), same(place))
            }
            _ => return None,
        };
        // A redirection that fails leaves the command out.
        let [success, failure] = after;
        let failure = if redirects.is_empty() { failure } else { failure.or(place.clone()) };
        let written = |r: &Redirect| matches!(&r.target, Target::File { path, mode } if *mode != Mode::Read && path != Path::new("/dev/null"));
        self.touched |= redirects.iter().any(written);
        // bash names the line on which a simple command begins, on which a subshell ends, and for a group that to which it has read.
        let at = usize::try_from(match command.kind {
            CommandKind::Simple(_) => command.span.start,
            CommandKind::BraceGroup(_) => self.end,
            _ => command.span.end,
        })
        .ok()?;
        let lines = self.text.get(..at)?.iter().filter(|&&byte| byte == b'\n').count();
        let line = u32::try_from(lines).ok()?.checked_add(1)?;
        Some((Command { action, redirects, line }, [success, failure]))
    }

    fn simple(&mut self, simple: &SimpleCommand<'_>, place: &Place) -> Option<(Action, After)> {
        let words: Vec<Vec<u8>> = simple.words.iter().map(known).collect::<Option<_>>()?;
        let Some((name, arguments)) = words.split_first() else {
            // Redirections alone.
            return simple.assignments.is_empty().then(|| (Action::Status(0), same(place)));
        };
        if name.is_empty() || is_reserved(name) {
            return None;
        }
        if str::from_utf8(name).is_ok_and(|name| BUILTINS.binary_search(&name).is_ok()) {
            return if simple.assignments.is_empty() { self.builtin(name, arguments, place) } else { None };
        }
        let mut program = self.find.find(name, place.known(), self.touched)?;
        self.touched = true;
        for assignment in simple.assignments {
            let (name, value) = assigned(assignment)?;
            program.variables.retain(|(known, _)| *known != name);
            program.variables.push((name, value));
        }
        program.arguments = words.into_iter().map(OsString::from_vec).collect();
        Some((Action::Program(program), same(place)))
    }

    fn builtin(&mut self, name: &[u8], arguments: &[Vec<u8>], place: &Place) -> Option<(Action, After)> {
        let words: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        match (name, words.as_slice()) {
            (b"true" | b":", _) => Some((Action::Status(0), [place.clone(), Place::Nowhere])),
            (b"false", _) => Some((Action::Status(1), [Place::Nowhere, place.clone()])),
            (b"echo", words) => {
                let bytes = shward_analysis::printed(b"echo", words)?;
                Some((Action::Print { name: "echo", bytes }, same(place)))
            }
            (b"printf", words) if is_plain_format(words) => {
                let bytes = shward_analysis::printed(b"printf", words)?;
                Some((Action::Print { name: "printf", bytes }, same(place)))
            }
            (b"pwd", []) => Some((Action::PrintDirectory, same(place))),
            (b"cd", [given]) => {
                let directory = entered(given, place.known())?;
                self.moves = true;
                let reached = if *place == Place::Nowhere { Place::Nowhere } else { Place::at(&directory) };
                let after = [reached, place.clone()];
                Some((Action::Enter { given: given.to_vec(), directory }, after))
            }
            _ => None,
        }
    }

    fn redirects(&self, written: &[Written<'_>]) -> Option<Vec<Redirect>> {
        let mut redirects = Vec::with_capacity(written.len());
        for redirect in written {
            redirected(redirect, &mut redirects)?;
        }
        Some(redirects)
    }
}

/// What a redirection does, as one or two of ours.
fn redirected(redirect: &Written<'_>, to: &mut Vec<Redirect>) -> Option<()> {
    use RedirectOperator as Op;
    let descriptor = match redirect.descriptor {
        Descriptor::Default => match redirect.operator {
            Op::Input | Op::ReadWrite | Op::DuplicateInput | Op::HereDocument | Op::HereString => 0,
            _ => 1,
        },
        Descriptor::Number(number) => u8::try_from(number).ok().filter(|number| *number <= MAX_DESCRIPTOR)?,
        Descriptor::Variable(_) => return None,
    };
    let word = match &redirect.target {
        RedirectTarget::Word(word) => known(word)?,
        RedirectTarget::HereDocument(document) => {
            let mut text = Vec::new();
            append(document.body(), &mut text)?;
            to.push(Redirect { descriptor, target: Target::Text(text) });
            return Some(());
        }
    };
    let file = |mode| {
        // bash makes connections of some names.
        let usable = !word.is_empty() && !word.starts_with(b"/dev/tcp/") && !word.starts_with(b"/dev/udp/");
        usable.then(|| Target::File { path: PathBuf::from(OsString::from_vec(word.clone())), mode })
    };
    let mut both = |mode| {
        to.push(Redirect { descriptor: 1, target: file(mode)? });
        to.push(Redirect { descriptor: 2, target: Target::Copy(1) });
        Some(())
    };
    let is_default = redirect.descriptor == Descriptor::Default;
    let target = match redirect.operator {
        Op::Input => file(Mode::Read)?,
        Op::Output | Op::Clobber => file(Mode::Write)?,
        Op::Append => file(Mode::Append)?,
        Op::ReadWrite => file(Mode::ReadWrite)?,
        Op::OutputBoth => return both(Mode::Write),
        Op::AppendBoth => return both(Mode::Append),
        Op::DuplicateInput | Op::DuplicateOutput if word == b"-" => Target::Closed,
        Op::DuplicateInput | Op::DuplicateOutput
            if word.iter().all(u8::is_ascii_digit) && !word.is_empty() =>
        {
            let number: u8 = str::from_utf8(&word).ok()?.parse().ok()?;
            Target::Copy(Some(number).filter(|number| *number <= MAX_DESCRIPTOR)?)
        }
        // `2-` would move a descriptor.
        Op::DuplicateOutput if is_default && !word.ends_with(b"-") => return both(Mode::Write),
        Op::HereString => Target::Text([word.as_slice(), b"\n"].concat()),
        Op::DuplicateInput | Op::DuplicateOutput | Op::HereDocument => return None,
    };
    to.push(Redirect { descriptor, target });
    Some(())
}

/// A variable for one program. Not those that mean something to the shell itself.
fn assigned(assignment: &shward_syntax::Assignment<'_>) -> Option<(OsString, OsString)> {
    let AssignmentValue::Scalar(word) = &assignment.value else { return None };
    let name = str::from_utf8(assignment.name).ok()?;
    let own = OWN.contains(&name) || OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if assignment.append || assignment.subscript.is_some() || own {
        return None;
    }
    Some((OsString::from(name), OsString::from_vec(known(word)?)))
}

/// The directory that `cd` enters, from the one where it is, as bash counts by names.
fn entered(given: &[u8], from: Option<&Path>) -> Option<PathBuf> {
    if given.is_empty() || given.starts_with(b"-") || given.starts_with(b"//") {
        return None;
    }
    let path = Path::new(OsStr::from_bytes(given));
    let mut directory = if path.is_absolute() { PathBuf::from("/") } else { from?.to_owned() };
    let mut down = path.is_absolute();
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir => {}
            Component::Normal(name) => {
                directory.push(name);
                down = true;
            }
            // Past a name it depends on what the name is.
            Component::ParentDir if down => return None,
            Component::ParentDir => {
                directory.pop();
            }
            Component::Prefix(_) => return None,
        }
    }
    Some(directory)
}

/// Whether a format has nothing in it on which our reading and bash's could differ.
fn is_plain_format(words: &[&[u8]]) -> bool {
    let Some((format, arguments)) = words.split_first() else { return false };
    let mut letters = format.iter();
    let mut conversions = Vec::new();
    while let Some(letter) = letters.next() {
        match letter {
            b'%' => match letters.next() {
                Some(b'%') => {}
                Some(kind @ (b's' | b'd')) => conversions.push(*kind),
                _ => return false,
            },
            b'\\' if !matches!(letters.next(), Some(b'n' | b't' | b'r' | b'\\' | b'a' | b'"')) => {
                return false;
            }
            _ => {}
        }
    }
    let short = |word: &[u8]| {
        !word.is_empty() && word.len() < 18 && !word.starts_with(b"0") && word.iter().all(u8::is_ascii_digit)
    };
    let wanted = conversions.iter().cycle();
    !format.starts_with(b"-") && arguments.iter().zip(wanted).all(|(word, kind)| *kind != b'd' || short(word))
}

/// The text of a word that is the same whatever the shell's state is.
fn known(word: &Word<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    append(&word.parts(), &mut text)?;
    Some(text)
}

fn append(parts: &[WordPart<'_>], text: &mut Vec<u8>) -> Option<()> {
    for part in parts {
        match part.kind {
            PartKind::Literal(t) | PartKind::Quoted(t) | PartKind::SingleQuoted(t) | PartKind::AnsiC(t) => {
                text.extend_from_slice(t);
            }
            PartKind::DoubleQuoted(parts) => append(parts, text)?,
            _ => return None,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
