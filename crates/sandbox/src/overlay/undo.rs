//! Takes a committed run back, as far as nobody has touched since what it brought.

use super::ajar::{Ajar, join};
use super::changes::{MAX_MEANING, Meaning, digest, within};
use super::commit::{carry_out, now};
use super::error::OverlayError;
use super::journal::{Entry, Journal, Unit};
use super::parts::{TRIED, UNDO};
use super::run::Run;
use super::step::Step;
use super::tree::{Kind, Meta, Tree};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// Something that an undo leaves as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Why, as a clause that follows the path.
    pub reason: Cow<'static, str>,
}

/// What became of an undo.
#[derive(Debug)]
#[non_exhaustive]
pub struct Undone {
    /// The run.
    pub id: String,
    /// What was run.
    pub title: String,
    /// What is again as it was before: removed, restored, or with its old permissions. A directory stands for everything in it.
    pub restored: Vec<PathBuf>,
    /// What is not.
    pub skipped: Vec<Skipped>,
}

/// Takes a kept run back. What was changed since stays, and is told. What was there before stays kept as long as it is not back.
///
/// Gives also what is to be removed, if nothing is kept any more: that may take a while, and nobody has to wait for it.
///
/// # Errors
/// The store cannot be read or written; then nothing was changed.
pub(super) fn take_back(
    run: Run,
    journal: &Journal,
    meaning: Meaning,
) -> Result<(Undone, Option<PathBuf>), OverlayError> {
    let planned = (|| {
        let (store, workspace) = (run.tree()?, run.workspace()?);
        let (units, skipped) = planned(journal, &store, &workspace, meaning)?;
        let undo = Journal { units, time: now(), ..journal.clone() };
        undo.write(store.path(), UNDO, run.key())?;
        Ok((store, workspace, undo, skipped))
    })();
    let (store, workspace, undo, mut skipped) = match planned {
        Ok(planned) => planned,
        Err(error) => {
            // Nothing was done, so everything is kept as it was.
            run.keep(journal.bytes)?;
            return Err(error);
        }
    };
    let failed = carry_out(&undo.units, &store, &workspace);
    let not_done: HashSet<&Path> = failed.iter().map(|failed| failed.path.as_path()).collect();
    let restored = undo.units.iter().map(|unit| unit.step.path());
    let restored = restored.filter(|path| !not_done.contains(path)).map(Path::to_owned).collect();
    skipped.extend(failed.into_iter().map(|failed| Skipped {
        path: failed.path,
        reason: format!("could not be restored: {}", failed.error).into(),
    }));
    let id = run.id().to_owned();
    let dead = settle(run, journal, &undo, &store, &workspace)?;
    Ok((Undone { id, title: undo.title, restored, skipped }, dead))
}

/// What takes a run back, and what has to stay. What has to be opened for that is closed again.
fn planned(
    journal: &Journal,
    store: &Tree,
    workspace: &Tree,
    meaning: Meaning,
) -> Result<(Vec<Unit>, Vec<Skipped>), OverlayError> {
    let mut plan = Plan {
        store,
        workspace: Ajar::open(workspace, &journal.units),
        units: Vec::new(),
        skipped: Vec::new(),
        coming: BTreeMap::new(),
        meanings: &journal.meanings,
        left: Cell::new(MAX_MEANING),
        meaning,
    };
    for unit in journal.units.iter().rev() {
        plan.reverse(unit)?;
    }
    Ok((plan.units, plan.skipped))
}

/// After an undo: what could not be put back is not thrown away either. If nothing is left, gives what is to be removed.
pub(crate) fn settle(
    run: Run,
    journal: &Journal,
    undone: &Journal,
    store: &Tree,
    workspace: &Tree,
) -> Result<Option<PathBuf>, OverlayError> {
    let exchanged = undone.units.iter().filter(|unit| matches!(unit.step, Step::Exchange { .. }));
    let back: HashSet<&Path> = exchanged
        .filter(|unit| unit.step.is_done_in(store).unwrap_or(false))
        .map(|unit| unit.step.path())
        .collect();
    let left = |unit: &Unit| match &unit.step {
        Step::Mode { .. } => false,
        // What the store has instead may be another file than the run brought, which meant the same.
        Step::Exchange { path, .. } if back.contains(path.as_path()) => false,
        step => step.is_done(store, workspace).unwrap_or(true),
    };
    if !journal.units.iter().any(left) {
        return Ok(run.retire());
    }
    // Its record goes after: what is left here without one would be kept as if nothing had been done.
    let kept = run.keep_in(journal.bytes)?;
    let _ = std::fs::write(kept.join(TRIED), "");
    let _ = std::fs::remove_file(kept.join(UNDO));
    Ok(None)
}

struct Plan<'p> {
    store: &'p Tree,
    workspace: Ajar<'p>,
    units: Vec<Unit>,
    skipped: Vec<Skipped>,
    /// What will be in the workspace, and where in the store it is.
    coming: BTreeMap<PathBuf, PathBuf>,
    /// What some of the files meant that the run brought.
    meanings: &'p BTreeMap<PathBuf, [u8; 32]>,
    /// How many bytes are still read for that.
    left: Cell<u64>,
    meaning: Meaning,
}

impl Plan<'_> {
    fn skip(&mut self, path: &Path, reason: impl Into<Cow<'static, str>>) {
        self.skipped.push(Skipped { path: path.to_owned(), reason: reason.into() });
    }

    fn push(&mut self, step: Step) {
        if let Step::In { inside, path } | Step::Exchange { inside, path, .. } = &step {
            self.coming.insert(path.clone(), inside.clone());
        }
        self.units.push(Unit { step, entries: Vec::new() });
    }

    /// Adds what takes a unit back, if it was carried out and nobody has touched what it brought. What cannot be looked at stays.
    fn reverse(&mut self, unit: &Unit) -> Result<(), OverlayError> {
        match self.reversed(unit) {
            Err(Unseen::Workspace(error)) => {
                self.skip(unit.step.path(), format!("cannot be looked at: {error}"));
                Ok(())
            }
            Err(Unseen::Store(error)) => Err(OverlayError::io(self.store.path(), error)),
            Ok(()) => Ok(()),
        }
    }

    fn reversed(&mut self, unit: &Unit) -> Result<(), Unseen> {
        if let Step::Mode { path, before, after } = &unit.step {
            // Of what this undo brings back, as it is now.
            let found = match self.coming.get(path) {
                Some(inside) => self.store.look(inside).map_err(Unseen::Store)?,
                None => self.workspace.look(path).map_err(Unseen::Workspace)?,
            };
            if found.is_some_and(|found| found.mode == *after) {
                self.push(Step::Mode { path: path.clone(), before: *after, after: *before });
            } else {
                self.skip(path, "has other permissions since, or is gone");
            }
            return Ok(());
        }
        if !unit.step.is_done_in(self.store).map_err(Unseen::Store)? {
            return Ok(());
        }
        match &unit.step {
            Step::Mode { .. } => {}
            Step::In { inside, path } => match self.state(unit)? {
                State::Same => self.push(Step::Out { inside: inside.clone(), path: path.clone() }),
                State::Gone => self.skip(path, "is gone already"),
                State::Touched(same) => self.take_out(unit, inside, path, same),
            },
            Step::Exchange { inside, path, .. } => match self.state(unit)? {
                State::Same => {
                    let old = self.store.look(inside).ok().flatten();
                    if let Some(old) = old {
                        let (inside, path) = (inside.clone(), path.clone());
                        self.push(Step::Exchange { inside, path, inode: old.inode });
                    }
                }
                State::Gone => self.skip(path, "was deleted since; what it was before is kept in the store"),
                State::Touched(_) => self.skip(path, "was changed since"),
            },
            Step::Out { inside, path } => {
                if self.workspace.look(path).map_err(Unseen::Workspace)?.is_none() {
                    self.push(Step::In { inside: inside.clone(), path: path.clone() });
                } else {
                    self.skip(path, "exists again");
                }
            }
        }
        Ok(())
    }

    /// Of a directory that holds something else by now, takes out the files that are as they were brought, which are in order. What
    /// stays is told.
    fn take_out(&mut self, unit: &Unit, inside: &Path, path: &Path, same: Vec<PathBuf>) {
        for entry in &unit.entries {
            let place = join(path, &entry.path);
            if entry.meta.kind == Kind::Directory {
                continue;
            }
            if same.binary_search(&entry.path).is_ok() {
                let back = join(inside, &entry.path);
                match back.parent().map_or(Ok(()), |above| self.store.make_directories(above, 0o700)) {
                    Ok(()) => self.push(Step::Out { inside: back, path: place }),
                    Err(error) => self.skip(&place, format!("has no place in the store: {error}")),
                }
            } else {
                self.skip(&place, "was changed or deleted since");
            }
        }
        let directory = unit
            .entries
            .iter()
            .any(|top| top.path.as_os_str().is_empty() && top.meta.kind == Kind::Directory);
        if directory {
            let itself = same.first().is_some_and(|first| first.as_os_str().is_empty());
            let why = if itself { "holds files that are not the run's" } else { "was changed since" };
            self.skip(path, why);
        }
    }

    /// Whether a file was only written anew by a program that nobody asked to: it means what it meant.
    fn means_the_same(&self, path: &Path, brought: &Meta, found: &Meta) -> bool {
        let is_file = |meta: &Meta| meta.kind == Kind::File;
        let now = |known: &[u8; 32]| {
            let content = || within(&self.left, |limit| self.workspace.content(path, limit));
            let meaning = (self.meaning)(path, &content);
            meaning.is_some_and(|meaning| digest(&meaning) == *known)
        };
        is_file(brought)
            && is_file(found)
            && brought.mode == found.mode
            && self.meanings.get(path).is_some_and(now)
    }

    /// Compares what a unit brought with what is there now.
    fn state(&self, unit: &Unit) -> Result<State, Unseen> {
        let path = unit.step.path();
        let look = |path: &Path| self.workspace.look(path).map_err(Unseen::Workspace);
        let Some(top) = look(path)? else { return Ok(State::Gone) };
        let expected: BTreeMap<&Path, &Meta> =
            unit.entries.iter().map(|Entry { path, meta }| (path.as_path(), meta)).collect();
        let mut same = Vec::new();
        let mut touched = false;
        let mut waiting = vec![(PathBuf::new(), top)];
        while let Some((relative, found)) = waiting.pop() {
            match expected.get(relative.as_path()) {
                Some(meta)
                    if is_same(meta, &found) || self.means_the_same(&join(path, &relative), meta, &found) =>
                {
                    same.push(relative.clone());
                }
                _ => {
                    touched = true;
                    continue;
                }
            }
            if found.kind != Kind::Directory {
                continue;
            }
            let directory = join(path, &relative);
            // One more than was brought is enough to know.
            let names = self.workspace.names(&directory, unit.entries.len() + 1);
            let Ok(names) = names else {
                touched = true;
                continue;
            };
            for name in names {
                let below = relative.join(name);
                match look(&join(path, &below))? {
                    Some(found) => waiting.push((below, found)),
                    None => touched = true,
                }
            }
        }
        let all = same.len() == expected.len() && !touched;
        same.sort_unstable();
        Ok(if all { State::Same } else { State::Touched(same) })
    }
}

/// What could not be looked at, and why.
enum Unseen {
    Workspace(io::Error),
    Store(io::Error),
}

enum State {
    Same,
    Gone,
    /// Something differs; these do not.
    Touched(Vec<PathBuf>),
}

/// For a directory its times and size say nothing: its entries are compared.
fn is_same(brought: &Meta, found: &Meta) -> bool {
    brought.kind == found.kind
        && brought.inode == found.inode
        && brought.mode == found.mode
        && (found.kind == Kind::Directory || (brought.size == found.size && brought.changed == found.changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever writes to a file again may leave all but one of these as it was.
    #[test]
    fn each_of_them_tells_that_a_file_was_touched() {
        let brought = Meta {
            kind: Kind::File,
            whiteout: false,
            inode: 7,
            size: 3,
            room: 0,
            mode: 0o644,
            changed: (9, 1),
        };
        assert!(is_same(&brought, &brought));
        for found in [
            Meta { kind: Kind::Link, ..brought },
            Meta { inode: 8, ..brought },
            Meta { size: 4, ..brought },
            Meta { mode: 0o755, ..brought },
            Meta { changed: (10, 1), ..brought },
            Meta { changed: (9, 2), ..brought },
        ] {
            assert!(!is_same(&brought, &found), "{found:?}");
        }
        let directory = Meta { kind: Kind::Directory, ..brought };
        assert!(is_same(&directory, &Meta { size: 4, changed: (10, 1), ..directory }));
        assert!(!is_same(&directory, &Meta { mode: 0o700, ..directory }));
    }
}
