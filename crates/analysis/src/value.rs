//! What a word may expand to, and where text comes from.

use crate::vocabulary::ORIGINS;
use bumpalo::Bump;
use shward_syntax::Span;
use std::fmt;

/// A set of places that text may come from. Text keeps every origin of what it was made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Origins(u16);

impl Origins {
    /// No text at all.
    pub const NONE: Self = Self(0);
    /// Written in the command itself.
    pub const LITERAL: Self = Self(1);
    /// Content of files that are not secret, file names, and what programs derive from them.
    pub const FILE: Self = Self(1 << 1);
    /// Content of a secret.
    pub const SECRET: Self = Self(1 << 2);
    /// Environment variables and what the machine tells about itself.
    pub const ENVIRONMENT: Self = Self(1 << 3);
    /// Received from the network.
    pub const NETWORK: Self = Self(1 << 4);
    /// Decoded, decrypted or decompressed from something that a reader cannot see through.
    pub const DECODED: Self = Self(1 << 5);
    /// Typed by whoever sits at the terminal or holds the other end of standard input.
    pub const TERMINAL: Self = Self(1 << 6);
    /// A file that this same script has written.
    pub const WRITTEN: Self = Self(1 << 7);
    /// Not known.
    pub const UNKNOWN: Self = Self(1 << 8);
    /// Names of files, each of which is or lies below a place that the plan already lists or reads (`find`, `grep -l`).
    pub const NAMES: Self = Self(1 << 9);
    /// Variables of the environment among which credentials are: one whose name says so, or all of them. Text of this
    /// origin has [`ENVIRONMENT`](Self::ENVIRONMENT) as well.
    pub const CREDENTIAL: Self = Self(1 << 10);
    /// Content of files that lie outside of the workspace. Text of this origin has [`FILE`](Self::FILE) as well.
    pub const OUTSIDE: Self = Self(1 << 11);
    /// Numbers of processes that this same script has started, and nothing else.
    pub const JOB: Self = Self(1 << 12);
    /// One such name, or a part of it where it was divided at blanks, and nothing else. Text of this origin has
    /// [`NAMES`](Self::NAMES) as well.
    pub const FOUND: Self = Self(1 << 13);
    /// What a file of the workspace holds that is named as one of a process's number (`*.pid`), and nothing else. Text of
    /// this origin has [`FILE`](Self::FILE) as well.
    pub const NOTED: Self = Self(1 << 14);
    /// Names of files, messages and the like, which somebody else has chosen, and what programs make of them. Text of this
    /// origin has [`FILE`](Self::FILE) as well, unless it has [`NAMES`](Self::NAMES).
    pub const TOLD: Self = Self(1 << 15);
    /// The whole environment.
    pub const ALL_VARIABLES: Self = Self::ENVIRONMENT.union(Self::CREDENTIAL);

    /// The origin of what a variable of the environment holds.
    #[must_use]
    pub fn of_variable(name: &[u8]) -> Self {
        if names_credential(name) { Self::ALL_VARIABLES } else { Self::ENVIRONMENT }
    }

    /// The origins of what is made of text by changing it: names are other names then, and numbers other numbers.
    #[must_use]
    pub(crate) const fn edited(self) -> Self {
        let numbers = if self.intersects(Self::JOB.union(Self::NOTED)) { Self::UNKNOWN } else { Self::NONE };
        let names = if self.contains(Self::NAMES) { Self::FILE.union(Self::TOLD) } else { Self::NONE };
        self.without(Self::NAMES).union(names).union(numbers)
    }

    /// Every origin of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without the origins of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all origins of `other` are among these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any origin of `other` is among these.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The names of the origins, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let bits = ORIGINS.iter().enumerate();
        bits.filter(move |(bit, _)| self.contains(Self(1 << bit))).map(|(_, name)| *name)
    }

    /// The origin of this name, as the knowledge files spell it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        ORIGINS.iter().position(|known| *known == name).map(|bit| Self(1 << bit))
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl std::ops::BitOr for Origins {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

/// What a word, after expansion, may be: known text interleaved with what is not known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    content: Content<'a>,
    /// Where all of it comes from.
    pub origins: Origins,
}

/// Nearly every value is one known text, which takes no memory but its own. Nothing, and a lone text, are always told as
/// text, so that values are the same if this is. Behind two references the rest is as small as a text alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content<'a> {
    Text(&'a [u8]),
    Pieces(&'a &'a [Piece<'a>]),
}

/// The pieces of a value, in order; none for the empty string.
#[derive(Debug, Clone, Copy)]
pub enum Pieces<'a> {
    /// A lone one.
    One([Piece<'a>; 1]),
    /// As they lie in memory.
    All(&'a [Piece<'a>]),
}

impl<'a> std::ops::Deref for Pieces<'a> {
    type Target = [Piece<'a>];

    fn deref(&self) -> &[Piece<'a>] {
        match self {
            Self::One(piece) => piece,
            Self::All(pieces) => pieces,
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Value").field("pieces", &&*self.pieces()).field("origins", &self.origins).finish()
    }
}

/// A piece of a value. Adjacent `Text` pieces are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Known text.
    Text(&'a [u8]),
    /// An active pattern character (`*`, `?`, `[…]`) or group: stands for text within one path component.
    Glob(&'a [u8]),
    /// Any text at all, `/` and `..` included.
    Unknown,
    /// The whole path of a file or directory that this same script has just made, by a name that there was not (mktemp).
    Made,
}

impl Piece<'_> {
    /// Text within one path component that is made up: a number, or what a program puts behind a prefix. As a pattern it
    /// means any name, but it is not taken from names that are there.
    pub const MADE_UP: Self = Piece::Glob(b"*#");
    /// Any name that is there, one that begins with a dot too.
    pub const LISTED: Self = Piece::Glob(b"*(*)");
    /// What a search finds that leaves out no hidden directories: a name at any depth.
    pub const FOUND: Self = Piece::Glob(b"*(**)");
}

impl<'a> Value<'a> {
    /// The empty string.
    pub const EMPTY: Self = Self::text(b"", Origins::LITERAL);

    /// Longest path that Linux accepts, in bytes.
    pub(crate) const PATH_MAX: usize = 4096;

    /// Known text.
    #[must_use]
    pub const fn text(text: &'a [u8], origins: Origins) -> Self {
        Self { content: Content::Text(text), origins }
    }

    /// Any text at all, from these places.
    #[must_use]
    pub const fn unknown(origins: Origins) -> Self {
        Self { content: Content::Pieces(&(&[Piece::Unknown] as &[Piece<'a>])), origins }
    }

    /// Of pieces that the program has of itself.
    pub(crate) const fn of_static(pieces: &'a &'a [Piece<'a>], origins: Origins) -> Self {
        Self { content: Content::Pieces(pieces), origins }
    }

    /// Of these pieces.
    #[must_use]
    pub fn of(arena: &'a Bump, pieces: &[Piece<'a>], origins: Origins) -> Self {
        match Self::plain(pieces) {
            Some(content) => Self { content, origins },
            None => Self { content: Content::Pieces(arena.alloc(&*arena.alloc_slice_copy(pieces))), origins },
        }
    }

    /// Of pieces that lie where they may stay.
    #[must_use]
    pub fn of_lasting(arena: &'a Bump, pieces: &'a [Piece<'a>], origins: Origins) -> Self {
        let content = Self::plain(pieces).unwrap_or_else(|| Content::Pieces(arena.alloc(pieces)));
        Self { content, origins }
    }

    /// What is common, without memory of its own.
    fn plain(pieces: &[Piece<'a>]) -> Option<Content<'a>> {
        match pieces {
            [] => Some(Content::Text(b"")),
            [Piece::Text(text)] => Some(Content::Text(text)),
            [Piece::Unknown] => Some(Self::unknown(Origins::NONE).content),
            [Piece::Glob(b"*")] => Some(Content::Pieces(&(&[Piece::Glob(b"*")] as &[Piece<'a>]))),
            _ => None,
        }
    }

    /// The same from other places.
    #[must_use]
    pub const fn from_origins(self, origins: Origins) -> Self {
        Self { origins, ..self }
    }

    /// The pieces in order; none for the empty string.
    #[must_use]
    pub const fn pieces(&self) -> Pieces<'a> {
        match self.content {
            Content::Text(b"") => Pieces::All(&[]),
            Content::Text(text) => Pieces::One([Piece::Text(text)]),
            Content::Pieces(pieces) => Pieces::All(pieces),
        }
    }

    /// How many bytes are known of it, and how many pieces are not.
    pub(crate) fn extent(&self) -> usize {
        let of = |piece: &Piece<'_>| if let Piece::Text(text) = piece { text.len() } else { 1 };
        match self.content {
            Content::Text(text) => text.len(),
            Content::Pieces(pieces) => pieces.iter().map(of).sum(),
        }
    }

    /// The first piece and the rest.
    #[must_use]
    pub fn split_first(&self) -> Option<(Piece<'a>, &'a [Piece<'a>])> {
        match self.content {
            Content::Text(b"") => None,
            Content::Text(text) => Some((Piece::Text(text), &[])),
            Content::Pieces(pieces) => pieces.split_first().map(|(first, rest)| (*first, rest)),
        }
    }

    /// The last piece and those before it.
    #[must_use]
    pub fn split_last(&self) -> Option<(Piece<'a>, &'a [Piece<'a>])> {
        match self.content {
            Content::Text(_) => self.split_first(),
            Content::Pieces(pieces) => pieces.split_last().map(|(last, rest)| (*last, rest)),
        }
    }

    /// Whether it is the same, wherever it comes from.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.content == other.content
    }

    /// Whether the same text or pieces are meant, in the same place of memory.
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        match (self.content, other.content) {
            (Content::Text(a), Content::Text(b)) => std::ptr::eq(a, b),
            (Content::Pieces(a), Content::Pieces(b)) => std::ptr::eq(*a, *b),
            _ => false,
        }
    }

    /// Whether this path leads to its place only if what it names on the way is a directory: `s/`, `s/.`, `d/../s`. The
    /// kernel looks for each of these (path_resolution(7)).
    pub(crate) fn is_roundabout(&self) -> bool {
        self.known().is_some_and(|text| text.ends_with(b"/") || text.ends_with(b"/.") || leaves(text))
    }

    /// The text, if all of it is known.
    #[must_use]
    pub const fn known(&self) -> Option<&'a [u8]> {
        match self.content {
            Content::Text(text) => Some(text),
            Content::Pieces(_) => None,
        }
    }

    /// The known text at the beginning.
    #[must_use]
    pub fn known_prefix(&self) -> &'a [u8] {
        match self.content {
            Content::Text(text) => text,
            Content::Pieces([Piece::Text(text), ..]) => text,
            Content::Pieces(_) => b"",
        }
    }

    /// The texts that are known of it, in order.
    pub fn texts(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (alone, pieces) = match self.content {
            Content::Text(text) => (Some(text).filter(|text| !text.is_empty()), &[][..]),
            Content::Pieces(pieces) => (None, *pieces),
        };
        let text = |piece: &Piece<'a>| if let Piece::Text(text) = piece { Some(*text) } else { None };
        alone.into_iter().chain(pieces.iter().filter_map(text))
    }

    /// Whether nothing of it is known at all.
    pub(crate) fn has_no_text(&self) -> bool {
        matches!(self.content, Content::Pieces([Piece::Unknown]))
    }

    /// Whether any piece is text that is not known: [`Piece::Unknown`] or [`Piece::Made`].
    #[must_use]
    pub fn has_unknown(&self) -> bool {
        self.pieces().iter().any(|p| matches!(p, Piece::Unknown | Piece::Made))
    }

    /// Whether this is the path of what this same script has just made, and nothing behind it.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self.content, Content::Pieces([Piece::Made]))
    }

    /// The same as if nothing was known of what is [`Piece::Made`].
    pub(crate) fn forgotten(&self, arena: &'a Bump) -> Self {
        let plain = |piece: &Piece<'a>| if *piece == Piece::Made { Piece::Unknown } else { *piece };
        let pieces = self.pieces().iter().map(plain).collect::<Vec<_>>();
        Self::of(arena, &pieces, self.origins)
    }

    /// Whether any piece is [`Piece::Glob`].
    #[must_use]
    pub fn has_glob(&self) -> bool {
        self.pieces().iter().any(|p| matches!(p, Piece::Glob(_)))
    }

    /// Whether the last name of the path comes from names that are there, of which there may be many, and is none that is
    /// made up.
    #[must_use]
    pub fn names_what_is_there(&self) -> bool {
        let mut is_listed = false;
        for piece in self.pieces().iter().rev() {
            match piece {
                Piece::Text(text) if text.contains(&b'/') => break,
                Piece::Text(_) => {}
                Piece::Glob(pattern) if pattern.ends_with(b"#") => return false,
                Piece::Glob(_) => is_listed = true,
                Piece::Unknown | Piece::Made => return false,
            }
        }
        is_listed
    }
}

/// One element of an argument list, or as many as an expansion may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// What it is.
    pub value: Value<'a>,
    /// The word that it comes from, in the command that was asked about.
    pub span: Span,
    /// Whether it is exactly one element, or any number (an unquoted unknown, a pattern).
    pub many: bool,
}

impl<'a> Field<'a> {
    /// The text, if this is exactly one element whose text is known.
    #[must_use]
    pub fn known(&self) -> Option<&'a [u8]> {
        if self.many { None } else { self.value.known() }
    }
}

/// What flows through a pipe, a substitution or a file: its text if known, and its origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream<'a> {
    /// The text, if all of it is known.
    pub text: Option<&'a [u8]>,
    /// Where it comes from.
    pub origins: Origins,
    /// The part of the command that produces it, for a finding that names both ends.
    pub source: Option<Span>,
}

impl<'a> Stream<'a> {
    /// No data: end of file at once.
    pub const EMPTY: Self = Self { text: Some(b""), origins: Origins::NONE, source: None };
    /// Whatever the caller's standard input is.
    pub const TERMINAL: Self = Self { text: None, origins: Origins::TERMINAL, source: None };

    /// Text that is not known, from these places.
    #[must_use]
    pub const fn unknown(origins: Origins, source: Span) -> Self {
        Self { text: None, origins, source: Some(source) }
    }

    /// Known text.
    #[must_use]
    pub const fn known(text: &'a [u8], origins: Origins, source: Span) -> Self {
        Self { text: Some(text), origins, source: Some(source) }
    }
}

/// Whether a variable of such a name holds a credential.
pub(crate) fn names_credential(name: &[u8]) -> bool {
    const PARTS: [&[u8]; 10] = [
        b"KEY",
        b"TOKEN",
        b"SECRET",
        b"PASS",
        b"CREDENTIAL",
        b"AUTH",
        b"COOKIE",
        b"SESSION",
        b"PRIVATE",
        b"DSN",
    ];
    PARTS.iter().any(|part| name.windows(part.len()).any(|w| w.eq_ignore_ascii_case(part)))
        && !matches!(name, b"XDG_SESSION_TYPE" | b"DESKTOP_SESSION" | b"XDG_SESSION_ID")
}

/// Whether a path has `..` in it behind the name of something.
pub(crate) fn leaves(path: &[u8]) -> bool {
    let mut names = path.split(|byte| *byte == b'/').skip_while(|name| matches!(*name, b"" | b"." | b".."));
    names.any(|name| name == b"..")
}

/// Whether a text has another one in it.
pub(crate) fn contains(text: &[u8], name: &[u8]) -> bool {
    !name.is_empty() && text.windows(name.len()).any(|part| part == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long command may have one of these for every two bytes.
    #[test]
    fn what_there_is_most_of_is_small() {
        assert_eq!(size_of::<Value<'_>>(), 24);
        assert_eq!(size_of::<Field<'_>>(), 40);
    }

    #[test]
    fn a_lone_text_takes_no_memory_however_it_is_made() {
        let arena = Bump::new();
        let before = arena.allocated_bytes_including_metadata();
        let text = Value::text(b"a", Origins::LITERAL);
        assert_eq!(Value::of(&arena, &[Piece::Text(b"a")], Origins::LITERAL), text);
        assert_eq!(Value::of(&arena, &[], Origins::LITERAL), Value::EMPTY);
        assert_eq!(Value::of(&arena, &[Piece::Unknown], Origins::FILE), Value::unknown(Origins::FILE));
        assert_eq!(arena.allocated_bytes_including_metadata(), before);
        assert_eq!(&*text.pieces(), &[Piece::Text(b"a")]);
        assert!(Value::EMPTY.pieces().is_empty());
        let part = [Piece::Text(b"a"), Piece::Unknown];
        let value = Value::of(&arena, &part, Origins::LITERAL);
        assert_eq!(&*value.pieces(), &part);
        assert_eq!(value.split_first(), Some((Piece::Text(b"a"), &part[1..])));
        assert_eq!(value.split_last(), Some((Piece::Unknown, &part[..1])));
        assert_eq!(value.texts().collect::<Vec<_>>(), [b"a"]);
    }
}
