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

/// What was decoded before the first error, as the programs print it.
fn decode(text: &[u8], alphabet: &[u8], bits: u32, garbage: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * bits as usize / 8 + 1);
    let (mut held, mut count) = (0u32, 0u32);
    for byte in text {
        if matches!(byte, b'\n' | b'\r' | b'=') {
            // Padding ends a group; what follows may be another one.
            if *byte == b'=' {
                (held, count) = (0, 0);
            }
            continue;
        }
        let Some(value) = alphabet.iter().position(|letter| letter == byte) else {
            if garbage {
                continue;
            }
            return None;
        };
        held = (held << bits) | u32::try_from(value).ok()?;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((held >> count) & 0xff).ok()?);
            held &= (1 << count) - 1;
        }
    }
    Some(bytes)
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
    let group = if bits == 6 { 4 } else { 8 };
    while letters.len() % group != 0 {
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
