//! Reads the upper layer: exactly what a command created, changed and deleted, and what of it a policy refuses.
//!
//! overlayfs marks what is gone with a character device 0/0, and a directory that replaces one with the attribute
//! `user.overlay.opaque`; everything else in the layer is new, or a copy that was made to be changed. The layer is read once, and
//! of the directory below only what it names: the work is linear in what was changed.

use super::ajar::join;
use super::changes::{
    Change, ChangeKind, Changes, CommitPolicy, MAX_MEANING, Opened, Refused, Sight, digest, within,
};
use super::error::OverlayError;
use super::journal::{Entry, Unit};
use super::moves;
use super::parts::{SAVED, UPPER};
use super::step::Step;
use super::tree::{Kind, Meta, Tree, is_opaque};
use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How many files a command may have changed. More are not looked at, and then nothing is committed.
const MAX_ENTRIES: usize = 1_000_000;

/// How deep a directory is looked into, and how long a path is. What lies deeper cannot be judged, so it is refused.
pub(super) const MAX_DEPTH: usize = 200;
const MAX_PATH: usize = 3000;

/// What an owner needs to work in a directory.
pub(super) const OWNER_ENTERS: u32 = 0o700;

/// The permission bit by which an owner may write.
const OWNER_WRITES: u32 = 0o200;

/// Those without which nothing can be moved into a directory or out of it.
const OWNER_MOVES: u32 = 0o300;

/// Reads the layer of a run.
pub(crate) fn read(
    store: &Tree,
    workspace: &Tree,
    policy: &dyn CommitPolicy,
) -> Result<Changes, OverlayError> {
    let sight = Sight { store, lower: workspace };
    let mut reader = Reader {
        store,
        workspace,
        policy,
        sight,
        changes: Changes::default(),
        left: MAX_ENTRIES,
        closing: Vec::new(),
    };
    let read = reader.merged();
    // As the command left them, whoever looks next.
    for Opened { path, mode, .. } in reader.changes.opened.iter().rev() {
        let inside = Reader::upper(path);
        store.set_mode(&inside, *mode).map_err(|e| OverlayError::io(&store.path().join(inside), e))?;
    }
    read?;
    reader.changes.untouched = reader.left == MAX_ENTRIES;
    moves::keep_sources(&mut reader.changes, store, workspace);
    // Who closes a directory first does not reach what is in it.
    reader.closing.reverse();
    reader.changes.units.append(&mut reader.closing);
    reader.meanings();
    reader.changes.accepted.sort_by(|a, b| a.path.cmp(&b.path));
    reader.changes.refused.sort_by(|a, b| a.change.path.cmp(&b.change.path));
    Ok(reader.changes)
}

struct Reader<'r> {
    store: &'r Tree,
    workspace: &'r Tree,
    policy: &'r dyn CommitPolicy,
    sight: Sight<'r>,
    changes: Changes,
    left: usize,
    /// The last steps.
    closing: Vec<Unit>,
}

/// How a new tree comes into the workspace.
struct Arrival<'a> {
    /// Its path.
    top: &'a Path,
    /// Everything is refused, for this reason.
    refused: Option<Cow<'static, str>>,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn upper(path: &Path) -> PathBuf {
        inside(path)
    }

    fn names(&mut self, tree: &Tree, path: &Path) -> Result<Vec<OsString>, OverlayError> {
        let (names, more) =
            tree.names(path, self.left).map_err(|e| OverlayError::io(&tree.path().join(path), e))?;
        if more {
            return Err(OverlayError::unsuited(
                self.workspace.path(),
                format!("the command changed more than {MAX_ENTRIES} files, which is more than is looked at"),
            ));
        }
        self.left = self.left.saturating_sub(names.len());
        Ok(names)
    }

    /// Opens a directory of the layer that its owner, who is who looks at it, may not look into.
    fn open(&mut self, path: &Path, found: Meta, moves: bool) -> Result<(), OverlayError> {
        if found.kind == Kind::Directory && found.mode & OWNER_ENTERS != OWNER_ENTERS {
            let inside = Self::upper(path);
            let opened = self.store.set_mode(&inside, found.mode | OWNER_ENTERS);
            opened.map_err(|error| OverlayError::io(&self.store.path().join(inside), error))?;
            self.changes.opened.push(Opened { path: path.to_owned(), mode: found.mode, moves });
        }
        Ok(())
    }

    /// What the files mean that will be brought, as far as together they are no longer than one may be.
    fn meanings(&mut self) {
        let left = Cell::new(MAX_MEANING);
        for Unit { step, entries } in &self.changes.units {
            for entry in entries.iter().filter(|entry| entry.meta.kind == Kind::File) {
                let path = join(step.path(), &entry.path);
                let content = || within(&left, |limit| self.sight.after(&path, limit));
                if let Some(meaning) = self.policy.meaning(&path, &content) {
                    self.changes.meanings.insert(path, digest(&meaning));
                }
            }
        }
    }

    fn look(tree: &Tree, path: &Path) -> Result<Option<Meta>, OverlayError> {
        tree.look(path).map_err(|error| OverlayError::io(&tree.path().join(path), error))
    }

    /// Directories that exist in both, from the root down.
    fn merged(&mut self) -> Result<(), OverlayError> {
        let mut waiting = vec![PathBuf::new()];
        while let Some(directory) = waiting.pop() {
            for name in self.names(self.store, &Self::upper(&directory))? {
                let path = directory.join(name);
                let inside = Self::upper(&path);
                let Some(after) = Self::look(self.store, &inside)? else { continue };
                let before = match Self::look(self.workspace, &path) {
                    Err(error) if error.is_denied() => {
                        let what = if after.whiteout { ChangeKind::Deleted } else { ChangeKind::Changed };
                        let change = change(&path, what, None, after);
                        let reason = "lies in a directory that was closed even for its owner";
                        self.changes.refused.push(Refused { change, reason: reason.into() });
                        continue;
                    }
                    before => before?,
                };
                if after.whiteout {
                    if let Some(before) = before {
                        self.deleted(path, before)?;
                    }
                    continue;
                }
                // Even whether it replaces the one below is not known of a closed one.
                self.open(&path, after, false)?;
                let was_directory = before.is_some_and(|b| b.kind == Kind::Directory);
                let merged = after.kind == Kind::Directory
                    && was_directory
                    && !is_opaque(&self.store.path().join(&inside));
                match before {
                    Some(before) if merged => {
                        if before.mode != after.mode {
                            self.mode(path.clone(), before, after);
                        }
                        waiting.push(path);
                    }
                    before => self.arrived(&path, before, after)?,
                }
            }
        }
        Ok(())
    }

    fn mode(&mut self, path: PathBuf, before: Meta, after: Meta) {
        let change = change(&path, ChangeKind::Changed, Some(before), after);
        if let Some(change) = self.judged(change, None) {
            self.changes.accepted.push(change);
            let step = Step::Mode { path, before: before.mode, after: after.mode };
            let unit = Unit { step, entries: Vec::new() };
            // A directory is opened before something comes into it, and closed after.
            let closes = after.mode & OWNER_MOVES != OWNER_MOVES;
            if closes { &mut self.closing } else { &mut self.changes.units }.push(unit);
        }
    }

    /// Gives an accepted change back, and lists a refused one.
    fn judged(&mut self, change: Change, refused: Option<&Cow<'static, str>>) -> Option<Change> {
        let refusal = match refused {
            Some(reason) => Some(reason.clone()),
            None => self.policy.refuses(&change, &self.sight),
        };
        match refusal {
            Some(reason) => {
                self.changes.refused.push(Refused { change, reason });
                None
            }
            None => Some(change),
        }
    }

    fn deleted(&mut self, path: PathBuf, before: Meta) -> Result<(), OverlayError> {
        let gone = Change {
            whole: before.kind == Kind::Directory,
            ..change(&path, ChangeKind::Deleted, Some(before), before)
        };
        let Some(gone) = self.judged(gone, None) else { return Ok(()) };
        self.changes.accepted.push(gone);
        self.changes.kept_bytes = self.changes.kept_bytes.saturating_add(before.room);
        if before.kind == Kind::Directory {
            self.gone_with(&path)?;
        }
        if before.kind == Kind::Directory && before.mode & OWNER_WRITES == 0 {
            // rename(2) has to change the `..` in it.
            let step =
                Step::Mode { path: path.clone(), before: before.mode, after: before.mode | OWNER_WRITES };
            self.changes.units.push(Unit { step, entries: Vec::new() });
        }
        let inside = Path::new(SAVED).join(format!("{}", self.changes.units.len()));
        self.changes.units.push(Unit { step: Step::Out { inside, path }, entries: Vec::new() });
        Ok(())
    }

    /// Lists what was below a directory that is gone, unless the layer has it anew.
    fn gone_with(&mut self, top: &Path) -> Result<(), OverlayError> {
        let mut waiting = vec![(top.to_owned(), 0)];
        while let Some((directory, depth)) = waiting.pop() {
            // What cannot be read cannot be listed; it goes all the same.
            let Ok((names, _)) = self.workspace.names(&directory, self.left) else { continue };
            self.left = self.left.saturating_sub(names.len());
            for name in names {
                let path = directory.join(name);
                let Ok(Some(before)) = Self::look(self.workspace, &path) else { continue };
                self.changes.kept_bytes = self.changes.kept_bytes.saturating_add(before.room);
                let replaced =
                    self.store.look(&Self::upper(&path)).ok().flatten().is_some_and(|after| !after.whiteout);
                if !replaced {
                    self.changes.accepted.push(change(&path, ChangeKind::Deleted, Some(before), before));
                }
                if before.kind == Kind::Directory && depth < MAX_DEPTH && fits(&path) {
                    waiting.push((path, depth + 1));
                }
            }
        }
        Ok(())
    }

    /// Something that is not merged with what was there: a file, or a whole directory.
    fn arrived(&mut self, path: &Path, before: Option<Meta>, after: Meta) -> Result<(), OverlayError> {
        let directories = after.kind == Kind::Directory || before.is_some_and(|b| b.kind == Kind::Directory);
        let what = if before.is_some() { ChangeKind::Changed } else { ChangeKind::Created };
        let top = Change { whole: before.is_some() && directories, ..change(path, what, before, after) };
        if let Some(opened) = self.changes.opened.last_mut().filter(|opened| opened.path == path) {
            // One that nobody may write in is opened for the move, and closed by a step of its own.
            opened.moves = after.mode & OWNER_WRITES != 0;
        }
        let refusal = self.policy.refuses(&top, &self.sight);
        let mut arrival = Arrival { top: path, refused: refusal, entries: Vec::new() };
        self.take(top, &mut arrival, after);
        if after.kind == Kind::Directory {
            self.tree(&mut arrival, before.is_some_and(|before| before.kind == Kind::Directory))?;
        }
        if arrival.refused.is_some() {
            return Ok(());
        }
        let entries = arrival.entries;
        if after.kind == Kind::Directory && after.mode & OWNER_WRITES == 0 {
            // rename(2) has to change the `..` in it, so it is opened in the layer first.
            self.changes.closed.push(path.to_owned());
            let step = Step::Mode { path: path.to_owned(), before: 0o700, after: after.mode };
            self.closing.push(Unit { step, entries: Vec::new() });
        }
        let (inside, path) = (Self::upper(path), path.to_owned());
        let step = match before {
            None => Step::In { inside, path },
            Some(before) => {
                self.changes.kept_bytes = self.changes.kept_bytes.saturating_add(before.room);
                if before.kind == Kind::Directory {
                    self.gone_with(&path)?;
                }
                Step::Exchange { inside, path, inode: after.inode }
            }
        };
        self.changes.units.push(Unit { step, entries });
        Ok(())
    }

    /// Lists one file of an arrival.
    fn take(&mut self, change: Change, arrival: &mut Arrival<'_>, meta: Meta) {
        let path = change.path.clone();
        if let Some(reason) = &arrival.refused {
            self.changes.refused.push(Refused { change, reason: reason.clone() });
            return;
        }
        // The root of an overlay, and what was copied up, carry attributes; what is new mostly does not.
        if self.store.has_attributes(&Self::upper(&path)) {
            self.changes.marked.push(path.clone());
        }
        self.changes.accepted.push(change);
        let path = path.strip_prefix(arrival.top).map(Path::to_owned).unwrap_or(path);
        arrival.entries.push(Entry { path, meta });
    }

    /// Everything below the top of an arrival; whether there was a directory in its place.
    fn tree(&mut self, arrival: &mut Arrival<'_>, there: bool) -> Result<(), OverlayError> {
        // With each directory, why it will not be in the workspace, and whether there was one before.
        let mut waiting: Vec<(PathBuf, usize, Option<Cow<'static, str>>, bool)> =
            vec![(arrival.top.to_owned(), 0, arrival.refused.clone(), there)];
        while let Some((directory, depth, above, there)) = waiting.pop() {
            for name in self.names(self.store, &Self::upper(&directory))? {
                let path = directory.join(name);
                let Some(after) = Self::look(self.store, &Self::upper(&path))? else { continue };
                if after.whiteout {
                    self.changes.stale.push(path);
                    continue;
                }
                self.open(&path, after, true)?;
                // Where there was no directory there was nothing in it.
                let before = match there.then(|| Self::look(self.workspace, &path)) {
                    Some(Err(error)) if error.is_denied() => None,
                    before => before.transpose()?.flatten(),
                };
                let what = if before.is_some() { ChangeKind::Changed } else { ChangeKind::Created };
                let listed = change(&path, what, before, after);
                let mut reason = above.clone();
                if reason.is_none() {
                    reason = self.policy.refuses(&listed, &self.sight);
                    if depth >= MAX_DEPTH || !fits(&path) {
                        reason = Some("is nested too deep to be looked at".into());
                    }
                    if reason.is_some() {
                        self.changes.aside.push(path.clone());
                    }
                }
                match &reason {
                    Some(reason) => {
                        self.changes.refused.push(Refused { change: listed, reason: reason.clone() });
                    }
                    None => self.take(listed, arrival, after),
                }
                if after.kind == Kind::Directory && depth < MAX_DEPTH && fits(&path) {
                    let there = before.is_some_and(|before| before.kind == Kind::Directory);
                    waiting.push((path, depth + 1, reason, there));
                }
            }
        }
        Ok(())
    }
}

/// Where something of the workspace lies in the directory of a run.
pub(super) fn inside(path: &Path) -> PathBuf {
    Path::new(UPPER).join(path)
}

pub(super) fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= MAX_PATH
}

fn change(path: &Path, what: ChangeKind, before: Option<Meta>, after: Meta) -> Change {
    Change {
        path: path.to_owned(),
        what,
        kind: after.kind,
        kind_before: before.map(|b| b.kind),
        size: if after.kind == Kind::Directory { 0 } else { after.size },
        size_before: before.filter(|b| b.kind != Kind::Directory).map(|b| b.size),
        mode: after.mode,
        mode_before: before.map(|b| b.mode),
        found: before.filter(|b| b.kind != Kind::Directory).map(|b| (b.inode, b.changed)),
        whole: false,
    }
}
