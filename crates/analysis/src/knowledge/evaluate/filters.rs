//! Programs that pass text through, changed.

use super::only;
use crate::knowledge::scan::Scan;

/// `tr SET1 [SET2]` with `-d` and `-c` on plain characters, ranges and the common classes.
pub(super) fn tr(scan: &Scan<'_>, text: &[u8]) -> Option<Vec<u8>> {
    let delete = scan.has(&["-d", "--delete"]);
    let complement = scan.has(&["-c", "-C", "--complement"]);
    let squeeze = scan.has(&["-s", "--squeeze-repeats"]);
    if !only(scan, &["-d", "--delete", "-c", "-C", "--complement", "-s", "--squeeze-repeats"]) {
        return None;
    }
    let sets: Option<Vec<&[u8]>> = scan.operands.iter().map(|o| o.known()).collect();
    match (sets?.as_slice(), delete, squeeze) {
        ([one], true, false) => {
            let set = expand(one)?;
            Some(text.iter().copied().filter(|b| set.contains(b) == complement).collect())
        }
        ([one, two], false, false) if !complement => {
            let (from, to) = (expand(one)?, expand(two)?);
            let last = *to.last()?;
            let mut map: Vec<u8> = (0..=255).collect();
            for (index, byte) in from.iter().enumerate() {
                if let Some(entry) = map.get_mut(usize::from(*byte)) {
                    *entry = to.get(index).copied().unwrap_or(last);
                }
            }
            Some(text.iter().filter_map(|b| map.get(usize::from(*b)).copied()).collect())
        }
        ([one], false, true) if !complement => {
            let set = expand(one)?;
            let mut out: Vec<u8> = Vec::with_capacity(text.len());
            for byte in text {
                if !(set.contains(byte) && out.last() == Some(byte)) {
                    out.push(*byte);
                }
            }
            Some(out)
        }
        _ => None,
    }
}

/// The characters that an operand of `tr` stands for, in order.
fn expand(set: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = set;
    while !rest.is_empty() {
        if let Some(class) = rest.strip_prefix(b"[:") {
            let end = class.windows(2).position(|w| w == b":]")?;
            let all: Box<dyn Iterator<Item = u8>> = match class.get(..end)? {
                b"upper" => Box::new(b'A'..=b'Z'),
                b"lower" => Box::new(b'a'..=b'z'),
                b"digit" => Box::new(b'0'..=b'9'),
                b"space" => Box::new([b'\t', b'\n', 11, 12, b'\r', b' '].into_iter()),
                _ => return None,
            };
            bytes.extend(all);
            rest = class.get(end + 2..)?;
            continue;
        }
        // Classes of what is alike, and `[x*3]`, which repeats.
        if rest.starts_with(b"[=") || (rest.starts_with(b"[") && rest.contains(&b'*')) {
            return None;
        }
        let (first, after) = character(rest)?;
        if let Some(range) = after.strip_prefix(b"-").filter(|r| !r.is_empty()) {
            let (last, after) = character(range)?;
            if first > last {
                return None;
            }
            bytes.extend(first..=last);
            rest = after;
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    Some(bytes)
}

/// One character, perhaps escaped.
fn character(text: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = text.split_first()?;
    if *first != b'\\' {
        return Some((*first, rest));
    }
    let (kind, after) = rest.split_first()?;
    let byte = match kind {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'\\' => b'\\',
        b'0'..=b'7' => {
            let used = rest.iter().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
            let value = rest.iter().take(used).fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
            return Some((u8::try_from(value).ok()?, rest.get(used..)?));
        }
        _ => *kind,
    };
    Some((byte, after))
}

/// The lines with their line ends.
fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|b| *b == b'\n')
}

/// Every line backwards; only ASCII, because `rev` turns characters, not bytes.
pub(super) fn rev(text: &[u8]) -> Option<Vec<u8>> {
    if !text.is_ascii() {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    for line in lines(text) {
        let (body, end) = line.strip_suffix(b"\n").map_or((line, &b""[..]), |body| (body, &b"\n"[..]));
        out.extend(body.iter().rev());
        out.extend_from_slice(end);
    }
    Some(out)
}

/// The lines from last to first.
pub(super) fn tac(text: &[u8]) -> Vec<u8> {
    lines(text).rev().collect::<Vec<_>>().concat()
}

/// `head -n N`, `head -c N`.
pub(super) fn head(scan: &Scan<'_>, text: &[u8], files: usize) -> Option<Vec<u8>> {
    let (count, bytes) = amount(scan, files)?;
    if bytes {
        return Some(text.get(..count).unwrap_or(text).to_vec());
    }
    Some(lines(text).take(count).collect::<Vec<_>>().concat())
}

/// `tail -n N`, `tail -n +N`, `tail -c N`.
pub(super) fn tail(scan: &Scan<'_>, text: &[u8], files: usize) -> Option<Vec<u8>> {
    if let Some(from) = scan.value(&["-n", "--lines"]).and_then(|v| v.known()?.strip_prefix(b"+")) {
        let from = number(from)?;
        return (files <= 1 && scan.own().len() == 1)
            .then(|| lines(text).skip(from.saturating_sub(1)).collect::<Vec<_>>().concat());
    }
    let (count, bytes) = amount(scan, files)?;
    if bytes {
        return Some(text.get(text.len().saturating_sub(count)..)?.to_vec());
    }
    let total = lines(text).count();
    Some(lines(text).skip(total.saturating_sub(count)).collect::<Vec<_>>().concat())
}

/// How many lines or bytes; ten lines unless an option says otherwise.
fn amount(scan: &Scan<'_>, files: usize) -> Option<(usize, bool)> {
    if files > 1 {
        return None;
    }
    match scan.own() {
        [] => Some((10, false)),
        [given] if matches!(given.name, "-n" | "--lines") => Some((number(given.value?.known()?)?, false)),
        [given] if matches!(given.name, "-c" | "--bytes") => Some((number(given.value?.known()?)?, true)),
        // `-20`: every digit is an option of its own.
        digits => {
            let mut count = 0usize;
            for given in digits {
                let digit: usize = given.name.strip_prefix('-')?.parse().ok().filter(|d| *d < 10)?;
                count = count.checked_mul(10)?.checked_add(digit)?;
            }
            Some((count, false))
        }
    }
}

/// A decimal number without a sign, which would mean something else.
fn number(text: &[u8]) -> Option<usize> {
    let digits = text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// `cut -d X -f LIST` and `cut -c LIST` for ASCII text.
pub(super) fn cut(scan: &Scan<'_>, text: &[u8]) -> Option<Vec<u8>> {
    if !text.is_ascii()
        || !only(scan, &["-d", "--delimiter", "-f", "--fields", "-c", "--characters", "-b", "--bytes"])
    {
        return None;
    }
    let fields = scan.value(&["-f", "--fields"]);
    let places = scan.value(&["-c", "--characters", "-b", "--bytes"]);
    let mut out = Vec::new();
    match (fields, places) {
        (Some(list), None) => {
            let list = ranges(list.known()?)?;
            let delimiter = match scan.value(&["-d", "--delimiter"]) {
                Some(value) => match value.known()? {
                    // Lines are the fields then.
                    [b'\n'] => return None,
                    [one] => *one,
                    _ => return None,
                },
                None => b'\t',
            };
            for line in text.split_inclusive(|b| *b == b'\n') {
                let body = line.strip_suffix(b"\n").unwrap_or(line);
                if body.contains(&delimiter) {
                    let kept =
                        body.split(|b| *b == delimiter).enumerate().filter(|(i, _)| inside(&list, i + 1));
                    out.extend(kept.map(|(_, f)| f).collect::<Vec<_>>().join(&delimiter));
                } else {
                    out.extend_from_slice(body);
                }
                out.push(b'\n');
            }
        }
        (None, Some(list)) if !scan.has(&["-d", "--delimiter"]) => {
            let list = ranges(list.known()?)?;
            for line in text.split_inclusive(|b| *b == b'\n') {
                let body = line.strip_suffix(b"\n").unwrap_or(line);
                out.extend(body.iter().enumerate().filter(|(i, _)| inside(&list, i + 1)).map(|(_, b)| *b));
                out.push(b'\n');
            }
        }
        _ => return None,
    }
    Some(out)
}

/// `1,3-5,7-`.
fn ranges(list: &[u8]) -> Option<Vec<(usize, usize)>> {
    list.split(|byte| *byte == b',')
        .map(|part| {
            let (first, last) = match part.iter().position(|byte| *byte == b'-') {
                Some(0) => (1, number(part.get(1..)?)?),
                Some(at) if at + 1 == part.len() => (number(part.get(..at)?)?, usize::MAX),
                Some(at) => (number(part.get(..at)?)?, number(part.get(at + 1..)?)?),
                None => number(part).map(|place| (place, place))?,
            };
            (1 <= first && first <= last).then_some((first, last))
        })
        .collect()
}

fn inside(ranges: &[(usize, usize)], number: usize) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&number))
}

/// Plain `sort`, `sort -r`, `sort -u` of ASCII lines, which every locale orders alike only if they have one case and
/// no punctuation.
pub(super) fn sort(scan: &Scan<'_>, text: &[u8]) -> Option<Vec<u8>> {
    let plain = text.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'\n');
    if !plain || !only(scan, &["-r", "--reverse", "-u", "--unique"]) {
        return None;
    }
    let mut sorted: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
    if sorted.last() == Some(&&b""[..]) {
        sorted.pop();
    }
    sorted.sort_unstable();
    if scan.has(&["-u", "--unique"]) {
        sorted.dedup();
    }
    if scan.has(&["-r", "--reverse"]) {
        sorted.reverse();
    }
    let mut out = Vec::with_capacity(text.len() + 1);
    for line in sorted {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    Some(out)
}
