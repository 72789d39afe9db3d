//! The same put over each of many files: where that is not what it looks like.

use crate::effect::{EffectKind, Rest, Target, WriteMode};
use crate::session::Session;
use crate::value::{Piece, Value};

/// Directories in which by custom lie directories (`packages/*`): a name a line.
const HOLDERS: &str = include_str!("../../knowledge/holders.txt");

/// Whether these are all names in one of them.
pub(super) fn names_directories(value: &Value<'_>) -> bool {
    let [Piece::Text(start), Piece::Glob(b"*")] = *value.pieces() else { return false };
    let holder = start.strip_suffix(b"/").and_then(|path| path.rsplit(|byte| *byte == b'/').next());
    let is_name = |line: &&str| !line.starts_with('#');
    holder.is_some_and(|name| HOLDERS.lines().filter(is_name).any(|known| known.as_bytes() == name))
}

/// Whether the command may have written a file. What is moved away is there but once: there again, a program of the
/// project's may have made it, or one that writes what it likes.
pub(super) fn is_made_before<'a>(session: &mut dyn Session<'a>, file: &Target<'a>, moved: bool) -> bool {
    let told = session.effects().len();
    session.works(told);
    session.effects().iter().any(|effect| match effect.kind {
        EffectKind::Write { target, mode, .. } => {
            let exact = target.rest == Rest::Exact && mode != WriteMode::Below;
            target.rest == Rest::Exact && target.path == file.path || moved && !exact
        }
        EffectKind::Execute { .. } | EffectKind::Code { .. } => moved,
        _ => false,
    })
}
