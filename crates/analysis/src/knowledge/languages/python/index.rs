//! Names of sorted tables: where those stand that begin with a letter, and how long they are.

use super::acts::Act;
use super::modules::Module;

/// A sorted table, with how many of its rows stand before the first of each first byte, and how long the names are that
/// begin with it, as bits.
#[derive(Debug)]
pub(super) struct Index<T: 'static> {
    rows: &'static [T],
    starts: [u16; 129],
    lengths: [u64; 128],
}

/// Makes the index of a table whose rows have their name at `$name`.
macro_rules! index {
    ($of:ident, $row:ty, $name:tt) => {
        impl Index<$row> {
            pub(super) const fn $of(rows: &'static [$row]) -> Self {
                let (mut starts, mut lengths) = ([0; 129], [0; 128]);
                let (mut rest, mut of_byte): (&mut [u16], &mut [u64]) = (&mut starts, &mut lengths);
                let (mut byte, mut before, mut left) = (0, 0, rows);
                while let Some((start, others)) = rest.split_first_mut() {
                    *start = before;
                    let Some((lengths, more)) = of_byte.split_first_mut() else { break };
                    while let Some((row, after)) = left.split_first()
                        && let Some(first) = row.$name.as_bytes().first()
                        && *first as u16 == byte
                    {
                        let length = row.$name.len();
                        *lengths |= 1 << if length < 63 { length } else { 63 };
                        (before, left) = (before + 1, after);
                    }
                    byte += 1;
                    (rest, of_byte) = (others, more);
                }
                Self { rows, starts, lengths }
            }

            /// The row of this name.
            pub(super) fn find(&self, name: &[u8]) -> Option<&'static $row> {
                let first = usize::from(*name.first()?);
                if self.lengths.get(first)? >> name.len().min(63) & 1 == 0 {
                    return None;
                }
                let start = |at| self.starts.get(at).copied().map(usize::from);
                let rows = self.rows.get(start(first)?..start(first + 1)?)?;
                let at = rows.binary_search_by(|row| row.$name.as_bytes().cmp(name)).ok()?;
                rows.get(at)
            }
        }
    };
}

index!(of, Module, name);
index!(of_acts, (&'static str, Act), 0);

#[cfg(test)]
mod tests {
    use super::super::modules::{STANDARD, find};
    use super::super::packages::PACKAGES;

    #[test]
    fn every_module_is_found_by_its_name_and_no_other() {
        for module in STANDARD.iter().chain(PACKAGES) {
            assert_eq!(find(module.name.as_bytes()).map(|found| found.name), Some(module.name));
        }
        for name in ["", "o", "oss", "zzz", "~", "Zz", "\u{e9}"] {
            assert!(find(name.as_bytes()).is_none(), "{name}");
        }
    }
}
