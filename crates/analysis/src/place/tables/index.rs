//! A table of rows that is searched by the first name, although it is written in an order that people read.

use super::Row;
use super::filter::Exact;
use crate::place::letters::letters;
use crate::place::path::Names;
use crate::place::pattern::Part;
use shward_syntax::{order, same};

/// Rows with an index by their first names, made at compile time.
#[derive(Debug)]
pub(in crate::place) struct Table {
    rows: &'static [Row],
    /// The rows sorted by first name; those whose first name is a pattern stand before all others.
    order: &'static [u16],
    /// How long the first name of each row is.
    lengths: &'static [u8],
    /// The letters of that name; of a pattern, all.
    letters: &'static [u64],
    /// How many have a pattern first.
    wild: usize,
    /// What the first name of the others may be.
    named: Exact,
}

/// The table of a constant slice of rows.
macro_rules! table {
    ($rows:expr) => {{
        const ROWS: &[$crate::place::tables::Row] = $rows;
        const ORDER: [u16; ROWS.len()] = $crate::place::tables::index::sorted(ROWS);
        const LENGTHS: [u8; ROWS.len()] = $crate::place::tables::index::lengths(ROWS);
        const LETTERS: [u64; ROWS.len()] = $crate::place::tables::index::spelled(ROWS);
        $crate::place::tables::index::Table::new(ROWS, &ORDER, &LENGTHS, &LETTERS)
    }};
}
pub(in crate::place) use table;

impl Table {
    pub(in crate::place) const fn new(
        rows: &'static [Row],
        order: &'static [u16],
        lengths: &'static [u8],
        letters: &'static [u64],
    ) -> Self {
        let mut wild = 0;
        let mut named = Exact::NONE;
        let mut rest = rows;
        while let Some(((row, _), others)) = rest.split_first() {
            let name = first(row.as_bytes());
            if is_wild(name) {
                wild += 1;
            } else {
                named = named.with_bytes(name);
            }
            rest = others;
        }
        Self { rows, order, lengths, letters, wild, named }
    }

    /// All rows, as they are written.
    #[cfg(test)]
    pub(in crate::place) fn rows(&self) -> &'static [Row] {
        self.rows
    }

    /// The rows that may be about a path, in the order in which they count.
    pub(in crate::place) fn about(&self, mut names: Names<'_>) -> impl Iterator<Item = &'static Row> + use<> {
        let rows = self.rows;
        let mut told = 0;
        let (all, named, wild): (&[Row], &[u16], &[u16]) = match names.next() {
            Some(Part::Text(name)) => {
                let (wild, exact) = self.order.split_at_checked(self.wild).unwrap_or_default();
                let exact = if self.named.may_be(name) { exact } else { &[] };
                let start = exact.partition_point(|at| order(self.first_of(*at), name).is_lt());
                let exact = exact.get(start..).unwrap_or_default();
                // Few begin alike.
                let len = exact.iter().take_while(|at| same(self.first_of(**at), name)).count();
                (&[], exact.get(..len).unwrap_or_default(), wild)
            }
            // Text of which nothing is known is no name of the tables' (`Names::relation`).
            Some(part @ Part::Pattern(_)) if part.has_unknown() && !part.specific() => {
                (&[], &[], self.order.get(..self.wild).unwrap_or_default())
            }
            Some(part @ Part::Pattern(_)) => {
                told = part.letters();
                (rows, &[], &[])
            }
            None => (rows, &[], &[]),
        };
        let all = all.iter().zip(self.letters).filter(move |(_, theirs)| told & !**theirs == 0);
        all.map(|(row, _)| row)
            .chain(named.iter().chain(wild).filter_map(move |at| rows.get(usize::from(*at))))
    }

    fn first_of(&self, at: u16) -> &'static [u8] {
        let at = usize::from(at);
        let (Some((row, _)), Some(length)) = (self.rows.get(at), self.lengths.get(at)) else { return &[] };
        row.as_bytes().get(..usize::from(*length)).unwrap_or_default()
    }
}

/// The first name of a row.
const fn first(row: &[u8]) -> &[u8] {
    let mut at = 0;
    let mut rest = row;
    while let Some((byte, others)) = rest.split_first() {
        if *byte == b'/' {
            break;
        }
        at += 1;
        rest = others;
    }
    match row.split_at_checked(at) {
        Some((first, _)) => first,
        None => row,
    }
}

const fn is_wild(name: &[u8]) -> bool {
    let mut rest = name;
    while let Some((byte, others)) = rest.split_first() {
        if *byte == b'*' {
            return true;
        }
        rest = others;
    }
    false
}

/// Whether `a` stands before `b`.
const fn before(a: &[u8], b: &[u8]) -> bool {
    match (is_wild(a), is_wild(b)) {
        (true, wild) => return !wild,
        (false, true) => return false,
        (false, false) => {}
    }
    let (mut a, mut b) = (a, b);
    loop {
        match (a.split_first(), b.split_first()) {
            (Some((x, rest_a)), Some((y, rest_b))) if *x == *y => (a, b) = (rest_a, rest_b),
            (Some((x, _)), Some((y, _))) => return *x < *y,
            (None, other) => return other.is_some(),
            (Some(_), None) => return false,
        }
    }
}

/// How long the first name of each row is.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
pub(in crate::place) const fn lengths<const N: usize>(rows: &[Row]) -> [u8; N] {
    let mut lengths = [0; N];
    let mut at = 0;
    while at < N {
        let length = first(rows[at].0.as_bytes()).len();
        assert!(length <= u8::MAX as usize, "a name of a row is too long");
        lengths[at] = length as u8;
        at += 1;
    }
    lengths
}

/// The letters of the first name of each row, or all of them if it is a pattern.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
pub(in crate::place) const fn spelled<const N: usize>(rows: &[Row]) -> [u64; N] {
    let mut all = [u64::MAX; N];
    let mut at = 0;
    while at < N {
        let name = first(rows[at].0.as_bytes());
        if !is_wild(name) {
            all[at] = letters(name);
        }
        at += 1;
    }
    all
}

/// The order of rows by first name; equal ones stay as they are written.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler only: an index out of bounds does not compile"
)]
pub(in crate::place) const fn sorted<const N: usize>(rows: &[Row]) -> [u16; N] {
    let mut order = [0; N];
    let mut count = 0;
    while count < N {
        let name = first(rows[count].0.as_bytes());
        let mut at = count;
        while at > 0 && before(name, first(rows[order[at - 1] as usize].0.as_bytes())) {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = count as u16;
        count += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Scope::{Own, Secret, System};
    use crate::place::path::Reach;
    use crate::place::pattern::Relation;

    const TABLE: Table =
        table!(&[("b/x", Secret), ("a*/y", Own), ("b", System), ("a", Own), ("**", Own), ("ab/c", Own)]);

    fn about(path: &str) -> Vec<&'static str> {
        TABLE.about(Names::Path(path.as_bytes())).map(|(row, _)| *row).collect()
    }

    #[test]
    fn rows_are_found_by_their_first_name() {
        assert_eq!(about("/b/x"), ["b/x", "b", "a*/y", "**"]);
        assert_eq!(about("/a"), ["a", "a*/y", "**"]);
        assert_eq!(about("/ab/d"), ["ab/c", "a*/y", "**"]);
        assert_eq!(about("/zz"), ["a*/y", "**"]);
        assert_eq!(about("/").len(), 6);
    }

    #[test]
    fn rows_that_begin_with_a_pattern_or_have_the_letters_may_be_about_a_pattern() {
        use crate::value::Piece::{Glob, Text, Unknown};
        for (pieces, expected) in [
            (&[Unknown][..], 2),
            (&[Unknown, Text(b".x")], 2),
            (&[Unknown, Text(b"name")], 2),
            (&[Unknown, Text(b"b")], 5),
            (&[Text(b"a"), Unknown], 4),
            (&[Glob(b"*")], 6),
        ] {
            let parts = [Part::Pattern(pieces)];
            let found: Vec<_> = TABLE.about(Names::Parts(&parts)).collect();
            assert_eq!(found.len(), expected, "{pieces:?}");
            // Whatever is left out says nothing about it.
            for row in TABLE.rows().iter().filter(|row| !found.contains(row)) {
                assert_eq!(
                    Names::Parts(&parts).relation(row.0),
                    Reach::At(Relation::No),
                    "{pieces:?} {row:?}"
                );
            }
        }
    }
}
