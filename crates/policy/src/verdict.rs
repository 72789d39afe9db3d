//! What is decided about a plan, and what the sandbox may permit because of it.

use crate::decision::{Decision, Tier};
use crate::reach::Destination;
use crate::settings::Origin;
use shward_syntax::Span;
use std::borrow::Cow;

/// A rule that applies, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's stable kebab-case id.
    pub rule: Cow<'static, str>,
    /// What this rule decides by itself.
    pub decision: Decision,
    /// The tier that it puts the command in.
    pub tier: Tier,
    /// What, why, and what to do instead; for the model.
    pub message: String,
    /// The part of the command that it is about.
    pub span: Span,
    /// Where what is sent, executed or deleted there comes from, when that is another part of the command.
    pub source: Option<Span>,
    /// The nearest command that would pass, or how to find one.
    pub suggestion: Option<String>,
    /// Where the rule stands, if in a policy file.
    pub origin: Option<Origin>,
}

/// The result. It cannot say allow or ask without the [`Grant`] that enforces it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    ruling: Ruling,
    tier: Tier,
    findings: Vec<Finding>,
}

/// The decision with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
enum Ruling {
    Allow(Grant),
    Ask(Grant),
    Deny,
}

impl Verdict {
    /// The verdict that follows from these findings: the strictest of their decisions, the highest of their tiers and
    /// `floor`. Findings are sorted, the strictest first; of equal ones the earlier in the command.
    #[must_use]
    pub fn new(mut findings: Vec<Finding>, floor: Tier, grant: Grant) -> Self {
        findings
            .sort_by(|a, b| b.decision.cmp(&a.decision).then(b.tier.cmp(&a.tier)).then(a.span.cmp(&b.span)));
        let tier = findings.iter().map(|f| f.tier).fold(floor, Tier::max);
        let ruling = match findings.first().map_or(Decision::Allow, |f| f.decision) {
            Decision::Allow => Ruling::Allow(grant),
            Decision::Ask => Ruling::Ask(grant),
            Decision::Deny => Ruling::Deny,
        };
        Self { ruling, tier, findings }
    }

    /// The decision.
    #[must_use]
    pub fn decision(&self) -> Decision {
        match self.ruling {
            Ruling::Allow(_) => Decision::Allow,
            Ruling::Ask(_) => Decision::Ask,
            Ruling::Deny => Decision::Deny,
        }
    }

    /// The tier.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// Why, the strictest first.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The same as one's own.
    #[must_use]
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// What the sandbox may permit: for an allowed command at once, for an asked one after a yes.
    #[must_use]
    pub fn grant(&self) -> Option<&Grant> {
        match &self.ruling {
            Ruling::Allow(grant) | Ruling::Ask(grant) => Some(grant),
            Ruling::Deny => None,
        }
    }
}

/// The ceiling of what the sandbox permits: everything may be read but what is hidden, nothing written but what is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The workspace may be written. False for a command that is known to write nothing there.
    pub workspace: bool,
    /// What lies in homes outside of the workspace may be looked at. False for a command that is known to look at nothing there.
    pub homes: bool,
    /// The network that is seen.
    pub network: Network,
    /// The hosts that the command is seen to connect to. Of these, those are reached that the policy's list of hosts permits.
    pub hosts: Vec<Destination>,
}

/// The network that a grant permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// None.
    None,
    /// A loopback interface of its own.
    Loopback,
}
