//! Names, each held once.

use shward_syntax::same;

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

/// What tells a name from most others, and its number and one more; 0 if no name stands here.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    key: u64,
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
            if let Err(Some(free)) = probe(&mut self.places, place.key, |_| false) {
                *free = place;
            }
        }
    }

    pub(super) fn intern(&mut self, name: &'a [u8]) -> Sym {
        self.intern_by(key(name), name)
    }

    /// The same of a name whose [key](key()) is known.
    #[inline(always)]
    pub(super) fn intern_by(&mut self, key: u64, name: &'a [u8]) -> Sym {
        let names = &self.names;
        let is_it = |number: u32| {
            key & HASHED == 0 || names.get(number as usize).is_some_and(|known| same(known, name))
        };
        match probe(&mut self.places, key, is_it) {
            Ok(found) => Sym(found),
            Err(_) => self.add(key, name),
        }
    }

    /// A name that was not seen before.
    #[inline(never)]
    fn add(&mut self, key: u64, name: &'a [u8]) -> Sym {
        self.make_room(self.names.len() + 1);
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX - 1);
        if let Err(Some(free)) = probe(&mut self.places, key, |_| false) {
            *free = Place { key, next: next + 1 };
        }
        self.names.push(name);
        Sym(next)
    }

    pub(super) fn name(&self, sym: Sym) -> &'a [u8] {
        self.names.get(sym.0 as usize).copied().unwrap_or_default()
    }

    /// Whether the program holds one of these names.
    pub(super) fn any(&self, names: &[&[u8]]) -> bool {
        names.iter().any(|name| self.holds(name))
    }

    fn holds(&self, name: &[u8]) -> bool {
        let key = key(name);
        let is_it = |number: u32| self.names.get(number as usize).is_some_and(|known| same(known, name));
        find(&self.places, key, is_it).is_ok()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

/// The number of the name with this key that is the one, or the place where it belongs. At least half of the places are free.
#[inline(always)]
fn probe(places: &mut [Place], key: u64, is_it: impl Fn(u32) -> bool) -> Result<u32, Option<&mut Place>> {
    find(places, key, is_it).map_err(|at| places.get_mut(at))
}

/// The same; the place by its number.
#[inline(always)]
fn find(places: &[Place], key: u64, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
    let mask = places.len().wrapping_sub(1);
    let mut at = (mix(0, key) >> 32) as usize & mask;
    while let Some(place) = places.get(at).filter(|place| place.next != 0) {
        if place.key == key && is_it(place.next - 1) {
            return Ok(place.next - 1);
        }
        at = (at + 1) & mask;
    }
    Err(at)
}

const fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Set in a key that several names may have.
const HASHED: u64 = 1 << 63;

/// The bytes of a name of up to eight, and a multiplicative hash of a longer one, which is [marked](HASHED). Names made to
/// collide cost little, because there are at most [`MAX_NAMES`].
pub(super) fn key(name: &[u8]) -> u64 {
    // Without that byte it would have the same key.
    if let [.., 0] = name {
        return HASHED;
    }
    let length = name.len();
    let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    let byte = |byte: u8, place: u32| u64::from(byte) << (8 * place);
    match *name {
        [] => return 0,
        [a] => return byte(a, 0),
        [a, b] => return byte(a, 0) | byte(b, 1),
        [a, b, c] => return byte(a, 0) | byte(b, 1) | byte(c, 2),
        _ => {}
    }
    match (name.first_chunk::<4>(), name.last_chunk::<4>(), name.last_chunk::<8>()) {
        (Some(first), Some(last), None) => half(first) | half(last) << (8 * (length - 4)),
        (_, _, Some(last)) if length == 8 => u64::from_le_bytes(*last),
        (_, _, Some(last)) => {
            let (words, _) = name.as_chunks::<8>();
            // The last bytes, some of them a second time.
            let hash = words.iter().fold(length as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
            mix(hash, u64::from_le_bytes(*last)) | HASHED
        }
        _ => 0,
    }
}

/// The length and the [key](key()) of a name that begins here and ends within these bytes. All bytes are looked at together,
/// since nobody can foresee where a name ends.
#[inline]
pub(super) fn short_name(start: &[u8; 8]) -> Option<(usize, u64)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(*start);
    // The highest bit of each byte of the sum says whether what is below it is at least so much.
    let low = word & !HIGH;
    let at_least = |low: u64, least: u8| low + ONES * u64::from(0x80 - least);
    let small = low | ONES << 5;
    let letters = at_least(small, b'a') & !at_least(small, b'z' + 1);
    let digits = at_least(low, b'0') & !at_least(low, b'9' + 1);
    let underscores = !at_least(low ^ (ONES * u64::from(b'_')), 1);
    let others = !(letters | digits | underscores) & HIGH | word & HIGH;
    if others == 0 {
        return None;
    }
    let bits = others.trailing_zeros() & !7;
    Some((bits as usize / 8, word & ((1 << bits) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_end_where_no_byte_of_a_name_follows() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                for filler in [b'a', b'Z', b'_', b'9', b' ', 0x80, 0xff] {
                    let mut text = [filler; 8];
                    text[at] = byte;
                    let length = text.iter().position(|byte| !shward_syntax::is_name_byte(*byte));
                    let expected = length.map(|length| (length, key(&text[..length])));
                    assert_eq!(short_name(&text), expected, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn every_name_has_a_number_of_its_own() {
        let names: Vec<String> = (0..3 * FEWEST)
            .flat_map(|n| {
                [format!("{n}"), format!("n{n}"), format!("{n}_name"), format!("a_long_name_{n}_of_its_own")]
            })
            .chain(["\0", "a\0", "aa\0", "aaaaaaaa\0", "aaaaaaa\u{e4}", "aaaaaa\u{e4}"].map(str::to_owned))
            .chain(
                ["a", "aa", "aaa", "aaaa", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaaaaaaaaaaa"].map(str::to_owned),
            )
            .collect();
        let mut symbols = Symbols::default();
        symbols.expect(24);
        for _ in 0..2 {
            for (number, name) in names.iter().enumerate() {
                let sym = symbols.intern(name.as_bytes());
                assert_eq!((sym.0 as usize, symbols.name(sym)), (number, name.as_bytes()));
            }
        }
        assert_eq!(symbols.len(), names.len());
    }
}
