//! The lexical facts of the shell's grammar: character classes, names, reserved words.
//!
//! They are exported because whoever evaluates words needs the same answers as the parser does.

/// Ends a word: blanks, newline and the operators' characters (bash's metacharacters).
pub(crate) const META: u8 = 1;
/// Starts a quotation or an expansion.
pub(crate) const QUOTE: u8 = 1 << 1;
/// Special in patterns.
pub(crate) const GLOB: u8 = 1 << 2;
/// Opens a brace expansion.
pub(crate) const BRACE: u8 = 1 << 3;
/// Opens a tilde prefix.
pub(crate) const TILDE: u8 = 1 << 4;
/// May stand in a name.
pub(crate) const NAME: u8 = 1 << 5;
/// A decimal digit.
pub(crate) const DIGIT: u8 = 1 << 6;
/// Opens an extended pattern when a parenthesis follows.
pub(crate) const EXTGLOB: u8 = 1 << 7;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::indexing_slicing,
            reason = "index stays below 256"
        )]
        {
            table[index] = class_of_byte(index as u8);
        }
        index += 1;
    }
    table
}

const fn class_of_byte(byte: u8) -> u8 {
    match byte {
        b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>' => META,
        b'\\' | b'\'' | b'"' | b'`' | b'$' => QUOTE,
        b'*' | b'?' => GLOB | EXTGLOB,
        b'[' => GLOB,
        b'+' | b'@' | b'!' => EXTGLOB,
        b'{' => BRACE,
        b'~' => TILDE,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => NAME,
        b'0'..=b'9' => NAME | DIGIT,
        _ => 0,
    }
}

/// The classes of a byte.
#[inline]
pub(crate) fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Whether a byte ends a word when it is not quoted (bash's metacharacters).
#[must_use]
#[inline]
pub fn is_metacharacter(byte: u8) -> bool {
    class(byte) & META != 0
}

/// Whether a byte may begin a variable's name.
#[must_use]
#[inline]
pub fn is_name_start(byte: u8) -> bool {
    class(byte) & (NAME | DIGIT) == NAME
}

/// Whether a byte may stand in a variable's name.
#[must_use]
#[inline]
pub fn is_name_byte(byte: u8) -> bool {
    class(byte) & NAME != 0
}

/// Whether the text is a name in the sense of POSIX XBD 3.216: letters, digits and underscores, no digit first.
#[must_use]
pub fn is_name(text: &[u8]) -> bool {
    match text.split_first() {
        Some((first, rest)) => is_name_start(*first) && rest.iter().all(|byte| is_name_byte(*byte)),
        None => false,
    }
}

/// Whether the text is a reserved word of bash 5.2 (POSIX 2.4 and bash's own).
#[must_use]
pub fn is_reserved(text: &[u8]) -> bool {
    Keyword::of(text).is_some()
}

/// Whether a bare command word makes the shell read `name=(…)` among its arguments as a compound assignment: the
/// declaration builtins, and `alias`, `eval` and `let`, which bash treats alike.
#[must_use]
pub fn takes_array_arguments(text: &[u8]) -> bool {
    matches!(text, b"declare" | b"typeset" | b"local" | b"export" | b"readonly" | b"alias" | b"eval" | b"let")
}

/// The reserved words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    If,
    Then,
    Else,
    Elif,
    Fi,
    Do,
    Done,
    Case,
    Esac,
    While,
    Until,
    For,
    Select,
    In,
    Function,
    Coproc,
    Time,
    Bang,
    OpenBrace,
    CloseBrace,
    OpenTest,
    CloseTest,
}

/// Whether a reserved word may begin with these two bytes. Of one that has a single byte, the second is any.
pub(crate) const fn may_begin_keyword(first: u8, second: u8) -> bool {
    match first {
        b'!' | b'{' | b'}' => true,
        b'[' | b']' => second == first,
        b'c' => matches!(second, b'a' | b'o'),
        b'd' => second == b'o',
        b'e' => matches!(second, b'l' | b's'),
        b'f' => matches!(second, b'i' | b'o' | b'u'),
        b'i' => matches!(second, b'f' | b'n'),
        b's' => second == b'e',
        b't' => matches!(second, b'h' | b'i'),
        b'u' => second == b'n',
        b'w' => second == b'h',
        _ => false,
    }
}

/// The length of the longest reserved word.
pub(crate) const LONGEST_KEYWORD: usize = 8;

impl Keyword {
    /// The reserved word that the text is.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"if" => Self::If,
            b"then" => Self::Then,
            b"else" => Self::Else,
            b"elif" => Self::Elif,
            b"fi" => Self::Fi,
            b"do" => Self::Do,
            b"done" => Self::Done,
            b"case" => Self::Case,
            b"esac" => Self::Esac,
            b"while" => Self::While,
            b"until" => Self::Until,
            b"for" => Self::For,
            b"select" => Self::Select,
            b"in" => Self::In,
            b"function" => Self::Function,
            b"coproc" => Self::Coproc,
            b"time" => Self::Time,
            b"!" => Self::Bang,
            b"{" => Self::OpenBrace,
            b"}" => Self::CloseBrace,
            b"[[" => Self::OpenTest,
            b"]]" => Self::CloseTest,
            _ => return None,
        })
    }

    /// Whether it ends or continues a list of commands that an earlier reserved word began.
    pub(crate) fn closes(self) -> bool {
        matches!(
            self,
            Self::Then
                | Self::Else
                | Self::Elif
                | Self::Fi
                | Self::Do
                | Self::Done
                | Self::Esac
                | Self::CloseBrace
        )
    }

    /// Whether a compound command begins with it.
    pub(crate) fn opens_compound(self) -> bool {
        matches!(
            self,
            Self::If
                | Self::Case
                | Self::While
                | Self::Until
                | Self::For
                | Self::Select
                | Self::OpenBrace
                | Self::OpenTest
        )
    }

    /// Whether only bash has it: an ordinary word in dash.
    pub(crate) fn is_bash_only(self) -> bool {
        matches!(
            self,
            Self::Select | Self::Function | Self::Coproc | Self::Time | Self::OpenTest | Self::CloseTest
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_reserved_words() {
        for name in [&b"a"[..], b"_", b"_1", b"Path_2"] {
            assert!(is_name(name));
        }
        for other in [&b""[..], b"1a", b"a-b", b"a.b", b"\xc3\xa9", b"a b"] {
            assert!(!is_name(other));
        }
        let words = "if then else elif fi do done case esac while until for select in function coproc time ! { } [[ ]]";
        for word in words.split(' ').map(str::as_bytes) {
            let [first, rest @ ..] = word else { panic!("{word:?}") };
            assert!(is_reserved(word) && word.len() <= LONGEST_KEYWORD);
            assert!(may_begin_keyword(*first, rest.first().copied().unwrap_or(b' ')), "{word:?}");
        }
        assert!(!may_begin_keyword(b'l', b's') && !may_begin_keyword(b'[', b' '));
        assert!(!is_reserved(b"If") && !is_reserved(b"") && !is_reserved(b"iff"));
    }
}
