//! Arithmetic expressions, whose text ends at the first bracket that closes them.

use super::{Context, Printer};
use crate::parser::parentheses_balance;
use crate::{Arithmetic, PartKind, WordPart};

/// Where an expression ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// At `))`.
    Parenthesis,
    /// There, or at a semicolon.
    Semicolon,
    /// At `]`.
    Bracket,
    /// Likewise, inside `${…}`.
    BracketInBraces,
    /// The offset of a substring, at a colon or brace, which no operator may begin.
    Offset,
    /// Its length.
    Length,
}

impl<'t> Printer<'t> {
    /// The expression without its delimiters: as it is if it ends where it should, or else its text in double quotes,
    /// which do not count in an expression.
    pub(super) fn expression(&mut self, expression: &Arithmetic<'t>, until: Until) {
        let start = self.out.len();
        if self.in_pair || ends_alone(expression.parts, until) {
            self.parts(expression.parts, Context::Arithmetic, 0);
            let text = self.out.get(start..).unwrap_or(&[]);
            if self.in_pair || until != Until::Parenthesis || parentheses_balance(text) {
                return;
            }
            self.out.truncate(start);
        }
        if expression.parts.is_empty() {
            self.put(b"\"\"");
        }
        self.in_pieces(expression.parts);
    }
}

/// Whether the text, written without quotes, ends only where it is closed.
fn ends_alone(parts: &[WordPart<'_>], until: Until) -> bool {
    let brackets = matches!(until, Until::Bracket | Until::BracketInBraces);
    let substring = matches!(until, Until::Offset | Until::Length);
    if until == Until::Offset && parts.is_empty() {
        return false;
    }
    let mut depth = 0_u32;
    let mut questions = 0_u32;
    let mut before = 0;
    // Between single quotes, which are ordinary characters, but are paired before.
    let mut paired = false;
    for (index, part) in parts.iter().enumerate() {
        let PartKind::Quoted(text) = part.kind else {
            if paired {
                return false;
            }
            before = 0;
            continue;
        };
        if text == b"'" {
            paired = !paired;
            continue;
        }
        if paired {
            if text.iter().any(|byte| b"'\"\\{}$`".contains(byte)) {
                return false;
            }
            continue;
        }
        if index == 0 && until == Until::Offset && matches!(text, [b'-' | b'=' | b'?' | b'+', ..]) {
            return false;
        }
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            let after = std::mem::replace(&mut before, *byte);
            match byte {
                b'\'' => return false,
                b'\\' => {
                    bytes.next();
                }
                b'(' if !brackets => depth += 1,
                b'(' if matches!(after, b'<' | b'>') => return false,
                b'[' if brackets => depth += 1,
                b')' if !brackets => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None if substring => {}
                    None => return false,
                },
                b']' if brackets => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return false,
                },
                b';' if until == Until::Semicolon => return false,
                b'{' | b'}' if until == Until::BracketInBraces => return false,
                b'}' if substring => return false,
                b'?' if substring && depth == 0 => questions += 1,
                b':' if substring && depth == 0 => match questions.checked_sub(1) {
                    Some(less) => questions = less,
                    None => return false,
                },
                _ => {}
            }
        }
    }
    !paired && (depth == 0 || substring)
}
