//! What a rule is.

use crate::condition::{Condition, Subject};
use crate::decision::{Decision, Tier};
use shward_analysis::Origins;

/// A rule: what it is about, what it decides, and what it tells.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The stable kebab-case id; `docs/rules.md` has a section for each.
    pub id: &'static str,
    /// How much is at stake.
    pub tier: Tier,
    /// The decision when somebody else runs the command.
    pub alone: Decision,
    /// The decision when shward runs it: no network, writes only in the workspace and a private `/tmp`, secrets hidden,
    /// no rights gained, processes of its own.
    pub contained: Decision,
    /// Holds in every profile.
    pub floor: bool,
    /// What it is about: any of these.
    pub(crate) when: &'static [Condition],
    /// For a rule about something that flows: the origins that it is about. The finding names where it comes from.
    pub(crate) flow: Origins,
    /// What the model is told: what, why, what to do instead. `{place}`, `{what}`, `{host}` and `{program}` stand for the
    /// effect's own, `{from}` for where what flows comes from, or for nothing.
    pub message: &'static str,
    /// The nearest command that would pass, or that at least risks less. Words in capitals stand for what the agent has
    /// to fill in.
    pub suggestion: Option<&'static str>,
    /// The same where it depends on what is done (`what`, `action`, `service`), in place of `suggestion`.
    pub suggestions: &'static [(&'static str, &'static str)],
}

impl Rule {
    /// What it decides.
    #[must_use]
    pub const fn decision(&self, contained: bool) -> Decision {
        if contained { self.contained } else { self.alone }
    }

    /// Whether it holds in every profile: unless this build lifts the floor, no policy changes what it decides.
    #[must_use]
    pub const fn is_floor(&self) -> bool {
        self.floor && !cfg!(feature = "unrestricted")
    }

    /// Whether it is about this.
    pub(crate) fn is_about(&self, subject: &Subject<'_>) -> bool {
        self.when.iter().any(|condition| condition.holds(subject))
    }

    /// A rule that denies.
    pub(crate) const fn deny(
        id: &'static str,
        tier: Tier,
        when: &'static [Condition],
        message: &'static str,
    ) -> Self {
        Self {
            id,
            tier,
            alone: Decision::Deny,
            contained: Decision::Deny,
            floor: false,
            when,
            flow: Origins::NONE,
            message,
            suggestion: None,
            suggestions: &[],
        }
    }

    /// A rule that asks, contained or not: containment does not make it harmless.
    pub(crate) const fn ask(
        id: &'static str,
        tier: Tier,
        when: &'static [Condition],
        message: &'static str,
    ) -> Self {
        Self { alone: Decision::Ask, contained: Decision::Ask, ..Self::deny(id, tier, when, message) }
    }

    /// A rule that asks for what containment makes harmless.
    pub(crate) const fn contain(
        id: &'static str,
        tier: Tier,
        when: &'static [Condition],
        message: &'static str,
    ) -> Self {
        Self { contained: Decision::Allow, ..Self::ask(id, tier, when, message) }
    }

    /// About what comes from there.
    pub(crate) const fn flow(mut self, origins: Origins) -> Self {
        self.flow = origins;
        self
    }

    /// In every profile.
    pub(crate) const fn floor(mut self) -> Self {
        self.floor = true;
        self
    }

    /// With suggestions by what is done.
    pub(crate) const fn instead_for(mut self, suggestions: &'static [(&'static str, &'static str)]) -> Self {
        self.suggestions = suggestions;
        self
    }

    /// The suggestion for a subject.
    pub(crate) fn suggestion_for(&self, subject: &Subject<'_>) -> Option<&'static str> {
        let (detail, service) = (subject.detail(), subject.service());
        let found = self.suggestions.iter().find(|(what, _)| *what == detail || Some(*what) == service);
        found.map(|(_, suggestion)| *suggestion).or(self.suggestion)
    }

    /// With a suggestion.
    pub(crate) const fn instead(mut self, suggestion: &'static str) -> Self {
        self.suggestion = Some(suggestion);
        self
    }
}
