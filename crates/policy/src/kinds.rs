//! Sets of kinds of effects, and of scopes.

use shward_analysis::{EffectKind, Scope};

/// The kinds of effects, in the order of their bits.
pub(crate) const EFFECTS: &[&str] = &[
    "read",
    "list",
    "write",
    "delete",
    "metadata",
    "execute",
    "code",
    "connect",
    "listen",
    "signal",
    "privilege",
    "persist",
    "system",
    "package",
    "vcs",
    "remote",
    "unknown",
];

/// A set of kinds of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u32);

impl Kinds {
    pub(crate) const READ: Self = Self(1);
    pub(crate) const LIST: Self = Self(1 << 1);
    pub(crate) const WRITE: Self = Self(1 << 2);
    pub(crate) const DELETE: Self = Self(1 << 3);
    pub(crate) const METADATA: Self = Self(1 << 4);
    pub(crate) const EXECUTE: Self = Self(1 << 5);
    pub(crate) const CODE: Self = Self(1 << 6);
    pub(crate) const CONNECT: Self = Self(1 << 7);
    pub(crate) const LISTEN: Self = Self(1 << 8);
    pub(crate) const SIGNAL: Self = Self(1 << 9);
    pub(crate) const PRIVILEGE: Self = Self(1 << 10);
    pub(crate) const PERSIST: Self = Self(1 << 11);
    pub(crate) const SYSTEM: Self = Self(1 << 12);
    pub(crate) const PACKAGE: Self = Self(1 << 13);
    pub(crate) const VCS: Self = Self(1 << 14);
    pub(crate) const REMOTE: Self = Self(1 << 15);
    pub(crate) const UNKNOWN: Self = Self(1 << 16);
    /// A program that is started, whatever its effects.
    pub(crate) const INVOCATION: Self = Self(1 << 17);
    /// Everything that changes files.
    pub(crate) const CHANGE: Self = Self(Self::WRITE.0 | Self::DELETE.0 | Self::METADATA.0);
    /// Nothing.
    pub(crate) const NONE: Self = Self(0);
    /// Everything that touches a place in the file system.
    pub(crate) const PLACED: Self = Self(Self::CHANGE.0 | Self::READ.0 | Self::LIST.0 | Self::EXECUTE.0);
    /// Everything that text flows into.
    pub(crate) const CARRYING: Self = Self(Self::WRITE.0 | Self::EXECUTE.0 | Self::CODE.0 | Self::CONNECT.0);
    /// How many kinds there are, programs that are started among them.
    pub(crate) const COUNT: usize = 18;
    /// Every effect.
    pub(crate) const EFFECT: Self = Self(Self::INVOCATION.0 - 1);

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// No kind at all.
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// As one bit for each kind.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// From one bit for each kind.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Its place in a table of kinds, if this is one kind.
    pub(crate) const fn index(self) -> usize {
        self.0.trailing_zeros() as usize
    }

    /// The kind of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        EFFECTS.iter().position(|known| *known == name).map(|at| Self(1 << at))
    }

    /// The kind of an effect. A kind that this crate does not know yet counts as not understood.
    pub(crate) fn of(kind: &EffectKind<'_>) -> Self {
        match kind {
            EffectKind::Read { .. } => Self::READ,
            EffectKind::List { .. } => Self::LIST,
            EffectKind::Write { .. } => Self::WRITE,
            EffectKind::Delete { .. } => Self::DELETE,
            EffectKind::Metadata { .. } => Self::METADATA,
            EffectKind::Execute { .. } => Self::EXECUTE,
            EffectKind::Code { .. } => Self::CODE,
            EffectKind::Connect { .. } => Self::CONNECT,
            EffectKind::Listen { .. } => Self::LISTEN,
            EffectKind::Signal { .. } => Self::SIGNAL,
            EffectKind::Privilege { .. } => Self::PRIVILEGE,
            EffectKind::Persist { .. } => Self::PERSIST,
            EffectKind::System { .. } => Self::SYSTEM,
            EffectKind::Package { .. } => Self::PACKAGE,
            EffectKind::Vcs { .. } => Self::VCS,
            EffectKind::Remote { .. } => Self::REMOTE,
            _ => Self::UNKNOWN,
        }
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scopes(u16);

impl Scopes {
    pub(crate) const PRODUCT: Self = Self::of(Scope::Product);
    pub(crate) const WORKSPACE: Self = Self::of(Scope::Workspace);
    pub(crate) const TEMP: Self = Self::of(Scope::Temp);
    pub(crate) const REPOSITORY: Self = Self::of(Scope::Repository);
    pub(crate) const ELSEWHERE: Self = Self::of(Scope::Elsewhere);
    pub(crate) const HOME: Self = Self::of(Scope::Home);
    pub(crate) const SYSTEM: Self = Self::of(Scope::System);
    pub(crate) const UNKNOWN: Self = Self::of(Scope::Unknown);
    pub(crate) const PERSISTENCE: Self = Self::of(Scope::Persistence);
    pub(crate) const ENVIRONMENT: Self = Self::of(Scope::Environment);
    pub(crate) const DEVICE: Self = Self::of(Scope::Device);
    pub(crate) const SECRET: Self = Self::of(Scope::Secret);
    pub(crate) const OWN: Self = Self::of(Scope::Own);

    pub(crate) const fn of(scope: Scope) -> Self {
        Self(1 << scope as u16)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn contains(self, scope: Scope) -> bool {
        self.contains_index(scope as usize)
    }

    pub(crate) const fn contains_index(self, scope: usize) -> bool {
        self.0 & (1 << scope) != 0
    }
}
