//! SHA-256 as the chain uses it: a value that is compared, printed and read as 64 hex digits.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest. In text it is 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Digest([u8; 32]);

impl Digest {
    /// What the first record of a chain names as the hash before it: 64 zeros.
    pub const ZERO: Digest = Digest([0; 32]);

    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The 32 raw bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Once per record, so without the machinery that formats any number in any way.
        let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            if let [high, low] = pair {
                (*high, *low) = (digit(byte >> 4), digit(byte & 15));
            }
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The text is not 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 lower-case hex digits")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    /// Upper case is refused: one digest has one spelling, so that logs can be compared as text.
    fn from_str(text: &str) -> Result<Digest, NotADigest> {
        let mut digits = text.bytes().map(|byte| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(NotADigest),
        });
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            let high = digits.next().ok_or(NotADigest)??;
            let low = digits.next().ok_or(NotADigest)??;
            *byte = high << 4 | low;
        }
        if digits.next().is_some() { Err(NotADigest) } else { Ok(Digest(bytes)) }
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Size and digest of an output stream, as the log keeps it in place of the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamDigest {
    /// Bytes that the child wrote to the stream and shward read.
    pub bytes: u64,
    /// Digest of those bytes.
    pub sha256: Digest,
}

/// Computes a [`StreamDigest`] while the stream passes by.
#[derive(Clone, Default)]
pub struct StreamHasher {
    hasher: Sha256,
    bytes: u64,
}

impl StreamHasher {
    /// A hasher that has seen nothing.
    #[must_use]
    pub fn new() -> StreamHasher {
        StreamHasher::default()
    }

    /// Takes in the next piece of the stream.
    pub fn update(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
    }

    /// The digest of everything that was taken in.
    #[must_use]
    pub fn finish(self) -> StreamDigest {
        StreamDigest { bytes: self.bytes, sha256: Digest(self.hasher.finalize().into()) }
    }
}

impl fmt::Debug for StreamHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamHasher").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests_are_printed_and_read_back() {
        // The first two test vectors of FIPS 180-4.
        let table = [
            (&b"abc"[..], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ];
        for (input, hex) in table {
            assert_eq!(Digest::of(input).to_string(), hex);
            assert_eq!(hex.parse(), Ok(Digest::of(input)));
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        let good = Digest::of(b"x").to_string();
        let short = good.trim_end_matches(|_| true).to_owned();
        for bad in [short, format!("{good}0"), good.to_uppercase(), good.replace(['a', '1'], "g")] {
            assert_eq!(bad.parse::<Digest>(), Err(NotADigest), "{bad}");
        }
    }

    #[test]
    fn a_stream_in_pieces_has_the_digest_of_the_whole() {
        let mut hasher = StreamHasher::new();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), StreamDigest { bytes: 3, sha256: Digest::of(b"abc") });
    }
}
