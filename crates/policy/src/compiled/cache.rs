//! Compiled rules as bytes, so that a process that answers one question need not read the rules again.
//!
//! A cache is made by this program for itself. Its bytes are still not believed: whatever does not fit makes it no cache,
//! and the rules are read again.

use super::{Compiled, List, Row, Text};
use crate::condition::Kinds;
use crate::decision::{Decision, Tier};
use crate::settings::Layer;

/// The format, and the version of the program: another version reads nothing of it.
const MAGIC: &[u8] = concat!("shward rules 1 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// 32-bit words in a row.
const ROW_WORDS: usize = 27;

impl Compiled {
    /// The rules as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let mut word = |n: u32| out.extend_from_slice(&n.to_le_bytes());
        for count in [
            self.text.len(),
            self.texts.len(),
            self.rows.len(),
            self.by_program.len(),
            self.kind_ends.len(),
            self.of_kind.len(),
        ] {
            word(super::offset(count));
        }
        for text in &self.texts {
            word(text.start);
            word(text.end);
        }
        for row in &self.rows {
            for n in words_of(row) {
                word(n);
            }
        }
        for (name, rule) in &self.by_program {
            word(name.start);
            word(name.end);
            word(*rule);
        }
        for n in self.kind_ends.iter().chain(&self.of_kind) {
            word(*n);
        }
        out.extend_from_slice(self.text.as_bytes());
        out
    }

    /// The rules that [`encode`](Self::encode) made bytes of; `None` for any other bytes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut counts = [0usize; 6];
        for count in &mut counts {
            *count = take(&mut rest)? as usize;
        }
        let [text, texts, rows, by_program, kind_ends, of_kind] = counts;
        let words = texts
            .checked_mul(2)?
            .checked_add(rows.checked_mul(ROW_WORDS)?)?
            .checked_add(by_program.checked_mul(3)?)?
            .checked_add(kind_ends)?
            .checked_add(of_kind)?;
        // The counts are believed only if together they make up these bytes.
        if words.checked_mul(4)?.checked_add(text)? != rest.len() || kind_ends != Kinds::COUNT && rows > 0 {
            return None;
        }
        let (table, text) = rest.split_at_checked(words * 4)?;
        let mut words = table.chunks_exact(4).map(|w| w.try_into().map_or(0, u32::from_le_bytes));
        let mut next = || words.next().unwrap_or(u32::MAX);
        let compiled = Self {
            texts: (0..texts).map(|_| Text { start: next(), end: next() }).collect(),
            rows: (0..rows)
                .map(|_| {
                    let mut row = [0u32; ROW_WORDS];
                    for word in &mut row {
                        *word = next();
                    }
                    row_of(&row)
                })
                .collect::<Option<_>>()?,
            by_program: (0..by_program).map(|_| (Text { start: next(), end: next() }, next())).collect(),
            kind_ends: (0..kind_ends).map(|_| next()).collect(),
            of_kind: (0..of_kind).map(|_| next()).collect(),
            text: String::from_utf8(text.to_vec()).ok()?,
        };
        compiled.is_sound().then_some(compiled)
    }

    /// Whether every offset leads to something: a rule that cannot be reached would be a rule that is lost.
    fn is_sound(&self) -> bool {
        let text = |t: &Text| self.text.get(t.start as usize..t.end as usize).is_some();
        let list = |l: &List| l.start <= l.end && l.end as usize <= self.texts.len();
        let rule = |at: &u32| (*at as usize) < self.rows.len();
        self.texts.iter().all(text)
            && self.rows.iter().all(|row| {
                [row.id, row.reason, row.suggestion, row.file].iter().all(text)
                    && [
                        row.programs,
                        row.subcommands,
                        row.options,
                        row.operands,
                        row.paths,
                        row.hosts,
                        row.details,
                    ]
                    .iter()
                    .all(list)
            })
            && self.by_program.iter().all(|(name, at)| text(name) && rule(at))
            && self.of_kind.iter().all(rule)
            && self.kind_ends.is_sorted()
            && self.kind_ends.last().is_none_or(|end| *end as usize == self.of_kind.len())
    }
}

fn take(rest: &mut &[u8]) -> Option<u32> {
    let (word, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*word))
}

fn words_of(row: &Row) -> [u32; ROW_WORDS] {
    let decision = match row.decision {
        None => 0,
        Some(Decision::Allow) => 1,
        Some(Decision::Ask) => 2,
        Some(Decision::Deny) => 3,
    };
    let tier = |tier: Option<Tier>| tier.map_or(0, |t| u32::from(t.get()));
    let contained = match row.contained {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    };
    let layer = LAYERS.iter().position(|l| *l == row.layer).unwrap_or(0);
    let small = decision
        | tier(row.tier) << 4
        | tier(row.min_tier) << 8
        | contained << 12
        | u32::try_from(layer).unwrap_or(0) << 16;
    [
        row.id.start,
        row.id.end,
        row.reason.start,
        row.reason.end,
        row.suggestion.start,
        row.suggestion.end,
        row.programs.start,
        row.programs.end,
        row.subcommands.start,
        row.subcommands.end,
        row.options.start,
        row.options.end,
        row.operands.start,
        row.operands.end,
        row.paths.start,
        row.paths.end,
        row.hosts.start,
        row.hosts.end,
        row.details.start,
        row.details.end,
        row.plain.bits(),
        row.kinds.bits(),
        u32::from(row.scopes) | u32::from(row.origins) << 16,
        small,
        row.file.start,
        row.file.end,
        row.line,
    ]
}

const LAYERS: [Layer; 6] =
    [Layer::BuiltIn, Layer::System, Layer::User, Layer::Project, Layer::Environment, Layer::Explicit];

fn row_of(words: &[u32; ROW_WORDS]) -> Option<Row> {
    let [
        id_start,
        id_end,
        reason_start,
        reason_end,
        suggestion_start,
        suggestion_end,
        programs_start,
        programs_end,
        subcommands_start,
        subcommands_end,
        options_start,
        options_end,
        operands_start,
        operands_end,
        paths_start,
        paths_end,
        hosts_start,
        hosts_end,
        details_start,
        details_end,
        plain,
        kinds,
        sets,
        small,
        file_start,
        file_end,
        line,
    ] = *words;
    let text = |start, end| Text { start, end };
    let list = |start, end| List { start, end };
    let tier = |n: u32| match n & 0xf {
        0 => Some(None),
        1 => Some(Some(Tier::One)),
        2 => Some(Some(Tier::Two)),
        3 => Some(Some(Tier::Three)),
        4 => Some(Some(Tier::Four)),
        _ => None,
    };
    Some(Row {
        id: text(id_start, id_end),
        reason: text(reason_start, reason_end),
        suggestion: text(suggestion_start, suggestion_end),
        programs: list(programs_start, programs_end),
        subcommands: list(subcommands_start, subcommands_end),
        options: list(options_start, options_end),
        operands: list(operands_start, operands_end),
        paths: list(paths_start, paths_end),
        hosts: list(hosts_start, hosts_end),
        details: list(details_start, details_end),
        plain: Kinds::from_bits(plain),
        kinds: Kinds::from_bits(kinds),
        scopes: u16::try_from(sets & 0xffff).ok()?,
        origins: u16::try_from(sets >> 16).ok()?,
        decision: match small & 0xf {
            0 => None,
            1 => Some(Decision::Allow),
            2 => Some(Decision::Ask),
            3 => Some(Decision::Deny),
            _ => return None,
        },
        tier: tier(small >> 4)?,
        min_tier: tier(small >> 8)?,
        contained: match small >> 12 & 0xf {
            0 => None,
            1 => Some(true),
            2 => Some(false),
            _ => return None,
        },
        file: text(file_start, file_end),
        line,
        layer: *LAYERS.get((small >> 16) as usize)?,
    })
}
