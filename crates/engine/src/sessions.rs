//! Sessions: the directory and the exported variables with which one call ends are those with which the next begins, without a
//! shell that stays.
//!
//! The shell that runs a command of a session tells both when it exits, into a pipe with a name that is bound into its sandbox for that,
//! and read meanwhile: of whatever a command writes there, no more is kept than has room, and none of it on a disk.
//! What it tells is data of the command, so it is believed no more than a command is: the directory counts if it lies in the
//! workspace, and a variable if it could be set for a run at all (none that carries code, none of the proxy, and not the few
//! that shward sets itself). The next command is judged with them and runs with them.

use crate::scratch::Scratch;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::{Deserialize, Serialize};
use shward_audit::Digest;
use shward_policy::carries_code;
use shward_review::StateDir;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
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

/// How much of what a shell tells is kept, in bytes.
const MOST_TOLD: usize = 512 * 1024;

/// How long what is told waits to be thrown away when it is more than that, so that who writes without end costs nothing.
const PAUSE: Duration = Duration::from_millis(1);

/// Told last: that was all. No variable is called so.
const END: &[u8] = b"=";

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

/// Whether the variables that were told are all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum All {
    Yes,
    /// There was no end.
    Cut,
    /// More was told than is kept.
    TooMuch,
}

/// How a shell ended, as it told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing: it was killed or replaced, or its trap was.
    Nothing,
    /// What no shell tells so.
    Other,
    Ended {
        cwd: PathBuf,
        variables: Variables,
        all: All,
    },
}

/// The pipe into which the shell of a run tells how it ends. It is removed with the value.
#[derive(Debug)]
pub(crate) struct Telling {
    directory: Scratch,
    /// Opened before the run, so that nothing that happens to its name matters, and on both sides, so that who opens it waits for nobody.
    pipe: File,
    reader: Option<Reader>,
}

/// Reads while the command runs: whatever it writes, and however little the pipe holds, its shell gets rid of what it tells.
#[derive(Debug)]
struct Reader {
    /// Ended when this side is closed.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

impl Reader {
    fn start(pipe: File) -> io::Result<Self> {
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        shward_sandbox::complete_start();
        let thread =
            std::thread::Builder::new().name("told".to_owned()).spawn(move || read_all(&pipe, &stopped))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// What was told until now.
    fn stop(&mut self) -> io::Result<Vec<u8>> {
        self.stop = None;
        let Some(thread) = self.thread.take() else { return Ok(Vec::new()) };
        thread.join().unwrap_or_else(|_| Err(io::Error::other("what the shell told was not read")))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// Reads a pipe until the other one is closed, and then what is still in it. Of more than is kept the rest is thrown away.
fn read_all(mut pipe: &File, stopped: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut ending = false;
    // What somebody still writes who has outlived the command is read no further than it is kept.
    let mut last = MOST_TOLD;
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return Ok(kept),
            Ok(read) => {
                let room = MOST_TOLD + 1 - kept.len();
                kept.extend(buffer.iter().take(read.min(room)));
                if ending {
                    last = last.saturating_sub(read);
                }
                if last == 0 {
                    return Ok(kept);
                }
                if kept.len() <= MOST_TOLD || ending {
                    continue;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && ending => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let full = kept.len() > MOST_TOLD;
        let mut both = [PollFd::new(stopped, PollFlags::IN), PollFd::new(&pipe, PollFlags::IN)];
        let pause = Timespec { tv_sec: 0, tv_nsec: PAUSE.subsec_nanos().into() };
        let [stop, _] = &mut both;
        let polled =
            if full { poll(std::slice::from_mut(stop), Some(&pause)) } else { poll(&mut both, None) };
        match polled {
            Err(rustix::io::Errno::INTR) | Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let [stop, _] = &both;
        ending = !stop.revents().is_empty();
    }
}

impl Telling {
    pub(crate) fn new() -> io::Result<Self> {
        // Of letters that mean nothing to a shell.
        let directory = Scratch::new(Path::new("/tmp"), "session")?;
        let path = directory.path().join("told");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
        let pipe = OpenOptions::new().read(true).write(true).custom_flags(nonblock).open(path)?;
        Ok(Self { directory, pipe, reader: None })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("told")
    }

    /// Reads from now on what is told.
    pub(crate) fn listen(&mut self) -> io::Result<()> {
        self.reader = Some(Reader::start(self.pipe.try_clone()?)?);
        Ok(())
    }

    /// The command with what makes the shell tell how it ends. The trap runs when the shell exits; its status stays that of the
    /// command. A command that sets the trap anew, or replaces the shell, tells nothing.
    pub(crate) fn script(&self, command: &str) -> String {
        let path = self.path().display().to_string();
        // Builtins alone: a program that the command did not name would be one too many for an exec gate. Nothing is assigned but what
        // `read` does, since a command can make any parameter readonly; and of what that ends the end is not told.
        let tell = "builtin printf \"%s\\0\" \"$PWD\"; { builtin compgen -e; builtin printf \"=\\n\"; } | \
             while builtin read -r; do if [[ $REPLY == = ]]; then builtin printf \"=\\0\"; \
             else builtin printf \"%s=%s\\0\" \"$REPLY\" \"${!REPLY-}\"; fi; done";
        format!("trap '{{ {tell}; }} >| \"{path}\" 2> /dev/null || :' EXIT\n{command}")
    }

    /// What was told until now.
    pub(crate) fn told(&mut self) -> io::Result<Told> {
        let bytes = self.reader.take().map_or_else(|| Ok(Vec::new()), |mut reader| reader.stop())?;
        if bytes.is_empty() {
            return Ok(Told::Nothing);
        }
        // The last one is cut off, or empty after the last NUL.
        let mut fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        let whole = fields.pop().is_some_and(<[u8]>::is_empty);
        let all = match fields.last() {
            _ if bytes.len() > MOST_TOLD => All::TooMuch,
            Some(last) if whole && *last == END => All::Yes,
            _ => All::Cut,
        };
        let mut fields = fields.into_iter();
        let Some(cwd) = fields.next().filter(|cwd| cwd.starts_with(b"/")) else { return Ok(Told::Other) };
        let cwd = PathBuf::from(std::ffi::OsString::from_vec(cwd.to_vec()));
        let pair = |field: &[u8]| {
            let (name, value) = std::str::from_utf8(field).ok()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        let variables = fields.filter_map(pair).filter(|(name, _)| !name.is_empty()).collect();
        Ok(Told::Ended { cwd, variables, all })
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
        // written, directory, variables, whether these are all
        type Row<'a> = (&'a [u8], Option<(&'a str, &'a [(&'a str, &'a str)], bool)>);
        let table: &[Row<'_>] = &[
            (b"", None),
            (b"/a\0=\0", Some(("/a", &[], true))),
            (b"/a\0B=c=d\0E=\0=\0", Some(("/a", &[("B", "c=d"), ("E", "")], true))),
            (b"/a\0", Some(("/a", &[], false))),
            (b"/a\0B=c\0", Some(("/a", &[("B", "c")], false))),
            (b"/a\0B=c\0cut", Some(("/a", &[("B", "c")], false))),
            (b"/a\0B=c\0=\0more", Some(("/a", &[("B", "c")], false))),
            (b"/a\0=\0B=c\0", Some(("/a", &[("B", "c")], false))),
            (b"/a\0no equals\0\xff=x\0=\0", Some(("/a", &[], true))),
            (b"relative\0=\0", None),
            (b"no end", None),
        ];
        for (written, expected) in table {
            let mut telling = Telling::new().unwrap();
            telling.listen().unwrap();
            OpenOptions::new().write(true).open(telling.path()).unwrap().write_all(written).unwrap();
            let expected = match expected {
                None if written.is_empty() => Told::Nothing,
                None => Told::Other,
                Some((cwd, variables, all)) => {
                    let variables = variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
                    Told::Ended {
                        cwd: cwd.into(),
                        variables: variables.collect(),
                        all: if *all { All::Yes } else { All::Cut },
                    }
                }
            };
            assert_eq!(telling.told().unwrap(), expected, "{written:?}");
        }
    }

    /// Whoever writes, and however much, waits for nothing; and a pipe of one page is as good as any.
    #[test]
    fn who_tells_waits_for_nothing() {
        let mut telling = Telling::new().unwrap();
        rustix::pipe::fcntl_setpipe_size(&telling.pipe, 4096).unwrap();
        telling.listen().unwrap();
        let long = [b"/a\0B=".as_slice(), &[b'x'; 200_000], b"\0=\0"].concat();
        let write = |telling: &Telling, bytes: &[u8]| {
            OpenOptions::new().write(true).open(telling.path()).unwrap().write_all(bytes).unwrap();
        };
        write(&telling, &long);
        let Told::Ended { variables, all: All::Yes, .. } = telling.told().unwrap() else { panic!() };
        assert_eq!(variables.first().unwrap().1.len(), 200_000);
        telling.listen().unwrap();
        write(&telling, &[b"/a\0B=1\0C=".as_slice(), &vec![b'x'; 2 * MOST_TOLD], b"\0=\0"].concat());
        let Told::Ended { variables, all: All::TooMuch, .. } = telling.told().unwrap() else { panic!() };
        assert_eq!(variables, [("B".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn what_is_written_without_an_end_is_read_no_further() {
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        drop(stop);
        let (sender, read) = std::sync::mpsc::channel();
        let endless = File::open("/dev/zero").unwrap();
        std::thread::spawn(move || sender.send(read_all(&endless, &stopped).unwrap().len()));
        assert_eq!(read.recv_timeout(Duration::from_secs(30)), Ok(MOST_TOLD + 1));
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
