//! Standard output and standard error: answers go to the one, talk to the other, and a closed pipe is no error.

use crate::exit::Exit;
use crate::shown::Shown;
use std::io::{self, IsTerminal as _, Write as _};

/// A verb that could not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fail {
    /// The exit code.
    pub(crate) exit: Exit,
    /// What is wrong and how to mend it.
    pub(crate) message: String,
}

impl Fail {
    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into() }
    }

    /// The input is wrong.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self { exit: Exit::BadInput, message: message.into() }
    }

    /// A file could not be read or written.
    pub(crate) fn io(message: impl Into<String>) -> Self {
        Self { exit: Exit::Io, message: message.into() }
    }

    /// Tells the user, on standard error or as a JSON object on standard output. An object that cannot be written there
    /// is told on standard error instead.
    pub(crate) fn tell(&self, json: bool) {
        let object = || line(&serde_json::json!({ "v": 1, "error": self.message }).to_string());
        if !json || object().is_err() {
            error(&format!("shward: {}", self.message));
        }
    }
}

/// Writes a line to standard output.
///
/// # Errors
/// The answer is lost, for another reason than that its reader has gone away.
pub(crate) fn line(text: &str) -> Result<(), Fail> {
    let mut out = io::stdout().lock();
    let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end)).and_then(|()| out.flush());
    delivered(written).map(|_| ())
}

/// Whether what was written to standard output still has a reader. Whoever reads the answers may stop reading (`EPIPE`,
/// write(2)); that is no error of ours.
///
/// # Errors
/// It could not be written for another reason, such as a full disk.
pub(crate) fn delivered(written: io::Result<()>) -> Result<bool, Fail> {
    match written {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Fail::io(format!("standard output: {e}"))),
    }
}

/// Writes a line to standard error. It may name a file, and whoever named that may have meant to steer the terminal.
pub(crate) fn error(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(Shown::new(text).text().as_bytes());
    if !text.ends_with('\n') {
        let _ = err.write_all(b"\n");
    }
}

/// Whether standard output wants colour: a terminal, and the user has not said otherwise (<https://no-color.org>).
pub(crate) fn wants_color() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
