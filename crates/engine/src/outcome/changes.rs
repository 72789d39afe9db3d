//! What a run did to the workspace, for people and programs.

use serde::Serialize;
use shward_sandbox::overlay::{Change, ChangeKind, Committed, Kind, Refused, Run};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How many paths a record names.
pub(crate) const MAX_NAMED: usize = 20;

/// How many files are listed by name. All are counted.
const MAX_LISTED: usize = 10_000;

/// A file that was created, changed or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChangeReport {
    /// Relative to the workspace. In JSON as text, bytes that are not UTF-8 replaced.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// `created`, `changed` or `deleted`.
    pub what: &'static str,
    /// `file`, `directory`, `link`, `pipe`, `socket` or `special`.
    pub kind: &'static str,
    /// What it was before, if that is something else now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind_before: Option<&'static str>,
    /// Where a link leads now, or did before it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Where it did before, if that is elsewhere now, or it is no link any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_before: Option<String>,
    /// Bytes now, or before it was deleted.
    pub size: u64,
    /// Bytes before it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_before: Option<u64>,
    /// Its permissions, as four octal digits.
    pub mode: String,
    /// Its permissions before, if they are others now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode_before: Option<String>,
}

/// A change that is not in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RefusedReport {
    /// What it was.
    #[serde(flatten)]
    pub change: ChangeReport,
    /// Why, as a clause that follows the path.
    pub reason: String,
}

/// What a run did to the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[non_exhaustive]
pub struct ChangesReport {
    /// Whether what follows is in the workspace now. If not, it was only shown.
    pub committed: bool,
    /// The name under which `shward undo` takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// What was there before takes more room than is kept (`[undo] size`), so that it cannot be taken back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_kept: bool,
    /// How many files and directories were created.
    pub created: usize,
    /// How many were changed.
    pub changed: usize,
    /// How many were deleted.
    pub deleted: usize,
    /// The first 10,000 of them, by path.
    pub files: Vec<ChangeReport>,
    /// What was not committed because it is protected, likewise.
    pub refused: Vec<RefusedReport>,
    /// Whether git's index was committed and something that it may record was not: the work tree differs there from what git has checked
    /// out, and a commit of all changes would take that back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub work_tree_differs: bool,
    /// What could not be committed: each path with what the system said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

impl ChangesReport {
    pub(crate) fn new(accepted: &[Change], refused: &[Refused]) -> Self {
        // The work trees of which something was left out.
        let trees: HashSet<&Path> = (accepted.iter().map(|change| change.path.as_path()))
            .filter(|path| path.ends_with(".git/index"))
            .filter_map(|path| path.ancestors().nth(2))
            .collect();
        let may_be_recorded = |path: &Path| {
            !path.iter().any(|part| part == ".git") && path.ancestors().any(|above| trees.contains(above))
        };
        let work_tree_differs =
            refused.iter().any(|r| r.change.kind != Kind::Directory && may_be_recorded(&r.change.path));
        let count = |what| accepted.iter().filter(|change| change.what == what).count();
        Self {
            created: count(ChangeKind::Created),
            changed: count(ChangeKind::Changed),
            deleted: count(ChangeKind::Deleted),
            files: accepted.iter().take(MAX_LISTED).map(file).collect(),
            refused: refused
                .iter()
                .take(MAX_LISTED)
                .map(|refused| RefusedReport {
                    change: file(&refused.change),
                    reason: refused.reason.clone().into_owned(),
                })
                .collect(),
            work_tree_differs,
            ..Self::default()
        }
    }

    /// With where the links lead, which the layer tells as long as nothing of it is committed.
    pub(crate) fn with_targets(mut self, run: &Run, accepted: &[Change], refused: &[Refused]) -> Self {
        let refused = refused.iter().map(|refused| &refused.change);
        let reports = self.refused.iter_mut().map(|refused| &mut refused.change);
        for (file, change) in self.files.iter_mut().zip(accepted).chain(reports.zip(refused)) {
            if ![Some(change.kind), change.kind_before].contains(&Some(Kind::Link)) {
                continue;
            }
            let text = |path: PathBuf| path.display().to_string();
            let [before, after] = run.targets(change).map(|target| target.map(text));
            (file.target, file.target_before) = match change.what {
                ChangeKind::Deleted => (before, None),
                _ => (after.clone(), before.filter(|before| after.as_ref() != Some(before))),
            };
        }
        self
    }

    /// What was committed of what was `seen`.
    pub(crate) fn committed(committed: &Committed, seen: &Self) -> Self {
        let failed = committed.failed.iter();
        let mut report = Self {
            committed: true,
            undo: committed.id.clone(),
            failed: failed.map(|failed| format!("{}: {}", failed.path.display(), failed.error)).collect(),
            ..Self::new(&committed.accepted, &committed.refused)
        };
        // What was listed is in the same order.
        let mut seen = seen.files.iter();
        for file in
            report.files.iter_mut().filter(|file| [Some(file.kind), file.kind_before].contains(&Some("link")))
        {
            if let Some(found) = seen.find(|seen| seen.path == file.path) {
                file.clone_from(found);
            }
        }
        report
    }

    /// What a record says of it; `None` if it did nothing.
    pub(crate) fn record(&self) -> Option<shward_audit::Changed> {
        let done = self.created + self.changed + self.deleted > 0 || !self.refused.is_empty();
        done.then(|| {
            let refused = self.refused.iter().map(|refused| refused.change.path.as_path().into());
            let named: Vec<shward_audit::Text> = refused.take(MAX_NAMED).collect();
            let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
            shward_audit::Changed {
                created: count(self.created),
                changed: count(self.changed),
                deleted: count(self.deleted),
                committed: self.committed,
                undo: self.undo.clone(),
                more_refused: count(self.refused.len() - named.len()),
                refused: named,
            }
        })
    }

    /// Whether nothing was done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.refused.is_empty() && self.failed.is_empty()
    }
}

fn file(change: &Change) -> ChangeReport {
    let octal = |mode: u32| format!("{mode:04o}");
    ChangeReport {
        path: change.path.clone(),
        what: change.what.name(),
        kind: name_of(change.kind),
        kind_before: change.kind_before.filter(|before| *before != change.kind).map(name_of),
        target: None,
        target_before: None,
        size: change.size,
        size_before: change.size_before.filter(|_| change.what == ChangeKind::Changed),
        mode: octal(change.mode),
        mode_before: change.mode_before.filter(|before| *before != change.mode).map(octal),
    }
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Link => "link",
        Kind::Pipe => "pipe",
        Kind::Socket => "socket",
        _ => "special",
    }
}

#[expect(clippy::ptr_arg, reason = "serde passes the field")]
fn lossy<S: serde::Serializer>(path: &PathBuf, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}
