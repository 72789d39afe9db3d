//! Text as it is shown to a person: what would move the cursor, hide, or reorder letters is made visible.
//!
//! A command comes from an agent, and may hold escape sequences or bidirectional controls that make the terminal show
//! something else than what would run.

use std::ops::Range;

/// Text made safe to show, with the way back from offsets in the original.
#[derive(Debug, Clone)]
pub struct Shown {
    text: String,
    /// (offset in the original, offset in the shown text) at each character that was replaced.
    shifts: Vec<(usize, usize)>,
}

impl Shown {
    /// Makes the text safe. Newlines stay.
    #[must_use]
    pub fn new(original: &str) -> Self {
        let mut shown = Self { text: String::with_capacity(original.len()), shifts: Vec::new() };
        for (at, c) in original.char_indices() {
            if is_plain(c) {
                shown.text.push(c);
            } else {
                for escaped in c.escape_unicode() {
                    shown.text.push(escaped);
                }
                shown.shifts.push((at + c.len_utf8(), shown.text.len()));
            }
        }
        shown
    }

    /// The safe text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The range in the safe text for a range in the original, moved to character boundaries and never out of bounds.
    #[must_use]
    pub fn range(&self, start: u32, end: u32) -> Range<usize> {
        let start = self.boundary(start as usize);
        start..self.boundary(end as usize).max(start)
    }

    fn boundary(&self, offset: usize) -> usize {
        let before = self.shifts.partition_point(|(original, _)| *original <= offset);
        let (original, shown) =
            before.checked_sub(1).and_then(|i| self.shifts.get(i)).copied().unwrap_or((0, 0));
        let mut at = (shown + (offset - original)).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Whether a character is shown as itself by every terminal, in its place.
fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        // Controls, soft hyphen, invisible fillers, zero-width and bidirectional characters, line separators, tags,
        // variation selectors (Unicode 15.1, general categories Cc, Cf, Zl, Zp and Default_Ignorable_Code_Point).
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        // Blanks that look like a space and are none to the shell.
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{2800}'
        | '\u{3000}' => false,
        // What a font of one's own draws, or nothing at all.
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => false,
        _ => true,
    }
}

/// Whether nobody would see anything of a text.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || !is_plain(c))
}

/// Makes a text safe to show on one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    Shown::new(text).text().replace('\n', "⏎").replace('\t', " ")
}

/// An argument list as one would type it: joined by blanks alone, nobody could see where an argument begins, or that one is empty.
#[must_use]
pub fn typed<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    let mut out = String::new();
    for (at, word) in words.into_iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        // As the first word, `A=b` would be no program.
        if !word.is_empty() && word.chars().all(plain) && (at > 0 || !word.contains('=')) {
            out.push_str(word);
        } else {
            out.push_str(&format!("'{}'", word.replace('\'', "'\\''")));
        }
    }
    out
}

/// The letters and marks in a text that look like ASCII and are not, each once: a Cyrillic `а` in a program's name, a dash
/// that is no option's. Whoever approves a command has to be told of them, because nobody can see them.
#[must_use]
pub fn lookalikes(text: &str) -> Vec<char> {
    let mut found: Vec<char> = text.chars().filter(|c| is_lookalike(*c)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// After the confusables of Unicode Technical Standard 39, as far as they are taken for printable ASCII in common fonts.
fn is_lookalike(c: char) -> bool {
    match c {
        // Fullwidth forms, mathematical letters and digits, small forms, letterlike symbols.
        '\u{ff01}'..='\u{ff5e}'
        | '\u{1d400}'..='\u{1d7ff}'
        | '\u{fe50}'..='\u{fe6f}'
        | '\u{2100}'..='\u{214f}' => true,
        // Dashes, dots, quotes, slashes, bars, semicolons and tildes.
        '\u{2010}'..='\u{2015}' | '\u{2018}'..='\u{201f}' | '\u{2024}' | '\u{2032}'..='\u{2037}' => true,
        '\u{2044}' | '\u{2052}' | '\u{2053}' | '\u{2212}' | '\u{2215}' | '\u{2216}' | '\u{2217}' => true,
        '\u{2223}' | '\u{2236}' | '\u{223c}' | '\u{29f8}' | '\u{29f9}' | '\u{2758}' | '\u{37e}'
        | '\u{387}' => true,
        '\u{1c0}' | '\u{1c3}' | '\u{2b9}'..='\u{2bf}' | '\u{2c2}'..='\u{2c6}' | '\u{2d7}' | '\u{2dc}' => true,
        // Latin that is not ASCII.
        'ı' | 'ȷ' | 'ſ' | 'ɑ' | 'ɡ' | 'ɩ' | 'ɪ' | 'ɴ' | 'ʀ' | 'ʏ' | 'ᴄ' | 'ᴏ' | 'ᴠ' | 'ᴡ' | 'ᴢ' => {
            true
        }
        // Greek.
        'Α' | 'Β' | 'Ε' | 'Ζ' | 'Η' | 'Ι' | 'Κ' | 'Μ' | 'Ν' | 'Ο' | 'Ρ' | 'Τ' | 'Υ' | 'Χ' => {
            true
        }
        'α' | 'γ' | 'ι' | 'κ' | 'ν' | 'ο' | 'ρ' | 'σ' | 'υ' | 'χ' | 'ϲ' | 'ϳ' | 'ϱ' => true,
        // Cyrillic.
        'А' | 'В' | 'Е' | 'К' | 'М' | 'Н' | 'О' | 'Р' | 'С' | 'Т' | 'У' | 'Х' | 'Ѕ' | 'І' | 'Ј' | 'Ԍ' => {
            true
        }
        'а' | 'г' | 'е' | 'к' | 'о' | 'п' | 'р' | 'с' | 'у' | 'х' | 'ѕ' | 'і' | 'ј' | 'һ' | 'ԁ' | 'ԛ'
        | 'ԝ' | 'ѵ' => true,
        // Armenian, Cherokee and Lisu letters shaped as Latin ones.
        'օ' | 'ո' | 'ս' | 'հ' | 'ց' | 'ք' | '\u{13a0}'..='\u{13f5}' | '\u{a4d0}'..='\u{a4f7}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Shown, lookalikes, one_line, typed};

    #[test]
    fn lookalikes_are_found_and_other_languages_are_left_alone() {
        assert_eq!(lookalikes("rm ‐rf /tmp; \u{441}at а\u{430}"), ['а', 'с', '‐']);
        for plain in ["git commit -m 'Grüße, naïve café'", "echo 日本語 ✓ → …", "ls -la ~/x"] {
            assert!(lookalikes(plain).is_empty(), "{plain}");
        }
    }

    #[test]
    fn dangerous_characters_are_made_visible_and_spans_follow() {
        let original = "a\u{1b}[2Kb \u{202e}x é";
        let shown = Shown::new(original);
        assert_eq!(shown.text(), "a\\u{1b}[2Kb \\u{202e}x é");
        let span = |word: &str| {
            let at = original.find(word).unwrap();
            let range = shown.range(u32::try_from(at).unwrap(), u32::try_from(at + word.len()).unwrap());
            shown.text().get(range).unwrap()
        };
        assert_eq!(span("[2Kb"), "[2Kb");
        assert_eq!(span("x"), "x");
        assert_eq!(span("é"), "é");
        assert_eq!(span(original), shown.text());
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for hidden in ['\u{2800}', '\u{e000}', '\u{1bca0}', '\u{13430}', '\u{f0000}', '\u{3164}', '\u{e0041}']
        {
            assert_ne!(one_line(&format!("a{hidden}b")), format!("a{hidden}b"), "{:x}", u32::from(hidden));
        }
    }

    #[test]
    fn any_range_is_safe() {
        let shown = Shown::new("é\u{0}ü");
        for start in 0..12 {
            for end in 0..12 {
                assert!(shown.text().get(shown.range(start, end)).is_some());
            }
        }
    }

    #[test]
    fn where_an_argument_ends_can_be_seen() {
        for (words, shown) in [
            (&["rm", "-rf", "a b"][..], "rm -rf 'a b'"),
            (&["rm", "-rf", "", "/x"], "rm -rf '' /x"),
            (&["echo", "it's", "*", "$HOME", "~", "a;b"], "echo 'it'\\''s' '*' '$HOME' '~' 'a;b'"),
            (&["A=b", "x", "--c=d"], "'A=b' x --c=d"),
            (&["git", "commit", "-m", "é\n"], "git commit -m 'é\n'"),
        ] {
            assert_eq!(typed(words.iter().copied()), shown);
        }
    }

    #[test]
    fn one_line_keeps_no_line_break() {
        assert_eq!(one_line("a\nb\tc\r"), "a⏎b c\\u{d}");
    }
}
