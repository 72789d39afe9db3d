//! Where the next byte is that means something, eight bytes at a time; and names held against names.

use std::cmp::Ordering;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// How many bytes stand before the first of these; all, if none is there.
///
/// ```
/// assert_eq!(shward_syntax::until(b"a long text, and a \"quotation\"", [b'"', b'\\']), 19);
/// ```
#[must_use]
#[inline]
pub fn until<const N: usize>(text: &[u8], stops: [u8; N]) -> usize {
    let patterns = stops.map(|stop| ONES * u64::from(stop));
    let (words, end) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // A byte that is the same as a stop is zero after the exclusive or, and the lowest bit that is left belongs to the first
        // such byte. Those above it may be wrong.
        let found = patterns.iter().fold(0, |found, pattern| {
            let differs = word ^ pattern;
            found | differs.wrapping_sub(ONES) & !differs
        });
        let found = found & HIGH;
        if found != 0 {
            return 8 * index + found.trailing_zeros() as usize / 8;
        }
    }
    let rest = end.iter().position(|byte| stops.contains(byte)).unwrap_or(end.len());
    text.len() - end.len() + rest
}

/// Whether this marks a byte by its highest bit, of eight at a time.
#[inline]
fn any_of(words: &[u8], marks: impl Fn(u64) -> u64) -> bool {
    let words = words.as_chunks::<8>().0;
    words.iter().fold(0, |found, word| found | marks(u64::from_le_bytes(*word))) & HIGH != 0
}

/// The same of a text of any length.
#[inline]
fn any_marked(text: &[u8], marks: impl Fn(u64) -> u64 + Copy) -> bool {
    let (blocks, end) = text.as_chunks::<32>();
    if blocks.iter().any(|block| any_of(block, marks)) || any_of(end, marks) {
        return true;
    }
    // The last ones together with some before them, or with some that nothing is the matter with.
    match text.last_chunk::<8>() {
        Some(last) => any_of(last, marks),
        None => {
            let mut last = [b'a'; 8];
            last.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
            any_of(&last, marks)
        }
    }
}

/// Whether there are control characters other than DEL in a text.
///
/// ```
/// assert!(shward_syntax::has_control(b"a\ttab") && !shward_syntax::has_control(b"no tab"));
/// ```
#[must_use]
#[inline]
pub fn has_control(text: &[u8]) -> bool {
    any_marked(text, |word| word.wrapping_sub(ONES * 0x20) & !word)
}

/// Whether there is a NUL in a text.
///
/// ```
/// assert!(shward_syntax::has_nul(b"a\0") && !shward_syntax::has_nul(b"a"));
/// ```
#[must_use]
#[inline]
pub fn has_nul(text: &[u8]) -> bool {
    any_marked(text, |word| word.wrapping_sub(ONES) & !word)
}

/// Whether anything but what people see of ASCII, newlines and tabs is in a text.
#[inline]
pub(crate) fn has_unusual(text: &[u8]) -> bool {
    any_marked(text, |word| {
        let low = word & !HIGH;
        // The highest bit of each says that it is not the same, or not below a blank.
        let [newline, tab] = [b'\n', b'\t'].map(|byte| (low ^ (ONES * u64::from(byte))) + (HIGH - ONES));
        let visible = low + ONES * 0x60;
        // Of DEL one more is the first byte beyond ASCII.
        word | (low + ONES) | (newline & tab & !visible)
    })
}

/// Whether two texts are the same. Only of texts that are longer than 16 bytes and begin and end alike something is called; of
/// others this branches on the length only.
///
/// ```
/// assert!(shward_syntax::same(b"name", b"name") && !shward_syntax::same(b"name", b"game"));
/// ```
#[must_use]
#[inline]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if let (Some(a_start), Some(b_start), Some(a_end), Some(b_end)) =
        (a.first_chunk::<8>(), b.first_chunk(), a.last_chunk::<8>(), b.last_chunk())
    {
        return (a_start == b_start) & (a_end == b_end) && (a.len() <= 16 || a == b);
    }
    if let (Some(a_start), Some(b_start), Some(a_end), Some(b_end)) =
        (a.first_chunk::<4>(), b.first_chunk(), a.last_chunk::<4>(), b.last_chunk())
    {
        return (a_start == b_start) & (a_end == b_end);
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// How two texts stand in a sorted table. Nearly all of its names differ in the first two bytes, and then this calls nothing.
///
/// ```
/// assert!(shward_syntax::order(b"cat", b"cp").is_lt());
/// ```
#[must_use]
#[inline]
pub fn order(a: &[u8], b: &[u8]) -> Ordering {
    let start = |text: &[u8]| (text.first().copied(), text.get(1).copied());
    start(a).cmp(&start(b)).then_with(|| a.cmp(b))
}

/// A list of names, of which most texts can be told not to be one by their last byte and their length.
///
/// ```
/// const SHELLS: shward_syntax::OneOf<3> = shward_syntax::OneOf::new(["sh", "bash", "dash"]);
/// assert!(SHELLS.has(b"bash") && !SHELLS.has(b"fish"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OneOf<const N: usize> {
    names: [&'static str; N],
    /// By the low bits of the last byte, which are those of its other case too: which lengths there are.
    lengths: [u32; 32],
}

impl<const N: usize> OneOf<N> {
    /// These names.
    ///
    /// # Panics
    /// One of them is empty; made by the compiler, it does not compile then.
    #[must_use]
    #[allow(
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, where it fails instead of panicking"
    )]
    pub const fn new(names: [&'static str; N]) -> Self {
        let mut lengths = [0; 32];
        let mut at = 0;
        while at < N {
            let name = names[at].as_bytes();
            lengths[name[name.len() - 1] as usize % 32] |= bit(name.len());
            at += 1;
        }
        Self { names, lengths }
    }

    fn may_have(&self, name: &[u8]) -> bool {
        let lengths = name.last().and_then(|last| self.lengths.get(usize::from(*last) % 32));
        lengths.is_some_and(|lengths| lengths & bit(name.len()) != 0)
    }

    /// Whether this is one of the names.
    #[must_use]
    #[inline]
    pub fn has(&self, name: &[u8]) -> bool {
        self.may_have(name) && self.names.iter().any(|known| same(known.as_bytes(), name))
    }

    /// Whether this is one of the names, in small letters or capitals.
    #[must_use]
    #[inline]
    pub fn has_in_any_case(&self, name: &[u8]) -> bool {
        self.may_have(name) && self.names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    }
}

/// For a length; one for all long ones.
const fn bit(length: usize) -> u32 {
    1 << if length < 31 { length } else { 31 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_same_or_in_order_as_their_bytes_are() {
        let texts: Vec<Vec<u8>> = (0..20)
            .flat_map(|length| {
                let changed = (0..length).map(move |at| {
                    let mut text = vec![b'a'; length];
                    text[at] = b'b';
                    text
                });
                changed.chain([vec![b'a'; length], vec![0xff; length]])
            })
            .collect();
        for a in &texts {
            for b in &texts {
                assert_eq!(same(a, b), a == b, "{a:?} {b:?}");
                assert_eq!(order(a, b), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn one_of_a_list_is_found_in_it() {
        const LONG: &str = "a-name-that-has-more-than-thirty-one-bytes";
        const LIST: OneOf<5> = OneOf::new(["a", "ab", "Tee", "-x", LONG]);
        for name in [
            "",
            "a",
            "A",
            "b",
            "ab",
            "aB",
            "abc",
            "Tee",
            "tee",
            "-x",
            "-X",
            "Mx",
            LONG,
            "name-that-has-more-than-thirty-one-bytes",
        ] {
            assert_eq!(LIST.has(name.as_bytes()), LIST.names.contains(&name), "{name}");
            let known = LIST.names.iter().any(|known| known.eq_ignore_ascii_case(name));
            assert_eq!(LIST.has_in_any_case(name.as_bytes()), known, "{name}");
        }
    }

    #[test]
    fn a_byte_is_noticed_wherever_it_stands() {
        for length in (0..20).chain([31, 32, 33, 40, 70]) {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    for around in [b' ', b'~', b'\n'] {
                        let mut text = vec![around; length];
                        text[at] = byte;
                        let any = |holds: fn(u8) -> bool| text.iter().any(|byte| holds(*byte));
                        assert_eq!(has_control(&text), any(|byte| byte < b' '), "{text:?}");
                        assert_eq!(has_nul(&text), any(|byte| byte == 0), "{text:?}");
                        let unusual = any(|byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
                        assert_eq!(has_unusual(&text), unusual, "{text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_stop_is_found_wherever_it_stands() {
        let around = [0, 1, b'!', b'"', b'#', b'[', b'\\', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff];
        for length in 0..20 {
            for at in 0..=length {
                for other in around {
                    for stop in [b'"', b'\\', 0, 0x80] {
                        let mut text = vec![other; length];
                        text[at..].fill(b'z');
                        if let Some(byte) = text.get_mut(at) {
                            *byte = stop;
                        }
                        let expected = text.iter().position(|byte| *byte == stop).unwrap_or(length);
                        assert_eq!(until(&text, [stop]), expected, "{text:?} {stop}");
                        let either = text.iter().position(|byte| matches!(*byte, b'z') || *byte == stop);
                        assert_eq!(until(&text, [b'z', stop]), either.unwrap_or(length), "{text:?} {stop}");
                    }
                }
            }
        }
    }
}
