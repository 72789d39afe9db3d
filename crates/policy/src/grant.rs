//! From a plan to the least that the sandbox has to permit for it.

use crate::reach::named_hosts;
use crate::verdict::{Grant, Network};
use shward_analysis::{EffectKind, Plan, Scope, Target};

/// The grant for a plan. It never permits more than the sandbox's profile; it permits less where the plan needs less.
pub(crate) fn grant(plan: &Plan<'_>) -> Grant {
    Grant {
        workspace: plan.effects.iter().any(|effect| may_write(&effect.kind)),
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
        | EffectKind::Delete { target }
        | EffectKind::Metadata { target, .. } => may_lie_in_workspace(target),
        _ => true,
    }
}

fn may_lie_in_workspace(target: &Target<'_>) -> bool {
    !matches!(target.scope, Scope::Harmless | Scope::Temp | Scope::Elsewhere | Scope::Home | Scope::System)
        || target.covers.workspace
}

fn needs_loopback(kind: &EffectKind<'_>) -> bool {
    match kind {
        EffectKind::Connect { endpoint, .. } => endpoint.loopback,
        EffectKind::Listen { .. } => true,
        _ => false,
    }
}
