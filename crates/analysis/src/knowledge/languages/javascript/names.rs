//! What the names of a program are bound to, as far as the tokens tell.

use super::lexer::{ARROW, CHANGE, GROW, Token};
use super::{Map, Set, is_function_literal, token, words};

/// How often, on average, a token may be looked at inside of brackets.
const MAX_LOOKS: usize = 16;

/// Most names that are looked through for whether they only count.
const MAX_COUNTED: usize = 32;

/// The names of a program.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    /// Names that are declared or assigned.
    own: Set<'a>,
    /// Functions that the program spells out, bound once.
    pub(super) functions: Set<'a>,
    /// Modules by the names that hold them.
    pub(super) modules: Map<'a, &'a [u8]>,
    /// Members of modules by the names that hold them.
    pub(super) members: Map<'a, (&'a [u8], &'a [u8])>,
    /// What the project's own modules gave.
    pub(super) foreign: Set<'a>,
    /// Strings that never change.
    pub(super) texts: Map<'a, &'a [u8]>,
    /// Names that only ever hold numbers.
    pub(super) numbers: Set<'a>,
}

impl<'a> Names<'a> {
    /// Whether the program declares the name or gives it a value.
    pub(super) fn is_own(&self, name: &[u8]) -> bool {
        self.own.contains(name)
    }

    /// Whether a name of the program may be taken for that of a module without harm: none of these has a method that
    /// acts and that data has too.
    pub(super) fn is_harmless_own(&self, name: &[u8]) -> bool {
        matches!(
            name,
            b"url"
                | b"path"
                | b"os"
                | b"util"
                | b"events"
                | b"test"
                | b"constants"
                | b"buffer"
                | b"querystring"
                | b"stream"
                | b"assert"
                | b"sys"
                | b"domain"
                | b"timers"
        ) && self.is_own(name)
    }

    /// Collects the names of a program.
    pub(super) fn of(tokens: &[Token<'a>], pairs: &[usize]) -> Option<Self> {
        let mut names = Self::default();
        let mut assigned: Map<'a, u32> = Map::new();
        // Names of parameters and patterns.
        let mut grouped: Set<'a> = Set::new();
        let at_name = |at: usize| match token(tokens, at) {
            Token::Name(name) if !words::is_keyword(name) => Some(name),
            _ => None,
        };
        // Brackets in brackets are looked through more than once, but not without end.
        let mut fuel = tokens.len().saturating_mul(MAX_LOOKS);
        let mut in_group = |open: usize| {
            let close = pairs.get(open).copied().unwrap_or(open);
            fuel = fuel.checked_sub(close.saturating_sub(open))?;
            Some((open..close).filter_map(at_name).collect::<Vec<_>>())
        };
        for at in 0..tokens.len() {
            let before = at.checked_sub(1).map_or(Token::Sign(b';'), |at| token(tokens, at));
            match token(tokens, at) {
                Token::Name(name) if !matches!(before, Token::Sign(b'.' | b'Q')) => {
                    if matches!(name, b"const" | b"let" | b"var") {
                        match token(tokens, at + 1) {
                            Token::Name(name) => drop(names.own.insert(name)),
                            // What a pattern takes from `require` is told apart below.
                            Token::Sign(b'{' | b'[') if !requires(tokens, pairs, at + 1) => {
                                grouped.extend(in_group(at + 1)?);
                            }
                            _ => {}
                        }
                    }
                    if before == Token::Name(b"function") {
                        names.own.insert(name);
                        *assigned.entry(name).or_default() += 1;
                    }
                    let changed = matches!(token(tokens, at + 1), Token::Sign(b'=') | CHANGE | GROW);
                    if changed || before == CHANGE {
                        names.own.insert(name);
                        *assigned.entry(name).or_default() += 1;
                    }
                    if matches!(token(tokens, at + 1), Token::Name(b"of" | b"in")) {
                        names.own.insert(name);
                        *assigned.entry(name).or_default() += 2;
                    }
                    if token(tokens, at + 1) == ARROW {
                        grouped.insert(name);
                    }
                }
                // `[a, b] = …`, `({a} = …)`, `for ([a] of …)`
                Token::Sign(b'[' | b'{')
                    if pairs.get(at).is_some_and(|close| {
                        matches!(token(tokens, close + 1), Token::Sign(b'=') | Token::Name(b"of" | b"in"))
                    }) && !requires(tokens, pairs, at)
                        && !takes_item(tokens, pairs, at) =>
                {
                    grouped.extend(in_group(at)?);
                }
                Token::Sign(b'(') => {
                    let after = pairs.get(at).map_or(Token::Sign(b';'), |close| token(tokens, close + 1));
                    let control = matches!(before, Token::Name(b"if" | b"while" | b"for" | b"switch"));
                    if (after == ARROW || after == Token::Sign(b'{')) && !control {
                        grouped.extend(in_group(at)?);
                    }
                }
                _ => {}
            }
        }
        let mut counted = 0;
        let once =
            |name: &[u8]| assigned.get(name).is_some_and(|count| *count == 1) && !grouped.contains(name);
        for at in 0..tokens.len() {
            let Some(name) = at_name(at) else { continue };
            if at.checked_sub(1).is_some_and(|at| matches!(token(tokens, at), Token::Sign(b'.' | b'Q'))) {
                continue;
            }
            let declared = at.checked_sub(1).map_or(Token::Sign(b';'), |at| token(tokens, at));
            if declared == Token::Name(b"function") && once(name) {
                names.functions.insert(name);
            }
            let opens =
                matches!(declared, Token::Name(b"const" | b"let" | b"var") | Token::Sign(b',' | b';'));
            if token(tokens, at + 1) != Token::Sign(b'=') || !opens {
                continue;
            }
            let (value, after) = (token(tokens, at + 2), token(tokens, at + 3));
            let ended = ends(after);
            match value {
                Token::Text(Some(text)) if ended && once(name) => drop(names.texts.insert(name, text)),
                Token::Name(b"require") if once(name) => {
                    if let Some((module, member)) = required(tokens, at + 2) {
                        match (words::is_builtin_module(module), member) {
                            (true, None) => drop(names.modules.insert(name, module)),
                            (true, Some(member)) => drop(names.members.insert(name, (module, member))),
                            (false, None) if !module.ends_with(b".json") => drop(names.foreign.insert(name)),
                            _ => {}
                        }
                    }
                }
                Token::Number if ended && !grouped.contains(name) && counted < MAX_COUNTED => {
                    counted += 1;
                    if only_counts(tokens, name) {
                        names.numbers.insert(name);
                    }
                }
                _ if once(name) && is_function_literal(tokens, pairs, at + 2) => {
                    names.functions.insert(name);
                }
                _ => {}
            }
        }
        names.taken_apart(tokens, pairs, &assigned, &grouped);
        names.own.extend(grouped);
        Some(names)
    }

    /// `const {a, b: c} = require('fs')`
    fn taken_apart(
        &mut self,
        tokens: &[Token<'a>],
        pairs: &[usize],
        assigned: &Map<'a, u32>,
        grouped: &Set<'a>,
    ) {
        for at in 0..tokens.len() {
            if token(tokens, at) != Token::Sign(b'{') || !requires(tokens, pairs, at) {
                continue;
            }
            let Some(close) = pairs.get(at).copied() else { continue };
            let Some((module, None)) = required(tokens, close + 2) else { continue };
            let mut from = at + 1;
            while from < close {
                let Token::Name(member) = token(tokens, from) else { break };
                let (name, next) = match (token(tokens, from + 1), token(tokens, from + 2)) {
                    (Token::Sign(b':'), Token::Name(name)) => (name, from + 3),
                    _ => (member, from + 1),
                };
                if assigned.contains_key(name) || grouped.contains(name) {
                    break;
                }
                if words::is_builtin_module(module) {
                    self.members.insert(name, (module, member));
                } else {
                    self.foreign.insert(name);
                }
                from = next + 1;
            }
        }
    }
}

/// Whether the bracket here takes an item of what stands before it, rather than beginning a pattern.
fn takes_item(tokens: &[Token<'_>], pairs: &[usize], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    match token(tokens, before) {
        // `else [a] = …`
        Token::Name(name) => !words::is_keyword(name),
        Token::Sign(b']') => true,
        // `if (…) [a] = …`
        Token::Sign(b')') => {
            let open = pairs.get(before).and_then(|open| open.checked_sub(1));
            !open.is_some_and(|at| matches!(token(tokens, at), Token::Name(b"if" | b"while" | b"for")))
        }
        _ => false,
    }
}

/// Whether a pattern gets its parts from `require`.
fn requires(tokens: &[Token<'_>], pairs: &[usize], at: usize) -> bool {
    pairs.get(at).is_some_and(|close| {
        token(tokens, close + 1) == Token::Sign(b'=') && token(tokens, close + 2) == Token::Name(b"require")
    })
}

/// Whether a declaration ends with what stands before this.
fn ends(token: Token<'_>) -> bool {
    match token {
        Token::Sign(b';' | b',' | b'}') => true,
        Token::Name(name) => !matches!(name, b"in" | b"instanceof" | b"of"),
        _ => false,
    }
}

/// `require('module')`, perhaps with `.member`, and nothing more.
fn required<'a>(tokens: &[Token<'a>], at: usize) -> Option<(&'a [u8], Option<&'a [u8]>)> {
    let Token::Text(Some(module)) = token(tokens, at + 2) else { return None };
    if token(tokens, at + 1) != Token::Sign(b'(') || token(tokens, at + 3) != Token::Sign(b')') {
        return None;
    }
    match (token(tokens, at + 4), token(tokens, at + 5)) {
        (Token::Sign(b'.'), Token::Name(member)) if ends(token(tokens, at + 6)) => {
            Some((module, Some(member)))
        }
        (after, _) => ends(after).then_some((module, None)),
    }
}

/// Whether a name is only ever counted with: `let i = 0; i < n; i++`.
fn only_counts(tokens: &[Token<'_>], name: &[u8]) -> bool {
    (0..tokens.len()).filter(|at| token(tokens, *at) == Token::Name(name)).all(|at| {
        match (token(tokens, at + 1), token(tokens, at + 2), token(tokens, at + 3)) {
            (Token::Sign(b'='), Token::Number, after) => ends(after),
            (Token::Sign(b'='), ..) => false,
            (GROW, Token::Number, after) => ends(after) || after == Token::Sign(b')'),
            (GROW, ..) => false,
            (Token::Name(b"of" | b"in"), ..) => false,
            _ => true,
        }
    })
}
