//! What an analysis may spend, so that its time and memory grow linearly with the length of the command.
//!
//! Everything that repeats charges here: commands, words, turns of loops, bytes produced by expansion, copies of state.
//! When a purse is empty the interpreter stops and the plan says so with `Unknown{Exhausted}`, which covers all the rest.

/// The remaining allowances.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    steps: u64,
    bytes: u64,
    repeated: u64,
    words: u64,
    parts: u64,
    programs: u64,
    printed: u64,
    beside: u64,
    pieces: u64,
    commands: u64,
    depth: u16,
    exhausted: Option<&'static str>,
}

/// Deepest nesting of commands, expansions, calls and re-entered text together. Bounds the stack.
const MAX_DEPTH: u16 = 150;

/// Descriptors beyond the first three that are open at once. Each redirection copies their list.
const MOST_DESCRIPTORS: usize = 64;

/// Redirections of one command. What each opens is kept until all of them are undone.
const MOST_REDIRECTIONS: usize = 4096;

/// Longer paths than this cost something each time that they are followed.
const USUAL_PATH: usize = 512;

/// What a command may make: so much in any case and so much more for each byte, and no more than a long command may. A loop
/// over known words is followed for 64 turns at most, so what is in one comes that many times. Of the 17,917 commands of the
/// corpora none took a tenth of it, but for text that is printed: `seq 1 100000` takes half.
struct Allowance {
    any: u64,
    each: u64,
    most: fn(u64) -> u64,
}

impl Allowance {
    /// A part of the plan takes a microsecond or two, and a command that people write has one for every dozen bytes.
    const PARTS: Self = Self {
        any: 20 << 10,
        each: 6,
        most: |length| (length / 8 + (32 << 10)).min(length / 12 + (37 << 10)),
    };

    /// A command takes two microseconds and more, and no shorter one than two bytes is written: more are run again and again.
    const COMMANDS: Self = Self { any: 6 << 10, each: 16, most: |length| length / 2 + (48 << 10) };

    /// A byte of a program takes up to a tenth of a microsecond each time.
    const PROGRAMS: Self =
        Self { any: 64 << 10, each: 96, most: |length| length.saturating_mul(2).saturating_add(512 << 10) };

    /// Of more than that nothing is known.
    const PRINTED: Self =
        Self { any: 1 << 20, each: 128, most: |length| length.saturating_mul(8).saturating_add(4 << 20) };

    fn of(&self, length: u64) -> u64 {
        length.saturating_mul(self.each).saturating_add(self.any).min((self.most)(length))
    }
}

impl Budget {
    /// The allowances for a command of this many bytes.
    pub(super) fn for_length(length: usize) -> Self {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        Self {
            steps: length.saturating_mul(24).saturating_add(16 << 10),
            // Text lies in memory twice while it is put together.
            bytes: length.saturating_mul(5).saturating_add(256 << 10),
            // It is gone through, but takes no memory that stays.
            repeated: length.saturating_mul(16).saturating_add(4 << 20),
            // A word takes some hundred bytes, however short it is.
            words: (length / 4).saturating_add(16 << 10),
            parts: Allowance::PARTS.of(length),
            programs: Allowance::PROGRAMS.of(length),
            printed: Allowance::PRINTED.of(length),
            // Each takes a hundred bytes or more while its command runs, and what is as long as that is hardly one command.
            beside: (length / 24).saturating_add(20 << 10),
            // A here-document may be nothing but short lines with a variable in each.
            pieces: (length / 7).saturating_add(20 << 10),
            commands: Allowance::COMMANDS.of(length),
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

    /// Takes so much out of what is left of one allowance. False when an allowance is used up, this one or another.
    fn charge(&mut self, purse: fn(&mut Self) -> &mut u64, amount: usize, what: &'static str) -> bool {
        let left = purse(self);
        match left.checked_sub(u64::try_from(amount).unwrap_or(u64::MAX)) {
            Some(rest) => {
                *left = rest;
                self.exhausted.is_none()
            }
            None => self.exhaust(what),
        }
    }

    /// Whether so many words of one command are followed: they are all there at once.
    pub(super) fn follows(&mut self, words: usize) -> bool {
        let most = self.beside;
        self.takes(words, most)
    }

    /// The same of parts of one word.
    pub(super) fn follows_parts(&mut self, parts: usize) -> bool {
        let most = self.pieces;
        self.takes(parts, most)
    }

    fn takes(&mut self, count: usize, most: u64) -> bool {
        match u64::try_from(count).is_ok_and(|count| count <= most) {
            true => self.is_left(),
            false => self.exhaust("words"),
        }
    }

    /// The same of redirections of one command.
    pub(super) fn redirects(&mut self, beside: usize) -> bool {
        match beside <= MOST_REDIRECTIONS {
            true => self.is_left(),
            false => self.exhaust("redirections"),
        }
    }

    /// Charges some steps of work. False when there are none left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.charge(|budget| &mut budget.steps, steps, "steps")
    }

    /// Charges a command that is run, and goes one level deeper for it. Every success is paired with a [`leave`](Self::leave).
    pub(super) fn run_command(&mut self) -> bool {
        self.repeats(1) && self.enter()
    }

    /// Charges what costs as much as so many commands that do nothing: what is assigned, expanded or chosen in one that is run
    /// again and again. False when there is none left.
    pub(super) fn repeats(&mut self, commands: usize) -> bool {
        self.charge(|budget| &mut budget.commands, commands, "commands")
    }

    /// Charges a path of so many bytes being gone along, which longer ones than people write are name by name.
    pub(super) fn walks(&mut self, path: usize) {
        let over = path.saturating_sub(USUAL_PATH);
        if over > 0 {
            // It is put together as well.
            self.spend(over);
            self.produce(over);
        }
    }

    /// Charges parts of the plan: programs that start, effects. False when there are none left.
    pub(super) fn plan(&mut self, parts: usize) -> bool {
        self.charge(|budget| &mut budget.parts, parts, "effects")
    }

    /// Charges a program of so many bytes in another language being read. False when there are none left.
    pub(super) fn read_program(&mut self, bytes: usize) -> bool {
        self.charge(|budget| &mut budget.programs, bytes, "programs")
    }

    /// Whether so many bytes can still be made.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        u64::try_from(bytes).is_ok_and(|bytes| bytes <= self.bytes)
    }

    /// Whether a word may go on growing that has so many bytes in its field, and so many fields before it. It is charged for them
    /// when it is done; what would be too much then is too much now, and the rest of it is not made.
    pub(super) fn holds(&mut self, bytes: usize, fields: usize) -> bool {
        match u64::try_from(fields).is_ok_and(|fields| fields <= self.words) {
            true if self.has_room(bytes) => self.is_left(),
            true => self.exhaust("expansion"),
            false => self.exhaust("words"),
        }
    }

    /// Charges text that a program is known to print. False when there is none left: what is printed then is not known.
    pub(super) fn print(&mut self, bytes: usize) -> bool {
        self.printed = self.printed.saturating_sub(u64::try_from(bytes).unwrap_or(u64::MAX));
        self.printed > 0
    }

    /// Charges bytes that an expansion makes. False when there are none left.
    pub(super) fn produce(&mut self, bytes: usize) -> bool {
        self.charge(|budget| &mut budget.bytes, bytes, "expansion")
    }

    /// Charges text that is there already standing for a word. False when there is none left.
    pub(super) fn repeat(&mut self, bytes: usize) -> bool {
        self.charge(|budget| &mut budget.repeated, bytes, "expansion")
    }

    /// Charges what an expansion makes of one word. That it is one costs nothing. False when there are none left.
    pub(super) fn divide(&mut self, into: usize) -> bool {
        self.charge(|budget| &mut budget.words, into.saturating_sub(1), "words") && self.spend(into)
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
