//! What was found so far, and what of it is told.

use crate::decision::{Decision, Tier};
use crate::verdict::{Finding, Grant, Verdict};
use shward_syntax::Span;
use std::borrow::Cow;

/// Of one rule this many findings are told; what follows would say the same again.
const FINDINGS_PER_RULE: usize = 4;

/// What was found so far.
pub(crate) struct Found {
    pub(crate) findings: Vec<Finding>,
    pub(crate) tier: Tier,
    /// What each finding is about, in the same order.
    about: Vec<About>,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About {
    /// The effect, if it is about one, as an index into the plan's.
    pub(crate) effect: Option<usize>,
    /// Of something that flows: the effect at the other end.
    pub(crate) end: Option<usize>,
    /// It says no more than that an argument is not known.
    pub(crate) argument: bool,
}

impl Found {
    pub(crate) const fn new() -> Self {
        Self { findings: Vec::new(), tier: Tier::One, about: Vec::new() }
    }

    /// The strictest decision so far.
    pub(crate) fn strictest(&self) -> Decision {
        self.findings.iter().map(|finding| finding.decision).max().unwrap_or(Decision::Allow)
    }

    /// The command is at least of this tier.
    pub(crate) fn rises_to(&mut self, tier: Tier) {
        self.tier = self.tier.max(tier);
    }

    /// Whether no more findings of a rule are told that decide this. A stricter one is always told.
    pub(crate) fn has_enough_of(&self, rule: &str, decision: Decision) -> bool {
        let told = self.findings.iter().filter(|other| other.rule == rule && other.decision >= decision);
        told.count() >= FINDINGS_PER_RULE
    }

    /// Whether a rule has told of a place in the command that it decides this, or more strictly.
    pub(crate) fn has_told(&self, rule: &str, decision: Decision, span: Span) -> bool {
        self.findings
            .iter()
            .any(|other| other.span == span && other.decision >= decision && other.rule == rule)
    }

    /// Adds a finding, unless its rule has told the same.
    pub(crate) fn tell(&mut self, finding: Finding) {
        self.tell_about(finding, About::default());
    }

    /// Adds a finding that is about an effect, unless its rule has told the same.
    pub(crate) fn tell_about(&mut self, finding: Finding, about: About) {
        self.rises_to(finding.tier);
        let again = self.has_told(&finding.rule, finding.decision, finding.span);
        if !again && !self.has_enough_of(&finding.rule, finding.decision) {
            self.findings.push(finding);
            self.about.push(about);
        }
    }

    /// Adds a finding about the whole command.
    pub(crate) fn say(
        &mut self,
        rule: &'static str,
        decision: Decision,
        tier: Tier,
        message: impl Into<String>,
    ) {
        let message = message.into();
        let span = Span { start: 0, end: 0 };
        let rule = Cow::Borrowed(rule);
        self.tell(Finding {
            rule,
            decision,
            tier,
            message,
            span,
            source: None,
            suggestion: None,
            origin: None,
        });
    }

    /// The verdict. What flows is one finding, which names both ends: those of the ends themselves say nothing more.
    pub(crate) fn verdict(self, grant: Grant) -> Verdict {
        if self.findings.is_empty() {
            return Verdict::new(self.findings, self.tier, grant);
        }
        let all: Vec<(&Finding, &About)> = self.findings.iter().zip(&self.about).collect();
        let stays: Vec<bool> = all
            .iter()
            .map(|one| !all.iter().any(|other| !std::ptr::eq(other.0, one.0) && includes(other, one)))
            .collect();
        let findings = self.findings.into_iter().zip(stays).filter(|(_, stays)| *stays);
        Verdict::new(findings.map(|(finding, _)| finding).collect(), self.tier, grant)
    }
}

/// Whether a finding says all that another does, with no less weight: one about something that flows says what its ends
/// do, and any other finding about a word says more than that the word is not known.
fn includes(one: &(&Finding, &About), other: &(&Finding, &About)) -> bool {
    let same_end = one.1.end.is_some() && one.1.end == other.1.effect && other.1.end.is_none();
    let same_place = one.0.span == other.0.span;
    let weaker = one.0.source.is_some() && other.0.decision < one.0.decision;
    let vaguer = other.1.argument && !one.1.argument;
    other.0.decision <= one.0.decision && (same_end || (same_place && (weaker || vaguer)))
}
