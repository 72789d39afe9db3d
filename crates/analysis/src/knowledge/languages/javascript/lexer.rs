//! The tokens of JavaScript (ECMA-262, chapter 12). Whether a slash divides or begins a regular expression is decided
//! by the token before it; where that does not decide, nothing is read.

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name or keyword.
    Name(&'a [u8]),
    Number,
    /// A string; its text if nothing in it is escaped.
    Text(Option<&'a [u8]>),
    /// A regular expression.
    Pattern,
    /// A sign; those of several characters stand as a letter: `=>` is `A`, `?.` is `Q`, `...` is `E`, `++` is `I`, `+=`
    /// is `O`, comparisons are `C`.
    Sign(u8),
    /// Where a template begins and ends; between `Fill` and `Filled` stands an expression.
    Template,
    TemplateEnd,
    Fill,
    Filled,
}

/// `=>`
pub(super) const ARROW: Token<'static> = Token::Sign(b'A');
/// `...`
pub(super) const SPREAD: Token<'static> = Token::Sign(b'E');
/// `++`, `--`.
pub(super) const CHANGE: Token<'static> = Token::Sign(b'I');
/// An assignment with an operator that computes.
pub(super) const GROW: Token<'static> = Token::Sign(b'O');

/// Most tokens of one program.
const MAX_TOKENS: usize = 50_000;

/// Deepest nesting of templates in templates.
const MAX_TEMPLATES: usize = 16;

/// Splits a program into tokens; `None` if it is no program that is understood.
pub(super) fn tokens(text: &[u8]) -> Option<Vec<Token<'_>>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    // For each template that is open, how many braces of its expression are.
    let mut fills: Vec<usize> = Vec::new();
    // For each parenthesis that is open, whether it belongs to `if`, `while` or the like.
    let mut parentheses: Vec<bool> = Vec::new();
    let mut control = false;
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if tokens.len() >= MAX_TOKENS {
            return None;
        }
        let (token, length) = match (first, after) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {
                rest = after;
                continue;
            }
            (b'/', [b'/', ..]) => {
                let line = rest.get(..rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()))?;
                if ends_early(line) {
                    return None;
                }
                rest = rest.get(line.len()..)?;
                continue;
            }
            // At the start of a line it begins a comment.
            (b'-', [b'-', b'>', ..]) if is_fresh_line(text.get(..text.len() - rest.len())?) => return None,
            (b'/', [b'*', inner @ ..]) => {
                rest = inner.get(inner.windows(2).position(|w| w == b"*/")? + 2..)?;
                continue;
            }
            (b'/', _) if divides(&tokens, control)? => {
                (Token::Sign(b'/'), 1 + usize::from(after.starts_with(b"=")))
            }
            (b'/', _) => (Token::Pattern, pattern(rest)?),
            (b'\'' | b'"', _) => string(rest, first)?,
            (b'`', _) => {
                tokens.push(Token::Template);
                rest = template(after, &mut tokens, &mut fills)?;
                continue;
            }
            (b'}', _) if fills.last() == Some(&0) => {
                fills.pop();
                tokens.push(Token::Filled);
                rest = template(after, &mut tokens, &mut fills)?;
                continue;
            }
            (b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$', _) => {
                let length =
                    rest.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')).count();
                // `\u0065val` and names in other scripts are not for this reader.
                if rest.get(length).is_some_and(|b| *b == b'\\' || *b >= 0x80) {
                    return None;
                }
                (Token::Name(rest.get(..length)?), length)
            }
            (b'0'..=b'9', _) | (b'.', [b'0'..=b'9', ..]) => (Token::Number, number(rest)?),
            (b'.', [b'.', b'.', ..]) => (SPREAD, 3),
            (b'?', [b'.', next, ..]) if !next.is_ascii_digit() => (Token::Sign(b'Q'), 2),
            (b'?', [b'?', b'=', ..]) => (Token::Sign(b'='), 3),
            (b'?', [b'?', ..]) => (Token::Sign(b'|'), 2),
            (b'=', [b'>', ..]) => (ARROW, 2),
            (b'=', [b'=', b'=', ..]) | (b'!', [b'=', b'=', ..]) => (Token::Sign(b'C'), 3),
            (b'=', [b'=', ..]) | (b'!', [b'=', ..]) | (b'<' | b'>', [b'=', ..]) => (Token::Sign(b'C'), 2),
            (b'<', [b'!', ..]) => return None,
            (b'+', [b'+', ..]) | (b'-', [b'-', ..]) => (CHANGE, 2),
            (b'|', [b'|', b'=', ..]) | (b'&', [b'&', b'=', ..]) => (Token::Sign(b'='), 3),
            (b'|', [b'|', ..]) | (b'&', [b'&', ..]) => (Token::Sign(b'|'), 2),
            (b'+' | b'-' | b'*' | b'%' | b'&' | b'|' | b'^', [b'=', ..]) => (GROW, 2),
            (b'{', _) => {
                if let Some(open) = fills.last_mut() {
                    *open += 1;
                }
                (Token::Sign(first), 1)
            }
            (b'}', _) => {
                if let Some(open) = fills.last_mut() {
                    *open = open.checked_sub(1)?;
                }
                (Token::Sign(first), 1)
            }
            (
                b'(' | b')' | b'[' | b']' | b';' | b',' | b'<' | b'>' | b'+' | b'-' | b'*' | b'%' | b'&'
                | b'|',
                _,
            )
            | (b'^' | b'!' | b'~' | b'?' | b':' | b'=' | b'.', _) => (Token::Sign(first), 1),
            _ => return None,
        };
        match token {
            Token::Sign(b'(') => {
                let head = matches!(
                    tokens.last(),
                    Some(Token::Name(b"if" | b"while" | b"for" | b"with" | b"catch"))
                );
                parentheses.push(head);
            }
            Token::Sign(b')') => control = parentheses.pop()?,
            _ => {}
        }
        tokens.push(token);
        rest = rest.get(length..)?;
    }
    fills.is_empty().then_some(tokens)
}

/// Whether a comment to the end of the line ends before that: JavaScript knows other ends of a line.
fn ends_early(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.contains(&b'\r') || line.windows(3).any(|w| matches!(w, [0xe2, 0x80, 0xa8 | 0xa9]))
}

/// Whether nothing but blanks, or what may be a comment, stands before this on its line.
fn is_fresh_line(before: &[u8]) -> bool {
    let mut before = before.iter().rev().skip_while(|b| matches!(b, b' ' | b'\t'));
    matches!(before.next(), None | Some(b'\n' | b'\r' | b'/' | 0x80..))
}

/// The length of a number. A name right behind it is not understood: the item of a number (`1..constructor`) is one.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |from: usize, is: fn(&u8) -> bool| {
        text.iter().skip(from).take_while(|b| is(b) || **b == b'_').count()
    };
    let mut length = match text {
        [b'0', b'x' | b'X', ..] => 2 + digits(2, u8::is_ascii_hexdigit),
        [b'0', b'b' | b'B' | b'o' | b'O', ..] => 2 + digits(2, u8::is_ascii_digit),
        _ => {
            let mut length = digits(0, u8::is_ascii_digit);
            if text.get(length) == Some(&b'.') {
                length += 1 + digits(length + 1, u8::is_ascii_digit);
            }
            if let [b'e' | b'E', rest @ ..] = text.get(length..)? {
                let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
                let power = digits(length + 1 + sign, u8::is_ascii_digit);
                length += if power > 0 { 1 + sign + power } else { 0 };
            }
            length
        }
    };
    length += usize::from(text.get(length) == Some(&b'n'));
    let goes_on = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'\\') || *b >= 0x80;
    (!text.get(length).is_some_and(goes_on)).then_some(length)
}

/// Whether a slash after these tokens divides; `None` if that depends on the grammar.
fn divides(tokens: &[Token<'_>], control: bool) -> Option<bool> {
    let member = tokens.len().checked_sub(2).and_then(|at| tokens.get(at)) == Some(&Token::Sign(b'.'));
    Some(match tokens.last() {
        None => false,
        Some(Token::Name(name)) => match *name {
            b"return" | b"typeof" | b"case" | b"in" | b"delete" | b"void" | b"do" | b"else"
            | b"instanceof" | b"new" | b"throw" => {
                if member {
                    return None;
                }
                false
            }
            b"of" | b"yield" | b"await" | b"async" | b"let" | b"static" => return None,
            _ => true,
        },
        Some(Token::Number | Token::Text(_) | Token::Pattern | Token::TemplateEnd) => true,
        // After `if (…)` a statement begins, after any other parenthesis an operator follows.
        Some(Token::Sign(b')')) => !control,
        Some(Token::Sign(b'}')) => return None,
        Some(Token::Sign(sign)) => matches!(sign, b']' | b'I'),
        Some(_) => false,
    })
}

/// The length of a regular expression with its flags.
fn pattern(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    let mut class = false;
    loop {
        match text.get(at)? {
            b'\n' => return None,
            b'\\' => at += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => break,
            _ => {}
        }
        at += 1;
    }
    let flags = text.iter().skip(at + 1).take_while(|b| b.is_ascii_alphabetic()).count();
    Some(at + 1 + flags)
}

fn string(text: &[u8], quote: u8) -> Option<(Token<'_>, usize)> {
    let mut at = 1;
    let mut plain = true;
    loop {
        match text.get(at)? {
            b'\n' => return None,
            b'\\' => {
                plain = false;
                at += 1;
            }
            byte if *byte == quote => break,
            _ => {}
        }
        at += 1;
    }
    Some((Token::Text(text.get(1..at).filter(|_| plain)), at + 1))
}

/// The text of a template up to its end or its next expression; gives what follows.
fn template<'a>(text: &'a [u8], tokens: &mut Vec<Token<'a>>, fills: &mut Vec<usize>) -> Option<&'a [u8]> {
    let mut at = 0;
    loop {
        match text.get(at..)? {
            [b'\\', ..] => at += 2,
            [b'`', after @ ..] => {
                tokens.push(Token::TemplateEnd);
                return Some(after);
            }
            [b'$', b'{', after @ ..] => {
                if fills.len() >= MAX_TEMPLATES {
                    return None;
                }
                fills.push(0);
                tokens.push(Token::Fill);
                return Some(after);
            }
            [_, ..] => at += 1,
            [] => return None,
        }
    }
}
