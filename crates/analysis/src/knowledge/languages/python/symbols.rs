//! Names, each held once.

/// Most different names of a program that is read.
pub(super) const MAX_NAMES: usize = 4096;

/// A name of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sym(pub(super) u32);

/// Names in the order in which they were first seen.
#[derive(Debug, Default)]
pub(super) struct Symbols<'a> {
    names: Vec<&'a [u8]>,
    /// A power of two of places, of which most are free. A name stands at the place that its hash tells or at the next free
    /// one after it.
    places: Vec<Place>,
}

/// A part of a name's hash, and its number and one more; 0 if no name stands here.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    hash: u32,
    next: u32,
}

/// Places that there are at least.
const FEWEST: usize = 64;

impl<'a> Symbols<'a> {
    /// Makes room for the names of a program of this length, as far as most have them.
    pub(super) fn expect(&mut self, length: usize) {
        let names = (length / 24).min(256);
        self.names.reserve(names);
        self.make_room(self.names.len() + names);
    }

    /// Has at least twice as many places as there are to be names.
    #[inline]
    fn make_room(&mut self, names: usize) {
        if 2 * names > self.places.len() {
            self.grow((2 * names).next_power_of_two().max(FEWEST));
        }
    }

    #[cold]
    fn grow(&mut self, wanted: usize) {
        let old = std::mem::replace(&mut self.places, vec![Place::default(); wanted]);
        for place in old.into_iter().filter(|place| place.next != 0) {
            if let Err(Some(free)) = probe(&mut self.places, place.hash, |_| false) {
                *free = place;
            }
        }
    }

    pub(super) fn intern(&mut self, name: &'a [u8]) -> Sym {
        self.make_room(self.names.len() + 1);
        let (hash, names) = (hash(name), &self.names);
        let is_it = |number: u32| names.get(number as usize).is_some_and(|known| *known == name);
        match probe(&mut self.places, hash, is_it) {
            Ok(found) => Sym(found),
            Err(free) => {
                let next = u32::try_from(names.len()).unwrap_or(u32::MAX - 1);
                if let Some(free) = free {
                    *free = Place { hash, next: next + 1 };
                }
                self.names.push(name);
                Sym(next)
            }
        }
    }

    pub(super) fn name(&self, sym: Sym) -> &'a [u8] {
        self.names.get(sym.0 as usize).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

/// The number of the name with this hash that is the one, or the place where it belongs. At least half of the places are free.
fn probe(places: &mut [Place], hash: u32, is_it: impl Fn(u32) -> bool) -> Result<u32, Option<&mut Place>> {
    let mask = places.len().wrapping_sub(1);
    let mut at = hash as usize & mask;
    while let Some(place) = places.get(at).filter(|place| place.next != 0) {
        if place.hash == hash && is_it(place.next - 1) {
            return Ok(place.next - 1);
        }
        at = (at + 1) & mask;
    }
    Err(places.get_mut(at))
}

/// A multiplicative hash over eight bytes at a time. Names made to collide cost little, because there are at most
/// [`MAX_NAMES`].
fn hash(name: &[u8]) -> u32 {
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let short = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mut hash = name.len() as u64;
    let (words, end) = name.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    if !end.is_empty() {
        // The last bytes, some of them a second time.
        hash = mix(
            hash,
            match (name.last_chunk::<8>(), name.first_chunk::<4>(), name.last_chunk::<4>()) {
                (Some(last), ..) => u64::from_le_bytes(*last),
                (None, Some(first), Some(last)) => {
                    u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
                }
                _ => short(end),
            },
        );
    }
    (hash >> 32) as u32
}
