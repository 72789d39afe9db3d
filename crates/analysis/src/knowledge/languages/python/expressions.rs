//! Expressions (language reference, chapter 6).

use super::Reader;
use super::acts::Act;
use super::symbols::Sym;
use super::tokens::{Keyword as K, Token};
use super::value::{Order, Val, join};
use crate::value::Origins;

impl<'a> Reader<'_, '_, 'a> {
    /// One expression, or a tuple without parentheses.
    pub(super) fn expressions(&mut self) -> Option<Val<'a>> {
        let start = self.at;
        let mut spread = self.is_star();
        let first = self.starred()?;
        if self.peek() != Token::Comma {
            return Some(first);
        }
        let mut vals = self.gathering();
        let mut order = Order::Exact;
        self.arrange(&mut vals, &mut order, first, spread);
        while self.take(Token::Comma) {
            if matches!(
                self.peek(),
                Token::Newline { .. } | Token::Semicolon | Token::Close | Token::Assign | Token::Colon
            ) || matches!(self.peek(), Token::Augment(_))
            {
                break;
            }
            spread = self.is_star();
            let val = self.starred()?;
            self.arrange(&mut vals, &mut order, val, spread);
        }
        let vals = self.gathered(vals);
        Some(self.ordered(start, vals, order))
    }

    /// `name := value`: in a generator, that may be at any time.
    fn bind_within(&mut self, sym: Sym, val: Val<'a>) {
        if !self.is_plain() {
            self.share(sym);
        }
        self.bind(sym, val);
    }

    pub(super) fn starred(&mut self) -> Option<Val<'a>> {
        if self.take(Token::Operator(b'*')) || self.take(Token::Operator(b'D')) {
            return self.binary(1);
        }
        self.expression()
    }

    /// One expression: a conditional, a lambda, an assignment expression, a `yield`.
    pub(super) fn expression(&mut self) -> Option<Val<'a>> {
        self.deeper(Self::expression_inner)
    }

    fn expression_inner(&mut self) -> Option<Val<'a>> {
        match self.peek() {
            Token::Keyword(K::Lambda) => return self.lambda(),
            Token::Keyword(K::Yield) => {
                self.at += 1;
                self.take_keyword(K::From);
                if !matches!(
                    self.peek(),
                    Token::Newline { .. } | Token::Semicolon | Token::Close | Token::Comma
                ) {
                    let val = self.expressions()?;
                    self.give_back(&val);
                }
                return Some(Val::Data);
            }
            Token::Name(sym) if self.peek_at(1) == Token::Walrus => {
                self.at += 2;
                let val = self.expression()?;
                self.bind_within(sym, val);
                return Some(val);
            }
            _ => {}
        }
        if let Some(val) = self.lone_atom() {
            return Some(val);
        }
        let val = self.disjunction()?;
        if !self.take_keyword(K::If) {
            return Some(val);
        }
        self.disjunction()?;
        self.expect(Token::Keyword(K::Else))?;
        let other = self.perhaps(Self::expression)?;
        Some(join(self.report.arena, val, other))
    }

    /// An atom that is the whole expression, as most arguments are.
    fn lone_atom(&mut self) -> Option<Val<'a>> {
        let atom = self.peek();
        let alone = matches!(
            atom,
            Token::Name(_)
                | Token::Number(_)
                | Token::Text(_)
                | Token::Ellipsis
                | Token::Keyword(K::Constant | K::Nothing)
        );
        if !alone || !self.peek_at(1).ends_expression() {
            return None;
        }
        self.at += 1;
        Some(match atom {
            Token::Name(sym) => self.read_name(sym),
            Token::Number(number) => number.map_or(Val::Data, Val::Number),
            Token::Text(text) => Val::Text(self.report.literal(text)),
            Token::Keyword(K::Nothing) => Val::Nothing,
            Token::Keyword(_) => Val::Count,
            _ => Val::Data,
        })
    }

    /// `a or b`, `a and b`: either.
    pub(super) fn disjunction(&mut self) -> Option<Val<'a>> {
        let mut val = if matches!(self.peek(), Token::Operator(_) | Token::Keyword(K::Not | K::Await)) {
            self.inversion()?
        } else {
            let val = self.primary(None)?;
            if self.peek().ends_expression() {
                return Some(val);
            }
            let val = self.operated(val, 0)?;
            self.compared(val)?
        };
        while self.take_keyword(K::Or) || self.take_keyword(K::And) {
            let other = self.perhaps(Self::inversion)?;
            val = join(self.report.arena, val, other);
        }
        Some(val)
    }

    fn inversion(&mut self) -> Option<Val<'a>> {
        let mut negated = false;
        while self.take_keyword(K::Not) {
            negated = true;
        }
        let val = self.comparison()?;
        Some(if negated { Val::Data } else { val })
    }

    fn comparison(&mut self) -> Option<Val<'a>> {
        let val = self.binary(0)?;
        self.compared(val)
    }

    /// The first operand of comparisons was read.
    fn compared(&mut self, mut val: Val<'a>) -> Option<Val<'a>> {
        loop {
            match self.peek() {
                Token::Compare | Token::Keyword(K::In) => self.at += 1,
                Token::Keyword(K::Is) => {
                    self.at += 1;
                    self.take_keyword(K::Not);
                }
                Token::Keyword(K::Not) if self.peek_at(1) == Token::Keyword(K::In) => self.at += 2,
                _ => return Some(val),
            }
            let other = self.binary(0)?;
            // A class of the program may be compared in a way of its own; others only look.
            for each in [val, other] {
                if matches!(each, Val::Act(_) | Val::Module(_) | Val::Many(_)) && each.acts() {
                    self.escape(&each);
                }
            }
            val = Val::Data;
        }
    }

    /// Operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Option<Val<'a>> {
        let val = self.unary()?;
        self.operated(val, level)
    }

    /// The first operand of such operators was read.
    fn operated(&mut self, mut val: Val<'a>, level: u8) -> Option<Val<'a>> {
        while let Token::Operator(sign) = self.peek() {
            let own = match sign {
                b'|' => 1,
                b'^' => 2,
                b'&' => 3,
                b'L' | b'R' => 4,
                b'+' | b'-' => 5,
                b'*' | b'/' | b'I' | b'%' | b'@' => 6,
                b'D' => 8,
                _ => return None,
            };
            if own < level {
                break;
            }
            self.at += 1;
            let other = self.deeper(|reader| reader.binary(if own == 8 { 7 } else { own + 1 }))?;
            val = self.operate(&val, sign, &other);
            val = self.in_bounds(val);
        }
        Some(val)
    }

    fn unary(&mut self) -> Option<Val<'a>> {
        match self.peek() {
            Token::Operator(b'+' | b'-' | b'~') => {
                self.at += 1;
                let val = self.deeper(|reader| reader.binary(7))?;
                Some(if matches!(val, Val::Number(_) | Val::Count) { Val::Count } else { Val::Data })
            }
            Token::Keyword(K::Await) => {
                self.at += 1;
                self.deeper(Self::unary)
            }
            _ => self.primary(None),
        }
    }

    /// A string, number, name, bracketed expression.
    fn atom(&mut self) -> Option<Val<'a>> {
        match self.peek() {
            Token::Name(sym) => {
                self.at += 1;
                Some(self.read_name(sym))
            }
            Token::Number(number) => {
                self.at += 1;
                Some(number.map_or(Val::Data, Val::Number))
            }
            Token::Text(_) | Token::Open { kind: b'f', .. } => self.text(),
            Token::Keyword(K::Nothing) => {
                self.at += 1;
                Some(Val::Nothing)
            }
            Token::Keyword(K::Constant) => {
                self.at += 1;
                Some(Val::Count)
            }
            Token::Ellipsis => {
                self.at += 1;
                Some(Val::Data)
            }
            Token::Open { kind, close, clause } => {
                let start = self.at;
                let val = self.deeper(|reader| match kind {
                    _ if clause != 0 => reader.comprehension(start, close, clause),
                    b'(' => reader.parenthesised(),
                    b'[' => reader.list(start, close),
                    b'{' => reader.display(start, close),
                    _ => None,
                })?;
                (self.at == close as usize).then_some(())?;
                self.at += 1;
                Some(val)
            }
            _ => None,
        }
    }

    fn parenthesised(&mut self) -> Option<Val<'a>> {
        let start = self.at;
        self.at += 1;
        if self.peek() == Token::Close {
            return Some(self.container(start, false, &[]));
        }
        let mut val = self.expressions()?;
        // `with (a as b, c as d):`
        while self.take_keyword(K::As) {
            self.targets_of_with(&val)?;
            if self.take(Token::Comma) && self.peek() != Token::Close {
                val = self.expression()?;
            }
        }
        Some(val)
    }

    /// `[element for targets in values if condition]`, in any brackets: the clauses first, then the element.
    pub(super) fn comprehension(&mut self, start: usize, close: u32, clause: u32) -> Option<Val<'a>> {
        self.at = clause as usize;
        let val = self.perhaps(|reader| {
            while reader.at < close as usize {
                reader.take_keyword(K::Async);
                if reader.take_keyword(K::For) {
                    reader.for_clause(true)?;
                } else if reader.take_keyword(K::If) {
                    reader.condition()?;
                } else {
                    return None;
                }
            }
            reader.at = start + 1;
            let spread = reader.is_star();
            let mut val = reader.starred()?;
            if spread {
                val = reader.elements(&val);
            }
            if reader.take(Token::Colon) {
                let more = reader.expression()?;
                val = join(reader.report.arena, val, more);
            }
            (reader.at == clause as usize).then_some(val)
        })?;
        self.at = close as usize;
        let vals = self.report.arena.alloc_slice_copy(&[val]);
        Some(self.bag(start, vals))
    }

    /// The condition of a comprehension, which has no `else`.
    fn condition(&mut self) -> Option<Val<'a>> {
        if let Token::Name(sym) = self.peek()
            && self.peek_at(1) == Token::Walrus
        {
            self.at += 2;
            let val = self.disjunction()?;
            self.bind_within(sym, val);
            return Some(val);
        }
        if self.peek() == Token::Keyword(K::Lambda) {
            return self.lambda();
        }
        self.disjunction()
    }

    /// An atom with what follows it: attributes, calls, subscripts. With `stored` the last of these is assigned to.
    fn primary(&mut self, stored: Option<&Val<'a>>) -> Option<Val<'a>> {
        let deleting = stored.is_some() && std::mem::take(&mut self.deleting);
        let mut val = self.atom()?;
        loop {
            match self.peek() {
                Token::Dot => {
                    self.at += 1;
                    let name = self.take_name()?;
                    let next = self.peek();
                    if let Token::Open { kind: b'(', close, clause } = next {
                        let arguments = self.arguments(close, clause, false)?;
                        val = self.method(&val, name, &arguments);
                        self.done_with(arguments);
                    } else if let Some(stored) = stored
                        && !matches!(next, Token::Dot | Token::Open { kind: b'[', .. })
                    {
                        if deleting {
                            self.delete_attribute(&val, name);
                        } else {
                            self.store_attribute(&val, name, stored);
                        }
                        return Some(Val::Data);
                    } else {
                        self.lost_reference(&val, self.name(name));
                        val = self.attribute(&val, name);
                    }
                }
                Token::Open { kind: b'(', close, clause } => {
                    // What is printed is asked for only where all of it may be known.
                    let prints = matches!(val, Val::Act(Act::Print));
                    let shown = prints && !(self.is_plain() && self.report.may_print());
                    let arguments = self.arguments(close, clause, shown)?;
                    val = self.call(&val, &arguments);
                    self.done_with(arguments);
                }
                Token::Open { kind: b'[', close, .. } => {
                    let container = val;
                    val = self.subscript(&container, close)?;
                    if let Some(stored) = stored
                        && !matches!(self.peek(), Token::Dot | Token::Open { kind: b'[' | b'(', .. })
                    {
                        if deleting {
                            self.scramble(&container);
                        } else {
                            self.store_item(&container, stored);
                        }
                        return Some(Val::Data);
                    }
                }
                _ => return stored.is_none().then_some(val),
            }
            val = self.in_bounds(val);
        }
    }

    /// Assigns to an attribute or an item.
    pub(super) fn stored(&mut self, val: &Val<'a>) -> Option<()> {
        self.deeper(|reader| reader.primary(Some(val))).map(drop)
    }

    /// `[index]`, `[from:to:step]`; stands at the bracket.
    fn subscript(&mut self, val: &Val<'a>, close: u32) -> Option<Val<'a>> {
        self.at += 1;
        let mut index = Val::Data;
        let mut slice = [None; 3];
        let mut colons = 0usize;
        let mut commas = false;
        let done = self.deeper(|reader| {
            while reader.at < close as usize {
                match reader.peek() {
                    Token::Colon => {
                        reader.at += 1;
                        colons += 1;
                    }
                    Token::Comma => {
                        reader.at += 1;
                        commas = true;
                    }
                    _ => {
                        let negative = reader.peek() == Token::Operator(b'-');
                        let from = reader.at;
                        let spread = reader.is_star();
                        index = reader.starred()?;
                        if spread {
                            index = Val::Data;
                        }
                        // The number itself, with its sign: of what is computed, the last token says nothing.
                        let literal = match reader.tokens.get(from..reader.at) {
                            Some([.., Token::Number(Some(n))])
                                if reader.at == from + 1 + usize::from(negative) =>
                            {
                                Some(if negative { -i64::from(*n) } else { i64::from(*n) })
                            }
                            _ => None,
                        };
                        if let Some(place) = slice.get_mut(colons) {
                            *place = Some(match (literal, index) {
                                (Some(n), _) => n,
                                (None, Val::Number(n)) => i64::from(n),
                                _ => i64::MAX,
                            });
                        }
                    }
                }
            }
            Some(())
        });
        done?;
        self.at = close as usize + 1;
        Some(self.item(val, &index, (colons > 0).then_some(slice), commas))
    }

    /// The origins of what an expression may hold.
    pub(super) fn origins(&self, val: &Val<'a>) -> Origins {
        match val {
            Val::Text(value) | Val::Path(value) => value.origins,
            Val::Number(_) => self.report.text.origins,
            _ => Origins::UNKNOWN,
        }
    }
}
