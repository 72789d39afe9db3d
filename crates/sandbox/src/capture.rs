//! Keeps the beginning and the end of a stream of any length in bounded memory.
//!
//! The beginning of an output says what was going on, the end says how it went; the middle of 100 MB helps nobody.

use std::collections::VecDeque;

/// What was kept of one output stream. Bytes, not text: nothing says that a program writes UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The first bytes; all of them if nothing was left out.
    pub head: Vec<u8>,
    /// The last bytes, if some in between were left out or the head was full.
    pub tail: Vec<u8>,
    /// How many bytes were written in all.
    pub total: u64,
    /// Whether bytes between head and tail were left out.
    pub truncated: bool,
}

impl Captured {
    /// Head and tail in one, with a line between them that says how much is missing.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.head.clone();
        if self.truncated {
            let missing = self.total - (self.head.len() + self.tail.len()) as u64;
            out.extend(format!("\n[… {missing} bytes left out …]\n").as_bytes());
        }
        out.extend(&self.tail);
        out
    }

    /// [`to_bytes`](Self::to_bytes) as text, with what is no UTF-8 replaced.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }
}

/// Collects a stream into a [`Captured`].
#[derive(Debug)]
pub(crate) struct Collector {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    total: u64,
}

impl Collector {
    /// Keeps at most `limit` bytes: the first half from the beginning, the rest from the end.
    pub(crate) fn new(limit: usize) -> Self {
        let head_limit = limit.div_ceil(2);
        Self { head: Vec::new(), tail: VecDeque::new(), head_limit, tail_limit: limit - head_limit, total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.head_limit - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let (_, kept) = rest.split_at(rest.len().saturating_sub(self.tail_limit));
        let too_many = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..too_many);
        self.tail.extend(kept);
    }

    /// How many bytes have come.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Whether more has come than is kept.
    pub(crate) fn is_over(&self) -> bool {
        self.total > (self.head_limit + self.tail_limit) as u64
    }

    pub(crate) fn finish(self) -> Captured {
        let tail: Vec<u8> = self.tail.into();
        let truncated = self.total > (self.head.len() + tail.len()) as u64;
        Captured { head: self.head, tail, total: self.total, truncated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(limit: usize, chunks: &[&[u8]]) -> Captured {
        let mut collector = Collector::new(limit);
        for chunk in chunks {
            collector.push(chunk);
        }
        collector.finish()
    }

    #[test]
    fn head_and_tail() {
        // limit, chunks, head, tail, truncated
        type Row<'a> = (usize, &'a [&'a [u8]], &'a str, &'a str, bool);
        let table: &[Row] = &[
            (10, &[], "", "", false),
            (10, &[b"abc"], "abc", "", false),
            (4, &[b"abcd"], "ab", "cd", false),
            (4, &[b"abcde"], "ab", "de", true),
            (4, &[b"a", b"b", b"c", b"d", b"e", b"f"], "ab", "ef", true),
            (4, &[b"abcdefgh", b"i"], "ab", "hi", true),
            (5, &[b"abcdefgh"], "abc", "gh", true),
            (1, &[b"abc"], "a", "", true),
            (0, &[b"abc"], "", "", true),
        ];
        for (limit, chunks, head, tail, truncated) in table {
            let got = capture(*limit, chunks);
            assert_eq!((got.head.as_slice(), got.tail.as_slice()), (head.as_bytes(), tail.as_bytes()));
            assert_eq!(got.truncated, *truncated);
            assert_eq!(got.total, chunks.iter().map(|c| c.len() as u64).sum::<u64>());
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(capture(4, &[b"ab\xffdefgh"]).to_bytes(), "ab\n[… 4 bytes left out …]\ngh".as_bytes());
        assert_eq!(capture(4, &[b"\xff"]).to_text(), "\u{fffd}");
        assert_eq!(capture(4, &[b"abcd"]).to_text(), "abcd");
    }
}
