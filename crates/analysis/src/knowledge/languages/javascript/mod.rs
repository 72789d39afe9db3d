//! A reader of JavaScript, for the programs that are given to `node -e` and its like.
//!
//! It reads tokens, not the grammar, and vouches for a program only if every name in it is one that computes, one that
//! the program itself makes, or a member of a known module whose effect is recorded. What reaches code from data
//! (`constructor`, `eval`, prototypes) is refused wherever it stands. Items under names that are computed could be such
//! too: where a program has them, only functions that it spells out are called. Everything else is unread code.

mod acts;
mod hidden;
mod lexer;
mod names;
mod words;

use super::report::Report;
use lexer::{ARROW, CHANGE, GROW, Token};
use std::collections::{BTreeMap, BTreeSet};

/// The longest program that is read, in bytes.
const MAX_TEXT: usize = 128 << 10;

/// Most calls that act.
const MAX_ACTS: usize = 200;

/// A reader at work.
struct Reader<'r, 's, 'a> {
    report: &'r mut Report<'s, 'a>,
    tokens: Vec<Token<'a>>,
    /// For each bracket, the other one of the pair.
    pairs: Vec<usize>,
    /// For each token, whether it may stand in a pattern that takes things apart.
    patterns: Vec<bool>,
    /// For each token, whether the innermost brackets around it are braces.
    braces: Vec<bool>,
    names: names::Names<'a>,
    /// Something is taken from a container under a name that is computed.
    computed: bool,
    /// Calls that act.
    acts: usize,
}

/// Reads a program. What cannot be vouched for is recorded as code.
pub(super) fn read<'a>(report: &mut Report<'_, 'a>, text: &'a [u8]) {
    report.printed = None;
    let tokens = (text.len() <= MAX_TEXT).then(|| lexer::tokens(text)).flatten();
    let mut hides = false;
    let understood = tokens.and_then(|tokens| {
        let pairs = pairs(&tokens)?;
        hides = hidden::member(&tokens, &pairs);
        let names = names::Names::of(&tokens, &pairs)?;
        let (patterns, braces) = surroundings(&tokens, &pairs);
        let mut reader = Reader { report, tokens, pairs, patterns, braces, names, computed: false, acts: 0 };
        reader.subscripts()?;
        reader.program()
    });
    if understood.is_none() {
        report.unseen_code("javascript", report.text.origins);
        if hides {
            report.not_understood("a member of a module under a name that is computed");
        }
    }
}

/// The partner of each bracket; `None` if they do not match.
fn pairs(tokens: &[Token<'_>]) -> Option<Vec<usize>> {
    let mut pairs = vec![usize::MAX; tokens.len()];
    let mut open: Vec<(usize, Token<'_>)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let close = match token {
            Token::Sign(b'(') => Some(Token::Sign(b')')),
            Token::Sign(b'[') => Some(Token::Sign(b']')),
            Token::Sign(b'{') => Some(Token::Sign(b'}')),
            Token::Template => Some(Token::TemplateEnd),
            Token::Fill => Some(Token::Filled),
            _ => None,
        };
        if let Some(close) = close {
            open.push((at, close));
        } else if matches!(token, Token::Sign(b')' | b']' | b'}') | Token::TemplateEnd | Token::Filled) {
            let (from, expected) = open.pop()?;
            if expected != *token {
                return None;
            }
            *pairs.get_mut(from)? = at;
            *pairs.get_mut(at)? = from;
        }
    }
    open.is_empty().then_some(pairs)
}

/// What stands at a place among tokens; a semicolon stands beyond both ends.
fn token<'a>(tokens: &[Token<'a>], at: usize) -> Token<'a> {
    tokens.get(at).copied().unwrap_or(Token::Sign(b';'))
}

/// For each token, whether brackets around it may be a pattern (what is assigned to, or the parameters of a function),
/// and whether the innermost are braces.
fn surroundings(tokens: &[Token<'_>], pairs: &[usize]) -> (Vec<bool>, Vec<bool>) {
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut patterns = Vec::with_capacity(tokens.len());
    let mut braces = Vec::with_capacity(tokens.len());
    for (at, each) in tokens.iter().enumerate() {
        let (outer, braced) = open.last().copied().unwrap_or((false, false));
        match each {
            Token::Sign(b'(' | b'[' | b'{') | Token::Template | Token::Fill => {
                let before = at.checked_sub(1).map_or(Token::Sign(b';'), |at| token(tokens, at));
                let after = pairs.get(at).map_or(Token::Sign(b';'), |close| token(tokens, close + 1));
                let pattern = match each {
                    Token::Sign(b'(') => {
                        let control = matches!(before, Token::Name(b"if" | b"while" | b"for" | b"switch"));
                        after == ARROW || (after == Token::Sign(b'{') && !control)
                    }
                    _ => matches!(after, Token::Sign(b'=') | Token::Name(b"of" | b"in")),
                };
                open.push((outer || pattern, *each == Token::Sign(b'{')));
            }
            Token::Sign(b')' | b']' | b'}') | Token::TemplateEnd | Token::Filled => drop(open.pop()),
            _ => {}
        }
        patterns.push(outer);
        braces.push(braced);
    }
    (patterns, braces)
}

/// Whether a token that follows the body of a function ends the expression that it is: `function () { … }()` is what
/// the function gives, and `function () { … } && other` is the other.
fn ends_function(after: Token<'_>) -> bool {
    match after {
        Token::Sign(b';' | b',' | b')' | b']' | b'}') | Token::Filled => true,
        // The next statement, on a line of its own.
        Token::Name(name) => !matches!(name, b"in" | b"instanceof" | b"of"),
        _ => false,
    }
}

/// Where the body of the function begins whose keyword stands here.
fn function_body(tokens: &[Token<'_>], pairs: &[usize], at: usize) -> Option<usize> {
    let mut at = at + 1;
    at += usize::from(token(tokens, at) == Token::Sign(b'*'));
    at += usize::from(matches!(token(tokens, at), Token::Name(_)));
    if token(tokens, at) != Token::Sign(b'(') {
        return None;
    }
    let body = pairs.get(at)?.checked_add(1)?;
    (token(tokens, body) == Token::Sign(b'{')).then_some(body)
}

/// Whether a function is spelt out here, and is all of the expression.
fn is_function_literal(tokens: &[Token<'_>], pairs: &[usize], at: usize) -> bool {
    match token(tokens, at) {
        Token::Name(b"function") => function_body(tokens, pairs, at)
            .and_then(|body| pairs.get(body))
            .is_some_and(|close| ends_function(token(tokens, close.saturating_add(1)))),
        Token::Name(b"async") => is_function_literal(tokens, pairs, at + 1),
        Token::Name(_) => token(tokens, at + 1) == ARROW,
        Token::Sign(b'(') => pairs.get(at).is_some_and(|close| token(tokens, close + 1) == ARROW),
        _ => false,
    }
}

impl<'a> Reader<'_, '_, 'a> {
    fn token(&self, at: usize) -> Token<'a> {
        token(&self.tokens, at)
    }

    fn before(&self, at: usize) -> Token<'a> {
        at.checked_sub(1).map_or(Token::Sign(b';'), |at| self.token(at))
    }

    fn pair(&self, at: usize) -> Option<usize> {
        self.pairs.get(at).copied().filter(|other| *other != usize::MAX)
    }

    fn is_function(&self, at: usize) -> bool {
        is_function_literal(&self.tokens, &self.pairs, at)
    }

    /// Whether the bracket here takes an item, rather than making an array.
    fn is_subscript(&self, at: usize) -> bool {
        match self.before(at) {
            Token::Name(name) => {
                !words::is_keyword(name) || self.before(at.saturating_sub(1)) == Token::Sign(b'.')
            }
            Token::Sign(sign) => matches!(sign, b')' | b']' | b'Q' | b'}'),
            Token::Text(_) | Token::TemplateEnd | Token::Pattern => true,
            _ => false,
        }
    }

    /// Whether the item between these brackets has a number or a known name.
    fn is_plain_index(&self, at: usize, close: usize) -> Option<bool> {
        match (self.tokens.get(at + 1..close)?, self.before(at)) {
            (_, Token::Sign(b'}')) => None,
            ([Token::Text(text)], _) => {
                let text = (*text)?;
                (!words::leads_out(text)).then_some(!words::is_reached(text))
            }
            (inner, _) => Some(inner.iter().enumerate().all(|(index, token)| match token {
                Token::Number | Token::Sign(b'+' | b'-' | b'*' | b'/' | b'%' | b'.') => true,
                Token::Name(b"length") => {
                    index.checked_sub(1).and_then(|dot| inner.get(dot)) == Some(&Token::Sign(b'.'))
                }
                Token::Name(name) => self.names.numbers.contains(name) || is_measured(inner, index),
                _ => false,
            })),
        }
    }

    /// Looks whether items are taken under names that are computed.
    fn subscripts(&mut self) -> Option<()> {
        for at in 0..self.tokens.len() {
            if self.token(at) == Token::Sign(b'[') && self.is_subscript(at) {
                let close = self.pair(at)?;
                self.computed |= !self.is_plain_index(at, close)?;
            }
        }
        Some(())
    }

    /// The whole program.
    fn program(&mut self) -> Option<()> {
        let mut at = 0;
        while at < self.tokens.len() {
            let next = self.token(at + 1);
            match self.token(at) {
                Token::Name(name) => {
                    at = self.name(at, name)?;
                    continue;
                }
                Token::Text(text) if next == Token::Sign(b':') && self.is_key(at) => self.key(at, text?)?,
                Token::Sign(b'(') => self.parenthesis(at)?,
                Token::Sign(b'[') => self.bracket(at)?,
                Token::Template => match self.before(at) {
                    Token::Name(name) if words::is_keyword(name) => {}
                    Token::Name(_)
                    | Token::Sign(b')' | b']' | b'Q')
                    | Token::Text(_)
                    | Token::TemplateEnd => return None,
                    _ => {}
                },
                Token::Sign(b'Q') if matches!(next, Token::Sign(b'(') | Token::Template) => return None,
                _ => {}
            }
            at += 1;
        }
        Some(())
    }

    /// Whether what stands before a colon is the name of a property.
    fn is_key(&self, at: usize) -> bool {
        matches!(self.before(at), Token::Sign(b'{' | b','))
    }

    /// A property of an object that the program makes.
    fn key(&self, at: usize, name: &[u8]) -> Option<()> {
        if words::leads_out(name) && !words::is_accessor(name) {
            return None;
        }
        // `1 && other` is the other.
        let alone = matches!(self.token(at + 3), Token::Sign(b',' | b'}'));
        let literal = alone && matches!(self.token(at + 2), Token::Number | Token::Text(_));
        let plain = literal || self.is_function(at + 2);
        (!self.computed || plain || !words::is_reached(name)).then_some(())
    }

    /// Whether what stands here may be part of a pattern.
    fn is_pattern(&self, at: usize) -> bool {
        self.patterns.get(at).copied().unwrap_or(true)
    }

    /// Whether `{name}` or `{…, name}` stands here: a property that has the name of the variable that it holds.
    fn is_shorthand(&self, at: usize, next: Token<'a>) -> bool {
        self.is_key(at) && matches!(next, Token::Sign(b',' | b'}'))
    }

    /// A parenthesis that may be a call of what stands before it.
    fn parenthesis(&self, at: usize) -> Option<()> {
        match self.before(at) {
            Token::Sign(b')') => {
                let open = self.pair(at.checked_sub(1)?)?;
                match self.before(open) {
                    Token::Name(b"if" | b"while" | b"for") => return Some(()),
                    Token::Name(name) if !words::is_keyword(name) => return None,
                    Token::Sign(b')' | b']' | b'}' | b'Q') => return None,
                    _ => {}
                }
                // `(function () { … })()`: nothing but the function is in the parentheses.
                let body = self.pair(at.checked_sub(2)?)?;
                let whole = self.token(body) == Token::Sign(b'{')
                    && self.is_function(open + 1)
                    && self.heads(open + 1, body);
                whole.then_some(())
            }
            Token::Sign(b']' | b'Q')
            | Token::Text(_)
            | Token::Number
            | Token::Pattern
            | Token::TemplateEnd => None,
            _ => Some(()),
        }
    }

    /// Whether what begins here is a function whose body begins at `body`.
    fn heads(&self, at: usize, body: usize) -> bool {
        let at = at + usize::from(self.token(at) == Token::Name(b"async"));
        if self.token(at) == Token::Name(b"function") {
            return function_body(&self.tokens, &self.pairs, at) == Some(body);
        }
        match self.token(at) {
            Token::Name(_) => self.token(at + 1) == ARROW && at + 2 == body,
            Token::Sign(b'(') => {
                self.pair(at).is_some_and(|close| self.token(close + 1) == ARROW && close + 2 == body)
            }
            _ => false,
        }
    }

    /// A bracket: an item that is set under a computed name, or a computed key.
    fn bracket(&self, at: usize) -> Option<()> {
        let close = self.pair(at)?;
        if !self.is_subscript(at) {
            let key = self.is_key(at) && matches!(self.token(close + 1), Token::Sign(b':' | b'('));
            if key && (self.computed || self.is_pattern(at)) {
                // In a pattern it takes what lies under that name, whatever it is.
                return None;
            }
            return match self.tokens.get(at + 1..close)? {
                [Token::Text(text)] if key => {
                    text.is_some_and(|text| !words::leads_out(text) || words::is_accessor(text)).then_some(())
                }
                _ => Some(()),
            };
        }
        if self.token(close + 1) != Token::Sign(b'=') || self.is_plain_index(at, close)? {
            return Some(());
        }
        // What is set must not be something that was taken in the same way.
        let from = close + 2;
        let end = self.expression_end(from);
        let plain = match self.tokens.get(from..end)? {
            [Token::Number | Token::Text(_)] => true,
            [Token::Sign(b'['), Token::Sign(b']')] | [Token::Sign(b'{'), Token::Sign(b'}')] => true,
            [.., Token::Sign(b'+' | b'-' | b'*' | b'/'), Token::Number] => !self.chooses(from, end),
            _ => self.is_function(from),
        };
        plain.then_some(())
    }

    /// Whether an expression may be one of its parts as it is: `a || b`, `a ? b : c`.
    fn chooses(&self, from: usize, end: usize) -> bool {
        let mut at = from;
        while at < end {
            match self.token(at) {
                Token::Sign(b'|' | b'&' | b'?') => return true,
                Token::Sign(b'(' | b'[' | b'{') => at = self.pair(at).unwrap_or(at),
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// Where an expression that begins here ends at the latest.
    fn expression_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.tokens.len() {
            match self.token(at) {
                Token::Sign(b';' | b',' | b')' | b']' | b'}') | Token::Filled => break,
                Token::Sign(b'(' | b'[' | b'{') => at = self.pair(at).unwrap_or(at),
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// A name; gives where to go on.
    fn name(&mut self, at: usize, name: &'a [u8]) -> Option<usize> {
        let next = self.token(at + 1);
        if matches!(self.before(at), Token::Sign(b'.' | b'Q')) {
            return self.property(at, name, next);
        }
        if next == Token::Sign(b':') && self.is_key(at) {
            self.key(at, name)?;
            return Some(at + 1);
        }
        if self.computed
            && words::is_reached(name)
            && self.is_shorthand(at, next)
            && self.braces.get(at).copied().unwrap_or(true)
            && !self.names.functions.contains(name)
        {
            return None;
        }
        if name == b"require" {
            return self.require(at);
        }
        if let Some(module) = self.names.modules.get(name).copied() {
            return self.module(at, module);
        }
        if let Some((module, member)) = self.names.members.get(name).copied() {
            return self.member(at + 1, module, member);
        }
        if self.names.foreign.contains(name) {
            return self.foreign(at);
        }
        if words::leads_out(name) && !matches!(name, b"__dirname" | b"__filename") {
            return None;
        }
        if words::is_keyword(name) {
            return self.keyword(at, name, next);
        }
        if words::is_function(name) || words::is_constant(name) || name == b"fetch" {
            return if self.names.is_own(name) { None } else { self.global(at, name, next) };
        }
        if words::is_builtin_module(name) && !self.names.is_harmless_own(name) {
            return None;
        }
        if !self.names.is_own(name) {
            return None;
        }
        // A function of the program, or, where nothing could have brought in another, whatever it holds.
        let calls = matches!(next, Token::Sign(b'(') | Token::Template);
        (!calls || self.names.functions.contains(name) || (!self.computed && next == Token::Sign(b'(')))
            .then_some(at + 1)
    }

    fn keyword(&self, at: usize, name: &[u8], next: Token<'a>) -> Option<usize> {
        match (name, next) {
            (b"new", Token::Name(name)) => {
                (words::is_function(name) && !self.names.is_own(name) || name == b"Intl").then_some(at + 1)
            }
            (b"new", _) => None,
            _ => Some(at + 1),
        }
    }

    /// `.name`
    fn property(&mut self, at: usize, name: &'a [u8], next: Token<'a>) -> Option<usize> {
        if words::leads_out(name) && !(words::is_accessor(name) && next == Token::Sign(b'(')) {
            return None;
        }
        match next {
            Token::Sign(b'(') => {
                words::is_method(name).then_some(())?;
                self.callbacks(at + 1)?;
            }
            Token::Template => return None,
            Token::Sign(b'=') | Token::Name(b"of" | b"in") if self.computed && words::is_reached(name) => {
                return None;
            }
            // `[object.name] = …`
            _ if self.computed && words::is_reached(name) && self.is_pattern(at) => return None,
            _ => {}
        }
        Some(at + 1)
    }

    /// The arguments of a method that may call them: functions that are spelt out, if others could be there.
    fn callbacks(&self, open: usize) -> Option<()> {
        if !self.computed {
            return Some(());
        }
        for (from, end) in self.arguments(open)? {
            let plain = match self.tokens.get(from..end)? {
                [Token::Number | Token::Text(_) | Token::Pattern] => true,
                [Token::Name(name)] => {
                    self.names.functions.contains(name)
                        || (!self.names.is_own(name)
                            && (words::is_function(name) || words::is_constant(name)))
                        || !self.calls_back(open)
                }
                _ => self.is_function(from) || !self.calls_back(open),
            };
            if !plain {
                return None;
            }
        }
        Some(())
    }

    /// Whether the method whose arguments begin here calls what it is given.
    fn calls_back(&self, open: usize) -> bool {
        let Token::Name(name) = self.before(open) else { return true };
        !matches!(
            name,
            b"push"
                | b"includes"
                | b"indexOf"
                | b"has"
                | b"get"
                | b"add"
                | b"join"
                | b"slice"
                | b"padEnd"
                | b"padStart"
                | b"startsWith"
                | b"endsWith"
                | b"repeat"
                | b"concat"
                | b"split"
                | b"charAt"
                | b"at"
                | b"toFixed"
                | b"keys"
                | b"values"
                | b"entries"
                | b"substring"
                | b"substr"
                | b"localeCompare"
                | b"trim"
                | b"toString"
                | b"update"
                | b"digest"
                | b"set"
                | b"log"
                | b"error"
                | b"charCodeAt"
                | b"unshift"
        )
    }

    /// The extents of the arguments of a call; stands at the parenthesis.
    fn arguments(&self, open: usize) -> Option<Vec<(usize, usize)>> {
        let close = self.pair(open)?;
        let mut arguments = Vec::new();
        let mut from = open + 1;
        let mut at = from;
        while at < close {
            match self.token(at) {
                Token::Sign(b',') => {
                    arguments.push((from, at));
                    from = at + 1;
                }
                Token::Sign(b'(' | b'[' | b'{') | Token::Template => at = self.pair(at)?,
                _ => {}
            }
            at += 1;
        }
        if from < close {
            arguments.push((from, close));
        }
        Some(arguments)
    }

    /// A global of the language or of Node.
    fn global(&mut self, at: usize, name: &'a [u8], next: Token<'a>) -> Option<usize> {
        match (next, self.token(at + 2)) {
            (Token::Sign(b'.'), Token::Name(member)) => {
                if name == b"process" && member == b"env" {
                    return self.environment(at + 3);
                }
                if words::leads_out(member) || !words::is_static(name, member) {
                    return None;
                }
                if name == b"process" && matches!(member, b"stdout" | b"stderr" | b"stdin") {
                    return self.standard_stream(at + 3, member);
                }
                if self.token(at + 3) == Token::Sign(b'(') && name != b"console" {
                    self.callbacks(at + 3)?;
                }
                Some(at + 3)
            }
            (Token::Sign(b'('), _) if name == b"fetch" => self.perform(at + 1, words::Act::Connect),
            (Token::Sign(b'('), _) => {
                self.callbacks(at + 1)?;
                (words::is_function(name)).then_some(at + 1)
            }
            _ if matches!(name, b"process" | b"fetch" | b"Buffer" | b"console") => None,
            (Token::Sign(b'=') | CHANGE | GROW, _) => None,
            _ => Some(at + 1),
        }
    }
}

/// Whether `name.length` stands here as a number. What has that name may be anything, but an operator that only
/// calculates makes a number of it.
fn is_measured(tokens: &[Token<'_>], at: usize) -> bool {
    let calculates = |at: usize| matches!(tokens.get(at), Some(Token::Sign(b'-' | b'*' | b'/' | b'%')));
    tokens.get(at + 1) == Some(&Token::Sign(b'.'))
        && tokens.get(at + 2) == Some(&Token::Name(b"length"))
        && (calculates(at + 3) || at.checked_sub(1).is_some_and(calculates))
}

/// Names in a set, in order.
type Set<'a> = BTreeSet<&'a [u8]>;
/// What names stand for.
type Map<'a, T> = BTreeMap<&'a [u8], T>;
