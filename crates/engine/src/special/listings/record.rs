//! How what a directory holds is written down, and read where it lies.
//!
//! A record is the key, the stamp, the number of entries, and the four lists of names, each with its length before it. Nothing of it is
//! copied to look at it: a start looks at hundreds.

use super::{Listing, Stamp};

/// A record of some bytes: where it ends in them, and what it says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'b> {
    pub(super) key: &'b [u8],
    pub(super) stamp: Stamp,
    pub(super) found: Found<'b>,
}

/// What one directory holds, as far as it matters here.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::special) struct Found<'b> {
    /// How many entries it has.
    pub(in crate::special) entries: usize,
    /// Names that a command must not see.
    pub(in crate::special) hidden: Names<'b>,
    /// Names that a command must not change.
    pub(in crate::special) protected: Names<'b>,
    /// Names of repositories.
    pub(in crate::special) repositories: Names<'b>,
    /// Names below which there may be more: directories, and links that may lead to some.
    pub(in crate::special) below: Names<'b>,
}

/// Names in the order of the file system.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::special) struct Names<'b>(&'b [u8]);

impl<'b> Iterator for Names<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        text(&mut self.0)
    }
}

impl<'b> Record<'b> {
    /// The one at the beginning of some bytes, which are those after it then. Nothing if it is not as it was written.
    pub(super) fn read(rest: &mut &'b [u8]) -> Option<Self> {
        let key = text(rest)?;
        let numbers = take(rest, Stamp::BYTES)?;
        let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let stamp = Stamp {
            device: numbers.next()?,
            inode: numbers.next()?,
            modified: numbers.next()?.cast_signed(),
            changed: numbers.next()?.cast_signed(),
        };
        let entries = number(rest)?;
        let mut names = || {
            let count = number(rest)?;
            let all = *rest;
            for _ in 0..count {
                text(rest)?;
            }
            all.get(..all.len() - rest.len()).map(Names)
        };
        let (hidden, protected, repositories, below) = (names()?, names()?, names()?, names()?);
        Some(Self { key, stamp, found: Found { entries, hidden, protected, repositories, below } })
    }

    /// The key of the one at the beginning of some bytes.
    pub(super) fn key(mut bytes: &'b [u8]) -> Option<&'b [u8]> {
        text(&mut bytes)
    }

    /// Writes one down.
    pub(super) fn write(out: &mut Vec<u8>, key: &[u8], stamp: Stamp, listing: &Listing) {
        let text = |out: &mut Vec<u8>, bytes: &[u8]| {
            out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            out.extend_from_slice(bytes);
        };
        text(out, key);
        let Stamp { device, inode, modified, changed } = stamp;
        for number in [device, inode, modified.cast_unsigned(), changed.cast_unsigned()] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let Listing { entries, hidden, protected, repositories, below } = listing;
        out.extend_from_slice(&u32::try_from(*entries).unwrap_or(u32::MAX).to_le_bytes());
        for names in [hidden, protected, repositories, below] {
            out.extend_from_slice(&u32::try_from(names.len()).unwrap_or(u32::MAX).to_le_bytes());
            names.iter().for_each(|name| text(out, name));
        }
    }
}

/// Where each record begins, by its key; nothing if any of them is not as it was written.
pub(super) fn places(bytes: &[u8]) -> Option<std::collections::HashMap<&[u8], usize>> {
    let mut known = std::collections::HashMap::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let place = bytes.len() - rest.len();
        known.insert(Record::read(&mut rest)?.key, place);
    }
    Some(known)
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*taken)).ok()
}

fn text<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let count = number(rest)?;
    take(rest, count)
}
