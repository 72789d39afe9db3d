//! Names that were picked out of those that a search prints: each stands for itself, and is among all of them as well.

/// All of them, and apart from them those that were not picked and those that were: what is done with names is done with each of these, so
/// that it does not matter which come first or last.
pub(crate) fn apart<T: Copy>(all: &[T], is_picked: impl Fn(&T) -> bool) -> Vec<Vec<T>> {
    let (picked, others): (Vec<T>, Vec<T>) = all.iter().copied().partition(is_picked);
    if picked.is_empty() || others.is_empty() {
        return vec![all.to_vec()];
    }
    vec![others, all.to_vec(), picked]
}

/// Whether a path lies below any of these.
pub(crate) fn lies_below(path: &[u8], places: &[&[u8]]) -> bool {
    let rest = |place: &[u8]| path.strip_prefix(place.strip_suffix(b"/").unwrap_or(place));
    places.iter().any(|place| rest(place).is_some_and(|rest| rest.len() > 1 && rest.starts_with(b"/")))
}

#[cfg(test)]
mod tests {
    use super::{apart, lies_below};

    #[test]
    fn what_was_picked_stands_apart() {
        let parts = |all: &[i32]| apart(all, |each| *each > 9);
        assert_eq!(parts(&[1, 11, 2]), [vec![1, 2], vec![1, 11, 2], vec![11]]);
        assert_eq!(parts(&[1, 2]), [vec![1, 2]]);
        assert_eq!(parts(&[11]), [vec![11]]);
    }

    #[test]
    fn what_lies_below_another_place_is_told() {
        let places: &[&[u8]] = &[b"/a/b", b"/c/", b"/a/bc"];
        for (path, expected) in [
            (&b"/a/b/c"[..], true),
            (b"/a/b", false),
            (b"/a/bc", false),
            (b"/c/d", true),
            (b"/c/", false),
            (b"/a", false),
            (b"", false),
        ] {
            assert_eq!(lies_below(path, places), expected, "{}", path.escape_ascii());
        }
        assert!(lies_below(b"/x", &[b"/"]));
    }
}
