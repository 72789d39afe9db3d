//! Dates and times, spans of time, identifiers and digests: however they are written, none is a path, so that they are as
//! good as a number that is not known.

use super::arguments::Arguments;

/// Methods of a moment or a digest whose result is no path, whatever the moment is.
pub(super) fn is_written_as_number(name: &[u8], arguments: &Arguments<'_>) -> bool {
    match name {
        b"strftime" => {
            arguments.get(0, &["format"]).and_then(|format| format.known()).is_some_and(is_date_format)
        }
        b"ctime" | b"date" | b"hexdigest" | b"isoformat" | b"timestamp" | b"total_seconds" => {
            arguments.positional.is_empty() && arguments.named.is_empty() && !arguments.open
        }
        _ => false,
    }
}

/// Class methods of `datetime` that give a moment.
pub(super) fn makes_moment(name: &[u8]) -> bool {
    matches!(
        name,
        b"combine"
            | b"fromisoformat"
            | b"fromtimestamp"
            | b"now"
            | b"strptime"
            | b"today"
            | b"utcfromtimestamp"
            | b"utcnow"
    )
}

/// Attributes of a moment, a span of time or an identifier that are numbers, or written as one.
pub(super) fn is_part_of_moment(name: &[u8]) -> bool {
    matches!(
        name,
        b"day"
            | b"days"
            | b"hex"
            | b"hour"
            | b"microsecond"
            | b"minute"
            | b"month"
            | b"second"
            | b"seconds"
            | b"year"
    )
}

/// Whether a moment in this format (strftime(3)) is no path: it has a number in it, and nothing that has a slash or may have
/// one where people write dates so.
pub(super) fn is_date_format(format: &[u8]) -> bool {
    let mut numbers = false;
    let mut rest = format.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'/' | 0 => return false,
            b'%' => match rest.next() {
                Some(
                    b'Y' | b'm' | b'd' | b'H' | b'M' | b'S' | b'f' | b'j' | b'y' | b's' | b'V' | b'U' | b'W'
                    | b'I',
                ) => {
                    numbers = true;
                }
                Some(b'a' | b'A' | b'b' | b'B' | b'p' | b'w' | b'u' | b'%') => {}
                _ => return false,
            },
            _ => {}
        }
    }
    numbers
}
