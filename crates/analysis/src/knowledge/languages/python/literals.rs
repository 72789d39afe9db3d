//! String literals: those that stand side by side are one (language reference, 2.4.2), and f-strings have expressions in them (2.4.3).

use super::Reader;
use super::tokens::Token;
use super::value::{Val, any_of};
use crate::value::Value;
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

/// Most texts that one string literal is told apart into.
const MAX_TEXTS: usize = 16;

/// The parts of a string literal.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    values: BumpVec<'a, Value<'a>>,
    /// Parts that are one of several.
    choices: BumpVec<'a, (usize, &'a [Value<'a>])>,
    /// One of them is nothing yet.
    never: bool,
    /// They are only looked at, and not put together.
    shown: bool,
}

impl<'a> Parts<'a> {
    fn new(arena: &'a Bump, expected: usize) -> Self {
        Self {
            values: BumpVec::with_capacity_in(expected, arena),
            choices: BumpVec::new_in(arena),
            never: false,
            shown: false,
        }
    }
}

impl<'a> Reader<'_, '_, 'a> {
    /// Adjacent string literals.
    pub(super) fn text(&mut self) -> Option<Val<'a>> {
        // Most stand alone.
        if let Token::Text(text) = self.peek()
            && !matches!(self.peek_at(1), Token::Text(_) | Token::Open { kind: b'f', .. })
        {
            self.at += 1;
            return Some(Val::Text(self.report.literal(text)));
        }
        let mut parts = self.spare.parts.pop().unwrap_or_else(|| Parts::new(self.report.arena, 6));
        loop {
            match self.peek() {
                Token::Text(text) => {
                    self.at += 1;
                    parts.values.push(self.report.literal(text));
                }
                Token::Open { kind: b'f', close, .. } => {
                    self.at += 1;
                    self.deeper(|reader| reader.formatted(close as usize, &mut parts))?;
                    self.at = close as usize + 1;
                }
                _ => break,
            }
        }
        let text = self.put_together(&parts);
        parts.values.clear();
        parts.choices.clear();
        parts.never = false;
        self.spare.parts.push(parts);
        Some(text)
    }

    /// The text that parts make, or each that they may make.
    fn put_together(&self, parts: &Parts<'a>) -> Val<'a> {
        if parts.never {
            return Val::Never;
        }
        let arena = self.report.arena;
        let text = |values: &[Value<'a>]| match values {
            [one] => Val::Text(*one),
            values => Val::Text(self.report.joined(values)),
        };
        if parts.choices.is_empty() {
            return text(&parts.values);
        }
        let mut all = BumpVec::from_iter_in([&*parts.values], arena);
        for (at, choices) in &parts.choices {
            if all.len() * choices.len() > MAX_TEXTS {
                continue;
            }
            let with = |one: &[Value<'a>], choice: &Value<'a>| {
                let one = arena.alloc_slice_copy(one);
                if let Some(place) = one.get_mut(*at) {
                    *place = *choice;
                }
                &*one
            };
            let mut more = BumpVec::with_capacity_in(all.len() * choices.len(), arena);
            for one in &all {
                more.extend(choices.iter().map(|choice| with(one, choice)));
            }
            all = more;
        }
        any_of(arena, all.iter().map(|values| text(values))).unwrap_or(Val::Data)
    }

    /// The parts of an f-string.
    fn formatted(&mut self, close: usize, parts: &mut Parts<'a>) -> Option<()> {
        while self.at < close {
            match self.peek() {
                Token::Text(_) if parts.shown => self.at += 1,
                Token::Text(text) => {
                    self.at += 1;
                    parts.values.push(self.report.literal(text));
                }
                Token::Open { kind: b'%', close, .. } => {
                    self.at += 1;
                    let val = self.expressions()?;
                    self.shows(&val);
                    self.take(Token::Assign);
                    // A format specification is made of such parts again.
                    let specified = self.take(Token::Colon);
                    let mut specification = Parts::new(self.report.arena, 0);
                    specification.shown = parts.shown;
                    if self.at < close as usize || self.depth >= super::MAX_DEPTH {
                        self.deeper(|reader| reader.formatted(close as usize, &mut specification))?;
                    }
                    self.at = close as usize + 1;
                    if parts.shown {
                        continue;
                    }
                    parts.never |= specification.never || matches!(val, Val::Never);
                    if let Val::OneOf(vals) = val
                        && !specified
                    {
                        let choices = vals.iter().map(|v| self.formatted_value(v));
                        let choices = BumpVec::from_iter_in(choices, self.report.arena).into_bump_slice();
                        parts.choices.push((parts.values.len(), choices));
                    }
                    parts.values.push(if specified {
                        self.specified(&val, &specification.values)
                    } else {
                        self.formatted_value(&val)
                    });
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// An f-string that is all of an argument, of which nobody will ask what it is, but only what is put into it. `None` if no
    /// such argument stands here.
    pub(super) fn only_shown(&mut self) -> Option<Option<()>> {
        let Token::Open { kind: b'f', close, .. } = self.peek() else { return None };
        let close = close as usize;
        if !matches!(self.tokens.get(close + 1), Some(Token::Comma | Token::Close)) {
            return None;
        }
        // As deep as an expression with a string in it.
        let read = self.deeper(|reader| {
            reader.at += 1;
            let mut parts = Parts::new(reader.report.arena, 0);
            parts.shown = true;
            reader.deeper(|reader| reader.formatted(close, &mut parts))
        });
        if read.is_some() {
            self.at = close + 1;
        }
        Some(read)
    }
}
