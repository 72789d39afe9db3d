//! What an answer is about: the digest that it is bound to.
//!
//! Not only the text of the command. A person who said yes to `./deploy.sh` said it about that script, in that directory,
//! with links that led where they led, under that policy. All of it is in the digest, and an answer to anything else is no
//! answer.

use crate::reading;
use crate::report::{Checked, PlanReport};
use crate::special::is_store;
use crate::{Action, Request};
use shward_analysis::{EffectKind, Plan, Rest, Scope, Target};
use shward_audit::{Digest, StreamHasher};
use shward_policy::Policy;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files whose content is part of the answer. Beyond, and beyond the bytes, it is size, time of change and identity.
const MAX_FILES: usize = 64;

/// Entries of directories that are looked at for one answer.
const MAX_ENTRIES: usize = 4096;

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
    pub(super) plan: &'a Plan<'a>,
    pub(super) checked: &'a Checked,
    /// Our own log, which grows by each question.
    pub(super) log: Option<&'a Path>,
}

impl Bound<'_> {
    /// Command or arguments, directories, session, environment, policy, plan, findings, and the content of every file that
    /// the plan is known to execute or read, or that a program may find by itself where it starts.
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
        fields.push(&serde_json::to_vec(&PlanReport::new(self.plan)).unwrap_or_default());
        fields.push(&serde_json::to_vec(&(self.checked.tier, &self.checked.findings)).unwrap_or_default());
        let files = Files::of(self.plan, workspace);
        let found = files.look_into_directories();
        let found = found.iter().filter(|path| !files.named.contains(*path));
        let mut budget = MAX_BYTES;
        let ours = |path: &&PathBuf| self.log != Some(path.as_path());
        for (at, path) in (0..).zip(files.named.iter().chain(found).filter(ours)) {
            fields.push(path.as_os_str().as_bytes());
            fields.push(&content(path, at < MAX_FILES, &mut budget));
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

/// The files that an answer is about.
#[derive(Default)]
struct Files {
    named: BTreeSet<PathBuf>,
    /// Directories of which the files count, and whether all that is below does. Where an agent may write, that is: elsewhere a
    /// person's own work would make each answer void.
    directories: BTreeSet<(PathBuf, bool)>,
}

impl Files {
    /// What the plan is known to execute or read. A program that does what the files of a project say, and one that nothing is
    /// known of, finds them by itself: there the files count that lie directly in the directory in which it starts.
    fn of(plan: &Plan<'_>, workspace: &Path) -> Self {
        let mut files = Self::default();
        let mut finds_by_itself = false;
        for effect in plan.effects {
            match effect.kind {
                EffectKind::Read { target } | EffectKind::Execute { target, .. } => files.add(&target),
                EffectKind::Code { text: None, .. }
                | EffectKind::Package { .. }
                | EffectKind::Remote { .. }
                | EffectKind::Unknown { .. } => finds_by_itself = true,
                _ => {}
            }
        }
        if finds_by_itself {
            let real = fs::canonicalize(workspace).unwrap_or_default();
            let is_inside = |at: &PathBuf| at.starts_with(workspace) || at.starts_with(&real);
            let starts = plan.invocations.iter().filter_map(|invocation| invocation.cwd).map(path);
            files.directories.extend(starts.filter(is_inside).map(|at| (at, false)));
        }
        files
    }

    fn add(&mut self, target: &Target<'_>) {
        if !target.path.starts_with(b"/") {
            return;
        }
        let path = path(target.path);
        let is_agents = matches!(target.scope, Scope::Workspace | Scope::Temp);
        match target.rest {
            Rest::Exact if is_agents && path.is_dir() => drop(self.directories.insert((path, true))),
            Rest::Exact if !target.tree => drop(self.named.insert(path)),
            // A pattern may begin in the middle of a name.
            Rest::Glob | Rest::Below if is_agents => {
                let above = path.parent().filter(|_| !path.is_dir()).map(Path::to_owned);
                self.directories.extend(above.into_iter().chain([path]).map(|at| (at, false)));
            }
            _ => {}
        }
    }

    /// The files in the directories: of one that is read, all that lie below it.
    fn look_into_directories(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut waiting: VecDeque<(PathBuf, bool)> = self.directories.iter().cloned().collect();
        let mut left = MAX_ENTRIES;
        while let Some((directory, whole)) = waiting.pop_front() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten().take(left) {
                left -= 1;
                // What a link leads to counts as a file does: by its content, or by which one it is.
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && (!whole || is_store(&entry.file_name())) => {}
                    Ok(kind) if kind.is_dir() => waiting.push_back((entry.path(), true)),
                    _ => drop(found.insert(entry.path())),
                }
            }
            if left == 0 {
                break;
            }
        }
        found
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// What stands for a file's content.
fn content(path: &Path, read: bool, budget: &mut u64) -> Vec<u8> {
    let Ok(meta) = fs::metadata(path) else { return b"missing".to_vec() };
    // A pipe or a device gives something else each time, and may block.
    if read && meta.len() <= *budget {
        *budget -= meta.len();
        if let Some(digest) = hash(path, meta.len()) {
            return digest.as_bytes().to_vec();
        }
    }
    // Not when it was modified last, which anybody may set (touch(1)): the time of the last change is the kernel's own.
    let identity =
        [meta.dev(), meta.ino(), meta.len(), meta.ctime().cast_unsigned(), meta.ctime_nsec().cast_unsigned()];
    identity.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn hash(path: &Path, length: u64) -> Option<Digest> {
    let mut file = reading::open(path).ok()?.take(length + 1);
    let mut hasher = StreamHasher::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(hasher.finish().sha256),
            count => hasher.update(piece.get(..count)?),
        }
    }
}
