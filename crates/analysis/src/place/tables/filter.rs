//! What a table of names cannot hold, told without a look at it. Most names that commands mention are in no table, and
//! each is asked after in many.
//!
//! A filter may answer "perhaps" for any name, and never "no" for one that matches.

/// A name as tables write it is never longer than this many bytes, or counts as that long.
const LONGEST: usize = 31;

/// For names that are written out: by first byte, which lengths there are.
#[derive(Debug)]
pub(in crate::place) struct Exact([u32; 128]);

impl Exact {
    /// For no name.
    pub(super) const NONE: Self = Self([0; 128]);

    /// For this name too.
    pub(super) const fn with(self, name: &str) -> Self {
        self.with_bytes(name.as_bytes())
    }

    #[allow(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler only: an index out of bounds does not compile"
    )]
    pub(super) const fn with_bytes(mut self, name: &[u8]) -> Self {
        self.0[name[0] as usize] |= 1 << length(name);
        self
    }

    /// Whether this may be one of the names.
    pub(in crate::place) fn may_be(&self, name: &[u8]) -> bool {
        let lengths = name.first().and_then(|first| self.0.get(usize::from(*first)));
        lengths.is_some_and(|lengths| lengths & (1 << length(name)) != 0)
    }
}

const fn length(name: &[u8]) -> usize {
    if name.len() < LONGEST { name.len() } else { LONGEST }
}

/// For names with one `*`: the last two bytes after it, or else the first two before it.
#[derive(Debug)]
pub(in crate::place) struct Affix {
    first: u64,
    last: u64,
}

impl Affix {
    /// For no name.
    pub(super) const NONE: Self = Self { first: 0, last: 0 };

    /// For this name too.
    pub(super) const fn with(mut self, name: &str) -> Self {
        let name = name.as_bytes();
        let star = star(name);
        match (name.first_chunk(), name.last_chunk()) {
            (_, Some(end)) if star + 2 < name.len() => self.last |= bit(*end),
            (Some(start), _) if star >= 2 => self.first |= bit(*start),
            _ => self = Self { first: u64::MAX, last: u64::MAX },
        }
        self
    }

    /// Whether this may match one of the names.
    pub(in crate::place) fn may_match(&self, name: &[u8]) -> bool {
        match (name.first_chunk(), name.last_chunk()) {
            (Some(start), Some(end)) => self.first & bit(*start) != 0 || self.last & bit(*end) != 0,
            _ => true,
        }
    }
}

/// For names that are written out: their last two bytes, in any case.
#[derive(Debug)]
pub(in crate::place) struct Ends(u64);

impl Ends {
    /// For no name.
    pub(super) const NONE: Self = Self(0);

    /// For this name too.
    pub(super) const fn with_bytes(mut self, name: &[u8]) -> Self {
        match name.last_chunk() {
            Some(end) => self.0 |= folded(*end),
            None => self.0 = u64::MAX,
        }
        self
    }

    /// Whether one of the names may end like this.
    pub(in crate::place) fn may_end(&self, end: &[u8]) -> bool {
        end.last_chunk().is_none_or(|end| self.0 & folded(*end) != 0)
    }
}

const fn folded([a, b]: [u8; 2]) -> u64 {
    bit([a.to_ascii_lowercase(), b.to_ascii_lowercase()])
}

/// Where the `*` is; the end if there is none.
const fn star(name: &[u8]) -> usize {
    let mut at = 0;
    let mut rest = name;
    while let Some((byte, others)) = rest.split_first() {
        if *byte == b'*' {
            break;
        }
        at += 1;
        rest = others;
    }
    at
}

const fn bit([a, b]: [u8; 2]) -> u64 {
    1 << ((a.wrapping_mul(7) ^ b) & 63)
}

/// The letters of each row of a table, by the name that `$name` takes from it.
macro_rules! spelled {
    ($rows:expr, |$row:ident| $name:expr) => {{
        let mut all = [0; $rows.len()];
        let (mut to, mut rest): (&mut [u64], &[_]) = (&mut all, $rows);
        while let (Some((letters, more)), Some(($row, others))) = (to.split_first_mut(), rest.split_first()) {
            *letters = $crate::place::letters::letters($name.as_bytes());
            (to, rest) = (more, others);
        }
        all
    }};
}
pub(super) use spelled;

/// The filter of a table: of each of its rows, the name that `$name` takes from it.
macro_rules! filter {
    ($kind:ident, $rows:expr, |$row:ident| $name:expr) => {{
        let mut filter = $crate::place::tables::filter::$kind::NONE;
        let mut rest: &[_] = $rows;
        while let Some(($row, others)) = rest.split_first() {
            filter = filter.with($name);
            rest = others;
        }
        filter
    }};
}
pub(super) use filter;

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Exact =
        filter!(Exact, &["build", "target", "a name that is longer than thirty-one bytes"], |n| n);
    const AFFIX: Affix = filter!(Affix, &["*.pem", "id_rsa*", ".env*.example"], |n| n);

    #[test]
    fn what_a_table_holds_passes_and_most_else_does_not() {
        for name in [
            "build",
            "bleed",
            "a name that is longer than thirty-one bytes",
            "a name that is longer than these are",
        ] {
            assert!(EXACT.may_be(name.as_bytes()), "{name}");
        }
        for name in ["", "b", "builds", "src", "\u{e9}"] {
            assert!(!EXACT.may_be(name.as_bytes()), "{name}");
        }
        for name in ["x.pem", ".pem", "id_rsa", "id_rsa.pub", ".env.example", "", "x"] {
            assert!(AFFIX.may_match(name.as_bytes()), "{name}");
        }
        for name in ["main.rs", "setup.py"] {
            assert!(!AFFIX.may_match(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn ends_are_told_in_any_case() {
        const ENDS: Ends = Ends::NONE.with_bytes(b"settings.json").with_bytes(b"config");
        for end in ["json", ".JSON", "IG", "g", ""] {
            assert!(ENDS.may_end(end.as_bytes()), "{end}");
        }
        assert!(!ENDS.may_end(b".rs") && !ENDS.may_end(b".txt"));
        assert!(Ends::NONE.with_bytes(b"x").may_end(b".rs"));
    }

    #[test]
    fn letters_are_those_of_each_row() {
        const ALL: [u64; 3] = spelled!(&["build", "", "b"], |name| name);
        assert_eq!(ALL.map(u64::count_ones), [5, 0, 1]);
        assert_eq!(ALL[0] & ALL[2], ALL[2]);
    }

    #[test]
    fn a_name_of_a_star_alone_lets_everything_pass() {
        const ALL: Affix = filter!(Affix, &["*"], |n| n);
        assert!(ALL.may_match(b"anything"));
    }
}
