//! What a command may do to the world.

use crate::value::Origins;
use shward_syntax::Span;
use std::num::NonZeroU32;

/// Something that may happen when the script runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect<'a> {
    /// What.
    pub kind: EffectKind<'a>,
    /// Whether it happens whenever the script runs to its end without an error.
    pub certainty: Certainty,
    /// The part of the command that does it.
    pub span: Span,
    /// One more than the index of the invocation, so that it takes four bytes: of effects a plan has most.
    by: Option<NonZeroU32>,
}

impl<'a> Effect<'a> {
    /// An effect of an invocation, or of the shell itself.
    #[must_use]
    pub const fn new(
        kind: EffectKind<'a>,
        certainty: Certainty,
        span: Span,
        invocation: Option<u32>,
    ) -> Self {
        let by = match invocation {
            Some(at) => NonZeroU32::new(at.saturating_add(1)),
            None => None,
        };
        Self { kind, certainty, span, by }
    }

    /// The invocation that does it, as an index into [`Plan::invocations`](crate::Plan); `None` for the shell itself.
    #[must_use]
    pub const fn invocation(&self) -> Option<u32> {
        match self.by {
            Some(next) => Some(next.get() - 1),
            None => None,
        }
    }
}

/// How sure an effect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It depends on what is not known: a branch, a glob, a variable.
    Possible,
    /// It happens.
    Certain,
}

/// The kinds of effects. `&'static str` details come from the closed vocabulary of `docs/knowledge.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum EffectKind<'a> {
    /// A file's content, or the environment, is read.
    Read {
        /// What is read.
        target: Target<'a>,
    },
    /// Names or metadata are read: a directory's listing, a file's size, owner, times or existence. It tells nothing of
    /// any file's content, so that looking whether a key exists is not the same as reading it.
    List {
        /// What is looked at.
        target: Target<'a>,
    },
    /// A file is created, replaced, appended to or changed.
    Write {
        /// What is written.
        target: Target<'a>,
        /// How.
        mode: WriteMode,
        /// Where the new content comes from.
        content: Origins,
    },
    /// A directory entry is removed.
    Delete {
        /// What is removed.
        target: Target<'a>,
        /// Whether it lies elsewhere in the workspace then, under its own name or one that nothing had before: it was moved.
        kept: bool,
    },
    /// Mode, owner, times or attributes change.
    Metadata {
        /// Of what.
        target: Target<'a>,
        /// `mode`, `owner`, `times`, `attributes`, `setuid` (a mode with the set-user-ID or set-group-ID bit),
        /// `world-writable`.
        what: &'static str,
    },
    /// A program is started that the command knowledge does not describe.
    Execute {
        /// The program file, or its bare name when it is looked up in `PATH` (`target.path` is then the name).
        target: Target<'a>,
        /// Where the name comes from.
        origin: Origins,
    },
    /// Instructions in some language are executed and were not, or cannot be, read as effects of their own.
    Code {
        /// `shell`, `python`, `javascript`, `perl`, `ruby`, `awk`, `sed`, `sql`, `native`, `project` (what the
        /// workspace's own build and test files say), …
        language: &'static str,
        /// The text, if known.
        text: Option<&'a [u8]>,
        /// Where it comes from.
        origin: Origins,
        /// Where the code's source was produced, when that is another part of the command.
        source: Option<Span>,
    },
    /// A network connection to elsewhere.
    Connect {
        /// Where to.
        endpoint: Endpoint<'a>,
        /// What is sent beyond the request itself; empty when nothing is.
        sends: Origins,
        /// Where what is sent was produced.
        source: Option<Span>,
    },
    /// A socket is opened for others to connect to.
    Listen {
        /// The address, if known.
        endpoint: Endpoint<'a>,
    },
    /// A signal is sent to a process.
    Signal {
        /// `own` (started by this script), `process` (a number or unknown), `name` (by name), `all`.
        what: &'static str,
    },
    /// Rights of another user are used or given.
    Privilege {
        /// `sudo`, `user`, `setuid`, `capability`, `container`, `account`, …
        what: &'static str,
    },
    /// Something is arranged to run later or at start-up.
    Persist {
        /// `cron`, `at`, `service`, `login`, `hook`, `kernel`, …
        what: &'static str,
    },
    /// The machine's own state changes.
    System {
        /// `service`, `power`, `kernel`, `clock`, `mount`, `network`, `firewall`, `disk`, `process-limits`, `audit`, …
        what: &'static str,
    },
    /// Packages are installed, removed or published.
    Package {
        /// `install`, `remove`, `update`, `publish`, `configure`.
        action: &'static str,
    },
    /// Version control state changes in a way that matters beyond files.
    Vcs {
        /// `stage`, `commit`, `branch`, `merge`, `rewrite`, `discard`, `fetch`, `push`, `force-push`, `config`, `delete`, …
        action: &'static str,
    },
    /// A cloud, cluster, container engine or database elsewhere is used.
    Remote {
        /// `read`, `change` or `destroy`.
        action: &'static str,
        /// Which: `docker`, `kubernetes`, `aws`, `sql`, …
        service: &'static str,
    },
    /// Anything may happen: the analysis does not understand this part.
    Unknown {
        /// What was not understood.
        reason: Unknown<'a>,
    },
}

impl EffectKind<'_> {
    /// Whether what is written may lie at a place, below it, or be a directory that the place is in.
    pub(crate) fn may_write(&self, place: &[u8]) -> bool {
        let Self::Write { target, mode, .. } = *self else { return false };
        let around = |outer: &[u8]| {
            let outer = outer.strip_suffix(b"/").unwrap_or(outer);
            place.strip_prefix(outer).is_some_and(|below| below.starts_with(b"/"))
        };
        let one = target.rest == Rest::Exact && !target.tree && mode != WriteMode::Below;
        let beside = !target.path.starts_with(place) && !around(target.path);
        !(one && (beside || target.scope == Scope::Harmless))
    }

    /// Whether files are written, also in ways that are not told one by one.
    pub(crate) const fn is_change(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Vcs { .. } | Self::Package { .. })
    }

    /// Whether what changes may lie at a place, as [`may_write`](Self::may_write) says it, or where that is not told.
    pub(crate) fn may_change(&self, place: &[u8]) -> bool {
        self.is_change() && (!matches!(self, Self::Write { .. }) || self.may_write(place))
    }

    /// Whether a file that lies at a place may hold something else since: what was written or removed there or with a directory above it,
    /// and what git brings into the tree ([`brings_files`](Self::brings_files)).
    pub(crate) fn may_refill(&self, place: &[u8]) -> bool {
        match *self {
            Self::Write { target, .. } | Self::Delete { target, .. } => {
                let above = target.path.strip_suffix(b"/").unwrap_or(target.path);
                place.strip_prefix(above).is_some_and(|rest| {
                    target.rest != Rest::Exact || rest.is_empty() || rest.starts_with(b"/")
                })
            }
            _ => self.brings_files(),
        }
    }

    /// Whether it brings files of a repository into the tree, in place of those that are there.
    pub(crate) const fn brings_files(&self) -> bool {
        let Self::Vcs { action } = self else { return false };
        matches!(action.as_bytes(), b"branch" | b"discard" | b"merge" | b"rewrite" | b"stash")
    }

    /// The effect's name in kebab-case, as it stands in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::List { .. } => "list",
            Self::Write { .. } => "write",
            Self::Delete { .. } => "delete",
            Self::Metadata { .. } => "metadata",
            Self::Execute { .. } => "execute",
            Self::Code { .. } => "code",
            Self::Connect { .. } => "connect",
            Self::Listen { .. } => "listen",
            Self::Signal { .. } => "signal",
            Self::Privilege { .. } => "privilege",
            Self::Persist { .. } => "persist",
            Self::System { .. } => "system",
            Self::Package { .. } => "package",
            Self::Vcs { .. } => "vcs",
            Self::Remote { .. } => "remote",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Created or replaced: the old content is lost.
    Replace,
    /// Added to at the end.
    Append,
    /// Created if missing, else left alone (directories, `touch`, links).
    Create,
    /// Changed in place.
    Modify,
    /// Replaced by nothing, or by what is not made of it where many files are meant: the content is lost.
    Truncate,
    /// The place may be any name below the target directory (extraction, downloads with remote names).
    Below,
}

impl WriteMode {
    /// The name in kebab-case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Append => "append",
            Self::Create => "create",
            Self::Modify => "modify",
            Self::Truncate => "truncate",
            Self::Below => "below",
        }
    }
}

/// A place in the file system, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// Absolute and normalised as far as it is known: for a path that is not wholly known, the known leading part.
    /// Empty when nothing is known.
    pub path: &'a [u8],
    /// What follows `path`.
    pub rest: Rest,
    /// Where it lies. The most dangerous scope that the path may have.
    pub scope: Scope,
    /// Everything below it is meant too.
    pub tree: bool,
    /// Which important places lie at or below it. Of a directory that is not meant as a tree this only says what it holds.
    pub covers: Covers,
}

impl Target<'_> {
    /// Whether a directory has another name once what this means has another one. Both count as absolute.
    pub(crate) fn moves(&self, directory: &[u8]) -> bool {
        let Some(rest) = directory.strip_prefix(self.path) else { return false };
        match self.rest {
            Rest::Exact => rest.is_empty() || rest.starts_with(b"/") || self.path.ends_with(b"/"),
            Rest::Glob | Rest::Below => !rest.is_empty(),
            Rest::Unknown => true,
        }
    }
}

/// What follows the known part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Nothing: the path is known.
    Exact,
    /// Names that match a pattern, below the known directory.
    Glob,
    /// Anything below the known part, but not outside it.
    Below,
    /// Anything.
    Unknown,
}

/// Where an effect on files lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `/dev/null` and its kin, the script's own descriptors.
    Harmless,
    /// What builds make and can make again (`target`, `node_modules`, caches), in the workspace.
    Product,
    /// The workspace.
    Workspace,
    /// `/tmp`, `/var/tmp`, `/dev/shm`, `$TMPDIR`.
    Temp,
    /// The workspace's version control data (`.git`).
    Repository,
    /// Anything not named otherwise.
    Elsewhere,
    /// The home directory.
    Home,
    /// System files.
    System,
    /// Not known.
    Unknown,
    /// What runs later or at start-up: rc files, cron, units, hooks, autostart.
    Persistence,
    /// Block and character devices, kernel interfaces that change the machine.
    Device,
    /// Process environments and memory (`/proc/PID/environ`, …), or the environment itself.
    Environment,
    /// Keys, tokens, passwords, credential stores.
    Secret,
    /// shward's and the agents' own configuration, state, logs and sockets.
    Own,
}

impl Scope {
    /// The name in kebab-case, as it stands in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Harmless => "harmless",
            Self::Product => "product",
            Self::Workspace => "workspace",
            Self::Temp => "temp",
            Self::Repository => "repository",
            Self::Elsewhere => "elsewhere",
            Self::Home => "home",
            Self::System => "system",
            Self::Unknown => "unknown",
            Self::Persistence => "persistence",
            Self::Environment => "environment",
            Self::Device => "device",
            Self::Secret => "secret",
            Self::Own => "own",
        }
    }
}

/// Important places that a target is, or contains when it is a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Covers {
    /// The file system's root, or everything in it.
    pub root: bool,
    /// A home directory, or everything in it.
    pub home: bool,
    /// The workspace, or everything in it.
    pub workspace: bool,
    /// The workspace's repository data.
    pub repository: bool,
    /// System directories such as `/etc` or `/usr`.
    pub system: bool,
    /// Places of secrets that are known by name.
    pub secrets: bool,
    /// What processes keep to themselves (`/proc/PID/environ`).
    pub processes: bool,
    /// shward's and the agents' own configuration.
    pub own: bool,
    /// What other programs obey in a directory that means the same everywhere (`.git/hooks`, `.vscode/tasks.json`).
    pub obeyed: bool,
    /// It is, or may be, a file that nobody may change: the program of this firewall.
    pub guarded: bool,
}

impl Covers {
    /// What either covers.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            root: self.root || other.root,
            home: self.home || other.home,
            workspace: self.workspace || other.workspace,
            repository: self.repository || other.repository,
            system: self.system || other.system,
            secrets: self.secrets || other.secrets,
            processes: self.processes || other.processes,
            own: self.own || other.own,
            obeyed: self.obeyed || other.obeyed,
            guarded: self.guarded || other.guarded,
        }
    }
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint<'a> {
    /// Host name or address, if known.
    pub host: Option<&'a [u8]>,
    /// Port, if known.
    pub port: Option<u16>,
    /// URL scheme or protocol, if known (`https`, `ssh`, `tcp`).
    pub scheme: &'a [u8],
    /// It is this machine (`localhost`, `127.0.0.0/8`, `::1`).
    pub loopback: bool,
}

impl Endpoint<'_> {
    /// An endpoint of which nothing is known.
    pub const UNKNOWN: Self = Self { host: None, port: None, scheme: b"", loopback: false };
}

/// What the analysis did not understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown<'a> {
    /// The program's name depends on what is not known.
    Program,
    /// An option that the knowledge does not list.
    Option(&'a [u8]),
    /// A subcommand that the knowledge does not list.
    Subcommand(&'a [u8]),
    /// An argument whose text is not known stands where it could be an option or change the meaning.
    Argument,
    /// A construct of the shell whose result cannot be predicted.
    Construct(&'static str),
    /// A variable that carries execution, or is special to the shell, gets a value.
    Variable(&'a [u8]),
    /// Something is more than is followed; what else the command does is told.
    Budget(&'static str),
    /// What comes behind some point was not looked at: the budget of the whole command is used up, or shells read the text in
    /// different ways.
    Exhausted(&'static str),
    /// Text that is to be executed does not parse.
    Syntax,
}

impl Unknown<'_> {
    /// The reason's name in kebab-case.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Option(_) => "option",
            Self::Subcommand(_) => "subcommand",
            Self::Argument => "argument",
            Self::Construct(_) => "construct",
            Self::Variable(_) => "variable",
            Self::Budget(_) => "budget",
            Self::Exhausted(_) => "exhausted",
            Self::Syntax => "syntax",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_small_and_knows_its_invocation() {
        assert_eq!(size_of::<Effect<'_>>(), 72);
        for invocation in [None, Some(0), Some(7)] {
            let kind = EffectKind::Unknown { reason: Unknown::Syntax };
            let effect = Effect::new(kind, Certainty::Certain, Span::new(0, 1), invocation);
            assert_eq!(effect.invocation(), invocation);
        }
    }

    #[test]
    fn what_may_lie_at_a_place_is_written() {
        let target = |path: &'static str, rest, tree, scope| Target {
            path: path.as_bytes(),
            rest,
            scope,
            tree,
            covers: Covers::default(),
        };
        let write = |target, mode| EffectKind::Write { target, mode, content: Origins::NONE };
        let one = |path| write(target(path, Rest::Exact, false, Scope::Workspace), WriteMode::Replace);
        let rows = [
            (one("/w/tests"), true),
            (one("/w/tests/a/b.sh"), true),
            (one("/w"), true),
            (one("/w/"), true),
            (one("/"), true),
            (one("/w/other"), false),
            (one("/w/test"), false),
            // What lies there may be a link.
            (write(target("/w/other", Rest::Glob, false, Scope::Workspace), WriteMode::Append), true),
            (write(target("/w/other", Rest::Below, false, Scope::Workspace), WriteMode::Append), true),
            (write(target("", Rest::Unknown, false, Scope::Unknown), WriteMode::Append), true),
            (write(target("/w/other", Rest::Exact, true, Scope::Workspace), WriteMode::Replace), true),
            (write(target("/w/other", Rest::Exact, false, Scope::Workspace), WriteMode::Below), true),
            (write(target("/w/tests/null", Rest::Exact, false, Scope::Harmless), WriteMode::Append), false),
            (
                EffectKind::Delete {
                    target: target("/w/tests", Rest::Exact, false, Scope::Workspace),
                    kept: false,
                },
                false,
            ),
        ];
        for (kind, expected) in rows {
            assert_eq!(kind.may_write(b"/w/tests"), expected, "{kind:?}");
            assert_eq!(kind.may_change(b"/w/tests"), expected, "{kind:?}");
        }
        // Where that is not told one by one.
        for kind in [EffectKind::Vcs { action: "x" }, EffectKind::Package { action: "x" }] {
            assert!(kind.may_change(b"/w/tests") && !kind.may_write(b"/w/tests"), "{kind:?}");
        }
    }
}
