//! The primitive operations of a plan, with what a person reads of each.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::ptr;

use crate::error::Stage;
use crate::filter;
use crate::landlock::Access;
use crate::network::Network;
use crate::sys::{Instruction, RulesetAttributes};

/// Where a descriptor that one operation opens and a later one uses is kept.
pub(crate) type Slot = usize;

/// One primitive operation. Paths are absolute and were canonical when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Die when the supervisor's thread dies.
    DieWithSupervisor,
    /// See only the own control group and what is below it.
    OwnControlGroups,
    /// Leave the terminal and the process group.
    NewSession,
    /// Default dispositions, nothing blocked.
    ResetSignals,
    /// Map one user and one group to themselves.
    MapIds { user: CString, group: CString },
    /// Cut mount propagation with the host.
    IsolateMounts,
    /// Take a detached copy of the tree at a path, as it is now, with attributes added to it.
    TakeTree { path: CString, attributes: u64, slot: Slot },
    /// Mount an overlay on a writable root, so that changes go to a layer of their own. `store` is where that layer lies; which
    /// directory of it is part of the options.
    MountOverlay { path: CString, options: CString, store: CString },
    /// Add attributes to every mount.
    SealRoot { attributes: u64 },
    /// Mount one memory file system that holds all private directories and the masks, and keep a handle of it.
    MountScratch { path: CString, options: CString, slot: Slot },
    /// Make a directory in the scratch file system.
    ScratchDirectory { scratch: Slot, name: CString, mode: u32 },
    /// Make an empty file in the scratch file system.
    ScratchFile { scratch: Slot, name: CString, mode: u32 },
    /// Take a detached copy of a part of the scratch file system.
    TakeScratch { scratch: Slot, name: CString, attributes: u64, slot: Slot },
    /// Make a directory inside a private directory.
    MakeDirectory { path: CString, mode: u32 },
    /// Make an empty file inside a private directory, to mount on.
    MakeFile { path: CString },
    /// Make a symbolic link inside a private directory.
    MakeLink { content: CString, path: CString },
    /// Attach a taken tree. That uses it up, unless it is `kept` for a rule about it.
    Attach { slot: Slot, path: CString, kept: bool },
    /// Mount a fresh devpts.
    MountTerminals,
    /// Make a pseudo-terminal there, hand our side of it out, and have the other as standard input, output and error.
    OpenTerminal,
    /// Mount a fresh proc.
    MountProc,
    /// Bound the number of processes by the namespace's own pid range; the reserved pids at its beginning are skipped where the
    /// kernel lets one.
    LimitPids { text: CString, skip: bool },
    /// Make the fresh proc read-only.
    SealProc,
    /// Bring up `lo`.
    RaiseLoopback,
    /// Listen on 127.0.0.1, and hand the socket out to be served there.
    OfferProxy { port: u16 },
    /// Soft and hard limit of a resource.
    Limit { resource: i64, name: &'static str, value: u64 },
    /// Enter the working directory.
    ChangeDirectory { path: CString },
    /// Standard streams and the status pipe to 0..=3; all else closes at execve.
    PlaceDescriptors,
    /// Empty the bounding set: what is not there at execve(2), nobody gets.
    BoundCapabilities,
    /// Empty the ambient, permitted, effective and inheritable sets; lock root's magic off.
    DropCapabilities,
    /// prctl(2) `PR_SET_NO_NEW_PRIVS`.
    NoNewPrivileges,
    /// Create the Landlock ruleset.
    Ruleset { attributes: RulesetAttributes, size: usize, slot: Slot },
    /// Grant rights beneath a path: that of the tree, if one was kept for it.
    Rule { path: CString, access: Access, rights: u64, ruleset: Slot, tree: Option<Slot> },
    /// Enforce the ruleset.
    EnforceRuleset { ruleset: Slot },
    /// Install the seccomp filter.
    Filter { network: Network, gated: bool, program: Vec<Instruction> },
}

impl Operation {
    pub(crate) fn stage(&self) -> Stage {
        match self {
            Self::DieWithSupervisor | Self::NewSession | Self::ResetSignals | Self::OwnControlGroups => {
                Stage::Session
            }
            Self::MapIds { .. } => Stage::IdMap,
            Self::IsolateMounts
            | Self::TakeTree { .. }
            | Self::MountOverlay { .. }
            | Self::SealRoot { .. }
            | Self::MountScratch { .. }
            | Self::ScratchDirectory { .. }
            | Self::ScratchFile { .. }
            | Self::TakeScratch { .. }
            | Self::MakeDirectory { .. }
            | Self::MakeFile { .. }
            | Self::MakeLink { .. }
            | Self::Attach { .. }
            | Self::MountTerminals => Stage::Mount,
            Self::OpenTerminal => Stage::Terminal,
            Self::MountProc | Self::SealProc => Stage::Proc,
            Self::RaiseLoopback | Self::OfferProxy { .. } => Stage::Loopback,
            Self::LimitPids { .. } | Self::Limit { .. } => Stage::Limits,
            Self::ChangeDirectory { .. } => Stage::Cwd,
            Self::PlaceDescriptors => Stage::Descriptors,
            Self::BoundCapabilities | Self::DropCapabilities | Self::NoNewPrivileges => Stage::Privileges,
            Self::Ruleset { .. } | Self::Rule { .. } | Self::EnforceRuleset { .. } => Stage::Landlock,
            Self::Filter { .. } => Stage::Seccomp,
        }
    }
}

impl Operation {
    /// Whether it makes something in the scratch file system of its plan.
    pub(crate) fn is_in_scratch(&self) -> bool {
        matches!(self, Self::ScratchDirectory { .. } | Self::ScratchFile { .. })
    }

    /// Whether it is of a kind that is done before there is a plan ([`Begun`](crate::begun::Begun)).
    pub(crate) fn may_be_early(&self) -> bool {
        matches!(
            self,
            Self::MapIds { .. }
                | Self::ResetSignals
                | Self::BoundCapabilities
                | Self::IsolateMounts
                | Self::MountOverlay { .. }
                | Self::TakeTree { .. }
                | Self::MountScratch { .. }
                | Self::ScratchDirectory { .. }
                | Self::ScratchFile { .. }
                | Self::MountTerminals
        )
    }

    /// Whether it asks for the same as another but for where a descriptor is kept, or what was made is put.
    pub(crate) fn is_same_work(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::TakeTree { path, attributes, .. },
                Self::TakeTree { path: same, attributes: alike, .. },
            ) => (path, attributes) == (same, alike),
            (Self::MountScratch { options, .. }, Self::MountScratch { options: same, .. }) => options == same,
            (
                Self::ScratchDirectory { name, mode, .. },
                Self::ScratchDirectory { name: same, mode: alike, .. },
            )
            | (Self::ScratchFile { name, mode, .. }, Self::ScratchFile { name: same, mode: alike, .. }) => {
                (name, mode) == (same, alike)
            }
            _ => self == other,
        }
    }
}

/// Text that any bytes survive, on one line.
pub(crate) fn shown(text: &CStr) -> impl fmt::Display {
    text.to_bytes().escape_ascii()
}

/// ` with ro,nosuid`, or nothing.
fn with_attributes(bits: u64) -> String {
    match bits {
        0 => String::new(),
        _ => format!(" with {}", attribute_names(bits)),
    }
}

fn attribute_names(bits: u64) -> String {
    use crate::sys::attribute;
    let names = [
        (attribute::READ_ONLY, "ro"),
        (attribute::NO_SUID, "nosuid"),
        (attribute::NO_DEV, "nodev"),
        (attribute::NO_EXEC, "noexec"),
    ];
    let set: Vec<&str> = names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    set.join(",")
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DieWithSupervisor => write!(f, "die with the supervisor"),
            Self::OwnControlGroups => write!(f, "see no control group but its own"),
            Self::NewSession => write!(f, "start a session of its own"),
            Self::ResetSignals => write!(f, "reset signals"),
            Self::MapIds { user, group } => {
                write!(f, "map user {} and group {} to themselves", shown(user), shown(group))
            }
            Self::IsolateMounts => write!(f, "cut mounts off from the host"),
            Self::TakeTree { path, attributes, slot } => {
                write!(f, "take {}{} as #{slot}", shown(path), with_attributes(*attributes))
            }
            Self::MountOverlay { path, store, .. } => {
                write!(f, "mount an overlay on {}, its upper layer in {}", shown(path), shown(store))
            }
            Self::SealRoot { attributes } => write!(f, "make everything {}", attribute_names(*attributes)),
            Self::MountScratch { path, options, slot } => {
                write!(f, "mount tmpfs {} on {} as #{slot}", shown(options), shown(path))
            }
            Self::ScratchDirectory { scratch, name, mode } => {
                write!(f, "make directory {} of mode {mode:04o} in #{scratch}", shown(name))
            }
            Self::ScratchFile { scratch, name, mode } => {
                write!(f, "make file {} of mode {mode:04o} in #{scratch}", shown(name))
            }
            Self::TakeScratch { scratch, name, attributes, slot } => {
                write!(f, "take {} of #{scratch}{} as #{slot}", shown(name), with_attributes(*attributes))
            }
            Self::MakeDirectory { path, mode } => {
                write!(f, "make directory {} of mode {mode:04o}", shown(path))
            }
            Self::MakeFile { path } => write!(f, "make file {}", shown(path)),
            Self::MakeLink { content, path } => write!(f, "make link {} to {}", shown(path), shown(content)),
            Self::Attach { slot, path, .. } => write!(f, "attach #{slot} on {}", shown(path)),
            Self::MountTerminals => write!(f, "mount a private devpts on /dev/pts"),
            Self::OpenTerminal => {
                write!(
                    f,
                    "make a pseudo-terminal, as standard input, output and error, and hand its other side out"
                )
            }
            Self::MountProc => write!(f, "mount a fresh proc on /proc"),
            Self::LimitPids { text, skip } => {
                write!(f, "limit pids to {}{}", shown(text), if *skip { ", from 301" } else { "" })
            }
            Self::SealProc => write!(f, "make /proc read-only"),
            Self::RaiseLoopback => write!(f, "bring up the loopback interface"),
            Self::OfferProxy { port } => write!(f, "listen on 127.0.0.1:{port} for the proxy outside"),
            Self::Limit { name, value, .. } => write!(f, "limit {name} to {value}"),
            Self::ChangeDirectory { path } => write!(f, "enter {}", shown(path)),
            Self::PlaceDescriptors => write!(f, "keep descriptors 0 to 2, close the others"),
            Self::BoundCapabilities => write!(f, "bound capabilities to none"),
            Self::DropCapabilities => write!(f, "drop all capabilities"),
            Self::NoNewPrivileges => write!(f, "set no_new_privs"),
            Self::Ruleset { attributes, .. } => write!(
                f,
                "landlock: handle files {:#x}, tcp {:#x}, scopes {:#x}",
                attributes.filesystem, attributes.network, attributes.scoped
            ),
            Self::Rule { path, access, .. } => {
                write!(f, "landlock: {} beneath {}", access.name(), shown(path))
            }
            Self::EnforceRuleset { .. } => write!(f, "landlock: enforce"),
            Self::Filter { network, gated, program } => {
                let gate = if *gated { "; every execve waits for the gate" } else { "" };
                write!(f, "seccomp: {}{gate} ({} instructions)", filter::summary(*network), program.len())
            }
        }
    }
}

/// A null-terminated array of C strings, with what it points to.
pub(crate) struct CStrings {
    pub(crate) strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl CStrings {
    pub(crate) fn new(strings: Vec<CString>) -> Self {
        let pointers = strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect();
        Self { strings, pointers }
    }

    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

// SAFETY: the pointers lead to the heap buffers of `strings`, which this value owns and never changes.
unsafe impl Send for CStrings {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for CStrings {}

impl fmt::Debug for CStrings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} strings", self.strings.len()) // not their text: an environment may hold secrets
    }
}
