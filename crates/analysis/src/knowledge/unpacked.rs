//! Where what is taken out of an archive by its name comes to lie.

use super::flow::Uses;
use super::run::Run;
use super::values;
use super::words::Role;
use crate::effect::{Covers, Rest, Scope, WriteMode};
use crate::value::{Field, Origins, Piece, Stream, Value};

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
    let target = run.target(&place.value, false);
    let Covers { obeyed, home, workspace, .. } = target.covers;
    if !obeyed || home || workspace || target.scope != Scope::Workspace || target.rest != Rest::Exact {
        return;
    }
    let any = [Piece::Text(b"/"), Piece::Glob(b"*")];
    let any = Value::of(run.arena(), &any, Origins::LITERAL);
    let value = values::joined(run.arena(), &[place.value, any]);
    run.writes(&Field { value, many: true, ..*place }, WriteMode::Below, content);
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
