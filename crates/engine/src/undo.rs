//! Taking back what runs have done to a workspace.

use crate::{Error, UndoReport, git};
use shward_audit::{Digest, Event, Log, Record};
use shward_policy::Policy;
use shward_sandbox::overlay::{self, Keep, Kept, OverlayError, Store, Undone};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a run that wrote straight to the workspace waits for those that commit.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where layers lie and what is kept to undo them: in the user's state directory, out of every command's reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undoing {
    state: PathBuf,
    keep: Keep,
}

impl Undoing {
    /// With the state directory of the user, and the default limits.
    #[must_use]
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self { state: state.into(), keep: Keep::default() }
    }

    /// With other limits.
    #[must_use]
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// With the limits that a policy sets. What may only tighten it has no say: less that is kept is less that can be undone.
    #[must_use]
    pub(crate) fn of_policy(mut self, policy: &Policy) -> Self {
        let settings = policy.settings();
        if let Some(set) = &settings.undo_runs {
            self.keep.runs = usize::try_from(set.value).unwrap_or(usize::MAX);
        }
        if let Some(set) = &settings.undo_size {
            self.keep.bytes = set.value;
        }
        if let Some(set) = &settings.undo_age {
            self.keep.age = Duration::from_secs(u64::from(set.value));
        }
        self
    }

    /// Whether a directory lies in the state directory.
    pub(crate) fn holds(&self, directory: &Path) -> bool {
        self.state.canonicalize().is_ok_and(|state| directory.starts_with(state))
    }

    /// The directories in which layers may lie, of whatever workspace.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        overlay::stores(&self.state)
    }

    /// Removes what is kept beyond the limits, and tells which runs.
    pub(crate) fn expire(&self, workspace: &Path) -> Result<Vec<String>, OverlayError> {
        Store::for_workspace(&self.state, workspace)?.expire(&self.keep)
    }

    /// The store for a workspace, with everything finished that a killed process has begun.
    ///
    /// # Errors
    /// No overlay can be used for this workspace, or the store cannot be read.
    pub fn store(&self, workspace: &Path) -> Result<Store, OverlayError> {
        let store = Store::for_workspace(&self.state, workspace)?;
        store.recover()?;
        Ok(store)
    }

    /// Waits until everybody has committed to a workspace who judged before; `false` if that takes too long, or `ended` says that
    /// nobody waits any more.
    pub(crate) fn is_through(&self, workspace: &Path, ended: &dyn Fn() -> bool) -> bool {
        // Where there is no store nobody can.
        let Ok(store) = Store::for_workspace(&self.state, workspace) else { return true };
        store.turn(PATIENCE, ended).is_ok()
    }

    /// The runs of a workspace that can be taken back, the latest first.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn list(&self, workspace: &Path) -> Result<Vec<Kept>, OverlayError> {
        self.store(workspace)?.kept()
    }

    /// The runs of a workspace that were committed and cannot be taken back, because there was no room to keep what was there before,
    /// the latest first. What came before one of them was changed by it.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn past(&self, workspace: &Path) -> Result<Vec<Kept>, OverlayError> {
        self.store(workspace)?.past()
    }

    /// Takes one run back, by its id or the beginning of it.
    ///
    /// # Errors
    /// There is no such run, nothing was kept of it, or the store cannot be read or written.
    pub fn undo(&self, workspace: &Path, id: &str) -> Result<UndoReport, OverlayError> {
        self.store(workspace)?.undo_by_meaning(id, git::meaning).map(UndoReport::of)
    }

    /// Takes one run back for somebody. What is about to be done is recorded before, and what came of it after.
    ///
    /// # Errors
    /// There is no such run, nothing was kept of it, the store cannot be used, or nothing could be recorded: then nothing was changed.
    /// [`Error::UnrecordedUndo`] alone tells of a run that was taken back.
    pub fn undo_recorded(
        &self,
        workspace: &Path,
        id: &str,
        by: &str,
        log: &Log,
    ) -> Result<UndoReport, Error> {
        let store = self.store(workspace)?;
        let (kept, past) = (store.kept()?, store.past()?);
        let kept = kept.iter().map(|kept| (kept, true)).chain(past.iter().map(|past| (past, false)));
        let mut kept = kept.filter(|(run, _)| run.id.starts_with(id));
        let kept = match (kept.next(), kept.next()) {
            (Some((kept, true)), None) => kept,
            (Some((past, false)), None) => return Err(OverlayError::Past(past.id.clone()).into()),
            (Some(_), Some(_)) => return Err(OverlayError::Ambiguous(id.to_owned()).into()),
            (None, _) => return Err(OverlayError::Unknown(id.to_owned()).into()),
        };
        let record = |event| Record { session: None, call_id: None, event };
        let begun = log.append(&record(Event::Undo(shward_audit::Undo {
            id: kept.id.clone(),
            command: kept.title.as_str().into(),
            workspace: workspace.into(),
            by: by.to_owned(),
        })))?;
        let undone = store.undo_by_meaning(&kept.id, git::meaning);
        let event = Event::Undone(ended(begun.seq, &undone));
        let report = undone.map(UndoReport::of)?;
        match log.append(&record(event)) {
            Ok(_) => Ok(report),
            Err(error) => Err(Error::UnrecordedUndo { report: Box::new(report), error }),
        }
    }
}

/// The record of what became of an undo.
fn ended(undo: u64, undone: &Result<Undone, OverlayError>) -> shward_audit::Undone {
    let error = undone.as_ref().err().map(ToString::to_string);
    let (restored, skipped) = undone.as_ref().map_or((&[][..], &[][..]), |u| (&u.restored, &u.skipped));
    let mut paths = Vec::new();
    let each = restored.iter().map(|path| (b'+', path)).chain(skipped.iter().map(|s| (b'-', &s.path)));
    for (sign, path) in each {
        paths.push(sign);
        paths.extend_from_slice(path.as_os_str().as_bytes());
        paths.push(0);
    }
    let count = |number| u64::try_from(number).unwrap_or(u64::MAX);
    shward_audit::Undone {
        undo,
        restored: count(restored.len()),
        left: count(skipped.len()),
        paths: Digest::of(&paths),
        error,
    }
}
