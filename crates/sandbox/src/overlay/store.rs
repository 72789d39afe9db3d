//! Where layers lie and committed runs are kept, on the file system of the workspace, so that a commit moves and never copies.
//!
//! ```text
//! new-ID          being made
//! live-ID         a run or a commit is under way, or was when its process died
//! undo-ID         the same of an undo
//! kept-ID-BYTES   committed; can be undone
//! past-ID         committed; there was no room for what was there before
//! lost-ID         was to be committed and could not be; somebody may want to look what is in it
//! dead-ID         to be removed
//! spent-ID        to be taken apart when there is time: the command changed nothing
//! spare           an empty layer that nobody has had
//! ```
//!
//! Whoever works with a run holds the lock of its directory (flock(2)), which the kernel lifts when the process dies. So a `live`
//! directory whose lock is free has been left behind: if it has a journal it is finished, else it is removed. An undo that was
//! cut off is finished likewise, and if it has no journal yet everything is kept as it was.

use super::changes::Meaning;
use super::commit::{carry_out, now};
use super::error::OverlayError;
use super::journal::Journal;
use super::layer::Layer;
use super::movable::Movable;
use super::parts::{JOURNAL, TRIED, UNDO, UPPER, WORK, lock};
use super::remove::remove;
use super::run::{Run, bury};
use super::seal::Key;
use super::step::Step;
use super::tree::Tree;
use super::turn::{self, Turn};
use super::undo::{self, Undone};
use super::{place, spent};
use rustix::fs::FlockOperation;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a directory that is being made is left alone.
const MAKING: Duration = Duration::from_secs(60);

/// How often the lock of a kept run is tried, ten milliseconds apart.
const PATIENCE: usize = 200;

/// How much of what was committed is kept so that it can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keep {
    /// How many runs.
    pub runs: usize,
    /// How many bytes of old files together, as much as they take of the disk.
    pub bytes: u64,
    /// How long.
    pub age: Duration,
}

impl Default for Keep {
    /// 50 runs, 2 GiB, seven days.
    fn default() -> Self {
        Self { runs: 50, bytes: 2 << 30, age: Duration::from_secs(7 * 24 * 3600) }
    }
}

impl Keep {
    /// These limits.
    #[must_use]
    pub const fn new(runs: usize, bytes: u64, age: Duration) -> Self {
        Self { runs, bytes, age }
    }
}

/// A committed run that can be undone, or cannot any more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Its name.
    pub id: String,
    /// What was run.
    pub title: String,
    /// When it was committed, in milliseconds since 1970.
    pub time: u64,
    /// How many files and directories it created, changed and deleted; a directory that was deleted or replaced counts as one.
    pub counts: [usize; 3],
    /// Bytes of what was there before.
    pub bytes: u64,
    /// It was taken back as far as that was possible, and something is left.
    pub tried: bool,
}

/// The layers and kept runs on one file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
    workspace: PathBuf,
    key: Key,
    /// The device and number of the workspace's directory: another one may be put in its place.
    identity: (u64, u64),
}

impl Store {
    /// The store for a workspace: in `state` if that lies on the same mount, else beside the workspace, in a directory of this user
    /// alone.
    ///
    /// # Errors
    /// [`OverlayError::Unsuited`] when no overlay can be used for this workspace: the file system cannot, other file systems are
    /// mounted below it, or it belongs to somebody else.
    pub fn for_workspace(state: &Path, workspace: &Path) -> Result<Self, OverlayError> {
        let workspace = fs::canonicalize(workspace).map_err(|error| OverlayError::io(workspace, error))?;
        place::suited(&workspace)?;
        let root = place::root(state, &workspace)?;
        let key = Key::of(state)?;
        let state = fs::canonicalize(state).map_err(|error| OverlayError::io(state, error))?;
        for (inner, outer) in [(&root, &workspace), (&workspace, &root), (&state, &workspace)] {
            if inner.starts_with(outer) {
                return Err(OverlayError::unsuited(
                    &workspace,
                    "it holds the directory of this user's state; work in a directory below it",
                ));
            }
        }
        let opened = Tree::open(&workspace).and_then(|tree| tree.identity());
        let identity = opened.map_err(|error| OverlayError::io(&workspace, error))?;
        Ok(Self { root, workspace, key, identity })
    }

    /// The directory that no command may see.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes an empty layer.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn begin(&self) -> Result<Run, OverlayError> {
        let id = new_id();
        let directory = self.root.join(format!("live-{id}"));
        let lock = match self.begin_with_spare(&directory) {
            Some(lock) => lock,
            None => self.begin_anew(&id, &directory)?,
        };
        let layer = Layer { store: self.root.clone(), directory };
        Ok(self.run(layer, id, lock))
    }

    fn run(&self, layer: Layer, id: String, lock: File) -> Run {
        Run {
            layer,
            workspace: self.workspace.clone(),
            id,
            key: self.key,
            identity: self.identity,
            lock: Some(lock),
            movable: Movable::default(),
        }
    }

    /// Takes the layer that lies ready, if there is one.
    fn begin_with_spare(&self, directory: &Path) -> Option<File> {
        let (spare, lock) = spent::spare(&self.root)?;
        self.open_root(&spare).and_then(|()| fs::rename(&spare, directory)).ok().map(|()| lock)
    }

    fn begin_anew(&self, id: &str, directory: &Path) -> Result<File, OverlayError> {
        let making = self.root.join(format!("new-{id}"));
        let made = || {
            DirBuilder::new().mode(0o700).create(&making)?;
            let lock = File::open(&making)?;
            rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            DirBuilder::new().mode(0o700).create(making.join(WORK))?;
            DirBuilder::new().mode(0o700).create(making.join(UPPER))?;
            self.open_root(&making)?;
            fs::rename(&making, directory)?;
            io::Result::Ok(lock)
        };
        made().map_err(|error| {
            let _ = remove(&making);
            OverlayError::io(&self.root, error)
        })
    }

    /// The root of the overlay looks like the upper layer's, which is open to its owner alone so far.
    fn open_root(&self, layer: &Path) -> io::Result<()> {
        let mode = fs::metadata(&self.workspace)?.permissions().mode() & 0o7777;
        if mode != 0o700 {
            fs::set_permissions(layer.join(UPPER), fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// Finishes what killed processes have begun in this workspace and removes what they have left. Returns the runs that were
    /// finished.
    ///
    /// # Errors
    /// The store cannot be read. A run that cannot be finished is left where it is.
    pub fn recover(&self) -> Result<Vec<String>, OverlayError> {
        self.finish(None)
    }

    /// The same for whoever commits, or for whoever does not.
    fn finish(&self, turn: Option<&Turn>) -> Result<Vec<String>, OverlayError> {
        let mut finished = Vec::new();
        for (state, id, path) in self.entries()? {
            let outcome = match state {
                State::Live | State::Undo => self.recover_one(state, &id, &path, turn),
                State::New if is_old(&path) && lock(&path).is_some() => {
                    remove(&path).map(|()| false).map_err(|error| OverlayError::io(&path, error))
                }
                State::Dead => remove(&path).map(|()| false).map_err(|e| OverlayError::io(&path, e)),
                State::New | State::Kept(_) | State::Past | State::Lost => Ok(false),
            };
            match outcome {
                Ok(true) => finished.push(id),
                // Nobody waits for each again.
                Err(OverlayError::Others(_)) => break,
                // Two may be at it at once, and what is damaged must not keep everything else from working.
                Ok(false) | Err(_) => {}
            }
        }
        Ok(finished)
    }

    fn recover_one(
        &self,
        state: State,
        id: &str,
        path: &Path,
        turn: Option<&Turn>,
    ) -> Result<bool, OverlayError> {
        let Some(lock) = lock(path) else { return Ok(false) };
        let Some(journal) = Journal::read(path, JOURNAL, self.key)? else {
            remove(path).map_err(|error| OverlayError::io(path, error))?;
            return Ok(false);
        };
        // What another workspace is to become is said there.
        if journal.workspace != self.workspace {
            return Ok(false);
        }
        let _turn = if turn.is_none() { Some(Turn::wait(&self.root)?) } else { None };
        let layer = Layer { store: self.root.clone(), directory: path.to_owned() };
        let id = id.to_owned();
        let run = self.run(layer, id, lock);
        // A run that is dropped is removed, and what its journal says may not be done yet.
        let opened = run.tree().and_then(|store| Ok((store, run.workspace()?)));
        let (store, workspace) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                run.abandon();
                return Err(error);
            }
        };
        if state == State::Live {
            carry_out(&journal.units, &store, &workspace);
            run.keep(journal.bytes)?;
            return Ok(true);
        }
        match Journal::read(path, UNDO, self.key) {
            Ok(Some(undone)) => {
                carry_out(&undone.units, &store, &workspace);
                if let Some(dead) = undo::settle(run, &journal, &undone, &store, &workspace)? {
                    let _ = remove(&dead);
                }
            }
            Ok(None) => drop(run.keep(journal.bytes)?),
            Err(error) => {
                run.abandon();
                return Err(error);
            }
        }
        Ok(true)
    }

    /// Waits so long at most until nobody commits, and not once `ended` says so; nobody commits while the value lives.
    ///
    /// # Errors
    /// The store cannot be read, or [others](OverlayError::Others) commit all the time.
    pub fn turn(&self, patience: Duration, ended: &dyn Fn() -> bool) -> Result<Turn, OverlayError> {
        Turn::within(&self.root, patience, ended)
    }

    /// Takes apart what runs have [left](Run::leave). That takes little time, and can be done by anybody at any moment.
    pub fn sweep(&self) {
        spent::sweep(&self.root);
    }

    /// The runs of this workspace that can be undone, the latest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn kept(&self) -> Result<Vec<Kept>, OverlayError> {
        self.listed(|state| match state {
            State::Kept(bytes) => Some(bytes),
            _ => None,
        })
    }

    /// Those that were committed and of which [`expire`](Self::expire) has kept only this, since there was no room for what was there
    /// before, the latest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn past(&self) -> Result<Vec<Kept>, OverlayError> {
        self.listed(|state| (state == State::Past).then_some(0))
    }

    fn listed(&self, bytes: impl Fn(State) -> Option<u64>) -> Result<Vec<Kept>, OverlayError> {
        let mut kept = Vec::new();
        for (state, id, path) in self.entries()? {
            let Some(bytes) = bytes(state) else { continue };
            let Ok(Some(journal)) = Journal::read(&path, JOURNAL, self.key) else { continue };
            if journal.workspace != self.workspace {
                continue;
            }
            let mut counts = [0; 3];
            let [created, changed, deleted] = &mut counts;
            for unit in &journal.units {
                match unit.step {
                    Step::In { .. } => *created += unit.entries.len(),
                    Step::Exchange { .. } | Step::Mode { .. } => *changed += 1,
                    Step::Out { .. } => *deleted += 1,
                }
            }
            let tried = path.join(TRIED).exists();
            kept.push(Kept { id, title: journal.title, time: journal.time, counts, bytes, tried });
        }
        // Which was committed last, not begun.
        kept.sort_by(|a, b| (b.time, &b.id).cmp(&(a.time, &a.id)));
        Ok(kept)
    }

    /// Takes a kept run back, by its name or the beginning of it. What was changed since stays, and is told. What was there before
    /// stays kept as long as it is not back.
    ///
    /// # Errors
    /// There is no such run, [nothing was kept](OverlayError::Past) of it, or the store cannot be read or written; then nothing was
    /// changed.
    pub fn undo(&self, id: &str) -> Result<Undone, OverlayError> {
        self.undo_by_meaning(id, |_, _| None)
    }

    /// The same, where a file also counts as untouched that means what it meant when the run brought it (by
    /// [`CommitPolicy::meaning`](super::CommitPolicy::meaning)).
    ///
    /// # Errors
    /// As [`undo`](Self::undo).
    pub fn undo_by_meaning(&self, id: &str, meaning: Meaning) -> Result<Undone, OverlayError> {
        let turn = Turn::wait(&self.root)?;
        let (run, journal) = self.take(id)?;
        let (undone, dead) = undo::take_back(run, &journal, meaning)?;
        drop(turn);
        if let Some(dead) = dead {
            // What is left of it is removed by the next recovery.
            let _ = remove(&dead);
        }
        Ok(undone)
    }

    /// Takes hold of a kept run, by its name or the beginning of it.
    fn take(&self, id: &str) -> Result<(Run, Journal), OverlayError> {
        let unknown = || OverlayError::Unknown(id.to_owned());
        let mut found = Vec::new();
        for (state, name, path) in self.entries()? {
            if !matches!(state, State::Kept(_) | State::Past) || !name.starts_with(id) {
                continue;
            }
            // Other workspaces have their runs here, too, and what is not ours is none.
            match Journal::read(&path, JOURNAL, self.key) {
                Ok(Some(journal)) if journal.workspace == self.workspace => {
                    found.push((state, name, path, journal));
                }
                Err(error) if name == id => return Err(error),
                _ => {}
            }
        }
        if found.len() > 1 {
            return Err(OverlayError::Ambiguous(id.to_owned()));
        }
        let (state, name, path, journal) = found.pop().ok_or_else(unknown)?;
        if state == State::Past {
            return Err(OverlayError::Past(name));
        }
        // A process that was just forked holds a copy of the lock until it calls execve.
        let lock = (0..PATIENCE).find_map(|attempt| {
            if attempt > 0 {
                std::thread::sleep(Duration::from_millis(10));
            }
            lock(&path)
        });
        let lock = lock.ok_or_else(unknown)?;
        // The record of an undo that has ended, which this one is not.
        match fs::remove_file(path.join(UNDO)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(OverlayError::io(&path, error));
            }
            _ => {}
        }
        let directory = self.root.join(format!("undo-{name}"));
        fs::rename(&path, &directory).map_err(|error| OverlayError::io(&path, error))?;
        let layer = Layer { store: self.root.clone(), directory };
        Ok((self.run(layer, name, lock), journal))
    }

    /// Removes the oldest kept runs that are beyond the limits, and tells which.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn expire(&self, keep: &Keep) -> Result<Vec<String>, OverlayError> {
        let mut kept: Vec<(String, u64, PathBuf)> = self
            .entries()?
            .into_iter()
            .filter_map(|(state, id, path)| match state {
                State::Kept(bytes) => Some((id, bytes, path)),
                _ => None,
            })
            .collect();
        kept.sort_by(|a, b| b.0.cmp(&a.0));
        let oldest = now().saturating_sub(u64::try_from(keep.age.as_millis()).unwrap_or(u64::MAX));
        let (mut total, mut gone): (u64, _) = (0, Vec::new());
        for (state, id, path) in self.entries()? {
            if state == State::Lost && time_of(&id) < oldest {
                bury(&self.root, &id, &path);
            }
        }
        self.expire_marks(keep.runs, oldest)?;
        for (number, (id, bytes, path)) in kept.into_iter().enumerate() {
            // One for which there is no room goes alone: else whoever deletes much would take the way back from everything before.
            let together = total.saturating_add(bytes);
            let counts = number < keep.runs && time_of(&id) >= oldest;
            if counts && together <= keep.bytes {
                total = together;
                continue;
            }
            let Some(_held) = lock_soon(&path) else { continue };
            // What was before it must not be taken for the last one.
            if counts && self.mark(&id, &path).is_err() {
                continue;
            }
            bury(&self.root, &id, &path);
            gone.push(id);
        }
        Ok(gone)
    }

    /// Removes the oldest marks of each workspace: those of others must not let a run be taken for the last one of this. They count from
    /// when the run was committed, so that none goes before what was committed before it.
    fn expire_marks(&self, most: usize, oldest: u64) -> Result<(), OverlayError> {
        let marks = self.entries()?.into_iter().filter(|(state, ..)| *state == State::Past);
        let mut marks: Vec<_> = marks
            .map(|(_, id, path)| {
                let journal = Journal::read(&path, JOURNAL, self.key).ok().flatten();
                let (workspace, time) =
                    journal.map_or_else(|| (PathBuf::new(), time_of(&id)), |j| (j.workspace, j.time));
                (workspace, Reverse(time), id, path)
            })
            .collect();
        marks.sort();
        let mut number = 0;
        let mut before: Option<&Path> = None;
        for (workspace, Reverse(time), id, path) in &marks {
            number = if before == Some(workspace) { number + 1 } else { 0 };
            before = Some(workspace);
            if number >= most || *time < oldest {
                bury(&self.root, id, path);
            }
        }
        Ok(())
    }

    /// Leaves of a kept run that it was.
    fn mark(&self, id: &str, kept: &Path) -> Result<(), OverlayError> {
        let Ok(Some(journal)) = Journal::read(kept, JOURNAL, self.key) else { return Ok(()) };
        let path = self.root.join(format!("past-{id}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(OverlayError::io(&path, error));
            }
            _ => {}
        }
        let mark = Journal { bytes: 0, units: Vec::new(), meanings: BTreeMap::new(), ..journal };
        mark.write(&path, JOURNAL, self.key)
    }

    fn entries(&self) -> Result<Vec<(State, String, PathBuf)>, OverlayError> {
        let entries = fs::read_dir(&self.root).map_err(|error| OverlayError::io(&self.root, error))?;
        let parsed = entries.flatten().filter_map(|entry| {
            let name = entry.file_name();
            let (state, rest) = name.to_str()?.split_once('-')?;
            let (state, id) = match (state, rest.split_once('-')) {
                ("new", None) => (State::New, rest),
                ("live", None) => (State::Live, rest),
                ("undo", None) => (State::Undo, rest),
                ("dead", None) => (State::Dead, rest),
                ("lost", None) => (State::Lost, rest),
                ("past", None) => (State::Past, rest),
                ("kept", Some((id, bytes))) => (State::Kept(bytes.parse().ok()?), id),
                _ => return None,
            };
            Some((state, id.to_owned(), entry.path()))
        });
        Ok(parsed.collect())
    }
}

impl Run {
    /// Waits until nobody else commits, for ten seconds or so long at most and not once `ended` says so, and finishes what killed
    /// processes have begun in this workspace. What is committed has to be [looked at](Run::changes) after this and while the value
    /// lives: else another run may have given it another meaning.
    ///
    /// # Errors
    /// The store cannot be read, or [others](OverlayError::Others) commit all the time.
    pub fn turn(&self, patience: Duration, ended: &dyn Fn() -> bool) -> Result<Turn, OverlayError> {
        let turn = Turn::within(&self.layer.store, patience.min(turn::PATIENCE), ended)?;
        let (root, workspace) = (self.layer.store.clone(), self.workspace.clone());
        Store { root, workspace, key: self.key, identity: self.identity }.finish(Some(&turn))?;
        Ok(turn)
    }
}

/// What the name of a directory in the store says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Live,
    Undo,
    Kept(u64),
    Past,
    Lost,
    Dead,
}

/// The same, if nobody holds it in a moment: a child that another thread is just starting has every open file until it is
/// another program, and so the lock of a run that has ended.
fn lock_soon(path: &Path) -> Option<File> {
    (0..10).find_map(|attempt| {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        lock(path)
    })
}

fn is_old(path: &Path) -> bool {
    fs::metadata(path)
        .and_then(|meta| meta.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > MAKING))
}

/// Sorts by time: milliseconds since 1970, and something that no other run of that millisecond has.
fn new_id() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    format!("r{:011x}{:04x}", now(), RandomState::new().hash_one(()) & 0xffff)
}

fn time_of(id: &str) -> u64 {
    id.get(1..12).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time() {
        let id = new_id();
        assert!(now() - time_of(&id) < 1000 * 3600, "{id}");
        assert!(id.len() == 16 && id.as_str() > "r0");
    }
}
