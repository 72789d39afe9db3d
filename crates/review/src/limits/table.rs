//! The table of keys as bytes: fixed size, checked, and never forgetting a debt to make room.
//!
//! ```text
//! offset  bytes
//!      0      8  "SHWDLIM1"
//!      8      8  generation, which decides between the two copies in the file
//!     16      8  when it was written, nanoseconds since boot
//!     24      8  number of entries n
//!     32   24·n  entries: 16 bytes of the SHA-256 of key and rate, then when it has recovered
//!  32+24·n   32  SHA-256 of all before
//! ```
//!
//! Numbers are little-endian.

use super::gcra::{self, Recovery};
use super::{Key, Rate};
use shward_audit::Digest;

/// Bytes of one copy.
pub(super) const SLOT: usize = 8192;

const HEADER: usize = 32;
const ENTRY: usize = 24;
const CHECK: usize = 32;
const MAGIC: &[u8; 8] = b"SHWDLIM1";

/// Entries that fit.
pub(super) const CAPACITY: usize = (SLOT - HEADER - CHECK) / ENTRY;

/// Entries that are kept free for the keys of which there are few, and for those that are shared: of 16 limits, the most that
/// are kept, each has four tiers at most, and one that is shared.
const RESERVED: usize = 16 * 5 + 16;

/// The first half of a SHA-256: enough that nobody finds two names with the same one.
pub(super) type Id = [u8; 16];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: Id,
    pub(super) recovery: Recovery,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    pub(super) generation: u64,
    pub(super) written_at: u64,
    pub(super) entries: Vec<Entry>,
}

/// The entry of a key under a limit with this rate. A limit with other numbers is another limit.
pub(super) fn id(key: &Key<'_>, rate: Rate) -> Id {
    match key {
        Key::Global => hash(b"global", b"", rate),
        Key::Tier(tier) => hash(b"tier", &[*tier], rate),
        Key::Session(name) => hash(b"session", name.as_bytes(), rate),
        Key::Program(name) => hash(b"program", name.as_bytes(), rate),
    }
}

/// The entry that sessions or programs share which have none of their own because the table is full.
fn shared(rate: Rate) -> Id {
    hash(b"shared", b"", rate)
}

fn hash(kind: &[u8], name: &[u8], rate: Rate) -> Id {
    let mut bytes = kind.to_vec();
    bytes.push(0);
    bytes.extend_from_slice(&rate.burst.to_le_bytes());
    bytes.extend_from_slice(&rate.count.to_le_bytes());
    bytes.extend_from_slice(&gcra::nanos(rate.period).to_le_bytes());
    bytes.extend_from_slice(name);
    Digest::of(&bytes).as_bytes().first_chunk().copied().unwrap_or_default()
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
            entries.push(Entry { id: *id, recovery: u64::from_le_bytes(*rest.first_chunk()?) });
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
            bytes.extend_from_slice(&entry.recovery.to_le_bytes());
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
                entry.recovery = gcra::after_boot(entry.recovery, self.written_at);
            }
        }
        self.written_at = now;
        self.entries.retain(|entry| entry.recovery > now);
    }

    /// Where the key's entry is, which is made if there is room, and is the shared one if there is none.
    pub(super) fn find(&mut self, key: &Key<'_>, rate: Rate) -> usize {
        let wanted = id(key, rate);
        if let Some(at) = self.position(&wanted) {
            return at;
        }
        let few = matches!(key, Key::Global | Key::Tier(_));
        let limit = if few { CAPACITY } else { CAPACITY - RESERVED };
        let wanted = if self.entries.len() < limit { wanted } else { shared(rate) };
        self.position(&wanted).unwrap_or_else(|| {
            self.entries.push(Entry { id: wanted, recovery: 0 });
            self.entries.len() - 1
        })
    }

    fn position(&self, id: &Id) -> Option<usize> {
        self.entries.iter().position(|entry| entry.id == *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(count: u32) -> Rate {
        Rate::new(count, std::time::Duration::from_secs(60)).unwrap()
    }

    #[test]
    fn a_table_is_read_back_and_any_changed_byte_is_noticed() {
        let mut table = Table { generation: 7, written_at: 9, entries: Vec::new() };
        for name in ["a", "b", "c"] {
            let at = table.find(&Key::Session(name), rate(1));
            table.entries[at].recovery = 100;
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
            for key in [Key::Session(&name), Key::Program(&name), Key::Global, Key::Tier(3)] {
                for rate in [rate(1), rate(2)] {
                    let at = table.find(&key, rate);
                    table.entries[at].recovery += 1000;
                }
            }
        }
        assert!(table.entries.len() <= CAPACITY);
        assert_eq!(table.write().len(), SLOT);
        let debt: u64 = table.entries.iter().map(|e| e.recovery).sum();
        assert_eq!(debt, 8000 * 1000, "nothing is forgotten");
        let global = table.find(&Key::Global, rate(1));
        assert_eq!(table.entries[global].recovery, 1_000_000, "what there is few of has its own");
        table.settle(1000);
        assert!(table.entries.len() <= 6, "what has recovered makes room: {}", table.entries.len());
    }

    /// More limits than there are entries kept free: no writer may make the table larger than it is.
    #[test]
    fn no_number_of_limits_overflows() {
        let mut table = Table::default();
        for n in 1..=600 {
            for key in [Key::Global, Key::Session("s")] {
                table.find(&key, rate(n));
            }
        }
        assert!(table.entries.len() > CAPACITY, "such a table is not written");
    }
}
