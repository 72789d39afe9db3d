//! Where a name that only Python 2 knows surely means what the program has bound it to.
//!
//! `file` is what most programs call a file, and Python 2 has a builtin of that name, which opens one. What a name may mean is
//! all that it is ever bound to and the builtin, so each such program would hand around what opens files. Inside the block
//! of a `with` or a `for` that binds the name, in a function whose parameter it is, and in a block after an assignment, it means no
//! builtin (language reference, 4.2.2), unless the program unbinds names.

use super::symbols::Sym;
use super::tokens::{ANY_COLUMN, Keyword as K, Token};
use super::{Pass, Reader};

/// Names in lines that are indented at least so far.
#[derive(Debug, Clone, Copy)]
struct Scope {
    column: u8,
    /// The name is bound.
    bound: bool,
    /// What is bound here is bound in a class, whose functions do not see it.
    class: bool,
}

/// Scopes around the line that is read, and what may unbind names.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    around: Vec<Scope>,
    /// How far the line is indented.
    column: u8,
    /// The program has something that may unbind a name; once that was looked for.
    unbinds: Option<bool>,
}

impl Scopes {
    /// A line begins.
    pub(super) fn line(&mut self, column: u8) {
        self.column = column;
        if column == ANY_COLUMN {
            self.around.clear();
        }
        while self.around.pop_if(|scope| scope.column > column).is_some() {}
    }

    /// The beginning, for another pass.
    pub(super) fn start_over(&mut self) {
        self.line(0);
        self.around.clear();
    }

    /// The end of a program that is part of this one. What it was told to unbind counts for both.
    pub(super) fn leave(&mut self, outer: Self) {
        let unbinds = self.unbinds;
        *self = Self { unbinds, ..outer };
    }

    fn in_class(&self, otherwise: bool) -> bool {
        self.around.last().map_or(otherwise, |scope| scope.class)
    }

    fn is_bound(&self) -> bool {
        self.around.last().is_some_and(|scope| scope.bound)
    }
}

impl Reader<'_, '_, '_> {
    fn is_old(&self, sym: Sym) -> bool {
        self.name(sym) == b"file"
    }

    /// A block begins below the line, or on it, in which this is bound.
    fn begins(&mut self, bound: bool, class: bool, deeper: bool) {
        let column = self.scopes.column.saturating_add(u8::from(deeper));
        if column < ANY_COLUMN {
            self.repeats.never_repeat();
            self.scopes.around.push(Scope { column, bound, class });
        }
    }

    /// The targets from one token to another are bound in the block that follows, or in what is left of this one.
    pub(super) fn binds_targets(&mut self, from: usize, to: usize, deeper: bool) {
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        // In a subscript, or a call, the name is used and not bound.
        let uses = |(at, token): (usize, &Token<'_>)| match token {
            Token::Open { kind: b'(', .. } => {
                matches!(tokens.get(at.wrapping_sub(1)), Some(Token::Name(_) | Token::Close | Token::Text(_)))
            }
            Token::Open { .. } => true,
            _ => false,
        };
        if tokens.iter().enumerate().any(uses) {
            return;
        }
        let plain = |at: usize| {
            !matches!(tokens.get(at.wrapping_sub(1)), Some(Token::Dot))
                && matches!(tokens.get(at + 1), None | Some(Token::Comma | Token::Close))
        };
        let found = tokens
            .iter()
            .enumerate()
            .any(|(at, token)| matches!(token, Token::Name(sym) if self.is_old(*sym) && plain(at)));
        if found && !self.scopes.in_class(self.in_class) {
            self.begins(true, false, deeper);
        }
    }

    /// A function begins.
    pub(super) fn begins_function(&mut self, parameters: &[Sym]) {
        let bound = parameters.iter().any(|sym| self.is_old(*sym));
        if bound || self.in_class || !self.scopes.around.is_empty() {
            self.begins(bound || self.scopes.is_bound(), false, true);
        }
    }

    /// A class begins. A name that it binds itself is looked for in it, and then among what is global.
    pub(super) fn begins_class(&mut self) {
        if !self.scopes.around.is_empty() {
            self.begins(false, true, true);
        }
    }

    /// Whether what Python itself means by a name is not meant here.
    pub(super) fn is_surely_bound(&mut self, sym: Sym) -> bool {
        self.scopes.is_bound() && self.is_old(sym) && !self.unbinds()
    }

    fn unbinds(&mut self) -> bool {
        if let Some(unbinds) = self.scopes.unbinds {
            return unbinds;
        }
        let unbinds = self.tokens.iter().any(|token| self.may_unbind(token));
        *self.scopes.unbinds.insert(unbinds)
    }

    /// Another program is part of this one, and may unbind what is bound here. Gives the scopes around what it has.
    pub(super) fn enter(&mut self, tokens: &[Token<'_>]) -> Scopes {
        if !self.unbinds() && tokens.iter().any(|token| self.may_unbind(token)) {
            self.scopes.unbinds = Some(true);
            // What was read before did not know.
            (self.learnt, self.unsettled, self.changed) = (true, true, true);
            if self.pass == Pass::Recording {
                self.lose();
            }
        }
        Scopes { unbinds: self.scopes.unbinds, ..Scopes::default() }
    }

    fn may_unbind(&self, token: &Token<'_>) -> bool {
        const WAYS: [&[u8]; 7] = [
            b"__builtins__",
            b"__delattr__",
            b"__dict__",
            b"__globals__",
            b"__main__",
            b"delattr",
            b"f_globals",
        ];
        match token {
            Token::Keyword(K::Del | K::Global) => true,
            Token::Name(sym) => WAYS.contains(&self.name(*sym)),
            _ => false,
        }
    }
}
