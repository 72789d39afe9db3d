//! Paths as sequences of components, and their lexical normalisation.

use super::pattern::{Part, Relation};
use crate::value::{Piece, Pieces, Value};
use bumpalo::Bump;
use bumpalo::collections::Vec;
use shward_syntax::same;

/// The components of an absolute path that are still to come.
#[derive(Debug, Clone, Copy)]
pub(super) enum Names<'p> {
    /// Of a known path, normalised or not.
    Path(&'p [u8]),
    /// Of a path with patterns.
    Parts(&'p [Part<'p>]),
}

impl<'p> Iterator for Names<'p> {
    type Item = Part<'p>;

    fn next(&mut self) -> Option<Part<'p>> {
        match self {
            Names::Path(path) => {
                let text = loop {
                    if path.is_empty() {
                        return None;
                    }
                    let at = path.iter().position(|b| *b == b'/').unwrap_or(path.len());
                    let (text, rest) = path.split_at_checked(at)?;
                    *path = rest.strip_prefix(b"/").unwrap_or(rest);
                    if !text.is_empty() {
                        break text;
                    }
                };
                Some(Part::Text(text))
            }
            Names::Parts(parts) => {
                let (first, rest) = parts.split_first()?;
                *parts = rest;
                Some(*first)
            }
        }
    }
}

impl<'p> Names<'p> {
    /// What follows `root`, if this lies at or below it for certain.
    pub(super) fn below(mut self, root: &[u8]) -> Option<Self> {
        if let Names::Path(path) = self
            && root.starts_with(b"/")
            && let Some((start, rest)) = path.split_at_checked(root.len())
            && same(start, root)
            && (rest.is_empty() || rest.starts_with(b"/"))
        {
            return Some(Names::Path(rest));
        }
        for name in Names::Path(root) {
            if self.next()? != name {
                return None;
            }
        }
        Some(self)
    }

    /// Whether this may lie at `root` or below it, as the rows of the tables tell it.
    pub(super) fn may_lie_in(mut self, root: &[u8]) -> bool {
        if let Names::Path(_) = self {
            return self.below(root).is_some();
        }
        Names::Path(root).all(|name| match (self.next(), name) {
            // Text of which nothing is known may be any name: that alone makes it none.
            (Some(part), Part::Text(name)) => part.may_be(name) && (part.specific() || !part.has_unknown()),
            _ => false,
        })
    }

    /// Whether `place` may lie at this path or below it.
    pub(super) fn may_hold(self, place: &[u8]) -> bool {
        let mut names = Names::Path(place);
        self.into_iter().all(|part| match (part, names.next()) {
            (Part::Text(a), Some(Part::Text(b))) => same(a, b),
            (part, Some(Part::Text(b))) => part.may_be(b),
            _ => false,
        })
    }

    /// How this relates to a row of the tables, which names components from here on; `**` ends a row that means a
    /// directory and everything below.
    pub(super) fn relation(mut self, row: &'static str) -> Reach {
        let mut relation = Relation::Must;
        if let Names::Path(path) = self
            && path.strip_prefix(b"/").unwrap_or(path).first().is_some_and(|byte| differs(*byte, row))
        {
            return Reach::At(Relation::No);
        }
        for name in row.as_bytes().split(|b| *b == b'/') {
            if name == b"**" {
                return Reach::At(relation);
            }
            let Some(part) = self.next() else { return Reach::Above };
            relation = match part.relation(name) {
                // Text of which nothing is known may be any name: that alone makes it none.
                Relation::May if part.has_unknown() && !part.specific() => Relation::No,
                found => relation.min(found),
            };
            if relation == Relation::No {
                return Reach::At(relation);
            }
        }
        Reach::At(if self.next().is_some() { Relation::No } else { relation })
    }
}

/// A path as the tables name it: `/proc/PID/root` and `/proc/PID/task/TID/root` are the root, `/private/etc` (macOS) is `/etc`, `/var/run` is `/run`.
pub(super) fn unmask(mut names: Names<'_>) -> Names<'_> {
    loop {
        let mut rest = names;
        let (first, second, third) = (rest.next(), rest.next(), rest);
        match (first, second) {
            (Some(Part::Text(b"proc")), Some(_)) => {
                let mut rest = third;
                let mut part = rest.next();
                if part.is_some_and(|part| part.may_be(b"task")) {
                    let mut of_thread = rest;
                    of_thread.next();
                    let of_it = of_thread.next();
                    if of_it.is_some_and(|part| part.may_be(b"root")) {
                        (part, rest) = (of_it, of_thread);
                    }
                }
                match part {
                    Some(part) if part.may_be(b"root") => names = rest,
                    _ => return names,
                }
            }
            (Some(Part::Text(b"private")), Some(_)) => {
                names.next();
            }
            (Some(Part::Text(b"var")), Some(Part::Text(b"run"))) => {
                names.next();
            }
            _ => return names,
        }
    }
}

/// Whether the first byte of a path alone says that a row does not name it.
pub(super) fn differs(first: u8, row: &str) -> bool {
    first != b'/' && row.as_bytes().first().is_some_and(|byte| *byte != first && *byte != b'*')
}

/// How a path relates to a row of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is what the row names, or is not.
    At(Relation),
    /// What the row names lies below it.
    Above,
}

/// An absolute path without `//`, `.` and `..`. `text` may begin anywhere below `base`; an absolute `text` ignores it.
/// Borrows when nothing changes.
pub(super) fn normalise<'a>(arena: &'a Bump, base: &[u8], text: &'a [u8]) -> &'a [u8] {
    let is_normal = |path: &[u8]| path.strip_prefix(b"/").is_some_and(are_plain);
    if text == b"/" || is_normal(text) {
        return text;
    }
    let mut out = Vec::with_capacity_in(base.len() + text.len() + 1, arena);
    if !text.starts_with(b"/") {
        if is_normal(base) {
            out.extend_from_slice_copy(base);
        } else {
            push_all(&mut out, base);
        }
    }
    if are_plain(text) {
        out.push(b'/');
        out.extend_from_slice_copy(text);
    } else {
        push_all(&mut out, text);
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out.into_bump_slice()
}

/// `base` and `text` joined without a look at `..`: the kernel resolves that after links.
pub(super) fn join<'a>(arena: &'a Bump, base: &[u8], text: &'a [u8]) -> &'a [u8] {
    if text.starts_with(b"/") {
        return text;
    }
    let mut out = Vec::with_capacity_in(base.len() + text.len() + 1, arena);
    out.extend_from_slice_copy(base);
    out.push(b'/');
    out.extend_from_slice_copy(text);
    out.into_bump_slice()
}

/// Whether these are names with one slash between each two, and none of them is `.` or `..`.
fn are_plain(text: &[u8]) -> bool {
    match text {
        [] | [b'/', ..] | [.., b'/'] => false,
        // Of nearly all paths this is enough.
        [first, ..] if *first != b'.' && !may_have_odd_name(text) => true,
        _ => text.split(|b| *b == b'/').all(|name| !matches!(name, b"" | b"." | b"..")),
    }
}

/// Whether a slash is followed by another one or by a dot.
fn may_have_odd_name(text: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const SLASHES: u64 = ONES * b'/' as u64;
    // A dot is a slash but for its lowest bit. A byte of which both are as wanted is zero.
    let has = |word: [u8; 8], next: [u8; 8]| {
        let differs = (u64::from_le_bytes(word) ^ SLASHES) | ((u64::from_le_bytes(next) | ONES) ^ SLASHES);
        differs.wrapping_sub(ONES) & !differs & (ONES << 7) != 0
    };
    let Some((_, after)) = text.split_first() else { return false };
    let Some((_, before)) = text.split_last() else { return false };
    let (Some(last), Some(last_next)) = (before.last_chunk::<8>(), after.last_chunk::<8>()) else {
        return text.windows(2).any(|pair| matches!(pair, [b'/', b'/' | b'.']));
    };
    let (words, nexts) = (before.as_chunks::<8>().0, after.as_chunks::<8>().0);
    words.iter().zip(nexts).any(|(word, next)| has(*word, *next)) || has(*last, *last_next)
}

/// Appends the components of `text`, resolving `.` and `..`.
fn push_all(out: &mut Vec<'_, u8>, text: &[u8]) {
    for part in Names::Path(text) {
        match part {
            Part::Text(b".") => {}
            Part::Text(b"..") => {
                let parent = out.iter().rposition(|b| *b == b'/').unwrap_or(0);
                out.truncate(parent);
            }
            Part::Text(name) => {
                out.push(b'/');
                out.extend_from_slice_copy(name);
            }
            Part::Pattern(_) => {}
        }
    }
}

/// A path that is not wholly known, cut where unknown text may lead anywhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partial<'a> {
    /// Where the path begins.
    pub(super) start: Start,
    /// The components that are known, or known to be one name each.
    pub(super) head: &'a [Part<'a>],
    /// If there is unknown text: the component in which it begins, and all after it.
    pub(super) tail: Option<&'a [Part<'a>]>,
    /// The path as it is when all unknown text is empty: the accident of an unset variable.
    pub(super) bare: &'a [Part<'a>],
    /// Whether that path is absolute wherever the script stands.
    pub(super) bare_rooted: bool,
}

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// At the root, or in the known working directory.
    Known,
    /// In a working directory that is not known, or nowhere known at all.
    Unknown,
}

/// Splits a value into components below `cwd`.
pub(super) fn split<'a>(arena: &'a Bump, cwd: Option<&'a [u8]>, value: &Value<'a>) -> Partial<'a> {
    let mut parts = std::vec::Vec::new();
    let absolute = value.known_prefix().starts_with(b"/");
    let start = match (absolute, cwd) {
        (true, _) => Start::Known,
        (false, Some(cwd)) => {
            parts.extend(Names::Path(cwd));
            Start::Known
        }
        (false, None) => Start::Unknown,
    };
    push_pieces(arena, &mut parts, &value.pieces(), |_| true);

    let cut = parts.iter().position(Part::has_unknown);
    let (before, behind) = parts.split_at_checked(cut.unwrap_or(parts.len())).unwrap_or_default();
    let head = resolve(arena, before);
    let tail = cut.map(|_| resolve(arena, behind));

    // `$x/y` with an empty `$x` is `/y`, wherever the script stands.
    let bare_rooted = known_text(&value.pieces()).is_some_and(|text| text.starts_with(b"/"));
    let bare = if tail.is_none() {
        &[]
    } else {
        parts.clear();
        if !bare_rooted {
            parts.extend(cwd.into_iter().flat_map(Names::Path));
        }
        push_pieces(arena, &mut parts, &value.pieces(), |p| *p != Piece::Unknown);
        resolve(arena, &parts)
    };
    Partial { start, head, tail, bare, bare_rooted }
}

/// The first text among the pieces.
fn known_text<'a>(pieces: &[Piece<'a>]) -> Option<&'a [u8]> {
    pieces
        .iter()
        .find(|p| **p != Piece::Unknown)
        .and_then(|p| if let Piece::Text(text) = p { Some(*text) } else { None })
}

/// Cuts pieces at their slashes into components.
fn push_pieces<'a>(
    arena: &'a Bump,
    parts: &mut std::vec::Vec<Part<'a>>,
    pieces: &Pieces<'a>,
    keep: impl Fn(&Piece<'a>) -> bool,
) {
    let divides = |piece: &Piece<'_>| matches!(piece, Piece::Text(text) if text.contains(&b'/'));
    if let Pieces::All(pieces) = pieces
        && pieces.iter().all(|piece| keep(piece) && !divides(piece))
    {
        return close(arena, parts, pieces, Some(pieces));
    }
    let mut open = std::vec::Vec::new();
    for piece in pieces.iter().filter(|p| keep(p)) {
        let Piece::Text(text) = piece else {
            open.push(*piece);
            continue;
        };
        let mut names = text.split(|b| *b == b'/');
        if let Some(first) = names.next().filter(|name| !name.is_empty()) {
            open.push(Piece::Text(first));
        }
        for name in names {
            close(arena, parts, &open, None);
            open.clear();
            if !name.is_empty() {
                open.push(Piece::Text(name));
            }
        }
    }
    close(arena, parts, &open, None);
}

/// Ends the component that was collected. `lasting`: it lies where it may stay.
fn close<'a>(
    arena: &'a Bump,
    parts: &mut std::vec::Vec<Part<'a>>,
    pieces: &[Piece<'a>],
    lasting: Option<&'a [Piece<'a>]>,
) {
    match pieces {
        [] => {}
        [Piece::Text(name)] => parts.push(Part::Text(name)),
        // Text that was torn apart by an empty unknown grows together again.
        _ if pieces.iter().all(|p| matches!(p, Piece::Text(_))) => {
            let mut name = Vec::new_in(arena);
            for piece in pieces {
                if let Piece::Text(text) = piece {
                    name.extend_from_slice_copy(text);
                }
            }
            parts.push(Part::Text(name.into_bump_slice()));
        }
        _ => parts.push(Part::Pattern(lasting.unwrap_or_else(|| arena.alloc_slice_copy(pieces)))),
    }
}

/// Resolves `.` and `..`. What a pattern matches is taken for a directory, not a link to one.
fn resolve<'a>(arena: &'a Bump, parts: &[Part<'a>]) -> &'a [Part<'a>] {
    if parts.is_empty() {
        return &[];
    }
    let mut out = Vec::with_capacity_in(parts.len(), arena);
    for part in parts {
        match part {
            Part::Text(b".") => {}
            Part::Text(b"..") => {
                out.pop();
            }
            part => out.push(*part),
        }
    }
    out.into_bump_slice()
}

/// The directory that two normalised absolute paths have in common.
pub(super) fn common<'a>(one: &'a [u8], other: &[u8]) -> &'a [u8] {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let ends = |path: &[u8]| path.get(same).is_none_or(|byte| *byte == b'/');
    let end = if ends(one) && ends(other) {
        same
    } else {
        one.iter().take(same).rposition(|byte| *byte == b'/').unwrap_or(0)
    };
    one.get(..end.max(1)).unwrap_or(one)
}

/// The path that the leading known components make.
pub(super) fn known_directory<'a>(arena: &'a Bump, parts: &[Part<'a>]) -> &'a [u8] {
    let mut out = Vec::new_in(arena);
    for part in parts {
        let Part::Text(name) = part else { break };
        out.push(b'/');
        out.extend_from_slice_copy(name);
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out.into_bump_slice()
}

#[cfg(test)]
mod tests {
    use super::are_plain;

    #[test]
    fn plain_names_are_told_wherever_another_one_stands() {
        let is_odd = |name: &str| matches!(name, "" | "." | "..");
        for odd in ["", ".", "..", ".x", "...", "x"] {
            for before in 0..20 {
                for after in 0..20 {
                    let text = ["a".repeat(before), odd.to_owned(), "b".repeat(after)].join("/");
                    let (text, expected) = (text.as_bytes(), !text.split('/').any(is_odd));
                    assert_eq!(are_plain(text), expected, "{}", text.escape_ascii());
                }
            }
        }
    }
}
