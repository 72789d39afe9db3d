//! The form of the compiled command knowledge: records and lists in one block of bytes, which the build script writes
//! (`build/emit.rs`) and which is used where it lies. Nothing is built, relocated or copied at start-up.
//!
//! Numbers are little-endian and unaligned. A place is an offset into the image; a list is a `u16` count and its records
//! one after the other; offset 0 is the empty list or no record. A text is an offset into [`TEXT`] and a length. Reading
//! outside the image gives zeros, so no image can make a reader panic.

use shward_syntax::{order, same};
use std::fmt;
use std::marker::PhantomData;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/knowledge.image"));
static TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/knowledge.text"));

/// Reads one record, field by field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor(usize);

impl Cursor {
    pub(super) const fn at(place: u32) -> Self {
        Self(place as usize)
    }

    /// So many bytes further.
    pub(super) const fn skip(self, bytes: usize) -> Self {
        Self(self.0 + bytes)
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let bytes = IMAGE.get(self.0..).and_then(|rest| rest.first_chunk::<N>());
        self.0 += N;
        bytes.copied().unwrap_or([0; N])
    }

    pub(super) fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub(super) fn text(&mut self) -> &'static str {
        let packed = self.u32() as usize;
        let (start, length) = (packed >> 8, packed & 0xff);
        TEXT.get(start..start + length).unwrap_or_default()
    }

    pub(super) fn list<T: Record>(&mut self) -> List<T> {
        List { place: self.u32(), records: PhantomData }
    }
}

/// Something that a list holds.
pub(super) trait Record: Copy {
    /// In bytes.
    const SIZE: usize;

    fn read(cursor: Cursor) -> Self;
}

impl Record for &'static str {
    const SIZE: usize = 4;

    fn read(mut cursor: Cursor) -> Self {
        cursor.text()
    }
}

/// A record that begins with its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<T> {
    pub(crate) name: &'static str,
    pub(crate) item: T,
}

impl<T: Record> Record for Named<T> {
    const SIZE: usize = 4 + T::SIZE;

    fn read(mut cursor: Cursor) -> Self {
        Self { name: cursor.text(), item: T::read(cursor) }
    }
}

/// Records one after the other.
#[derive(Clone, Copy)]
pub(crate) struct List<T> {
    place: u32,
    records: PhantomData<T>,
}

impl<T: Record> List<T> {
    pub(super) const fn at(place: u32) -> Self {
        Self { place, records: PhantomData }
    }

    /// No records.
    pub(crate) const NONE: Self = Self { place: 0, records: PhantomData };

    pub(crate) const fn is_empty(self) -> bool {
        self.place == 0
    }

    pub(crate) fn len(self) -> usize {
        if self.place == 0 { 0 } else { usize::from(Cursor::at(self.place).u16()) }
    }

    fn cursor(self, index: usize) -> Cursor {
        Cursor(self.place as usize + 2 + index * T::SIZE)
    }

    pub(crate) fn get(self, index: usize) -> Option<T> {
        (index < self.len()).then(|| T::read(self.cursor(index)))
    }

    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator {
        (0..self.len()).map(move |index| T::read(self.cursor(index)))
    }

    pub(crate) fn last(self) -> Option<T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The index of the first record that `before` does not hold for; it must hold for none after that.
    pub(crate) fn partition_point(self, mut before: impl FnMut(Cursor) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if before(self.cursor(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl<T: Record + PartialEq> List<T> {
    pub(crate) fn contains(self, wanted: &T) -> bool {
        self.iter().any(|each| each == *wanted)
    }
}

impl<T: Record> List<Named<T>> {
    /// The index of the first name that is not before this one.
    pub(crate) fn from(self, name: &[u8]) -> usize {
        self.partition_point(|mut cursor| order(cursor.text().as_bytes(), name).is_lt())
    }

    pub(crate) fn find(self, name: &[u8]) -> Option<Named<T>> {
        self.get(self.from(name)).filter(|found| same(found.name.as_bytes(), name))
    }
}

impl<T: Record + fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
