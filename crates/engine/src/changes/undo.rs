//! Taking back what runs have done to a workspace.

use serde::Serialize;
use shward_sandbox::overlay::{Keep, Kept, OverlayError, Store, Undone};
use std::path::{Path, PathBuf};

/// Where layers lie and what is kept to undo them: in the user's state directory, out of every command's reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undoing {
    state: PathBuf,
    keep: Keep,
}

/// What became of taking back one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UndoReport {
    /// The run.
    pub id: String,
    /// The command.
    pub command: String,
    /// What is as it was before the run. A directory stands for everything in it.
    pub restored: Vec<String>,
    /// What is not, each with the reason.
    pub skipped: Vec<SkippedReport>,
}

/// Something that was not taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkippedReport {
    /// Relative to the workspace.
    pub path: String,
    /// Why, as a clause that follows the path.
    pub reason: String,
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

    /// The directory of the layers, where the workspace lies on the same file system.
    pub(crate) fn directory(&self) -> PathBuf {
        self.state.join("overlay")
    }

    /// Removes what is kept beyond the limits.
    pub(crate) fn expire(&self, workspace: &Path) -> Result<(), OverlayError> {
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

    /// The runs of a workspace that can be taken back, the latest first.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn list(&self, workspace: &Path) -> Result<Vec<Kept>, OverlayError> {
        let store = self.store(workspace)?;
        store.expire(&self.keep)?;
        store.kept()
    }

    /// Takes one run back, by its id or the beginning of it.
    ///
    /// # Errors
    /// There is no such run, or the store cannot be read or written.
    pub fn undo(&self, workspace: &Path, id: &str) -> Result<UndoReport, OverlayError> {
        let Undone { id, title, restored, skipped, .. } = self.store(workspace)?.undo(id)?;
        let text = |path: &PathBuf| path.display().to_string();
        Ok(UndoReport {
            id,
            command: title,
            restored: restored.iter().map(text).collect(),
            skipped: skipped
                .iter()
                .map(|s| SkippedReport { path: text(&s.path), reason: s.reason.clone().into_owned() })
                .collect(),
        })
    }
}
