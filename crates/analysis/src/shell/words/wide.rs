//! Options by which patterns mean more names of files than they usually do: `dotglob`, `globstar` and `nocaseglob` (bash(1), The
//! Shopt Builtin).

use crate::shell::flow::{Opt, Options};
use crate::value::{Piece, Value};
use bumpalo::Bump;

/// What a word that means names of files may stand for under these options besides, if they make a difference to it: anything, from
/// the first name on of which a part is a pattern.
pub(super) fn besides<'a>(arena: &'a Bump, word: &Value<'a>, options: Options) -> Option<Value<'a>> {
    let letters = options.may(Opt::NoCaseGlob);
    let (dots, deep) = (options.may(Opt::DotGlob), options.may(Opt::GlobStar));
    if !(letters || dots || deep) {
        return None;
    }
    let pieces = word.pieces();
    let globs = |piece: &Piece<'_>| matches!(piece, Piece::Glob(_));
    let is_star =
        |piece: &Piece<'_>| matches!(piece, Piece::Glob(pattern) if pattern.iter().all(|byte| *byte == b'*'));
    let ends_name = |piece: &Piece<'_>| matches!(piece, Piece::Text(text) if text.ends_with(b"/"));
    let mut before = None;
    let counts = pieces.iter().enumerate().any(|(at, piece)| {
        // Where a name begins, a pattern that is more than one star may be any number of directories.
        let begins = before.is_none_or(ends_name);
        let two = is_star(piece) && pieces.get(at + 1).is_some_and(is_star);
        before = Some(piece);
        globs(piece) && (letters || begins && (dots || deep && two))
    });
    if !counts {
        return None;
    }
    let start = word.known_prefix();
    let end = start.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let start = start.get(..end).unwrap_or_default();
    let pieces: &[Piece<'a>] =
        if start.is_empty() { &[Piece::Unknown] } else { &[Piece::Text(start), Piece::Unknown] };
    Some(Value::of(arena, pieces, word.origins))
}
