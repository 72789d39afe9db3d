//! Displays of lists, sets and dictionaries (language reference, 6.2.5 to 6.2.7).

use super::Reader;
use super::tokens::Token;
use super::value::{Order, Val};
use bumpalo::collections::Vec as BumpVec;

/// So many things most displays hold at most.
const ROOM: usize = 4;

impl<'a> Reader<'_, '_, 'a> {
    /// Whether what comes next is spread.
    pub(super) fn is_star(&self) -> bool {
        matches!(self.peek(), Token::Operator(b'*' | b'D'))
    }

    /// Where things are gathered until it is known how many there are.
    pub(super) fn gathering(&mut self) -> BumpVec<'a, Val<'a>> {
        self.spare.vals.pop().unwrap_or_else(|| BumpVec::with_capacity_in(ROOM, self.report.arena))
    }

    /// All that were gathered.
    pub(super) fn gathered(&mut self, mut vals: BumpVec<'a, Val<'a>>) -> &'a [Val<'a>] {
        let all = self.report.arena.alloc_slice_copy(&vals);
        vals.clear();
        self.spare.vals.push(vals);
        all
    }

    /// A value goes into a list after others; with a star, what it holds does.
    pub(super) fn arrange(
        &mut self,
        vals: &mut BumpVec<'a, Val<'a>>,
        order: &mut Order,
        val: Val<'a>,
        spread: bool,
    ) {
        if !spread {
            return vals.push(val);
        }
        if let Val::Many(items) = val
            && !items.pairs
        {
            let (sure, more) = self.first_of(items);
            vals.extend_from_slice_copy(sure);
            if !more {
                return;
            }
        }
        if *order == Order::Exact {
            *order = Order::Sure(vals.len());
        }
        let rest = self.elements(&val);
        vals.push(rest);
    }

    /// `[a, *b]`
    pub(super) fn list(&mut self, start: usize, close: u32) -> Option<Val<'a>> {
        self.at += 1;
        let mut vals = self.gathering();
        let mut order = Order::Exact;
        while self.at < close as usize {
            let spread = self.is_star();
            let val = self.starred()?;
            self.arrange(&mut vals, &mut order, val, spread);
            if !self.take(Token::Comma) {
                break;
            }
        }
        let vals = self.gathered(vals);
        Some(self.ordered(start, vals, order))
    }

    /// A dictionary or a set.
    pub(super) fn display(&mut self, start: usize, close: u32) -> Option<Val<'a>> {
        self.at += 1;
        let mut vals = self.gathering();
        let mut pairs = true;
        let mut set = false;
        while self.at < close as usize {
            let spread = self.is_star();
            let key = self.starred()?;
            if spread {
                match key {
                    Val::Many(items) if items.pairs && self.all_of(items).is_some() => {
                        vals.extend_from_slice_copy(items.vals);
                    }
                    key => {
                        pairs = false;
                        vals.push(self.elements(&key));
                    }
                }
            } else {
                vals.push(key);
                if self.take(Token::Colon) {
                    vals.push(self.expression()?);
                } else {
                    set = true;
                }
            }
            if !self.take(Token::Comma) {
                break;
            }
        }
        let vals = self.gathered(vals);
        Some(if pairs && !set { self.container(start, true, vals) } else { self.bag(start, vals) })
    }
}
