//! Finding the end of the chain in a file without reading the file.
//!
//! A writer that is killed, or a disk that is full, can leave a last line that is not whole. So the end of the
//! chain is the last sound record within a bounded distance from the end of the file, and what follows it is
//! damage: it stays where it is, and the next writer says so in a record of its own.

use crate::record::{Damage, Link};
use crate::{Digest, MAX_LINE};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Nearly every record fits, so that one read is enough.
const FIRST_WINDOW: u64 = 4096;

/// A damaged stretch may be as long as the longest line, and so may the sound line before it.
pub(crate) const LARGEST_WINDOW: u64 = 2 * MAX_LINE as u64 + 2;

/// A place in the chain. [`Log::append`](crate::Log::append) hands it out as the proof that a record is in the log;
/// kept elsewhere, it shows later whether the log was changed or cut before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The record's sequence number.
    pub seq: u64,
    /// SHA-256 of its line, without the newline.
    pub hash: Digest,
}

/// What the end of a file looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The last sound record; `None` when there is none in the file.
    pub(crate) head: Option<Receipt>,
    /// What comes after it, if that is not a record.
    pub(crate) damage: Option<TailDamage>,
    /// Whether the file ends in a newline (or is empty), so that the next line can begin.
    pub(crate) closed: bool,
}

/// Bytes at the end of a file that are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TailDamage {
    pub(crate) bytes: u64,
    pub(crate) hash: Digest,
}

impl TailDamage {
    /// The damage as the next record tells it; `after` is the hash of the last sound line.
    pub(crate) fn after(self, after: Digest) -> Damage {
        Damage { damaged_bytes: self.bytes, after }
    }
}

/// Reads the end of `file`, which has `length` bytes. `Ok(None)` when it does not look like a log.
pub(crate) fn read(file: &File, length: u64) -> io::Result<Option<Tail>> {
    let mut size = FIRST_WINDOW.min(length);
    loop {
        let mut window = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        file.read_exact_at(&mut window, length - size)?;
        if let Some(tail) = judge(&window, size == length) {
            return Ok(tail);
        }
        if size == LARGEST_WINDOW {
            return Ok(None);
        }
        size = size.saturating_mul(8).min(length).min(LARGEST_WINDOW);
    }
}

/// Looks for the last sound record in the end of a file, or in all of it if `whole`. `None`: a longer piece is
/// needed. `Some(None)`: this is not a log.
fn judge(window: &[u8], whole: bool) -> Option<Option<Tail>> {
    let closed = window.last().is_none_or(|byte| *byte == b'\n');
    let content = window.strip_suffix(b"\n").unwrap_or(window);
    let mut rest = content;
    loop {
        let newline = rest.iter().rposition(|byte| *byte == b'\n');
        let (before, line) = match newline.and_then(|at| rest.split_at_checked(at)) {
            Some((before, line)) => (Some(before), line.get(1..).unwrap_or_default()),
            // The first line of a window begins somewhere before it.
            None if !whole => return None,
            None => (None, rest),
        };
        if let Some(link) = Link::parse(line) {
            let head = Receipt { seq: link.seq, hash: Digest::of(line) };
            return Some(Some(Tail { head: Some(head), damage: damage(content, rest.len()), closed }));
        }
        match before {
            Some(before) => rest = before,
            // A first record may be torn like any other. More than one line without a record among them was
            // never written by us.
            None if content.contains(&b'\n') || (closed && !window.is_empty()) => return Some(None),
            None => {
                let damage = (!content.is_empty()).then(|| stretch(content));
                return Some(Some(Tail { head: None, damage, closed }));
            }
        }
    }
}

/// What follows the sound lines that end at `sound`, where the newline of the last of them is.
fn damage(content: &[u8], sound: usize) -> Option<TailDamage> {
    content.get(sound + 1..).map(stretch)
}

fn stretch(bytes: &[u8]) -> TailDamage {
    TailDamage { bytes: bytes.len() as u64, hash: Digest::of(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn record(seq: u64) -> String {
        format!(r#"{{"v":1,"seq":{seq},"time":"t","prev":"{}","event":"check"}}"#, Digest::ZERO)
    }

    #[test]
    fn the_last_sound_record_is_found_and_the_rest_is_damage() {
        let (one, two) = (record(1), record(2));
        let long_damage = "x".repeat(3 * FIRST_WINDOW as usize);
        let table = [
            (String::new(), Some((None, None, true))),
            (format!("{one}\n"), Some((Some(1), None, true))),
            (format!("{one}\n{two}\n"), Some((Some(2), None, true))),
            // Only the newline is missing: the record is whole.
            (format!("{one}\n{two}"), Some((Some(2), None, false))),
            (format!("{one}\n{{\"v\":1,"), Some((Some(1), Some("{\"v\":1,"), false))),
            (format!("{one}\n\0\0\0"), Some((Some(1), Some("\0\0\0"), false))),
            // A recovery that was itself cut off.
            (format!("{one}\ntorn\n{{\"v\""), Some((Some(1), Some("torn\n{\"v\""), false))),
            (format!("{one}\ntorn\n"), Some((Some(1), Some("torn"), true))),
            (format!("{one}\n\n"), Some((Some(1), Some(""), true))),
            (format!("{one}\n\n\n"), Some((Some(1), Some("\n"), true))),
            (format!("{one}\n{long_damage}"), Some((Some(1), Some(long_damage.as_str()), false))),
            ("{\"v\":1,".into(), Some((None, Some("{\"v\":1,"), false))),
            ("alias ls=ls\n".into(), None),
            ("\n".into(), None),
            ("alias a\nalias b".into(), None),
        ];
        for (content, expected) in table {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            let tail = read(&file, content.len() as u64).unwrap();
            let seen = tail.map(|tail| (tail.head.map(|head| head.seq), tail.damage, tail.closed));
            let expected = expected.map(|(seq, damage, closed)| {
                (seq, damage.map(|text: &str| stretch(text.as_bytes())), closed)
            });
            assert_eq!(seen, expected, "{content:?}");
        }
    }

    #[test]
    fn damage_longer_than_any_line_is_not_searched_through() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(record(1).as_bytes()).unwrap();
        let length = LARGEST_WINDOW + 4096;
        file.set_len(length).unwrap();
        assert_eq!(read(&file, length).unwrap(), None);
    }
}
