//! Roles that connect, fetch and send.

use super::endpoint;
use super::flow::{Flow, Use, Uses};
use super::run::{Run, certainty};
use super::scan::Scan;
use super::tables::Level;
use super::values;
use super::words::{Act, Fact, Output, Role};
use crate::effect::{EffectKind, Endpoint, WriteMode};
use crate::value::{Field, Origins, Stream, Value};

/// What a value adds to what is sent; whether it names an endpoint.
pub(super) fn collect<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, each: &Use<'_, 'a>) -> bool {
    let Use { role, field } = each;
    let field = *field;
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
pub(super) fn connect<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, each: &Use<'_, 'a>) {
    let field = &each.field;
    match each.role {
        Role::Connect | Role::Download => {
            let mut endpoint = endpoint::of(&field.value);
            if endpoint.scheme == b"file" {
                return;
            }
            let plain = field.known().is_some_and(|t| !t.iter().any(|b| matches!(b, b':' | b'/' | b'.')));
            if plain && run.program.has(Fact::NamesRemotes) {
                // A remote by its name in the configuration.
                endpoint = Endpoint::UNKNOWN;
            }
            // Not a server that the workspace has started, but everything that the user may.
            endpoint.loopback &= !run.program.has(Fact::EntersAccounts);
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

/// What a program that downloads puts under the name that the address ends in, here or in the directory that it is told.
pub(super) fn keeps_by_address<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, uses: &Uses<'_, 'a>) {
    let downloads = |role: Role| role == Role::Download;
    let of_network =
        |level: &Level| matches!(level.output(), Output::Origins(names) if names.contains(&"network"));
    if !uses.has(downloads) || !scan.levels.last().is_some_and(of_network) {
        return;
    }
    let here = Act::Place(Role::WriteBelow, ".");
    let line = scan.operands_line();
    let told = uses.of(|role| role == Role::WriteBelow).last().map(|each| each.field.value);
    let kept = line.is_some_and(|line| line.acts.contains(&here))
        || scan.given.iter().any(|given| given.option.acts.contains(&here));
    if told.is_none() && !kept {
        return;
    }
    for each in uses.of(downloads) {
        let Some(name) = each.field.known().map(name_of_address) else { continue };
        let name = Value::text(name, each.field.value.origins);
        let slash = Value::text(b"/", Origins::LITERAL);
        let value = match told {
            Some(directory) => values::joined(run.arena(), &[directory, slash, name]),
            None => name,
        };
        let file = Field { value, ..*each.field };
        let content = Stream::unknown(Origins::NETWORK, each.field.span);
        run.writes(&file, WriteMode::Replace, content);
    }
}

/// The name of the file that an address ends in.
fn name_of_address(address: &[u8]) -> &[u8] {
    let rest = address.windows(3).position(|part| part == b"://").map_or(0, |at| at + 3);
    let rest = address.get(rest..).unwrap_or_default();
    let path = rest.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
    match path.iter().rposition(|byte| *byte == b'/').and_then(|at| path.get(at + 1..)) {
        None | Some(b"" | b"." | b"..") => b"index.html",
        Some(name) => name,
    }
}
