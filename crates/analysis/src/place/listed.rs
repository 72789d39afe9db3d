//! What a pattern stands for on this machine: the names that are there, and where links among them lead.

use crate::value::{Piece, Value};
use crate::world::{Entries, World};

/// So many names are looked at for one pattern. Beyond that, nobody knows where all of them lead.
const MOST: usize = 2048;

/// Whether everything that a pattern may stand for lies below a directory, as far as the machine tells: where links lead counts.
/// Of a machine that nothing is known of, what the pattern says is believed. Second, how many names were looked at.
pub(crate) fn stays_below(
    world: &dyn World,
    cwd: Option<&[u8]>,
    value: &Value<'_>,
    below: &[u8],
) -> (bool, usize) {
    let parts = components(value);
    let start = match (parts.first().map(Vec::as_slice), cwd) {
        (Some([]), _) if parts.len() > 1 => b"".as_slice(),
        (_, Some(cwd)) => cwd,
        // Where the shell is, is not known, and the machine may have anything there.
        (_, None) => return (matches!(world.entries(b"/", 0), Entries::NotTold), 0),
    };
    let mut looked = 0;
    // What may be a link, or lie behind one.
    let mut places = vec![(start.to_vec(), false)];
    for part in &parts {
        let mut next = Vec::new();
        match part.as_slice() {
            [] | [Piece::Text(b".")] => continue,
            [Piece::Text(b"..")] => return (false, looked),
            [Piece::Text(name)] => {
                next.extend(places.iter().map(|(place, _)| (joined(place, name), true)));
            }
            pattern => {
                for (place, crooked) in &places {
                    let names = match world.entries(place, MOST - looked) {
                        Entries::NotTold => return (true, looked),
                        Entries::TooMany => return (false, looked),
                        Entries::Names(names) => names,
                    };
                    looked = (looked + names.len() + 1).min(MOST);
                    for (name, link) in names.iter().filter(|(name, _)| may_match(pattern, name)) {
                        next.push((joined(place, name), *crooked || *link));
                    }
                }
            }
        }
        places = next;
    }
    let real = world.canonical(below);
    let below = real.as_deref().unwrap_or(below);
    let lies_below = |path: &[u8]| {
        path.strip_prefix(below)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || below == b"/")
    };
    let stays = |(place, crooked): &(Vec<u8>, bool)| {
        !crooked || world.canonical(place).is_some_and(|real| lies_below(&real))
    };
    (places.iter().all(stays), looked)
}

fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    [directory.strip_suffix(b"/").unwrap_or(directory), b"/", name].concat()
}

/// The names of a path, each with what is known of it.
fn components<'a>(value: &Value<'a>) -> Vec<Vec<Piece<'a>>> {
    let mut parts = vec![Vec::new()];
    for piece in value.pieces().iter() {
        let Piece::Text(text) = piece else {
            if let Some(last) = parts.last_mut() {
                last.push(*piece);
            }
            continue;
        };
        for (index, name) in text.split(|byte| *byte == b'/').enumerate() {
            if index > 0 {
                parts.push(Vec::new());
            }
            if let Some(last) = parts.last_mut().filter(|_| !name.is_empty()) {
                last.push(Piece::Text(name));
            }
        }
    }
    parts
}

/// Whether a name may match, whatever options say of capitals and of dots at the beginning.
fn may_match(pattern: &[Piece<'_>], name: &[u8]) -> bool {
    let mut rest = name;
    let last = pattern.len().saturating_sub(1);
    for (index, piece) in pattern.iter().enumerate() {
        let Piece::Text(text) = piece else { continue };
        // Which letters are the same but for their size, beyond ASCII, the locale says.
        if !text.is_ascii() {
            return true;
        }
        let is_text = |part: &[u8]| part.eq_ignore_ascii_case(text);
        let at = match index {
            0 => rest.get(..text.len()).is_some_and(is_text).then_some(0),
            _ if index == last => {
                rest.len().checked_sub(text.len()).filter(|at| rest.get(*at..).is_some_and(is_text))
            }
            _ => rest.windows(text.len()).position(is_text),
        };
        let Some(behind) = at.and_then(|at| rest.get(at + text.len()..)) else { return false };
        rest = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::may_match;
    use crate::value::Piece;

    #[test]
    fn names_match_in_any_capitals() {
        const STAR: Piece<'_> = Piece::Glob(b"*");
        for (pattern, name, expected) in [
            (&[STAR][..], "ev", true),
            (&[STAR], ".ev", true),
            (&[Piece::Text(b"e"), STAR], "Ev", true),
            (&[Piece::Text(b"e"), STAR], "v", false),
            (&[STAR, Piece::Text(b".sh")], "x.sh", true),
            (&[STAR, Piece::Text(b".sh")], "x.sh.bak", false),
            (&[STAR, Piece::Text(b".sh")], "sh", false),
            (&[Piece::Text(b"a"), STAR, Piece::Text(b"b"), STAR, Piece::Text(b"c")], "a1b2c", true),
            (&[Piece::Text(b"a"), STAR, Piece::Text(b"b"), STAR, Piece::Text(b"c")], "a1c2b", false),
            (&[Piece::Text(b"ab"), STAR, Piece::Text(b"ba")], "aba", false),
        ] {
            assert_eq!(may_match(pattern, name.as_bytes()), expected, "{pattern:?} {name}");
        }
    }
}
