//! What reading a program may cost: text that is copied or compared again and again, and things in others that are looked at.

use super::Reader;
use super::symbols::Sym;
use super::value::{Val, any_of};
use crate::value::{Origins, Value};

/// Text of no more bytes than this costs what the expression costs that it stands in.
const SHORT: usize = 64;

/// A piece of text that is not known costs as much as so many bytes that are: pieces are compared one by one.
const PIECE: usize = 16;

/// Most things in others that are looked at each time that they go where they are not followed, and more of them for each
/// token. Programs that agents ran looked at 1.4 for each token at most.
const WALK: usize = 256;
const WALK_FOR_TOKEN: usize = 8;

/// Most bytes of longer text that expressions come to in one pass, and more of them for each byte of the program.
const JOIN: usize = 256 << 10;
const JOIN_FOR_BYTE: usize = 4;

/// So many things in one container count as one that is looked at.
const QUICK: usize = 16;

/// How much longer text the expressions of a program may come to in one pass.
pub(super) const fn most_text(program: &[u8]) -> usize {
    JOIN + JOIN_FOR_BYTE * program.len()
}

/// How many things in others may be looked at in a program of so many tokens.
pub(super) const fn most_looked_at(tokens: usize) -> usize {
    WALK + WALK_FOR_TOKEN * tokens
}

/// What it costs to copy text, or to compare it.
#[inline]
fn weight(text: &Value<'_>) -> usize {
    match text.known() {
        Some(text) => text.len(),
        None => text.extent() + PIECE * text.pieces().len(),
    }
}

impl<'a> Reader<'_, '_, 'a> {
    /// What a name stands for in an expression.
    pub(super) fn read_name(&mut self, sym: Sym) -> Val<'a> {
        let val = self.lookup(sym);
        self.in_bounds(val)
    }

    /// What an expression came to, while text is still followed: what stands in many expressions is copied or gone through
    /// in each.
    #[inline]
    pub(super) fn in_bounds(&mut self, val: Val<'a>) -> Val<'a> {
        match val {
            Val::Text(text) | Val::Path(text) if weight(&text) <= SHORT => val,
            Val::Text(_) | Val::Path(_) | Val::OneOf(_) => self.long_in_bounds(val),
            _ => val,
        }
    }

    fn long_in_bounds(&mut self, val: Val<'a>) -> Val<'a> {
        let all = val.alternatives();
        let weigh = |each: &Val<'_>| match each {
            Val::Text(text) | Val::Path(text) => weight(text),
            _ => 0,
        };
        let heavy = match val {
            Val::OneOf(choice) => choice.weight(|all| all.iter().map(weigh).sum()),
            one => weigh(&one),
        };
        if heavy <= SHORT {
            return val;
        }
        if self.comes_to(heavy) {
            return val;
        }
        let forgotten = |text: &Value<'a>| Value::unknown(text.origins | Origins::DECODED);
        let each = all.iter().map(|each| match each {
            Val::Text(text) => Val::Text(forgotten(text)),
            Val::Path(path) => Val::Path(forgotten(path)),
            other => *other,
        });
        any_of(self.report.arena, each).unwrap_or(val)
    }

    /// Charges so much text that was put together. Whether text is still followed.
    fn comes_to(&self, weight: usize) -> bool {
        self.joined.set(self.joined.get().saturating_add(weight));
        self.joined.get() <= self.join
    }

    /// The same of a container into which so many things are copied, where it is more than a few.
    pub(super) fn copies(&self, things: usize) -> bool {
        self.comes_to(if things > QUICK { things * size_of::<Val<'_>>() } else { 0 })
    }

    /// The same of a path, which may be one of many that one expression comes to.
    pub(super) fn puts_together(&self, path: &Value<'a>) {
        let weight = weight(path);
        if weight > SHORT {
            self.comes_to(weight);
        }
    }

    /// Whether so many things more are looked at of what is in others: what is in many is met many times. Where there were too
    /// many, the program counts as unread.
    pub(super) fn walks(&self, things: usize) -> bool {
        self.walked.set(self.walked.get().saturating_add(things + 1));
        self.walks_on()
    }

    /// Whether there were not too many yet.
    pub(super) fn walks_on(&self) -> bool {
        self.walked.get() <= self.walk
    }

    /// The same of what a container holds directly, where it is more than a few: looking at those is quick.
    pub(super) fn goes_through(&self, things: usize) {
        if things > QUICK {
            self.walks(things / QUICK);
        }
    }
}
