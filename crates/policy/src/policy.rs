//! A policy: which profile decides.

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
}

impl Profile {
    /// All profiles.
    pub const ALL: &'static [Self] = &[Self::Workspace];

    /// The name on the command line and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
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

    /// The policy as bytes that are the same for the same policy, to be hashed into records.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        format!("shward {} profile {}\n", env!("CARGO_PKG_VERSION"), self.profile.name()).into_bytes()
    }
}
