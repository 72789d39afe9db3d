//! Bracket expressions of patterns (POSIX.1-2024, XCU 2.14.1 and XBD 9.3.5).

/// What a `[` inside of one begins a character class, a collating symbol or an equivalence class with: `[:alpha:]`, `[.a.]`, `[=a=]`.
pub(crate) const CLASSES: [u8; 3] = *b":.=";

/// The length of the inside of an expression, of what stands behind its `[`; `None` if nothing closes it. A `]` that comes first, or
/// ends a class, is one of the characters.
pub(crate) fn inside(rest: &[u8]) -> Option<usize> {
    let mut index = usize::from(matches!(rest.first(), Some(b'!' | b'^')));
    if rest.get(index) == Some(&b']') {
        index += 1;
    }
    loop {
        let behind = match rest.get(index..)? {
            [b']', ..] => return Some(index),
            [b'\\', ..] => index + 2,
            [b'[', mark, class @ ..] if CLASSES.contains(mark) => {
                index + class_end(class, *mark).map_or(1, |end| end + 2)
            }
            _ => index + 1,
        };
        index = behind;
    }
}

/// How far a class goes, of what stands behind its `[` and this mark; `None` if it has no end.
pub(crate) fn class_end(rest: &[u8], mark: u8) -> Option<usize> {
    rest.windows(2).position(|pair| pair == [mark, b']']).map(|at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn the_end_is_no_character_and_of_no_class() {
        let table: [(&[u8], Option<usize>); 12] = [
            (b"a]", Some(1)),
            (b"]a]b", Some(2)),
            (b"!]]", Some(2)),
            (b"[:alpha:]]x]", Some(9)),
            (b"[.].]a]", Some(6)),
            (b"[=]=]]", Some(5)),
            (b"[:a]b", Some(3)),
            (b"[a]b", Some(2)),
            (b"a\\]]", Some(3)),
            (b"", None),
            (b"!", None),
            (b"[:alpha:]", None),
        ];
        for (rest, expected) in table {
            assert_eq!(inside(rest), expected, "{}", String::from_utf8_lossy(rest));
        }
    }
}
