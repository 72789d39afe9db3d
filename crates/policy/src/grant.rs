//! From a plan to the least that the sandbox has to permit for it.

use crate::reach::named_hosts;
use crate::verdict::{Grant, Network};
use shward_analysis::{EffectKind, Invocation, Plan, Rest, Scope, Target};

/// The grant for a plan. It never permits more than the sandbox's profile; it permits less where the plan needs less.
pub(crate) fn grant(plan: &Plan<'_>) -> Grant {
    Grant {
        workspace: plan.effects.iter().any(|effect| may_write(&effect.kind)),
        homes: plan.refused.is_some()
            || plan.effects.iter().any(|effect| may_look_at_homes(&effect.kind))
            || !plan.invocations.iter().all(looks_at_nothing_unasked),
        network: if plan.effects.iter().any(|effect| needs_loopback(&effect.kind)) {
            Network::Loopback
        } else {
            Network::None
        },
        hosts: named_hosts(plan),
    }
}

/// Whether an effect may change the workspace. What is not understood may.
fn may_write(kind: &EffectKind<'_>) -> bool {
    match kind {
        EffectKind::Read { .. }
        | EffectKind::List { .. }
        | EffectKind::Connect { .. }
        | EffectKind::Listen { .. }
        | EffectKind::Signal { .. }
        | EffectKind::Privilege { .. } => false,
        EffectKind::Write { target, .. }
        | EffectKind::Delete { target, .. }
        | EffectKind::Metadata { target, .. } => may_lie_in_workspace(target),
        _ => true,
    }
}

fn may_lie_in_workspace(target: &Target<'_>) -> bool {
    !matches!(target.scope, Scope::Harmless | Scope::Temp | Scope::Elsewhere | Scope::Home | Scope::System)
        || target.covers.workspace
}

/// Whether an effect may be on a home. What is not wholly known may be, and trees and patterns may lead there by links.
fn may_look_at_homes(kind: &EffectKind<'_>) -> bool {
    match kind {
        EffectKind::Read { target }
        | EffectKind::List { target }
        | EffectKind::Write { target, .. }
        | EffectKind::Delete { target, .. }
        | EffectKind::Metadata { target, .. } => {
            let inside = matches!(
                target.scope,
                Scope::Harmless | Scope::Product | Scope::Workspace | Scope::Repository | Scope::Temp
            ) || target.scope == Scope::System
                && SYSTEM.iter().any(|system| target.path.starts_with(system));
            !inside || target.rest != Rest::Exact || target.tree || target.covers.home || target.covers.root
        }
        _ => true,
    }
}

/// Where no home is.
const SYSTEM: [&[u8]; 4] = [b"/etc/", b"/usr/", b"/bin/", b"/lib/"];

/// Whether a program looks at no files but those that its arguments name. Options that may make it follow links of a directory
/// do not count as known.
fn looks_at_nothing_unasked(started: &Invocation<'_>) -> bool {
    let follows = |word: &[u8]| {
        let short = word.starts_with(b"-") && !word.starts_with(b"--");
        short && word.iter().any(|byte| matches!(byte, b'L' | b'H')) || word.starts_with(b"--d")
    };
    started.no_own_files
        && started.env.is_empty()
        && started.argv.iter().all(|field| field.known().is_some_and(|word| !follows(word)))
}

fn needs_loopback(kind: &EffectKind<'_>) -> bool {
    match kind {
        EffectKind::Connect { endpoint, .. } => endpoint.loopback,
        EffectKind::Listen { .. } => true,
        _ => false,
    }
}
