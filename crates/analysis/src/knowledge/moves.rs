//! Whether what is moved is kept: where it goes, and what may lie there.

use super::run::Run;
use super::scan::Scan;
use super::tables::Operands;
use super::values;
use super::words::{Fact, Role};
use crate::effect::{Rest, Scope, Target};
use crate::value::{Field, Origins, Piece, Value};
use crate::world::{FileKind, World};

/// Whether what is moved lies elsewhere in the workspace then, whatever names a pattern matches: in a directory, where each keeps
/// its own, or nowhere where something lay before.
pub(super) fn stays<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, field: &Field<'a>) -> bool {
    // Those of several directories may have one name.
    let pieces = field.value.pieces();
    let named = pieces.iter().skip_while(|piece| matches!(piece, Piece::Text(_)));
    let one_directory = named.clone().all(|piece| match piece {
        Piece::Text(text) | Piece::Glob(text) => !text.contains(&b'/'),
        Piece::Unknown | Piece::Made => false,
    });
    // What those options mean is known of what copies and moves files.
    let moves = run.program.has(Fact::PutsFiles);
    let given = scan.value(&["-t", "--target-directory"]).filter(|_| moves);
    let has_place = |line: Operands| line.items.iter().any(|item| item.role == Role::Dest);
    let last = scan.operands.last().copied().filter(|_| scan.operands_line().is_some_and(has_place));
    let Some(place) = given.or(last) else { return false };
    // What a search finds lies at any depth.
    let spelled = field.value.origins == Origins::LITERAL;
    if !one_directory || !spelled || place.value == field.value {
        return false;
    }
    if run.target(&field.value, false).scope != Scope::Workspace {
        return false;
    }
    let to = run.target(&place.value, false);
    if to.scope != Scope::Workspace || to.rest == Rest::Unknown || !lies_straight(run, to.path) {
        return false;
    }
    let ends = |text: &[u8]| text.ends_with(b"/") || matches!(values::base_name(text), b"." | b"..");
    let directory = given.is_some()
        || place.known().is_some_and(ends)
        || to.rest == Rest::Exact && run.session.world().kind(to.path) == FileKind::Directory;
    let spares =
        moves && scan.has(&["-n", "--no-clobber"]) && !scan.has(&["-f", "--force", "-i", "--interactive"]);
    let apart = scan.has(&["-T", "--no-target-directory"]);
    // Each gets a name of its own, which is made of the one that it had.
    let renamed = !field.many && !place.many && run.session.is_made_of(place.span, field.span);
    directory && !apart && to.rest == Rest::Exact || spares || renamed
}

/// Whether a place of the workspace is one where the links lead that are on the way to it. Among what builds make nothing is kept.
fn lies_straight(run: &mut Run<'_, '_>, path: &[u8]) -> bool {
    let arena = run.arena();
    let real = run.session.world().canonical(path).map(|real| &*arena.alloc_slice_copy(&real));
    real.is_none_or(|real| run.session.target(&Value::text(real, Origins::LITERAL)).scope == Scope::Workspace)
}

/// Whether what is moved is a directory of the workspace that goes to where temporary files are.
pub(super) fn leaves_whole<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, field: &Field<'a>) -> bool {
    let place = scan.value(&["-t", "--target-directory"]).or_else(|| scan.operands.last().copied());
    let Some(place) = place.filter(|place| place.value != field.value) else { return false };
    let (from, to) = (run.target(&field.value, false), run.target(&place.value, false));
    leaves(run.session.world(), &from, &to)
}

/// Whether a place is a directory of the workspace, and is moved to where temporary files are, which do not stay.
pub(super) fn leaves(world: &dyn World, from: &Target<'_>, to: &Target<'_>) -> bool {
    let moved = to.scope == Scope::Temp && from.scope == Scope::Workspace && from.rest == Rest::Exact;
    moved
        && match world.kind(from.path) {
            FileKind::Directory => true,
            // Of what cannot be looked at the name tells: those of files have an ending.
            FileKind::Unknown => !values::base_name(from.path).contains(&b'.'),
            FileKind::Missing | FileKind::File | FileKind::Special => false,
        }
}
