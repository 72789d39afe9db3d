//! Which directories of the workspace a command is seen to rename. On the overlay of a run that takes a copy of them.

use crate::Request;
use crate::special::Special;
use shward_analysis::{EffectKind, Plan, Rest};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How many places are looked at. A list of more names is one of files.
const LOOKED_AT: usize = 4096;

/// The directories that a plan takes from their places as they are: what is deleted there, and not with all that is in it.
pub(crate) fn directories(plan: &Plan<'_>, request: &Request) -> Vec<PathBuf> {
    let taken = plan.effects.iter().filter_map(|effect| match &effect.kind {
        EffectKind::Delete { target, .. } if target.rest == Rest::Exact && !target.tree => {
            Some(Path::new(OsStr::from_bytes(target.path)))
        }
        _ => None,
    });
    let placed = taken.take(LOOKED_AT).filter_map(|path| {
        if !path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return None;
        }
        // What lies there is renamed, through whatever links it was named.
        let place = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
        (place != request.workspace && place.starts_with(&request.workspace)).then_some(place)
    });
    placed.collect()
}

/// Those of them that can be copied into a layer: in them nothing is hidden from the command, which a copy would show.
pub(crate) fn open(directories: Vec<PathBuf>, special: &Special) -> Vec<PathBuf> {
    let is_open = |directory: &PathBuf| {
        let holds = |hidden: &PathBuf| hidden.starts_with(directory);
        let below = |hidden: &PathBuf| directory.starts_with(hidden);
        !special.emptied.iter().any(holds)
            && !special.hidden.iter().any(|hidden| holds(hidden) || below(hidden))
    };
    directories.into_iter().filter(is_open).collect()
}
