//! A rule of a policy file, as it was written: its texts borrow from the file.

use crate::decision::{Decision, Tier};
use crate::kinds::Kinds;
use shward_analysis::{Unknown, WriteMode, vocabulary};
use std::borrow::Cow;

/// A text of a file.
pub(crate) type Text<'t> = Cow<'t, str>;

/// A rule of a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleSpec<'t> {
    pub(crate) id: Text<'t>,
    pub(crate) decision: Option<Decision>,
    pub(crate) tier: Option<Tier>,
    pub(crate) reason: Text<'t>,
    pub(crate) suggestion: Text<'t>,
    pub(crate) programs: Vec<Text<'t>>,
    pub(crate) subcommands: Vec<Text<'t>>,
    pub(crate) options: Vec<Text<'t>>,
    pub(crate) operands: Vec<Text<'t>>,
    pub(crate) paths: Vec<Text<'t>>,
    pub(crate) hosts: Vec<Text<'t>>,
    /// Kinds of effects that are meant whatever their detail.
    pub(crate) plain: Kinds,
    /// Every kind that is meant, those with a detail among them.
    pub(crate) kinds: Kinds,
    /// `kind:detail`.
    pub(crate) details: Vec<Text<'t>>,
    /// One bit for each scope, in the order of the enumeration; 0 for any.
    pub(crate) scopes: u16,
    /// One bit for each origin, in the order of [`vocabulary::ORIGINS`]; 0 for any.
    pub(crate) origins: u16,
    pub(crate) min_tier: Option<Tier>,
    pub(crate) contained: Option<bool>,
    /// There are no other arguments than those of the subcommand.
    pub(crate) exact: bool,
    pub(crate) examples: Vec<Text<'t>>,
    pub(crate) counterexamples: Vec<Text<'t>>,
    /// The line that it begins in, from 1.
    pub(crate) line: u32,
}

const WRITES: &[&str] = &[
    WriteMode::Replace.name(),
    WriteMode::Append.name(),
    WriteMode::Create.name(),
    WriteMode::Modify.name(),
    WriteMode::Truncate.name(),
    WriteMode::Below.name(),
];

const REASONS: &[&str] = &[
    Unknown::Program.name(),
    Unknown::Option(b"").name(),
    Unknown::Subcommand(b"").name(),
    Unknown::Argument.name(),
    Unknown::Construct("").name(),
    Unknown::Variable(b"").name(),
    Unknown::Budget("").name(),
    Unknown::Exhausted("").name(),
    Unknown::Syntax.name(),
];

/// What may follow a kind of effect: `vcs:push`.
pub(crate) fn details(kind: &str) -> &'static [&'static str] {
    match kind {
        "write" => WRITES,
        "metadata" => vocabulary::METADATA,
        "signal" => vocabulary::SIGNALS,
        "privilege" => vocabulary::PRIVILEGES,
        "persist" => vocabulary::PERSISTENCE,
        "system" => vocabulary::SYSTEMS,
        "package" => vocabulary::PACKAGES,
        "vcs" => vocabulary::VCS,
        "remote" => vocabulary::REMOTE,
        "unknown" => REASONS,
        "code" => vocabulary::LANGUAGES,
        "connect" | "listen" => &["loopback"],
        _ => &[],
    }
}
