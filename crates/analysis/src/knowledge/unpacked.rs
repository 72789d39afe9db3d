//! Where what is taken out of an archive by its name comes to lie.

use super::flow::Uses;
use super::run::Run;
use super::scan::Scan;
use super::tables::Operands;
use super::values;
use super::words::Role;
use crate::effect::{Covers, Rest, Scope, Target, WriteMode};
use crate::session::Session;
use crate::value::{Field, Origins, Piece, Stream, Value};
use crate::world::Entries;
use bumpalo::Bump;

/// Where a program puts them that was told by an option.
pub(super) fn place<'a>(uses: &Uses<'_, 'a>) -> Option<Value<'a>> {
    uses.of(|role| role == Role::WriteBelow).last().map(|each| each.field.value)
}

/// A member of an archive is put where the program puts them. What it is, a file or a directory with all that is in it, only the
/// archive says; and a name that is not known says no more than the place does.
pub(crate) fn member<'a>(
    run: &mut Run<'_, 'a>,
    place: Option<&Value<'a>>,
    content: Stream<'a>,
    name: &Field<'a>,
) {
    let Some(named) = name.known().and_then(literal) else { return };
    let named = Value::text(named, name.value.origins);
    let slash = Value::text(b"/", Origins::LITERAL);
    let value = match place {
        Some(place) => values::joined(run.arena(), &[*place, slash, named]),
        None => named,
    };
    run.writes(&Field { value, ..*name }, WriteMode::Below, content);
}

/// Something is put below a directory under names that are not told. Where other programs obey some files of that directory, it may be
/// these.
pub(crate) fn whatever<'a>(run: &mut Run<'_, 'a>, content: Stream<'a>, place: &Field<'a>) {
    if is_obeyed(&run.target(&place.value, false)) {
        let value = any_below(run.arena(), &place.value);
        run.writes(&Field { value, many: true, ..*place }, WriteMode::Below, content);
    }
}

/// Whether other programs obey some of what lies in a directory, and nobody would put everything of a project there.
pub(super) fn is_obeyed(target: &Target<'_>) -> bool {
    let Covers { obeyed, home, workspace, .. } = target.covers;
    obeyed && !home && !workspace && target.scope == Scope::Workspace && target.rest == Rest::Exact
}

/// Any name in a directory.
pub(super) fn any_below<'a>(arena: &'a Bump, place: &Value<'a>) -> Value<'a> {
    let any = [Piece::Text(b"/"), Piece::Glob(b"*")];
    values::joined(arena, &[*place, Value::of(arena, &any, Origins::LITERAL)])
}

/// An archive is unpacked where the program runs, if it is told neither a place nor names.
pub(super) fn here<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, uses: &Uses<'_, 'a>, content: Stream<'a>) {
    let unpacks = |line: Operands| line.items.iter().any(|item| item.role == Role::Member);
    // Without an archive it says how it is used.
    if scan.operands.is_empty() {
        return;
    }
    if scan.operands_line().is_some_and(unpacks) && !uses.has(|role| role == Role::Member) {
        let here = values::field(b".", Origins::LITERAL, run.call.span);
        whatever(run, content, &here);
    }
}

/// What lies in directories is put into another one (`cp -r x/. y`). `apart`: in its place, however they are told.
pub(super) fn poured<'a>(
    run: &mut Run<'_, 'a>,
    uses: &Uses<'_, 'a>,
    place: &Field<'a>,
    apart: bool,
    content: Stream<'a>,
) {
    let whole = |path: &[u8]| apart || matches!(values::base_name(path), b"." | b"..");
    if !is_obeyed(&run.target(&place.value, false)) {
        return;
    }
    for source in uses.of(|role| matches!(role, Role::Read | Role::Move)) {
        let from = run.target(&source.field.value, false);
        if source.field.known().is_none_or(whole) && may_bring(run.session, &from, &place.value) {
            return whatever(run, content, place);
        }
    }
}

/// Most names in a directory that are looked at.
const MOST: usize = 256;

/// Whether something in a directory, as far as the machine tells, is obeyed by its name where it is put.
pub(super) fn may_bring<'a>(session: &mut dyn Session<'a>, from: &Target<'a>, place: &Value<'a>) -> bool {
    // What the command has made itself may lie there meanwhile.
    if from.rest != Rest::Exact || session.has_made_files() {
        return true;
    }
    let Entries::Names(names) = session.world().entries(from.path, MOST) else { return true };
    if names.is_empty() {
        return true;
    }
    session.works(8 * names.len());
    let arena = session.arena();
    names.iter().any(|(name, _)| {
        let name = [Piece::Text(values::concat(arena, &[b"/", name]))];
        let path = values::joined(arena, &[*place, Value::of(arena, &name, Origins::FILE)]);
        session.target(&path).scope >= Scope::Persistence
    })
}

/// The part of a name that no pattern begins in, if it is more than nothing: with what is left of it, names are matched. A name that
/// begins at the root loses that.
fn literal(name: &[u8]) -> Option<&[u8]> {
    let start = name.iter().position(|byte| *byte != b'/')?;
    let name = name.get(start..)?;
    let Some(pattern) = name.iter().position(|byte| b"*?[".contains(byte)) else { return Some(name) };
    let directory = name.get(..pattern)?.iter().rposition(|byte| *byte == b'/')?;
    name.get(..directory)
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn a_pattern_says_the_directory_that_it_is_for() {
        for (name, expect) in [
            (&b"a/b"[..], Some(&b"a/b"[..])),
            (b"/a", Some(b"a")),
            (b"a/*", Some(b"a")),
            (b"a/b*/c", Some(b"a")),
            (b"*.c", None),
            (b"a*", None),
            (b"/", None),
            (b"", None),
        ] {
            assert_eq!(literal(name), expect, "{}", name.escape_ascii());
        }
    }
}
