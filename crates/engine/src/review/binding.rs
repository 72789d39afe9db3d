//! What an answer is about: the digest that it is bound to.
//!
//! Not only the text of the command. A person who said yes to `./deploy.sh` said it about that script, in that directory,
//! with links that led where they led, under that policy. All of it is in the digest, and an answer to anything else is no
//! answer.

use crate::report::{Checked, EffectReport, PlanReport};
use crate::{Action, Request};
use shward_audit::{Digest, StreamHasher};
use shward_policy::Policy;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Files whose content is part of the answer. Beyond, and beyond the bytes, it is size, time of change and identity.
const MAX_FILES: usize = 64;

/// Bytes of content that are read for one answer: 16 MiB.
const MAX_BYTES: u64 = 16 << 20;

/// Variables that follow the size of a window and mean nothing to a decision.
const IGNORED: [&[u8]; 2] = [b"COLUMNS", b"LINES"];

/// What a request was judged by.
pub(super) struct Bound<'a> {
    pub(super) request: &'a Request,
    pub(super) policy: &'a Policy,
    pub(super) contained: bool,
    /// The environment that the command will get, as far as it is known.
    pub(super) environment: &'a [(Vec<u8>, Vec<u8>)],
    pub(super) plan: &'a PlanReport,
    pub(super) checked: &'a Checked,
}

impl Bound<'_> {
    /// Command or arguments, directories, session, environment, policy, plan, findings, and the content of every file that
    /// the plan is known to execute or read.
    pub(super) fn digest(&self) -> Digest {
        let mut fields = Fields::default();
        fields.push(b"shward answer 1");
        match &self.request.action {
            Action::Command(text) => fields.list(b"command", [text.as_bytes()]),
            Action::Argv(argv) => fields.list(b"argv", argv.iter().map(String::as_bytes)),
        }
        let Request { cwd, workspace, home, .. } = self.request;
        fields.list(b"places", [cwd, workspace, home].map(|p| p.as_os_str().as_bytes()));
        fields.list(b"session", self.request.session.iter().map(String::as_bytes));
        fields.push(if self.contained { b"contained" } else { b"others" });
        let kept = self.environment.iter().filter(|(name, _)| !IGNORED.contains(&name.as_slice()));
        fields.list(b"environment", kept.flat_map(|(name, value)| [name.as_slice(), value]));
        fields.push(&self.policy.canonical());
        // Always the same text for the same value: the types have no maps.
        fields.push(&serde_json::to_vec(self.plan).unwrap_or_default());
        fields.push(&serde_json::to_vec(&(self.checked.tier, &self.checked.findings)).unwrap_or_default());
        let mut budget = MAX_BYTES;
        for (at, path) in (0..).zip(files(self.plan)) {
            fields.push(path.as_bytes());
            fields.push(&content(Path::new(path), at < MAX_FILES, &mut budget));
        }
        Digest::of(&fields.bytes)
    }
}

/// Fields with their lengths, so that no two lists of fields are the same bytes.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
}

impl Fields {
    fn push(&mut self, field: &[u8]) {
        self.bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(field);
    }

    fn list<'b>(&mut self, name: &[u8], fields: impl IntoIterator<Item = &'b [u8]>) {
        let mut list = Self::default();
        fields.into_iter().for_each(|field| list.push(field));
        self.push(name);
        self.push(&list.bytes);
    }
}

/// The files that the plan is known to execute or read.
fn files(plan: &PlanReport) -> BTreeSet<&str> {
    let is_one =
        |e: &&EffectReport| matches!(e.kind, "execute" | "read" | "code") && e.rest.is_none() && !e.tree;
    plan.effects.iter().filter(is_one).filter_map(|e| e.path.as_deref()).collect()
}

/// What stands for a file's content.
fn content(path: &Path, read: bool, budget: &mut u64) -> Vec<u8> {
    let Ok(meta) = fs::metadata(path) else { return b"missing".to_vec() };
    // A pipe or a device gives something else each time, and may block.
    if read && meta.is_file() && meta.len() <= *budget {
        *budget -= meta.len();
        if let Some(digest) = hash(path, meta.len()) {
            return digest.as_bytes().to_vec();
        }
    }
    let identity =
        [meta.dev(), meta.ino(), meta.len(), meta.mtime().cast_unsigned(), meta.mtime_nsec().cast_unsigned()];
    identity.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn hash(path: &Path, length: u64) -> Option<Digest> {
    let mut file = File::open(path).ok()?.take(length + 1);
    let mut hasher = StreamHasher::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(hasher.finish().sha256),
            count => hasher.update(piece.get(..count)?),
        }
    }
}
