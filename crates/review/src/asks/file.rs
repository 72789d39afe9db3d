//! The file of the questions: one line with a digest, then JSON. It is replaced as a whole, under a lock of its own, so
//! that it is always the old one or the new one.

use super::{Answered, Entered, NewAsk, QUESTION_LIFE};
use crate::store::{Locked, StateDir, StoreError};
use rustix::fs::{CWD, Mode, OFlags};
use serde::{Deserialize, Serialize};
use shward_audit::Digest;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The lock, which is never replaced.
const LOCK: &str = "asks.lock";
const FILE: &str = "asks";
const NEW: &str = "asks.new";

/// Larger than anything that is written.
const MAX_FILE: u64 = 2 << 20;

/// Which boot this is (random(4)): times are counted from it.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody has answered.
    Pending,
    /// A person said yes; it can be used once.
    Allowed,
    /// A person said no.
    Denied,
}

/// A question as it is kept and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// What a person calls it by: the first digits of the digest.
    pub id: String,
    /// Of everything that the answer is about, 64 hex digits.
    pub digest: String,
    /// What became of it.
    pub state: State,
    /// The command.
    pub command: String,
    /// Where it starts.
    pub cwd: String,
    /// What it may change.
    pub workspace: String,
    /// shward will run it; else somebody else.
    pub contained: bool,
    /// The tier, 1 to 4.
    pub tier: u8,
    /// Why it is asked.
    pub findings: Vec<String>,
    /// What the agent says it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it was asked, seconds since 1970; for people only.
    pub asked_at: u64,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// For how many more seconds it is kept.
    #[serde(default)]
    pub seconds_left: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    pub(super) ask: Ask,
    /// It is gone at this time, nanoseconds since boot.
    pub(super) until: u64,
}

impl Stored {
    pub(super) fn new(new: &NewAsk, digest: &str, now: u64) -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let ask = Ask {
            id: digest.get(..10).unwrap_or(digest).to_owned(),
            digest: digest.to_owned(),
            state: State::Pending,
            command: new.command.clone(),
            cwd: new.cwd.clone(),
            workspace: new.workspace.clone(),
            contained: new.contained,
            tier: new.tier,
            findings: new.findings.clone(),
            reasoning: new.reasoning.clone(),
            session: new.session.clone(),
            asked_at: seconds,
            by: None,
            seconds_left: 0,
        };
        Self { ask, until: now.saturating_add(nanos(QUESTION_LIFE)) }
    }

    pub(super) fn told(mut self, now: u64) -> Ask {
        self.ask.seconds_left = self.until.saturating_sub(now) / 1_000_000_000;
        self.ask
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    v: u8,
    boot: String,
    asks: Vec<Stored>,
}

/// The file's content, locked until this is dropped.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) asks: Vec<Stored>,
    boot: String,
    directory: PathBuf,
    _lock: Locked,
}

impl Book {
    /// Locks and reads. What was written before the machine was started anew is gone.
    pub(super) fn open(directory: &StateDir) -> Result<Self, StoreError> {
        let lock = directory.lock(LOCK)?;
        let boot = fs::read_to_string(BOOT)
            .map_err(|source| StoreError::Io { path: BOOT.into(), source })?
            .trim()
            .to_owned();
        // Held while it is read, and checked as every file of ours is; it is made here when it is not there.
        let mut file = directory.lock(FILE)?;
        let asks = if file.length == 0 { Vec::new() } else { read(&mut file, &boot)? };
        Ok(Self { asks, boot, directory: directory.path().to_owned(), _lock: lock })
    }

    /// Drops what no longer holds.
    pub(super) fn forget(&mut self, now: u64) {
        self.asks.retain(|stored| stored.until > now);
    }

    /// Where the question with this digest is, and what became of it.
    pub(super) fn find(&self, digest: &str) -> Option<(usize, Entered)> {
        let (at, stored) = (0..).zip(&self.asks).find(|(_, stored)| stored.ask.digest == digest)?;
        let (id, by) = (stored.ask.id.clone(), stored.ask.by.clone().unwrap_or_default());
        let entered = match stored.ask.state {
            State::Pending => Entered::Pending(id),
            state => Entered::Answered(Answered { id, yes: state == State::Allowed, by }),
        };
        Some((at, entered))
    }

    /// Replaces the file.
    pub(super) fn save(self) -> Result<(), StoreError> {
        let path = self.directory.join(NEW);
        let failed = |source: io::Error| StoreError::Io { path: path.clone(), source };
        let content = Content { v: 1, boot: self.boot, asks: self.asks };
        let json = serde_json::to_vec(&content).map_err(|e| failed(e.into()))?;
        // What an interrupted writer left. Made anew, so that nobody holds it open.
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let new = rustix::fs::openat(CWD, &path, flags, Mode::from_raw_mode(0o600));
        let mut new = File::from(new.map_err(|e| failed(e.into()))?);
        let mut bytes = format!("{}\n", Digest::of(&json)).into_bytes();
        bytes.extend_from_slice(&json);
        // Not forced to the disk: after a loss of power the machine is started anew, and no answer holds.
        new.write_all(&bytes).map_err(failed)?;
        fs::rename(&path, self.directory.join(FILE)).map_err(failed)
    }
}

fn read(file: &mut Locked, boot: &str) -> Result<Vec<Stored>, StoreError> {
    if file.length > MAX_FILE {
        return Err(file.damaged());
    }
    let mut bytes = Vec::new();
    let read = (&file.file).take(MAX_FILE).read_to_end(&mut bytes);
    read.map_err(|e| file.io(e))?;
    let content = parse(&bytes).ok_or_else(|| file.damaged())?;
    Ok(if content.boot == boot { content.asks } else { Vec::new() })
}

fn parse(bytes: &[u8]) -> Option<Content> {
    let (digest, json) = bytes.split_at_checked(65)?;
    let digest = str::from_utf8(digest).ok()?.strip_suffix('\n')?;
    if Digest::of(json).to_string() != digest {
        return None;
    }
    serde_json::from_slice(json).ok().filter(|content: &Content| content.v == 1)
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
