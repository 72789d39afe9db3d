//! The tokens of arithmetic expressions.

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// The end of the text.
    End,
    /// A number; `None` if it is not known.
    Number(Option<i64>),
    /// A variable.
    Name(&'t [u8]),
    /// An array element: name and subscript.
    Element(&'t [u8], &'t [u8]),
    /// An operator, by its text.
    Operator(&'static str),
    /// What is not arithmetic.
    Bad,
}

/// Longest first.
const OPERATORS: [&str; 38] = [
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "^=", "|=", "+", "-", "*", "/", "%", "<", ">", "!", "~", "&", "^", "|", "?", ":", "=", "(",
    ")",
];

/// Reads the token at `index` and gives the index after it. `++` and `--` are one operator only beside a variable.
pub(super) fn token<'t>(text: &'t [u8], index: usize, before: Token<'t>) -> (Token<'t>, usize) {
    let blanks = text.get(index..).unwrap_or_default().iter().take_while(|b| b.is_ascii_whitespace()).count();
    let index = index + blanks;
    let rest = text.get(index..).unwrap_or_default();
    match rest.first() {
        None => (Token::End, index),
        Some(b',') => (Token::Operator(","), index + 1),
        Some(0 | b'0'..=b'9') => {
            let is_part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'#' | b'@' | b'_' | 0);
            let width = rest.iter().take_while(is_part).count();
            let digits = rest.get(..width).unwrap_or_default();
            if digits.contains(&0) {
                return (Token::Number(None), index + width);
            }
            (number(digits).map_or(Token::Bad, Token::Number), index + width)
        }
        Some(first) if first.is_ascii_alphabetic() || *first == b'_' => {
            let is_part = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
            let width = rest.iter().take_while(is_part).count();
            let name = rest.get(..width).unwrap_or_default();
            match rest.get(width) {
                // A name of which part is not known.
                Some(0) => (Token::Bad, index + width),
                Some(b'[') => match subscript(rest.get(width + 1..).unwrap_or_default()) {
                    Some(inside) => (Token::Element(name, inside), index + width + inside.len() + 2),
                    None => (Token::Bad, index + width),
                },
                _ => (Token::Name(name), index + width),
            }
        }
        Some(sign @ (b'+' | b'-'))
            if rest.get(1) == Some(sign)
                && !matches!(before, Token::Name(_) | Token::Element(..))
                && !rest
                    .iter()
                    .skip(2)
                    .find(|byte| !byte.is_ascii_whitespace())
                    .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') =>
        {
            (Token::Operator(if *sign == b'+' { "+" } else { "-" }), index + 1)
        }
        Some(first) => match OPERATORS.iter().find(|operator| {
            operator.as_bytes().first() == Some(first) && rest.starts_with(operator.as_bytes())
        }) {
            Some(operator) => (Token::Operator(operator), index + operator.len()),
            None => (Token::Bad, index),
        },
    }
}

/// The text up to the bracket that closes a subscript.
fn subscript(rest: &[u8]) -> Option<&[u8]> {
    let mut depth = 0_u32;
    for (index, byte) in rest.iter().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 0 => return rest.get(..index),
            b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A constant: decimal, `0` octal, `0x` hexadecimal, `base#digits`. What one that does not fit is, shells see differently:
/// in bash it wraps, in dash it is the greatest that does.
fn number(text: &[u8]) -> Option<Option<i64>> {
    let (base, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', digits @ ..] if !digits.is_empty() && !digits.contains(&b'#') => (8, digits),
        _ => match text.iter().position(|byte| *byte == b'#') {
            Some(at) => {
                let base = std::str::from_utf8(text.get(..at)?).ok()?.parse::<i64>().ok()?;
                (base, text.get(at + 1..)?)
            }
            None => (10, text),
        },
    };
    if !(2..=64).contains(&base) || digits.is_empty() {
        return None;
    }
    let mut value = Some(0_i64);
    for byte in digits {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
            b'A'..=b'Z' => byte - b'A' + 36,
            b'@' => 62,
            b'_' => 63,
            _ => return None,
        };
        if i64::from(digit) >= base {
            return None;
        }
        value = value.and_then(|value| value.checked_mul(base)?.checked_add(i64::from(digit)));
    }
    Some(value)
}
