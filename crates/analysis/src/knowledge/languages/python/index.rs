//! Names of tables, by a hash of their length and of the bytes at both ends.

use super::acts::{Act, Module};
use shward_syntax::same;

/// Places of an index, far more than any table has rows.
const PLACES: usize = 2048;

/// Where the rows of a table are by their names: at the place that the hash tells, or at the next free one after it.
#[derive(Debug)]
pub(super) struct Index<T: 'static> {
    rows: &'static [T],
    /// The number of each row and one more; 0 where there is none.
    places: [u16; PLACES],
}

/// Where a name belongs, if that is free.
const fn place(name: &[u8]) -> usize {
    let (a, b, y, z) = match *name {
        [] => (0, 0, 0, 0),
        [a] => (a, 0, 0, 0),
        [a, b] => (a, b, 0, 0),
        [a, b, z] => (a, b, 0, z),
        [a, b, .., y, z] => (a, b, y, z),
    };
    let ends = u32::from_le_bytes([a, b, y, z]) ^ ((name.len() % 256) as u32) << 13;
    (ends.wrapping_mul(0x9e37_79b1) >> 21) as usize % PLACES
}

/// Makes the index of a table whose rows have their name at `$name`.
macro_rules! index {
    ($of:ident, $row:ty, $name:tt) => {
        impl Index<$row> {
            #[allow(
                clippy::indexing_slicing,
                reason = "evaluated by the compiler only: an index out of bounds does not compile"
            )]
            pub(super) const fn $of(rows: &'static [$row]) -> Self {
                let mut places = [0; PLACES];
                let (mut number, mut left) = (1, rows);
                while let Some((row, others)) = left.split_first() {
                    let mut at = place(row.$name.as_bytes());
                    while places[at] != 0 {
                        at = (at + 1) % PLACES;
                    }
                    places[at] = number;
                    number += 1;
                    left = others;
                }
                Self { rows, places }
            }

            /// The row of this name.
            pub(super) fn find(&self, name: &[u8]) -> Option<&'static $row> {
                let mut at = place(name);
                loop {
                    let number = usize::from(*self.places.get(at)?);
                    let row = self.rows.get(number.checked_sub(1)?)?;
                    let known = row.$name.as_bytes();
                    if same(known, name) {
                        return Some(row);
                    }
                    at = (at + 1) % PLACES;
                }
            }
        }
    };
}

index!(of, Module, name);
index!(of_acts, (&'static str, Act), 0);

#[cfg(test)]
mod tests {
    use super::super::builtins::{BUILTINS, builtin};
    use super::super::modules::{STANDARD, find};
    use super::super::packages::PACKAGES;

    #[test]
    fn every_module_is_found_by_its_name_and_no_other() {
        for module in STANDARD.iter().chain(PACKAGES) {
            assert_eq!(find(module.name.as_bytes()).map(|found| found.name), Some(module.name));
        }
        for (name, act) in BUILTINS {
            assert_eq!(builtin(name.as_bytes()), Some(*act), "{name}");
        }
        for name in ["", "o", "oss", "zzz", "~", "Zz", "\u{e9}"] {
            assert!(find(name.as_bytes()).is_none() && builtin(name.as_bytes()).is_none(), "{name}");
        }
    }
}
