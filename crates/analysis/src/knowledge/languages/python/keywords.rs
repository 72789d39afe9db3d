//! Reserved words (language reference, 2.3.1), found by their bytes as a number.

/// Reserved words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    /// `True`.
    Constant,
    /// `None`, `False`.
    Nothing,
    And,
    As,
    Assert,
    Async,
    Await,
    Break,
    Class,
    Def,
    Del,
    Elif,
    Else,
    Except,
    Finally,
    For,
    From,
    Global,
    If,
    Import,
    In,
    Is,
    Lambda,
    Not,
    Or,
    Raise,
    Return,
    Try,
    While,
    With,
    Yield,
}

/// The reserved words.
const KEYWORDS: [(&str, Keyword); 35] = {
    use Keyword as K;
    [
        ("True", K::Constant),
        ("None", K::Nothing),
        ("False", K::Nothing),
        ("and", K::And),
        ("as", K::As),
        ("assert", K::Assert),
        ("async", K::Async),
        ("await", K::Await),
        ("break", K::Break),
        ("continue", K::Break),
        ("pass", K::Break),
        ("class", K::Class),
        ("def", K::Def),
        ("del", K::Del),
        ("elif", K::Elif),
        ("else", K::Else),
        ("except", K::Except),
        ("finally", K::Finally),
        ("for", K::For),
        ("from", K::From),
        ("global", K::Global),
        ("nonlocal", K::Global),
        ("if", K::If),
        ("import", K::Import),
        ("in", K::In),
        ("is", K::Is),
        ("lambda", K::Lambda),
        ("not", K::Not),
        ("or", K::Or),
        ("raise", K::Raise),
        ("return", K::Return),
        ("try", K::Try),
        ("while", K::While),
        ("with", K::With),
        ("yield", K::Yield),
    ]
};

/// Places for reserved words: so many that a look at one mostly tells.
const PLACES: usize = 128;

/// The reserved words by their [keys](super::symbols::key), which are their bytes; a key of zero is none.
static BY_KEY: [(u64, Keyword); PLACES] = by_key();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, where it fails instead of panicking")]
const fn by_key() -> [(u64, Keyword); PLACES] {
    let mut places = [(0, Keyword::Constant); PLACES];
    let mut row = 0;
    while row < KEYWORDS.len() {
        let (word, keyword) = KEYWORDS[row];
        let (word, mut bytes, mut at) = (word.as_bytes(), [0; 8], 0);
        while at < word.len() {
            bytes[at] = word[at];
            at += 1;
        }
        let key = u64::from_le_bytes(bytes);
        let mut place = place(key);
        while places[place].0 != 0 {
            place = (place + 1) % PLACES;
        }
        places[place] = (key, keyword);
        row += 1;
    }
    places
}

const fn place(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as usize
}

/// The reserved word with this [key](super::symbols::key).
#[inline]
pub(super) fn keyword(key: u64) -> Option<Keyword> {
    let mut at = place(key);
    loop {
        match BY_KEY.get(at)? {
            (0, _) => return None,
            (known, keyword) if *known == key => return Some(*keyword),
            _ => at = (at + 1) % PLACES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::symbols::key;
    use super::*;

    #[test]
    fn reserved_words_are_found_and_others_are_not() {
        let find = |word: &[u8]| keyword(key(word));
        for (word, keyword) in KEYWORDS {
            let word = word.as_bytes();
            assert_eq!(find(word), Some(keyword), "{word:?}");
            let (longer, capitals) = ([word, b"_"].concat(), word.to_ascii_uppercase());
            for other in [&word[1..], &word[..word.len() - 1], &*longer, &*capitals] {
                let known = KEYWORDS.iter().find(|row| row.0.as_bytes() == other).map(|row| row.1);
                assert_eq!(find(other), known, "{other:?}");
            }
        }
        for other in ["", "a", "print", "continued", "longer_than_a_number", "match", "self"] {
            assert_eq!(find(other.as_bytes()), None, "{other}");
        }
    }
}
