//! Where what is sent, executed or deleted comes from: the other end of a flow, so that a finding can name both.

use crate::condition::Subject;
use crate::message::{place_of, shown};
use crate::rule::Rule;
use shward_analysis::{Effect, EffectKind, Origins, Scope};
use shward_syntax::Span;

/// How many effects are looked back at, so that judging stays linear.
const LOOKED_AT: usize = 200;

/// A flow from one part of the command to another.
pub(crate) struct Flow {
    /// Where it is sent, executed or deleted.
    pub(crate) span: Span,
    /// Where it comes from, when that is another part of the command.
    pub(crate) source: Option<Span>,
    /// The effect at the other end, as an index into the plan's.
    pub(crate) end: Option<usize>,
    /// The other end in words that continue a message, with a blank before them, or nothing.
    pub(crate) from: String,
}

/// Origins, the one that weighs most first.
const BY_WEIGHT: [Origins; 8] = [
    Origins::SECRET,
    Origins::CREDENTIAL,
    Origins::ENVIRONMENT,
    Origins::NETWORK,
    Origins::DECODED,
    Origins::WRITTEN,
    Origins::FILE,
    Origins::NAMES,
];

/// The flow that a rule is about, if the command shows where it begins.
pub(crate) fn of(rule: &Rule, subject: &Subject<'_>) -> Option<Flow> {
    let effect = subject.effect.filter(|_| !rule.flow.is_empty())?;
    let origins = carried(subject, effect);
    let (span, told) = ends(subject, effect);
    let wanted = BY_WEIGHT.into_iter().filter(|o| rule.flow.contains(*o) && origins.contains(*o));
    for origin in wanted {
        if let Some((end, source, from)) = begins(subject, origin, told) {
            // A program that sends what it reads is both ends of it.
            let whole = told.filter(|told| !covers(*told, span));
            let source = Some(whole.unwrap_or(source)).filter(|source| *source != span);
            return Some(Flow { span, source, end, from });
        }
    }
    told.map(|source| Flow { span, source: Some(source), end: None, from: String::new() })
}

/// Where what the effect works with comes from. A deletion says it with the argument that names what is deleted.
fn carried(subject: &Subject<'_>, effect: &Effect<'_>) -> Origins {
    match (&effect.kind, subject.invocation) {
        (EffectKind::Delete { .. }, Some(invocation)) => {
            let words = invocation.argv.iter().filter(|word| word.value.has_unknown());
            words.fold(Origins::NONE, |all, word| all | word.value.origins)
        }
        _ => subject.origins(),
    }
}

/// The part of the command that has the effect, and the part that it says the data comes from. Code that arrives by a
/// pipe is told where it is produced; the program that executes it stands elsewhere.
fn ends(subject: &Subject<'_>, effect: &Effect<'_>) -> (Span, Option<Span>) {
    match &effect.kind {
        EffectKind::Code { source, .. } => match subject.invocation.map(|invocation| invocation.span) {
            Some(program) if !covers(program, effect.span) && !covers(effect.span, program) => {
                (program, Some(effect.span))
            }
            _ => (effect.span, source.filter(|source| *source != effect.span)),
        },
        EffectKind::Connect { source, .. } => (effect.span, source.filter(|source| *source != effect.span)),
        _ => (effect.span, None),
    }
}

/// The effect that brings in text of this origin, the one in the told part of the command before any other, the last
/// before the first.
fn begins(
    subject: &Subject<'_>,
    origin: Origins,
    told: Option<Span>,
) -> Option<(Option<usize>, Span, String)> {
    let before = subject.plan.effects.get(..subject.index)?;
    let skipped = before.len().saturating_sub(LOOKED_AT);
    let recent = before.iter().enumerate().skip(skipped).rev();
    let mut found: Option<(usize, &Effect<'_>)> = None;
    for (index, effect) in recent.filter(|(_, effect)| brings(effect, origin)) {
        let inside = told.is_some_and(|told| covers(told, effect.span));
        if found.is_none() || inside {
            found = Some((index, effect));
        }
        if inside || told.is_none() {
            break;
        }
    }
    if origin == Origins::DECODED {
        let (span, program) = decoder(subject, told)?;
        return Some((None, span, format!(" by `{program}`")));
    }
    let (index, effect) = found?;
    let from = match &effect.kind {
        EffectKind::Read { target } if target.path.is_empty() => String::new(),
        EffectKind::Read { target } | EffectKind::List { target } => format!(" from {}", place_of(target)),
        EffectKind::Write { target, .. } => format!(" to {}", place_of(target)),
        EffectKind::Connect { endpoint, .. } => {
            endpoint.host.map_or_else(String::new, |host| format!(" from `{}`", shown(host)))
        }
        _ => String::new(),
    };
    Some((Some(index), effect.span, from))
}

/// Whether one part of the command holds another.
const fn covers(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn brings(effect: &Effect<'_>, origin: Origins) -> bool {
    match &effect.kind {
        EffectKind::Read { target } => match target.scope {
            Scope::Secret => origin == Origins::SECRET,
            Scope::Environment => Origins::ALL_VARIABLES.union(Origins::SECRET).contains(origin),
            Scope::Harmless => false,
            _ => origin == Origins::FILE,
        },
        EffectKind::List { .. } => origin == Origins::NAMES,
        EffectKind::Write { .. } => origin == Origins::WRITTEN,
        EffectKind::Connect { .. } => origin == Origins::NETWORK,
        _ => false,
    }
}

/// The program that decodes: the last before the one that executes, where the text is produced if that is known.
fn decoder(subject: &Subject<'_>, told: Option<Span>) -> Option<(Span, String)> {
    let effect = subject.effect?;
    let own = effect.invocation().and_then(|at| usize::try_from(at).ok())?;
    let (span, _) = ends(subject, effect);
    let before = subject.plan.invocations.get(..own)?.iter().rev().take(LOOKED_AT);
    let mut candidates = before.filter(|invocation| invocation.span != span);
    let found = candidates.find(|invocation| {
        let near =
            covers(span, invocation.span) || told.is_none_or(|told| told.start <= invocation.span.start);
        near && invocation.program.is_some()
    })?;
    let program = found.program?.rsplit(|b| *b == b'/').next()?;
    Some((found.span, shown(program)))
}
