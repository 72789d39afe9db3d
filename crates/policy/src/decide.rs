//! From a plan to a verdict.

use crate::Context;
use crate::condition::{Kinds, Subject};
use crate::decision::{Decision, Tier};
use crate::grant::grant;
use crate::message::fill;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::verdict::{Finding, Verdict};
use shward_analysis::{EffectKind, Plan, Scope};
use shward_syntax::Span;

/// Of one rule this many findings are told; what follows would say the same again.
const FINDINGS_PER_RULE: usize = 4;

/// Decides about everything that a script may do.
///
/// Every rule of the policy is tried on every effect and on every program that is started. The strictest answer of all
/// counts; no rule relaxes what another decides.
#[must_use]
pub fn decide(policy: &Policy, plan: &Plan<'_>, context: &Context<'_>) -> Verdict {
    let mut findings = Vec::new();
    let mut tier = Tier::One;
    let mut opaque = Vec::new();
    for effect in plan.effects {
        let subject = Subject::of_effect(effect, plan, context);
        if subject.is_opaque() && opaque.last() != Some(&effect.invocation) {
            opaque.push(effect.invocation);
        }
        tier = tier.max(tier_of(&effect.kind)).max(judge(policy, &subject, effect.span, &mut findings));
    }
    opaque.sort_unstable();
    for (at, invocation) in (0u32..).zip(plan.invocations) {
        let subject =
            Subject::of_invocation(invocation, opaque.binary_search(&Some(at)).is_ok(), plan, context);
        tier = tier.max(judge(policy, &subject, invocation.span, &mut findings));
    }
    Verdict::new(findings, tier, grant(plan))
}

/// Adds what the rules find about one subject, and returns the highest tier among them.
fn judge(policy: &Policy, subject: &Subject<'_>, span: Span, findings: &mut Vec<Finding>) -> Tier {
    let mut tier = Tier::One;
    let mut strictest: Option<&Rule> = None;
    for rule in policy.rules().filter(|rule| rule.is_about(subject)) {
        tier = tier.max(rule.tier);
        if strictest.is_none_or(|other| {
            rule.decision(subject.context.contained) > other.decision(subject.context.contained)
        }) {
            strictest = Some(rule);
        }
    }
    if let Some(rule) = strictest.filter(|rule| rule.decision(subject.context.contained) > Decision::Allow) {
        let told = findings.iter().filter(|finding| finding.rule == rule.id);
        let again = told.clone().any(|finding| finding.span == span);
        if !again && told.count() < FINDINGS_PER_RULE {
            findings.push(Finding {
                rule: rule.id,
                decision: rule.decision(subject.context.contained),
                tier: rule.tier,
                message: fill(rule.message, subject),
                span,
                suggestion: rule.suggestion.map(str::to_owned),
            });
        }
    }
    tier
}

/// The tier of an effect that no rule speaks of: reading is 1, whatever else is 2.
fn tier_of(kind: &EffectKind<'_>) -> Tier {
    let harmless = match kind {
        EffectKind::Read { .. } | EffectKind::List { .. } => true,
        EffectKind::Write { target, .. } => target.scope == Scope::Harmless,
        EffectKind::Signal { what } => *what == "own",
        _ => false,
    };
    debug_assert!(Kinds::of(kind).intersects(Kinds::EFFECT), "every effect is a kind of effect");
    if harmless { Tier::One } else { Tier::Two }
}
