//! What somebody has agreed to, who was shown a list: of what is judged again only what was on it.

use super::Guard;
use shward_sandbox::overlay::{
    Change, ChangeKind, Changes, CommitPolicy, Content, Kind, OverlayError, Refused, Run, Sight,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Judges a run once more, and accepts only what was accepted in what was `shown`, as it was. Gives also what of that cannot be
/// committed any more, and why.
pub(super) fn changes(
    run: &Run,
    guard: &Guard<'_>,
    shown: &Changes,
) -> Result<(Changes, Vec<String>), OverlayError> {
    let mut agreed = Agreed { guard, shown, unshown: BTreeSet::new() };
    loop {
        let mut changes = run.changes(&agreed)?;
        // What goes with a directory is not asked about, and somebody may have put something into it.
        let before = agreed.unshown.len();
        let unshown = changes.accepted.iter().filter(|change| !agreed.was_accepted(change));
        let unshown: Vec<PathBuf> = unshown.map(|change| change.path.clone()).collect();
        agreed.unshown.extend(unshown);
        if agreed.unshown.len() == before {
            let was_promised = |refused: &mut Refused| {
                let path = &refused.change.path;
                shown.accepted.binary_search_by(|shown| shown.path.cmp(path)).is_ok()
            };
            let lost = changes.refused.extract_if(.., was_promised);
            let lost = lost
                .map(|Refused { change, reason }| format!("{}: {reason}", change.path.display()))
                .collect();
            return Ok((changes, lost));
        }
        if before > 0 {
            return Err(OverlayError::Others("others were changing what was agreed to all the time"));
        }
    }
}

struct Agreed<'a> {
    guard: &'a Guard<'a>,
    shown: &'a Changes,
    /// What lies in directories that would go, and was not shown.
    unshown: BTreeSet<PathBuf>,
}

impl Agreed<'_> {
    fn was_accepted(&self, change: &Change) -> bool {
        // They are in the order of their paths.
        let accepted = &self.shown.accepted;
        let from = accepted.partition_point(|shown| shown.path < change.path);
        let mut same =
            accepted.get(from..).unwrap_or_default().iter().take_while(|shown| shown.path == change.path);
        same.any(|shown| shown == change)
    }
}

impl CommitPolicy for Agreed<'_> {
    fn refuses(&self, change: &Change, sight: &Sight<'_>) -> Option<Cow<'static, str>> {
        if let Some(reason) = self.guard.refuses(change, sight) {
            return Some(reason);
        }
        let whole = change.whole || (change.what == ChangeKind::Deleted && change.kind == Kind::Directory);
        if whole
            && self.unshown.range(change.path.clone()..).next().is_some_and(|p| p.starts_with(&change.path))
        {
            return Some("holds what somebody else has changed since it was asked about".into());
        }
        if self.was_accepted(change) {
            return None;
        }
        let refused = &self.shown.refused;
        let was_refused = refused
            .get(refused.partition_point(|shown| shown.change.path < change.path))
            .is_some_and(|shown| shown.change.path == change.path);
        Some(match was_refused {
            true => "was refused when it was asked about".into(),
            false => "is not what was shown when it was asked about".into(),
        })
    }

    fn meaning(&self, path: &Path, content: Content<'_>) -> Option<Vec<u8>> {
        self.guard.meaning(path, content)
    }
}
