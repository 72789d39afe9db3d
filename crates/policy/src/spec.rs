//! A rule of a policy file, as it was written.

use crate::condition::Kinds;
use crate::decision::{Decision, Tier};
use crate::settings::Origin;

/// A rule of a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSpec {
    pub(crate) id: String,
    pub(crate) decision: Option<Decision>,
    pub(crate) tier: Option<Tier>,
    pub(crate) reason: String,
    pub(crate) suggestion: String,
    pub(crate) programs: Vec<String>,
    pub(crate) subcommands: Vec<String>,
    pub(crate) options: Vec<String>,
    pub(crate) operands: Vec<String>,
    pub(crate) paths: Vec<String>,
    pub(crate) hosts: Vec<String>,
    /// Kinds of effects that are meant whatever their detail.
    pub(crate) plain: Kinds,
    /// Every kind that is meant, those with a detail among them.
    pub(crate) kinds: Kinds,
    /// `kind:detail`.
    pub(crate) details: Vec<String>,
    /// One bit for each scope, in the order of the enumeration; 0 for any.
    pub(crate) scopes: u16,
    /// One bit for each origin, in the order of [`ORIGINS`]; 0 for any.
    pub(crate) origins: u16,
    pub(crate) min_tier: Option<Tier>,
    pub(crate) contained: Option<bool>,
    pub(crate) examples: Vec<String>,
    pub(crate) counterexamples: Vec<String>,
    pub(crate) origin: Origin,
}

impl RuleSpec {
    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it decides; without it, it only raises the tier.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// Where it stands.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// The names of origins that a rule may name.
pub(crate) const ORIGINS: &[&str] = &[
    "literal",
    "file",
    "secret",
    "environment",
    "network",
    "decoded",
    "terminal",
    "written",
    "unknown",
    "names",
];

/// What may follow a kind of effect: `vcs:push`.
pub(crate) fn details(kind: &str) -> &'static [&'static str] {
    match kind {
        "write" => &["replace", "append", "create", "modify", "truncate", "below"],
        "metadata" => &["mode", "owner", "times", "attributes", "setuid", "world-writable"],
        "signal" => &["own", "process", "name", "all"],
        "privilege" => &["sudo", "user", "setuid", "capability", "container", "account", "namespace"],
        "persist" => &["cron", "at", "service", "login", "hook", "kernel", "autostart"],
        "system" => &[
            "service",
            "power",
            "kernel",
            "clock",
            "mount",
            "network",
            "firewall",
            "disk",
            "account",
            "audit",
            "limits",
            "display",
            "process-limits",
        ],
        "package" => &["install", "remove", "update", "publish", "configure"],
        "vcs" => &[
            "stage",
            "commit",
            "branch",
            "tag",
            "merge",
            "rewrite",
            "discard",
            "fetch",
            "push",
            "force-push",
            "config",
            "delete",
            "stash",
            "init",
        ],
        "remote" => &["read", "change", "destroy"],
        "unknown" => {
            &["program", "option", "subcommand", "argument", "construct", "variable", "budget", "syntax"]
        }
        "code" => &[
            "shell",
            "python",
            "javascript",
            "perl",
            "ruby",
            "php",
            "lua",
            "awk",
            "sed",
            "sql",
            "native",
            "project",
            "terminal",
            "make",
        ],
        "connect" | "listen" => &["loopback"],
        _ => &[],
    }
}
