//! Text that came from outside and may not be UTF-8: a command, an argument, a path.
//!
//! JSON strings are Unicode, Unix strings are bytes. What is valid UTF-8 is written as a plain string; anything
//! else as `{"lossy": "…", "base64": "…"}`, where `lossy` is for people and `base64` (RFC 4648, section 4) is
//! what it really was. Only `base64` is read back.

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// Bytes that are usually text; kept without loss.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Text(Vec<u8>);

impl Text {
    /// The exact bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// For showing to a person: bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn to_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The same bytes as the operating system's string.
    #[must_use]
    pub fn into_os_string(self) -> OsString {
        OsString::from_vec(self.0)
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Text {
        Text(bytes.to_vec())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.as_bytes().to_vec())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text.into_bytes())
    }
}

impl From<&OsStr> for Text {
    fn from(text: &OsStr) -> Text {
        Text(text.as_bytes().to_vec())
    }
}

impl From<&Path> for Text {
    fn from(path: &Path) -> Text {
        Text::from(path.as_os_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("lossy", &self.to_lossy())?;
                map.serialize_entry("base64", &base64_encode(&self.0))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Wire {
            Plain(String),
            Encoded { base64: String },
        }
        match Wire::deserialize(deserializer)? {
            Wire::Plain(text) => Ok(Text::from(text)),
            Wire::Encoded { base64 } => {
                base64_decode(&base64).map(Text).ok_or_else(|| de::Error::custom("not base64"))
            }
        }
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64_encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut octets = [0; 4];
        octets.iter_mut().skip(1).zip(group).for_each(|(slot, byte)| *slot = *byte);
        let bits = u32::from_be_bytes(octets);
        // n bytes fill n + 1 digits; the rest of the four is padding.
        for (place, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = ALPHABET.get((bits >> shift & 63) as usize).copied().unwrap_or(b'=');
            text.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

fn base64_decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for digit in group {
            let value = ALPHABET.iter().position(|letter| letter == digit)?;
            bits = bits << 6 | value as u32;
        }
        let [_, octets @ ..] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        bytes.extend(octets.iter().take(group.len() - 1));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_a_plain_string_and_the_rest_is_lossless() {
        let table = [
            (&b"ls -la"[..], r#""ls -la""#),
            ("naïve\n".as_bytes(), r#""naïve\n""#),
            (b"a\0b", r#""a\u0000b""#),
            (b"rm \xff", r#"{"lossy":"rm \ufffd","base64":"cm0g/w=="}"#),
        ];
        for (bytes, json) in table {
            let text = Text::from(bytes);
            let expected: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_value(&text).unwrap(), expected);
            assert_eq!(serde_json::from_str::<Text>(json).unwrap(), text);
        }
    }

    #[test]
    fn base64_matches_the_vectors_of_rfc_4648() {
        let table =
            ["", "", "f", "Zg==", "fo", "Zm8=", "foo", "Zm9v", "foob", "Zm9vYg==", "fooba", "Zm9vYmE="];
        for pair in table.chunks(2) {
            assert_eq!(base64_encode(pair[0].as_bytes()), pair[1]);
            assert_eq!(base64_decode(pair[1]).unwrap(), pair[0].as_bytes());
        }
    }

    #[test]
    fn every_byte_survives_base64() {
        let all: Vec<u8> = (0..=255).rev().collect();
        for length in [254, 255, 256] {
            let bytes = &all[..length];
            assert_eq!(base64_decode(&base64_encode(bytes)).unwrap(), bytes);
        }
        for bad in ["a", "ab", "abc", "ab=c", "a===", "====", "ab!=", "é==="] {
            assert_eq!(base64_decode(bad), None, "{bad}");
        }
    }
}
