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
    use super::{MOST, may_match, stays_below};
    use crate::value::{Origins, Piece, Value};
    use crate::world::{Entries, Frozen, World};
    use bumpalo::Bump;
    use std::borrow::Cow;

    const STAR: Piece<'static> = Piece::Glob(b"*");

    /// A machine with these directories; what of their names are links, and where these lead.
    struct Machine(
        &'static [(&'static str, &'static [&'static str])],
        &'static [(&'static str, &'static str)],
    );

    impl World for Machine {
        /// The longest link that a path begins with is followed, once.
        fn canonical(&self, path: &[u8]) -> Option<Cow<'_, [u8]>> {
            let below = |link: &str| {
                path.strip_prefix(link.as_bytes()).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
            };
            match self.1.iter().find_map(|(link, aim)| Some((*aim, below(link)?))) {
                Some(("", _)) => None,
                Some((aim, rest)) => Some([aim.as_bytes(), rest].concat().into()),
                None => Some(path.to_vec().into()),
            }
        }

        fn entries(&self, directory: &[u8], most: usize) -> Entries {
            let directory = if directory.is_empty() { b"/" } else { directory };
            let known = self.0.iter().find(|(known, _)| known.as_bytes() == directory);
            let names = known.map_or(&[][..], |(_, names)| names);
            let is_link = |name: &str| {
                let path = [directory, b"/", name.as_bytes()].concat();
                self.1.iter().any(|(link, _)| link.as_bytes() == path)
            };
            // One that stands for as many as are looked at.
            let many = names.contains(&"many");
            match names.len() > most || many && MOST > most {
                true => Entries::TooMany,
                false if many => Entries::Names(vec![(b"deep".to_vec(), false); MOST]),
                false => Entries::Names(names.iter().map(|n| (n.as_bytes().to_vec(), is_link(n))).collect()),
            }
        }
    }

    #[test]
    fn links_decide_where_a_pattern_leads() {
        const SOME: Machine = Machine(
            &[
                ("/w", &["a", "out", "up", "gone", "self", "beside"]),
                ("/w/a", &["x"]),
                ("/w/out", &["x"]),
                ("/full", &["many"]),
                ("/full/deep", &["x"]),
            ],
            &[
                ("/w/out", "/elsewhere"),
                ("/w/up", "/"),
                ("/w/gone", ""),
                ("/w/self", "/w"),
                ("/w/beside", "/work"),
                ("/link", "/w"),
            ],
        );
        const A: Piece<'static> = Piece::Text(b"a");
        let text = |text: &'static str| Piece::Text(text.as_bytes());
        let (nowhere, here): (Option<&str>, _) = (None, Some("/w"));
        let rows = [
            (here, vec![A, STAR], "/w", true),
            (here, vec![A, STAR, text("/x")], "/w", true),
            (here, vec![text("o"), STAR], "/w", false),
            // What lies behind a link, by its name or as it is found.
            (here, vec![text("o"), STAR, text("/x")], "/w", false),
            (here, vec![text("o"), STAR, text("/"), STAR], "/w", false),
            (here, vec![text("out/"), STAR], "/w", false),
            (here, vec![text("u"), STAR], "/w", false),
            (here, vec![text("g"), STAR], "/w", false),
            (here, vec![text("s"), STAR], "/w", true),
            (here, vec![text("b"), STAR], "/w", false),
            (here, vec![A, STAR, text("/../x")], "/w", false),
            (here, vec![text("./a"), STAR], "/w", true),
            // From the root on, wherever the shell is.
            (Some("/w/a"), vec![text("/w/o"), STAR], "/w", false),
            (Some("/w/a"), vec![text("/w/a"), STAR], "/w", true),
            // Where nobody knows that.
            (nowhere, vec![A, STAR], "/w", false),
            (nowhere, vec![text("/w/o"), STAR], "/w", false),
            (nowhere, vec![text("/w/a"), STAR], "/w", true),
            // The directory may be named by a link, and be the root.
            (here, vec![text("s"), STAR], "/link", true),
            (here, vec![text("o"), STAR], "/", true),
            // More than is looked at, all in all.
            (Some("/full"), vec![STAR], "/full", true),
            (Some("/full"), vec![STAR, text("/"), STAR], "/full", false),
        ];
        let arena = Bump::new();
        for (cwd, pieces, below, expected) in rows {
            let value = Value::of(&arena, &pieces, Origins::NONE);
            let found = stays_below(&SOME, cwd.map(str::as_bytes), &value, below.as_bytes());
            assert_eq!(found.0, expected, "{cwd:?} {pieces:?} {below}");
            // Nothing is known of the machine.
            let up = pieces.contains(&Piece::Text(b"/../x"));
            assert!(stays_below(&Frozen, cwd.map(str::as_bytes), &value, below.as_bytes()).0 || up);
        }
    }

    #[test]
    fn names_match_in_any_capitals() {
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
            (&[Piece::Text("É".as_bytes()), STAR], "éx", true),
        ] {
            assert_eq!(may_match(pattern, name.as_bytes()), expected, "{pattern:?} {name}");
        }
    }
}
