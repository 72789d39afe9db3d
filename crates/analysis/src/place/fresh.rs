//! Places that the script itself makes by names that there were not before (mktemp).
//!
//! Which name that is, is not known; what lies there is the script's own wherever it is. All of them have one path here: what is
//! written to one may be what another holds.

use super::{Places, worse};
use crate::effect::{Scope, Target};
use crate::value::{Piece, Value};
use crate::world::World;
use bumpalo::Bump;

/// How the path of each of them is told.
pub(crate) const FRESH: &[u8] = b"/tmp/tmp.XXXXXXXXXX";

/// Whether a path is, or may be, that of something which the script has made like this.
pub(crate) fn is_fresh(path: &[u8]) -> bool {
    path.strip_prefix(FRESH).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}

/// A value of which [`Piece::Made`] is the beginning, as the path that stands for it.
pub(crate) fn as_path<'a>(arena: &'a Bump, value: &Value<'a>) -> Value<'a> {
    let Some((Piece::Made, rest)) = value.split_first() else { return *value };
    let (text, rest) = match rest.split_first() {
        Some((Piece::Text(text), rest)) => (*text, rest),
        _ => (&b""[..], rest),
    };
    let mut pieces = vec![Piece::Text(arena.alloc_slice_copy(&[FRESH, text].concat()))];
    pieces.extend_from_slice(rest);
    Value::of(arena, &pieces, value.origins)
}

impl<'a> Places<'a> {
    /// The place of a value of which [`Piece::Made`] is a part.
    pub(super) fn made(&self, world: &dyn World, cwd: Option<&'a [u8]>, value: &Value<'a>) -> Target<'a> {
        let origins = value.origins;
        let part_of = |pieces: &[Piece<'a>]| Value::of(self.arena, pieces, origins);
        let rest = match value.split_first() {
            Some((Piece::Made, [])) => return self.target(world, cwd, &Value::text(FRESH, origins)),
            Some((Piece::Made, rest)) => rest,
            _ => &[],
        };
        let goes_up = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => text.windows(2).any(|two| two == b".."),
            Piece::Glob(_) => false,
            Piece::Unknown | Piece::Made => true,
        };
        let Some((Piece::Text(first), behind)) = rest.split_first().filter(|_| !rest.iter().any(goes_up))
        else {
            return self.target(world, cwd, &value.forgotten(self.arena));
        };
        if !first.starts_with(b"/") {
            return self.target(world, cwd, &value.forgotten(self.arena));
        }
        if behind.is_empty() && first.iter().all(|byte| *byte == b'/') {
            // If it was not made, this is the root itself.
            return self.target(world, cwd, &value.forgotten(self.arena));
        }
        let path = self.arena.alloc_slice_copy(&[FRESH, first].concat());
        let mut pieces = vec![Piece::Text(path)];
        pieces.extend_from_slice(behind);
        let named = self.target(world, cwd, &part_of(&pieces));
        // If it was not made, the path begins at the root.
        let bare = self.target(world, cwd, &part_of(rest));
        if bare.scope > Scope::Elsewhere { worse(named, bare) } else { named }
    }
}
