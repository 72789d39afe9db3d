//! Statements (language reference, chapters 7 and 8). Which block a line belongs to does not matter, only whether it
//! surely runs.

use super::Reader;
use super::tokens::{Keyword as K, Token};
use super::value::{Object, Val};
use bumpalo::collections::Vec as BumpVec;

impl<'a> Reader<'_, '_, 'a> {
    /// All statements. `None` if one of them is none: the rest was read all the same.
    pub(super) fn statements(&mut self) -> Option<()> {
        let mut understood = Some(());
        while self.at < self.tokens.len() {
            if !self.walks_on() {
                return None;
            }
            match self.peek() {
                Token::Newline { column } => {
                    self.at += 1;
                    self.indented = column > 0;
                    self.in_class &= self.indented;
                    self.scopes.line(column);
                    self.inner = self.floor;
                    continue;
                }
                Token::Semicolon => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            let (depth, inner) = (self.depth, self.inner);
            self.wander();
            let before = match self.repeat() {
                Ok(()) => continue,
                Err(before) => before,
            };
            let read = self.statement();
            let ended = matches!(self.peek(), Token::Newline { .. } | Token::Semicolon)
                || matches!(self.tokens.get(self.at.wrapping_sub(1)), Some(Token::Colon));
            if read.is_none() || !ended {
                understood = None;
                self.depth = depth;
                self.skip_line();
            }
            // What follows a colon on the same line runs only if the condition before it holds.
            let colon = matches!(self.tokens.get(self.at.wrapping_sub(1)), Some(Token::Colon));
            self.inner = if colon { inner + 1 } else { inner };
            if let Some(before) = before {
                self.note(before);
            }
        }
        understood
    }

    fn skip_line(&mut self) {
        while self.at < self.tokens.len() && !matches!(self.peek(), Token::Newline { .. }) {
            self.at += 1;
        }
    }

    fn statement(&mut self) -> Option<()> {
        match self.peek() {
            Token::Keyword(keyword) => match keyword {
                K::Import => self.import(),
                K::From => self.import_from(),
                K::Def => self.function(),
                K::Class => self.class(),
                K::If | K::Elif | K::While => {
                    self.at += 1;
                    self.expression()?;
                    self.expect(Token::Colon)
                }
                K::Else | K::Try | K::Finally => {
                    self.at += 1;
                    self.expect(Token::Colon)
                }
                K::Except => self.except(),
                K::For => self.for_loop(),
                K::With => self.with(),
                K::Async => {
                    self.at += 1;
                    match self.peek() {
                        Token::Keyword(K::Def) => self.function(),
                        Token::Keyword(K::For) => self.for_loop(),
                        Token::Keyword(K::With) => self.with(),
                        _ => None,
                    }
                }
                K::Return => {
                    self.at += 1;
                    if !self.at_end() {
                        let val = self.expressions()?;
                        self.give_back(&val);
                    }
                    Some(())
                }
                K::Raise => {
                    self.at += 1;
                    if !self.at_end() {
                        self.expressions()?;
                        if self.take_keyword(K::From) {
                            self.expression()?;
                        }
                    }
                    Some(())
                }
                K::Assert => {
                    self.at += 1;
                    self.expressions().map(drop)
                }
                K::Del => {
                    self.at += 1;
                    self.deleting = true;
                    let read = self.targets(&Val::Data);
                    self.deleting = false;
                    read
                }
                K::Global => {
                    self.at += 1;
                    loop {
                        let name = self.take_name()?;
                        self.share(name);
                        if !self.take(Token::Comma) {
                            return Some(());
                        }
                    }
                }
                K::Break => {
                    self.at += 1;
                    Some(())
                }
                _ => self.simple(),
            },
            Token::Operator(b'@') => {
                self.at += 1;
                let val = self.expression()?;
                self.escape(&val);
                self.decorated = true;
                Some(())
            }
            Token::Name(sym) => match (self.name(sym), self.peek_at(1)) {
                (b"print" | b"exec", next) if starts_operand(next) => self.old_statement(),
                (b"match" | b"case", next) if starts_pattern(next) => self.soft_match(),
                // `match (a, b):`, `case [a, b]:`; a subscript or a call otherwise.
                (b"match", Token::Open { .. } | Token::Operator(_)) if self.has_block() => self.soft_match(),
                (b"case", Token::Open { .. } | Token::Operator(_)) if self.indented && self.has_block() => {
                    self.soft_match()
                }
                (b"type", Token::Name(_))
                    if matches!(self.peek_at(2), Token::Assign | Token::Open { .. }) =>
                {
                    self.at += 1;
                    self.simple()
                }
                _ => self.simple(),
            },
            _ => self.simple(),
        }
    }

    /// Whether the line has a colon of its own, and assigns nothing before it.
    fn has_block(&self) -> bool {
        let mut at = self.at + 1;
        loop {
            match self.tokens.get(at) {
                Some(Token::Colon) => return true,
                None | Some(Token::Newline { .. } | Token::Semicolon | Token::Assign | Token::Augment(_)) => {
                    return false;
                }
                Some(Token::Open { close, .. }) => at = *close as usize + 1,
                _ => at += 1,
            }
        }
    }

    /// Whether the statement ends here.
    pub(super) fn at_end(&self) -> bool {
        matches!(self.peek(), Token::Newline { .. } | Token::Semicolon)
    }

    /// What a function gives back is not followed to its callers.
    pub(super) fn give_back(&mut self, val: &Val<'a>) {
        match val {
            Val::OneOf(vals) => {
                for each in vals.iter() {
                    self.give_back(each);
                }
            }
            Val::Many(_) if !val.acts() => self.leak(val),
            _ => self.escape(val),
        }
    }

    /// `print "x"` and `exec "x"` of Python 2.
    fn old_statement(&mut self) -> Option<()> {
        let Token::Name(sym) = self.peek() else { return None };
        let executes = self.name(sym) == b"exec";
        self.at += 1;
        self.take(Token::Operator(b'R'));
        let val = self.expressions()?;
        if executes {
            self.execute(&val);
            if self.take_keyword(K::In) {
                self.expressions()?;
            }
        }
        self.report.prints(None);
        Some(())
    }

    /// `match subject:`, `case pattern if guard:`. All names of a pattern are bound.
    fn soft_match(&mut self) -> Option<()> {
        let Token::Name(sym) = self.peek() else { return None };
        let pattern = self.name(sym) == b"case";
        self.at += 1;
        if !pattern {
            let subject = self.expressions()?;
            self.escape(&subject);
            return self.expect(Token::Colon);
        }
        let from = self.at;
        let mut end = from;
        while !matches!(
            self.tokens.get(end),
            None | Some(Token::Newline { .. } | Token::Colon | Token::Keyword(K::If))
        ) {
            end = match self.tokens.get(end) {
                Some(Token::Open { close, .. }) => *close as usize + 1,
                _ => end + 1,
            };
        }
        for index in from..end {
            if let Some(Token::Name(sym)) = self.tokens.get(index).copied()
                && !matches!(
                    self.tokens.get(index + 1),
                    Some(Token::Dot | Token::Open { .. } | Token::Assign)
                )
                && !matches!(self.tokens.get(index.wrapping_sub(1)), Some(Token::Dot))
            {
                self.bind(sym, Val::Data);
            }
        }
        self.at = end;
        if self.take_keyword(K::If) {
            self.expression()?;
        }
        self.expect(Token::Colon)
    }

    /// An expression, or an assignment of any kind.
    fn simple(&mut self) -> Option<()> {
        let start = self.at;
        let (last, augmented) = self.assignments();
        if let Some(operator) = augmented {
            return self.augmented(start, operator);
        }
        let Some(last) = last else {
            // `name: type = value`, `name: type`, and `case [pattern]:`
            self.expressions()?;
            if self.take(Token::Colon) && !self.at_end() {
                self.expression()?;
            }
            return Some(());
        };
        self.at = last + 1;
        let val = self.expressions()?;
        let end = self.at;
        self.at = start;
        while self.at < last + 1 {
            self.targets(&val)?;
            if self.take(Token::Colon) {
                self.expression()?;
            }
            self.expect(Token::Assign)?;
        }
        self.at = end;
        if last == start + 1 && self.inner == self.floor {
            self.binds_targets(start, last, false);
        }
        Some(())
    }

    /// Where the last `=` of this statement is, or its augmented assignment.
    fn assignments(&self) -> (Option<usize>, Option<usize>) {
        let mut at = self.at;
        let mut last = None;
        let mut lambda = false;
        while let Some(token) = self.tokens.get(at) {
            match token {
                Token::Newline { .. } | Token::Semicolon => break,
                Token::Open { close, .. } => at = *close as usize,
                Token::Keyword(K::Lambda) => lambda = true,
                Token::Colon if lambda => lambda = false,
                Token::Assign if !lambda => last = Some(at),
                Token::Augment(_) => return (None, Some(at)),
                _ => {}
            }
            at += 1;
        }
        (last, None)
    }

    fn augmented(&mut self, start: usize, operator: usize) -> Option<()> {
        let old = self.expressions()?;
        if self.at != operator {
            return None;
        }
        let Token::Augment(sign) = self.peek() else { return None };
        self.at += 1;
        let val = self.expressions()?;
        let end = self.at;
        let new = if self.is_plain() {
            let hidden = self.hide_outgrown(&old);
            let new = self.operate(&old, sign, &val);
            self.outgrown.extend(hidden);
            new
        } else {
            // It may happen any number of times.
            self.grown(&old, &val)
        };
        match old {
            Val::Many(_) | Val::OneOf(_) => {
                if sign != b'+' {
                    self.scramble(&old);
                }
                self.grow(&old, &val, new);
            }
            Val::Object(Object::SearchPath) => self.search_path(&val),
            Val::Object(Object::Environment) => self.set_variables(&val),
            // It may be a list that was lost from sight.
            Val::Data if sign == b'+' && !matches!(val, Val::Number(_) | Val::Count | Val::Text(_)) => {
                self.change_leaked();
            }
            _ => {}
        }
        self.at = start;
        self.targets(&new)?;
        self.at = end;
        Some(())
    }

    /// `a, (b, *c), d.e, f[g]`: every target gets its part.
    pub(super) fn targets(&mut self, val: &Val<'a>) -> Option<()> {
        self.deeper(|reader| {
            // Most are one name.
            if let Token::Name(_) = reader.peek()
                && !matches!(reader.peek_at(1), Token::Comma | Token::Dot | Token::Open { .. })
            {
                return reader.target(val);
            }
            let mut parts: BumpVec<'a, (usize, bool)> = BumpVec::with_capacity_in(4, reader.report.arena);
            // The extent of each target first: a single one gets the whole.
            let mut several = false;
            loop {
                let star = reader.take(Token::Operator(b'*'));
                parts.push((reader.at, star));
                several |= star;
                reader.skip_target()?;
                if !reader.take(Token::Comma) {
                    break;
                }
                several = true;
                if !matches!(
                    reader.peek(),
                    Token::Name(_) | Token::Open { .. } | Token::Operator(b'*') | Token::Text(_)
                ) {
                    break;
                }
            }
            let end = reader.at;
            let stars = parts.iter().any(|(_, star)| *star);
            for (index, (at, star)) in parts.iter().enumerate() {
                reader.at = *at;
                let part = if several { reader.part(val, index, parts.len(), stars, *star) } else { *val };
                reader.target(&part)?;
            }
            reader.at = end;
            Some(())
        })
    }

    /// What the target at `index` of `count` gets.
    fn part(&self, val: &Val<'a>, index: usize, count: usize, stars: bool, star: bool) -> Val<'a> {
        if let Val::Many(items) = val
            && !stars
            && !items.pairs
            && let Some(all) = self.all_of(items)
            && all.len() == count
            && let Some(one) = all.get(index)
        {
            return *one;
        }
        if let Val::OneOf(vals) = val
            && !stars
        {
            let arena = self.report.arena;
            let each = vals.iter().map(|v| match v {
                Val::OneOf(_) => Val::Data,
                v => self.part(v, index, count, stars, star),
            });
            return super::value::any_of(arena, each).unwrap_or(Val::Data);
        }
        let one = self.elements(val);
        if star {
            let vals = self.report.arena.alloc_slice_copy(&[one]);
            return self.bag(self.at, vals);
        }
        one
    }

    /// Skips one target: a primary or a bracketed list.
    fn skip_target(&mut self) -> Option<()> {
        match self.peek() {
            Token::Name(_) | Token::Text(_) => self.at += 1,
            Token::Open { close, .. } => self.at = close as usize + 1,
            _ => return None,
        }
        loop {
            match self.peek() {
                Token::Dot => {
                    self.at += 1;
                    self.take_name()?;
                }
                Token::Open { kind: b'(' | b'[', close, .. } => self.at = close as usize + 1,
                _ => return Some(()),
            }
        }
    }

    /// One target.
    fn target(&mut self, val: &Val<'a>) -> Option<()> {
        if let Token::Open { kind: b'(' | b'[', close, .. } = self.peek()
            && !matches!(self.tokens.get(close as usize + 1), Some(Token::Dot | Token::Open { .. }))
        {
            self.at += 1;
            if self.at != close as usize {
                self.targets(val)?;
            }
            self.at = close as usize + 1;
            return Some(());
        }
        if let Token::Name(sym) = self.peek()
            && !matches!(self.peek_at(1), Token::Dot | Token::Open { .. })
        {
            self.at += 1;
            if self.deleting {
                self.unbind(sym);
            } else {
                self.bind(sym, *val);
            }
            return Some(());
        }
        let deleting = self.deleting;
        let read = self.stored(val);
        self.deleting = deleting;
        read
    }

    fn except(&mut self) -> Option<()> {
        self.at += 1;
        self.take(Token::Operator(b'*'));
        if self.peek() != Token::Colon {
            self.expressions()?;
            if self.take_keyword(K::As) {
                // It is bound to nothing after that.
                let name = self.take_name()?;
                self.bind(name, Val::Data);
            }
        }
        self.expect(Token::Colon)
    }

    /// `for targets in expressions:`
    fn for_loop(&mut self) -> Option<()> {
        self.at += 1;
        let targets = self.at;
        self.for_clause(false)?;
        self.expect(Token::Colon)?;
        let end = self
            .tokens
            .get(targets..self.at)
            .and_then(|all| all.iter().position(|t| *t == Token::Keyword(K::In)));
        self.binds_targets(targets, targets + end.unwrap_or(0), true);
        Some(())
    }

    /// `targets in expressions`, of a statement or a comprehension.
    pub(super) fn for_clause(&mut self, comprehension: bool) -> Option<()> {
        let targets = self.at;
        while !matches!(self.peek(), Token::Keyword(K::In)) {
            match self.peek() {
                Token::Newline { .. } | Token::Colon | Token::Close => return None,
                Token::Open { close, .. } => self.at = close as usize + 1,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let val = if comprehension { self.disjunction()? } else { self.expressions()? };
        let end = self.at;
        let one = match val {
            // One iterates over the keys of a dictionary.
            Val::Many(items) if items.pairs => self.keys_and_values(&val).0,
            _ => self.elements(&val),
        };
        self.at = targets;
        self.perhaps(|reader| reader.targets(&one))?;
        self.expect(Token::Keyword(K::In))?;
        self.at = end;
        Some(())
    }

    /// `with a as b, (c as d, e):`
    fn with(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let val = self.expression()?;
            if self.take_keyword(K::As) {
                self.targets_of_with(&val)?;
            }
            if !self.take(Token::Comma) {
                break;
            }
        }
        self.expect(Token::Colon)
    }

    /// The target after `as`: one, not a bare list.
    pub(super) fn targets_of_with(&mut self, val: &Val<'a>) -> Option<()> {
        let start = self.at;
        self.skip_target()?;
        let end = self.at;
        self.at = start;
        self.target(val)?;
        self.at = end;
        self.binds_targets(start, end, true);
        Some(())
    }
}

/// Whether what follows `print` or `exec` makes it a statement of Python 2.
fn starts_operand(token: Token<'_>) -> bool {
    match token {
        Token::Text(_) | Token::Name(_) | Token::Number(_) | Token::Operator(b'R') => true,
        Token::Open { kind, .. } => kind == b'f',
        _ => false,
    }
}

/// Whether what follows `match` or `case` makes it a statement, and not a name.
fn starts_pattern(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Text(_) | Token::Name(_) | Token::Number(_) | Token::Keyword(K::Constant | K::Nothing)
    )
}
