//! What stays of a directory in the place of which a command has put another one.
//!
//! The two are exchanged, which is one step, and what the policy refuses to let go or to change is then moved on, from the old one to
//! the same place in the new one. Such a step brings nothing of the command's, so it has no entries; whoever takes the run back
//! moves it the other way, whatever has become of it since.

use super::changes::{ChangeKind, Changes, Refused};
use super::journal::Unit;
use super::parts::{OWNER_MOVES, OWNER_WRITES, inside};
use super::step::Step;
use super::tree::{Kind, Meta, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};

/// How long files are that are compared, in bytes, and how many are in all of a run. What is beyond that counts as changed.
const MAX_CONTENT: u64 = 8 << 20;
const MAX_COMPARED: usize = 1000;

/// Whether a unit only moves on what stays.
pub(super) fn moves_on(unit: &Unit) -> bool {
    unit.entries.is_empty() && matches!(unit.step, Step::In { .. })
}

/// The steps that only move on what stays, by where it is in the workspace.
pub(super) fn steps(units: &[Unit]) -> BTreeMap<&Path, &Step> {
    units.iter().filter(|unit| moves_on(unit)).map(|unit| (unit.step.path(), &unit.step)).collect()
}

/// Those in the directory that a unit exchanges.
pub(super) fn below<'s, 'u>(
    steps: &'s BTreeMap<&'u Path, &'u Step>,
    top: &'s Path,
) -> impl Iterator<Item = (&'u Path, &'u Step)> + use<'s, 'u> {
    // Those in it follow it.
    let from = steps.range::<Path, _>((Bound::Included(top), Bound::Unbounded));
    from.take_while(move |(path, _)| path.starts_with(top)).map(|(path, step)| (*path, *step))
}

/// Leaves out what was refused and is as it was: a command that writes a file anew has changed nothing of it.
pub(super) fn leave_out_what_is_as_it_was(changes: &mut Changes, store: &Tree, workspace: &Tree) {
    if changes.refused.is_empty() {
        return;
    }
    let mut comparing = Comparing { store, workspace, left: MAX_COMPARED };
    let stays: BTreeSet<&Path> = changes.stays.iter().map(PathBuf::as_path).collect();
    let mut same: BTreeSet<PathBuf> = BTreeSet::new();
    for Refused { change, .. } in &changes.refused {
        let is_top = !change.path.ancestors().skip(1).any(|above| stays.contains(above));
        let may_be_same = change.what == ChangeKind::Changed
            && change.kind_before == Some(change.kind)
            && (change.kind != Kind::Directory || stays.contains(change.path.as_path()));
        if is_top && may_be_same && comparing.are_same(&change.path) {
            same.insert(change.path.clone());
        }
    }
    if !same.is_empty() {
        changes.refused.retain(|refused| !refused.change.path.ancestors().any(|above| same.contains(above)));
    }
}

struct Comparing<'t> {
    store: &'t Tree,
    workspace: &'t Tree,
    /// So many files may still be compared.
    left: usize,
}

impl Comparing<'_> {
    /// Whether something is in the layer what it is in the workspace, with all that is in it.
    fn are_same(&mut self, path: &Path) -> bool {
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            let Some(left) = self.left.checked_sub(1) else { return false };
            self.left = left;
            let looked = (self.workspace.look(&path), self.store.look(&inside(&path)));
            let (Ok(Some(before)), Ok(Some(after))) = looked else { return false };
            if before.kind != after.kind
                || before.mode != after.mode
                || !self.same_content(&path, before, after)
            {
                return false;
            }
            if before.kind == Kind::Directory {
                let names = |tree: &Tree, path: &Path| tree.names(path, self.left).ok();
                match (names(self.workspace, &path), names(self.store, &inside(&path))) {
                    (Some((before, false)), Some((after, false))) if before == after => {
                        waiting.extend(before.iter().map(|name| path.join(name)));
                    }
                    _ => return false,
                }
            }
        }
        true
    }

    fn same_content(&self, path: &Path, before: Meta, after: Meta) -> bool {
        match before.kind {
            Kind::Directory => true,
            Kind::Link => {
                let targets = (self.workspace.target(path), self.store.target(&inside(path)));
                matches!(targets, (Ok(before), Ok(after)) if before == after)
            }
            Kind::File if before.size == after.size && before.size <= MAX_CONTENT => {
                let content = |tree: &Tree, path: &Path| tree.content(path, MAX_CONTENT).ok().flatten();
                let before = content(self.workspace, path);
                before.is_some() && before == content(self.store, &inside(path))
            }
            _ => false,
        }
    }
}

/// Adds the steps by which what stays is moved on. Where that is not possible the whole directory stays as it was.
pub(super) fn move_on(changes: &mut Changes, store: &Tree, workspace: &Tree) {
    if changes.stays.is_empty() {
        return;
    }
    changes.stays.sort_unstable();
    changes.stays.dedup();
    let stays = std::mem::take(&mut changes.stays);
    let mut units = Vec::with_capacity(changes.units.len() + stays.len());
    let mut whole: Vec<(PathBuf, &Path)> = Vec::new();
    for unit in std::mem::take(&mut changes.units) {
        let Step::Exchange { path: top, .. } = &unit.step else {
            units.push(unit);
            continue;
        };
        // Those in it follow it.
        let from = stays.partition_point(|path| path < top);
        let within = || stays.iter().skip(from).take_while(|path| path.starts_with(top));
        match within().find(|path| !can_be_moved(path, store, workspace)) {
            Some(path) => whole.push((top.clone(), path)),
            None => {
                let steps = within().map(|path| Step::In { inside: inside(path), path: path.clone() });
                let more: Vec<_> = steps.map(|step| Unit { step, entries: Vec::new() }).collect();
                units.push(unit);
                units.extend(more);
            }
        }
    }
    let is_of = |path: &Path| whole.iter().find(|(top, _)| path.starts_with(top));
    changes.units = units;
    if whole.is_empty() {
        return;
    }
    // What changes permissions afterwards.
    changes.units.retain(|unit| is_of(unit.step.path()).is_none());
    for change in std::mem::take(&mut changes.accepted) {
        match is_of(&change.path) {
            Some((_, path)) => {
                let reason = format!("stays, because {} is protected, and cannot be moved", path.display());
                changes.refused.push(Refused { change, reason: reason.into() });
            }
            None => changes.accepted.push(change),
        }
    }
}

/// rename(2) needs the right to write in both directories, and in a directory that it moves, because of the `..` in it.
fn can_be_moved(path: &Path, store: &Tree, workspace: &Tree) -> bool {
    let permits = |tree: &Tree, path: &Path, bits| {
        let found = tree.look(path).ok().flatten();
        found.is_some_and(|found| found.kind != Kind::Directory || found.mode & bits == bits)
    };
    let above = path.parent().unwrap_or(Path::new(""));
    permits(workspace, above, OWNER_MOVES)
        && permits(store, &inside(above), OWNER_MOVES)
        && permits(workspace, path, OWNER_WRITES)
}
