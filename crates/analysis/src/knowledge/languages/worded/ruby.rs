//! The tokens of Ruby (doc/syntax). Where the grammar decides what a character begins, and the token before it does not tell,
//! nothing is read.

use super::words::RUBY;
use super::{END, MAX_TOKENS, MEMBER, OPEN, Token, may_be_letters, quoted};

/// Splits a program into tokens; `None` if it is not understood.
pub(super) fn tokens(text: &[u8]) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::new();
    // These begin what is no code, or end it.
    let special = |line: &[u8]| line.starts_with(b"=begin") || line.starts_with(b"__END__");
    if text.split(|byte| *byte == b'\n').any(special) {
        return None;
    }
    // Options may stand behind such a sign (ruby(1)).
    if may_be_letters(text) || text.starts_with(b"#!") {
        return None;
    }
    let rest = code_until(text, false, 0, &mut found)?;
    rest.is_empty().then_some(found)
}

/// Deepest nesting of code in strings.
const MAX_DEPTH: u32 = 8;

/// Whether a value ends with a token. `None`: that depends on what its name means.
fn ends_value(token: Option<&Token<'_>>) -> Option<bool> {
    match token {
        None => Some(false),
        Some(Token::Word(word)) if begins_value(word) => Some(false),
        Some(Token::Word(b"end" | b"self" | b"true" | b"false" | b"nil")) => Some(true),
        Some(Token::Word(_)) => None,
        Some(Token::Label) => Some(false),
        Some(Token::Sign(sign)) => Some(matches!(sign, b')' | b']' | b'}')),
        Some(Token::Variable(_) | Token::Symbol(_) | Token::Number | Token::Text(_) | Token::Pattern) => {
            Some(true)
        }
    }
}

/// Words behind which a value begins.
fn begins_value(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 15] = [
        b"if", b"elsif", b"unless", b"while", b"until", b"and", b"or", b"not", b"when", b"case", b"return",
        b"then", b"do", b"else", b"in",
    ];
    WORDS.contains(&word)
}

/// Whether an operator stands here and not the beginning of a value: `x / 2`, `puts /x/`. `None` if that is not known.
fn is_operator(
    before: Option<&Token<'_>>,
    member: bool,
    blank_before: bool,
    blank_after: bool,
) -> Option<bool> {
    match ends_value(before) {
        Some(false) if matches!(before, Some(Token::Word(_))) => {
            (blank_before && !blank_after).then_some(false)
        }
        Some(known) => Some(known),
        // What is called without parentheses takes what stands behind a blank.
        None if blank_before && !blank_after => None,
        None if member || !matches!(before, Some(Token::Word(word)) if RUBY.is_function(word)) => Some(true),
        None => None,
    }
}

/// The tokens up to the brace that closes a piece of code in a string, or all; gives what is left.
fn code_until<'a>(text: &'a [u8], inner: bool, depth: u32, found: &mut Vec<Token<'a>>) -> Option<&'a [u8]> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut rest = text;
    let mut braces = 0usize;
    // Of each parenthesis that is open, whether it is that of a function's parameters: behind them a value begins.
    let mut parameters = Vec::new();
    let mut headed = None;
    // There may be a condition with two halves.
    let mut halves = depth > 0;
    while let Some((&first, after)) = rest.split_first() {
        if found.len() >= MAX_TOKENS {
            return None;
        }
        let place = text.len() - rest.len();
        let blank_before =
            place.checked_sub(1).and_then(|at| text.get(at)).is_none_or(u8::is_ascii_whitespace);
        let blank_after = after.first().is_none_or(u8::is_ascii_whitespace);
        let last = found.last().copied();
        let member = found.len() >= 2 && found.get(found.len() - 2) == Some(&MEMBER);
        let operator = || is_operator(last.as_ref(), member, blank_before, blank_after);
        if headed == Some(found.len()) && b"/%?:<".contains(&first) {
            return None;
        }
        let (token, length) = match (first, after) {
            (b' ' | b'\t' | b'\r', _) => {
                rest = after;
                continue;
            }
            (b'\n', _) => {
                // All of a gap at once: however long it is, it is looked at once.
                rest = after.trim_ascii_start();
                // A list goes on, and so does a call whose member stands on the next line.
                let goes_on = matches!(last, None | Some(END | Token::Sign(b',' | b'(' | b'[')))
                    || rest.starts_with(b".");
                if !goes_on {
                    found.push(END);
                }
                continue;
            }
            (b'#', _) => {
                rest = rest.get(rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())..)?;
                continue;
            }
            (b'\'', _) => {
                let text = quoted(after, b'\'')?;
                (Token::Text((!text.contains(&b'\\')).then_some(text)), text.len() + 2)
            }
            (b'"', _) => {
                rest = string(after, b'"', depth, found)?;
                // `"name": value` in a hash is a symbol.
                continue;
            }
            (b'/', _) => match operator()? {
                true => (Token::Sign(b'O'), 1),
                false => {
                    found.push(Token::Pattern);
                    rest = string(after, b'/', depth, found)?;
                    rest = rest.get(rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()..)?;
                    continue;
                }
            },
            (b'%', _) => match operator()? {
                true => (Token::Sign(b'O'), 1),
                false => {
                    let [b'w' | b'i', open @ (b'[' | b'(' | b'{'), words @ ..] = after else { return None };
                    let close = match open {
                        b'[' => b']',
                        b'(' => b')',
                        _ => b'}',
                    };
                    let end = words.iter().position(|byte| *byte == close)?;
                    let plain = |byte: &u8| !matches!(byte, b'\\' | b'[' | b'(' | b'{');
                    if !words.get(..end)?.iter().all(plain) {
                        return None;
                    }
                    (Token::Text(None), end + 4)
                }
            },
            // Behind the name of a method it is a letter: `x.sort!?a`.
            (b'?', _) if !blank_after && ends_value(last.as_ref()).is_none() => return None,
            (b'?', _) => match operator()? {
                true => {
                    halves = true;
                    (Token::Sign(b'?'), 1)
                }
                false => return None,
            },
            // A here-document may begin so.
            (b'<', [b'<', next, ..])
                if next.is_ascii_alphabetic() || matches!(next, b'_' | b'~' | b'-' | b'"' | b'\'' | b'`') =>
            {
                return None;
            }
            (b'`', _) => return None,
            (b'$', [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..]) => {
                let length = name(after) + 1;
                (Token::Variable(rest.get(..length)?), length)
            }
            (
                b'$',
                [
                    b'0'..=b'9'
                    | b'!'
                    | b'@'
                    | b'&'
                    | b'~'
                    | b'.'
                    | b'<'
                    | b'?'
                    | b'$'
                    | b':'
                    | b'"'
                    | b','
                    | b'/'
                    | b';'
                    | b'\\'
                    | b'+',
                    ..,
                ],
            ) => (Token::Variable(rest.get(..2)?), 2),
            (b'@', _) => {
                let signs = rest.iter().take_while(|byte| **byte == b'@').count();
                let length = name(rest.get(signs..)?);
                if signs > 2 || length == 0 {
                    return None;
                }
                (Token::Variable(rest.get(..signs + length)?), signs + length)
            }
            (b'0'..=b'9', _) => (Token::Number, number(rest)?),
            // Else it is a call, whose name may be a sign or a word of the language.
            (b':', [b':', b'A'..=b'Z', ..]) => (Token::Sign(b':'), 2),
            (b':', [b':', ..]) => return None,
            // Behind a value it is the other half of a condition, `x ? y :z`, and nothing of that is a symbol.
            (b':', [next, ..]) if !next.is_ascii_whitespace() && ends_value(last.as_ref()) == Some(true) => {
                (Token::Sign(b'O'), 1)
            }
            (b':', [next, ..])
                if !next.is_ascii_whitespace() && ends_value(last.as_ref()).is_none() && halves =>
            {
                return None;
            }
            (b':', [b'"', ..]) => {
                let (token, length) = symbol_in_quotes(rest)?;
                (token, length)
            }
            (b':', [next, ..]) if next.is_ascii_alphabetic() || *next == b'_' => {
                let length = word(after);
                // `:name=` may be all of it.
                if let Some([b'=', next, ..]) = after.get(length..)
                    && !matches!(next, b'>' | b'~' | b'=')
                {
                    return None;
                }
                (Token::Symbol(after.get(..length)?), length + 1)
            }
            // `inject(:+)`
            (b':', [sign @ (b'+' | b'*' | b'-' | b'|' | b'&'), b')', ..]) => {
                let _ = sign;
                (Token::Symbol(after.get(..1)?), 2)
            }
            (b':', [next, ..]) if *next != b'\'' && !next.is_ascii_whitespace() => return None,
            (b':', _) => (Token::Sign(b'O'), 1),
            (b'-', [b'>', ..]) => (Token::Sign(b'O'), 2),
            (b'=', [b'>', ..]) => (Token::Sign(b'>'), 2),
            (b'=', [b'=' | b'~', ..]) => {
                (Token::Sign(b'O'), 1 + after.iter().take_while(|byte| matches!(byte, b'=' | b'~')).count())
            }
            (b'&', [b'.', ..]) => (MEMBER, 2),
            (b'&', [b'&', ..]) | (b'|', [b'|', ..]) => (Token::Sign(b'O'), 2),
            (b'&', [b':', ..]) => (Token::Sign(b'&'), 1),
            (b'&', _) => match ends_value(last.as_ref()) {
                Some(true) => (Token::Sign(b'O'), 1),
                None if blank_before && blank_after => (Token::Sign(b'O'), 1),
                _ => (Token::Sign(b'&'), 1),
            },
            (b'.', [b'.', b'.', ..]) => (Token::Sign(b'O'), 3),
            (b'.', [b'.', ..]) => (Token::Sign(b'O'), 2),
            (b'.', _) => (MEMBER, 1),
            (b'{', _) => {
                braces += 1;
                (Token::Sign(b'{'), 1)
            }
            (b'}', _) if braces == 0 => return inner.then_some(after),
            (b'}', _) => {
                braces -= 1;
                (Token::Sign(b'}'), 1)
            }
            (b'(' | b')' | b'[' | b']' | b',' | b';' | b'=' | b'|', _) => (Token::Sign(first), 1),
            (b'+' | b'-' | b'*' | b'<' | b'>' | b'!' | b'^' | b'~', _) => {
                let compound = after.first() == Some(&b'=');
                (Token::Sign(b'O'), 1 + usize::from(compound))
            }
            _ => {
                let length = word(rest);
                let text = rest.get(..length).filter(|text| !text.is_empty())?;
                let labelled = rest.get(length) == Some(&b':') && rest.get(length + 1) != Some(&b':');
                if labelled && matches!(last, Some(Token::Sign(b'(' | b',' | b'{' | b'|'))) {
                    (Token::Label, length + 1)
                } else {
                    (Token::Word(text), length)
                }
            }
        };
        if token == OPEN {
            parameters.push(found.iter().rev().take(6).any(|token| *token == Token::Word(b"def")));
        }
        found.push(token);
        if token == Token::Sign(b')') && parameters.pop() == Some(true) {
            headed = Some(found.len());
        }
        rest = rest.get(length..)?;
    }
    (!inner).then_some(rest)
}

/// How long a word is, with the sign that may end the name of a method.
fn word(text: &[u8]) -> usize {
    let length = name(text);
    match text.get(length..) {
        // `x!=y`, `x?1:2`
        Some([b'?' | b'!', next, ..])
            if !matches!(next, b'=' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'"' | b'\'' | b':')
                && length > 0 =>
        {
            length + 1
        }
        Some([b'?' | b'!']) if length > 0 => length + 1,
        _ => length,
    }
}

fn name(text: &[u8]) -> usize {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if text.first().is_some_and(u8::is_ascii_digit) { 0 } else { length }
}

/// How long the number is that stands at the beginning. `None`: something else follows it without a blank (`1or`).
fn number(text: &[u8]) -> Option<usize> {
    let run = |from: usize, known: fn(&u8) -> bool| {
        text.get(from..).unwrap_or_default().iter().take_while(|byte| known(byte) || **byte == b'_').count()
    };
    let at = match text {
        [b'0', b'x' | b'X' | b'b' | b'B' | b'o' | b'O', ..] => 2 + run(2, u8::is_ascii_hexdigit),
        _ => {
            let mut at = run(0, u8::is_ascii_digit);
            if let Some([b'.', b'0'..=b'9', ..]) = text.get(at..) {
                at += 1 + run(at + 1, u8::is_ascii_digit);
            }
            if let Some([b'e' | b'E', b'0'..=b'9', ..]) = text.get(at..) {
                at += 1 + run(at + 1, u8::is_ascii_digit);
            }
            at
        }
    };
    text.get(at).is_none_or(|next| !next.is_ascii_alphanumeric()).then_some(at)
}

/// `:"name"`
fn symbol_in_quotes<'a>(text: &'a [u8]) -> Option<(Token<'a>, usize)> {
    let inner = quoted(text.get(2..)?, b'"')?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_- ./".contains(byte);
    inner.iter().all(plain).then(|| (Token::Symbol(inner), inner.len() + 3))
}

/// A string or a pattern in which code is evaluated; gives what is left behind it.
fn string<'a>(text: &'a [u8], quote: u8, depth: u32, found: &mut Vec<Token<'a>>) -> Option<&'a [u8]> {
    let first = found.len();
    let mut rest = text;
    let mut plain = true;
    found.push(Token::Text(None));
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = match (byte, after) {
            (b'\\', _) => {
                plain = false;
                after.get(1..)?
            }
            (b'#', [b'{', code @ ..]) => {
                plain = false;
                code_until(code, true, depth + 1, found)?
            }
            // Behind it, the value of a variable stands there as well.
            (b'#', [b'$' | b'@', ..]) => return None,
            (byte, _) if byte == quote => {
                let inner = text.get(..text.len() - rest.len())?;
                match plain {
                    true => *found.get_mut(first)? = Token::Text(Some(inner)),
                    false => found.push(Token::Text(None)),
                }
                return Some(after);
            }
            _ => after,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_call_goes_on_behind_a_gap_of_any_length() {
        let text = ["x", &"\n \n".repeat(30_000), ".to_s\ny"].concat();
        let started = Instant::now();
        let [Token::Word(b"x"), MEMBER, Token::Word(b"to_s"), END, Token::Word(b"y")] =
            *tokens(text.as_bytes()).unwrap()
        else {
            panic!("{text:.10}")
        };
        // Each line looked at from each before it took ten seconds.
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    }
}
