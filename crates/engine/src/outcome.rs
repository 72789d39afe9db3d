//! What became of a request that shward was to run.

mod changes;
mod connections;
mod gate;
mod undone;

pub(crate) use changes::MAX_NAMED;
pub use changes::{ChangeReport, ChangesReport, RefusedReport};
pub use connections::ConnectionReport;
pub(crate) use gate::Seen;
pub use gate::{GateReport, ProgramReport, StoppedReport};
pub use undone::{SkippedReport, UndoReport};

use crate::report::Checked;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use shward_sandbox::{Captured, Exit, Used};
use std::path::PathBuf;
use std::time::Duration;

/// What happened.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// What was decided, after whoever answered. Only `allow` is run.
    #[serde(flatten)]
    pub verdict: Checked,
    /// Whether the command was started.
    pub executed: bool,
    /// How it ended; `None` when it was not started.
    #[serde(flatten)]
    pub ending: Option<Ending>,
    /// The tool call, as the request named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// How a command ended.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Ending {
    /// The exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal's number, if one ended it.
    pub signal: Option<i32>,
    /// The time was over and everything was killed.
    pub timed_out: bool,
    /// It was cancelled and everything was killed.
    pub cancelled: bool,
    /// The number of the signal that this process got from when the command had started until this was recorded, where runs are
    /// [interruptible](crate::RunOptions::interruptible). It may have come when the command had ended.
    #[serde(skip)]
    pub interrupted: Option<i32>,
    /// It wrote more than the policy lets it, and everything was killed.
    #[serde(skip_serializing_if = "is_false")]
    pub output_exceeded: bool,
    /// What was used up of the disk: `run` (`[limits] run-disk`) or `reserve` (`[limits] disk-reserve`). Everything was killed, and nothing
    /// that it changed on its overlay is committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_exceeded: Option<DiskExceeded>,
    /// The memory of the run was used up (`[limits] run-memory`), and the kernel killed something in it.
    #[serde(skip_serializing_if = "is_false")]
    pub out_of_memory: bool,
    /// When the command ended something that it had started was still going, and was killed with the run.
    #[serde(skip_serializing_if = "is_false")]
    pub left_running: bool,
    /// Some of the output is left out.
    pub truncated: bool,
    /// The time that it was given.
    #[serde(skip)]
    pub timeout: Duration,
    /// Wall-clock time in milliseconds, building the sandbox included.
    pub duration_ms: u64,
    /// Files that it created in places that instruct agents, editors or git. They now have the ending
    /// `.refused-by-shward`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved_aside: Vec<PathBuf>,
    /// The programs that started inside, when the run was gated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
    /// What it did to the workspace, when it ran on an overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangesReport>,
    /// Why it wrote straight to the workspace instead. Then nothing can be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<String>,
    /// Not all that it wrote straight to the workspace could be looked at, or moved aside; `live` says so, too.
    #[serde(skip)]
    pub unseen: bool,
    /// The connections that it asked for, at most 256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ConnectionReport>,
    /// How many it asked for beyond those.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_connections: u64,
    /// The hosts that it was seen to connect to where no host is reached, because nothing permits any, or the containment has no
    /// network; `…` for one that is not known. The first 20, and of a success those that are certain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<String>,
    /// What may mend it, where a run was no success and said something that is often said because of a sandbox.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<&'static str>,
    /// Why the session could not be remembered as it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_lost: Option<String>,
    /// What it wrote to standard output. In JSON as text; if it is not UTF-8, with what is not replaced, and beside it
    /// `stdout_base64`, the same bytes as they are (RFC 4648).
    #[serde(flatten, serialize_with = "stdout")]
    pub stdout: Captured,
    /// What it wrote to standard error, likewise.
    #[serde(flatten, serialize_with = "stderr")]
    pub stderr: Captured,
}

/// What of the disk a run used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DiskExceeded {
    /// Its changes took more room than a run may.
    Run,
    /// Less was free than a run has to leave.
    Reserve,
}

impl DiskExceeded {
    /// What is told of it.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Run => "it wrote more than the policy lets a run write ([limits] run-disk)",
            Self::Reserve => {
                "the disk was nearly full, of which a run has to leave some ([limits] disk-reserve); make room"
            }
        }
    }
}

impl From<Used> for DiskExceeded {
    fn from(used: Used) -> Self {
        match used {
            Used::Most => Self::Run,
            _ => Self::Reserve,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn stdout<S: Serializer>(captured: &Captured, serializer: S) -> Result<S::Ok, S::Error> {
    stream(captured, ["stdout", "stdout_base64"], serializer)
}

fn stderr<S: Serializer>(captured: &Captured, serializer: S) -> Result<S::Ok, S::Error> {
    stream(captured, ["stderr", "stderr_base64"], serializer)
}

/// One or two fields.
fn stream<S: Serializer>(
    captured: &Captured,
    [name, exact]: [&'static str; 2],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let bytes = captured.to_bytes();
    let mut map = serializer.serialize_map(None)?;
    match str::from_utf8(&bytes) {
        Ok(text) => map.serialize_entry(name, text)?,
        Err(_) => {
            map.serialize_entry(name, &String::from_utf8_lossy(&bytes))?;
            map.serialize_entry(exact, &base64(&bytes))?;
        }
    }
    map.end()
}

/// With the usual alphabet and padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| LETTERS.get((bits & 63) as usize).copied().map_or('=', char::from);
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().zip([16, 8, 0]).fold(0, |bits, (byte, shift)| bits | u32::from(*byte) << shift);
        for (number, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            out.push(if number <= three.len() { letter(bits >> shift) } else { '=' });
        }
    }
    out
}

impl Ending {
    /// An end of which only this is known.
    pub(crate) fn new(exit: Exit, timeout: Duration, [stdout, stderr]: [Captured; 2]) -> Self {
        let (exit_code, signal) = match exit {
            Exit::Exited(code) => (Some(code), None),
            Exit::Signaled(signal) => (None, Some(signal)),
        };
        Self {
            exit_code,
            signal,
            timed_out: false,
            cancelled: false,
            interrupted: None,
            output_exceeded: false,
            disk_exceeded: None,
            out_of_memory: false,
            left_running: false,
            truncated: stdout.truncated || stderr.truncated,
            timeout,
            duration_ms: 0,
            moved_aside: Vec::new(),
            gate: None,
            changes: None,
            live: None,
            unseen: false,
            connections: Vec::new(),
            more_connections: 0,
            unreached: Vec::new(),
            hints: Vec::new(),
            session_lost: None,
            stdout,
            stderr,
        }
    }
}

impl Outcome {
    /// The outcome of a request that was not run.
    pub(crate) fn refused(verdict: Checked, call_id: Option<String>) -> Self {
        Self { verdict, executed: false, ending: None, call_id }
    }

    /// The outcome of a request that was run.
    pub(crate) fn ended(verdict: Checked, ending: Ending, call_id: Option<String>) -> Self {
        Self { verdict, executed: true, ending: Some(ending), call_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_the_standard_says() {
        // RFC 4648, section 10
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
