//! What in a word of a program that is not understood may be a path.
//!
//! Nobody knows how such a program reads its words, so each reading counts: `--out=/a=b`, `-o/a`, `@/a`, `host:/a`,
//! `x,/a`, `file:///a`.

/// Most readings of one word. Each is made a whole path, which takes as long as the word is.
const MOST: usize = 16;

/// The readings of a word that have a `/`, the longest first. A word with more than sixteen of them is also read as the root:
/// whatever the lists protect lies below it.
pub(crate) fn in_word(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let address = word.windows(3).position(|three| three == b"://");
    let tails = address.is_none().then(|| tails(word)).into_iter().flatten();
    let file = address.and_then(|at| {
        let (scheme, rest) = word.split_at_checked(at)?;
        let rest = rest.get(3..)?;
        let path = rest.get(rest.iter().position(|byte| *byte == b'/')?..)?;
        scheme.to_ascii_lowercase().ends_with(b"file").then_some(path)
    });
    tails.chain(file)
}

fn tails(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let marks = word.iter().enumerate().filter(|(_, byte)| matches!(byte, b'=' | b':' | b',' | b'@'));
    let behind = marks.filter_map(|(at, _)| word.get(at + 1..));
    // An option's letter with its value behind it.
    let glued = word
        .starts_with(b"-")
        .then(|| word.iter().position(|byte| *byte == b'/'))
        .flatten()
        .and_then(|at| word.get(at..));
    let all = [word].into_iter().chain(glued).chain(behind).filter(|tail| tail.contains(&b'/'));
    let mut count = 0;
    all.take(MOST + 1).map(move |tail| {
        count += 1;
        if count > MOST { b"/" } else { tail }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_counts() {
        let table: &[(&str, &[&str])] = &[
            ("a", &[]),
            ("--name=x", &[]),
            ("a/b", &["a/b"]),
            ("/a=b", &["/a=b"]),
            ("--out=/a=b", &["--out=/a=b", "/a=b", "/a=b"]),
            ("-o/a", &["-o/a", "/a"]),
            ("@/a", &["@/a", "/a"]),
            ("u@h:/a,../b", &["u@h:/a,../b", "h:/a,../b", "/a,../b", "../b"]),
            ("https://x.example/a", &[]),
            ("file:///a", &["/a"]),
            ("--url=FILE://h/a", &["/a"]),
            ("file://", &[]),
        ];
        for (word, expected) in table {
            let found: Vec<_> = in_word(word.as_bytes()).map(|path| str::from_utf8(path).unwrap()).collect();
            assert_eq!(&found, expected, "{word}");
        }
        let many = "x=".repeat(100_000) + "/a";
        let found: Vec<_> = in_word(many.as_bytes()).collect();
        assert_eq!((found.len(), found.last().copied()), (MOST + 1, Some(&b"/"[..])));
    }
}
