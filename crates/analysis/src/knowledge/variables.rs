//! Variables that a program obeys and that the script has put into its environment, and settings that it is given.

use super::image::Named;
use super::reading::{is_free_of, is_plain_name};
use super::run::Run;
use super::scan::Scan;
use super::script;
use super::tables::Level;
use super::values;
use super::words::Role;
use crate::effect::{Unknown, WriteMode};
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};

/// Records what the program does because of its environment.
pub(super) fn obey(run: &mut Run<'_, '_>) {
    if !run.session.has_variables() {
        return;
    }
    let span = run.call.span;
    for Named { name, item: role } in run.program.env.iter() {
        if role == Role::Text {
            continue;
        }
        if let Some(value) = run.session.variable(name.as_bytes()) {
            obeyed(run, name, role, &Field { value, span, many: false });
        }
    }
}

/// Records what the program does because of the value of one of its variables or settings.
fn obeyed<'a>(run: &mut Run<'_, 'a>, name: &'static str, role: Role, field: &Field<'a>) {
    if field.known().is_some_and(<[u8]>::is_empty) {
        return;
    }
    let (value, span) = (field.value, field.span);
    let data = Stream::unknown(Origins::FILE, span);
    match role {
        // The program may come to it or not: an editor for a message, a pager at a terminal.
        Role::Run => {
            run.perhaps(|run| run.shell(field, data, Reentry::New));
        }
        Role::RunOnFile => {
            run.perhaps(|run| run.shell_on_file(field, data));
        }
        Role::Program => {
            run.perhaps(|run| {
                run.command_words(field, Reentry::New);
                Stream::EMPTY
            });
        }
        Role::Name if value.known().is_some_and(is_plain_name) => {}
        Role::Plain(marks) if value.known().is_some_and(|text| is_free_of(text, marks)) => {}
        Role::Script(language) => {
            run.perhaps(|run| script::execute(run, language, field, &[]));
        }
        Role::Read | Role::Config => {
            run.reads(field, false);
        }
        Role::List | Role::Chdir => run.lists(field, false),
        Role::Load => {
            run.reads(field, false);
            run.code("native", None, value.origins, span);
        }
        Role::Write => run.writes(field, WriteMode::Replace, data),
        Role::Append => run.writes(field, WriteMode::Append, data),
        Role::Modify => run.writes(field, WriteMode::Modify, data),
        Role::Create => run.writes(field, WriteMode::Create, data),
        Role::WriteBelow => run.writes(field, WriteMode::Below, data),
        Role::Code(language) => run.code(language, field.known(), value.origins, span),
        _ => run.not_understood(Unknown::Variable(name.as_bytes()), span),
    }
}

/// `KEY=VALUE` or `KEY`: what the value is known to do, nothing if the key is known as harmless, and else code.
pub(super) fn setting<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, field: &Field<'a>) {
    let prefix = field.value.known_prefix();
    let end = prefix.iter().position(|b| matches!(b, b'=' | b' ' | b'\t'));
    let key = match (end, field.known()) {
        (Some(at), _) => prefix.get(..at),
        (None, Some(text)) => Some(text),
        (None, None) => None,
    };
    let harmless = |text: &[u8]| scan.levels.iter().any(|level| is_harmless(level, text));
    if key.into_iter().chain(field.known()).any(harmless) {
        return;
    }
    let known = key.and_then(|key| run.program.env.find(&key.to_ascii_lowercase()));
    let given = values::split_once(run.arena(), &field.value, b'=');
    match known.zip(given) {
        Some((Named { name, item: role }, (_, value))) => {
            obeyed(run, name, role, &Field { value, ..*field });
        }
        None => run.code("shell", None, field.value.origins, field.span),
    }
}

/// Whether a setting of this name, or with this value, cannot execute anything. Keys are the same in any case, values are not.
pub(crate) fn is_harmless(level: &Level, text: &[u8]) -> bool {
    let after = |start: &str| {
        text.split_at_checked(start.len()).filter(|(head, _)| head.eq_ignore_ascii_case(start.as_bytes()))
    };
    level.harmless().iter().any(|known| match (known.strip_suffix('*'), known.find('=')) {
        (Some(start), _) => after(start).is_some(),
        (None, Some(end)) => {
            let (key, value) = known.split_at(end);
            after(key).is_some_and(|(_, rest)| rest == value.as_bytes())
        }
        (None, None) => after(known).is_some_and(|(_, rest)| rest.is_empty()),
    })
}
