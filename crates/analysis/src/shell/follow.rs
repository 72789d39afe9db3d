//! The workspace's own code may run: it is followed only to find what would be denied wherever it stands.

use crate::effect::{Certainty, Effect, EffectKind, Scope};
use crate::value::Origins;

/// Most files and recipes that one command is followed into.
const MAX_FILES: u32 = 16;

/// Deepest nesting of files that run files.
const MAX_LEVELS: u32 = 4;

/// The length of text for which following one file has a purse. It bounds what all of them cost together.
const PURSE: usize = 16 << 10;

/// What is being followed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Following {
    files: u32,
    levels: u32,
}

impl Following {
    /// Goes into one more file, and gives the purse for it; `None` if there were enough.
    pub(super) fn enter(&mut self) -> Option<usize> {
        if self.files >= MAX_FILES || self.levels >= MAX_LEVELS {
            return None;
        }
        self.files += 1;
        self.levels += 1;
        Some(PURSE)
    }

    /// Comes out of it.
    pub(super) fn leave(&mut self) {
        self.levels = self.levels.saturating_sub(1);
    }
}

/// Whether an effect is denied whoever's code has it: a home or the system destroyed, persistence, what comes from the
/// network executed, secrets sent out.
pub(super) fn is_grave(effect: &Effect<'_>) -> bool {
    if effect.certainty != Certainty::Certain {
        return false;
    }
    let sensitive = Origins::SECRET.union(Origins::ENVIRONMENT);
    let foreign = Origins::NETWORK.union(Origins::DECODED);
    match effect.kind {
        EffectKind::Delete { target, .. } => {
            let covers = target.covers;
            target.scope == Scope::Own || covers.root || covers.home || covers.system || covers.own
        }
        EffectKind::Write { target, .. } => {
            matches!(target.scope, Scope::Persistence | Scope::Own | Scope::Device | Scope::Secret)
                || target.covers.guarded
        }
        EffectKind::Connect { sends, .. } => sends.intersects(sensitive),
        EffectKind::Code { origin, .. } | EffectKind::Execute { origin, .. } => origin.intersects(foreign),
        EffectKind::Persist { .. } => true,
        _ => false,
    }
}
