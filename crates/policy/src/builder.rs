//! Policies that are written in Rust. What is built is a policy file, so that it says no more and is checked no less than one; and
//! an allowance cannot be written without what it is for.

use crate::decision::{Decision, Tier};
use crate::file::schema::quoted;
use crate::file::{BadPolicy, Source};
use crate::policy::Policy;
use crate::settings::Layer;
use std::fmt::Write as _;

/// What an allowance is for. The rest of its rule narrows that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permitted<'a> {
    /// A program, by its name or path.
    Program(&'a str),
    /// A kind of effect, with its detail or without: `connect`, `vcs:push`.
    Effect(&'a str),
    /// Places, by a pattern.
    Path(&'a str),
    /// A scope: `temp`, `workspace`.
    Scope(&'a str),
    /// Hosts, by a pattern.
    Host(&'a str),
}

/// A rule in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleBuilder {
    id: String,
    decision: Decision,
    /// Keys and their lists.
    lists: Vec<(&'static str, Vec<String>)>,
    /// Other lines, in TOML.
    lines: String,
}

impl RuleBuilder {
    fn new(id: &str, decision: Decision) -> Self {
        Self { id: id.to_owned(), decision, lists: Vec::new(), lines: String::new() }
    }

    /// A rule that denies.
    #[must_use]
    pub fn deny(id: &str) -> Self {
        Self::new(id, Decision::Deny)
    }

    /// A rule that asks.
    #[must_use]
    pub fn ask(id: &str) -> Self {
        Self::new(id, Decision::Ask)
    }

    /// A rule that answers a question. It lifts no denial.
    #[must_use]
    pub fn allow(id: &str, what: Permitted<'_>) -> Self {
        let rule = Self::new(id, Decision::Allow);
        match what {
            Permitted::Program(name) => rule.program(name),
            Permitted::Effect(kind) => rule.effect(kind),
            Permitted::Path(pattern) => rule.path(pattern),
            Permitted::Scope(scope) => rule.scope(scope),
            Permitted::Host(pattern) => rule.host(pattern),
        }
    }

    fn entry(mut self, key: &'static str, text: &str) -> Self {
        match self.lists.iter_mut().find(|(known, _)| *known == key) {
            Some((_, list)) => list.push(text.to_owned()),
            None => self.lists.push((key, vec![text.to_owned()])),
        }
        self
    }

    fn line(mut self, key: &str, value: impl std::fmt::Display) -> Self {
        let _ = writeln!(self.lines, "{key} = {value}");
        self
    }

    /// Is about this program, or another that is named.
    #[must_use]
    pub fn program(self, name: &str) -> Self {
        self.entry("program", name)
    }

    /// Is about this subcommand, or another that is named.
    #[must_use]
    pub fn subcommand(self, words: &str) -> Self {
        self.entry("subcommand", words)
    }

    /// Is about commands with this option, or another that is named.
    #[must_use]
    pub fn option(self, option: &str) -> Self {
        self.entry("option", option)
    }

    /// Is about commands with an argument of this pattern, or of another that is given.
    #[must_use]
    pub fn operand(self, pattern: &str) -> Self {
        self.entry("operand", pattern)
    }

    /// Is about this kind of effect, or another that is named.
    #[must_use]
    pub fn effect(self, kind: &str) -> Self {
        self.entry("effect", kind)
    }

    /// Is about effects in this scope, or another that is named.
    #[must_use]
    pub fn scope(self, scope: &str) -> Self {
        self.entry("scope", scope)
    }

    /// Is about places of this pattern, or of another that is given.
    #[must_use]
    pub fn path(self, pattern: &str) -> Self {
        self.entry("path", pattern)
    }

    /// Is about hosts of this pattern, or of another that is given.
    #[must_use]
    pub fn host(self, pattern: &str) -> Self {
        self.entry("host", pattern)
    }

    /// Is about what comes from here, or from another origin that is named.
    #[must_use]
    pub fn origin(self, origin: &str) -> Self {
        self.entry("origin", origin)
    }

    /// Must meet this command.
    #[must_use]
    pub fn matching(self, command: &str) -> Self {
        self.entry("match", command)
    }

    /// Must not meet this command.
    #[must_use]
    pub fn not_matching(self, command: &str) -> Self {
        self.entry("not-match", command)
    }

    /// Is about what shward runs, or about what somebody else does.
    #[must_use]
    pub fn contained(self, contained: bool) -> Self {
        self.line("contained", contained)
    }

    /// Nothing follows the subcommand.
    #[must_use]
    pub fn exact(self) -> Self {
        self.line("exact", true)
    }

    /// Puts the command into this tier.
    #[must_use]
    pub fn tier(self, tier: Tier) -> Self {
        self.line("tier", tier.get())
    }

    /// Why, for the model.
    #[must_use]
    pub fn reason(self, reason: &str) -> Self {
        self.line("reason", quoted(reason))
    }

    /// A command that would pass.
    #[must_use]
    pub fn suggestion(self, command: &str) -> Self {
        self.line("suggestion", quoted(command))
    }
}

/// A policy in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyBuilder {
    extends: String,
    /// Table, key and list, in the order in which they were named first.
    lists: Vec<(&'static str, &'static str, Vec<String>)>,
    checks: String,
    limits: String,
    rules: Vec<RuleBuilder>,
}

impl PolicyBuilder {
    /// On this profile.
    #[must_use]
    pub fn extending(profile: &str) -> Self {
        let (lists, rules) = (Vec::new(), Vec::new());
        Self { extends: profile.to_owned(), lists, checks: String::new(), limits: String::new(), rules }
    }

    fn entry(mut self, table: &'static str, key: &'static str, text: &str) -> Self {
        match self.lists.iter_mut().find(|(of, known, _)| *of == table && *known == key) {
            Some((.., list)) => list.push(text.to_owned()),
            None => self.lists.push((table, key, vec![text.to_owned()])),
        }
        self
    }

    /// Lists a program as allowed; what being listed means is the profile's to say.
    #[must_use]
    pub fn list_program(self, name: &str) -> Self {
        self.entry("programs", "allow", name)
    }

    /// Denies a program.
    #[must_use]
    pub fn deny_program(self, name: &str) -> Self {
        self.entry("programs", "deny", name)
    }

    /// Keeps effects to this place, and others that are named.
    #[must_use]
    pub fn keep_to(self, place: &str) -> Self {
        self.entry("paths", "allow", place)
    }

    /// Denies effects in this place.
    #[must_use]
    pub fn deny_place(self, place: &str) -> Self {
        self.entry("paths", "deny", place)
    }

    /// Lets contained commands reach this host.
    #[must_use]
    pub fn reach(self, host: &str) -> Self {
        self.entry("network", "allow", host)
    }

    /// What a built-in check decides when somebody else runs the command, and when shward does.
    #[must_use]
    pub fn check(mut self, id: &str, alone: Decision, contained: Decision) -> Self {
        let [alone, contained] = [alone, contained].map(|d| quoted(d.as_str()));
        let _ = writeln!(self.checks, "{} = {{ alone = {alone}, contained = {contained} }}", quoted(id));
        self
    }

    /// How long a command may run, in seconds.
    #[must_use]
    pub fn timeout(mut self, seconds: u32) -> Self {
        let _ = writeln!(self.limits, "timeout = {seconds}");
        self
    }

    /// With a rule more.
    #[must_use]
    pub fn rule(mut self, rule: RuleBuilder) -> Self {
        self.rules.push(rule);
        self
    }

    /// The policy as a file, to be kept or shown.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let list = |texts: &[String]| texts.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", ");
        let mut out = format!("extends = {}\n", quoted(&self.extends));
        for (table, key, texts) in &self.lists {
            let _ = writeln!(out, "{table}.{key} = [{}]", list(texts));
        }
        for (table, lines) in [("checks", &self.checks), ("limits", &self.limits)] {
            if !lines.is_empty() {
                let _ = write!(out, "\n[{table}]\n{lines}");
            }
        }
        for rule in &self.rules {
            let _ = write!(out, "\n[[rule]]\nid = {}\ndecision = ", quoted(&rule.id));
            let _ = writeln!(out, "{}", quoted(rule.decision.as_str()));
            for (key, texts) in &rule.lists {
                let _ = writeln!(out, "{key} = [{}]", list(texts));
            }
            out.push_str(&rule.lines);
        }
        out
    }

    /// The policy.
    ///
    /// # Errors
    /// Everything that is wrong with it, as with a file.
    pub fn build(&self) -> Result<Policy, BadPolicy> {
        let source = Source { layer: Layer::User, name: "(built)".to_owned(), text: self.to_toml() };
        Policy::from_sources(None, &[source])
    }
}
