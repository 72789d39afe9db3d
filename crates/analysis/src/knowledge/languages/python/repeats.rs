//! Statements that need not be read again. What one tells and teaches depends on what it looks up: as long as none of that
//! has changed since a pass has read it, the next pass takes over what it told then. All that it could teach was learnt.
//!
//! This changes nothing that a pass finds out. What is not followed here makes a statement be read each time: what adds to
//! what it has learnt itself, asks what was told before, or has a program in it. What is no longer told apart is learnt by
//! each pass again: that, too, is taken over.

use super::symbols::Sym;
use super::value::Val;
use super::{Binding, Pass, Reader, WIDENING};
use std::cell::Cell;
use std::ops::Range;

/// Most statements that are noted, and most that they look up and bind.
const MAX_STATEMENTS: usize = 1 << 12;
const MAX_LOOKUPS: usize = 1 << 16;
const MAX_BOUND: usize = 1 << 14;

/// What the statements of a program looked up, and when what they looked up has changed.
#[derive(Debug, Default)]
pub(super) struct Repeats<'a> {
    /// Which statement is being read, counted through all passes.
    now: u32,
    /// When something has changed last that any statement may depend on.
    others: u32,
    /// When the content of containers has changed last, by their identity, and what is common to all: see [`Common`].
    things: Times,
    /// How often something was learnt of names.
    changes: u32,
    /// In the order in which they stand in the program.
    statements: Vec<Statement>,
    /// Where the statements are that this pass has still to come to.
    next: usize,
    /// How many statements this pass has come to.
    visited: usize,
    looked_up: Vec<Lookup>,
    bound: Vec<(Sym, Option<Val<'a>>)>,
    /// Which of these the statement has looked into, a bit for each.
    looked_into: Cell<u64>,
    /// The statement has to be read each time.
    restless: bool,
    /// The statement has learnt what the next pass will learn again.
    again: bool,
    /// Nothing is noted any more.
    over: bool,
}

/// A time for each of the things that are told apart.
#[derive(Debug)]
struct Times([u32; 64]);

impl Default for Times {
    fn default() -> Self {
        Self([0; 64])
    }
}

#[cfg(test)]
thread_local! {
    /// Every statement is read each time.
    pub(super) static NEVER: Cell<bool> = const { Cell::new(false) };
}

/// A statement as it was read last.
#[derive(Debug)]
struct Statement {
    at: u32,
    end: u32,
    pass: u32,
    /// When it was read.
    time: u32,
    before: Standing,
    after: Standing,
    /// The things that it has looked into.
    things: u64,
    /// Bytes that it has copied to put texts together.
    joined: u32,
    /// Things in others that it has looked at.
    walked: u32,
    looked_up: Part,
    bound: Part,
    deeds: Part,
    repeatable: bool,
    /// It has learnt what is learnt again by each pass, by others than early ones in another way.
    again: bool,
    /// It has looked up a parameter that no call was known of.
    unbound: bool,
}

/// A part of a list.
#[derive(Debug, Clone, Copy)]
struct Part {
    from: u32,
    to: u32,
}

impl Part {
    fn new(from: usize, to: usize) -> Self {
        // Lists that long are not kept.
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self { from: number(from), to: number(to) }
    }

    const fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }
}

/// How a statement stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    inner: u32,
    indented: bool,
    in_class: bool,
    decorated: bool,
}

/// What is known of all containers and objects.
#[derive(Debug, Clone, Copy)]
pub(super) enum Common {
    /// Which of them are made of others.
    Grown = CONTAINERS as isize,
    /// Whether those that went where they are not followed are changed there.
    Leaks,
    /// Whether all may be in any order.
    Order,
    /// Which objects went where they are not followed.
    Lost,
}

/// Among so many containers it is told apart which has changed.
const CONTAINERS: u32 = 60;

/// What was looked up of a name, and as of when that was.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lookup {
    /// What it was bound to since this time.
    Now(Sym, u32),
    /// All that it is ever bound to, after so many changes.
    Ever(Sym, u32),
    /// All that an attribute is ever set to.
    Attribute(Sym, u32),
    /// The first of these, to learn more.
    Known(Sym, u32),
    /// The same of the second.
    KnownAttribute(Sym, u32),
}

/// What one more pass would find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Perhaps something else.
    Other,
    /// The same; and it would learn nothing.
    Nothing,
    /// The same; and it would learn again what this one has learnt again.
    Again,
}

/// What there was before a statement was read.
pub(super) struct Before {
    at: usize,
    standing: Standing,
    joined: usize,
    walked: usize,
    unbound: bool,
    looked_up: usize,
    bound: usize,
    deeds: usize,
    /// Where it is noted already.
    known: Option<usize>,
}

impl<'a> Repeats<'a> {
    /// Makes room for a program of so many tokens, as far as most need it.
    pub(super) fn expect(&mut self, tokens: usize) {
        let tokens = tokens.min(1 << 12);
        self.statements.reserve(tokens / 7);
        self.looked_up.reserve(tokens / 3);
        self.bound.reserve(tokens / 10);
    }

    /// The time, to which all that changes now is ascribed.
    pub(super) const fn now(&self) -> u32 {
        self.now
    }

    pub(super) fn looks_up(&mut self, lookup: Lookup) {
        if !self.over {
            self.looked_up.push(lookup);
        }
    }

    pub(super) fn binds(&mut self, sym: Sym, val: Option<Val<'a>>) {
        if !self.over {
            self.bound.push((sym, val));
        }
    }

    pub(super) fn looks_into(&self, container: u32) {
        self.looked_into.set(self.looked_into.get() | 1 << (container % CONTAINERS));
    }

    pub(super) fn looks_at(&self, common: Common) {
        self.looked_into.set(self.looked_into.get() | 1 << common as u32);
    }

    /// What a container holds, or in which order, is known to be otherwise.
    pub(super) fn container_changes(&mut self, container: u32) {
        if let Some(time) = self.things.0.get_mut((container % CONTAINERS) as usize) {
            *time = self.now;
        }
    }

    pub(super) fn common_changes(&mut self, common: Common) {
        if let Some(time) = self.things.0.get_mut(common as usize) {
            *time = self.now;
        }
    }

    /// Something changes that any statement may depend on.
    pub(super) const fn changes(&mut self) {
        self.others = self.now;
    }

    /// The statement that is being read is to be read by each pass.
    pub(super) const fn never_repeat(&mut self) {
        self.restless = true;
    }

    /// What is learnt is not told apart from what was known, so that the next pass learns it again.
    pub(super) const fn learns_again(&mut self) {
        self.again = true;
    }

    /// Something was to be learnt of a name, or of an attribute. What came of it depends on what was known before.
    pub(super) fn learns_of(&mut self, known: Lookup) {
        if self.again {
            self.looks_up(known);
        }
    }

    /// Something was learnt of a name. Gives a number that no change before has.
    pub(super) const fn change(&mut self) -> u32 {
        self.changes = self.changes.wrapping_add(1);
        self.changes
    }

    /// A pass begins. The last one is over soon: what it finds is not repeated.
    pub(super) const fn start_over(&mut self, last: bool) {
        (self.next, self.visited, self.over) = (0, 0, last);
    }

    /// Whether nothing has changed that the statement depends on. `now`: what names are bound to now counts.
    #[inline(always)]
    fn stands(&self, statement: &Statement, bindings: &[Binding<'_>], now: bool) -> bool {
        let since = statement.time;
        let of = |sym: &Sym| bindings.get(sym.0 as usize);
        let unchanged = |lookup: &Lookup| match lookup {
            Lookup::Now(sym, time) => !now || of(sym).is_some_and(|binding| binding.since == *time),
            Lookup::Ever(sym, changed) | Lookup::Known(sym, changed) => {
                of(sym).is_some_and(|binding| binding.changed == *changed)
            }
            Lookup::Attribute(sym, changed) | Lookup::KnownAttribute(sym, changed) => {
                of(sym).is_some_and(|binding| binding.attribute_changed == *changed)
            }
        };
        let mut things = statement.things;
        while things != 0 {
            if self.things.0.get(things.trailing_zeros() as usize).is_none_or(|time| *time >= since) {
                return false;
            }
            things &= things - 1;
        }
        self.others < since
            && self.looked_up.get(statement.looked_up.range()).is_some_and(|all| all.iter().all(unchanged))
    }
}

impl<'a> Reader<'_, '_, 'a> {
    fn standing(&self) -> Standing {
        Standing {
            inner: self.inner,
            indented: self.indented,
            in_class: self.in_class,
            decorated: self.decorated,
        }
    }

    /// Takes over what the last pass has found of the statement that stands here, if that still holds. Else gives what is
    /// needed to note what is found of it now; nothing is noted of programs in programs, nor by the last pass.
    pub(super) fn repeat(&mut self) -> Result<(), Option<Before>> {
        if self.programs > 0 {
            return Err(None);
        }
        self.repeats.visited += 1;
        #[cfg(test)]
        if NEVER.get() {
            return Err(None);
        }
        let (at, standing) = (self.at, self.standing());
        let mut place = self.repeats.next;
        while self.repeats.statements.get(place).is_some_and(|statement| (statement.at as usize) < at) {
            place += 1;
        }
        self.repeats.next = place;
        let known = self.repeats.statements.get(place).filter(|statement| statement.at as usize == at);
        if let Some(statement) = known
            && statement.repeatable
            && !(statement.again && (self.pass == Pass::Recording || self.passes == WIDENING))
            && statement.pass + 1 == self.passes
            && statement.before == standing
            && self.moves == (0, 0)
            && self.walked.get().saturating_add(statement.walked as usize) <= self.walk
            && (statement.joined == 0 || self.joined.get() + statement.joined as usize <= self.join)
            && (self.pass == Pass::Learning
                || !statement.unbound && self.report.may_carry_out(statement.deeds.range()))
            && self.repeats.stands(statement, &self.bindings, true)
        {
            self.repeats.next = place + 1;
            self.take_over(place);
            return Ok(());
        }
        let known = known.map(|_| place);
        // Each is come to once in a pass.
        self.repeats.next += usize::from(known.is_some());
        self.repeats.now += 1;
        if self.pass == Pass::Recording {
            return Err(None);
        }
        self.repeats.looked_into.set(0);
        (self.repeats.restless, self.repeats.again) = (false, false);
        let (deeds, _) = self.report.noted();
        let before = Before {
            at,
            standing,
            joined: self.joined.get(),
            walked: self.walked.get(),
            unbound: std::mem::take(&mut self.unbound),
            looked_up: self.repeats.looked_up.len(),
            bound: self.repeats.bound.len(),
            deeds,
            known,
        };
        Err(Some(before))
    }

    /// Whether one more pass would take over all that this one has found, as nothing has changed since that any statement
    /// depends on. Then what it would count is counted. What names are bound to at each statement was seen to be the same by
    /// this pass, and would be again.
    pub(super) fn next_pass(&mut self) -> Next {
        let repeats = &self.repeats;
        if repeats.visited != repeats.statements.len() || self.moves != (0, 0) {
            return Next::Other;
        }
        let (mut joined, mut walked, mut unbound) = (0, self.walked.get(), false);
        let mut again = false;
        for statement in &repeats.statements {
            let stands = statement.repeatable
                && statement.pass + 1 == self.passes
                && repeats.stands(statement, &self.bindings, false);
            if !stands {
                return Next::Other;
            }
            again |= statement.again;
            joined += statement.joined as usize;
            walked = walked.saturating_add(statement.walked as usize);
            unbound |= statement.unbound;
        }
        // Late passes learn it in another way.
        let otherwise = again && self.passes >= WIDENING;
        if otherwise || joined > self.join || walked > self.walk {
            return Next::Other;
        }
        self.walked.set(walked);
        self.joined.set(joined);
        self.unbound = unbound;
        if again { Next::Again } else { Next::Nothing }
    }

    /// The next pass was not made, as it would have taken over all that this one has found.
    pub(super) fn skip_pass(&mut self) {
        for statement in &mut self.repeats.statements {
            statement.pass = self.passes;
        }
        self.passes += 1;
    }

    fn take_over(&mut self, place: usize) {
        let Some(statement) = self.repeats.statements.get_mut(place) else { return };
        for lookup in self.repeats.looked_up.get(statement.looked_up.range()).unwrap_or_default() {
            let (Lookup::Ever(sym, _) | Lookup::Attribute(sym, _)) = lookup else { continue };
            if let Some(binding) = self.bindings.get_mut(sym.0 as usize) {
                match lookup {
                    Lookup::Ever(..) => binding.seen = true,
                    _ => binding.attribute_seen = true,
                }
            }
        }
        for (sym, val) in self.repeats.bound.get(statement.bound.range()).unwrap_or_default() {
            if let Some(binding) = self.bindings.get_mut(sym.0 as usize) {
                (binding.now, binding.since) = (*val, statement.time);
            }
        }
        let noted = statement.deeds.range();
        let deeds = self.report.repeat(noted.clone());
        statement.repeatable = deeds.len() == noted.len();
        statement.deeds = Part::new(deeds.start, deeds.end);
        statement.pass = self.passes;
        self.joined.set(self.joined.get().saturating_add(statement.joined as usize));
        self.walked.set(self.walked.get() + statement.walked as usize);
        self.unbound |= statement.unbound;
        self.learnt |= statement.again;
        self.unsettled |= statement.again;
        self.at = statement.end as usize;
        Standing {
            inner: self.inner,
            indented: self.indented,
            in_class: self.in_class,
            decorated: self.decorated,
        } = statement.after;
    }

    /// Notes what was found of a statement.
    pub(super) fn note(&mut self, before: Before) {
        let (deeds, asked) = self.report.noted();
        let repeats = &mut self.repeats;
        let noted = repeats.looked_up.len() <= MAX_LOOKUPS && repeats.bound.len() <= MAX_BOUND;
        if !noted {
            repeats.looked_up.truncate(before.looked_up);
            repeats.bound.truncate(before.bound);
        }
        let Part { from: at, to: end } = Part::new(before.at, self.at);
        let statement = Statement {
            at,
            end,
            pass: self.passes,
            time: repeats.now,
            before: before.standing,
            after: self.standing(),
            things: self.repeats.looked_into.get(),
            joined: u32::try_from(self.joined.get() - before.joined).unwrap_or(u32::MAX),
            walked: u32::try_from(self.walked.get() - before.walked).unwrap_or(u32::MAX),
            looked_up: Part::new(before.looked_up, self.repeats.looked_up.len()),
            bound: Part::new(before.bound, self.repeats.bound.len()),
            deeds: Part::new(before.deeds, deeds),
            repeatable: noted
                && !asked
                && !self.repeats.restless
                && self.moves == (0, 0)
                && self.walked.get() <= self.walk
                && self.joined.get() <= self.join,
            again: self.repeats.again,
            unbound: self.unbound,
        };
        self.unbound |= before.unbound;
        let statements = &mut self.repeats.statements;
        if let Some(known) = before.known {
            if let Some(known) = statements.get_mut(known) {
                *known = statement;
            }
        } else if self.passes == 0 && statements.len() < MAX_STATEMENTS {
            statements.push(statement);
        }
    }
}
