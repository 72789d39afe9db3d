//! The three decisions and the four tiers.

use std::fmt;

use crate::kinds::Kinds;
use shward_analysis::{EffectKind, Scope};

/// What is decided. Ordered by strictness: the strictest of several is their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// May run.
    Allow,
    /// A model or a person has to answer first.
    Ask,
    /// Must not run.
    Deny,
}

impl Decision {
    /// The word in JSON and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much is at stake: 1 reads only; 2 can have an impact (network, install, writes); 3 destroys, or raises privilege;
/// 4 is catastrophic and always denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Reads only.
    One = 1,
    /// Can have an impact.
    Two = 2,
    /// Destroys, or raises privilege.
    Three = 3,
    /// Catastrophic.
    Four = 4,
}

/// The least tier of what is not understood, where a policy of tiers names no other.
pub(crate) const DEFAULT_TIER: Tier = Tier::Two;

impl Tier {
    /// The tier as a number, 1 to 4.
    #[must_use]
    pub const fn get(self) -> u8 {
        self as u8
    }
}

/// The tier of an effect that no rule speaks of: reading is 1, whatever else is 2.
pub(crate) fn tier_of(kind: &EffectKind<'_>) -> Tier {
    let harmless = match kind {
        EffectKind::Read { .. } | EffectKind::List { .. } => true,
        EffectKind::Write { target, .. } => target.scope == Scope::Harmless,
        EffectKind::Signal { what } => *what == "own",
        EffectKind::Remote { action, .. } => *action == "read",
        _ => false,
    };
    debug_assert!(Kinds::of(kind).intersects(Kinds::EFFECT), "every effect is a kind of effect");
    if harmless { Tier::One } else { Tier::Two }
}
