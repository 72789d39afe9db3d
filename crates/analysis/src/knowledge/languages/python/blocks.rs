//! Where a name surely holds what it was bound to last: from there to the end of the block, or to where it is bound again.
//!
//! What a name means is else all that it is ever bound to, by whichever loop, and `name = join(directory, name)` would be
//! anything. Statements of one block run one after the other. A loop within it may run what stands later before what stands
//! earlier, so that a name which is bound there means anything from the beginning of that loop on; and functions that are
//! defined there run at any time.

use super::Reader;
use super::symbols::Sym;
use super::tokens::{ANY_COLUMN, Keyword as K, Token};
use super::value::Val;

/// Most tokens that are looked through behind one binding, and behind all of one pass.
const MOST: usize = 4096;
const MOST_OF_ALL: usize = 1 << 18;

/// Most targets of one loop.
const MOST_TARGETS: usize = 32;

/// What may bind names that do not stand there.
const REBIND: [&[u8]; 9] =
    [b"__dict__", b"eval", b"exec", b"execfile", b"globals", b"locals", b"modules", b"setattr", b"vars"];

/// A name is that of a loop; it is bound somewhere; it is bound elsewhere as well.
const LOOP: u8 = 1;
const ONCE: u8 = 2;
const AGAIN: u8 = 4;

/// A name that surely holds this, up to a token.
#[derive(Debug, Clone, Copy)]
struct Holding<'a> {
    sym: Sym,
    val: Val<'a>,
    from: usize,
    until: usize,
    inner: u32,
}

/// A statement, by the tokens where it begins, has its last assignment, and ends.
#[derive(Debug, Clone, Copy)]
struct Statement {
    start: usize,
    last: Option<usize>,
    end: Option<usize>,
}

/// Names that surely hold something.
#[derive(Debug, Default)]
pub(super) struct Blocks<'a> {
    holdings: Vec<Holding<'a>>,
    /// What targets were bound to, if that is asked for.
    collected: Option<Vec<(Sym, Val<'a>)>>,
    /// Tokens that this pass has looked through.
    looked: usize,
    /// Names of loops that are bound in more than one place, once that was looked for: of others all that they are ever bound
    /// to tells as much. Which they are does not change, so that statements that bind or use them are read by each pass.
    rebound: Option<Vec<u8>>,
}

impl<'a> Blocks<'a> {
    pub(super) fn start_over(&mut self) {
        *self = Self { rebound: self.rebound.take(), ..Self::default() };
    }

    /// A name is bound.
    pub(super) fn binds(&mut self, sym: Sym, val: &Val<'a>) {
        self.forget(sym);
        if let Some(collected) = &mut self.collected {
            collected.push((sym, *val));
        }
    }

    pub(super) fn forget(&mut self, sym: Sym) {
        if !self.holdings.is_empty() {
            self.holdings.retain(|holding| holding.sym != sym);
        }
    }

    /// From now on targets are collected; gives what was collected for another one.
    pub(super) const fn collect(&mut self) -> Option<Vec<(Sym, Val<'a>)>> {
        self.collected.replace(Vec::new())
    }

    /// What was collected; from now on it is for another one.
    pub(super) fn collected(&mut self, outer: Option<Vec<(Sym, Val<'a>)>>) -> Vec<(Sym, Val<'a>)> {
        std::mem::replace(&mut self.collected, outer).unwrap_or_default()
    }
}

impl<'a> Reader<'_, '_, 'a> {
    /// What a name surely holds here.
    pub(super) fn held(&self, sym: Sym) -> Option<Val<'a>> {
        let (at, inner) = (self.at, self.inner);
        let here = |holding: &&Holding<'a>| {
            holding.sym == sym && (holding.from..=holding.until).contains(&at) && holding.inner == inner
        };
        self.blocks.holdings.iter().rev().find(here).map(|holding| holding.val)
    }

    /// Another program is read, or names come from elsewhere.
    pub(super) fn holds_nothing(&mut self) {
        self.blocks.holdings.clear();
    }

    /// A target of a comprehension holds one of its values up to the end of the brackets, but in functions, which may run later.
    pub(super) fn holds_within(&mut self, bound: Vec<(Sym, Val<'a>)>, from: usize, until: usize) {
        for (sym, val) in bound {
            if self.programs == 0 && self.is_rebound(sym) {
                self.hold(sym, val, from, until);
            }
        }
    }

    /// A target of a loop holds one of its values where the block begins, which stands at this token.
    pub(super) fn holds_in_block(&mut self, bound: Vec<(Sym, Val<'a>)>) {
        let Token::Newline { column } = self.peek() else { return };
        for (sym, val) in bound {
            self.holds_from_here(sym, val, column);
        }
    }

    /// A name was bound by a statement of its own.
    pub(super) fn holds_assigned(&mut self, sym: Sym, val: Val<'a>) {
        if self.indented {
            self.holds_from_here(sym, val, self.scopes.column());
        }
    }

    fn holds_from_here(&mut self, sym: Sym, val: Val<'a>, column: u8) {
        let plain = self.inner == self.floor && self.programs == 0 && !self.in_class;
        if !plain || column == ANY_COLUMN || self.is_shared(sym) || !self.is_rebound(sym) {
            return;
        }
        if let Some(until) = self.end_of_holding(sym, column) {
            self.hold(sym, val, self.at, until);
        }
    }

    /// Whether a name is that of a loop, and bound in more than one place.
    pub(super) fn is_rebound(&mut self, sym: Sym) -> bool {
        if self.blocks.rebound.is_none() {
            if self.programs > 0 {
                return false;
            }
            self.blocks.rebound = Some(self.all_rebound());
        }
        self.blocks.rebound.as_ref().and_then(|all| all.get(sym.0 as usize)) == Some(&(LOOP | ONCE | AGAIN))
    }

    /// Of each name, where it is bound.
    fn all_rebound(&self) -> Vec<u8> {
        let mut all = Vec::new();
        if !self.tokens.contains(&Token::Keyword(K::For)) {
            return all;
        }
        all.resize(self.symbols.len(), 0);
        let (mut targets, mut starts) = (false, true);
        for (at, token) in self.tokens.iter().enumerate() {
            let started = std::mem::replace(
                &mut starts,
                matches!(token, Token::Newline { .. } | Token::Semicolon | Token::Colon),
            );
            match token {
                Token::Keyword(K::For) => targets = true,
                Token::Keyword(K::In) | Token::Newline { .. } | Token::Semicolon => targets = false,
                Token::Name(sym)
                    if targets || started && matches!(self.tokens.get(at + 1), Some(Token::Assign)) =>
                {
                    if let Some(bound) = all.get_mut(sym.0 as usize) {
                        *bound |= if *bound == 0 { ONCE } else { AGAIN };
                        *bound |= if targets { LOOP } else { 0 };
                    }
                }
                _ => {}
            }
        }
        all
    }

    fn hold(&mut self, sym: Sym, val: Val<'a>, from: usize, until: usize) {
        self.repeats.never_repeat();
        let at = self.at;
        self.blocks.holdings.retain(|holding| holding.until >= at);
        self.blocks.holdings.push(Holding { sym, val, from, until, inner: self.inner });
    }

    /// The last token before the block that is indented so far ends, or the name may be bound to something else.
    fn end_of_holding(&mut self, sym: Sym, column: u8) -> Option<usize> {
        let from = self.at;
        // Where the last statement of the block begins, and where the statement that is looked at does.
        let (mut head, mut start) = (from, from);
        let mut depth_of_line = column;
        // The rest of the line on which the loop or the assignment stands.
        let mut first = true;
        let mut known = None;
        for at in from..self.tokens.len().min(from + MOST) {
            self.blocks.looked += 1;
            if self.blocks.looked > MOST_OF_ALL {
                return None;
            }
            match self.tokens.get(at)? {
                Token::Newline { column: next } => {
                    if *next < column {
                        return Some(at);
                    }
                    (start, depth_of_line, first) = (at + 1, *next, false);
                    if *next == column {
                        head = at;
                    }
                }
                Token::Semicolon => start = at + 1,
                Token::Keyword(K::Def | K::Class | K::Lambda | K::Import | K::Global | K::Del) => {
                    return Some(head);
                }
                Token::Name(name) if REBIND.contains(&self.name(*name)) => return Some(head),
                Token::Name(name) if *name == sym => {
                    match self.binds_here(self.extent(&mut known, start), at) {
                        Some(end) if depth_of_line == column && !first => return Some(end),
                        Some(_) => return Some(head),
                        None => {}
                    }
                }
                _ => {}
            }
        }
        (from + MOST > self.tokens.len()).then_some(self.tokens.len())
    }

    /// The statement that begins at a token, looked at once.
    fn extent(&self, known: &mut Option<Statement>, start: usize) -> Statement {
        if let Some(statement) = known.filter(|known| known.start == start) {
            return statement;
        }
        let (mut next, mut last, mut end) = (start, None, None);
        while let Some(token) = self.tokens.get(next) {
            match token {
                Token::Newline { .. } | Token::Semicolon => {
                    end = Some(next);
                    break;
                }
                Token::Open { close, .. } => next = *close as usize,
                Token::Assign | Token::Augment(_) => last = Some(next),
                _ => {}
            }
            next += 1;
        }
        *known.insert(Statement { start, last, end })
    }

    /// Whether the name at a token is bound there, by the statement that begins at another: up to where it is not yet.
    fn binds_here(&self, statement: Statement, at: usize) -> Option<usize> {
        let start = statement.start;
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let after = self.tokens.get(at + 1);
        if matches!(before, Some(Token::Dot)) {
            return None;
        }
        let compound = matches!(
            self.tokens.get(start),
            Some(Token::Keyword(
                K::For
                    | K::With
                    | K::While
                    | K::If
                    | K::Elif
                    | K::Else
                    | K::Try
                    | K::Except
                    | K::Finally
                    | K::Async
            ))
        );
        let head = start.saturating_sub(1);
        // Patterns bind whatever names stand in them.
        if let Some(Token::Name(first)) = self.tokens.get(start).copied()
            && start < at
            && matches!(self.name(first), b"case" | b"match")
        {
            return Some(head);
        }
        // Loops and comprehensions, and what is bound as something.
        let mut back = at;
        while let Some(token) =
            back.checked_sub(1).filter(|back| *back >= start).and_then(|back| self.tokens.get(back))
        {
            match token {
                Token::Keyword(K::For | K::As) => return Some(head),
                // So many targets are none that anybody looks at.
                _ if at - back > MOST_TARGETS => return Some(head),
                Token::Name(_)
                | Token::Comma
                | Token::Open { kind: b'(' | b'[', .. }
                | Token::Operator(b'*') => {
                    back -= 1;
                }
                _ => break,
            }
        }
        if matches!(after, Some(Token::Walrus)) {
            return Some(head);
        }
        let Statement { last, end, .. } = statement;
        if last.is_none_or(|last| last < at) {
            // `name: type` alone binds nothing, but is seldom.
            return matches!(after, Some(Token::Colon)).then_some(()).filter(|()| at == start).map(|()| head);
        }
        // What stands in a subscript or a call, or has something behind it, is only used.
        let used = matches!(after, Some(Token::Dot | Token::Open { .. }))
            || matches!(before, Some(Token::Open { kind: b'[' | b'(', .. }))
                && at
                    .checked_sub(2)
                    .and_then(|before| self.tokens.get(before))
                    .is_some_and(|token| matches!(token, Token::Name(_) | Token::Close) && at - 2 >= start);
        match (used, compound) {
            (true, _) => None,
            (false, true) => Some(head),
            (false, false) => end.map(|end| end.saturating_sub(1)),
        }
    }
}
