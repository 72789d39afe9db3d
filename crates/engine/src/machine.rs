//! The real machine, as the analysis may see it.

mod once;
mod within;

pub(crate) use once::Once;
pub(crate) use within::Within;

use crate::account::Account;
use crate::reading;
// `std` asks the kernel first whether it has the call with which it looks at files.
use rustix::fs::{Dir, FileType, Mode, OFlags, Stat, open, stat};
use rustix::io::Errno;
use shward_analysis::{Entries, FileKind, World};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

/// As many links as the kernel follows in one path (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// A name that matters, and where it leads: absolute.
pub(crate) type Led = (Vec<u8>, Vec<u8>);

/// Answers from the file system and from a fixed set of environment variables.
#[derive(Debug, Clone)]
pub struct Machine {
    variables: Vec<(Vec<u8>, Vec<u8>)>,
    complete: bool,
    search: Vec<u8>,
    own: Vec<Vec<u8>>,
    guarded: Vec<Vec<u8>>,
    led: Vec<Led>,
}

/// Variables of our own environment that say where shward and the agents keep what is theirs, and what is appended to
/// their value. They are read in every world, because they only add protected places.
const OWN: [(&str, &str); 5] = [
    ("XDG_CONFIG_HOME", "shward"),
    ("XDG_STATE_HOME", "shward"),
    ("XDG_RUNTIME_DIR", "shward"),
    ("CLAUDE_CONFIG_DIR", ""),
    ("CODEX_HOME", ""),
];

/// Variables that bash sets by itself, whatever environment it is given (bash(1), Shell Variables).
fn is_set_by_shell(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 31] = [
        b"_",
        b"COLUMNS",
        b"COPROC",
        b"DIRSTACK",
        b"EUID",
        b"FUNCNAME",
        b"GROUPS",
        b"HOSTNAME",
        b"HOSTTYPE",
        b"IFS",
        b"LINENO",
        b"LINES",
        b"MACHTYPE",
        b"MAILCHECK",
        b"MAPFILE",
        b"OLDPWD",
        b"OPTARG",
        b"OPTERR",
        b"OPTIND",
        b"OSTYPE",
        b"PATH",
        b"PIPESTATUS",
        b"PPID",
        b"PWD",
        b"RANDOM",
        b"REPLY",
        b"SECONDS",
        b"SHELL",
        b"SHLVL",
        b"TERM",
        b"UID",
    ];
    const FAMILIES: [&[u8]; 8] =
        [b"BASH", b"COMP_", b"EPOCH", b"HIST", b"PS", b"READLINE", b"SHELLOPTS", b"SRANDOM"];
    NAMES.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

impl Machine {
    /// The machine on which somebody else will run the command: of the environment nothing is certain, since the shell
    /// that runs it is not ours.
    #[must_use]
    pub fn of_others() -> Self {
        let search = std::env::var_os("PATH").map(OsString::into_vec).unwrap_or_default();
        Self {
            variables: Vec::new(),
            complete: false,
            search,
            own: own(),
            guarded: guarded(),
            led: Vec::new(),
        }
    }

    /// The machine on which shward itself runs the command, with exactly this environment.
    #[must_use]
    pub fn ours(environment: &[(Vec<u8>, Vec<u8>)]) -> Self {
        let search =
            environment.iter().find(|(n, _)| n == b"PATH").map(|(_, v)| v.clone()).unwrap_or_default();
        Self {
            variables: environment.to_vec(),
            complete: true,
            search,
            own: own(),
            guarded: guarded(),
            led: Vec::new(),
        }
    }

    /// Knows where names lead that matter.
    pub(crate) fn with_led(mut self, led: Vec<Led>) -> Self {
        self.led = led;
        self
    }

    /// Also protects this place, which is ours.
    #[must_use]
    pub fn with_own(mut self, place: &Path) -> Self {
        self.own.push(place.as_os_str().as_bytes().to_vec());
        self
    }
}

/// Where the environment and the account have put what is ours, and the settings of an agent.
pub(crate) fn own() -> Vec<Vec<u8>> {
    let place = |(variable, below): (&str, &str)| {
        let place = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute())?;
        if variable == SETTINGS && is_usual(&place) {
            return None;
        }
        Some(place.join(below).into_os_string().into_vec())
    };
    let account = Account::of_process().own().map(|place| place.into_os_string().into_vec());
    OWN.into_iter().filter_map(place).chain(account).collect()
}

/// Where Claude Code keeps its settings, if not in the usual place.
const SETTINGS: &str = "CLAUDE_CONFIG_DIR";

/// Whether a directory of settings is the one of this home, of which the tables know which files matter.
fn is_usual(place: &Path) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    home.is_some_and(|home| place.components().eq(home.join(".claude").components()))
}

fn guarded() -> Vec<Vec<u8>> {
    own_program().map(|place| place.as_os_str().as_bytes().to_vec()).into_iter().collect()
}

/// The file of this program, wherever it lies: who replaces it decides what is asked the next time. The kernel adds ` (deleted)`
/// to the path of one that was replaced meanwhile (proc_pid_exe(5)).
pub(crate) fn own_program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let path = std::env::current_exe().ok()?.into_os_string().into_vec();
        let path = path.strip_suffix(b" (deleted)").map(<[u8]>::to_vec).unwrap_or(path);
        Some(PathBuf::from(OsString::from_vec(path)))
    };
    PROGRAM.get_or_init(find).as_deref()
}

fn is_executable(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_mode & 0o111 != 0
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

enum Resolved {
    /// Every link of what exists is resolved; what does not exist is appended.
    Whole(PathBuf),
    /// A link to what does not exist: the path with that link replaced by its aim.
    Dangling(PathBuf),
    Unknown,
}

/// How links are followed.
trait Follow {
    /// The path without a link in it, if it is there.
    fn canonicalize(&self, path: &Path) -> Option<PathBuf>;
    /// What a link says.
    fn read_link(&self, path: &Path) -> Option<PathBuf>;
}

/// As this process sees the files.
struct Here;

impl Follow for Here {
    fn canonicalize(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(path).ok()
    }

    fn read_link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }
}

fn resolve(place: &Path, files: &dyn Follow) -> Resolved {
    let mut missing = Vec::new();
    let mut existing = place;
    loop {
        if let Some(mut whole) = files.canonicalize(existing) {
            for name in missing.iter().rev() {
                // `..` after what does not exist fails today, and leads up once somebody creates it.
                match *name {
                    Component::ParentDir => drop(whole.pop()),
                    Component::Normal(name) => whole.push(name),
                    _ => {}
                }
            }
            return Resolved::Whole(whole);
        }
        if let (Some(aim), Some(parent)) = (files.read_link(existing), existing.parent()) {
            let mut whole = parent.join(aim);
            whole.extend(missing.iter().rev());
            return Resolved::Dangling(whole);
        }
        let mut components = existing.components();
        match components.next_back() {
            Some(last @ (Component::Normal(_) | Component::ParentDir)) => missing.push(last),
            _ => return Resolved::Unknown,
        }
        existing = components.as_path();
    }
}

/// Where a path leads, whether it is there or not.
fn follow(bytes: &[u8], files: &dyn Follow) -> Option<Vec<u8>> {
    let mut place = path(bytes).to_owned();
    for hop in 0..MAX_LINKS {
        match resolve(&place, files) {
            Resolved::Whole(whole) => return Some(whole.into_os_string().into_vec()),
            // A link that leads nowhere yet: writing through it creates what it names, which may be a link again.
            Resolved::Dangling(next) => place = next,
            Resolved::Unknown if hop == 0 => return None,
            Resolved::Unknown => break,
        }
    }
    // A link that nobody can follow to its end may lead anywhere; the root stands for the worst.
    Some(b"/".to_vec())
}

fn kind_of(found: Result<Stat, Errno>) -> FileKind {
    match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
        Ok(FileType::RegularFile) => FileKind::File,
        Ok(FileType::Directory) => FileKind::Directory,
        Ok(_) => FileKind::Special,
        Err(Errno::NOENT) => FileKind::Missing,
        Err(_) => FileKind::Unknown,
    }
}

/// The first program of this name in the directories of a `PATH`.
fn search(directories: &[u8], name: &[u8], is_program: impl Fn(&Path) -> bool) -> Option<Vec<u8>> {
    directories.split(|&b| b == b':').find_map(|directory| {
        let directory = if directory.is_empty() { b".".as_slice() } else { directory };
        let file: PathBuf = path(directory).join(OsStr::from_bytes(name));
        is_program(&file).then(|| file.into_os_string().into_vec())
    })
}

/// The names in a directory that is open, at most so many.
fn entries_of(directory: Result<Dir, Errno>, most: usize) -> Entries {
    let directory = match directory {
        Ok(directory) => directory,
        Err(Errno::NOENT | Errno::NOTDIR) => return Entries::Names(Vec::new()),
        Err(_) => return Entries::TooMany,
    };
    let mut names = Vec::new();
    for entry in directory {
        let Ok(entry) = entry else { return Entries::TooMany };
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        if names.len() >= most {
            return Entries::TooMany;
        }
        let may_be_link = matches!(entry.file_type(), FileType::Symlink | FileType::Unknown);
        names.push((name.to_vec(), may_be_link));
    }
    Entries::Names(names)
}

/// How directories are opened to be listed.
const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl World for Machine {
    fn variable(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        match self.variables.iter().find(|(n, _)| n == name) {
            Some((_, value)) => Some(Some(Cow::Borrowed(value))),
            None if self.complete && !is_set_by_shell(name) => Some(None),
            None => None,
        }
    }

    fn own(&self) -> &[Vec<u8>] {
        &self.own
    }

    fn guarded(&self) -> &[Vec<u8>] {
        &self.guarded
    }

    fn led(&self) -> &[Led] {
        &self.led
    }

    fn canonical(&self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        follow(bytes, &Here).map(Cow::Owned)
    }

    fn kind(&self, bytes: &[u8]) -> FileKind {
        kind_of(stat(path(bytes)))
    }

    fn executable(&self, bytes: &[u8]) -> Option<bool> {
        stat(path(bytes)).ok().map(|found| is_executable(&found))
    }

    fn entries(&self, directory: &[u8], most: usize) -> Entries {
        entries_of(open(path(directory), LISTED, Mode::empty()).and_then(Dir::new), most)
    }

    fn program(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        if self.search.is_empty() {
            return None;
        }
        let found = search(&self.search, name, |file| stat(file).is_ok_and(|found| is_executable(&found)));
        Some(found.map(Cow::Owned))
    }

    fn content(&self, bytes: &[u8], limit: usize) -> Option<Cow<'_, [u8]>> {
        let file = reading::open(path(bytes)).ok()?;
        file.metadata().ok().filter(|m| m.len() <= limit as u64)?;
        let mut text = Vec::new();
        file.take(limit as u64 + 1).read_to_end(&mut text).ok()?;
        (text.len() <= limit).then_some(Cow::Owned(text))
    }
}
