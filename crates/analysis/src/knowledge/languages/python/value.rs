//! What an expression may be, as far as it matters.
//!
//! The one invariant: what could execute, connect or change something (modules, their members, functions of this
//! program) is always held as such. Where it would be lost from sight it is said to *escape*, and counts as used in
//! every way. So `Data` is never a way to anything.

mod unions;

use super::acts::Act;
use super::acts::Module;
pub(super) use super::acts::Object;
use crate::value::{Piece, Value};
use bumpalo::Bump;
use shward_syntax::same;
use std::cell::Cell;
use std::mem::discriminant;
use std::ops::Deref;
pub(super) use unions::Union;

/// Most alternatives that are told apart.
const MAX_ALTERNATIVES: usize = 16;

/// What an expression may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Val<'a> {
    /// Something that cannot act and whose text is not known.
    Data,
    /// `None` or `False`.
    Nothing,
    /// A small whole number.
    Number(u32),
    /// A number that is not known: whatever it is, its text is no path.
    Count,
    /// Nothing yet: a parameter before any call of its function was read.
    Never,
    /// A string, or bytes.
    Text(Value<'a>),
    /// A `pathlib` path.
    Path(Value<'a>),
    /// An open file, or the content of one.
    File(Value<'a>),
    /// A container.
    Many(&'a Items<'a>),
    /// One of several.
    OneOf(&'a Choice<'a>),
    /// A known module.
    Module(&'static Module),
    /// A member of a known module, or a builtin.
    Act(Act),
    /// What such a member made.
    Object(Object),
    /// Something of the project, or of a package that is not known.
    Foreign,
    /// A function, class or lambda of this program, by its number.
    Local(u32),
    /// Too many things that act to be told apart.
    Lost,
}

/// Two or more alternatives that differ, and what is asked of all of them again and again. None of them has any itself.
#[derive(Debug)]
pub(super) struct Choice<'a> {
    vals: &'a [Val<'a>],
    /// The bits of these; see [`Val::bit`].
    bits: u64,
    /// One of them could act.
    acts: bool,
    /// What their text weighs, once that was asked.
    weight: Cell<Option<usize>>,
    /// How deep the deepest of them is, and how many things all are and hold, once that was asked.
    extent: Cell<Option<(u8, u16)>>,
}

impl Choice<'_> {
    /// What the text of all of them weighs, found by `weigh` where that was not asked before.
    pub(super) fn weight(&self, weigh: impl FnOnce(&[Val<'_>]) -> usize) -> usize {
        let weight = self.weight.get().unwrap_or_else(|| weigh(self.vals));
        self.weight.set(Some(weight));
        weight
    }

    fn extent(&self) -> (u8, u16) {
        if let Some(extent) = self.extent.get() {
            return extent;
        }
        let depth = self.vals.iter().map(Val::depth).max().unwrap_or(0);
        let size = self.vals.iter().fold(1, |size, val| TOO_MANY.min(size + val.size()));
        self.extent.set(Some((depth, size)));
        (depth, size)
    }
}

impl<'a> Deref for Choice<'a> {
    type Target = [Val<'a>];

    fn deref(&self) -> &[Val<'a>] {
        self.vals
    }
}

/// What a container holds.
#[derive(Debug, Clone)]
pub(super) struct Items<'a> {
    /// The expression that made it, for what is added to it later.
    pub(super) id: u32,
    /// Keys and values alternate.
    pub(super) pairs: bool,
    /// So many of the first stand where they stand here.
    pub(super) sure: usize,
    /// There are no others, unless they are put in later.
    pub(super) closed: bool,
    /// Something in it could act.
    acts: bool,
    depth: u8,
    /// How many things it is and holds, and what it holds holds; no more than [`TOO_MANY`].
    size: u16,
    pub(super) vals: &'a [Val<'a>],
    /// Any of these, once that was asked.
    any: Cell<Option<&'a Val<'a>>>,
}

impl<'a> Items<'a> {
    /// Any of its things, where that is told without looking at more than one of them.
    pub(super) fn any(&self) -> Option<Val<'a>> {
        match self.vals {
            [one] => Some(*one),
            _ => self.any.get().copied(),
        }
    }

    /// Adds everything that any of its things may be. Containers are asked for that again and again.
    pub(super) fn add_to(&self, union: &mut Union<'a>) {
        if let Some(any) = self.any.get() {
            return union.add(*any);
        }
        if !union.is_empty() {
            return self.vals.iter().for_each(|val| union.add(*val));
        }
        self.vals.iter().for_each(|val| union.add(*val));
        // Where there is no room for all, what stands for the rest depends on what else there is.
        if union.is_full() {
            return;
        }
        let arena = union.arena;
        if let Some(any) = std::mem::replace(union, Union::new(arena)).get() {
            if self.vals.len() > 1 {
                self.any.set(Some(arena.alloc(any)));
            }
            union.add(any);
        }
    }
}

/// Most parts of two values that are compared.
const MAX_COMPARED: u32 = TOO_MANY as u32 - 1;
const TOO_MANY: u16 = 513;

/// Deepest nesting of containers that is told apart.
const MAX_DEPTH: u8 = 12;

/// What is known of the order of a container's things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// These, in this order, and no others.
    Exact,
    /// So many of the first are sure; the others may be any number of any of these, in any order.
    Sure(usize),
}

/// A container of these things.
pub(super) fn many<'a>(arena: &'a Bump, id: u32, pairs: bool, vals: &'a [Val<'a>], order: Order) -> Val<'a> {
    let (mut acts, mut depth, mut size) = (false, 1, 1);
    for val in vals {
        acts = acts || val.acts();
        depth = depth.max(val.depth() + 1);
        size = TOO_MANY.min(size + val.size());
    }
    if depth > MAX_DEPTH {
        return if acts { Val::Lost } else { Val::Data };
    }
    let (sure, closed) = match order {
        Order::Exact => (vals.len(), true),
        Order::Sure(sure) => (sure.min(vals.len()), false),
    };
    Val::Many(arena.alloc(Items { id, pairs, sure, closed, acts, depth, size, vals, any: Cell::new(None) }))
}

impl<'a> Val<'a> {
    /// Whether it could act if it got into the wrong hands.
    pub(super) fn acts(&self) -> bool {
        match self {
            Self::Module(_) | Self::Local(_) | Self::Lost => true,
            Self::Act(act) => !act.is_inert(),
            Self::Object(object) => matches!(
                object,
                Object::Process
                    | Object::Client
                    | Object::Native
                    | Object::Server
                    | Object::Modules
                    | Object::Environment
                    | Object::Socket
                    | Object::SearchPath
                    | Object::Stdout
                    | Object::Database
            ),
            Self::Many(items) => items.acts,
            Self::OneOf(choice) => choice.acts,
            Self::Data
            | Self::Nothing
            | Self::Number(_)
            | Self::Count
            | Self::Never
            | Self::Text(_)
            | Self::Path(_)
            | Self::File(_)
            | Self::Foreign => false,
        }
    }

    fn depth(&self) -> u8 {
        match self {
            Self::Many(items) => items.depth,
            Self::OneOf(choice) => choice.extent().0,
            _ => 0,
        }
    }

    /// The text of a string or path.
    pub(super) const fn value(&self) -> Option<Value<'a>> {
        match self {
            Self::Text(value) | Self::Path(value) => Some(*value),
            _ => None,
        }
    }

    /// The text of a string, if all of it is known.
    pub(super) fn known(&self) -> Option<&'a [u8]> {
        match self {
            Self::Text(value) | Self::Path(value) => value.known(),
            _ => None,
        }
    }

    /// Each thing that it may be.
    pub(super) fn alternatives(&self) -> &[Self] {
        match self {
            Self::OneOf(choice) => choice.vals,
            other => std::slice::from_ref(other),
        }
    }

    // Inlined where one is held against many: nearly all of them differ in their kind, or are literals of another length.
    #[inline(always)]
    fn same(&self, other: &Self) -> bool {
        if discriminant(self) != discriminant(other) {
            return false;
        }
        match (self, other) {
            (Self::Text(a), Self::Text(b))
            | (Self::Path(a), Self::Path(b))
            | (Self::File(a), Self::File(b)) => match (a.known(), b.known()) {
                (Some(x), Some(y)) => is_same_text(x, y) && a.origins == b.origins,
                (None, None) => self.same_within(other, &mut { MAX_COMPARED }),
                _ => false,
            },
            (Self::Act(a), Self::Act(b)) => discriminant(a) == discriminant(b) && a == b,
            (Self::Number(a), Self::Number(b)) | (Self::Local(a), Self::Local(b)) => a == b,
            (Self::Data | Self::Nothing | Self::Count | Self::Never | Self::Foreign | Self::Lost, _) => true,
            (Self::Module(a), Self::Module(b)) => std::ptr::eq(*a, *b),
            (Self::Object(a), Self::Object(b)) => a == b,
            (Self::Many(a), Self::Many(b)) => {
                std::ptr::eq(*a, *b)
                    || a.id == b.id
                        && a.vals.len() == b.vals.len()
                        && self.same_within(other, &mut { MAX_COMPARED })
            }
            _ => self.same_within(other, &mut { MAX_COMPARED }),
        }
    }

    /// Whether it is found to be the same as what would be made as it was made. Large containers are not.
    pub(super) fn is_recognised(&self) -> bool {
        self.alternatives()
            .iter()
            .all(|each| if let Self::Many(items) = each { items.size < TOO_MANY } else { true })
    }

    /// How many things it is and holds, up to too many.
    fn size(&self) -> u16 {
        match self {
            Self::Many(items) => items.size,
            Self::OneOf(choice) => choice.extent().1,
            _ => 1,
        }
    }

    /// Whether all of its kind are the same. Their bits say so: no others have them.
    const fn is_alike(&self) -> bool {
        matches!(self, Self::Data | Self::Nothing | Self::Count | Self::Never | Self::Foreign | Self::Lost)
    }

    /// One bit that is the same for all values that are.
    fn bit(&self) -> u64 {
        let others = match self {
            Self::Text(value) | Self::Path(value) | Self::File(value) => match value.known() {
                Some(text) => {
                    let (first, last) = (text.first().copied(), text.last().copied());
                    let [first, last] = [first, last].map(|byte| byte.map_or(0, usize::from));
                    text.len().wrapping_mul(8) ^ first ^ last.wrapping_mul(5)
                }
                None => value.pieces().len(),
            },
            Self::Number(number) | Self::Local(number) => *number as usize,
            Self::Many(items) => items.id as usize,
            others => return 1 << others.kind(),
        };
        1 << (32 + others % 32)
    }

    /// A number for its kind, where nothing else of it is asked.
    const fn kind(&self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Nothing => 1,
            Self::Count => 2,
            Self::Never => 3,
            Self::Foreign => 4,
            Self::Lost => 5,
            Self::OneOf(_) => 6,
            Self::Module(_) => 7,
            Self::Act(_) => 8,
            _ => 9,
        }
    }

    /// What stands for it where there is no room for all, and which of the kinds of that it is.
    fn rest(&self) -> (Self, usize) {
        match self {
            each if each.acts() => (Val::Lost, 0),
            Val::Number(_) | Val::Count => (Val::Count, 1),
            _ => (Val::Data, 2),
        }
    }

    /// The bits of its alternatives.
    fn bits(&self) -> u64 {
        match self {
            Self::OneOf(choice) => choice.bits,
            one => one.bit(),
        }
    }

    /// Equality, for as long as the fuel lasts; after that nothing is equal.
    fn same_within(&self, other: &Self, fuel: &mut u32) -> bool {
        let Some(left) = fuel.checked_sub(1) else { return false };
        *fuel = left;
        match (self, other) {
            (Self::Data, Self::Data)
            | (Self::Nothing, Self::Nothing)
            | (Self::Count, Self::Count)
            | (Self::Never, Self::Never)
            | (Self::Foreign, Self::Foreign)
            | (Self::Lost, Self::Lost) => true,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Text(a), Self::Text(b))
            | (Self::Path(a), Self::Path(b))
            | (Self::File(a), Self::File(b)) => {
                a.origins == b.origins && (a.is_identical(b) || are_same_pieces(&a.pieces(), &b.pieces()))
            }
            (Self::Many(a), Self::Many(b)) => {
                std::ptr::eq(*a, *b)
                    || a.id == b.id
                        && a.pairs == b.pairs
                        && (a.sure, a.closed) == (b.sure, b.closed)
                        && a.vals.len() == b.vals.len()
                        && a.vals.iter().zip(b.vals).all(|(x, y)| x.same_within(y, fuel))
            }
            (Self::OneOf(x), Self::OneOf(y)) => {
                std::ptr::eq(*x, *y)
                    || x.len() == y.len() && x.iter().zip(y.vals).all(|(x, y)| x.same_within(y, fuel))
            }
            (Self::Module(a), Self::Module(b)) => std::ptr::eq(*a, *b),
            (Self::Act(a), Self::Act(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            (Self::Local(a), Self::Local(b)) => a == b,
            _ => false,
        }
    }
}

/// Either of two.
pub(super) fn join<'a>(arena: &'a Bump, a: Val<'a>, b: Val<'a>) -> Val<'a> {
    if covers(&a, &b) { a } else { joined(arena, a, b) }
}

/// Either of two, of which the first is known not to be all of it.
pub(super) fn joined<'a>(arena: &'a Bump, a: Val<'a>, b: Val<'a>) -> Val<'a> {
    let mut union = Union::new(arena);
    union.add(a);
    union.add_new(b);
    if matches!(a, Val::OneOf(all) if all.len() == union.all.len()) {
        // There is no more than there was.
        return a;
    }
    union.get().unwrap_or(a)
}

/// Any of these, if there are any.
pub(super) fn any_of<'a>(arena: &'a Bump, mut vals: impl Iterator<Item = Val<'a>>) -> Option<Val<'a>> {
    let first = vals.next()?;
    let Some(second) = vals.next() else { return Some(first) };
    let mut union = Union::new(arena);
    union.add(first);
    union.add(second);
    vals.for_each(|val| union.add(val));
    union.get()
}

/// Whether everything that `new` may be is among what `old` may be.
pub(super) fn covers<'a>(old: &Val<'a>, new: &Val<'a>) -> bool {
    let choice = match (old, new) {
        (_, Val::Never) => return true,
        (Val::OneOf(x), Val::OneOf(y)) if std::ptr::eq(*x, *y) => return true,
        (Val::OneOf(choice), _) => choice,
        (one, new) => return new.alternatives().iter().all(|new| one.same(new)),
    };
    if new.bits() & !choice.bits != 0 {
        return false;
    }
    new.alternatives().iter().enumerate().all(|(at, new)| {
        // What grew of the other has the same alternatives in the same places.
        let beside = choice.get(at).is_some_and(|old| old.same(new));
        beside || new.is_alike() || holds(choice, new)
    })
}

/// Whether nothing would come of adding `new`, since these are as many as are told apart and what stands for the rest is among them.
fn has_no_room_for<'a>(choice: &Choice<'a>, new: &Val<'a>) -> bool {
    choice.len() >= MAX_ALTERNATIVES
        && new.alternatives().iter().all(|each| holds(choice, &each.rest().0) || holds(choice, each))
}

/// Whether texts are equal. Those of one literal lie in one place.
#[inline(always)]
fn is_same_text(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && (std::ptr::eq(a, b) || same(a, b))
}

/// The same of the pieces of two texts.
fn are_same_pieces(a: &[Piece<'_>], b: &[Piece<'_>]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (Piece::Text(x), Piece::Text(y)) | (Piece::Glob(x), Piece::Glob(y)) => is_same_text(x, y),
            (Piece::Unknown, Piece::Unknown) | (Piece::Made, Piece::Made) => true,
            _ => false,
        })
}

/// Whether `each` is among these.
#[inline]
fn holds<'a>(all: &[Val<'a>], each: &Val<'a>) -> bool {
    // Loops of their own, into which the comparisons are inlined.
    if let Val::Text(value) = each
        && let Some(text) = value.known()
    {
        for known in all {
            if let Val::Text(known) = known
                && let Some(known_text) = known.known()
                && is_same_text(known_text, text)
                && known.origins == value.origins
            {
                return true;
            }
        }
        return false;
    }
    for known in all {
        if known.same(each) {
            return true;
        }
    }
    false
}
