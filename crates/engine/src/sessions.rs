//! Sessions: the directory and the exported variables with which one call ends are those with which the next begins, without a
//! shell that stays.
//!
//! The shell that runs a command of a session tells both when it exits, into a pipe with a name that is bound into its sandbox for that:
//! of whatever a command writes there, the kernel keeps no more than the pipe holds, and none of it on a disk.
//! What it tells is data of the command, so it is believed no more than a command is: the directory counts if it lies in the
//! workspace, and a variable if it could be set for a run at all (none that carries code, none of the proxy, and not the few
//! that shward sets itself). The next command is judged with them and runs with them.

use crate::scratch::Scratch;
use rustix::fs::{CWD, FileType, Mode};
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
use serde::{Deserialize, Serialize};
use shward_audit::Digest;
use shward_policy::carries_code;
use shward_review::StateDir;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long an unused session is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How many sessions are kept; the least recently used goes first.
const MAX_SESSIONS: usize = 256;

/// How many variables a session keeps, and how many bytes of names and values.
pub(crate) const MAX_VARIABLES: usize = 64;
pub(crate) const MAX_BYTES: usize = 32 * 1024;

/// Longest file of a session that is read.
const MAX_FILE: u64 = 256 * 1024;

/// What the pipe is to hold in which a shell tells. The kernel gives a user who has many of them less.
const PIPE: usize = 512 * 1024;

/// What makes a pipe full before it holds as many bytes: each write takes pages of its own, up to half of which may stay empty, and what
/// is told last has to fit, too.
const fn room(pipe: usize) -> usize {
    (pipe / 2).saturating_sub(8192)
}

/// Told instead of a variable: there is more, for which there was no room.
const MORE: &[u8] = b"=";

/// Variables that shward sets or that follow from where a command runs. Programs are looked up in the `PATH` that the policy
/// gives: one that a command set could lead anywhere.
const NOT_KEPT: [&str; 10] =
    ["COLUMNS", "HOME", "LC_ALL", "LINES", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "_"];

/// Names and values.
pub(crate) type Variables = Vec<(String, String)>;

/// What is kept of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// Version of the format.
    pub v: u8,
    /// Its name.
    pub name: String,
    /// The workspace that it belongs to.
    pub workspace: PathBuf,
    /// Where the next command starts.
    pub cwd: PathBuf,
    /// The variables that the next command gets besides those of the policy.
    pub variables: Vec<(String, String)>,
}

/// The sessions of a state directory.
#[derive(Debug, Clone)]
pub struct Sessions(StateDir);

impl Sessions {
    /// Those in a state directory, which need not exist.
    #[must_use]
    pub const fn new(state: StateDir) -> Self {
        Self(state)
    }

    fn directory(&self) -> PathBuf {
        self.0.path().join("sessions")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory().join(Digest::of(name.as_bytes()).to_string())
    }

    /// Every session, the most recently used first.
    #[must_use]
    pub fn list(&self) -> Vec<Session> {
        self.files().into_iter().filter_map(|(_, path)| read(&path)).collect()
    }

    /// The session of this name, unless it is too old.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Session> {
        read(&self.file(name)).filter(|session| session.name == name)
    }

    /// Forgets a session. Whether there was one.
    #[must_use]
    pub fn clear(&self, name: &str) -> bool {
        fs::remove_file(self.file(name)).is_ok()
    }

    /// Files with when they were written, the latest first.
    fn files(&self) -> Vec<(SystemTime, PathBuf)> {
        let entries = fs::read_dir(self.directory()).into_iter().flatten().flatten();
        let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
        let mut files: Vec<_> = entries.filter_map(dated).collect();
        files.sort_by(|a, b| b.cmp(a));
        files
    }

    pub(crate) fn write(&self, session: &Session) -> io::Result<()> {
        self.0.create().map_err(io::Error::other)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.directory())?;
        let path = self.file(&session.name);
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec(session)?)?;
        fs::rename(&new, &path)?;
        let now = SystemTime::now();
        for (at, (written, path)) in self.files().into_iter().enumerate() {
            if at >= MAX_SESSIONS || now.duration_since(written).is_ok_and(|age| age > KEPT) {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Option<Session> {
    let file = File::open(path).ok()?;
    let written = file.metadata().ok()?.modified().ok()?;
    if SystemTime::now().duration_since(written).is_ok_and(|age| age > KEPT) {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Whether a variable of this name can be kept.
pub(crate) fn is_kept(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let plain = name.starts_with(first) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain && !NOT_KEPT.contains(&name) && !carries_code(name)
}

/// The pipe into which the shell of a run tells how it ends. It is removed with the value.
#[derive(Debug)]
pub(crate) struct Telling {
    directory: Scratch,
    /// Opened before the run, so that nothing that happens to its name matters, and on both sides, so that who opens it waits for nobody.
    pipe: File,
    /// How many bytes are told at most.
    room: usize,
}

impl Telling {
    pub(crate) fn new() -> io::Result<Self> {
        // Of letters that mean nothing to a shell.
        let directory = Scratch::new(Path::new("/tmp"), "session")?;
        let path = directory.path().join("told");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
        let pipe = OpenOptions::new().read(true).write(true).custom_flags(nonblock).open(path)?;
        let _ = fcntl_setpipe_size(&pipe, PIPE);
        let room = room(fcntl_getpipe_size(&pipe)?);
        Ok(Self { directory, pipe, room })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("told")
    }

    /// The command with what makes the shell tell how it ends. The trap runs when the shell exits; its status stays that of the
    /// command. A command that sets the trap anew, or replaces the shell, tells nothing.
    pub(crate) fn script(&self, command: &str) -> String {
        let path = self.path().display().to_string();
        // Builtins alone: a program that the command did not name would be one too many for an exec gate. It counts in bytes what it
        // tells, in a parameter that has no name, since it would wait for ever when the pipe is full.
        let tell = format!(
            "builtin printf \"%s\\0\" \"$PWD\"; builtin compgen -e | {{ LC_ALL=C; builtin set -- \"${{#PWD}}\"; \
             while IFS= builtin read -r REPLY; do builtin set -- \"$1\" \"${{!REPLY-}}\"; \
             builtin set -- \"$(($1 + ${{#REPLY}} + ${{#2}} + 2))\" \"$2\"; \
             [[ $1 -le {room} ]] || {{ builtin printf \"=\\0\"; builtin break; }}; \
             builtin printf \"%s=%s\\0\" \"$REPLY\" \"$2\"; done; }}",
            room = self.room
        );
        format!("trap '{{ {tell}; }} >| \"{path}\" 2> /dev/null || :' EXIT\n{command}")
    }

    /// The directory and the variables that were told, and whether these are all.
    pub(crate) fn told(&mut self) -> io::Result<Option<(PathBuf, Variables, bool)>> {
        let mut bytes = Vec::new();
        // No more than the pipe can hold, and all that is in it.
        match (&self.pipe).take(PIPE as u64).read_to_end(&mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        // The last one is cut off, or empty after the last NUL.
        let mut fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        fields.pop();
        let mut fields = fields.into_iter();
        let Some(cwd) = fields.next().filter(|cwd| cwd.starts_with(b"/")) else { return Ok(None) };
        let cwd = PathBuf::from(std::ffi::OsString::from_vec(cwd.to_vec()));
        let pair = |field: &[u8]| {
            let (name, value) = std::str::from_utf8(field).ok()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let all = !fields.clone().any(|field| field == MORE);
        Ok(Some((cwd, fields.filter_map(pair).filter(|(name, _)| !name.is_empty()).collect(), all)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept() {
        for name in ["A", "_x", "VIRTUAL_ENV", "CARGO_HOME"] {
            assert!(is_kept(name), "{name}");
        }
        for name in ["", "1A", "A B", "A%%", "PATH", "HOME", "LD_PRELOAD", "BASH_ENV", "BASH_FUNC_x%%", "PS4"]
        {
            assert!(!is_kept(name), "{name}");
        }
    }

    #[test]
    fn what_a_shell_tells_is_data() {
        // written, directory, variables
        type Row<'a> = (&'a [u8], Option<(&'a str, &'a [(&'a str, &'a str)], bool)>);
        let table: &[Row<'_>] = &[
            (b"", None),
            (b"/a\0", Some(("/a", &[], true))),
            (b"/a\0B=c=d\0E=\0", Some(("/a", &[("B", "c=d"), ("E", "")], true))),
            (b"/a\0B=c\0cut", Some(("/a", &[("B", "c")], true))),
            (b"/a\0B=c\0=\0", Some(("/a", &[("B", "c")], false))),
            (b"/a\0no equals\0\xff=x\0", Some(("/a", &[], true))),
            (b"relative\0", None),
            (b"no end", None),
        ];
        for (written, expected) in table {
            let mut telling = Telling::new().unwrap();
            OpenOptions::new().write(true).open(telling.path()).unwrap().write_all(written).unwrap();
            let told = telling.told().unwrap();
            let got = told.as_ref().map(|(cwd, variables, all)| {
                (
                    cwd.to_str().unwrap(),
                    variables.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<Vec<_>>(),
                    *all,
                )
            });
            assert_eq!(
                got,
                expected.map(|(cwd, variables, all)| (cwd, variables.to_vec(), all)),
                "{written:?}"
            );
        }
    }

    #[test]
    fn names_do_not_lead_out_of_the_directory_and_numbers_are_bounded() {
        let state = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(StateDir::new(state.path().join("state")));
        for name in
            ["../../x", "a/b", "", "\0"].map(str::to_owned).into_iter().chain((0..300).map(|n| n.to_string()))
        {
            let session = Session {
                v: 1,
                name: name.clone(),
                workspace: PathBuf::from("/w"),
                cwd: PathBuf::from("/w"),
                variables: Vec::new(),
            };
            sessions.write(&session).unwrap();
            assert_eq!(sessions.find(&name), Some(session));
        }
        assert_eq!(sessions.list().len(), MAX_SESSIONS);
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1);
        assert!(sessions.clear("299") && !sessions.clear("299"));
        assert_eq!(sessions.find("299"), None);
    }
}
