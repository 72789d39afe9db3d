//! Moves of which one half is refused: what was moved to a place where it must not be stays where it was.
//!
//! A layer knows no moves, only something that is gone and something that is new. Refusing the one and committing the other would
//! lose the file, so what is gone is compared with what is refused.

use super::changes::{Change, ChangeKind, Changes, Refused};
use super::journal::Unit;
use super::step::Step;
use super::store::UPPER;
use super::tree::{Kind, Tree};
use std::borrow::Cow;
use std::collections::BTreeMap;
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
    let mut compared = 0;
    let mut kept: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for gone in &changes.accepted {
        let is_file = gone.what == ChangeKind::Deleted && gone.kind == Kind::File;
        let Some(same) = by_size.get(&gone.size).filter(|_| is_file) else { continue };
        let Some(top) = out_of(&changes.units, &gone.path) else { continue };
        let moved = same.iter().find(|refused| {
            compared += 1;
            let after = store.content(&Path::new(UPPER).join(refused), MAX_CONTENT);
            let before = workspace.content(&gone.path, MAX_CONTENT);
            compared > MAX_COMPARED || matches!((before, after), (Ok(before), Ok(after)) if before == after)
        });
        if let Some(moved) = moved {
            kept.entry(top.to_owned()).or_insert_with(|| moved.to_path_buf());
        }
    }
    for (top, moved) in kept {
        let reason: Cow<'static, str> = format!("stays, because {} is refused", moved.display()).into();
        changes.units.retain(|unit| unit.step.path() != top);
        let (back, rest) = std::mem::take(&mut changes.accepted)
            .into_iter()
            .partition::<Vec<Change>, _>(|change| change.path.starts_with(&top));
        changes.accepted = rest;
        changes.refused.extend(back.into_iter().map(|change| Refused { change, reason: reason.clone() }));
    }
}

/// The path that is taken out as a whole, and a given one with it.
fn out_of<'u>(units: &'u [Unit], path: &Path) -> Option<&'u Path> {
    units.iter().find_map(|unit| match &unit.step {
        Step::Out { path: top, .. } if path.starts_with(top) => Some(top.as_path()),
        _ => None,
    })
}
