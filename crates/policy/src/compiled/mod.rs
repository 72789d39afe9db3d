//! Rules of policy files as they are matched: one image of words and text, read where it lies.
//!
//! An image is made once from the rules and is the same bytes in memory and in a cache. Loading it copies nothing and looks
//! at no rule: a rule is read when a command may be about it. Which those are is found by the names of programs and the
//! kinds of effects, so that rules which cannot be about a command cost it nothing.

mod build;
mod covers;
mod index;
mod matching;

pub(crate) use index::Lookup;
pub(crate) use matching::{Facts, is_of_system};

use crate::decision::{Decision, Tier};
use crate::kinds::Kinds;
use crate::settings::{Layer, Origin};
use std::ops::Range;
use std::sync::Arc;

/// A range of bytes in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Text {
    start: u32,
    end: u32,
}

/// A range of entries in the list of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct List {
    start: u32,
    end: u32,
}

impl List {
    fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: Text,
    reason: Text,
    suggestion: Text,
    programs: List,
    subcommands: List,
    options: List,
    operands: List,
    paths: List,
    hosts: List,
    details: List,
    plain: Kinds,
    kinds: Kinds,
    scopes: u16,
    origins: u16,
    pub(crate) decision: Option<Decision>,
    pub(crate) tier: Option<Tier>,
    min_tier: Option<Tier>,
    contained: Option<bool>,
    exact: bool,
    line: u32,
}

/// The tables of an image, in their order. Each begins where the one before ends; the text is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Tables {
    /// [`ROW`] words for each rule.
    rows: Range32,
    /// Two words for each entry of a list: a [`Text`].
    texts: Range32,
    /// For each bucket of names, where its entries end; see [`index`].
    buckets: Range32,
    /// [`ENTRY`](index::ENTRY) words for each name of a program that a rule names without a pattern.
    entries: Range32,
    /// For each kind of effect, where its rules end in `of_kind`.
    kind_ends: Range32,
    /// The other rules, by the kinds that they are about.
    of_kind: Range32,
    /// In bytes.
    text: Range32,
}

/// A range of words of the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Range32 {
    start: u32,
    end: u32,
}

impl Range32 {
    const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }
}

/// Words of a rule.
const ROW: u32 = 16;

/// Words before the first table: the length of each table, and the range of the file's name in the text.
const HEADER: u32 = 9;

/// The rules of one file, ready to be matched.
#[derive(Debug, Clone)]
pub struct Compiled {
    bytes: Vec<u8>,
    /// Where the image begins in the bytes.
    start: usize,
    tables: Tables,
    layer: Layer,
    file: Arc<str>,
}

impl PartialEq for Compiled {
    fn eq(&self, other: &Self) -> bool {
        self.layer == other.layer && self.image() == other.image()
    }
}

impl Eq for Compiled {}

impl Compiled {
    /// The rules of an image that lies in these bytes; `None` if its tables do not make up its length. Its content is believed.
    pub(crate) fn of_image(bytes: Vec<u8>, image: Range<usize>, layer: Layer) -> Option<Self> {
        let start = image.start;
        let mut compiled = Self { bytes, start, tables: Tables::default(), layer, file: "".into() };
        let mut at = HEADER;
        let mut next = |index: u32, compiled: &Self| {
            let range = Range32 { start: at, end: at.checked_add(compiled.word(index))? };
            at = range.end;
            Some(range)
        };
        let mut tables = Tables::default();
        let parts = [
            &mut tables.rows,
            &mut tables.texts,
            &mut tables.buckets,
            &mut tables.entries,
            &mut tables.kind_ends,
            &mut tables.of_kind,
        ];
        for (index, part) in (0u32..).zip(parts) {
            *part = next(index, &compiled)?;
        }
        let text = at.checked_mul(4)?;
        tables.text = Range32 { start: text, end: text.checked_add(compiled.word(6))? };
        let whole = tables.text.end as usize == image.len() && image.end <= compiled.bytes.len();
        let name = Text { start: compiled.word(7), end: compiled.word(8) };
        compiled.tables = tables;
        compiled.file = compiled.text(name).into();
        (whole && tables.rows.len() % ROW == 0 && tables.buckets.len().is_power_of_two()).then_some(compiled)
    }

    /// The image.
    pub(crate) fn image(&self) -> &[u8] {
        self.bytes.get(self.start..self.start + self.tables.text.end as usize).unwrap_or_default()
    }

    /// The word at an index of the image. Beyond its end there is none, which is as if it were 0.
    fn word(&self, index: u32) -> u32 {
        let at = self.start + 4 * index as usize;
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// How many rules there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        (self.tables.rows.len() / ROW) as usize
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of the file that they stand in.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn text(&self, text: Text) -> &str {
        let start = self.start + self.tables.text.start as usize;
        let bytes = self.bytes.get(start + text.start as usize..start + text.end as usize);
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn list(&self, list: List) -> impl Iterator<Item = &str> + Clone {
        let Range32 { start: first, .. } = self.tables.texts;
        // Whatever a damaged image says, nothing is looked for beyond the table.
        (list.start..list.end.min(self.tables.texts.len() / 2)).map(move |at| {
            let word = first + 2 * at;
            self.text(Text { start: self.word(word), end: self.word(word + 1) })
        })
    }

    /// The kinds that a rule is about, without reading the rest of it.
    fn kinds_of(&self, rule: u32) -> Kinds {
        if rule as usize >= self.len() {
            return Kinds::NONE;
        }
        Kinds::from_bits(self.word(self.tables.rows.start + rule * ROW + build::KINDS))
    }

    /// The rule at this place in the order of the file.
    pub(crate) fn row(&self, rule: u32) -> Option<Row> {
        if rule as usize >= self.len() {
            return None;
        }
        let at = self.start + 4 * (self.tables.rows.start + rule * ROW) as usize;
        let (words, _) = self.bytes.get(at..)?.first_chunk::<{ 4 * ROW as usize }>()?.as_chunks::<4>();
        let mut row = [0; ROW as usize];
        for (word, bytes) in row.iter_mut().zip(words) {
            *word = u32::from_le_bytes(*bytes);
        }
        Some(build::row_of(&row))
    }

    /// Every rule.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        (0..u32::try_from(self.len()).unwrap_or(u32::MAX)).filter_map(|at| self.row(at))
    }

    /// The rule's reason, or what stands for one.
    pub(crate) fn reason(&self, row: &Row) -> &str {
        match self.text(row.reason) {
            "" => {
                "A rule of this machine's policy is about this. Do it another way, or ask the person who wrote the rule."
            }
            reason => reason,
        }
    }

    pub(crate) fn suggestion(&self, row: &Row) -> Option<&str> {
        Some(self.text(row.suggestion)).filter(|s| !s.is_empty())
    }

    /// Where the rule stands.
    pub(crate) fn origin(&self, row: &Row) -> Origin {
        Origin { layer: self.layer, file: self.file.clone(), line: row.line }
    }

    /// Every rule: id, decision, tier, origin.
    pub fn told(&self) -> impl Iterator<Item = (&str, Option<Decision>, Option<Tier>, Origin)> {
        self.rows().map(|row| (self.text(row.id), row.decision, row.tier, self.origin(&row)))
    }
}

/// Files are far smaller than what 32 bits count; beyond, an offset leads to nothing.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;
    use crate::condition::Subject;
    use crate::program::File;
    use crate::{Document, Source};
    use bumpalo::Bump;
    use shward_analysis::{Frozen, Request, Source as Input, analyze};
    use shward_syntax::Dialect;

    /// Everything that is done with the rules of an image.
    fn use_all(compiled: &Compiled) {
        let arena = Bump::new();
        let (cwd, home): (&[u8], &[u8]) = (b"/w", b"/home/u");
        let source = Input::Command(b"git push --force; cat x/a; curl h.example; \"$X\" y");
        let request = Request { source, cwd, workspace: cwd, home, dialect: Dialect::Bash };
        let plan = analyze(&arena, &request, &Frozen);
        let context = Context { contained: false, cwd, workspace: cwd, home };
        for (index, effect) in plan.effects.iter().enumerate() {
            let subject = Subject::of_effect(effect, index, &plan, &context);
            let facts = Facts::new(&subject, Tier::Two);
            let program = subject.invocation.and_then(|i| i.program);
            for lookup in [compiled.lookup(program, File::NONE), Lookup::Any] {
                let _ = compiled.is_idle(&lookup);
                assert!(compiled.about(&facts, &lookup).count() <= 64);
            }
        }
        for row in compiled.rows() {
            let _ = (compiled.reason(&row).len(), compiled.suggestion(&row), compiled.origin(&row));
            let _ = (compiled.dead_entries(&row), compiled.covers(&row, compiled, &row));
        }
        let _ = compiled.told().count();
    }

    #[test]
    fn a_damaged_image_neither_panics_nor_costs_more() {
        let text = "[[rule]]\nid = 'a'\ndecision = 'deny'\nprogram = ['git', '/usr/bin/curl']\noption = '--force'\n\
                    [[rule]]\nid = 'b'\ndecision = 'ask'\npath = 'x/**'\neffect = ['read', 'write:append']\n\
                    [[rule]]\nid = 'c'\ndecision = 'allow'\nhost = '*.example'\nexact = false\nsuggestion = 'ls'\n";
        let source = Source { layer: Layer::User, name: "t".to_owned(), text: text.to_owned() };
        let document = Document::parse(source).unwrap_or_else(|e| panic!("{e}"));
        let Some(whole) = document.rules().next() else { panic!("it has rules") };
        let image = whole.image().to_vec();
        use_all(whole);
        let mut read = 0;
        for at in 0..image.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = image.clone();
                damaged[at] = byte;
                let length = damaged.len();
                if let Some(compiled) = Compiled::of_image(damaged, 0..length, Layer::User) {
                    use_all(&compiled);
                    read += 1;
                }
            }
            let cut = image.get(..at).unwrap_or_default().to_vec();
            assert!(Compiled::of_image(cut, 0..at, Layer::User).is_none(), "cut at {at}");
        }
        assert!(read > 1000, "{read}");
    }
}
