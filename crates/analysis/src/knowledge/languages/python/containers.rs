//! What containers hold: what they were made of, what is put in later, and in which order it stands.

use super::arguments::Arguments;
use super::repeats::Common;
use super::value::{Items, Object, Order, Union, Val, any_of, covers, join, many};
use super::{Pass, Reader, WIDENING};
use bumpalo::collections::Vec as BumpVec;
use std::borrow::Cow;

/// Most containers that are added to.
const MAX_GROWING: usize = 256;

/// Most containers that `+=` has made of others.
const MAX_GROWN: usize = 256;

/// Most things that two containers are joined to.
const MAX_JOINED: usize = 256;

/// Most things that a repetition is written out to.
const MAX_REPEATED: usize = 64;

/// A bit for a container by its identity, which is that of others too.
const fn filled_bit(id: u32) -> u64 {
    1 << (id % 64)
}

impl<'a> Reader<'_, '_, 'a> {
    /// What an expression holds when one iterates over it or takes a part of it.
    pub(super) fn elements(&self, val: &Val<'a>) -> Val<'a> {
        // Most are one container, to which nothing was added.
        let added = match val {
            Val::Many(items) => {
                let added = self.put_in(items.id);
                if let (Some(any), None) = (items.any(), added) {
                    self.goes_through(items.vals.len());
                    return any;
                }
                Some(added)
            }
            _ => None,
        };
        let mut result = Union::new(self.report.arena);
        for each in val.alternatives() {
            match each {
                Val::Many(items) => {
                    self.goes_through(items.vals.len());
                    items.add_to(&mut result);
                    let added = added.unwrap_or_else(|| self.put_in(items.id));
                    if let Some(more) = added {
                        result.add(more);
                    }
                    if items.vals.is_empty() && added.is_none() {
                        result.add(Val::Data);
                    }
                }
                Val::Foreign | Val::Lost => result.add(*each),
                Val::Object(Object::Arguments) => {
                    for field in self.arguments {
                        result.add(Val::Text(field.value));
                    }
                    result.add(Val::Data);
                }
                Val::Object(Object::Client | Object::Environment) => result.add(*each),
                // Names of modules, or the modules.
                Val::Object(Object::Modules) => result.add(Val::Data),
                _ => result.add(Val::Data),
            }
        }
        result.get().unwrap_or(Val::Data)
    }

    /// What may be the keys of a dictionary, and what the values; both are all of it once more was put in.
    pub(super) fn keys_and_values(&self, val: &Val<'a>) -> (Val<'a>, Val<'a>) {
        let arena = self.report.arena;
        match val {
            Val::Many(items) if items.pairs && !items.vals.is_empty() && self.put_in(items.id).is_none() => {
                let all = |from: usize| {
                    let vals = items.vals.iter().copied().skip(from).step_by(2);
                    any_of(arena, vals).unwrap_or(Val::Data)
                };
                (all(0), all(1))
            }
            _ => {
                let one = self.elements(val);
                (one, one)
            }
        }
    }

    /// What was put into a container after it was made.
    pub(super) fn put_in(&self, id: u32) -> Option<Val<'a>> {
        self.repeats.looks_into(id);
        self.goes_through(self.added.len() + self.outgrown.len());
        if self.filled & filled_bit(id) == 0 {
            return None;
        }
        let is_it = |(known, _): &&(u32, Val<'a>)| *known == id;
        let (mut added, mut outgrown) = (self.added.iter().filter(is_it), self.outgrown.iter().filter(is_it));
        match (added.next(), added.next(), outgrown.next(), outgrown.next()) {
            (one, None, None, None) | (None, None, one, None) => one.map(|(_, more)| *more),
            _ => {
                let all = self.added.iter().chain(&self.outgrown).filter(is_it).map(|(_, more)| *more);
                any_of(self.report.arena, all)
            }
        }
    }

    /// Whether a container's things may have changed places, or be gone.
    fn is_scrambled(&self, id: u32) -> bool {
        self.repeats.looks_into(id);
        self.repeats.looks_at(Common::Order);
        self.all_scrambled || self.scrambled.contains(&id)
    }

    /// What surely stands first in a container, in this order, and whether there may be more.
    pub(super) fn first_of(&self, items: &Items<'a>) -> (&'a [Val<'a>], bool) {
        if self.is_scrambled(items.id) {
            return (&[], true);
        }
        let sure = items.vals.get(..items.sure).unwrap_or_default();
        (sure, !items.closed || self.put_in(items.id).is_some())
    }

    /// All that a container holds, in its order, if that is certain. Keys and values alternate in a dictionary.
    pub(super) fn all_of(&self, items: &Items<'a>) -> Option<&'a [Val<'a>]> {
        match self.first_of(items) {
            (vals, false) => Some(vals),
            _ => None,
        }
    }

    /// The arguments that a list gives to a program, and whether there are more. A program that is not certain is `None`.
    pub(super) fn argv_of(&self, items: &Items<'a>) -> (Vec<Val<'a>>, bool) {
        let (sure, more) = self.first_of(items);
        (if items.pairs { vec![Val::Data] } else { sure.to_vec() }, more)
    }

    /// What was changed shows in every name for the container: all that `+=` has made of it, and of which it was made. The
    /// container itself is the first.
    fn names_of(&self, id: u32, made: bool) -> BumpVec<'a, u32> {
        self.repeats.looks_at(Common::Grown);
        let mut all = BumpVec::with_capacity_in(1, self.report.arena);
        all.push(id);
        let mut at = 0;
        while let Some(one) = all.get(at).copied() {
            at += 1;
            self.goes_through(self.grown_from.len());
            for (new, old) in &self.grown_from {
                let other = match one {
                    one if one == *new => *old,
                    one if made && one == *old => *new,
                    _ => continue,
                };
                if !all.contains(&other) {
                    all.push(other);
                }
            }
        }
        all
    }

    /// Something is put into a container, after what it holds already.
    pub(super) fn add_to(&mut self, container: &Val<'a>, val: Val<'a>) {
        self.put(container, val, true);
    }

    /// `made`: also into what `+=` has made of it.
    fn put(&mut self, container: &Val<'a>, val: Val<'a>, made: bool) {
        let mut kept = false;
        for each in container.alternatives() {
            if let Val::Many(items) = each {
                kept = true;
                for id in self.names_of(items.id, made) {
                    self.put_into(id, val, made);
                }
            }
        }
        if !kept {
            self.escape(&val);
        }
    }

    fn put_into(&mut self, id: u32, val: Val<'a>, made: bool) {
        let arena = self.report.arena;
        let (learning, late) = (self.pass == Pass::Learning, self.passes >= WIDENING);
        let list = if made { &mut self.added } else { &mut self.outgrown };
        let known = list.iter().position(|(known, _)| *known == id);
        let mut unseen = self.pass == Pass::Recording && val.acts();
        // Whether this is more than was known, and whether what is known now is.
        let (mut grew, mut changed) = (true, true);
        if let Some((_, old)) = known.and_then(|at| list.get_mut(at)) {
            grew = !covers(old, &val);
            unseen &= grew;
            let widened = grew && learning && late && !val.acts();
            if grew {
                let new = join(arena, *old, if widened { Val::Data } else { val });
                changed = !covers(old, &new);
                if !covers(&new, &val) {
                    self.repeats.looks_into(id);
                    self.repeats.learns_again();
                }
                *old = new;
            }
        } else if list.len() < MAX_GROWING {
            list.push((id, val));
            self.filled |= filled_bit(id);
        } else {
            return self.lose();
        }
        if unseen {
            self.escape(&val);
        }
        self.changed |= grew && changed;
        if grew && changed {
            self.repeats.container_changes(id);
        }
        if grew && !val.is_recognised() {
            self.repeats.never_repeat();
        }
        self.learnt |= grew && learning;
        self.unsettled |= grew && learning;
    }

    /// A container may be changed in any way: what it holds may be in any order, or gone.
    pub(super) fn scramble(&mut self, container: &Val<'a>) {
        for each in container.alternatives() {
            let Val::Many(items) = each else { continue };
            for id in self.names_of(items.id, true) {
                if self.scrambled.insert(id) {
                    self.repeats.container_changes(id);
                    self.scrambles();
                }
            }
        }
    }

    /// Any container may be changed in any way.
    pub(super) fn scramble_all(&mut self) {
        if !self.all_scrambled {
            self.all_scrambled = true;
            self.repeats.common_changes(Common::Order);
            self.scrambles();
        }
    }

    /// Containers go where they are not followed, to something that by itself leaves them as they are.
    pub(super) fn leak(&mut self, val: &Val<'a>) {
        for each in val.alternatives() {
            let Val::Many(items) = each else { continue };
            if !self.walks(items.vals.len()) {
                return;
            }
            self.repeats.looks_at(Common::Leaks);
            if self.leaks_change {
                self.scramble(each);
            } else {
                self.leaked.insert(items.id);
            }
            items.vals.iter().for_each(|inner| self.leak(inner));
        }
    }

    /// A container that is not known is changed.
    pub(super) fn change_leaked(&mut self) {
        if self.leaks_change {
            return;
        }
        self.leaks_change = true;
        self.repeats.common_changes(Common::Leaks);
        for id in std::mem::take(&mut self.leaked) {
            for id in self.names_of(id, true) {
                if self.scrambled.insert(id) {
                    self.repeats.container_changes(id);
                    self.scrambles();
                }
            }
        }
    }

    /// Containers go to something that may do anything with them.
    pub(super) fn give_away(&mut self, val: &Val<'a>) {
        for each in val.alternatives() {
            let Val::Many(items) = each else { continue };
            if !self.walks(items.vals.len()) {
                return;
            }
            self.scramble(each);
            items.vals.iter().for_each(|inner| self.give_away(inner));
        }
    }

    fn scrambles(&mut self) {
        (self.changed, self.learnt, self.unsettled) = (true, true, true);
        if self.pass == Pass::Recording {
            // What was read before did not know of this.
            self.lose();
        }
    }

    /// A method that changes a container by what it is given, or something like it: `list.append(a, b)`.
    pub(super) fn mutate(&mut self, container: &Val<'a>, others: &[Val<'a>]) {
        for other in others {
            self.add_to(container, *other);
            if let Val::Many(_) | Val::OneOf(_) = other {
                let inner = self.elements(other);
                self.add_to(container, inner);
            }
        }
        self.scramble(container);
    }

    /// Whether what a list is filled with anew is nothing but what it held.
    pub(super) fn holds_no_more(&self, container: &Val<'a>, new: &Val<'a>) -> bool {
        match (container, new) {
            (Val::Many(old), Val::Many(_)) if !old.pairs => {
                covers(&self.elements(container), &self.elements(new))
            }
            _ => false,
        }
    }

    /// `old += val`, once: the container that it gives, which is the old one.
    pub(super) fn grow(&mut self, old: &Val<'a>, val: &Val<'a>, new: Val<'a>) {
        let more = self.elements(val);
        for each in old.alternatives() {
            let Val::Many(items) = each else { continue };
            match new {
                Val::Many(made) if made.id != items.id => {
                    if !self.grown_from.contains(&(made.id, items.id)) {
                        if self.grown_from.len() >= MAX_GROWN {
                            return self.lose();
                        }
                        self.grown_from.push((made.id, items.id));
                        self.scrambles_made(items.id, made.id);
                    }
                    self.put(each, more, false);
                }
                _ => self.put(each, more, true),
            }
        }
    }

    /// `old += val`, before what it gives is made: what only that adds has not been added yet. Gives what was hidden.
    pub(super) fn hide_outgrown(&mut self, old: &Val<'a>) -> Vec<(u32, Val<'a>)> {
        let Val::Many(items) = old else { return Vec::new() };
        let made = u32::try_from(self.at).unwrap_or(u32::MAX);
        self.repeats.looks_at(Common::Grown);
        if self.grown_from.iter().any(|(new, old)| *old == items.id && *new != made) {
            return Vec::new();
        }
        let (hidden, kept) = self.outgrown.iter().copied().partition(|(id, _)| *id == items.id);
        self.outgrown = kept;
        hidden
    }

    /// What is known of a container holds for what was made of it.
    fn scrambles_made(&mut self, old: u32, made: u32) {
        (self.learnt, self.unsettled) = (true, true);
        self.changed = true;
        self.repeats.common_changes(Common::Grown);
        if self.scrambled.contains(&old) {
            self.repeats.container_changes(made);
            self.scrambled.insert(made);
        }
    }

    /// `a + b`, of which one at least is a container.
    pub(super) fn concatenated(&mut self, a: &Val<'a>, b: &Val<'a>) -> Val<'a> {
        let arena = self.report.arena;
        let any = |one, other| &*arena.alloc_slice_copy(&[one, other]);
        let (Val::Many(x), Val::Many(y)) = (a, b) else {
            // What the other is made of is not known.
            return match (a, b) {
                (Val::Many(x), _) => {
                    let sure = self.first_of(x).0.len();
                    if !self.copies(x.vals.len()) {
                        return self.arranged(false, any(self.elements(a), self.elements(b)), Order::Sure(0));
                    }
                    let mut vals = BumpVec::with_capacity_in(x.vals.len() + 1, arena);
                    vals.extend_from_slice_copy(x.vals);
                    vals.push(self.elements(b));
                    self.arranged(false, vals.into_bump_slice(), Order::Sure(sure))
                }
                _ => self.arranged(false, any(self.elements(a), self.elements(b)), Order::Sure(0)),
            };
        };
        let length = x.vals.len() + y.vals.len();
        if length > MAX_JOINED || !self.copies(length) {
            return self.arranged(false, any(self.elements(a), self.elements(b)), Order::Sure(0));
        }
        let order = match (self.all_of(x), self.first_of(y)) {
            (Some(_), (_, false)) => Order::Exact,
            (Some(all), (sure, true)) => Order::Sure(all.len() + sure.len()),
            (None, _) => Order::Sure(self.first_of(x).0.len()),
        };
        // With room for what else may be in them, so that it is made once.
        let mut vals = BumpVec::with_capacity_in(length + 2, arena);
        vals.extend_from_slice_copy(x.vals);
        vals.extend_from_slice_copy(y.vals);
        // What was put into either by other means is kept too.
        vals.extend([self.put_in(x.id), self.put_in(y.id)].into_iter().flatten());
        self.arranged(x.pairs && y.pairs && order == Order::Exact, vals.into_bump_slice(), order)
    }

    /// `a * n`
    pub(super) fn repeated(&mut self, a: &Val<'a>, times: &Val<'a>) -> Val<'a> {
        if let (Val::Many(items), Val::Number(times)) = (a, times)
            && let Some(all) = self.all_of(items)
            && let Some(length) = usize::try_from(*times).ok().and_then(|n| n.checked_mul(all.len()))
            && length <= MAX_REPEATED
        {
            let vals = BumpVec::from_iter_in(all.iter().copied().cycle().take(length), self.report.arena);
            return self.arranged(false, vals.into_bump_slice(), Order::Exact);
        }
        self.any_of_these(a)
    }

    /// Any number of what a value holds, in any order.
    pub(super) fn any_of_these(&mut self, val: &Val<'a>) -> Val<'a> {
        let one = self.elements(val);
        let vals = self.report.arena.alloc_slice_copy(&[one]);
        self.arranged(false, vals, Order::Sure(0))
    }

    /// `val[from:to:step]` of a container.
    pub(super) fn slice_of(&mut self, items: &'a Items<'a>, slice: [Option<i64>; 3]) -> Val<'a> {
        let arena = self.report.arena;
        let whole = Val::Many(items);
        let (sure, more) = self.first_of(items);
        if !items.pairs && !more {
            return match super::strings::cut(sure, slice) {
                Some(Cow::Borrowed(part)) => self.arranged(false, part, Order::Exact),
                Some(Cow::Owned(part)) => self.arranged(false, arena.alloc_slice_copy(&part), Order::Exact),
                None => self.any_of_these(&whole),
            };
        }
        // `[n:]` of something whose end is not known.
        if let ([Some(from), None, None | Some(1)], false) = (slice, items.pairs)
            && let Ok(from) = usize::try_from(from)
            && let Some(rest) = sure.get(from..)
        {
            let one = self.elements(&whole);
            let mut vals = BumpVec::with_capacity_in(rest.len() + 1, arena);
            vals.extend_from_slice_copy(rest);
            vals.push(one);
            return self.arranged(false, vals.into_bump_slice(), Order::Sure(rest.len()));
        }
        self.any_of_these(&whole)
    }

    /// A method of a container.
    pub(super) fn container_method(
        &mut self,
        val: &Val<'a>,
        name: &[u8],
        arguments: &Arguments<'a>,
    ) -> Val<'a> {
        match name {
            b"append" | b"add" | b"put" | b"setdefault" => {
                if let (b"setdefault", [key, val, ..], true) =
                    (name, arguments.positional.as_slice(), self.holds_environment(val))
                {
                    self.set_variable_to(key, val);
                }
                for each in arguments.all() {
                    self.add_to(val, *each);
                }
                if arguments.open {
                    self.add_to(val, Val::Data);
                }
                if name == b"setdefault" { self.elements(val) } else { Val::Data }
            }
            b"extend" | b"update" => {
                if self.holds_environment(val) {
                    for each in &arguments.positional {
                        self.set_variables(each);
                    }
                    for (key, value) in &arguments.named {
                        let key = Val::Text(self.report.literal(key));
                        self.set_variable_to(&key, value);
                    }
                }
                for each in arguments.all() {
                    if matches!(each, Val::Object(Object::Environment)) {
                        self.report.environment();
                    }
                    let one = self.elements(each);
                    self.add_to(val, one);
                }
                for (key, value) in &arguments.named {
                    let key = Val::Text(self.report.literal(key));
                    self.add_to(val, key);
                    self.add_to(val, *value);
                }
                if arguments.open {
                    self.add_to(val, Val::Data);
                }
                Val::Data
            }
            b"copy" => *val,
            b"union" | b"difference" | b"intersection" | b"symmetric_difference" => {
                let mut one = self.elements(val);
                for each in arguments.all() {
                    one = join(self.report.arena, one, self.elements(each));
                }
                let vals = self.report.arena.alloc_slice_copy(&[one]);
                self.bag(self.at, vals)
            }
            b"__getitem__" | b"__next__" => self.elements(val),
            b"__iter__" | b"__reversed__" => self.any_of_these(val),
            b"items" => {
                let (key, one) = self.keys_and_values(val);
                let pair = self.report.arena.alloc_slice_copy(&[key, one]);
                let pair = self.container(self.at, false, pair);
                let vals = self.report.arena.alloc_slice_copy(&[pair]);
                self.bag(self.at + 1, vals)
            }
            b"keys" | b"values" => {
                let (keys, values) = self.keys_and_values(val);
                let one = if name == b"keys" { keys } else { values };
                let vals = self.report.arena.alloc_slice_copy(&[one]);
                self.bag(self.at, vals)
            }
            b"get" | b"pop" => {
                let index = arguments.positional.first().copied().unwrap_or(Val::Data);
                if name == b"pop" {
                    self.scramble(val);
                }
                let one = self.item(val, &index, None, false);
                match arguments.positional.get(1) {
                    Some(default) => join(self.report.arena, one, *default),
                    None => one,
                }
            }
            b"popleft" | b"popitem" => {
                self.scramble(val);
                self.elements(val)
            }
            b"count" | b"index" | b"isdisjoint" | b"issubset" | b"issuperset" | b"most_common" | b"total"
            | b"elements" | b"__len__" | b"__contains__" => {
                self.hand_over_acting(arguments);
                Val::Data
            }
            _ => {
                self.hand_over_acting(arguments);
                let others: Vec<Val<'a>> = arguments.all().copied().collect();
                self.mutate(val, &others);
                self.elements(val)
            }
        }
    }

    /// A container made by the expression at this token, of exactly these.
    pub(super) fn container(&self, at: usize, pairs: bool, vals: &'a [Val<'a>]) -> Val<'a> {
        many(self.report.arena, u32::try_from(at).unwrap_or(u32::MAX), pairs, vals, Order::Exact)
    }

    /// A container made by the expression at this token, of any number of these in any order.
    pub(super) fn bag(&self, at: usize, vals: &'a [Val<'a>]) -> Val<'a> {
        many(self.report.arena, u32::try_from(at).unwrap_or(u32::MAX), false, vals, Order::Sure(0))
    }

    /// A list made by the expression at this token.
    pub(super) fn ordered(&self, at: usize, vals: &'a [Val<'a>], order: Order) -> Val<'a> {
        many(self.report.arena, u32::try_from(at).unwrap_or(u32::MAX), false, vals, order)
    }

    /// A container made here.
    pub(super) fn arranged(&self, pairs: bool, vals: &'a [Val<'a>], order: Order) -> Val<'a> {
        many(self.report.arena, u32::try_from(self.at).unwrap_or(u32::MAX), pairs, vals, order)
    }
}
