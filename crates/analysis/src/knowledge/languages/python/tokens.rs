//! Splits Python text into tokens; the expressions inside f-strings become tokens of their own.

/// Most tokens of one program.
const MAX_TOKENS: usize = 20_000;
/// Deepest nesting of f-strings.
const MAX_DEPTH: u8 = 3;

/// A token. Comments, indentation and joined lines are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Name(&'t [u8]),
    Number,
    /// A string literal: its text if it has no escapes and is no f-string.
    Text(Option<&'t [u8]>),
    /// One character of an operator.
    Op(u8),
    Newline,
}

/// The tokens; `None` if the text is not certain to be read as Python would.
pub(super) fn tokens(text: &[u8]) -> Option<Vec<Token<'_>>> {
    let mut out = Vec::new();
    read(text, &mut out, 0)?;
    Some(out)
}

fn read<'t>(text: &'t [u8], out: &mut Vec<Token<'t>>, depth: u8) -> Option<()> {
    let mut rest = text;
    let mut brackets = 0usize;
    while let Some((first, tail)) = rest.split_first() {
        if out.len() > MAX_TOKENS {
            return None;
        }
        match first {
            b'\n' => {
                if brackets == 0 {
                    out.push(Token::Newline);
                }
                rest = tail;
            }
            b' ' | b'\t' | b'\r' | 12 => rest = tail,
            b'#' => {
                rest = tail.iter().position(|b| *b == b'\n').and_then(|at| tail.get(at..)).unwrap_or_default()
            }
            b'\\' => rest = tail.strip_prefix(b"\n")?,
            b'"' | b'\'' => rest = string(rest, b"", out, depth)?,
            b'0'..=b'9' => {
                let end = rest.iter().position(|b| !is_number(*b)).unwrap_or(rest.len());
                out.push(Token::Number);
                rest = rest.get(end..)?;
            }
            b if is_name(*b) => {
                let end = rest.iter().position(|b| !is_name(*b)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                let prefix = name.len() <= 2 && name.iter().all(|b| b"rRbBuUfF".contains(b));
                if prefix && matches!(after.first(), Some(b'"' | b'\'')) {
                    rest = string(after, name, out, depth)?;
                } else {
                    // Python folds other letters to ASCII (NFKC): `ｏｓ` is `os`.
                    if !name.is_ascii() {
                        return None;
                    }
                    out.push(Token::Name(name));
                    rest = after;
                }
            }
            b'(' | b'[' | b'{' => {
                brackets += 1;
                out.push(Token::Op(*first));
                rest = tail;
            }
            b')' | b']' | b'}' => {
                brackets = brackets.saturating_sub(1);
                out.push(Token::Op(*first));
                rest = tail;
            }
            b'!'..=b'~' => {
                out.push(Token::Op(*first));
                rest = tail;
            }
            _ => return None,
        }
    }
    Some(())
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

const fn is_number(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_'
}

/// Reads a string literal that begins with its quote; gives what follows it.
fn string<'t>(text: &'t [u8], prefix: &[u8], out: &mut Vec<Token<'t>>, depth: u8) -> Option<&'t [u8]> {
    let quote = *text.first()?;
    let triple = text.starts_with(&[quote, quote, quote]);
    let size = if triple { 3 } else { 1 };
    let body = text.get(size..)?;
    let mut at = 0;
    let mut escapes = false;
    loop {
        let byte = *body.get(at)?;
        if byte == b'\\' {
            escapes = true;
            at += 2;
            continue;
        }
        if byte == b'\n' && !triple {
            return None;
        }
        if byte == quote && (!triple || body.get(at..)?.starts_with(&[quote, quote, quote])) {
            break;
        }
        at += 1;
    }
    let inner = body.get(..at)?;
    let after = body.get(at + size..)?;
    let formatted = prefix.iter().any(|b| matches!(b, b'f' | b'F'));
    if formatted {
        out.push(Token::Text(None));
        if depth >= MAX_DEPTH || (inner.contains(&b'{') && escapes) {
            // Before Python 3.12 no backslash could stand in an expression; what one means there is not read.
            if inner.contains(&b'{') && inner.windows(2).any(|w| w == b"\\N") || depth >= MAX_DEPTH {
                return None;
            }
        }
        replacement_fields(inner, out, depth)?;
    } else {
        let raw = prefix.iter().any(|b| matches!(b, b'r' | b'R'));
        out.push(Token::Text((!escapes || raw).then_some(inner)));
    }
    Some(after)
}

/// The `{expression!r:format}` parts of an f-string.
fn replacement_fields<'t>(text: &'t [u8], out: &mut Vec<Token<'t>>, depth: u8) -> Option<()> {
    let mut rest = text;
    while let Some(open) = rest.iter().position(|b| *b == b'{') {
        let after = rest.get(open + 1..)?;
        if let Some(literal) = after.strip_prefix(b"{") {
            rest = literal;
            continue;
        }
        let (mut level, mut quote, mut expression_end, mut end) = (0usize, None, None, None);
        for (at, byte) in after.iter().enumerate() {
            match (quote, byte) {
                (Some(open), _) => {
                    if open == *byte {
                        quote = None;
                    }
                }
                (None, b'\\') => return None,
                (None, b'"' | b'\'') if expression_end.is_none() => quote = Some(*byte),
                (None, b'(' | b'[' | b'{') => level += 1,
                (None, b'}') if level == 0 => {
                    end = Some(at);
                    break;
                }
                (None, b')' | b']' | b'}') => level = level.saturating_sub(1),
                (None, b':') if level == 0 => expression_end = expression_end.or(Some(at)),
                (None, b'!') if level == 0 && after.get(at + 1) != Some(&b'=') => {
                    expression_end = expression_end.or(Some(at));
                }
                _ => {}
            }
        }
        let end = end?;
        let expression = after.get(..expression_end.unwrap_or(end))?;
        out.push(Token::Op(b'('));
        read(expression.strip_suffix(b"=").unwrap_or(expression), out, depth + 1)?;
        out.push(Token::Op(b')'));
        if let Some(from) = expression_end {
            replacement_fields(after.get(from..end)?, out, depth + 1)?;
        }
        rest = after.get(end + 1..)?;
    }
    Some(())
}
