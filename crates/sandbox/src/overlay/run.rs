//! One command's layer, from its beginning until it is committed, kept or removed.

use super::changes::{Change, ChangeKind, Changes, CommitPolicy, Content, Sight};
use super::error::OverlayError;
use super::given_back::give_back;
use super::layer::Layer;
use super::movable::{Movable, Room};
use super::parts::{UPPER, WORK};
use super::remove::remove;
use super::seal::Key;
use super::tree::{Kind, Tree};
use super::{spent, upper};
use std::borrow::Cow;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A layer of its own for one command. Dropping it without a commit removes everything that the command did.
#[derive(Debug)]
pub struct Run {
    pub(super) layer: Layer,
    pub(super) workspace: PathBuf,
    pub(super) id: String,
    pub(super) key: Key,
    pub(super) identity: (u64, u64),
    /// `None` once the directory has another name or is gone.
    pub(super) lock: Option<File>,
    /// What lies in the layer without having been changed.
    pub(super) movable: Movable,
}

impl Run {
    /// What to mount.
    #[must_use]
    pub fn layer(&self) -> &Layer {
        &self.layer
    }

    /// Copies directories of the workspace into the layer, so that the command can rename them, which overlayfs lets nobody do with
    /// what lies below a layer. Before the layer is mounted. Of no effect are paths that are no directories, what holds anything but
    /// files, directories and links of this user, and what there is no room for. Returns those that can be renamed; none of them has
    /// changed if it is not.
    ///
    /// # Errors
    /// The layer cannot be read or written, and must not be used.
    pub fn make_movable(
        &mut self,
        directories: &[PathBuf],
        room: Room,
    ) -> Result<Vec<PathBuf>, OverlayError> {
        let (store, workspace) = (self.tree()?, self.workspace()?);
        let made = Movable::make(&store, &workspace, directories, room);
        self.movable = made.map_err(|error| OverlayError::io(store.path(), error))?;
        Ok(self.movable.tops.iter().map(|top| self.workspace.join(top)).collect())
    }

    /// Whether there is anything in the layer. It costs next to nothing to ask.
    #[must_use]
    pub fn is_touched(&self) -> bool {
        fs::read_dir(self.layer.upper()).map_or(true, |mut entries| entries.next().is_some())
    }

    /// What the command did, and what of it the policy refuses. The command, and everything it started, has to be gone.
    ///
    /// # Errors
    /// The layer cannot be read, or holds more than is looked at.
    pub fn changes(&self, policy: &dyn CommitPolicy) -> Result<Changes, OverlayError> {
        let store = self.tree()?;
        give_back(&store, &self.movable).map_err(|error| OverlayError::io(store.path(), error))?;
        let workspace = self.workspace()?;
        let changed = self.movable.changed_meanwhile(&workspace);
        upper::read(&store, &workspace, &Unseen { policy, changed })
    }

    /// The content of a file before and after, for showing the difference; `None` where there is none or it is longer than
    /// `limit` bytes.
    #[must_use]
    pub fn contents(&self, change: &Change, limit: u64) -> [Option<Vec<u8>>; 2] {
        let content = |tree: Result<Tree, OverlayError>, path: &Path| {
            tree.ok().and_then(|tree| tree.content(path, limit).ok().flatten())
        };
        let before = content(self.workspace(), &change.path);
        let after = match change.what {
            ChangeKind::Deleted => None,
            _ => content(self.tree(), &Path::new(UPPER).join(&change.path)),
        };
        [before, after]
    }

    /// Where a symbolic link leads before and after; `None` where there is none.
    #[must_use]
    pub fn targets(&self, change: &Change) -> [Option<PathBuf>; 2] {
        let target = |tree: Result<Tree, OverlayError>, path: &Path| tree.ok()?.target(path).ok();
        let link = Some(Kind::Link);
        let before = (change.kind_before == link).then(|| target(self.workspace(), &change.path)).flatten();
        let inside = Path::new(UPPER).join(&change.path);
        let after = change.what != ChangeKind::Deleted && change.kind == Kind::Link;
        [before, after.then(|| target(self.tree(), &inside)).flatten()]
    }

    /// Takes apart what runs before this one have left: see [`Store::sweep`](super::Store::sweep).
    pub fn sweep(&self) {
        spent::sweep(&self.layer.store);
    }

    /// Ends the run without a commit. Where the command has changed nothing at all, as `changes` say, the empty layer is only put aside,
    /// and whoever waits for a later run takes it apart ([`sweep`](Self::sweep)); else everything is removed now.
    pub fn leave(mut self, changes: &Changes) {
        let aside = self.layer.store.join(format!("{}{}", spent::SPENT, self.id));
        if changes.untouched && fs::rename(&self.layer.directory, &aside).is_ok() {
            self.lock = None;
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// Takes the directory out of use; gives what is to be removed.
    pub(super) fn retire(mut self) -> Option<PathBuf> {
        let dead = take_away(&self.layer.store, &self.id, &self.layer.directory)?;
        self.lock = None;
        Some(dead)
    }

    /// Leaves the directory as it is, for the next recovery.
    pub(super) fn abandon(mut self) {
        self.lock = None;
    }

    pub(crate) fn tree(&self) -> Result<Tree, OverlayError> {
        let path = &self.layer.directory;
        Tree::open(path).map_err(|error| OverlayError::io(path, error))
    }

    pub(crate) fn workspace(&self) -> Result<Tree, OverlayError> {
        let tree = Tree::open(&self.workspace);
        let opened = tree.and_then(|tree| tree.identity().map(|identity| (tree, identity)));
        match opened.map_err(|error| OverlayError::io(&self.workspace, error))? {
            (tree, identity) if identity == self.identity => Ok(tree),
            _ => Err(OverlayError::unsuited(
                &self.workspace,
                "another directory was put in its place meanwhile",
            )),
        }
    }

    /// Ends the run without a commit, where there was to be one. What the command did is kept, for as long as what can be undone,
    /// and the error says where.
    #[must_use]
    pub fn rescued(mut self, error: OverlayError) -> OverlayError {
        let path = self.layer.store.join(format!("lost-{}", self.id));
        if fs::rename(&self.layer.directory, &path).is_err() {
            return error;
        }
        self.lock = None;
        OverlayError::Rescued { path: path.join(UPPER), source: Box::new(error) }
    }

    /// From now on it can be undone. Returns its name.
    pub(crate) fn keep(self, bytes: u64) -> Result<String, OverlayError> {
        let id = self.id.clone();
        self.keep_in(bytes).map(|_| id)
    }

    /// The same; returns where it lies.
    pub(super) fn keep_in(mut self, bytes: u64) -> Result<PathBuf, OverlayError> {
        // What is committed is not removed, whatever fails here: the next recovery goes on.
        let _lock = self.lock.take();
        let path = self.layer.store.join(format!("kept-{}-{bytes}", self.id));
        fs::rename(&self.layer.directory, &path).map_err(|error| OverlayError::io(&path, error))?;
        // overlayfs' own directory is of no use any more.
        let _ = remove(&path.join(WORK));
        Ok(path)
    }
}

/// A policy, and the directories that the command may have renamed and in which somebody else has changed something that it did not see:
/// what it has renamed was a copy.
struct Unseen<'p> {
    policy: &'p dyn CommitPolicy,
    changed: Vec<&'p Path>,
}

impl CommitPolicy for Unseen<'_> {
    fn refuses(&self, change: &Change, sight: &Sight<'_>) -> Option<Cow<'static, str>> {
        let goes = change.what == ChangeKind::Deleted || change.whole;
        if goes && self.changed.iter().any(|top| top.starts_with(&change.path)) {
            return Some("holds what somebody else has changed meanwhile".into());
        }
        self.policy.refuses(change, sight)
    }

    fn meaning(&self, path: &Path, content: Content<'_>) -> Option<Vec<u8>> {
        self.policy.meaning(path, content)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.lock.is_some() {
            bury(&self.layer.store, &self.id, &self.layer.directory);
        }
    }
}

/// Takes a directory out of use in one step, then removes it. What is left is removed by the next recovery.
pub(super) fn bury(root: &Path, id: &str, path: &Path) {
    if let Some(dead) = take_away(root, id, path) {
        let _ = remove(&dead);
    }
}

/// The first step of that alone; gives what is to be removed.
fn take_away(root: &Path, id: &str, path: &Path) -> Option<PathBuf> {
    let dead = root.join(format!("dead-{id}"));
    fs::rename(path, &dead).ok().map(|()| dead)
}
