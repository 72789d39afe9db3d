//! Keeps the beginning and the end of a stream of any length in bounded memory.
//!
//! The beginning of an output says what was going on, the end says how it went; the middle of 100 MB helps nobody.

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
    /// What is kept of these bytes if no more than `limit` are.
    #[must_use]
    pub fn of(bytes: &[u8], limit: usize) -> Self {
        let mut collector = Collector::new(limit);
        collector.push(bytes);
        collector.finish()
    }

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

/// How many bytes are read at once.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Collects a stream into a [`Captured`].
///
/// Once the head is full, what comes is read straight into the ring that holds the end: a command that writes gigabytes
/// costs no second copy of them.
#[derive(Debug)]
pub(crate) struct Collector {
    head: Vec<u8>,
    /// Empty until the head is full, then at least as long as the tail, and a chunk.
    ring: Vec<u8>,
    /// Where in the ring the next byte goes.
    at: usize,
    /// How many bytes have gone into the ring.
    rest: u64,
    head_limit: usize,
    tail_limit: usize,
}

impl Collector {
    /// Keeps at most `limit` bytes: the first half from the beginning, the rest from the end.
    pub(crate) fn new(limit: usize) -> Self {
        let head_limit = limit.div_ceil(2);
        Self {
            head: Vec::new(),
            ring: Vec::new(),
            at: 0,
            rest: 0,
            head_limit,
            tail_limit: limit - head_limit,
        }
    }

    /// Reads once, with what `read` does to the space that it gets, and hands on what came. Returns how many bytes came, and
    /// whether there was space for no more.
    pub(crate) fn read<E>(
        &mut self,
        buffer: &mut [u8],
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
        mut seen: impl FnMut(&[u8]),
    ) -> Result<(usize, bool), E> {
        if self.head.len() < self.head_limit {
            let count = read(buffer)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            seen(bytes);
            self.push(bytes);
            return Ok((count, count == buffer.len()));
        }
        let space = self.space();
        let (count, length) = (read(space)?, space.len());
        seen(space.get(..count).unwrap_or_default());
        self.advance(count);
        Ok((count, count == length))
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = self.head_limit - self.head.len();
        let (first, mut rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        while !rest.is_empty() {
            let space = self.space();
            let (now, later) = rest.split_at(rest.len().min(space.len()));
            space.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
            self.advance(now.len());
            rest = later;
        }
    }

    /// Where the next bytes go: never empty.
    fn space(&mut self) -> &mut [u8] {
        if self.ring.is_empty() {
            self.ring.resize(self.tail_limit.next_multiple_of(CHUNK).max(CHUNK), 0);
        }
        let end = (self.at + CHUNK).min(self.ring.len());
        self.ring.get_mut(self.at..end).unwrap_or_default()
    }

    fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at >= self.ring.len() {
            self.at = 0;
        }
        self.rest = self.rest.saturating_add(count as u64);
    }

    /// How many bytes have come.
    pub(crate) fn total(&self) -> u64 {
        self.rest.saturating_add(self.head.len() as u64)
    }

    /// Whether more has come than is kept.
    pub(crate) fn is_over(&self) -> bool {
        self.total() > (self.head_limit + self.tail_limit) as u64
    }

    pub(crate) fn finish(self) -> Captured {
        let kept = usize::try_from(self.rest).unwrap_or(usize::MAX).min(self.tail_limit);
        // The last bytes: those before the position, and if these are too few, the end of the ring before them.
        let (before, after) = self.ring.split_at(self.at);
        let newest = before.get(before.len().saturating_sub(kept)..).unwrap_or_default();
        let older = after.get(after.len() - (kept - newest.len())..).unwrap_or_default();
        let (tail, total) = ([older, newest].concat(), self.total());
        let truncated = total > (self.head.len() + tail.len()) as u64;
        Captured { head: self.head, tail, total, truncated }
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

    /// Whatever sizes the pieces have, what is kept is the beginning and the end of the whole.
    #[test]
    fn pieces_of_every_size_give_the_same() {
        let all: Vec<u8> = (0..400_000u32).map(|n| (n % 251) as u8).collect();
        for limit in [0, 1, 1000, 131_072, 140_000, 300_000, 399_999, 400_000, 500_000] {
            for size in [1000, 65_536, 65_537, 7919, 200_000] {
                let mut collector = Collector::new(limit);
                let (mut rest, mut seen, mut buffer) = (all.as_slice(), Vec::new(), vec![0; CHUNK]);
                while !rest.is_empty() {
                    let read = |space: &mut [u8]| {
                        let count = rest.len().min(size).min(space.len());
                        assert!(count > 0);
                        space[..count].copy_from_slice(&rest[..count]);
                        rest = &rest[count..];
                        Ok::<_, ()>(count)
                    };
                    collector.read(&mut buffer, read, |bytes| seen.extend_from_slice(bytes)).unwrap();
                }
                let captured = collector.finish();
                assert_eq!(seen, all);
                assert_eq!(captured.total, all.len() as u64);
                let (head, tail) = (limit.div_ceil(2).min(all.len()), captured.tail.len());
                assert_eq!(captured.head, all[..head], "{limit} {size}");
                assert_eq!(tail, (limit - limit.div_ceil(2)).min(all.len() - head), "{limit} {size}");
                assert_eq!(captured.tail, all[all.len() - tail..], "{limit} {size}");
                assert_eq!(captured.truncated, head + tail < all.len());
            }
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(capture(4, &[b"ab\xffdefgh"]).to_bytes(), "ab\n[… 4 bytes left out …]\ngh".as_bytes());
        assert_eq!(capture(4, &[b"\xff"]).to_text(), "\u{fffd}");
        assert_eq!(capture(4, &[b"abcd"]).to_text(), "abcd");
    }
}
