//! What programs beside each other in a pipeline leave over of names: `grep '\.env' | grep '\.example$'` does not look for secrets.

use super::spelled;
use crate::knowledge::words::Syntax;
use crate::place;
use shward_syntax::Span;

/// Longest text that is asked for what it leaves over.
const LONGEST: usize = 256;

/// Endings of source code, which is no secret however it begins.
const CODE: [&[u8]; 14] = [
    b".ts", b".tsx", b".js", b".jsx", b".mjs", b".cjs", b".py", b".rs", b".go", b".java", b".rb", b".php",
    b".md", b".vue",
];

/// A text that is looked for in lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) span: Span,
}

/// What a program keeps of lines, or leaves out.
#[derive(Debug)]
pub(crate) struct Filter<'a> {
    pub(crate) words: Vec<(Word<'a>, Syntax)>,
    pub(crate) leaves_out: bool,
    pub(crate) any_case: bool,
}

impl Filter<'_> {
    /// How many bytes it says.
    pub(crate) fn size(&self) -> usize {
        self.words.iter().map(|(word, _)| word.text.len().min(LONGEST) + 1).sum()
    }

    /// Whether names may go on behind what it spells.
    pub(crate) fn is_open(&self) -> bool {
        !self.words.iter().any(|(word, syntax)| *syntax != Syntax::Fixed && word.text.ends_with(b"$"))
    }

    /// Whether no line is handed on whose last name is this; `open`: or begins with it.
    pub(crate) fn excludes(&self, name: &[u8], open: bool) -> bool {
        let name = if self.any_case { name.to_ascii_lowercase() } else { name.to_vec() };
        let mut words = self.words.iter().filter(|(word, _)| word.text.len() <= LONGEST);
        if self.leaves_out {
            return words.any(|(word, syntax)| leaves_out(word.text, *syntax, self.any_case, &name));
        }
        !self.words.is_empty()
            && self.words.iter().all(|(word, syntax)| {
                word.text.len() <= LONGEST && !may_keep(word.text, *syntax, &name, open)
            })
    }
}

/// Whether lines are left out for a text that is found in them, wherever the file of this name lies.
fn leaves_out(text: &[u8], syntax: Syntax, any_case: bool, name: &[u8]) -> bool {
    let begun = [&b"(^|/)"[..], b"^.*/", b".*/", b"/"].iter().find_map(|start| text.strip_prefix(*start));
    let rest = begun.unwrap_or(text);
    if rest.contains(&b'/') || rest.contains(&b'^') {
        return false;
    }
    let names = spelled::names(text, syntax, any_case);
    let ended = syntax != Syntax::Fixed && text.ends_with(b"$");
    names.iter().any(|told| match (begun.is_some(), ended) {
        _ if told == name => true,
        (true, true) => false,
        (true, false) => name.starts_with(told),
        (false, true) => name.ends_with(told),
        (false, false) => name.windows(told.len().max(1)).any(|part| part == told),
    })
}

/// Whether lines are kept for a text that may be found in them, if they end in a name, or in one that begins like it.
fn may_keep(text: &[u8], syntax: Syntax, name: &[u8], open: bool) -> bool {
    if let Some(tails) = tails(text, syntax) {
        return tails.iter().any(|tail| {
            let longer = [name, tail].concat();
            name.ends_with(tail) || open && place::may_be_secret(&longer) && !is_code(&longer)
        });
    }
    // A word that makes another name of it: `.env.example`. Directories may have it in their names as well, if it is told as a whole.
    let word = text.strip_prefix(b"\\.").or_else(|| text.strip_prefix(b".")).unwrap_or(text);
    let plain = !word.is_empty() && word.iter().all(u8::is_ascii_alphanumeric);
    let longer = |word: &[u8]| place::may_be_secret(&[name, b".", word].concat());
    !(open && plain && longer(b"local") && !longer(word))
}

/// In one of which a line ends in which this is found, if that is all that it says of the end.
fn tails(text: &[u8], syntax: Syntax) -> Option<Vec<Vec<u8>>> {
    let text = text.strip_suffix(b"$").filter(|_| syntax != Syntax::Fixed)?;
    if let Some(all) = text.strip_suffix(b")").filter(|_| syntax != Syntax::Basic) {
        let open = all.iter().rposition(|byte| *byte == b'(')?;
        let (before, all) = all.split_at_checked(open)?;
        let dot = before.strip_suffix(b"\\.")?;
        let endings = all.get(1..)?.split(|byte| *byte == b'|');
        let endings = endings.map(|end| [b".", end].concat()).collect::<Vec<_>>();
        let plain = endings.iter().all(|end| spelled::is_ending(end) && end.len() > 1);
        return (plain && !dot.contains(&b'|') && !dot.ends_with(b"\\")).then_some(endings);
    }
    if text.contains(&b'|') {
        return None;
    }
    let letters = text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let (before, letters) = text.split_at_checked(text.len().saturating_sub(letters))?;
    let dotted = before.strip_suffix(b"\\.").is_some_and(|before| !before.ends_with(b"\\"));
    (dotted && !letters.is_empty()).then(|| vec![[b".", letters].concat()])
}

/// Whether a name ends as source code does.
pub(crate) fn is_code(name: &[u8]) -> bool {
    CODE.iter().any(|end| name.ends_with(end))
}

/// Whether a name is told a second time in small letters.
pub(crate) fn is_capital(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase)
}
