//! Code that runs as if it were the project's, and is not.
//!
//! `code:project` vouches for what the workspace's own files say. A test, build or task file outside the workspace, one
//! that this command put there, a package of a registry and an address are code of somebody else, whichever runner of
//! the project's code they are handed to.

use super::endpoint;
use super::flow::Uses;
use super::provenance::NOT_OF_THE_PROJECT;
use super::run::Run;
use super::values;
use super::words::{Fact, Role};
use crate::effect::{EffectKind, Scope, Unknown};
use crate::value::{Field, Origins, Stream, Value};

/// Records what runs besides the workspace's own code, if `code:project` is among the effects from `first` on.
pub(super) fn foreign<'a>(run: &mut Run<'_, 'a>, uses: &Uses<'_, 'a>, first: usize) {
    let own = |kind: &EffectKind<'_>| matches!(kind, EffectKind::Code { language: "project", .. });
    if !run.session.effects().iter().skip(first).any(|effect| own(&effect.kind)) {
        return;
    }
    if run.session.cwd().is_some() {
        here(run);
    } else if !run.session.works_within()
        && run.target(&Value::text(b".", Origins::LITERAL), false).scope == Scope::Unknown
    {
        // Whose files they are is not known then.
        run.not_understood(Unknown::Construct("code of a directory that is not known"), run.call.span);
    }
    for each in uses.iter() {
        match each.role {
            Role::Form if each.field.known().is_some_and(is_coordinates) => {
                installed(run, "native", each.field)
            }
            Role::Read | Role::List | Role::Modify if fetched(run, "project", each.field) => {}
            // Where programs and libraries are installed is searched in any case.
            Role::List if matches!(each.field.known(), Some(b"/usr" | b"/usr/local")) => {}
            Role::Read | Role::List | Role::Modify | Role::Variables => outside(run, each.field),
            _ => {}
        }
    }
}

/// The program obeys what lies in the directory where it runs, or in one above: what is above the workspace it obeys there,
/// too.
pub(super) fn obeyed(run: &mut Run<'_, '_>) {
    let here = values::field(b".", Origins::LITERAL, run.call.span);
    if !run.target_of(&here, true).covers.workspace {
        outside(run, &here);
    }
}

/// The directory where it runs has code that is executed.
fn here(run: &mut Run<'_, '_>) {
    let here = values::field(b".", Origins::LITERAL, run.call.span);
    outside(run, &here);
}

/// Records the execution of a place that is not the workspace's own.
fn outside<'a>(run: &mut Run<'_, 'a>, field: &Field<'a>) {
    if matches!(field.known(), Some(b"-")) {
        return;
    }
    let separates = |byte: &u8| matches!(byte, b':' | b',' | b';');
    if let Some(list) = field.known().filter(|text| text.iter().any(separates)) {
        // Perhaps a list of directories: each counts.
        for place in list.split(separates).filter(|place| !place.is_empty()) {
            let part = run.part(field, place);
            outside(run, &part);
        }
    } else if field.known().is_none() {
        // So it may be where parts of it are not known (`lib/*:/tmp`): what begins behind a separator is a place.
        for text in field.value.texts() {
            for place in text.split(separates).skip(1).filter(|place| !place.is_empty()) {
                let part = run.part(field, place);
                outside(run, &part);
            }
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
/// package of a registry (`npm:NAME`, `jsr:NAME`), a package with its version (`example.org/tool@latest`).
pub(super) fn fetched<'a>(run: &mut Run<'_, 'a>, language: &'static str, file: &Field<'a>) -> bool {
    let text = file.known().unwrap_or_else(|| file.value.known_prefix());
    let address = text.windows(3).any(|window| window == b"://")
        || is_repository(text)
        || run.program.has(Fact::FetchesHosts) && begins_with_host(text);
    let of_registry = matches!(language, "javascript" | "typescript" | "project")
        && [&b"npm:"[..], b"jsr:", b"data:", b"blob:", b"file:"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
    let last = text.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let with_version = language == "project"
        && !matches!(text.first(), Some(b'.' | b'/' | b'@'))
        && text.contains(&b'/')
        && last.iter().skip(1).any(|b| *b == b'@');
    if !(address || of_registry || with_version) {
        return false;
    }
    let language = if language == "project" { "native" } else { language };
    if address {
        let endpoint = endpoint::of(&file.value);
        run.does(EffectKind::Connect { endpoint, sends: Origins::NONE, source: None }, file.span);
        let origins = file.value.origins | Origins::NETWORK;
        run.streamed_code(language, Stream { text: None, origins, source: None }, file.span);
    } else {
        installed(run, language, file);
    }
    true
}

/// Whether a word begins with the name of a host: `github.com/x/y`.
fn begins_with_host(word: &[u8]) -> bool {
    let Some(at) = word.iter().position(|byte| *byte == b'/') else { return false };
    let (host, _) = word.split_at(at);
    host.contains(&b'.')
        && host
            .first()
            .zip(host.last())
            .is_some_and(|(first, last)| first.is_ascii_alphanumeric() && last.is_ascii_alphabetic())
}

/// Whether a word is `user@host:path`, from where version control clones.
fn is_repository(word: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        !part.is_empty() && part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
    };
    let Some(at) = word.iter().position(|byte| *byte == b'@') else { return false };
    let (user, rest) = word.split_at(at);
    let host = rest.get(1..).and_then(|rest| rest.split(|byte| *byte == b':').next());
    host.is_some_and(|host| is_name(user) && is_name(host) && host.len() + 1 < rest.len())
}

/// A package of a registry runs. It is trusted as by the registry's other clients (`npx`); an address is not.
pub(super) fn installed<'a>(run: &mut Run<'_, 'a>, language: &'static str, name: &Field<'a>) {
    run.does(EffectKind::Package { action: "install" }, name.span);
    let endpoint = endpoint::host(None, None, b"");
    run.does(EffectKind::Connect { endpoint, sends: Origins::NONE, source: None }, name.span);
    run.streamed_code(language, Stream { text: None, origins: Origins::FILE, source: None }, name.span);
}

/// Whether a word is `GROUP:ARTIFACT:GOAL` of Maven, perhaps with a version.
fn is_coordinates(word: &[u8]) -> bool {
    let parts = word.split(|byte| *byte == b':');
    parts.clone().count() > 2 && parts.clone().all(|part| !part.is_empty())
}
