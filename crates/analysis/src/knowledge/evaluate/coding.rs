//! Programs that encode and decode.

use super::only;
use crate::knowledge::scan::Scan;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// `base64`, both ways.
pub(super) fn base64(scan: &Scan<'_>, text: &[u8]) -> Option<Vec<u8>> {
    based(scan, text, BASE64, 6)
}

/// `base32`, both ways.
pub(super) fn base32(scan: &Scan<'_>, text: &[u8]) -> Option<Vec<u8>> {
    based(scan, text, BASE32, 5)
}

fn based(scan: &Scan<'_>, text: &[u8], alphabet: &[u8], bits: u32) -> Option<Vec<u8>> {
    if scan.has(&["-d", "-D", "--decode"]) {
        let garbage = scan.has(&["-i", "--ignore-garbage"]);
        return only(scan, &["-d", "-D", "--decode", "-i", "--ignore-garbage", "-w", "--wrap"])
            .then(|| decode(text, alphabet, bits, garbage))
            .flatten();
    }
    if !only(scan, &["-w", "--wrap"]) {
        return None;
    }
    let width = match scan.value(&["-w", "--wrap"]) {
        Some(value) => std::str::from_utf8(value.known()?).ok()?.parse().ok()?,
        None => 76,
    };
    Some(encode(text, alphabet, bits, width))
}

/// What well-formed text stands for: groups, of which each may be padded, and the last one of base64 may be cut off. What the programs
/// print of other text depends on their version.
fn decode(text: &[u8], alphabet: &[u8], bits: u32, garbage: bool) -> Option<Vec<u8>> {
    let group = group(bits);
    let mut bytes = Vec::with_capacity(text.len() * bits as usize / 8 + 1);
    let (mut held, mut count) = (0u32, 0u32);
    let (mut letters, mut padding) = (0, 0);
    for byte in text {
        match alphabet.iter().position(|letter| letter == byte) {
            Some(_) if padding > 0 => return None,
            Some(value) => {
                held = (held << bits) | u32::try_from(value).ok()?;
                count += bits;
                letters += 1;
                if count >= 8 {
                    count -= 8;
                    bytes.push(u8::try_from((held >> count) & 0xff).ok()?);
                    held &= (1 << count) - 1;
                }
            }
            None if *byte == b'=' => padding += 1,
            None if *byte == b'\n' || garbage => continue,
            None => return None,
        }
        if letters + padding == group {
            // No more padding than what the bytes leave over, and nothing hidden in it.
            if held != 0 || count >= bits {
                return None;
            }
            (count, letters, padding) = (0, 0, 0);
        }
    }
    let whole = letters == 0 && padding == 0;
    let cut_off = bits == 6 && padding == 0 && held == 0 && count < bits;
    (whole || cut_off).then_some(bytes)
}

/// How many letters stand for whole bytes.
const fn group(bits: u32) -> usize {
    if bits == 6 { 4 } else { 8 }
}

fn encode(text: &[u8], alphabet: &[u8], bits: u32, width: usize) -> Vec<u8> {
    let mut letters = Vec::with_capacity(text.len() * 2);
    let letter = |value: u32| alphabet.get(value as usize).copied().unwrap_or(b'=');
    let (mut held, mut count) = (0u32, 0u32);
    for byte in text {
        held = (held << 8) | u32::from(*byte);
        count += 8;
        while count >= bits {
            count -= bits;
            letters.push(letter((held >> count) & ((1 << bits) - 1)));
            held &= (1 << count) - 1;
        }
    }
    if count > 0 {
        letters.push(letter((held << (bits - count)) & ((1 << bits) - 1)));
    }
    while letters.len() % group(bits) != 0 {
        letters.push(b'=');
    }
    if width == 0 {
        return letters;
    }
    let mut lines = Vec::with_capacity(letters.len() + letters.len() / width + 1);
    for line in letters.chunks(width) {
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
    lines
}

/// `xxd -r -p` and `xxd -p`.
pub(super) fn xxd(scan: &Scan<'_>, text: &[u8]) -> Option<Vec<u8>> {
    let plain = ["-p", "-ps", "-plain", "-postscript"];
    let reverse = ["-r", "-revert"];
    if !scan.has(&plain) || !scan.own().iter().all(|g| plain.contains(&g.name) || reverse.contains(&g.name)) {
        return None;
    }
    if scan.operands.len() > 1 {
        return None;
    }
    if scan.has(&reverse) {
        let mut bytes = Vec::with_capacity(text.len() / 2);
        let mut high = None;
        for byte in text {
            let Some(digit) = char::from(*byte).to_digit(16) else {
                if byte.is_ascii_whitespace() {
                    continue;
                }
                return None;
            };
            high = match high {
                None => Some(digit),
                Some(high) => {
                    bytes.push(u8::try_from(high * 16 + digit).ok()?);
                    None
                }
            };
        }
        return Some(bytes);
    }
    let mut hex = Vec::with_capacity(text.len() * 2 + text.len() / 30 + 1);
    for line in text.chunks(30) {
        for byte in line {
            hex.extend_from_slice(format!("{byte:02x}").as_bytes());
        }
        hex.push(b'\n');
    }
    Some(hex)
}
