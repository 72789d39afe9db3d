//! One component of a path, and how it relates to a name that the tables know.
//!
//! A component is text, or a pattern of which only some text is known. Against a known name the answer has three
//! values, because a table entry must count as soon as a pattern *may* mean it, and an exception ("public keys are not
//! secret") only when every name that the pattern can mean is excepted.

use super::letters::letters;
use crate::bracket;
use crate::value::Piece;
use shward_syntax::same;

/// Longest file name on Linux (`NAME_MAX`): a pattern with more known text than this matches nothing.
const NAME_MAX: usize = 255;

/// More pieces than this are not matched one by one; the pattern may then mean any name.
const MAX_PIECES: usize = 64;

/// A component of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'p> {
    /// Known text without `/`.
    Text(&'p [u8]),
    /// A name made of known text, shell patterns and unknown text.
    Pattern(&'p [Piece<'p>]),
}

/// Whether a component is a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// Never.
    No,
    /// Some of the names that it can mean match.
    May,
    /// All of them do.
    Must,
}

impl Part<'_> {
    /// How this component relates to `name`, in which one `*` may stand for any text.
    pub(super) fn relation(&self, name: &[u8]) -> Relation {
        let pieces = match self {
            Part::Text(text) => {
                let found = !differs_in(text, text, name) && star_match(text, name);
                return if found { Relation::Must } else { Relation::No };
            }
            Part::Pattern(pieces) => *pieces,
        };
        if differs_at_an_end(pieces, name) {
            return Relation::No;
        }
        let known = known_len(pieces);
        if known > NAME_MAX || hidden_from(pieces, name) {
            return Relation::No;
        }
        match split_star(name) {
            None => may(matches_name(pieces, known, name)),
            Some((prefix, suffix)) => {
                let (first, last) = (leading(pieces), trailing(pieces));
                if first.starts_with(prefix) && last.ends_with(suffix) {
                    return Relation::Must;
                }
                may(compatible(first, prefix) && compatible_ends(last, suffix))
            }
        }
    }

    /// Whether this may be `name`, as [`Relation`] tells it.
    pub(super) fn may_be(&self, name: &[u8]) -> bool {
        self.relation(name) != Relation::No
    }

    /// Whether this is `name`, in which there is one `*`, for certain.
    pub(super) fn must_be(&self, name: &str) -> bool {
        // A pattern that does not say how it begins may begin in another way.
        (self.begins() || name.starts_with('*')) && self.relation(name.as_bytes()) == Relation::Must
    }

    /// The letters that every name has which this may mean.
    pub(super) fn letters(&self) -> u64 {
        match self {
            Part::Text(text) => letters(text),
            Part::Pattern(pieces) if pieces.len() > MAX_PIECES => 0,
            Part::Pattern(pieces) => {
                let known = |piece: &Piece<'_>| if let Piece::Text(text) = piece { letters(text) } else { 0 };
                pieces.iter().map(known).fold(0, |all, letters| all | letters)
            }
        }
    }

    /// Whether it says something about the name, beyond an extension: `id_*` and `.e*` do, `*` and `*.json` do not.
    ///
    /// Names that are dangerous in any directory count for specific patterns only, or else every `*` would.
    pub(super) fn specific(&self) -> bool {
        let Part::Pattern(pieces) = self else { return true };
        if matches!(pieces.first(), Some(Piece::Text(_))) {
            return true;
        }
        let extension = matches!(pieces.last(), Some(Piece::Text(text)) if text.starts_with(b"."));
        let told = if extension { pieces.len().saturating_sub(1) } else { pieces.len() };
        pieces
            .iter()
            .take(told)
            .any(|p| matches!(p, Piece::Text(text) if text.iter().any(u8::is_ascii_alphanumeric)))
    }

    /// The byte that the name begins with, if it says so.
    pub(super) fn first_byte(&self) -> Option<u8> {
        match self {
            Part::Text(text) => text.first().copied(),
            Part::Pattern(pieces) => leading(pieces).first().copied(),
        }
    }

    /// Whether it says how the name begins.
    pub(super) fn begins(&self) -> bool {
        match self {
            Part::Text(_) => true,
            Part::Pattern(pieces) => !leading(pieces).is_empty(),
        }
    }

    /// Whether it means every name in its directory, those with a leading dot perhaps excepted.
    pub(super) fn everything(&self) -> bool {
        let Part::Pattern(pieces) = self else { return false };
        !pieces.is_empty()
            && pieces.iter().all(|p| matches!(p, Piece::Glob(_)))
            && pieces.iter().any(|p| matches!(p, Piece::Glob(glob) if glob.starts_with(b"*")))
    }

    /// Whether it is a name of any directory, at any depth: [`Piece::FOUND`].
    pub(super) fn is_found(&self) -> bool {
        matches!(self, Part::Pattern([found]) if *found == Piece::FOUND)
    }

    /// Whether it contains text of which nothing is known, a `/` or `..` included.
    pub(super) fn has_unknown(&self) -> bool {
        matches!(self, Part::Pattern(pieces) if pieces.iter().any(|p| matches!(p, Piece::Unknown | Piece::Made)))
    }

    /// Whether all names that it can mean end in one of these suffixes.
    pub(super) fn ends_in(&self, suffixes: &[&str]) -> bool {
        let text = match self {
            Part::Text(text) => text,
            Part::Pattern(pieces) => trailing(pieces),
        };
        suffixes.iter().any(|suffix| text.ends_with(suffix.as_bytes()))
    }
}

fn may(yes: bool) -> Relation {
    if yes { Relation::May } else { Relation::No }
}

/// The text before and after the `*` of a table name.
fn split_star(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = name.iter().position(|b| *b == b'*')?;
    let (prefix, rest) = name.split_at_checked(at)?;
    Some((prefix, rest.split_first()?.1))
}

/// Whether known text matches a table name.
fn star_match(text: &[u8], name: &[u8]) -> bool {
    match split_star(name) {
        None => same(text, name),
        Some((prefix, suffix)) => {
            text.len() >= prefix.len() + suffix.len() && text.starts_with(prefix) && text.ends_with(suffix)
        }
    }
}

fn known_len(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|p| if let Piece::Text(text) = p { text.len() } else { 0 }).sum()
}

fn leading<'p>(pieces: &[Piece<'p>]) -> &'p [u8] {
    if let Some(Piece::Text(text)) = pieces.first() { text } else { b"" }
}

fn trailing<'p>(pieces: &[Piece<'p>]) -> &'p [u8] {
    if let Some(Piece::Text(text)) = pieces.last() { text } else { b"" }
}

/// A leading dot must be matched by a dot (POSIX Shell & Utilities, 2.14.3); an extended pattern may contain one.
fn hidden_from(pieces: &[Piece<'_>], name: &[u8]) -> bool {
    name.starts_with(b".") && matches!(pieces.first(), Some(Piece::Glob(glob)) if !glob.contains(&b'('))
}

/// Whether the first or the last byte alone says that no name of this pattern is one of the table's.
fn differs_at_an_end(pieces: &[Piece<'_>], name: &[u8]) -> bool {
    differs_in(leading(pieces), trailing(pieces), name)
}

/// The same of text that begins and ends like this.
fn differs_in(leading: &[u8], trailing: &[u8], name: &[u8]) -> bool {
    let differs = |ours: Option<&u8>, theirs: Option<&u8>| match (ours, theirs) {
        (Some(ours), Some(theirs)) => *theirs != b'*' && ours != theirs,
        _ => false,
    };
    differs(leading.first(), name.first()) || differs(trailing.last(), name.last())
}

fn compatible(a: &[u8], b: &[u8]) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

fn compatible_ends(a: &[u8], b: &[u8]) -> bool {
    a.ends_with(b) || b.ends_with(a)
}

/// Whether the pieces, with so many bytes of known text, can be `name`: `?` and `[…]` are one character, everything else
/// that is not text any number.
fn matches_name(pieces: &[Piece<'_>], known: usize, name: &[u8]) -> bool {
    if pieces.len() > MAX_PIECES {
        return true;
    }
    // Positions in `name` that the pieces so far can reach, as bits; table names are shorter than 64 bytes.
    if name.len() > 62 {
        return true;
    }
    if known > name.len() {
        return false;
    }
    let full: u64 = (1 << (name.len() + 1)) - 1;
    let mut reach: u64 = 1;
    for piece in pieces {
        reach = match piece {
            Piece::Text(text) => after_text(reach, text, name),
            Piece::Glob(b"?") => (reach << 1) & full,
            Piece::Glob(glob) if is_bracket(glob) => step(reach, name, |byte| in_bracket(glob, byte)),
            // Everything from the first reachable position on.
            Piece::Glob(_) | Piece::Unknown | Piece::Made => match reach {
                0 => 0,
                _ => full & !(reach & reach.wrapping_neg()).wrapping_sub(1),
            },
        };
        if reach == 0 {
            return false;
        }
    }
    reach & (1 << name.len()) != 0
}

/// The positions reached by this text.
fn after_text(reach: u64, text: &[u8], name: &[u8]) -> u64 {
    if reach & (reach.wrapping_sub(1)) == 0 {
        // From one position only.
        let from = name.get(reach.trailing_zeros() as usize..).unwrap_or_default();
        return if from.starts_with(text) { reach << text.len() } else { 0 };
    }
    let mut reach = reach;
    for byte in text {
        reach = step(reach, name, |b| b == *byte);
        if reach == 0 {
            break;
        }
    }
    reach
}

/// The positions reached by one more character that `accepts` the byte at the position before.
fn step(reach: u64, name: &[u8], accepts: impl Fn(u8) -> bool) -> u64 {
    let here: u64 = name.iter().enumerate().filter(|(_, b)| accepts(**b)).map(|(i, _)| 1 << i).sum();
    (reach & here) << 1
}

/// Whether a pattern is one bracket expression and nothing else, which means one character.
fn is_bracket(glob: &[u8]) -> bool {
    // Longer ones nobody writes, and looking for the end of each class in them would take the square of their length.
    const LONGEST: usize = 256;
    let Some(rest) = glob.strip_prefix(b"[").filter(|_| glob.len() <= LONGEST) else { return false };
    bracket::inside(rest).is_some_and(|inside| inside + 1 == rest.len()) && !glob.contains(&b'(')
}

/// Whether a bracket expression accepts a byte. Where the answer depends on the locale, it does.
fn in_bracket(glob: &[u8], byte: u8) -> bool {
    let Some(set) = glob.strip_prefix(b"[").and_then(|set| set.strip_suffix(b"]")) else { return true };
    let told =
        !set.is_empty() && set.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    if !told {
        return true;
    }
    let ranges = set.windows(3).any(|w| matches!(w, [low, b'-', high] if (*low..=*high).contains(&byte)));
    ranges || set.contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: Piece<'static> = Piece::Glob(b"*");
    const ONE: Piece<'static> = Piece::Glob(b"?");

    fn text(s: &str) -> Piece<'_> {
        Piece::Text(s.as_bytes())
    }

    #[test]
    fn relation_of_patterns_to_names() {
        use Relation::{May, Must, No};
        let table: &[(&[Piece<'_>], &str, Relation)] = &[
            (&[text("sh"), ANY, text("dow")], "shadow", May),
            (&[text("sh"), ONE, text("dow")], "shadow", May),
            (&[text("s"), ONE, text("dow")], "shadow", No),
            (&[text("sh"), Piece::Glob(b"[a-c]"), text("dow")], "shadow", May),
            (&[text("sh"), Piece::Glob(b"[xya]"), text("dow")], "shadow", May),
            (&[text("sh"), Piece::Glob(b"[!b]"), text("dow")], "shadow", May),
            (&[text("sh"), Piece::Glob(b"[[:alpha:]]"), text("dow")], "shadow", May),
            (&[text("sh"), Piece::Glob(b"[0-9]"), text("dow")], "shadow", No),
            (&[text("s"), Piece::Glob(b"[gh]*"), text("w")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[gh][ab]"), text("dow")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[gh]?"), text("dow")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[h:][ab]"), text("dow")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[[:alpha:]][ab]"), text("dow")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[[:alpha:]]"), text("adow")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[[.h.]x]"), text("adow")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[]h]"), text("adow")], "shadow", May),
            (&[text("s"), Piece::Glob(b"[g:]"), text("adow")], "shadow", May),
            (&[ANY, text("a"), ANY, text("o"), ANY], "shadow", May),
            (&[ANY, text("o"), ANY, text("a"), ANY], "shadow", No),
            (&[ANY], "shadow", May),
            (&[ANY], ".env", No),
            (&[text(".e"), ANY], ".env", May),
            (&[ONE, text("env")], ".env", No),
            (&[Piece::Glob(b"@(.|x)"), text("env")], ".env", May),
            (&[Piece::Unknown, text("env")], ".env", May),
            (&[ANY, text(".pub")], "*.pub", Must),
            (&[ANY], "*.pub", May),
            (&[text("id_"), ANY], "id_rsa*", May),
            (&[text("id_rsa"), ANY], "id_rsa*", Must),
            (&[text("ssh_host_rsa"), ANY], "ssh_host_*_key", May),
            (&[text("x"), ANY], "id_rsa*", No),
        ];
        for (pieces, name, expect) in table {
            assert_eq!(Part::Pattern(pieces).relation(name.as_bytes()), *expect, "{pieces:?} {name}");
        }
    }

    #[test]
    fn text_matches_names_with_one_star() {
        for (text, name, expect) in [
            ("id_rsa", "id_rsa", true),
            ("id_rsa.pub", "id_rsa", false),
            ("x.pem", "*.pem", true),
            (".pem", "*.pem", true),
            (".env", ".env.*", false),
            (".env.local", ".env.*", true),
            ("ssh_host_key", "ssh_host_*_key", false),
        ] {
            assert_eq!(Part::Text(text.as_bytes()).may_be(name.as_bytes()), expect, "{text} {name}");
        }
    }

    #[test]
    fn specific_patterns_say_more_than_an_extension() {
        for (pieces, expect) in [
            (&[ANY] as &[Piece<'_>], false),
            (&[ANY, text(".json")], false),
            (&[ANY, text("_rsa")], true),
            (&[text("."), ANY], true),
            (&[ONE, text("d_r"), ONE, text("a")], true),
            (&[ANY, text("."), ANY], false),
        ] {
            assert_eq!(Part::Pattern(pieces).specific(), expect, "{pieces:?}");
        }
    }

    #[test]
    fn names_have_the_letters_of_what_may_mean_them() {
        let parts: &[&[Piece<'_>]] = &[
            &[ANY],
            &[ANY, text("ad"), ANY],
            &[text("sh"), ONE, text("dow")],
            &[Piece::Glob(b"@(.|x)"), text("env")],
            &[text(".e"), Piece::Unknown],
            &[ANY, text(".pub")],
            &[text("id_"), ANY],
        ];
        for pieces in parts {
            let part = Part::Pattern(pieces);
            for name in ["shadow", ".env", "env", "id_rsa", "x.pub", ""] {
                let told = part.letters() & !letters(name.as_bytes()) == 0;
                assert!(told || !part.may_be(name.as_bytes()), "{pieces:?} {name}");
            }
            for name in ["*.pub", "id_rsa*", "*", ".env.*"] {
                let must = part.relation(name.as_bytes()) == Relation::Must;
                assert_eq!(part.must_be(name), must, "{pieces:?} {name}");
            }
        }
        assert_eq!(Part::Pattern(&vec![text("a"); MAX_PIECES + 1]).letters(), 0, "it may mean any name");
    }

    #[test]
    fn hostile_patterns_are_answered() {
        let long = vec![b'a'; 100_000];
        assert!(!Part::Pattern(&[ANY, Piece::Text(&long)]).may_be(b"shadow"));
        let many = vec![ANY; 100_000];
        assert!(Part::Pattern(&many).may_be(b"shadow"));
    }
}
