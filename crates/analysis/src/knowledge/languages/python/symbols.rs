//! Names, each held once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Most different names of a program that is read.
pub(super) const MAX_NAMES: usize = 4096;

/// A name of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sym(pub(super) u32);

/// Names in the order in which they were first seen.
#[derive(Debug, Default)]
pub(super) struct Symbols<'a> {
    names: Vec<&'a [u8]>,
    index: HashMap<&'a [u8], u32, BuildHasherDefault<Mixer>>,
}

impl<'a> Symbols<'a> {
    /// Makes room for the names of a program of this length, as far as most have them.
    pub(super) fn expect(&mut self, length: usize) {
        let names = (length / 24).min(256);
        self.names.reserve(names);
        self.index.reserve(names);
    }

    pub(super) fn intern(&mut self, name: &'a [u8]) -> Sym {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let found = *self.index.entry(name).or_insert(next);
        if found == next {
            self.names.push(name);
        }
        Sym(found)
    }

    pub(super) fn name(&self, sym: Sym) -> &'a [u8] {
        self.names.get(sym.0 as usize).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

/// A multiplicative hash over eight bytes at a time. Names made to collide cost little, because there are at most
/// [`MAX_NAMES`].
#[derive(Debug, Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (words, end) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        if !end.is_empty() {
            let short = || end.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.write_u64(bytes.last_chunk().map_or_else(short, |last| u64::from_le_bytes(*last)));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}
