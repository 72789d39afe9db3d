//! A gatekeeper that is an external program: the case as JSON on its standard input, the opinion as JSON on its standard
//! output.
//!
//! It has a process group of its own, which is killed when the time is over and when it has answered, so nothing that it
//! started stays. Its environment holds `PATH`, `HOME`, `LANG` and what is named; its standard error goes nowhere.

use super::{Case, Gatekeeper, GatekeeperError, Opinion, await_answer, wire};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Longest answer, in bytes.
const MAX_ANSWER: u64 = 64 << 10;

/// Variables that the program gets besides those that are named.
const PASSED: [&str; 3] = ["PATH", "HOME", "LANG"];

/// An external program.
#[derive(Debug, Clone)]
pub struct Program {
    name: String,
    file: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<String>,
    deadline: Duration,
}

impl Program {
    /// The program at this absolute path. It has ten seconds.
    ///
    /// # Errors
    /// The path is not absolute: what a relative one means depends on where the agent is.
    pub fn new(file: impl Into<PathBuf>) -> Result<Self, GatekeeperError> {
        let file = file.into();
        if !file.is_absolute() {
            let message = format!("the gatekeeper {file:?} is not an absolute path");
            return Err(GatekeeperError::Unreachable(message));
        }
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        let deadline = Duration::from_secs(10);
        Ok(Self { name, file, arguments: Vec::new(), variables: Vec::new(), deadline })
    }

    /// With these arguments.
    #[must_use]
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// With these variables of our environment, if they are set: a key, a server's address.
    #[must_use]
    pub fn variables(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.variables = names.into_iter().map(Into::into).collect();
        self
    }

    /// With another deadline.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    fn start(&self) -> Result<Child, GatekeeperError> {
        let variables = PASSED.into_iter().chain(self.variables.iter().map(String::as_str));
        Command::new(&self.file)
            .args(&self.arguments)
            .env_clear()
            .envs(variables.filter_map(|name| Some((name, std::env::var_os(name)?))))
            .current_dir(Path::new("/"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|e| GatekeeperError::Unreachable(format!("{:?}: {e}", self.file)))
    }
}

impl Gatekeeper for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate(&self, case: &Case<'_>) -> Result<Opinion, GatekeeperError> {
        let question = format!("{}\n", wire::case(case));
        let start = Instant::now();
        let mut child = self.start()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (sender, answers) = mpsc::channel();
        // Each ends when the group is killed, which closes the other ends of the pipes.
        thread::spawn(move || {
            // A program that has seen enough need not read it all.
            let _ = stdin.map(|mut pipe| pipe.write_all(question.as_bytes()));
        });
        thread::spawn(move || {
            let mut answer = Vec::new();
            let read = stdout.map(|pipe| pipe.take(MAX_ANSWER + 1).read_to_end(&mut answer));
            let _ = sender.send(match read {
                Some(Ok(_)) => Ok(answer),
                Some(Err(e)) => Err(e.to_string()),
                None => Err("no pipe".to_owned()),
            });
        });
        let answer = await_answer(&answers, start, self.deadline, case.wanted);
        let status = answer.is_ok().then(|| exited(&mut child, start + self.deadline)).flatten();
        kill(&mut child);
        let answer =
            answer?.map_err(|e| GatekeeperError::Malformed(format!("its answer cannot be read: {e}")))?;
        if answer.len() as u64 > MAX_ANSWER {
            return Err(GatekeeperError::Malformed(format!("its answer is longer than {MAX_ANSWER} bytes")));
        }
        match status {
            Some(status) if status.success() => wire::opinion(&answer),
            Some(status) => Err(GatekeeperError::Malformed(format!("it ended with {status}"))),
            None => Err(GatekeeperError::Late(self.deadline)),
        }
    }
}

/// How it ended, if it does before the deadline.
fn exited(child: &mut Child, deadline: Instant) -> Option<std::process::ExitStatus> {
    let mut pause = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(pause),
            Ok(None) | Err(_) => return None,
        }
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Kills the whole group. The group's number is not given to another while a process of it lives; when none does there is
/// nothing to kill, and the number of a leader that was waited for just now is not used again at once (pid_max).
fn kill(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
