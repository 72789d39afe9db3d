//! Commands that need no shell: their words, and the order in which they run, are all known from the text.
//!
//! Such a command runs from the syntax tree that was judged, so that nothing reads its text a second time and nobody has to agree with
//! anybody about quotes. Everything else (expansions, loops, most builtins, files that only a shell would run) is read by
//! the pinned bash. What programs get is what bash would give them, down to the variables that bash exports by itself.

mod own;
mod read;

pub use own::Sandboxed;
pub(crate) use own::{Carried, Own};

use crate::paths::is_executable;
use crate::reading;
use read::Find;
use shward_sandbox::script::{Action, List, Program};
use shward_sandbox::{Identity, Script};
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Directories that every sandbox has for itself, so that what the host has there is not what runs.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev", "/run"];

/// Variables with which bash would do something else than it does without them, or that it sets itself.
const SHELLS: [&str; 10] = [
    "BASH_COMPAT",
    "CDPATH",
    "EXECIGNORE",
    "GLOBIGNORE",
    "OLDPWD",
    "POSIXLY_CORRECT",
    "POSIX_PEDANTIC",
    "PWD",
    "SHLVL",
    "_",
];

/// A command that runs without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Direct {
    /// What runs.
    pub(crate) script: Script,
    /// The shell itself would end in another directory than it began in.
    pub(crate) moves: bool,
}

impl Direct {
    /// What a command runs that needs no shell.
    pub(crate) fn new(
        text: &str,
        cwd: &Path,
        workspace: &Path,
        environment: &[(Vec<u8>, Vec<u8>)],
        search: &[u8],
    ) -> Option<Self> {
        if environment.iter().any(|(name, _)| SHELLS.iter().any(|own| own.as_bytes() == name)) {
            return None;
        }
        let read = read::read(text.as_bytes(), cwd, &Machine { workspace, search })?;
        Some(Self { script: Script { list: read.list }, moves: read.moves })
    }

    /// The program, if there is only one and it takes the place of the shell.
    pub(crate) fn program(&self) -> Option<&Path> {
        let List::Pipeline { commands, negated: false } = &self.script.list else { return None };
        let [command] = commands.as_slice() else { return None };
        match &command.action {
            Action::Program(program) if command.redirects.is_empty() => Some(&program.path),
            _ => None,
        }
    }
}

/// Programs of this machine.
struct Machine<'m> {
    workspace: &'m Path,
    search: &'m [u8],
}

impl Find for Machine<'_> {
    fn find(&self, name: &[u8], cwd: Option<&Path>, touched: bool) -> Option<Program> {
        let named = Path::new(OsStr::from_bytes(name));
        let (path, file) = if name.contains(&b'/') {
            (named.to_owned(), if named.is_absolute() { named.to_owned() } else { cwd?.join(named) })
        } else {
            let found = self.searched(named, touched)?;
            (found.clone(), found)
        };
        let real = fs::canonicalize(&file).ok()?;
        let ours = real.starts_with(self.workspace) || file.starts_with(self.workspace);
        let private = PRIVATE.iter().any(|private| real.starts_with(private) || file.starts_with(private));
        // What has run may have made another program of it.
        if (private && !real.starts_with(self.workspace)) || (ours && touched) {
            return None;
        }
        let everybody = fs::metadata(&file).ok()?.permissions().mode() & 0o111 == 0o111;
        if !is_executable(&file) || !everybody || !is_loaded_by_the_kernel(&real) {
            return None;
        }
        // In the workspace a name is enough: the run sees its files in another layer.
        let identity = if ours { None } else { Some(Identity::of(&file).ok()?) };
        Some(Program { path, arguments: Vec::new(), variables: Vec::new(), identity })
    }
}

impl Machine<'_> {
    /// The file that bash would find for a name.
    fn searched(&self, name: &Path, touched: bool) -> Option<PathBuf> {
        for directory in self.search.split(|&b| b == b':').map(|d| Path::new(OsStr::from_bytes(d))) {
            let file = directory.join(name);
            if !file.is_absolute() {
                return None;
            }
            if is_executable(&file) {
                return Some(file);
            }
            // Something may be there by then.
            if touched && directory.starts_with(self.workspace) {
                return None;
            }
        }
        None
    }
}

/// Whether execve(2) takes the file; bash runs others itself, as scripts.
fn is_loaded_by_the_kernel(path: &Path) -> bool {
    let mut start = [0; 128];
    let Ok(length) = reading::without_waiting(path).and_then(|mut file| file.read(&mut start)) else {
        return false;
    };
    let start = start.get(..length).unwrap_or_default();
    if start.starts_with(b"\x7fELF") {
        return true;
    }
    // Of a script, the interpreter has to be there, or bash has a word to say.
    let Some(line) = start.strip_prefix(b"#!").and_then(|rest| rest.split(|&b| b == b'\n').next()) else {
        return false;
    };
    let interpreter = line.trim_ascii().split(|b| matches!(b, b' ' | b'\t')).next().unwrap_or_default();
    let interpreter = Path::new(OsStr::from_bytes(interpreter));
    let elsewhere = PRIVATE.iter().any(|private| interpreter.starts_with(private));
    interpreter.is_absolute() && !elsewhere && is_executable(interpreter)
}
