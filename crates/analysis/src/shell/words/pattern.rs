//! Matching of shell patterns (POSIX XCU 2.13, bash's extended patterns), in the C locale.

use crate::bracket;

/// How much matching one pattern may cost before it counts as not known.
const MOST_WORK: u32 = 1 << 16;

/// Whether all of `text` matches a pattern in which a backslash quotes. `None` when that takes too long to tell or the
/// pattern holds what is not modelled (collating symbols).
pub(in crate::shell) fn matches(pattern: &[u8], text: &[u8], extended: bool) -> Option<bool> {
    if !text.is_ascii() && pattern.iter().any(|byte| matches!(byte, b'?' | b'[' | b'!')) {
        // How many bytes a character takes depends on the locale.
        return None;
    }
    let mut matcher = Matcher { work: MOST_WORK, extended };
    matcher.whole(pattern, text, 0)
}

struct Matcher {
    work: u32,
    extended: bool,
}

/// One element of a pattern and how many bytes it takes.
enum Element<'p> {
    End,
    Byte(u8, usize),
    Any,
    Star,
    Set(&'p [u8], usize),
    Group(u8, &'p [u8], usize),
}

impl Matcher {
    fn spend(&mut self) -> Option<()> {
        self.work = self.work.checked_sub(1)?;
        Some(())
    }

    fn element<'p>(&mut self, pattern: &'p [u8]) -> Option<Element<'p>> {
        Some(match pattern {
            [] => Element::End,
            [b'\\', byte, ..] => Element::Byte(*byte, 2),
            [operator @ (b'?' | b'*' | b'+' | b'@' | b'!'), b'(', rest @ ..] if self.extended => {
                // Behind a group that is not closed bash compares what is left as text, quotes included.
                let end = closing(rest)?;
                Element::Group(*operator, rest.get(..end)?, end + 3)
            }
            [b'[', rest @ ..] => match bracket::inside(rest) {
                Some(end) => Element::Set(rest.get(..end)?, end + 2),
                None => Element::Byte(b'[', 1),
            },
            [byte, ..] => simple(*byte),
        })
    }

    fn whole(&mut self, pattern: &[u8], text: &[u8], depth: u8) -> Option<bool> {
        let (mut p, mut t) = (0, 0);
        // Where to go on after a mismatch: after the last star, one more byte swallowed.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            self.spend()?;
            let rest = pattern.get(p..).unwrap_or_default();
            let next = text.get(t).copied();
            let matched = match self.element(rest)? {
                Element::End if next.is_none() => return Some(true),
                Element::End => None,
                Element::Star => {
                    retry = Some((p + 1, t));
                    Some((1, 0))
                }
                Element::Byte(byte, width) => (next == Some(byte)).then_some((width, 1)),
                Element::Any => next.map(|_| (1, 1)),
                Element::Set(set, width) => match next {
                    Some(byte) => in_set(set, byte)?.then_some((width, 1)),
                    None => None,
                },
                Element::Group(operator, alternatives, width) => {
                    let after = rest.get(width..).unwrap_or_default();
                    let tail = text.get(t..).unwrap_or_default();
                    if self.group(operator, alternatives, after, tail, depth)? {
                        return Some(true);
                    }
                    None
                }
            };
            match (matched, retry) {
                (Some((pattern_width, text_width)), _) => {
                    p += pattern_width;
                    t += text_width;
                }
                (None, Some((star, swallowed))) if swallowed < text.len() => {
                    p = star;
                    t = swallowed + 1;
                    retry = Some((star, swallowed + 1));
                }
                (None, _) => return Some(false),
            }
        }
    }

    /// Whether a group followed by `after` matches all of `text`.
    fn group(
        &mut self,
        operator: u8,
        alternatives: &[u8],
        after: &[u8],
        text: &[u8],
        depth: u8,
    ) -> Option<bool> {
        if depth > 8 {
            return None;
        }
        let optional = matches!(operator, b'?' | b'*');
        if optional && self.whole(after, text, depth + 1)? {
            return Some(true);
        }
        for end in 0..=text.len() {
            self.spend()?;
            let (head, tail) = (text.get(..end)?, text.get(end..)?);
            let mut any = false;
            for alternative in split_alternatives(alternatives) {
                if self.whole(alternative, head, depth + 1)? {
                    any = true;
                    break;
                }
            }
            let fits = match operator {
                b'!' => !any,
                _ => any,
            };
            if !fits {
                continue;
            }
            if self.whole(after, tail, depth + 1)? {
                return Some(true);
            }
            if matches!(operator, b'*' | b'+')
                && end > 0
                && self.group(b'*', alternatives, after, tail, depth + 1)?
            {
                return Some(true);
            }
        }
        Some(false)
    }
}

const fn simple<'p>(byte: u8) -> Element<'p> {
    match byte {
        b'*' => Element::Star,
        b'?' => Element::Any,
        _ => Element::Byte(byte, 1),
    }
}

fn in_set(set: &[u8], byte: u8) -> Option<bool> {
    let (negated, mut rest) = match set {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, set),
    };
    let mut found = false;
    let mut first = true;
    while let Some((head, tail)) = rest.split_first() {
        let (low, after) = match (head, tail) {
            (b'[', [b':', inner @ ..]) => {
                let end = inner.windows(2).position(|pair| pair == b":]")?;
                found |= in_class(inner.get(..end)?, byte)?;
                rest = inner.get(end + 2..)?;
                first = false;
                continue;
            }
            (b'[', [b'.' | b'=', ..]) => return None,
            (b'\\', [quoted, after @ ..]) => (*quoted, after),
            (b']', _) if !first => return None,
            (low, after) => (*low, after),
        };
        first = false;
        match after {
            [b'-', high, after @ ..] => {
                let (high, after) = match (high, after) {
                    (b'\\', [quoted, after @ ..]) => (*quoted, after),
                    (high, after) => (*high, after),
                };
                // What lies between two letters depends on the locale; only its ASCII reading is modelled.
                found |= (low..=high).contains(&byte);
                rest = after;
            }
            _ => {
                found |= low == byte;
                rest = after;
            }
        }
    }
    Some(found != negated)
}

fn in_class(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => matches!(byte, b' ' | 9..=13),
        b"upper" => byte.is_ascii_uppercase(),
        b"word" => byte.is_ascii_alphanumeric() || byte == b'_',
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

/// What is read of a group: how deep the groups in it are, and whether this is inside a bracket expression, where
/// neither parentheses nor bars count (`PATSCAN` in bash's `sm_loop.c`).
#[derive(Default)]
struct Scan {
    depth: u32,
    bracket: Option<Bracket>,
}

/// A bracket expression that is being read.
struct Bracket {
    /// Where a `]` would stand for itself.
    first: usize,
    /// The character that ends a class, symbol or equivalence that was begun in it.
    inner: Option<u8>,
}

impl Scan {
    /// Reads the byte at a place and tells where the next one stands.
    fn step(&mut self, text: &[u8], index: usize) -> Option<usize> {
        let byte = *text.get(index)?;
        let after = text.get(index + 1).copied();
        if byte == b'\\' {
            return Some(index + 2);
        }
        match &mut self.bracket {
            None if byte == b'[' => {
                let negated = matches!(after, Some(b'!' | b'^'));
                self.bracket = Some(Bracket { first: index + 1 + usize::from(negated), inner: None });
            }
            None if byte == b'(' => self.depth += 1,
            None if byte == b')' => self.depth = self.depth.saturating_sub(1),
            None => {}
            Some(bracket) if byte == b'[' => {
                bracket.inner = after.filter(|kind| b":.=".contains(kind)).or(bracket.inner);
            }
            Some(bracket) if byte == b']' => {
                let before = index.checked_sub(1).and_then(|before| text.get(before));
                if bracket.inner.is_some() && bracket.inner.as_ref() == before {
                    bracket.inner = None;
                } else if index != bracket.first {
                    self.bracket = None;
                }
            }
            Some(_) => {}
        }
        Some(index + 1)
    }

    /// Whether what comes next belongs to no group and no bracket expression in the text.
    const fn is_outside(&self) -> bool {
        self.depth == 0 && self.bracket.is_none()
    }
}

/// Where the parenthesis that closes a group stands.
fn closing(rest: &[u8]) -> Option<usize> {
    let mut scan = Scan::default();
    let mut index = 0;
    while *rest.get(index)? != b')' || !scan.is_outside() {
        index = scan.step(rest, index)?;
    }
    Some(index)
}

fn split_alternatives(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut scan, mut index) = (Scan::default(), 0);
        while text.get(index) != Some(&b'|') || !scan.is_outside() {
            let Some(next) = scan.step(text, index) else {
                rest = None;
                return Some(text);
            };
            index = next;
        }
        rest = text.get(index + 1..);
        text.get(..index)
    })
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_the_shell() {
        let table: &[(&str, &str, bool)] = &[
            ("", "", true),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abb", false),
            ("*a*b*c", "xxaxxbxxc", true),
            ("?", "", false),
            ("[abc]", "b", true),
            ("[!abc]", "b", false),
            ("[^a]", "b", true),
            ("[]x]", "]", true),
            ("[a-c]x", "bx", true),
            ("[[:digit:]]*", "1a", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("@(a|b)c", "bc", true),
            ("@(a|b)c", "cc", false),
            ("?(x)y", "y", true),
            ("*(ab)", "ababab", true),
            ("+(ab)", "", false),
            ("!(a)", "b", true),
            ("!(a)", "a", false),
            ("!(*.c).h", "x.h", true),
            ("@([)])x", ")x", true),
            ("@([|]|z)", "|", true),
            ("@([|]|z)", "z", true),
            ("@([]|)]|z)", "]", true),
            ("@([!]])", ")", true),
            ("@([[:digit:])])", ")", true),
        ];
        for (pattern, text, expected) in table {
            assert_eq!(
                matches(pattern.as_bytes(), text.as_bytes(), true),
                Some(*expected),
                "{pattern} {text}"
            );
        }
        assert_eq!(matches(b"@(a)", b"@(a)", false), Some(true));
        assert_eq!(matches(b"@(a", b"@(a", true), None);
        assert_eq!(matches(b"@(a[)", b"a", true), None);
    }

    #[test]
    fn hostile_patterns_end() {
        let pattern = "*a".repeat(200) + "b";
        let text = "a".repeat(4000);
        assert_ne!(matches(pattern.as_bytes(), text.as_bytes(), true), Some(true));
        let nested = "+(".repeat(60) + "a" + &")".repeat(60);
        assert_ne!(matches((nested + "b").as_bytes(), text.as_bytes(), true), Some(true));
    }
}
