//! Moves of which one half is refused: what was moved to a place where it must not be stays where it was.
//!
//! A layer knows no moves, only something that is gone and something that is new. Refusing the one and committing the other would
//! lose the file, so what is gone is compared with what is refused.

use super::changes::{ChangeKind, Changes, Refused};
use super::parts::UPPER;
use super::step::Step;
use super::tree::{Kind, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How long files are that are compared, in bytes. Longer ones of the same size count as the same: nothing is lost by that.
const MAX_CONTENT: u64 = 8 << 20;

/// How many are compared. As above.
const MAX_COMPARED: usize = 1000;

/// Takes back what would be deleted if its content was to come to be somewhere else, and was refused there.
pub(super) fn keep_sources(changes: &mut Changes, store: &Tree, workspace: &Tree) {
    let mut by_size: BTreeMap<u64, Vec<&Path>> = BTreeMap::new();
    for Refused { change, .. } in &changes.refused {
        if change.what != ChangeKind::Deleted && change.kind == Kind::File && change.size > 0 {
            by_size.entry(change.size).or_default().push(&change.path);
        }
    }
    if by_size.is_empty() {
        return;
    }
    let tops: BTreeSet<&Path> = changes
        .units
        .iter()
        .filter_map(|unit| match &unit.step {
            Step::Out { path, .. } => Some(path.as_path()),
            _ => None,
        })
        .collect();
    let top_of = |path: &'_ Path| path.ancestors().find(|above| tops.contains(above)).map(Path::to_owned);
    let mut compared = 0;
    // What stays, and because of what.
    let mut kept: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for gone in &changes.accepted {
        let is_file = gone.what == ChangeKind::Deleted && gone.kind == Kind::File;
        let Some(same) = by_size.get(&gone.size).filter(|_| is_file) else { continue };
        let Some(top) = top_of(&gone.path).filter(|top| !kept.contains_key(top)) else { continue };
        let moved = same.iter().find(|refused| {
            compared += 1;
            if compared > MAX_COMPARED {
                return true;
            }
            let after = store.content(&Path::new(UPPER).join(refused), MAX_CONTENT);
            let before = workspace.content(&gone.path, MAX_CONTENT);
            matches!((before, after), (Ok(before), Ok(after)) if before == after)
        });
        if let Some(moved) = moved {
            kept.insert(top, moved.to_path_buf());
        }
    }
    if kept.is_empty() {
        return;
    }
    changes.units.retain(|unit| !kept.contains_key(unit.step.path()));
    for change in std::mem::take(&mut changes.accepted) {
        match change.path.ancestors().find_map(|above| kept.get(above)) {
            Some(moved) => {
                let reason = format!("stays, because {} is refused", moved.display()).into();
                changes.refused.push(Refused { change, reason });
            }
            None => changes.accepted.push(change),
        }
    }
}
