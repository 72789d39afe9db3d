//! Code that runs as if it were the project's, and is not.
//!
//! `code:project` vouches for what the workspace's own files say. A test, build or task file outside the workspace, one
//! that this command put there, a package of a registry and an address are code of somebody else, whichever runner of
//! the project's code they are handed to.

use super::apply::Use;
use super::endpoint;
use super::languages::NOT_OF_THE_PROJECT;
use super::run::Run;
use super::values;
use super::words::Role;
use crate::effect::{EffectKind, Scope, Unknown};
use crate::value::{Field, Origins, Stream, Value};

/// Records what runs besides the workspace's own code, if `code:project` is among the effects from `first` on.
pub(super) fn foreign<'a>(run: &mut Run<'_, 'a>, uses: &[Use<'a>], first: usize) {
    let own = |kind: &EffectKind<'_>| matches!(kind, EffectKind::Code { language: "project", .. });
    if !run.session.effects().iter().skip(first).any(|effect| own(&effect.kind)) {
        return;
    }
    if run.session.cwd().is_some() {
        here(run);
    } else if run.target(&Value::text(run.arena(), b".", Origins::LITERAL), false).scope == Scope::Unknown {
        // Whose files they are is not known then.
        run.not_understood(Unknown::Construct("code of a directory that is not known"), run.call.span);
    }
    for each in uses {
        match each.role {
            Role::Read | Role::List | Role::Modify | Role::Form if fetched(run, "project", &each.field) => {}
            Role::Read | Role::List | Role::Modify => outside(run, &each.field),
            _ => {}
        }
    }
}

/// The program obeys what lies in the directory where it runs, or in one above: what is above the workspace it obeys there,
/// too.
pub(super) fn obeyed(run: &mut Run<'_, '_>) {
    let here = values::field(run.arena(), b".", Origins::LITERAL, run.call.span);
    if !run.target_of(&here, true).covers.workspace {
        outside(run, &here);
    }
}

/// The directory where it runs has code that is executed.
fn here(run: &mut Run<'_, '_>) {
    let here = values::field(run.arena(), b".", Origins::LITERAL, run.call.span);
    outside(run, &here);
}

/// Records the execution of a place that is not the workspace's own.
fn outside<'a>(run: &mut Run<'_, 'a>, field: &Field<'a>) {
    if matches!(field.known(), Some(b"-")) {
        return;
    }
    if let Some(list) = field.known().filter(|text| text.contains(&b':')) {
        // Perhaps a list of directories: each counts.
        for place in list.split(|byte| *byte == b':').filter(|place| !place.is_empty()) {
            let part = run.part(field, place);
            outside(run, &part);
        }
    }
    let target = run.target_of(field, false);
    match target.scope {
        Scope::Harmless | Scope::Unknown => {}
        Scope::Workspace | Scope::Product => {
            let origins = run.session.read_origins(&target);
            if origins.intersects(NOT_OF_THE_PROJECT.without(Origins::WRITTEN)) {
                run.streamed_code("project", Stream { text: None, origins, source: None }, field.span);
            }
        }
        _ => run.executes(field),
    }
}

/// Whether a word that stands for a script names something that is fetched, with the effects of that: an address, a
/// package of a registry (`npm:NAME`, `jsr:NAME`), a package with its version (`example.org/tool@latest`), one by its coordinates.
pub(super) fn fetched<'a>(run: &mut Run<'_, 'a>, language: &'static str, file: &Field<'a>) -> bool {
    let text = file.known().unwrap_or_else(|| file.value.known_prefix());
    let address = text.windows(3).any(|window| window == b"://");
    let of_registry = matches!(language, "javascript" | "typescript" | "project")
        && [&b"npm:"[..], b"jsr:", b"data:", b"blob:", b"file:"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
    let last = text.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let with_version = language == "project"
        && !matches!(text.first(), Some(b'.' | b'/' | b'@'))
        && text.contains(&b'/')
        && last.iter().skip(1).any(|b| *b == b'@');
    // `GROUP:ARTIFACT:VERSION:GOAL` of Maven.
    let coordinates = language == "project"
        && !text.contains(&b'/')
        && !text.starts_with(b":")
        && text.iter().filter(|b| **b == b':').count() > 1;
    if !(address || of_registry || with_version || coordinates) {
        return false;
    }
    let endpoint = if address { endpoint::of(&file.value) } else { endpoint::host(None, None, b"") };
    // A registry is trusted as by its other clients (`npx`); an address is not.
    let origins = if address { file.value.origins | Origins::NETWORK } else { Origins::FILE };
    if !address {
        run.does(EffectKind::Package { action: "install" }, file.span);
    }
    let language = if language == "project" { "native" } else { language };
    run.does(EffectKind::Connect { endpoint, sends: Origins::NONE, source: None }, file.span);
    run.streamed_code(language, Stream { text: None, origins, source: None }, file.span);
    true
}
