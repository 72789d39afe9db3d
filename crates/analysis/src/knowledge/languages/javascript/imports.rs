//! Declarations that import: `import fs from 'fs'`, `import * as fs from 'fs'`, `import {a, b as c} from 'fs'`.

use super::lexer::Token;
use super::names::{Names, ends};
use super::{Reader, token, words};

/// A declaration that imports.
struct Import<'a> {
    /// The names that it makes, each with the member that it holds; without one it holds all of the module.
    bound: Vec<(&'a [u8], Option<&'a [u8]>)>,
    module: &'a [u8],
    /// The token behind it.
    after: usize,
}

/// The declaration whose keyword stands here, if it is one of those above.
fn import<'a>(tokens: &[Token<'a>], at: usize) -> Option<Import<'a>> {
    let plain = |at: usize| match token(tokens, at) {
        Token::Name(name) if !words::is_keyword(name) && !words::leads_out(name) && name != b"require" => {
            Some(name)
        }
        _ => None,
    };
    let word = |at: usize, word: &[u8]| token(tokens, at) == Token::Name(word);
    let mut bound = Vec::new();
    let mut from = at + 1;
    match token(tokens, from) {
        // For what it does when it is loaded.
        Token::Text(_) => from -= 1,
        Token::Sign(b'*') => {
            bound.push((plain(from + 2).filter(|_| word(from + 1, b"as"))?, None));
            from += 3;
        }
        Token::Sign(b'{') => {
            from += 1;
            while token(tokens, from) != Token::Sign(b'}') {
                let member = plain(from)?;
                let (name, next) = match word(from + 1, b"as") {
                    true => (plain(from + 2)?, from + 3),
                    false => (member, from + 1),
                };
                bound.push((name, Some(member)));
                from = match token(tokens, next) {
                    Token::Sign(b',') => next + 1,
                    Token::Sign(b'}') => next,
                    _ => return None,
                };
            }
            from += 1;
        }
        _ => {
            bound.push((plain(from)?, None));
            from += 1;
        }
    }
    if !bound.is_empty() && !word(from, b"from") {
        return None;
    }
    let Token::Text(Some(module)) = token(tokens, from + 1) else { return None };
    // An address holds code itself, or names it elsewhere.
    if !words::is_builtin_module(module) && module.iter().any(|byte| b":#?%".contains(byte)) {
        return None;
    }
    let after = from + 2;
    ends(token(tokens, after)).then_some(Import { bound, module, after })
}

impl<'a> Names<'a> {
    /// What imported names hold. `changed`: whether the program gives a name a value elsewhere.
    pub(super) fn imported(&mut self, tokens: &[Token<'a>], changed: impl Fn(&[u8]) -> bool) {
        for at in 0..tokens.len() {
            if token(tokens, at) != Token::Name(b"import") {
                continue;
            }
            let Some(import) = import(tokens, at) else { continue };
            for (name, member) in import.bound {
                // Twice, it is another thing the second time.
                if changed(name) || self.is_own(name) || self.is_imported(name) {
                    self.forget(name);
                    continue;
                }
                match (words::is_builtin_module(import.module), member) {
                    (true, None) => drop(self.modules.insert(name, import.module)),
                    (true, Some(member)) => drop(self.members.insert(name, (import.module, member))),
                    (false, _) => drop(self.foreign.insert(name)),
                }
            }
        }
    }

    fn is_imported(&self, name: &[u8]) -> bool {
        self.modules.contains_key(name) || self.members.contains_key(name) || self.foreign.contains(name)
    }

    fn forget(&mut self, name: &[u8]) {
        self.modules.remove(name);
        self.members.remove(name);
        self.foreign.remove(name);
    }
}

impl Reader<'_, '_, '_> {
    /// `import …`; gives where to go on.
    pub(super) fn import(&mut self, at: usize) -> Option<usize> {
        let import = import(&self.tokens, at)?;
        let held = |name: &[u8], member: Option<&[u8]>| match member {
            None => self.names.modules.get(name).copied() == Some(import.module),
            Some(member) => self.names.members.get(name).copied() == Some((import.module, member)),
        };
        if words::is_builtin_module(import.module) {
            let all = import.bound.iter().all(|(name, member)| held(name, *member));
            return all.then_some(import.after);
        }
        if import.module.ends_with(b".json")
            || !import.bound.iter().all(|(name, _)| self.names.foreign.contains(name))
        {
            return None;
        }
        self.loads(import.module)?;
        Some(import.after)
    }
}
