//! The tokens of PHP (the manual's chapters on types, variables, expressions and operators).

use super::{MAX_TOKENS, MEMBER, Token, quoted};

/// Splits a program into tokens; `None` if it is not understood.
pub(super) fn tokens(text: &[u8]) -> Option<Vec<Token<'_>>> {
    let trimmed = text.trim_ascii_start();
    let code = trimmed.strip_prefix(b"<?php").unwrap_or(text);
    // What stands outside of the tags is printed, and may hold more of them.
    if code.windows(2).any(|two| matches!(two, b"<?" | b"?>")) {
        return None;
    }
    let mut found = Vec::new();
    let rest = code_until(code, None, &mut found)?;
    rest.is_empty().then_some(found)
}

/// The tokens up to a brace that closes what was open; gives what is left.
fn code_until<'a>(text: &'a [u8], until: Option<u8>, found: &mut Vec<Token<'a>>) -> Option<&'a [u8]> {
    let mut rest = text;
    let mut depth = 0usize;
    while let Some((&first, after)) = rest.split_first() {
        if found.len() >= MAX_TOKENS {
            return None;
        }
        let (token, length) = match (first, after) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {
                rest = after;
                continue;
            }
            // Attributes begin in the same way.
            (b'#', [b'[', ..]) => return None,
            (b'#', _) | (b'/', [b'/', ..]) => {
                rest = rest.get(
                    rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())..,
                )?;
                continue;
            }
            (b'/', [b'*', ..]) => {
                let end = rest.windows(2).skip(2).position(|two| two == b"*/")? + 4;
                rest = rest.get(end..)?;
                continue;
            }
            (b'\'', _) => {
                let inner = quoted(after, b'\'')?;
                (Token::Text(stands_as_it_is(inner).then_some(inner)), inner.len() + 2)
            }
            (b'"', _) => {
                let inner = quoted(after, b'"')?;
                rest = after.get(inner.len() + 1..)?;
                string(inner, found)?;
                continue;
            }
            (b'`' | b'\\', _) if first == b'`' || matches!(found.last(), Some(Token::Word(_))) => {
                // `new \DateTime` is the class of that name.
                let named = matches!(found.last(), Some(Token::Word(word)) if matches!(word.to_ascii_lowercase().as_slice(), b"new" | b"instanceof" | b"throw" | b"echo" | b"return" | b"print"));
                if first == b'`' || !named {
                    return None;
                }
                rest = after;
                continue;
            }
            (b'\\', _) => {
                rest = after;
                continue;
            }
            (b'$', _) => {
                let length = name(after);
                if length == 0 {
                    return None;
                }
                (Token::Variable(rest.get(..length + 1)?), length + 1)
            }
            (b'0'..=b'9', _) => (Token::Number, number(rest)),
            (b'.', [b'0'..=b'9', ..]) => (Token::Number, 1 + number(after)),
            (b'-', [b'>', ..]) | (b':', [b':', ..]) | (b'=', [b'>', ..]) => {
                let sign = match first {
                    b'-' => MEMBER,
                    b':' => Token::Sign(b':'),
                    _ => Token::Sign(b'>'),
                };
                (sign, 2)
            }
            (b'?', [b'-', b'>', ..]) => (MEMBER, 3),
            // Arguments that stand in a list, and functions by their names.
            (b'.', [b'.', b'.', ..]) | (b'<', [b'<', b'<', ..]) => return None,
            (b'=', [b'=', b'=', ..]) => (Token::Sign(b'O'), 3),
            (b'=', [b'=', ..]) => (Token::Sign(b'O'), 2),
            (b'{', _) => {
                depth += 1;
                (Token::Sign(b'{'), 1)
            }
            (b'}', _) if depth == 0 => return (until == Some(b'}')).then_some(after),
            (b'}', _) => {
                depth -= 1;
                (Token::Sign(b'}'), 1)
            }
            (b'(' | b')' | b'[' | b']' | b',' | b';' | b'=', _) => (Token::Sign(first), 1),
            (
                b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'!' | b'&' | b'|' | b'^' | b'~' | b'?'
                | b':' | b'.' | b'@',
                _,
            ) => (Token::Sign(b'O'), 1),
            _ => match name(rest) {
                0 => return None,
                length => (Token::Word(rest.get(..length)?), length),
            },
        };
        found.push(token);
        rest = rest.get(length..)?;
    }
    until.is_none().then_some(rest)
}

/// How long the name is that stands at the beginning.
fn name(text: &[u8]) -> usize {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if text.first().is_some_and(u8::is_ascii_digit) { 0 } else { length }
}

fn number(text: &[u8]) -> usize {
    let digits = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let whole = text.iter().take_while(digits).count();
    match text.get(whole..) {
        Some([b'.', b'0'..=b'9', ..]) => {
            let after = text.get(whole + 1..).unwrap_or_default();
            whole + 1 + after.iter().take_while(digits).count()
        }
        _ => whole,
    }
}

/// Whether every backslash stands for itself, in either kind of quotes: it does before these.
fn stands_as_it_is(text: &[u8]) -> bool {
    let mut after = text.iter().zip(text.iter().skip(1).chain([&b'\\']));
    after.all(|(byte, next)| *byte != b'\\' || b"sSdDwWbB.*+?()[]|/^-".contains(next))
}

/// The text of a string in double quotes, and the code in it.
fn string<'a>(inner: &'a [u8], found: &mut Vec<Token<'a>>) -> Option<()> {
    if !inner.iter().any(|byte| matches!(byte, b'$' | b'{')) && stands_as_it_is(inner) {
        found.push(Token::Text(Some(inner)));
        return Some(());
    }
    found.push(Token::Text(None));
    let mut rest = inner;
    while let Some((&first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'\\', _) => after.get(1..).unwrap_or_default(),
            (b'$', [b'{', ..]) => return None,
            // A closing brace in a string of that code would be taken for its end.
            (b'{', [b'$', ..]) => code_until(after, Some(b'}'), found)?,
            (b'$', _) if name(after) > 0 => {
                let length = name(after) + 1;
                found.push(Token::Variable(rest.get(..length)?));
                rest.get(length..)?
            }
            _ => after,
        };
    }
    found.push(Token::Text(None));
    Some(())
}
