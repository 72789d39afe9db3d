//! Escape sequences and digits in literals (language reference, 2.4.1).

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::until;

/// The number that digits of a radix spell, underscores left out.
pub(super) fn parse(digits: &[u8], radix: u32) -> Option<u32> {
    let mut value = 0u32;
    for digit in digits.iter().filter(|b| **b != b'_') {
        value = value.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?)?;
    }
    Some(value)
}

/// The text that a literal with escape sequences stands for.
pub(super) fn unescape<'a>(arena: &'a Bump, inner: &[u8], unicode: bool) -> Option<&'a [u8]> {
    let mut out = BumpVec::with_capacity_in(inner.len(), arena);
    let mut rest = inner;
    loop {
        let (plain, escape) = rest.split_at_checked(until(rest, [b'\\']))?;
        out.extend_from_slice_copy(plain);
        let [_, kind, after @ ..] = escape else { break };
        let kind = *kind;
        rest = after;
        let simple = match kind {
            b'\n' => continue,
            b'\r' => {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                continue;
            }
            b'\\' | b'\'' | b'"' => kind,
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'0'..=b'7' => {
                let digits = rest.iter().take(2).take_while(|b| matches!(b, b'0'..=b'7')).count();
                let (more, after) = rest.split_at(digits);
                rest = after;
                let value = more.iter().fold(u32::from(kind - b'0'), |v, d| v * 8 + u32::from(d - b'0'));
                push_character(&mut out, value, unicode)?;
                continue;
            }
            b'x' | b'u' | b'U' if kind == b'x' || unicode => {
                let length = match kind {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let digits = rest.get(..length)?;
                rest = rest.get(length..)?;
                push_character(&mut out, parse(digits, 16)?, unicode)?;
                continue;
            }
            // Which character a name means would take a table; that it is none of the path's own is not certain.
            b'N' if unicode => return None,
            _ => {
                out.push(b'\\');
                kind
            }
        };
        out.push(simple);
    }
    Some(out.into_bump_slice())
}

fn push_character(out: &mut BumpVec<'_, u8>, value: u32, unicode: bool) -> Option<()> {
    if !unicode {
        out.push(u8::try_from(value & 0xff).ok()?);
        return Some(());
    }
    // A lone surrogate stands for a byte that is no character; it names nothing that matters.
    let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
    let mut buffer = [0; 4];
    out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    Some(())
}
