//! Options by which patterns mean more names of files than they usually do: `dotglob`, `globstar` and `nocaseglob` (bash(1), The
//! Shopt Builtin).

use crate::shell::flow::{Opt, Options};
use crate::value::{Piece, Value};

/// Whether a word that means names of files may mean others under these options than it is read as.
pub(super) fn means_more(word: &Value<'_>, options: Options) -> bool {
    let letters = options.may(Opt::NoCaseGlob);
    let (dots, deep) = (options.may(Opt::DotGlob), options.may(Opt::GlobStar));
    if !(letters || dots || deep) {
        return false;
    }
    let pieces = word.pieces();
    let mut begins = true;
    pieces.iter().zip(1..).any(|(piece, next)| {
        let (begun, is_glob) = (begins, matches!(piece, Piece::Glob(_)));
        begins = matches!(piece, Piece::Text(text) if text.ends_with(b"/"));
        // At the beginning of a name two stars may be any number of directories.
        let two = is_star(piece) && pieces.get(next).is_some_and(is_star);
        is_glob && (letters || begun && (dots || deep && two))
    })
}

fn is_star(piece: &Piece<'_>) -> bool {
    matches!(piece, Piece::Glob(b"*"))
}
