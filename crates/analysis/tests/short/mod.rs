//! The short form of effects in which the knowledge files state what their examples must do (see `docs/knowledge.md`).
//! The module that includes this one brings the crate's types into scope.

use super::{Effect, EffectKind, Endpoint, Rest, Scope, Target, WriteMode};

/// Where examples run.
pub(crate) const CWD: &str = "/w";
/// Whose home directory `~` is.
pub(crate) const HOME: &str = "/home/u";

/// The effects, sorted and without repetition.
pub(crate) fn short(effects: &[Effect<'_>]) -> Vec<String> {
    let mut all: Vec<String> = effects.iter().map(|effect| one(&effect.kind)).collect();
    all.sort();
    all.dedup();
    all
}

// Outside its crate the enumeration is open.
#[allow(unreachable_patterns)]
fn one(kind: &EffectKind<'_>) -> String {
    match kind {
        EffectKind::Read { target } if target.path.is_empty() && target.scope == Scope::Environment => {
            "environment".to_owned()
        }
        EffectKind::Read { target } if target.path.is_empty() && target.scope == Scope::Secret => {
            "secret".to_owned()
        }
        EffectKind::Read { target } => format!("read:{}", place(target)),
        EffectKind::List { target } => format!("list:{}", place(target)),
        EffectKind::Write { target, mode, .. } => {
            let mode = match mode {
                WriteMode::Replace => "write",
                WriteMode::Below => "write-below",
                other => other.name(),
            };
            format!("{mode}:{}", place(target))
        }
        EffectKind::Delete { target, .. } if target.tree => format!("delete-tree:{}", place(target)),
        EffectKind::Delete { target, .. } => format!("delete:{}", place(target)),
        EffectKind::Metadata { target, what } => match *what {
            "setuid" | "world-writable" => format!("metadata:{what}:{}", place(target)),
            _ => format!("metadata:{}", place(target)),
        },
        EffectKind::Execute { target, .. } if target.rest == Rest::Exact && !target.path.contains(&b'/') => {
            format!("exec:{}", String::from_utf8_lossy(target.path))
        }
        EffectKind::Execute { target, .. } => {
            let place = place(target);
            let here = if place.starts_with(['/', '~', '*', '.']) { "" } else { "./" };
            format!("exec:{here}{place}")
        }
        EffectKind::Code { language, .. } => format!("code:{language}"),
        EffectKind::Connect { endpoint, sends, .. } => {
            let sent = if sends.is_empty() { "" } else { "+send" };
            format!("connect{}{sent}", host(endpoint))
        }
        EffectKind::Listen { .. } => "listen".to_owned(),
        EffectKind::Signal { what } => format!("signal:{what}"),
        EffectKind::Privilege { what } => format!("privilege:{what}"),
        EffectKind::Persist { what } => format!("persist:{what}"),
        EffectKind::System { what } => format!("system:{what}"),
        EffectKind::Package { action } => format!("package:{action}"),
        EffectKind::Vcs { action } => format!("vcs:{action}"),
        EffectKind::Remote { action, service } => format!("remote:{action}:{service}"),
        EffectKind::Unknown { reason } => format!("unknown:{}", reason.name()),
        other => format!("{other:?}"),
    }
}

fn host(endpoint: &Endpoint<'_>) -> String {
    endpoint.host.map_or(String::new(), |host| format!(":{}", String::from_utf8_lossy(host)))
}

fn place(target: &Target<'_>) -> String {
    let path = String::from_utf8_lossy(target.path);
    let path = if path == CWD {
        ".".to_owned()
    } else if let Some(below) = path.strip_prefix(&format!("{CWD}/")) {
        below.to_owned()
    } else if let Some(below) = path.strip_prefix(&format!("{HOME}/")) {
        format!("~/{below}")
    } else if path == HOME {
        "~".to_owned()
    } else {
        path.into_owned()
    };
    match target.rest {
        Rest::Exact => path,
        Rest::Unknown if path.is_empty() => "*".to_owned(),
        _ if path == "." => "*".to_owned(),
        _ => format!("{}/*", path.trim_end_matches('/')),
    }
}
