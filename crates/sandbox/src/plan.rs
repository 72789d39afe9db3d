//! The prepared plan: an immutable list of primitive operations, in the order in which the child carries them out.
//!
//! One object serves three readers. A person reads it ([`Plan`]'s `Display`), an audit record hashes it
//! ([`Plan::canonical`]), the child executes it. Because they are the same object, what was shown is what was done.
//! All strings are prepared here, so that the child needs no memory of its own.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::ptr;

use crate::bubblewrap::Outer;
use crate::cgroup::GroupLimits;
use crate::error::Stage;
use crate::gate::Identity;
use crate::guarantee::Guarantee;
use crate::landlock::Access;
use crate::script::Script;
use crate::sys::{Instruction, RulesetAttributes};
use crate::{Network, cgroup, filter, init};

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

/// Something that was asked for and that this plan does not give. Whoever runs the plan must look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gap {
    /// A protected path does not exist inside its writable root, so nothing can be mounted on it: the command may create
    /// it.
    ProtectedMissing(PathBuf),
    /// A protected path is a symbolic link: its target is protected, the link itself can be replaced.
    ProtectedLink(PathBuf),
    /// A writable root belongs to another user. Root without capabilities is an ordinary user here: it may change what the
    /// permissions let it.
    OwnedByAnother(PathBuf),
    /// The machine lacks this, and the caller has accepted that.
    Accepted(Guarantee),
    /// These limits of a whole run cannot be had, for this reason: the control group that is needed is not delegated.
    NoGroup {
        /// What is not limited.
        limits: Vec<&'static str>,
        /// Why.
        why: String,
    },
    /// The process limit does not bind real root: on this kernel (before Linux 6.14 only a cgroup can), or because bubblewrap makes the pid
    /// namespace.
    ProcessLimit,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProtectedMissing(path) => {
                write!(f, "{} does not exist and could be created by the command", path.display())
            }
            Self::ProtectedLink(path) => {
                write!(f, "{} is a symbolic link and could be replaced by the command", path.display())
            }
            Self::OwnedByAnother(path) => write!(
                f,
                "{} belongs to another user and may not be writable for root without capabilities; run as its owner",
                path.display()
            ),
            Self::Accepted(guarantee) => write!(f, "{guarantee} (accepted): {}", guarantee.loss()),
            Self::NoGroup { limits, why } => {
                write!(f, "a limit of the whole run's {}: {why}; {}", limits.join(", "), cgroup::ADVICE)
            }
            Self::ProcessLimit => {
                write!(
                    f,
                    "the process limit does not bind root before Linux 6.14, nor where bubblewrap makes the namespaces; run as an ordinary user"
                )
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

/// A command together with everything that will be done to confine it.
///
/// Made by [`Confinement::prepare`](crate::Confinement::prepare), carried out by [`run`](crate::run) any number of times.
#[derive(Debug)]
pub struct Plan {
    pub(crate) operations: Vec<Operation>,
    pub(crate) slots: usize,
    pub(crate) clone_flags: i32,
    pub(crate) network: Network,
    /// `name, program, argv…` as process 1 takes them.
    pub(crate) arguments: CStrings,
    pub(crate) environment: CStrings,
    /// What runs without a shell, for people, and as process 1's child carries it out.
    pub(crate) script: Option<Script>,
    pub(crate) table: Option<Vec<u8>>,
    pub(crate) gaps: Vec<Gap>,
    /// Whether there is a pseudo-terminal.
    pub(crate) terminal: bool,
    /// What the control group of its own limits, if it has one.
    pub(crate) group: Option<GroupLimits>,
    /// Whether every program that starts is judged.
    pub(crate) gated: bool,
    /// The only programs that may be executed, if there is such a list.
    pub(crate) only: Option<Vec<Identity>>,
    /// What bubblewrap does of it, if it makes the namespaces.
    pub(crate) outer: Option<Outer>,
}

impl Plan {
    pub(crate) fn arguments(terminal: bool, program: CString, argv: Vec<CString>) -> CStrings {
        CStrings::new([init::name(terminal), program].into_iter().chain(argv).collect())
    }

    /// The filter of system calls, an array of the kernel's `struct sock_filter` (seccomp(2)).
    #[must_use]
    pub fn filter(&self) -> Option<Vec<u8>> {
        let program = self.operations.iter().find_map(|operation| match operation {
            Operation::Filter { program, .. } => Some(program),
            _ => None,
        })?;
        let bytes = |instruction: &Instruction| {
            let Instruction { code, jump_true, jump_false, k } = *instruction;
            let ([a, b], [c, d, e, f]) = (code.to_ne_bytes(), k.to_ne_bytes());
            [a, b, jump_true, jump_false, c, d, e, f]
        };
        Some(program.iter().flat_map(bytes).collect())
    }

    /// What was asked for and is not given. Empty in the good case.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The whole plan as bytes that are the same for the same plan: every operation with its parameters, the filter's
    /// instructions, arguments and environment with their values. Left out is what says nothing about what is permitted:
    /// which empty layer an overlay gets, and descriptors that are held so as not to look a path up again. To be hashed,
    /// not shown: the environment may hold what nobody should read in a log.
    pub fn canonical(&self) -> Vec<u8> {
        // A script's table is long, and much of it is zero: it stands there as it is, after its length.
        let table = self.table.as_deref().unwrap_or_default();
        let mut out = Vec::with_capacity(table.len() + TEXT);
        // Writing to memory cannot fail.
        let _ = self.write_canonical(&mut out, table);
        out
    }

    fn write_canonical(&self, out: &mut Vec<u8>, table: &[u8]) -> io::Result<()> {
        writeln!(out, "shward-sandbox plan 2\nclone {:#x}\nnetwork {}", self.clone_flags, self.network)?;
        for (_, file, text) in self.group.iter().flat_map(|group| &group.files) {
            writeln!(out, "group {file} {text}")?;
        }
        for operation in &self.operations {
            write!(out, "{operation}")?;
            match operation {
                Operation::Rule { rights, .. } => write!(out, " {rights:#x}")?,
                Operation::Filter { program, .. } => {
                    for instruction in program {
                        let Instruction { code, jump_true, jump_false, k } = instruction;
                        write!(out, " {code:x},{jump_true:x},{jump_false:x},{k:x}")?;
                    }
                }
                _ => {}
            }
            out.push(b'\n');
        }
        if let Some(Outer { program, arguments, steps, .. }) = &self.outer {
            writeln!(out, "bubblewrap {}", shown(program))?;
            for text in arguments {
                writeln!(out, "bubblewrap {}", shown(text))?;
            }
            for step in steps {
                writeln!(out, "inside {step:?}")?;
            }
        }
        for Identity { device, inode } in self.only.iter().flatten() {
            writeln!(out, "only {device:x}:{inode}")?;
        }
        if !table.is_empty() {
            writeln!(out, "script {}", table.len())?;
            out.extend_from_slice(table);
            out.push(b'\n');
        }
        for (kind, list) in [("argument", &self.arguments), ("environment", &self.environment)] {
            for text in &list.strings {
                writeln!(out, "{kind} {}", shown(text))?;
            }
        }
        Ok(())
    }
}

/// How much else there is in most plans, in bytes.
const TEXT: usize = 16 << 10;

/// One numbered line per operation; the environment by name only.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let new: Vec<&str> = Guarantee::ALL
            .into_iter()
            .filter(|guarantee| self.clone_flags & guarantee.clone_flag() != 0)
            .map(Guarantee::name)
            .collect();
        match &self.outer {
            None => writeln!(f, " 0  new namespaces: {}; network: {}", new.join(" "), self.network)?,
            Some(outer) => writeln!(
                f,
                " 0  namespaces and mounts by {}; network: {}",
                shown(&outer.program),
                self.network
            )?,
        }
        if self.outer.is_none()
            && !self.operations.iter().any(|operation| matches!(operation, Operation::Filter { .. }))
        {
            writeln!(f, "    NOTHING IS CONFINED: it may do what the user may")?;
        }
        if let Some(group) = &self.group {
            write!(f, "    a control group of its own:")?;
            group.files.iter().try_for_each(|(_, file, text)| write!(f, " {file}={text}"))?;
            writeln!(f)?;
        }
        for (number, operation) in (1..).zip(&self.operations) {
            writeln!(f, "{number:2}  {operation}")?;
        }
        if let Some(outer) = &self.outer {
            write!(f, "    bubblewrap:")?;
            outer.arguments.iter().try_for_each(|argument| write!(f, " {}", shown(argument)))?;
            writeln!(f, "\n    inside, before the command:")?;
            for (number, step) in (1..).zip(&outer.steps) {
                writeln!(f, "{number:2}  {step}")?;
            }
        }
        let names: Vec<String> = self
            .environment
            .strings
            .iter()
            .filter_map(|entry| entry.to_bytes().split(|byte| *byte == b'=').next())
            .map(|name| name.escape_ascii().to_string())
            .collect();
        writeln!(f, "    environment: {}", names.join(" "))?;
        write!(f, "    run:")?;
        match &self.script {
            Some(script) => write!(f, " {script}")?,
            None => {
                (self.arguments.strings.iter().skip(1))
                    .try_for_each(|argument| write!(f, " {}", shown(argument)))?;
            }
        }
        writeln!(f)?;
        for gap in &self.gaps {
            writeln!(f, "    not given: {gap}")?;
        }
        Ok(())
    }
}
