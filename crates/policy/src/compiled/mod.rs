//! Rules of policy files as they are matched: one text, flat rows, and an index by program and by kind of effect.
//!
//! Everything is offsets into a few vectors, so that a thousand rules are loaded from a cache by copying them.

mod cache;
mod covers;
mod matching;

pub(crate) use matching::{Facts, is_of_system};

use crate::condition::Kinds;
use crate::decision::{Decision, Tier};
use crate::pattern;
use crate::settings::{Layer, Origin};
use crate::spec::RuleSpec;
use std::collections::HashMap;

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
    file: Text,
    line: u32,
    layer: Layer,
}

/// Rules, ready to be matched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compiled {
    text: String,
    texts: Vec<Text>,
    rows: Vec<Row>,
    /// Rules that name their programs without a pattern, by the last part of the name, sorted.
    by_program: Vec<(Text, u32)>,
    /// All others, by the kinds that they are about: for each kind, the end of its part in `of_kind`.
    kind_ends: Vec<u32>,
    of_kind: Vec<u32>,
}

/// Collects texts; the same text is stored once.
#[derive(Default)]
struct Pool {
    text: String,
    known: HashMap<String, Text>,
    texts: Vec<Text>,
}

impl Pool {
    fn text(&mut self, text: &str) -> Text {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let start = offset(self.text.len());
        self.text.push_str(text);
        let stored = Text { start, end: offset(self.text.len()) };
        self.known.insert(text.to_owned(), stored);
        stored
    }

    fn list(&mut self, texts: &[String]) -> List {
        let start = offset(self.texts.len());
        for text in texts {
            let text = self.text(text);
            self.texts.push(text);
        }
        List { start, end: offset(self.texts.len()) }
    }
}

/// Files are far smaller than what 32 bits count; beyond, an offset leads to nothing.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The last part of a program's name.
pub(crate) fn base(program: &[u8]) -> &[u8] {
    program.rsplit(|b| *b == b'/').next().unwrap_or_default()
}

impl Compiled {
    /// Compiles rules, in their order.
    #[must_use]
    pub(crate) fn new(rules: &[RuleSpec]) -> Self {
        let mut pool = Pool::default();
        let mut compiled = Self::default();
        let mut of_kind: Vec<Vec<u32>> = vec![Vec::new(); Kinds::COUNT];
        for (at, rule) in (0u32..).zip(rules) {
            let named = !rule.programs.is_empty() && !rule.programs.iter().any(|p| pattern::is_pattern(p));
            if named {
                for program in &rule.programs {
                    let name = pool.text(std::str::from_utf8(base(program.as_bytes())).unwrap_or_default());
                    compiled.by_program.push((name, at));
                }
            } else {
                for (kind, list) in of_kind.iter_mut().enumerate() {
                    if rule.kinds.bits() & (1 << kind) != 0 {
                        list.push(at);
                    }
                }
            }
            compiled.rows.push(Row {
                id: pool.text(&rule.id),
                reason: pool.text(&rule.reason),
                suggestion: pool.text(&rule.suggestion),
                programs: pool.list(&rule.programs),
                subcommands: pool.list(&rule.subcommands),
                options: pool.list(&rule.options),
                operands: pool.list(&rule.operands),
                paths: pool.list(&rule.paths),
                hosts: pool.list(&rule.hosts),
                details: pool.list(&rule.details),
                plain: rule.plain,
                kinds: rule.kinds,
                scopes: rule.scopes,
                origins: rule.origins,
                decision: rule.decision,
                tier: rule.tier,
                min_tier: rule.min_tier,
                contained: rule.contained,
                file: pool.text(&rule.origin.file),
                line: rule.origin.line,
                layer: rule.origin.layer,
            });
        }
        compiled.text = pool.text;
        compiled.texts = pool.texts;
        let text = std::mem::take(&mut compiled.text);
        compiled.by_program.sort_by(|a, b| slice(&text, a.0).cmp(slice(&text, b.0)).then(a.1.cmp(&b.1)));
        compiled.by_program.dedup();
        compiled.text = text;
        for list in of_kind {
            compiled.of_kind.extend(list);
            compiled.kind_ends.push(offset(compiled.of_kind.len()));
        }
        compiled
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn text(&self, text: Text) -> &str {
        slice(&self.text, text)
    }

    fn list(&self, list: List) -> impl Iterator<Item = &str> + Clone {
        let range = list.start as usize..list.end as usize;
        self.texts.get(range).unwrap_or_default().iter().map(|text| self.text(*text))
    }

    /// The rules that may be about a subject of this kind and program.
    fn candidates<'c>(&'c self, kind: Kinds, program: &'c [u8]) -> impl Iterator<Item = &'c Row> {
        let name = base(program);
        let from = self.by_program.partition_point(|(text, _)| self.text(*text).as_bytes() < name);
        let named = self
            .by_program
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(move |(text, _)| !name.is_empty() && self.text(*text).as_bytes() == name)
            .map(|(_, at)| at);
        let index = kind.index();
        let end = self.kind_ends.get(index).copied().unwrap_or(0) as usize;
        let start = index.checked_sub(1).and_then(|i| self.kind_ends.get(i)).copied().unwrap_or(0) as usize;
        let others = self.of_kind.get(start..end).unwrap_or_default();
        named.chain(others).filter_map(|at| self.rows.get(*at as usize))
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
        Origin { layer: row.layer, file: self.text(row.file).into(), line: row.line }
    }

    /// Every rule: id, decision, tier, origin.
    pub fn told(&self) -> impl Iterator<Item = (&str, Option<Decision>, Option<Tier>, Origin)> {
        self.rows.iter().map(|row| (self.text(row.id), row.decision, row.tier, self.origin(row)))
    }
}

fn slice(text: &str, range: Text) -> &str {
    text.get(range.start as usize..range.end as usize).unwrap_or_default()
}
