//! Verdicts and plans as owned, serialisable values: the contract of `check --json` and `check --batch`.

use serde::Serialize;
use shward_analysis::{
    Certainty, Effect, EffectKind, Endpoint, Field, Invocation, Origins, Plan, Rest, Target, Unknown,
};
use shward_policy::{Decision, Finding, Verdict};
use shward_syntax::Span;

/// The version of a verdict's format.
pub(crate) const VERSION: u8 = 1;

/// A verdict, ready to be written as JSON. It comes from shward alone, and may have more members in a later version:
///
/// ```compile_fail,E0639
/// let forged = shward::Checked {
///     v: 1,
///     id: None,
///     decision: shward::Decision::Allow,
///     tier: 1,
///     findings: Vec::new(),
///     review: None,
///     pending: None,
///     rate_limit: None,
///     plan: None,
/// };
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// Version of the format.
    pub v: u8,
    /// The request's own identity, in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<serde_json::Value>,
    /// The decision.
    #[serde(serialize_with = "decision")]
    pub decision: Decision,
    /// The tier, 1 to 4.
    pub tier: u8,
    /// Why, the strictest first.
    pub findings: Vec<FindingReport>,
    /// Who answered what the policy asked. The decision is the one after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewReport>,
    /// The id under which a person can answer: `shward approve ID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// The rate limit that it met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<LimitReport>,
    /// What the command may do, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReport>,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FindingReport {
    /// The rule's id.
    pub rule: String,
    /// What the rule decides by itself.
    #[serde(serialize_with = "decision")]
    pub decision: Decision,
    /// What, why, and what to do instead.
    pub message: String,
    /// Byte offsets in the command.
    pub span: [u32; 2],
    /// Where what is sent, executed or deleted there comes from, as byte offsets, when that is another part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<[u32; 2]>,
    /// A command that would pass, or how to find one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// An answer to what the policy asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReviewReport {
    /// `allow`, `deny` or `challenge`.
    pub answer: &'static str,
    /// `person` or `gatekeeper`.
    pub by: &'static str,
    /// Which.
    pub name: String,
    /// The question's id, if it was answered from elsewhere. It has been used by this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// What to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_alternative: Option<String>,
    /// What has to be said first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_clarification: Option<String>,
}

/// The rate limit that an attempt met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LimitReport {
    /// The attempt was refused.
    pub refused: bool,
    /// The limit that a refused one is over, such as `3 in 10 s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// How long to wait, or for how long it has waited, in milliseconds.
    pub wait_ms: u64,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PlanReport {
    /// The programs that may start.
    pub invocations: Vec<InvocationReport>,
    /// What may happen.
    pub effects: Vec<EffectReport>,
}

/// A program that may start; `null` for what is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InvocationReport {
    /// The command word.
    pub program: Option<String>,
    /// The argument list.
    pub argv: Vec<Option<String>>,
    /// The working directory.
    pub cwd: Option<String>,
    /// It runs whenever the command does.
    pub certain: bool,
    /// It is a builtin or function of the shell.
    pub builtin: bool,
    /// Byte offsets in the command.
    pub span: [u32; 2],
}

/// Something that may happen.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
#[non_exhaustive]
pub struct EffectReport {
    /// The kind's name.
    pub kind: &'static str,
    /// It happens whenever the command runs to its end.
    pub certain: bool,
    /// Byte offsets in the command.
    pub span: [u32; 2],
    /// The place, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// `below`, `glob` or `unknown` when more than `path` is meant or the rest is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<&'static str>,
    /// Everything below the place is meant too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    /// Where the place lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
    /// The kind's own detail: how it is written, what is signalled, which action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The host of a connection, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Where what is written, sent or executed comes from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<&'static str>,
}

pub(crate) fn decision<S: serde::Serializer>(decision: &Decision, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(decision.as_str())
}

fn span(span: Span) -> [u32; 2] {
    [span.start, span.end]
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Checked {
    /// The report of a verdict, without a plan.
    #[must_use]
    pub fn new(verdict: &Verdict) -> Self {
        Self::with(verdict, verdict.findings().iter().cloned().map(FindingReport::of).collect())
    }

    /// The same of a verdict that is needed no more.
    pub(crate) fn of(verdict: Verdict) -> Self {
        let checked = Self::with(&verdict, Vec::new());
        Self { findings: verdict.into_findings().into_iter().map(FindingReport::of).collect(), ..checked }
    }

    fn with(verdict: &Verdict, findings: Vec<FindingReport>) -> Self {
        Self {
            v: VERSION,
            id: None,
            decision: verdict.decision(),
            tier: verdict.tier().get(),
            findings,
            review: None,
            pending: None,
            rate_limit: None,
            plan: None,
        }
    }
}

impl FindingReport {
    fn of(finding: Finding) -> Self {
        Self {
            rule: finding.rule.into_owned(),
            decision: finding.decision,
            message: finding.message,
            span: span(finding.span),
            source: finding.source.map(span),
            suggestion: finding.suggestion,
        }
    }
}

impl PlanReport {
    /// The report of a plan.
    #[must_use]
    pub fn new(plan: &Plan<'_>) -> Self {
        Self {
            invocations: plan.invocations.iter().map(InvocationReport::new).collect(),
            effects: plan.effects.iter().map(EffectReport::new).collect(),
        }
    }
}

impl InvocationReport {
    fn new(invocation: &Invocation<'_>) -> Self {
        // A word that is not UTF-8 cannot be told in JSON, so it is not known.
        let word = |field: &Field<'_>| field.known().and_then(|w| str::from_utf8(w).ok()).map(str::to_owned);
        Self {
            program: invocation.program.and_then(|p| str::from_utf8(p).ok()).map(str::to_owned),
            argv: invocation.argv.iter().map(word).collect(),
            cwd: invocation.cwd.map(text),
            certain: invocation.certain,
            builtin: invocation.builtin,
            span: span(invocation.span),
        }
    }
}

impl EffectReport {
    fn new(effect: &Effect<'_>) -> Self {
        let base = Self {
            kind: effect.kind.name(),
            certain: effect.certainty == Certainty::Certain,
            span: span(effect.span),
            ..Self::default()
        };
        match effect.kind {
            EffectKind::Read { target } | EffectKind::List { target } | EffectKind::Delete { target, .. } => {
                base.at(&target)
            }
            EffectKind::Write { target, mode, content } => base.at(&target).detail(mode.name()).from(content),
            EffectKind::Metadata { target, what } => base.at(&target).detail(what),
            EffectKind::Execute { target, origin } => base.at(&target).from(origin),
            EffectKind::Code { language, origin, .. } => base.detail(language).from(origin),
            EffectKind::Connect { endpoint, sends, .. } => base.to(&endpoint).from(sends),
            EffectKind::Listen { endpoint } => base.to(&endpoint),
            EffectKind::Signal { what }
            | EffectKind::Privilege { what }
            | EffectKind::Persist { what }
            | EffectKind::System { what } => base.detail(what),
            EffectKind::Package { action } | EffectKind::Vcs { action } => base.detail(action),
            EffectKind::Remote { action, service } => base.detail(&format!("{action} {service}")),
            EffectKind::Unknown { reason } => base.detail(&unknown(&reason)),
            _ => base,
        }
    }

    fn at(mut self, target: &Target<'_>) -> Self {
        self.path = (!target.path.is_empty()).then(|| text(target.path));
        self.rest = match target.rest {
            Rest::Exact => None,
            Rest::Glob => Some("glob"),
            Rest::Below => Some("below"),
            Rest::Unknown => Some("unknown"),
        };
        self.tree = target.tree;
        self.scope = Some(target.scope.name());
        self
    }

    fn to(mut self, endpoint: &Endpoint<'_>) -> Self {
        self.host = endpoint.host.map(text);
        self
    }

    fn detail(mut self, detail: &str) -> Self {
        self.detail = Some(detail.to_owned());
        self
    }

    fn from(mut self, origins: Origins) -> Self {
        self.origins = origins.names().collect();
        self
    }
}

fn unknown(reason: &Unknown<'_>) -> String {
    match reason {
        Unknown::Option(name) | Unknown::Subcommand(name) | Unknown::Variable(name) => {
            format!("{} {}", reason.name(), text(name))
        }
        Unknown::Construct(what) | Unknown::Budget(what) | Unknown::Exhausted(what) => {
            format!("{} {what}", reason.name())
        }
        _ => reason.name().to_owned(),
    }
}
