//! The table of keys as bytes: fixed size, checked, and never forgetting a debt to make room.
//!
//! ```text
//! offset  bytes
//!      0      8  "SHWDLIM1"
//!      8      8  generation, which decides between the two copies in the file
//!     16      8  when it was written, nanoseconds since boot
//!     24      8  number of entries n
//!     32   32·n  entries: 16 bytes of the key's SHA-256, recovery of burst, recovery of sustained
//!  32+32·n   32  SHA-256 of all before
//! ```
//!
//! Numbers are little-endian.

use super::Key;
use super::gcra::{self, Recovery};
use shward_audit::Digest;

/// Bytes of one copy.
pub(super) const SLOT: usize = 8192;

const HEADER: usize = 32;
const ENTRY: usize = 32;
const CHECK: usize = 32;
const MAGIC: &[u8; 8] = b"SHWDLIM1";

/// Entries that fit.
pub(super) const CAPACITY: usize = (SLOT - HEADER - CHECK) / ENTRY;

/// Entries that are kept free for the keys of which there are few: one for all, four tiers, and the shared one.
const RESERVED: usize = 6;

/// The first half of a SHA-256: enough that nobody finds two names with the same one.
pub(super) type Id = [u8; 16];

/// The key that sessions and programs share which have no entry of their own because the table is full.
const SHARED: Id = [0xff; 16];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Id,
    pub(super) burst: Recovery,
    pub(super) sustained: Recovery,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    pub(super) generation: u64,
    pub(super) written_at: u64,
    pub(super) entries: Vec<Entry>,
}

pub(super) fn id(key: &Key<'_>) -> Id {
    let digest = match key {
        Key::Global => Digest::of(b"global"),
        Key::Tier(tier) => Digest::of(&[b't', *tier]),
        Key::Session(name) => Digest::of(&[b"session\0", name.as_bytes()].concat()),
        Key::Program(name) => Digest::of(&[b"program\0", name.as_bytes()].concat()),
    };
    digest.as_bytes().first_chunk().copied().unwrap_or(SHARED)
}

impl Table {
    /// Reads a copy; `None` when it is not whole.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        if bytes.get(..8)? != MAGIC {
            return None;
        }
        let count = usize::try_from(number(24)?).ok().filter(|n| *n <= CAPACITY)?;
        let end = HEADER + count * ENTRY;
        if Digest::of(bytes.get(..end)?).as_bytes() != bytes.get(end..end + CHECK)? {
            return None;
        }
        let mut entries = Vec::with_capacity(count + RESERVED);
        for entry in bytes.get(HEADER..end)?.chunks_exact(ENTRY) {
            let (id, rest) = entry.split_first_chunk()?;
            let (burst, sustained) = rest.split_first_chunk()?;
            entries.push(Entry {
                id: *id,
                burst: u64::from_le_bytes(*burst),
                sustained: u64::from_le_bytes(*sustained.first_chunk()?),
            });
        }
        Some(Self { generation: number(8)?, written_at: number(16)?, entries })
    }

    /// The generation of a copy, not checked yet.
    pub(super) fn claimed_generation(bytes: &[u8]) -> u64 {
        bytes.get(8..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
    }

    /// The bytes of a copy, [`SLOT`] of them.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SLOT);
        bytes.extend_from_slice(MAGIC);
        for number in [self.generation, self.written_at, self.entries.len() as u64] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for entry in &self.entries {
            bytes.extend_from_slice(&entry.id);
            bytes.extend_from_slice(&entry.burst.to_le_bytes());
            bytes.extend_from_slice(&entry.sustained.to_le_bytes());
        }
        let check = Digest::of(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        bytes.resize(SLOT, 0);
        bytes
    }

    /// Tells all times in those of the present boot, and drops what is as if it had never been used.
    pub(super) fn settle(&mut self, now: u64) {
        if now < self.written_at {
            for entry in &mut self.entries {
                entry.burst = gcra::after_boot(entry.burst, self.written_at);
                entry.sustained = gcra::after_boot(entry.sustained, self.written_at);
            }
        }
        self.written_at = now;
        self.entries.retain(|entry| entry.burst > now || entry.sustained > now);
    }

    /// Where the key's entry is, which is made if there is room, and is the shared one if there is none.
    pub(super) fn find(&mut self, key: &Key<'_>) -> usize {
        let wanted = id(key);
        if let Some(at) = self.entries.iter().position(|e| e.id == wanted) {
            return at;
        }
        let few = matches!(key, Key::Global | Key::Tier(_));
        let wanted = if few || self.entries.len() + RESERVED < CAPACITY { wanted } else { SHARED };
        if let Some(at) = self.entries.iter().position(|e| e.id == wanted) {
            return at;
        }
        self.entries.push(Entry { id: wanted, burst: 0, sustained: 0 });
        self.entries.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_back_and_any_changed_byte_is_noticed() {
        let mut table = Table { generation: 7, written_at: 9, entries: Vec::new() };
        for name in ["a", "b", "c"] {
            let at = table.find(&Key::Session(name));
            table.entries[at].burst = 100;
        }
        let bytes = table.write();
        assert_eq!(bytes.len(), SLOT);
        assert_eq!(Table::read(&bytes), Some(table));
        let used = HEADER + 3 * ENTRY + CHECK;
        for at in 0..used {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert_eq!(Table::read(&changed), None, "byte {at}");
        }
        for length in 0..used {
            assert_eq!(Table::read(&bytes[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn a_full_table_keeps_every_debt_and_the_rest_share_one() {
        let mut table = Table::default();
        for n in 0..1000 {
            let name = n.to_string();
            for key in [Key::Session(&name), Key::Global, Key::Tier(3)] {
                let at = table.find(&key);
                table.entries[at].burst += 1000;
            }
        }
        assert!(table.entries.len() <= CAPACITY);
        assert_eq!(table.write().len(), SLOT);
        let debt: u64 = table.entries.iter().map(|e| e.burst).sum();
        assert_eq!(debt, 3000 * 1000, "nothing is forgotten");
        assert_eq!(
            table.entries[table.entries.iter().position(|e| e.id == id(&Key::Global)).unwrap()].burst,
            1_000_000
        );
        table.settle(1000);
        assert!(table.entries.len() <= 3, "what has recovered makes room: {}", table.entries.len());
    }
}
