//! Other spellings of a name, which some file systems take for the same.
//!
//! A directory of ext4, f2fs or tmpfs may be told not to tell upper from lower case. The kernel then compares names as Unicode folds
//! them (`NFDICF`), which is more than what ASCII knows: `ſ` is an `s`, `ﬁ` is `fi`, and what cannot be seen is left out.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Characters beyond ASCII that are folded to it.
const FOLDED: [(char, &str); 11] = [
    ('ß', "ss"),
    ('ſ', "s"),
    ('ẞ', "ss"),
    ('\u{212a}', "k"), // the sign for Kelvin
    ('ﬀ', "ff"),
    ('ﬁ', "fi"),
    ('ﬂ', "fl"),
    ('ﬃ', "ffi"),
    ('ﬄ', "ffl"),
    ('ﬅ', "st"),
    ('ﬆ', "st"),
];

/// Characters that are left out (Unicode, `Default_Ignorable_Code_Point`).
const IGNORED: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// A path in the one spelling in which protected names are written: in small letters, as far as they can be those of ASCII.
pub(crate) fn folded(path: &Path) -> Cow<'_, Path> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_ascii() {
        return match bytes.iter().any(u8::is_ascii_uppercase) {
            true => Cow::Owned(path.as_os_str().to_ascii_lowercase().into()),
            false => Cow::Borrowed(path),
        };
    }
    let mut out = Vec::with_capacity(bytes.len());
    for piece in bytes.utf8_chunks() {
        for c in piece.valid().chars() {
            if IGNORED.iter().any(|(first, last)| (*first..=*last).contains(&c)) {
                continue;
            }
            match FOLDED.iter().find(|(from, _)| *from == c) {
                Some((_, to)) => out.extend_from_slice(to.as_bytes()),
                None => out.extend_from_slice(c.to_ascii_lowercase().encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        out.extend_from_slice(piece.invalid());
    }
    Cow::Owned(PathBuf::from(OsString::from_vec(out)))
}

#[cfg(test)]
mod tests {
    use super::folded;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    #[test]
    fn every_spelling_is_brought_to_one() {
        for (name, expected) in [
            ("a/b", "a/b"),
            (".GIT/Hooks", ".git/hooks"),
            (".g\u{200c}it/hook\u{17f}", ".git/hooks"),
            (".git/con\u{fb01}g", ".git/config"),
            ("\u{feff}.vscode\u{e0061}", ".vscode"),
            (".\u{212a}iro", ".kiro"),
            ("stra\u{df}e", "strasse"),
            ("\u{e9}t\u{e9}", "\u{e9}t\u{e9}"),
        ] {
            assert_eq!(folded(Path::new(name)), Path::new(expected), "{name:?}");
        }
        let broken = Path::new(OsStr::from_bytes(b"\xff.G\xc5\xbf"));
        assert_eq!(folded(broken).as_os_str().as_bytes(), b"\xff.gs");
    }
}
