//! From rules to their image, and from the words of a rule back to it.

use super::index::{self, Names};
use super::{Compiled, HEADER, List, ROW, Row, Text, offset};
use crate::decision::{Decision, Tier};
use crate::kinds::Kinds;
use crate::pattern;
use crate::program::base;
use crate::settings::Layer;
use crate::spec::RuleSpec;
use std::borrow::Cow;
use std::collections::HashMap;

/// The place of a rule's kinds among its words.
pub(super) const KINDS: u32 = 12;

/// Collects texts; the same text is stored once.
#[derive(Default)]
struct Pool<'r> {
    text: String,
    known: HashMap<&'r str, Text>,
    texts: Vec<u32>,
}

impl<'r> Pool<'r> {
    fn text(&mut self, text: &'r str) -> Text {
        if text.is_empty() {
            return Text::default();
        }
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let start = offset(self.text.len());
        self.text.push_str(text);
        let stored = Text { start, end: offset(self.text.len()) };
        self.known.insert(text, stored);
        stored
    }

    /// Adds a list behind those before it, and returns its length.
    fn list(&mut self, texts: &'r [Cow<'_, str>]) -> u32 {
        for text in texts {
            let text = self.text(text);
            self.texts.extend([text.start, text.end]);
        }
        offset(texts.len())
    }
}

impl Compiled {
    /// Compiles the rules of a file, in their order.
    #[must_use]
    pub(crate) fn new(rules: &[RuleSpec<'_>], layer: Layer, file: &str) -> Self {
        let mut pool = Pool::default();
        let mut names = Names::default();
        let mut of_kind: Vec<Vec<u32>> = vec![Vec::new(); Kinds::COUNT];
        let mut rows: Vec<u32> = Vec::with_capacity(rules.len() * ROW as usize);
        let name = pool.text(file);
        for (at, rule) in (0u32..).zip(rules) {
            let named = !rule.programs.is_empty() && !rule.programs.iter().any(|p| pattern::is_pattern(p));
            if named {
                for program in &rule.programs {
                    let name = program.rsplit('/').next().unwrap_or_default();
                    names.add(base(program.as_bytes()), pool.text(name), at);
                }
            } else {
                for (kind, list) in of_kind.iter_mut().enumerate() {
                    if rule.kinds.bits() & (1 << kind) != 0 {
                        list.push(at);
                    }
                }
            }
            let [id, reason, suggestion] = [&rule.id, &rule.reason, &rule.suggestion].map(|t| pool.text(t));
            let lists = offset(pool.texts.len() / 2);
            let lengths = [
                &rule.programs,
                &rule.subcommands,
                &rule.options,
                &rule.operands,
                &rule.paths,
                &rule.hosts,
                &rule.details,
            ]
            .map(|list| pool.list(list));
            let [programs, subcommands, options, operands, paths, hosts, details] = lengths;
            rows.extend([
                id.start,
                id.end,
                reason.start,
                reason.end,
                suggestion.start,
                suggestion.end,
                lists,
                programs | subcommands << 16,
                options | operands << 16,
                paths | hosts << 16,
                details,
                rule.plain.bits(),
                rule.kinds.bits(),
                u32::from(rule.scopes) | u32::from(rule.origins) << 16,
                small(rule),
                rule.line,
            ]);
        }
        let (buckets, entries) = names.into_tables();
        let mut kind_ends = Vec::with_capacity(of_kind.len());
        let mut others = Vec::new();
        for list in of_kind {
            others.extend(list);
            kind_ends.push(offset(others.len()));
        }
        let tables = [&rows, &pool.texts, &buckets, &entries, &kind_ends, &others];
        let words: usize = tables.iter().map(|table| table.len()).sum();
        let mut bytes = Vec::with_capacity(4 * (HEADER as usize + words) + pool.text.len());
        let lengths = tables.iter().map(|table| offset(table.len()));
        let header = lengths.chain([offset(pool.text.len()), name.start, name.end]);
        for word in header.chain(tables.into_iter().flatten().copied()) {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(pool.text.as_bytes());
        let whole = 0..bytes.len();
        // Its tables make up its length: they were just written.
        Self::of_image(bytes, whole, layer).unwrap_or_else(|| Self::none(layer))
    }

    /// No rules.
    pub(crate) fn none(layer: Layer) -> Self {
        let tables = super::Tables::default();
        Self { bytes: Vec::new(), start: 0, tables, layer, file: "".into() }
    }
}

fn small(rule: &RuleSpec<'_>) -> u32 {
    let decision = match rule.decision {
        None => 0,
        Some(Decision::Allow) => 1,
        Some(Decision::Ask) => 2,
        Some(Decision::Deny) => 3,
    };
    let tier = |tier: Option<Tier>| tier.map_or(0, |t| u32::from(t.get()));
    let contained = match rule.contained {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    };
    decision | tier(rule.tier) << 4 | tier(rule.min_tier) << 8 | contained << 12 | u32::from(rule.exact) << 16
}

/// The rule of these words.
pub(super) fn row_of(words: &[u32; ROW as usize]) -> Row {
    let [
        id_start,
        id_end,
        reason_start,
        reason_end,
        suggestion_start,
        suggestion_end,
        lists,
        programs_subcommands,
        options_operands,
        paths_hosts,
        details,
        plain,
        kinds,
        sets,
        small,
        line,
    ] = *words;
    let text = |start, end| Text { start, end };
    let mut at = lists;
    let mut list = |length: u32| {
        let list = List { start: at, end: at.saturating_add(length) };
        at = list.end;
        list
    };
    let (low, high) = (|word: u32| word & 0xffff, |word: u32| word >> 16);
    let tier = |n: u32| match n & 0xf {
        0 => None,
        1 => Some(Tier::One),
        2 => Some(Tier::Two),
        3 => Some(Tier::Three),
        _ => Some(Tier::Four),
    };
    let half = |word: u32| u16::try_from(word & 0xffff).unwrap_or_default();
    Row {
        id: text(id_start, id_end),
        reason: text(reason_start, reason_end),
        suggestion: text(suggestion_start, suggestion_end),
        programs: list(low(programs_subcommands)),
        subcommands: list(high(programs_subcommands)),
        options: list(low(options_operands)),
        operands: list(high(options_operands)),
        paths: list(low(paths_hosts)),
        hosts: list(high(paths_hosts)),
        details: list(details),
        plain: Kinds::from_bits(plain),
        kinds: Kinds::from_bits(kinds),
        scopes: half(sets),
        origins: half(sets >> 16),
        decision: match small & 0xf {
            0 => None,
            1 => Some(Decision::Allow),
            2 => Some(Decision::Ask),
            _ => Some(Decision::Deny),
        },
        tier: tier(small >> 4),
        min_tier: tier(small >> 8),
        contained: match small >> 12 & 0xf {
            0 => None,
            1 => Some(true),
            _ => Some(false),
        },
        exact: small >> 16 & 1 == 1,
        line,
    }
}

const _: () = assert!(index::ENTRY == 4, "an entry is a hash, a name's range and a rule");
