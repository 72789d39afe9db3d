//! Roles that connect, fetch and send.

use super::apply::{Flow, Use};
use super::endpoint;
use super::run::{Run, certainty};
use super::values;
use super::words::Role;
use crate::effect::{EffectKind, Endpoint};
use crate::value::{Field, Origins};

/// What a value adds to what is sent; whether it names an endpoint.
pub(super) fn collect<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, each: &Use<'a>) -> bool {
    let Use { role, field } = each;
    match role {
        Role::Upload => {
            flow.sent = flow.sent | uploaded(run, flow, field);
            false
        }
        Role::Send => {
            flow.sent = flow.sent | field.value.origins;
            false
        }
        Role::Identify => {
            flow.sent = flow.sent | field.value.origins.without(Origins::CREDENTIAL);
            false
        }
        Role::Download | Role::Connect if field.value.known_prefix().starts_with(b"file://") => {
            let value = values::after(run.arena(), &field.value, b"file://".len());
            flow.origins = flow.origins | run.reads(&Field { value, ..*field }, flow.tree);
            true
        }
        Role::Download => {
            flow.origins = flow.origins | Origins::NETWORK;
            true
        }
        Role::Connect => true,
        _ => false,
    }
}

/// The origins of a file, `@file` or `-` that is sent.
fn uploaded<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, field: &Field<'a>) -> Origins {
    let marked = field.value.known_prefix().starts_with(b"@");
    let file =
        if marked { Field { value: values::after(run.arena(), &field.value, 1), ..*field } } else { *field };
    if matches!(file.known(), Some(b"-" | b".")) {
        flow.source = run.call.stdin.source.or(flow.source);
        return run.call.stdin.origins;
    }
    let origins = run.reads(&file, flow.tree);
    let text = run.session.file_text(&file.value);
    flow.source = flow.source.or(text.source);
    origins | text.origins.without(Origins::TERMINAL)
}

/// The connection that a value names.
pub(super) fn connect<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, each: &Use<'a>) {
    let field = &each.field;
    match each.role {
        Role::Connect | Role::Download => {
            let mut endpoint = endpoint::of(&field.value);
            if endpoint.scheme == b"file" {
                return;
            }
            let plain = field.known().is_some_and(|t| !t.iter().any(|b| matches!(b, b':' | b'/' | b'.')));
            if run.name == "git" && plain {
                // A remote by its name in the configuration.
                endpoint = Endpoint::UNKNOWN;
            }
            let sends = flow.sent | carried(field);
            run.emit(
                EffectKind::Connect { endpoint, sends, source: flow.source },
                field.span,
                certainty(field),
            );
        }
        Role::Listen => {
            let mut endpoint = endpoint::of(&field.value);
            // The unspecified address connects to this machine, but is reached from everywhere.
            endpoint.loopback &= !endpoint.host.is_some_and(endpoint::is_unspecified);
            run.emit(EffectKind::Listen { endpoint }, field.span, certainty(field));
        }
        _ => {}
    }
}

/// What an address itself gives away: everything in it that the command does not spell out, if it goes to a place
/// that the command does spell out.
pub(super) fn carried(field: &Field<'_>) -> Origins {
    let origins = field.value.origins.without(Origins::LITERAL);
    if field.value.known_prefix().is_empty() {
        origins.without(Origins::ALL_VARIABLES | Origins::FILE | Origins::OUTSIDE)
    } else {
        origins
    }
}
