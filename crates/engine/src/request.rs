//! What an agent wants.

use std::path::{Path, PathBuf};

/// Longest accepted command, in bytes: 1 MiB. The kernel gives a single argument 128 KiB; what is longer is data, and
/// belongs into a file.
pub const MAX_COMMAND: usize = 1 << 20;

/// What an agent wants to have done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The command.
    pub action: Action,
    /// The directory it starts in; absolute.
    pub cwd: PathBuf,
    /// The directory that it may change; absolute.
    pub workspace: PathBuf,
    /// The home directory of the user who runs it; absolute.
    pub home: PathBuf,
    /// The agent's session, for the record.
    pub session: Option<String>,
    /// The tool call, for the record.
    pub call_id: Option<String>,
    /// What the agent says it is for; for whoever is asked.
    pub reasoning: Option<String>,
}

/// The two forms of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// One shell command string.
    Command(String),
    /// A program and its arguments; no shell reads them.
    Argv(Vec<String>),
}

/// A request that cannot be judged. The message names the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRequest {
    /// There is no command.
    #[error("the command is empty; give one")]
    Empty,
    /// The command is too long; it has so many bytes, or more where it was not read to its end.
    #[error(
        "the command has more than {MAX_COMMAND} bytes; put the data into a file and the command into a few lines"
    )]
    TooLong(usize),
    /// The command contains a NUL, which no shell and no program can be given.
    #[error("the command has a NUL byte at offset {0}; no shell can be given one")]
    Nul(usize),
    /// The command is not UTF-8.
    #[error("the command is not UTF-8 at byte {0}; write the byte as $'\\xNN'")]
    NotUtf8(usize),
    /// A directory is not absolute.
    #[error("{what} {path:?} is not an absolute path")]
    NotAbsolute {
        /// `the working directory`, `the workspace`, `the home directory`.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// A directory is named with `..`.
    #[error("{what} {path:?} has a `..` in it; name it directly")]
    Upward {
        /// As above.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// A directory does not exist.
    #[error("{what} {path:?} is not a directory; create it or name another")]
    NoDirectory {
        /// As above.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// More settings are links than can be told apart from what the command changes, which are so many.
    #[error(
        "settings in the home directory and the workspace are links to more than {0} places, so what a command \
         changes cannot be told from them; put directories there instead of single links"
    )]
    TooManyLinks(usize),
}

impl Request {
    /// A request for a program and its arguments, without a shell, in a directory that is also its workspace.
    ///
    /// ```
    /// use shward::{Decision, Firewall, Policy, Request, Setting};
    ///
    /// let request = Request::argv(["git", "log", "--grep=; rm -rf ~"], "/workspace", "/home/dev");
    /// let checked = Firewall::new(Policy::default()).check(&request, &Setting::frozen())?;
    /// assert_eq!(checked.decision, Decision::Allow);
    /// # Ok::<(), shward::Error>(())
    /// ```
    pub fn argv<W: Into<String>>(
        argv: impl IntoIterator<Item = W>,
        cwd: impl Into<PathBuf>,
        home: impl Into<PathBuf>,
    ) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        Self { action: Action::Argv(argv), ..Self::command("", cwd, home) }
    }

    /// A request for a shell command in a directory that is also its workspace.
    pub fn command(command: impl Into<String>, cwd: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self {
            action: Action::Command(command.into()),
            workspace: cwd.clone(),
            cwd,
            home: home.into(),
            session: None,
            call_id: None,
            reasoning: None,
        }
    }

    /// Whether it can be judged at all.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn validate(&self) -> Result<(), BadRequest> {
        let words: &[String] = match &self.action {
            Action::Command(text) => std::slice::from_ref(text),
            Action::Argv(argv) => argv,
        };
        let empty = match &self.action {
            Action::Command(text) => text.trim_start().is_empty(),
            Action::Argv(argv) => argv.first().is_none_or(String::is_empty),
        };
        if empty {
            return Err(BadRequest::Empty);
        }
        let length = words.iter().map(|w| w.len() + 1).sum::<usize>() - 1;
        if length > MAX_COMMAND {
            return Err(BadRequest::TooLong(length));
        }
        let mut before = 0;
        for word in words {
            if shward_syntax::has_nul(word.as_bytes())
                && let Some(at) = word.bytes().position(|b| b == 0)
            {
                return Err(BadRequest::Nul(before + at));
            }
            before += word.len() + 1;
        }
        for (what, path) in self.directories() {
            if !path.is_absolute() {
                return Err(BadRequest::NotAbsolute { what, path: path.to_owned() });
            }
            // After a link, `..` leads elsewhere than the text says.
            let bytes = path.as_os_str().as_encoded_bytes();
            if shward_syntax::until(bytes, [b'.']) < bytes.len()
                && bytes.windows(2).any(|pair| pair == b"..")
                && path.components().any(|c| c == std::path::Component::ParentDir)
            {
                return Err(BadRequest::Upward { what, path: path.to_owned() });
            }
        }
        Ok(())
    }

    /// Whether its directories exist on this machine.
    ///
    /// # Errors
    /// The first that does not. The home directory need not exist.
    pub fn validate_directories(&self) -> Result<(), BadRequest> {
        // Most requests start where they may change something.
        let looked_at = if self.cwd == self.workspace { 1 } else { 2 };
        for (what, path) in self.directories().into_iter().take(looked_at) {
            if !path.is_dir() {
                return Err(BadRequest::NoDirectory { what, path: path.to_owned() });
            }
        }
        Ok(())
    }

    /// The same request with every link in its directories resolved, so that what is decided about is what is used.
    pub(crate) fn resolved(&self) -> Result<Self, BadRequest> {
        let real = |what, path: &Path| {
            path.canonicalize().map_err(|_| BadRequest::NoDirectory { what, path: path.to_owned() })
        };
        Ok(Self {
            cwd: real("the working directory", &self.cwd)?,
            workspace: real("the workspace", &self.workspace)?,
            home: self.home.canonicalize().unwrap_or_else(|_| self.home.clone()),
            ..self.clone()
        })
    }

    fn directories(&self) -> [(&'static str, &Path); 3] {
        [
            ("the working directory", &self.cwd),
            ("the workspace", &self.workspace),
            ("the home directory", &self.home),
        ]
    }

    /// The text that the spans of a verdict count through: the command, or the arguments joined by one space.
    #[must_use]
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match &self.action {
            Action::Command(text) => text.into(),
            Action::Argv(argv) => argv.join(" ").into(),
        }
    }
}
