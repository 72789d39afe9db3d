//! Functions, classes and lambdas: their parameters get what calls give them.

use super::Reader;
use super::arguments::Arguments;
use super::symbols::Sym;
use super::tokens::{Keyword as K, Token};
use super::value::Val;
use bumpalo::collections::Vec as BumpVec;

impl<'a> Reader<'_, '_, 'a> {
    /// `def name(parameters) -> type:`
    pub(super) fn function(&mut self) -> Option<()> {
        self.at += 1;
        let at = self.at;
        let name = self.take_name()?;
        self.skip_type_parameters();
        let Token::Open { kind: b'(', close, .. } = self.peek() else { return None };
        self.at += 1;
        let parameters = self.parameters(close as usize)?;
        self.at = close as usize + 1;
        if self.take(Token::Arrow) {
            self.expression()?;
        }
        self.expect(Token::Colon)?;
        let number = self.define(at, parameters);
        let text = self.name(name);
        let implicit = text.starts_with(b"__") && text != b"__init__" && text != b"__call__";
        if implicit || std::mem::take(&mut self.decorated) {
            self.escape(&Val::Local(number));
        }
        self.bind(name, Val::Local(number));
        self.begins_function(parameters);
        Some(())
    }

    /// `class name(bases):`
    pub(super) fn class(&mut self) -> Option<()> {
        self.at += 1;
        let at = self.at;
        let name = self.take_name()?;
        self.skip_type_parameters();
        self.decorated = false;
        if let Token::Open { kind: b'(', close, clause } = self.peek() {
            let arguments = self.arguments(close, clause, false)?;
            for val in arguments.all() {
                self.escape(val);
            }
            self.done_with(arguments);
        }
        self.expect(Token::Colon)?;
        let number = self.define(at, &[]);
        self.bind(name, Val::Local(number));
        self.begins_class();
        self.in_class = true;
        Some(())
    }

    fn skip_type_parameters(&mut self) {
        if let Token::Open { kind: b'[', close, .. } = self.peek() {
            self.at = close as usize + 1;
        }
    }

    /// `lambda parameters: expression`
    pub(super) fn lambda(&mut self) -> Option<Val<'a>> {
        self.deeper(|reader| {
            let at = reader.at;
            reader.at += 1;
            // The colon that ends the parameters: defaults may hold lambdas of their own only in parentheses here.
            let mut end = reader.at;
            while !matches!(reader.tokens.get(end)?, Token::Colon) {
                end = match reader.tokens.get(end)? {
                    Token::Open { close, .. } => *close as usize + 1,
                    Token::Newline { .. } | Token::Keyword(K::Lambda) => return None,
                    _ => end + 1,
                };
            }
            let parameters = reader.parameters(end)?;
            reader.at = end + 1;
            let number = reader.define(at, parameters);
            let val = reader.perhaps(Self::expression)?;
            reader.give_back(&val);
            Some(Val::Local(number))
        })
    }

    /// Parameters up to `end`; defaults are bound to them.
    fn parameters(&mut self, end: usize) -> Option<&'a [Sym]> {
        let mut syms = BumpVec::new_in(self.report.arena);
        while self.at < end {
            let starred = self.take(Token::Operator(b'*')) || self.take(Token::Operator(b'D'));
            if self.take(Token::Operator(b'/')) || (starred && self.peek() == Token::Comma) {
                self.take(Token::Comma);
                continue;
            }
            let sym = self.take_name()?;
            if starred {
                self.bind_parameter(sym, Val::Data);
            } else {
                syms.push(sym);
            }
            if self.at < end && self.take(Token::Colon) {
                self.expression()?;
            }
            if self.take(Token::Assign) {
                let val = self.expression()?;
                if val.acts() && !matches!(val, Val::Local(_)) {
                    // Who has the function has its defaults.
                    self.escape(&val);
                }
                self.bind_parameter(sym, val);
            }
            if self.at < end {
                self.expect(Token::Comma)?;
            }
        }
        (self.at == end).then_some(syms.into_bump_slice())
    }

    /// A function or class of the program is called.
    pub(super) fn call_local(&mut self, number: u32, arguments: &Arguments<'a>, method: bool) {
        let Some(parameters) = self.definitions.get(number as usize).copied() else { return };
        let first = parameters.first().map(|sym| self.name(*sym));
        let bound = matches!(first, Some(b"self" | b"cls"));
        let shifts: &[usize] = match (method, bound) {
            (_, true) => &[1],
            (true, false) => &[0, 1],
            (false, false) => &[0],
        };
        for shift in shifts {
            for (at, val) in arguments.positional.iter().enumerate() {
                match parameters.get(at + shift) {
                    Some(sym) => self.bind_parameter(*sym, *val),
                    None => self.escape(val),
                }
            }
        }
        for (name, val) in &arguments.named {
            match parameters.iter().find(|sym| self.name(**sym) == *name) {
                Some(sym) => self.bind_parameter(*sym, *val),
                None => self.escape(val),
            }
        }
        if arguments.open {
            for sym in parameters {
                self.bind_parameter(*sym, Val::Data);
            }
        }
    }

    /// A class is called: its `__init__` gets the arguments, and so does that of any other class.
    pub(super) fn construct(&mut self, arguments: &Arguments<'a>) {
        let sym = self.symbols.intern(b"__init__");
        let known = self.attribute_of_name(sym);
        let mut found = false;
        for each in known.iter().flat_map(|val| val.alternatives().to_vec()) {
            if let Val::Local(number) = each {
                found = true;
                self.call_local(number, arguments, true);
            }
        }
        if !found {
            for val in arguments.all() {
                self.escape(val);
            }
        }
    }
}
