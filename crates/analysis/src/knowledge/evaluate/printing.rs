//! Programs that print their arguments.

use super::MAX_OUTPUT;
use bumpalo::Bump;
use shward_syntax::until;

/// `echo` as GNU coreutils and bash have it.
pub(super) fn echo(words: &[&[u8]]) -> Option<Vec<u8>> {
    let mut words = words;
    let (mut newline, mut escapes) = (true, false);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|l| !l.is_empty()) else { break };
        if !letters.iter().all(|b| matches!(b, b'n' | b'e' | b'E')) {
            break;
        }
        for letter in letters {
            match letter {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        words = rest;
    }
    let mut text = Vec::with_capacity(words.iter().map(|word| word.len() + 1).sum::<usize>() + 1);
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        if escapes {
            if !unescape(word, Escapes::Echo, &mut text)? {
                return Some(text);
            }
        } else {
            text.extend_from_slice(word);
        }
    }
    if newline {
        text.push(b'\n');
    }
    Some(text)
}

/// Whose escapes are read. The octal form is `\0NNN` or, in the format of printf, `\NNN`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// Of `echo -e`.
    Echo,
    /// Of `%b`.
    Argument,
    /// Of the format of printf.
    Format,
}

/// Adds the text with its backslash escapes replaced. False: `\c` ends all output. `None`: not certain.
fn unescape(word: &[u8], form: Escapes, text: &mut Vec<u8>) -> Option<bool> {
    let mut rest = word;
    loop {
        let (plain, escape) = rest.split_at_checked(until(rest, [b'\\']))?;
        text.extend_from_slice(plain);
        let Some((_, tail)) = escape.split_first() else { break };
        let Some((kind, tail)) = tail.split_first() else {
            if form == Escapes::Format {
                // A conversion may follow, of which GNU's printf then makes text.
                return None;
            }
            text.push(b'\\');
            break;
        };
        rest = tail;
        match kind {
            b'a' => text.push(7),
            b'b' => text.push(8),
            b'e' | b'E' => text.push(27),
            b'f' => text.push(12),
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'v' => text.push(11),
            b'\\' => text.push(b'\\'),
            b'"' if form == Escapes::Format => text.push(b'"'),
            // GNU's printf takes the backslash away, bash's does not.
            b'"' if form == Escapes::Argument => return None,
            // bash's printf takes the backslash away and prints `\c`, GNU's does neither.
            b'\'' | b'?' | b'c' if form == Escapes::Format => return None,
            b'c' => return Some(false),
            b'x' => {
                let (value, used) = digits(rest, 16, 2);
                if used == 0 {
                    return None;
                }
                text.push(u8::try_from(value).ok()?);
                rest = rest.get(used..).unwrap_or_default();
            }
            b'u' | b'U' => {
                let (value, used) = digits(rest, 16, if *kind == b'u' { 4 } else { 8 });
                // What others become depends on the locale.
                let letter = u8::try_from(value).ok().filter(|letter| used > 0 && letter.is_ascii())?;
                text.push(letter);
                rest = rest.get(used..).unwrap_or_default();
            }
            b'0'..=b'7' => {
                let (start, most) = match (form, kind) {
                    (Escapes::Echo | Escapes::Argument, b'0') => (rest, 3),
                    (Escapes::Echo | Escapes::Argument, _) => return None,
                    (Escapes::Format, _) => (word.get(word.len() - rest.len() - 1..)?, 3),
                };
                let (value, used) = digits(start, 8, most);
                text.push(u8::try_from(value).ok()?);
                rest = start.get(used..).unwrap_or_default();
            }
            _ => text.extend_from_slice(&[b'\\', *kind]),
        }
    }
    Some(true)
}

/// The number at the beginning, and how many digits it has.
fn digits(text: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut used = 0;
    for byte in text.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        used += 1;
    }
    (value, used)
}

/// `printf` with the conversions whose output does not depend on the locale.
pub(super) fn printf(words: &[&[u8]]) -> Option<Vec<u8>> {
    let (ended, words) = match words.split_first() {
        Some((first, rest)) if *first == b"--" => (true, rest),
        _ => (false, words),
    };
    let (format, mut arguments) = words.split_first()?;
    if format.starts_with(b"-") && !ended {
        return None;
    }
    let mut text = Vec::new();
    loop {
        let before = arguments.len();
        if !format_once(format, &mut arguments, &mut text)? || text.len() > MAX_OUTPUT {
            return Some(text);
        }
        if arguments.is_empty() || arguments.len() == before {
            return Some(text);
        }
    }
}

/// Uses the format once. False: output has ended.
fn format_once(format: &[u8], arguments: &mut &[&[u8]], text: &mut Vec<u8>) -> Option<bool> {
    let mut rest = format;
    while !rest.is_empty() {
        let plain = rest.iter().position(|b| *b == b'%').unwrap_or(rest.len());
        if !unescape(rest.get(..plain)?, Escapes::Format, text)? {
            return Some(false);
        }
        let Some(spec) = rest.get(plain + 1..) else { break };
        if let Some(after) = spec.strip_prefix(b"%") {
            text.push(b'%');
            rest = after;
            continue;
        }
        let left = spec.first() == Some(&b'-');
        let spec = if left { spec.get(1..)? } else { spec };
        let zero = !left && spec.first() == Some(&b'0');
        let (width, used) = digits(spec, 10, 4);
        let (kind, after) = spec.get(used..)?.split_first()?;
        let argument = match arguments.split_first() {
            Some((first, others)) => {
                *arguments = others;
                *first
            }
            None => b"",
        };
        let mut piece = Vec::new();
        match kind {
            b's' => piece.extend_from_slice(argument),
            // GNU's printf has no width for it.
            b'b' if used > 0 || left => return None,
            b'b' => {
                if !unescape(argument, Escapes::Argument, &mut piece)? {
                    text.extend_from_slice(&piece);
                    return Some(false);
                }
            }
            // Of nothing it prints a NUL.
            b'c' => piece.push(*argument.first()?),
            b'd' | b'i' => piece.extend_from_slice(integer(argument)?.to_string().as_bytes()),
            b'u' => piece.extend_from_slice(u64::try_from(integer(argument)?).ok()?.to_string().as_bytes()),
            b'x' => piece.extend_from_slice(format!("{:x}", integer(argument)?).as_bytes()),
            b'X' => piece.extend_from_slice(format!("{:X}", integer(argument)?).as_bytes()),
            b'o' => piece.extend_from_slice(format!("{:o}", integer(argument)?).as_bytes()),
            _ => return None,
        }
        if zero && piece.starts_with(b"-") {
            return None;
        }
        let padding = (width as usize).saturating_sub(piece.len());
        let fill = if zero && *kind != b's' { b'0' } else { b' ' };
        if !left {
            text.resize(text.len() + padding, fill);
        }
        text.extend_from_slice(&piece);
        if left {
            text.resize(text.len() + padding, b' ');
        }
        rest = after;
    }
    Some(true)
}

/// A C integer constant, or the code of a character after a quote.
fn integer(text: &[u8]) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    if let [b'\'' | b'"', letter] = text {
        return Some(i64::from(*letter));
    }
    let (sign, text) = text.strip_prefix(b"-").map_or((1, text), |rest| (-1, rest));
    let text = std::str::from_utf8(text).ok()?;
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        // A second sign, which the parsers below would take.
        return None;
    }
    let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(text, 8).ok()?,
        None => text.parse().ok()?,
    };
    Some(sign * value)
}

/// `seq` over whole numbers.
pub(super) fn seq<'a>(arena: &'a Bump, words: &[&[u8]]) -> Option<&'a [u8]> {
    if let [b"-w", words @ ..] = words {
        return padded(arena, words);
    }
    let numbers: Option<Vec<i64>> = words.iter().map(|w| std::str::from_utf8(w).ok()?.parse().ok()).collect();
    let (first, step, last) = match numbers?.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] if *step != 0 => (*first, *step, *last),
        _ => return None,
    };
    if step == 1 && 0 <= first && first <= last && last < MOST_COUNTED {
        return counted(arena, first, last, 1);
    }
    let lines = last.checked_sub(first)?.checked_div(step)?.checked_add(1)?;
    if usize::try_from(lines).is_ok_and(|lines| lines > MAX_OUTPUT / 2) {
        return None;
    }
    let mut text = Vec::new();
    let mut number = first;
    while (step > 0 && number <= last) || (step < 0 && number >= last) {
        push_line(&mut text, number);
        number = number.checked_add(step)?;
        if text.len() > MAX_OUTPUT {
            return None;
        }
    }
    Some(arena.alloc_slice_copy(&text))
}

/// Numbers one a line, filled up with zeros to the same width, which is that of the longest word (seq(1)). Only natural ones.
fn padded<'a>(arena: &'a Bump, words: &[&[u8]]) -> Option<&'a [u8]> {
    let first = if words.len() == 1 { &b"1"[..] } else { words.first()? };
    let last = words.last()?;
    let width = first.len().max(last.len());
    let number = |word: &[u8]| {
        let digits =
            std::str::from_utf8(word).ok().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        digits?.parse::<i64>().ok()
    };
    if words.len() <= 2
        && width < LONGEST_COUNTED
        && let (Some(first), Some(last)) = (number(first), number(last))
        && 0 <= first
        && first <= last
    {
        return counted(arena, first, last, width);
    }
    let lines = seq(arena, words)?;
    let count = lines.iter().filter(|byte| **byte == b'\n').count();
    if words.iter().any(|word| !word.iter().all(u8::is_ascii_digit))
        || count.checked_mul(width + 1)? > MAX_OUTPUT
    {
        return None;
    }
    let mut text = Vec::with_capacity(count * (width + 1));
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        text.resize(text.len() + (width + 1).saturating_sub(line.len()), b'0');
        text.extend_from_slice(line);
    }
    Some(arena.alloc_slice_copy(&text))
}

/// Numbers below this are counted digit by digit: a line of one fits into seven bytes.
const MOST_COUNTED: i64 = 1_000_000;
const LONGEST_COUNTED: usize = 7;

/// The numbers from `first` to `last`, each with a newline, and with zeros before it if it is not as wide as they are to be.
/// `None` if there are too many.
fn counted(arena: &Bump, first: i64, last: i64, width: usize) -> Option<&[u8]> {
    // Of each length the first number, and how many there are.
    let mut levels: [(i64, usize); 6] = [(0, 0); 6];
    let (mut number, mut bytes, mut limit) = (first, 0, 10i64.checked_pow(u32::try_from(width).ok()?)?);
    for (level, length) in levels.iter_mut().zip(width + 1..) {
        if number <= last && number < limit {
            let end = last.min(limit - 1);
            *level = (number, usize::try_from(end - number + 1).ok()?);
            bytes += level.1 * length;
            number = end + 1;
        }
        limit *= 10;
    }
    if bytes > MAX_OUTPUT {
        return None;
    }
    let text = arena.alloc_slice_fill_copy(bytes, 0);
    let mut rest = &mut *text;
    for ((number, count), length) in levels.into_iter().zip(width + 1..).filter(|((_, count), _)| *count > 0)
    {
        let (lines, after) = rest.split_at_mut_checked(count * length)?;
        let mut line = Vec::with_capacity(8);
        push_line(&mut line, number);
        line.splice(..0, std::iter::repeat_n(b'0', length.saturating_sub(line.len())));
        match length {
            2 => count_lines::<2>(lines, &line),
            3 => count_lines::<3>(lines, &line),
            4 => count_lines::<4>(lines, &line),
            5 => count_lines::<5>(lines, &line),
            6 => count_lines::<6>(lines, &line),
            _ => count_lines::<7>(lines, &line),
        }
        rest = after;
    }
    Some(text)
}

/// Fills lines of this length with the first number and those after it.
fn count_lines<const LENGTH: usize>(lines: &mut [u8], first: &[u8]) {
    let Some(mut number) = first.first_chunk::<LENGTH>().copied() else { return };
    for line in lines.as_chunks_mut::<LENGTH>().0 {
        *line = number;
        for digit in number.iter_mut().rev().skip(1) {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
    }
}

/// The number in decimal, and a newline.
fn push_line(text: &mut Vec<u8>, number: i64) {
    let mut line = [b'\n'; 21];
    let mut start = line.len() - 1;
    let mut rest = number.unsigned_abs();
    for (index, place) in line.iter_mut().enumerate().rev().skip(1) {
        (start, *place) = (index, b'0' + u8::try_from(rest % 10).unwrap_or_default());
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        text.push(b'-');
    }
    text.extend_from_slice(line.get(start..).unwrap_or_default());
}

/// `basename NAME [SUFFIX]`.
pub(super) fn basename(words: &[&[u8]]) -> Option<Vec<u8>> {
    let (name, suffix) = match words {
        [name] => (*name, &b""[..]),
        [name, suffix] => (*name, *suffix),
        _ => return None,
    };
    if name.starts_with(b"-") {
        return None;
    }
    let base = match crate::knowledge::values::base_name(name) {
        b"" if !name.is_empty() => b"/",
        base => base,
    };
    let cut = base.strip_suffix(suffix).filter(|rest| !rest.is_empty()).unwrap_or(base);
    Some([cut, b"\n"].concat())
}

/// `dirname NAME`.
pub(super) fn dirname(words: &[&[u8]]) -> Option<Vec<u8>> {
    let [name] = words else { return None };
    if name.starts_with(b"-") {
        return None;
    }
    let trim = |text: &mut &[u8]| {
        while let Some(shorter) = text.strip_suffix(b"/").filter(|s| !s.is_empty()) {
            *text = shorter;
        }
    };
    let mut path: &[u8] = name;
    trim(&mut path);
    let directory = match path.iter().rposition(|b| *b == b'/') {
        Some(0) => &b"/"[..],
        Some(at) => {
            let mut directory = path.get(..at)?;
            trim(&mut directory);
            directory
        }
        None => b".",
    };
    Some([directory, b"\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_width_that_is_asked_for() {
        for words in [
            "9 11",
            "1 3",
            "08 12",
            "3",
            "0 0",
            "98 102",
            "0000001 2",
            "999999",
            "7 5",
            "1 2 9",
            "099998 100001",
        ] {
            let plain: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
            let padded: Vec<&[u8]> = std::iter::once(&b"-w"[..]).chain(plain.iter().copied()).collect();
            let arena = Bump::new();
            let width = plain.iter().map(|word| word.len()).max().unwrap_or(0);
            let lines = seq(&arena, &plain).map(|text| String::from_utf8_lossy(text).into_owned());
            let expected =
                lines.map(|lines| lines.lines().map(|line| format!("{line:0>width$}\n")).collect::<String>());
            let found = seq(&arena, &padded).map(|text| String::from_utf8_lossy(text).into_owned());
            assert_eq!(found, expected.filter(|text| text.len() <= MAX_OUTPUT), "{words}");
        }
    }
}
