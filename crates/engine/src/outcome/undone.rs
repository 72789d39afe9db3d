//! What became of taking back a run.

use serde::Serialize;
use shward_sandbox::overlay::Undone;
use std::collections::HashSet;
use std::path::PathBuf;

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

impl UndoReport {
    pub(crate) fn of(undone: Undone) -> Self {
        let Undone { id, title, restored, skipped, .. } = undone;
        let text = |path: &PathBuf| path.display().to_string();
        // One whose permissions changed, too, took two steps.
        let mut seen = HashSet::new();
        let restored = restored.iter().filter(|path| seen.insert(*path)).map(text).collect();
        Self {
            id,
            command: title,
            restored,
            skipped: skipped
                .iter()
                .map(|s| SkippedReport { path: text(&s.path), reason: s.reason.clone().into_owned() })
                .collect(),
        }
    }
}
