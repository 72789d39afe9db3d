//! Which rules may be about a program, found by its name.

use super::{Compiled, Row, Text, offset};
use crate::condition::Subject;
use crate::kinds::Kinds;
use crate::program::{File, base};
use std::ops::Range;

/// Words of an entry: the name's hash, its range in the text, the rule.
pub(super) const ENTRY: u32 = 4;

/// The names of programs that rules name without a pattern, before they are put into buckets.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(u32, Text, u32)>);

impl Names {
    pub(super) fn add(&mut self, name: &[u8], text: Text, rule: u32) {
        self.0.push((hash(name), text, rule));
    }

    /// The ends of the buckets, and the entries in their order. There are as many buckets as entries or up to twice that,
    /// so that most lookups end at the first.
    pub(super) fn into_tables(mut self) -> (Vec<u32>, Vec<u32>) {
        let count = self.0.len().next_power_of_two();
        let bucket = |hash: u32| hash as usize & (count - 1);
        // The same name lies together, its rules in their order: the same text is stored once.
        self.0.sort_unstable_by_key(|(hash, text, rule)| (bucket(*hash), *hash, text.start, *rule));
        self.0.dedup();
        let mut ends = vec![0u32; count];
        for (hash, ..) in &self.0 {
            if let Some(end) = ends.get_mut(bucket(*hash)) {
                *end += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let words = |(hash, text, rule): &(u32, Text, u32)| [*hash, text.start, text.end, *rule];
        (ends, self.0.iter().flat_map(words).collect())
    }
}

/// Mixes a name, eight bytes at a time. Whoever writes a policy can make names collide; then they cost each other's time.
fn hash(name: &[u8]) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = (name.len() as u64).wrapping_mul(ODD);
    for chunk in name.chunks(8) {
        let mut bytes = [0u8; 8];
        for (to, from) in bytes.iter_mut().zip(chunk) {
            *to = *from;
        }
        mixed = (mixed ^ u64::from_le_bytes(bytes)).wrapping_mul(ODD);
        mixed ^= mixed >> 29;
    }
    (mixed >> 32) as u32
}

/// The rules that may be about the subjects of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Those of these entries, by its name and by that of the file that it is, and those that name no program.
    Entries([Range<u32>; 2]),
    /// Any: the program is not known, so it may be the one that a rule names.
    Any,
}

impl Lookup {
    /// Of subjects that belong to no program.
    pub(crate) const NOBODY: Self = Self::Entries([0..0, 0..0]);
}

impl Compiled {
    /// The rules that may be about this program; `None` if its name is not known.
    pub(crate) fn lookup(&self, program: Option<&[u8]>, file: &File) -> Lookup {
        let Some(program) = program else { return Lookup::Any };
        let name = base(program);
        let real = file.real_name().filter(|real| *real != name);
        Lookup::Entries([self.entries_of(name), real.map_or(0..0, |real| self.entries_of(real))])
    }

    /// The entries of a name.
    fn entries_of(&self, name: &[u8]) -> Range<u32> {
        if name.is_empty() {
            return 0..0;
        }
        let hash = hash(name);
        let buckets = self.tables.buckets;
        let bucket = buckets.start + (hash & buckets.len().saturating_sub(1));
        let end = self.word(bucket).min(self.tables.entries.len() / ENTRY);
        let first = if bucket == buckets.start { 0 } else { self.word(bucket - 1) };
        let is_it = |entry: &u32| {
            let at = self.tables.entries.start + entry * ENTRY;
            self.word(at) == hash
                && self.text(Text { start: self.word(at + 1), end: self.word(at + 2) }).as_bytes() == name
        };
        let Some(start) = (first..end).find(is_it) else { return 0..0 };
        let length = (start..end).take_while(|entry| is_it(entry)).count();
        start..start + offset(length)
    }

    /// Whether no rule can be about subjects of programs that were looked up like this.
    pub(crate) fn is_idle(&self, lookup: &Lookup) -> bool {
        self.tables.of_kind.len() == 0
            && matches!(lookup, Lookup::Entries(entries) if entries.iter().all(Range::is_empty))
    }

    /// The rules that may be about a subject.
    pub(super) fn candidates(&self, subject: &Subject<'_>, lookup: &Lookup) -> impl Iterator<Item = Row> {
        let ([entries, real], all) = match lookup {
            Lookup::Entries(entries) => (entries.clone(), 0..0),
            Lookup::Any => ([0..0, 0..0], 0..offset(self.len())),
        };
        let others = if all.is_empty() { self.of_kind(subject.kinds) } else { 0..0 };
        let named = entries.chain(real).map(|entry| self.word(self.tables.entries.start + entry * ENTRY + 3));
        let others = others.map(|at| self.word(self.tables.of_kind.start + at));
        let kinds = subject.kinds;
        named
            .chain(others)
            .chain(all)
            .filter(move |rule| self.kinds_of(*rule).intersects(kinds))
            .filter_map(|rule| self.row(rule))
    }

    fn of_kind(&self, kind: Kinds) -> Range<u32> {
        let index = offset(kind.index());
        let ends = self.tables.kind_ends;
        if index >= ends.len() {
            return 0..0;
        }
        let start = if index == 0 { 0 } else { self.word(ends.start + index - 1) };
        start..self.word(ends.start + index).min(self.tables.of_kind.len())
    }
}
