//! Members of modules under names that are put together.

use super::lexer::Token;
use super::{Set, token, words};

/// Whether something is taken from a module of Node's that acts under a name that does not stand there, or all that it has is
/// gone through: whoever looks for what the program calls does not find it.
pub(super) fn member(tokens: &[Token<'_>], pairs: &[usize]) -> bool {
    let at = |at: usize| token(tokens, at);
    let acts =
        |at: usize| matches!(token(tokens, at), Token::Text(Some(module)) if words::is_acting_module(module));
    let is_required = |at: usize| {
        matches!(token(tokens, at), Token::Name(b"require" | b"import"))
            && token(tokens, at + 1) == Token::Sign(b'(')
            && acts(at + 2)
    };
    let mut held = Set::default();
    for index in 2..tokens.len() {
        let holder = match at(index) {
            // `import * as fs from "fs"`
            Token::Text(_) if acts(index) && at(index - 1) == Token::Name(b"from") => at(index - 2),
            // `fs = require("fs")`, `fs = await import("fs")`
            _ if is_required(index) => {
                let waits = usize::from(at(index - 1) == Token::Name(b"await"));
                match at(index - 1 - waits) {
                    Token::Sign(b'=') => index.checked_sub(2 + waits).map_or(Token::Number, at),
                    _ => continue,
                }
            }
            _ => continue,
        };
        if let Token::Name(name) = holder {
            held.insert(name);
        }
    }
    let subscript = |open: usize| {
        let open = open + usize::from(at(open) == Token::Sign(b'Q'));
        let close = pairs.get(open).copied().unwrap_or_default();
        at(open) == Token::Sign(b'[')
            && !matches!(tokens.get(open + 1..close), Some([Token::Text(Some(_))] | [Token::Number]))
    };
    tokens.iter().enumerate().any(|(index, each)| match each {
        Token::Name(_) if is_required(index) => {
            subscript(pairs.get(index + 1).copied().unwrap_or_default().saturating_add(1))
        }
        Token::Name(name) if held.contains(name) => {
            let gone_through = index >= 4
                && at(index - 1) == Token::Sign(b'(')
                && at(index - 3) == Token::Sign(b'.')
                && at(index - 4) == Token::Name(b"Object");
            subscript(index + 1) || gone_through
        }
        _ => false,
    })
}
