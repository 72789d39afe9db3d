//! The operations of parameter expansion on text that is known.

use super::pattern::matches;
use crate::knowledge::single_quoted;
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
    if literal.is_none() && text.is_empty() && which != Replace::Suffix {
        return replace_nothing(pattern, replacement, extended);
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
    match which {
        Replace::Prefix => match at(0)? {
            Some(end) => Some([replacement, text.get(end..)?].concat()),
            None => Some(text.to_vec()),
        },
        Replace::Suffix => {
            for start in 0..=text.len() {
                if at(start)? == Some(text.len()) {
                    return Some([text.get(..start)?, replacement].concat());
                }
            }
            Some(text.to_vec())
        }
        Replace::First | Replace::All => replace_inside(text, replacement, which, most, at),
    }
}

/// Replaces what matches anywhere in a text. `at` tells where the match ends that begins at a place.
fn replace_inside(
    text: &[u8],
    replacement: &[u8],
    which: Replace,
    most: usize,
    at: impl Fn(usize) -> Option<Option<usize>>,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut index = 0;
    while index < text.len() {
        let end = at(index)?;
        if let Some(end) = end {
            out.extend_from_slice(replacement);
            if which == Replace::First {
                index = end;
                break;
            }
        }
        match end {
            Some(end) if end > index => index = end,
            // Behind a match of nothing one character stays, as where there is no match.
            Some(_) if !text.is_ascii() => return None,
            _ => {
                out.push(*text.get(index)?);
                index += 1;
            }
        }
        if out.len() > most {
            return None;
        }
    }
    out.extend_from_slice(text.get(index..)?);
    Some(out)
}

/// Replaces in an empty text, where the versions of bash differ in which patterns match.
fn replace_nothing(pattern: &[u8], replacement: &[u8], extended: bool) -> Option<Vec<u8>> {
    match matches(pattern, b"", extended)? {
        false => Some(Vec::new()),
        true if pattern.starts_with(b"*") => Some(replacement.to_vec()),
        true => None,
    }
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
    Some(single_quoted(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_of_nothing_are_replaced() {
        let replace = |text: &[u8], pattern: &[u8], which| {
            replace(text, pattern, b"-", which, true, 1000).map(|v| String::from_utf8(v).unwrap())
        };
        assert_eq!(replace(b"abc", b"?(z)", Replace::First).unwrap(), "-abc");
        assert_eq!(replace(b"abc", b"?(a)", Replace::First).unwrap(), "-bc");
        assert_eq!(replace(b"abc", b"?(z)", Replace::All).unwrap(), "-a-b-c");
        assert_eq!(replace(b"abc", b"*(b)", Replace::All).unwrap(), "-a--c");
        assert_eq!(replace(b"abc", b"?(z)", Replace::Prefix).unwrap(), "-abc");
        assert_eq!(replace(b"abc", b"?(z)", Replace::Suffix).unwrap(), "abc-");
        assert_eq!(replace(b"", b"*(z)", Replace::First).unwrap(), "-");
        assert_eq!(replace(b"", b"?(z)", Replace::First), None);
    }

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
        assert_eq!(replace(b"", b"*", b"-", Replace::First).unwrap(), "-");
        assert_eq!(substring(b"abcdef", -3, Some(2)), Some(b"de".as_slice()));
        assert_eq!(substring(b"abc", 5, None), Some(b"".as_slice()));
        assert_eq!(quote(b"it's").unwrap(), b"'it'\\''s'");
        assert_eq!(quote(b"'").unwrap(), b"\\'");
    }
}
