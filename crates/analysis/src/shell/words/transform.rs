//! The operations of parameter expansion on text that is known.

use super::pattern::matches;
use shward_syntax::Replace;

/// The longest text on which a pattern with special characters is tried at every place.
const LONGEST: usize = 2048;

/// The text that a pattern without special characters matches.
pub(super) fn literal(pattern: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => text.push(*bytes.next()?),
            b'*' | b'?' | b'[' | b'(' => return None,
            _ => text.push(*byte),
        }
    }
    Some(text)
}

/// What is left of `text` without the shortest or longest beginning that matches.
pub(super) fn without_prefix<'t>(
    text: &'t [u8],
    pattern: &[u8],
    longest: bool,
    extended: bool,
) -> Option<&'t [u8]> {
    if let Some(literal) = literal(pattern) {
        return Some(text.strip_prefix(literal.as_slice()).unwrap_or(text));
    }
    let end =
        first_match(ends(text.len(), longest), |end| matches(pattern, text.get(..end)?, extended), text)?;
    end.map_or(Some(text), |end| text.get(end..))
}

/// What is left of `text` without the shortest or longest end that matches.
pub(super) fn without_suffix<'t>(
    text: &'t [u8],
    pattern: &[u8],
    longest: bool,
    extended: bool,
) -> Option<&'t [u8]> {
    if let Some(literal) = literal(pattern) {
        return Some(text.strip_suffix(literal.as_slice()).unwrap_or(text));
    }
    let start = first_match(
        ends(text.len(), !longest),
        |start| matches(pattern, text.get(start..)?, extended),
        text,
    )?;
    start.map_or(Some(text), |start| text.get(..start))
}

/// The positions in a text of this length, from either end.
fn ends(length: usize, backwards: bool) -> impl Iterator<Item = usize> {
    (0..=length).map(move |i| if backwards { length - i } else { i })
}

fn first_match(
    positions: impl Iterator<Item = usize>,
    mut matches: impl FnMut(usize) -> Option<bool>,
    text: &[u8],
) -> Option<Option<usize>> {
    if text.len() > LONGEST {
        return None;
    }
    for position in positions {
        if matches(position)? {
            return Some(Some(position));
        }
    }
    Some(None)
}

/// `${text/pattern/replacement}`.
pub(super) fn replace(
    text: &[u8],
    pattern: &[u8],
    replacement: &[u8],
    which: Replace,
    extended: bool,
    most: usize,
) -> Option<Vec<u8>> {
    let literal = literal(pattern);
    if literal.as_ref().is_some_and(Vec::is_empty) {
        // An empty pattern matches only where it is anchored.
        return Some(match which {
            Replace::Prefix => [replacement, text].concat(),
            Replace::Suffix => [text, replacement].concat(),
            Replace::First | Replace::All => text.to_vec(),
        });
    }
    if literal.is_none() && text.len() > 256 {
        return None;
    }
    // The longest match that begins at a place.
    let at = |start: usize| -> Option<Option<usize>> {
        match &literal {
            Some(literal) => Some(text.get(start..)?.starts_with(literal).then_some(start + literal.len())),
            None => {
                for end in (start..=text.len()).rev() {
                    if matches(pattern, text.get(start..end)?, extended)? {
                        return Some(Some(end));
                    }
                }
                Some(None)
            }
        }
    };
    let mut out = Vec::with_capacity(text.len());
    let mut index = 0;
    match which {
        Replace::Prefix => {
            if let Some(end) = at(0)? {
                out.extend_from_slice(replacement);
                index = end;
            }
        }
        Replace::Suffix => {
            for start in 0..=text.len() {
                let tail = text.get(start..)?;
                let whole = match &literal {
                    Some(literal) => tail == literal,
                    None => matches(pattern, tail, extended)?,
                };
                if whole {
                    return Some([text.get(..start)?, replacement].concat());
                }
            }
        }
        Replace::First | Replace::All => {
            if text.is_empty() && matches(pattern, text, extended)? {
                return Some(replacement.to_vec());
            }
            while index < text.len() {
                match at(index)? {
                    Some(end) if end > index => {
                        out.extend_from_slice(replacement);
                        index = end;
                        if which == Replace::First {
                            break;
                        }
                    }
                    _ => {
                        out.push(*text.get(index)?);
                        index += 1;
                    }
                }
                if out.len() > most {
                    return None;
                }
            }
        }
    }
    out.extend_from_slice(text.get(index..)?);
    Some(out)
}

/// `${text^pattern}` and its kin.
pub(super) fn recase(
    text: &[u8],
    operator: u8,
    all: bool,
    pattern: &[u8],
    extended: bool,
) -> Option<Vec<u8>> {
    if !text.is_ascii() {
        return None;
    }
    let mut out = text.to_vec();
    for byte in out.iter_mut().take(if all { usize::MAX } else { 1 }) {
        if pattern.is_empty() || matches(pattern, &[*byte], extended)? {
            *byte = match operator {
                b'^' => byte.to_ascii_uppercase(),
                b',' => byte.to_ascii_lowercase(),
                b'~' if byte.is_ascii_uppercase() => byte.to_ascii_lowercase(),
                b'~' => byte.to_ascii_uppercase(),
                _ => return None,
            };
        }
    }
    Some(out)
}

/// `${text:offset:length}`.
pub(super) fn substring(text: &[u8], offset: i64, length: Option<i64>) -> Option<&[u8]> {
    if !text.is_ascii() {
        return None;
    }
    let size = i64::try_from(text.len()).ok()?;
    let start = if offset < 0 { size.checked_add(offset)? } else { offset };
    if !(0..=size).contains(&start) {
        return Some(b"");
    }
    let end = match length {
        None => size,
        Some(length) if length < 0 => size.checked_add(length)?,
        Some(length) => start.saturating_add(length).min(size),
    };
    // An end before the start is an error that ends the line.
    text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// `${text@Q}`: quoted so that the shell reads it back.
pub(super) fn quote(text: &[u8]) -> Option<Vec<u8>> {
    if text.iter().any(|byte| byte.is_ascii_control() || !byte.is_ascii()) {
        return None;
    }
    if text == b"'" {
        return Some(b"\\'".to_vec());
    }
    let mut out = vec![b'\''];
    for byte in text {
        if *byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(*byte);
        }
    }
    out.push(b'\'');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removal_and_replacement() {
        assert_eq!(without_prefix(b"a/b/c", b"*/", false, false), Some(b"b/c".as_slice()));
        assert_eq!(without_prefix(b"a/b/c", b"*/", true, false), Some(b"c".as_slice()));
        assert_eq!(without_suffix(b"a.tar.gz", b".*", false, false), Some(b"a.tar".as_slice()));
        assert_eq!(without_suffix(b"a.tar.gz", b".*", true, false), Some(b"a".as_slice()));
        let replace = |text: &[u8], pattern: &[u8], with: &[u8], which| {
            replace(text, pattern, with, which, false, 1000).map(|v| String::from_utf8(v).unwrap())
        };
        assert_eq!(replace(b"aXbX", b"X", b"-", Replace::All).unwrap(), "a-b-");
        assert_eq!(replace(b"aXbX", b"X", b"-", Replace::First).unwrap(), "a-bX");
        assert_eq!(replace(b"abc", b"?", b"-", Replace::Suffix).unwrap(), "ab-");
        assert_eq!(replace(b"abc", b"b*", b"", Replace::First).unwrap(), "a");
        assert_eq!(substring(b"abcdef", -3, Some(2)), Some(b"de".as_slice()));
        assert_eq!(substring(b"abc", 5, None), Some(b"".as_slice()));
        assert_eq!(quote(b"it's").unwrap(), b"'it'\\''s'");
        assert_eq!(quote(b"'").unwrap(), b"\\'");
    }
}
