//! Words that a program puts together out of pieces that stand beside each other: `'unl' + 'ink'`, `"re" "move"`,
//! `` `child_${'process'}` ``.
//!
//! Nobody writes a name like that who does not want it not to be found. Where strings end is not told apart by a language's
//! rules: what is glued too much is only searched as well.

/// Text with its pieces glued.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Glued {
    /// The text, without what stood between the pieces.
    pub(super) text: Vec<u8>,
    /// A glued string is the name of what is called, or of an attribute that is looked up.
    pub(super) names: bool,
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'\'' | b'"' | b'`')
}

/// The text with its pieces glued, if there are any.
pub(super) fn glued(text: &[u8]) -> Option<Glued> {
    let mut whole = Glued { text: Vec::new(), names: false };
    // Up to where it is copied, and whether the string that is open has been glued.
    let (mut copied, mut open, mut at) = (0usize, false, 0usize);
    while let Some(next) = text.get(at..).and_then(|rest| rest.iter().position(|byte| is_quote(*byte))) {
        let quote = at + next;
        let before = text.get(..quote).unwrap_or_default();
        if before.ends_with(b"\\") {
            at = quote + 1;
            continue;
        }
        if let Some(length) = joint(text.get(quote + 1..).unwrap_or_default()) {
            whole.text.extend_from_slice(text.get(copied..quote).unwrap_or_default());
            at = quote + 1 + length;
            (copied, open) = (at, true);
        } else if before.ends_with(b"${") {
            whole.text.extend_from_slice(text.get(copied..quote - 2).unwrap_or_default());
            at = quote + 1;
            (copied, open) = (at, true);
        } else if open {
            let after = text.get(quote + 1..).unwrap_or_default().trim_ascii_start();
            let called = [&b"]"[..], b")"]
                .iter()
                .filter_map(|end| after.strip_prefix(*end))
                .any(|rest| rest.trim_ascii_start().starts_with(b"("));
            whole.text.extend_from_slice(text.get(copied..quote).unwrap_or_default());
            let near = whole.text.get(whole.text.len().saturating_sub(LOOKED_UP)..).unwrap_or_default();
            let line = near.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            whole.names |= called || line.windows(8).any(|word| word == b"getattr(");
            // The end of what was put into a template is none of its string.
            let length = if after.starts_with(b"}") { text.len() + 1 - quote - after.len() } else { 0 };
            copied = quote + length;
            (at, open) = (quote + length.max(1), false);
        } else {
            at = quote + 1;
        }
    }
    if whole.text.is_empty() {
        return None;
    }
    whole.text.extend_from_slice(text.get(copied..).unwrap_or_default());
    Some(whole)
}

/// So far back it is looked for what a glued string is handed to.
const LOOKED_UP: usize = 64;

/// How long what stands between two pieces is, with the quote of the second one: `' + '`.
fn joint(after: &[u8]) -> Option<usize> {
    let blanks = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let first = blanks(after);
    let rest = after.get(first..)?;
    let sign = usize::from(matches!(rest.first(), Some(b'+' | b'.')));
    let second = if sign == 1 { blanks(rest.get(1..)?) } else { 0 };
    let length = first + sign + second;
    (length > 0 && after.get(length).is_some_and(|byte| is_quote(*byte))).then_some(length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_glued_and_names_among_them_told() {
        for (text, expect, names) in [
            ("fs['unl' + 'ink']('a')", "fs['unlink']('a')", true),
            ("a[\"re\"+\"mo\"+'ve'](x)", "a[\"remove'](x)", true),
            ("require(`child_${'process'}`)", "require(`child_process`)", false),
            ("f(getattr(os, 're' 'move'))", "f(getattr(os, 'remove'))", true),
            ("getattr(os, 're' 'move') ('x')", "getattr(os, 'remove') ('x')", true),
            ("print('a ' + 'b')", "print('a b')", false),
            ("x['a' + 'b']", "x['ab']", false),
            ("system('r' . 'm x')", "system('rm x')", false),
        ] {
            let expect = Glued { text: expect.as_bytes().to_vec(), names };
            assert_eq!(glued(text.as_bytes()), Some(expect), "{text}");
        }
        for text in ["f('a', 'b')", "x = ''", "'it\\'s' + x", "", "a + b", "'a' + b + 'c'"] {
            assert_eq!(glued(text.as_bytes()), None, "{text}");
        }
    }
}
