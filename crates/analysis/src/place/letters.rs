//! Which letters a text has, so that most names are told apart without a look at them.

/// The bytes of a text as bits, four to each.
pub(super) const fn letters(text: &[u8]) -> u64 {
    let mut all = 0;
    let mut rest = text;
    while let Some((byte, others)) = rest.split_first() {
        all |= 1 << (*byte & 63);
        rest = others;
    }
    all
}
