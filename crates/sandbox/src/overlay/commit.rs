//! Makes what a command did part of the workspace.

use super::changes::{Changes, Opened, Refused};
use super::error::OverlayError;
use super::journal::{Journal, Unit};
use super::parts::{ASIDE, JOURNAL, SAVED, UPPER};
use super::run::Run;
use super::tree::{Tree, strip};
use super::{Change, Layer};
use rustix::fs::RenameFlags;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Something that was to be committed and could not be: somebody else changed the workspace meanwhile, or the disk is full.
#[derive(Debug)]
pub struct Failed {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

/// What became of a commit.
#[derive(Debug)]
#[non_exhaustive]
pub struct Committed {
    /// The name under which it can be undone; `None` when nothing was changed.
    pub id: Option<String>,
    /// What is in the workspace now.
    pub accepted: Vec<Change>,
    /// What is not, because the policy refuses it.
    pub refused: Vec<Refused>,
    /// What is not, because it was not possible.
    pub failed: Vec<Failed>,
}

impl Run {
    /// Makes the accepted changes part of the workspace. `title` says in the list of what can be undone what this was.
    ///
    /// # Errors
    /// Nothing was committed: the store could not be written, or the workspace is another directory by now. What the command did is
    /// then [kept aside](Run::rescued). What fails for a single file later is in the answer.
    pub fn commit(self, mut changes: Changes, title: &str) -> Result<Committed, OverlayError> {
        if changes.units.is_empty() {
            // Dropping the run removes its layer.
            return Ok(Committed {
                id: None,
                accepted: Vec::new(),
                refused: changes.refused,
                failed: Vec::new(),
            });
        }
        let units = std::mem::take(&mut changes.units);
        let begun = (|| {
            let (store, workspace) = (self.tree()?, self.workspace()?);
            clean(self.layer(), &store, &changes).map_err(|e| OverlayError::io(store.path(), e))?;
            let journal = Journal {
                workspace: workspace.path().to_owned(),
                title: title.to_owned(),
                time: now(),
                bytes: changes.kept_bytes,
                units,
                meanings: std::mem::take(&mut changes.meanings),
            };
            journal.write(store.path(), JOURNAL, self.key())?;
            Ok((store, workspace, journal))
        })();
        let (store, workspace, journal) = match begun {
            Ok(begun) => begun,
            Err(error) => return Err(self.rescued(error)),
        };
        let failed = carry_out(&journal.units, &store, &workspace);
        let id = self.keep(journal.bytes)?;
        let mut accepted = changes.accepted;
        if !failed.is_empty() {
            let lost: HashSet<&Path> = failed.iter().map(|failed| failed.path.as_path()).collect();
            accepted.retain(|change| !change.path.ancestors().any(|above| lost.contains(above)));
        }
        Ok(Committed { id: Some(id), accepted, refused: changes.refused, failed })
    }
}

/// Leaves in the layer only what will be moved. Everything here happens in the store, before the journal is written.
fn clean(layer: &Layer, store: &Tree, changes: &Changes) -> io::Result<()> {
    store.make_directories(Path::new(SAVED), 0o700)?;
    let upper = layer.upper();
    for Opened { path, mode, .. } in &changes.opened {
        store.set_mode(&Path::new(UPPER).join(path), mode | 0o700)?;
    }
    for path in &changes.marked {
        strip(&upper.join(path))?;
    }
    for path in &changes.stale {
        // It may lie in something that was moved away before.
        match store.unlink(&Path::new(UPPER).join(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    for path in &changes.closed {
        fs::set_permissions(upper.join(path), fs::Permissions::from_mode(0o700))?;
    }
    if !changes.aside.is_empty() {
        store.make_directories(Path::new(ASIDE), 0o700)?;
    }
    for (number, path) in changes.aside.iter().enumerate() {
        let aside = Path::new(ASIDE).join(number.to_string());
        store.rename(&Path::new(UPPER).join(path), store, &aside, RenameFlags::NOREPLACE)?;
    }
    for Opened { path, mode, .. } in changes.opened.iter().rev().filter(|opened| opened.moves) {
        // It may lie in something that was moved away.
        match store.set_mode(&Path::new(UPPER).join(path), *mode) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Carries out every step that has not been. One that fails does not keep the others back.
pub(crate) fn carry_out(units: &[Unit], store: &Tree, workspace: &Tree) -> Vec<Failed> {
    let failed = |unit: &Unit| {
        let error = unit.step.carry_out(store, workspace).err()?;
        Some(Failed { path: unit.step.path().to_owned(), error })
    };
    units.iter().filter_map(failed).collect()
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
