//! What an analysis may spend, so that its time and memory grow linearly with the length of the command.
//!
//! Everything that repeats charges here: commands, words, turns of loops, bytes produced by expansion, copies of state.
//! When a purse is empty the interpreter stops and the plan says so with `Unknown{Budget}`, which covers all the rest.

/// The remaining allowances.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    steps: u64,
    bytes: u64,
    words: u64,
    parts: u64,
    depth: u16,
    exhausted: Option<&'static str>,
}

/// Deepest nesting of commands, expansions, calls and re-entered text together. Bounds the stack.
const MAX_DEPTH: u16 = 150;

/// Descriptors beyond the first three that are open at once. Each redirection copies their list.
const MOST_DESCRIPTORS: usize = 64;

impl Budget {
    /// The allowances for a command of this many bytes.
    pub(super) fn for_length(length: usize) -> Self {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        Self {
            steps: length.saturating_mul(24).saturating_add(16 << 10),
            bytes: length.saturating_mul(32).saturating_add(256 << 10),
            // A word takes some hundred bytes, however short it is.
            words: (length / 4).saturating_add(16 << 10),
            // A part takes a microsecond or two, and a command that people write has one for every dozen bytes.
            parts: (length / 8).saturating_add(32 << 10),
            depth: 0,
            exhausted: None,
        }
    }

    /// A purse of its own for work that is not needed: at most this many bytes of text, at the same depth.
    pub(super) fn lend(&self, bytes: usize) -> Self {
        Self { depth: self.depth, ..Self::for_length(bytes) }
    }

    /// Which allowance is used up.
    pub(super) const fn exhausted(&self) -> Option<&'static str> {
        self.exhausted
    }

    /// Whether nothing is used up.
    pub(super) const fn is_left(&self) -> bool {
        self.exhausted.is_none()
    }

    fn exhaust(&mut self, what: &'static str) -> bool {
        self.exhausted.get_or_insert(what);
        false
    }

    /// Charges some steps of work. False when there are none left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        match self.steps.checked_sub(u64::try_from(steps).unwrap_or(u64::MAX)) {
            Some(rest) => {
                self.steps = rest;
                self.exhausted.is_none()
            }
            None => self.exhaust("steps"),
        }
    }

    /// Charges parts of the plan: programs that start, effects. False when there are none left.
    pub(super) fn plan(&mut self, parts: usize) -> bool {
        match self.parts.checked_sub(u64::try_from(parts).unwrap_or(u64::MAX)) {
            Some(rest) => {
                self.parts = rest;
                self.exhausted.is_none()
            }
            None => self.exhaust("effects"),
        }
    }

    /// Whether so many bytes can still be made.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        u64::try_from(bytes).is_ok_and(|bytes| bytes <= self.bytes)
    }

    /// Charges bytes that an expansion makes. False when there are none left.
    pub(super) fn produce(&mut self, bytes: usize) -> bool {
        match self.bytes.checked_sub(u64::try_from(bytes).unwrap_or(u64::MAX)) {
            Some(rest) => {
                self.bytes = rest;
                self.exhausted.is_none()
            }
            None => self.exhaust("expansion"),
        }
    }

    /// Charges what an expansion makes of one word. That it is one costs nothing. False when there are none left.
    pub(super) fn divide(&mut self, into: usize) -> bool {
        match self.words.checked_sub(u64::try_from(into.saturating_sub(1)).unwrap_or(u64::MAX)) {
            Some(rest) => {
                self.words = rest;
                self.spend(into)
            }
            None => self.exhaust("words"),
        }
    }

    /// Charges the list of so many open descriptors being copied. False when those are too many.
    pub(super) fn descriptors(&mut self, open: usize) -> bool {
        if open > MOST_DESCRIPTORS {
            return self.exhaust("descriptors");
        }
        self.spend(open / 8)
    }

    /// Goes one level deeper. Every success is paired with a [`leave`](Self::leave).
    pub(super) fn enter(&mut self) -> bool {
        if self.exhausted.is_some() {
            return false;
        }
        if self.depth >= MAX_DEPTH {
            return self.exhaust("nesting");
        }
        self.depth += 1;
        true
    }

    /// Comes back one level.
    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
