//! What a program of the project's own is told by its arguments: what has the form of variables, and files that it has no business with.

use super::reading::is_free_of;
use super::run::certainty;
use super::tables;
use super::values;
use super::words::Role;
use crate::effect::{EffectKind, Rest, Scope, Target, Unknown};
use crate::session::Session;
use crate::value::{Field, Value};
use shward_syntax::{is_name_byte, until};

/// What stands before the first `=` of a word, and what stands from there on.
fn divided(word: &[u8]) -> Option<(&[u8], &[u8])> {
    word.split_at_checked(until(word, [b'='])).filter(|(_, value)| !value.is_empty())
}

/// Whether a name behind a slash begins with a dot.
fn has_hidden_name(mut path: &[u8]) -> bool {
    loop {
        match path.get(until(path, [b'/'])..) {
            Some([_, b'.', ..]) => return true,
            Some([_, after @ ..]) => path = after,
            _ => return false,
        }
    }
}

/// Records what arguments of the form `NAME=VALUE` do to a program that takes them for variables.
pub(super) fn told<'a>(session: &mut dyn Session<'a>, arguments: &[Field<'a>]) {
    session.works(arguments.len());
    for word in arguments {
        let prefix = word.value.known_prefix();
        let Some((name, _)) = divided(prefix) else { continue };
        // What a script of autoconf's has found out has small letters, too: `ac_cv_prog_CC`.
        if name.iter().copied().all(is_name_byte) {
            let value = values::after(session.arena(), &word.value, name.len() + 1);
            session.told(name, &Field { value, ..*word });
        }
    }
}

/// Whether a program that runs the project's own, whichever it is, loads what an option of this spelling names: always, or if it has
/// an ending of code.
fn loads(option: &[u8], path: &[u8]) -> bool {
    let Some((_, any)) = tables::program(b"project:any") else { return false };
    let level = any.level();
    let spelling = match option {
        [b'-', b'-', name @ ..] => {
            let mut named = level.long().iter();
            named.find(|named| named.name.as_bytes() == name).map(|named| named.item)
        }
        [b'-', letter] => level.letter(*letter),
        _ => None,
    };
    match spelling.map(|spelling| spelling.option.role) {
        Some(Role::Load) => true,
        Some(Role::Plain(marks)) => !is_free_of(path, marks),
        _ => false,
    }
}

/// What lies among temporary files, and is named to a program by an option that loads, is executed.
fn loaded<'a>(
    session: &mut dyn Session<'a>,
    before: Option<&Field<'a>>,
    word: &Field<'a>,
    value: &Value<'a>,
    from: usize,
) {
    let prefix = word.value.known_prefix();
    let option = match divided(prefix) {
        Some((option, _)) => Some(option),
        None => before.and_then(Field::known),
    };
    let Some(option) = option.filter(|option| option.starts_with(b"-")) else { return };
    let path = value.known_prefix();
    if !path.starts_with(b"/") || !loads(option, path) {
        return;
    }
    let target = session.target(value);
    if target.scope == Scope::Temp && !is_told(session, &target, from) {
        session.emit(EffectKind::Execute { target, origin: value.origins }, word.span, certainty(word));
    }
}

/// Records what a program that runs the project's own may do with files that are named to it, and that no effect from here on tells of.
pub(super) fn handed<'a>(session: &mut dyn Session<'a>, arguments: &[Field<'a>], from: usize) {
    session.works(arguments.len());
    let mut before = None;
    for word in arguments {
        let prefix = word.value.known_prefix();
        let last = before.replace(word);
        let value = match divided(prefix) {
            Some((name, _)) => values::after(session.arena(), &word.value, name.len() + 1),
            None => word.value,
        };
        loaded(session, last, word, &value, from);
        handed_file(session, word, &value, from);
    }
}

/// What the program says about its files can be followed where it names them itself. A key or the settings of an agent that it is
/// given are whatever it does with any file. Of the secrets of its own directory (`.env`) it is the owner.
fn handed_file<'a>(session: &mut dyn Session<'a>, word: &Field<'a>, value: &Value<'a>, from: usize) {
    let prefix = value.known_prefix();
    // Most words are no such paths, and need not be looked up.
    if !matches!(prefix.first(), Some(b'/' | b'.')) && !has_hidden_name(prefix) {
        return;
    }
    let target = session.target(value);
    let inside = || {
        let rest =
            session.cwd().and_then(|here| target.path.strip_prefix(here.strip_suffix(b"/").unwrap_or(here)));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let kind = match target.scope {
        Scope::Secret | Scope::Environment if !inside() => {
            EffectKind::Read { target: Target { rest: Rest::Unknown, ..target } }
        }
        Scope::Persistence if inside() => return,
        Scope::Own | Scope::Persistence => EffectKind::Unknown {
            reason: Unknown::Construct("a protected file is given to a program of the project's"),
        },
        _ => return,
    };
    if !is_told(session, &target, from) {
        session.emit(kind, word.span, certainty(word));
    }
}

/// Whether an effect from here on tells of a place.
fn is_told(session: &mut dyn Session<'_>, place: &Target<'_>, from: usize) -> bool {
    // Each of many words may be one that is looked for.
    let told = session.effects().len().saturating_sub(from);
    session.works(told / 4);
    session.effects().iter().skip(from).any(|effect| match effect.kind {
        EffectKind::Read { target }
        | EffectKind::Write { target, .. }
        | EffectKind::Execute { target, .. } => target.path == place.path,
        _ => false,
    })
}
