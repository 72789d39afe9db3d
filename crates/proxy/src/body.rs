//! How much of what a client sends belongs to what it asked for. What follows would be another request, perhaps for another host.

/// What the client may still send.
#[derive(Debug)]
pub(crate) enum Body {
    /// Everything, until it ends.
    Open,
    /// So many bytes.
    Length(u64),
    /// Pieces, each with its length before it.
    Chunked(Chunks),
}

impl Body {
    /// How many of these bytes belong to it; they count as sent.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> usize {
        match self {
            Self::Open => bytes.len(),
            Self::Length(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                taken
            }
            Self::Chunked(chunks) => chunks.take(bytes),
        }
    }

    /// Nothing more belongs to it.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Open => false,
            Self::Length(left) => *left == 0,
            Self::Chunked(chunks) => matches!(chunks.at, At::End | At::Wrong),
        }
    }

    /// It has ended as it should, so that the host knows the end without being told.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_over() && !matches!(self, Self::Chunked(Chunks { at: At::Wrong, .. }))
    }
}

/// Reads pieces (RFC 9112 section 7.1), strictly: where two readers could see two ends, there is none.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    at: At,
    /// Of the line that is read, how long it is.
    line: usize,
}

/// Longest line before a piece or after the last, in bytes.
const MAX_LINE: usize = 4096;

#[derive(Debug, Clone, Copy, Default)]
enum At {
    /// At the beginning of a length.
    #[default]
    Start,
    /// In a length.
    Length(u64),
    /// In what may follow a length.
    Extension(u64),
    /// Behind the `\r` of such a line.
    LineEnd(u64),
    /// In a piece of which so many bytes are to come.
    Data(u64),
    /// Behind a piece.
    DataEnd,
    /// Behind the `\r` after a piece.
    DataLineEnd,
    /// In a line after the last piece.
    Trailer,
    /// Behind its `\r`; whether the line was empty.
    TrailerEnd(bool),
    End,
    Wrong,
}

impl Chunks {
    fn take(&mut self, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while let Some(byte) = bytes.get(taken) {
            if let At::Data(left) = self.at {
                let rest = bytes.len() - taken;
                let now = usize::try_from(left).unwrap_or(usize::MAX).min(rest);
                taken += now;
                let left = left - now as u64;
                self.at = if left == 0 { At::DataEnd } else { At::Data(left) };
                continue;
            }
            if matches!(self.at, At::End | At::Wrong) {
                break;
            }
            self.at = self.step(*byte);
            // What is wrong is not passed on.
            taken += usize::from(!matches!(self.at, At::Wrong));
        }
        taken
    }

    fn step(&mut self, byte: u8) -> At {
        self.line = if byte == b'\n' { 0 } else { self.line + 1 };
        let digit = char::from(byte).to_digit(16).map(u64::from);
        // A tab is the only control character that a line may hold.
        let plain = !byte.is_ascii_control() || byte == b'\t';
        match (self.at, byte) {
            _ if self.line > MAX_LINE => At::Wrong,
            (At::Start, _) => digit.map_or(At::Wrong, At::Length),
            (At::Length(length), b'\r') => At::LineEnd(length),
            (At::Length(length), b';' | b' ' | b'\t') => At::Extension(length),
            (At::Length(length), _) => match (digit, length.checked_mul(16)) {
                (Some(digit), Some(length)) => At::Length(length | digit),
                _ => At::Wrong,
            },
            (At::Extension(length), b'\r') => At::LineEnd(length),
            (At::Extension(length), _) if plain => At::Extension(length),
            (At::LineEnd(0), b'\n') => At::Trailer,
            (At::LineEnd(length), b'\n') => At::Data(length),
            (At::DataEnd, b'\r') => At::DataLineEnd,
            (At::DataLineEnd, b'\n') => At::Start,
            (At::Trailer, b'\r') => At::TrailerEnd(self.line == 1),
            (At::Trailer, _) if plain => At::Trailer,
            (At::TrailerEnd(true), b'\n') => At::End,
            (At::TrailerEnd(false), b'\n') => At::Trailer,
            _ => At::Wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_ends_a_body() {
        let mut body = Body::Length(5);
        for (bytes, taken, over) in [("abc", 3, false), ("defg", 2, true), ("h", 0, true)] {
            assert_eq!((body.take(bytes.as_bytes()), body.is_over()), (taken, over), "{bytes}");
        }
    }

    /// However it arrives, the same bytes belong to a body.
    #[test]
    fn where_pieces_end() {
        // body, what follows it; `None` where it is wrong before its end
        let table: &[(&str, Option<&str>)] = &[
            ("0\r\n\r\n", Some("")),
            ("0\r\n\r\n", Some("GET / HTTP/1.1\r\n\r\n")),
            ("3\r\nabc\r\n0\r\n\r\n", Some("3\r\nabc\r\n")),
            ("3;a=b\r\nabc\r\n000;x\r\nA: b\r\nC: d\r\n\r\n", Some("x")),
            ("A\r\n0\r\n\r\n01234\r\n0\r\n\r\n", Some("0\r\n\r\n")),
            ("0000000000000000000a\r\n0123456789\r\n0\r\n\r\n", Some("y")),
            ("", None),
            ("\r\n", None),
            ("3\nabc\r\n0\r\n\r\n", None),
            ("3\r\nabcd\r\n0\r\n\r\n", None),
            ("3\r\nabc0\r\n\r\n", None),
            ("0x3\r\nabc\r\n0\r\n\r\n", None),
            ("-3\r\nabc\r\n0\r\n\r\n", None),
            ("+3\r\nabc\r\n0\r\n\r\n", None),
            (" 3\r\nabc\r\n0\r\n\r\n", None),
            ("3;a\nb\r\nabc\r\n0\r\n\r\n", None),
            ("0\r\nA: b\n\r\n\r\n", None),
            ("0\r\n\rx", None),
            ("10000000000000000\r\nx", None),
        ];
        for (body, after) in table {
            let bytes = [body, after.unwrap_or_default()].concat().into_bytes();
            for piece in 1..=bytes.len().max(1) {
                let mut chunks = Body::Chunked(Chunks::default());
                let taken: usize = bytes.chunks(piece).map(|piece| chunks.take(piece)).sum();
                assert_eq!(chunks.is_whole(), after.is_some(), "{body:?} by {piece}");
                if after.is_some() {
                    assert_eq!(taken, body.len(), "{body:?} by {piece}");
                }
            }
        }
        let mut long = Body::Chunked(Chunks::default());
        long.take(format!("1;{}", "x".repeat(MAX_LINE)).as_bytes());
        assert!(long.is_over() && !long.is_whole());
    }
}
