//! A policy: which profile decides.

use crate::rule::Rule;
use crate::rules::{READ_ONLY, WORKSPACE};

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    profile: Profile,
}

/// A named policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Profile {
    /// For a coding agent: works freely in its workspace, asks for what reaches beyond it.
    #[default]
    Workspace,
    /// Inspection: whatever does more than read is denied.
    ReadOnly,
    /// Everything but the floor is allowed; for a machine that is thrown away afterwards.
    Open,
}

impl Profile {
    /// All profiles.
    pub const ALL: &'static [Self] = &[Self::Workspace, Self::ReadOnly, Self::Open];

    /// The name on the command line and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::ReadOnly => "read-only",
            Self::Open => "open",
        }
    }

    /// The profile of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|p| p.name() == name)
    }
}

impl Policy {
    /// The policy of a profile.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile }
    }

    /// The profile.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The rules that hold. Those of the floor hold in every profile.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        let profile = self.profile;
        let added = if profile == Profile::ReadOnly { READ_ONLY } else { &[] };
        WORKSPACE
            .into_iter()
            .flatten()
            .filter(move |rule| profile != Profile::Open || rule.floor)
            .chain(added)
    }

    /// The policy as bytes that are the same for the same policy, to be hashed into records.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        format!("shward {} profile {}\n", env!("CARGO_PKG_VERSION"), self.profile.name()).into_bytes()
    }
}
