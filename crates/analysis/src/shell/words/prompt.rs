//! Prompts, which are words that the shell expands by itself, and for `${name@P}`.

use super::lookup::is_name;

/// Whether a prompt, which is decoded and then expanded like a word in double quotes (bash(1), "PROMPTING"), runs nothing:
/// variables are named plainly, and no escape stands for a character that the expansion would take.
pub(in crate::shell) fn is_plain_prompt(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'`' | b'[' => return false,
            b'\\' => match after.split_first() {
                Some((letter, after)) if b"adehHjlnrstT@AuvVwW!#]\\".contains(letter) => rest = after,
                _ => return false,
            },
            b'$' => match after {
                [b'(', ..] => return false,
                [b'{', inner @ ..] => {
                    let end = inner.iter().position(|byte| *byte == b'}');
                    let name = end.and_then(|end| inner.get(..end)).unwrap_or_default();
                    if !is_name(name) {
                        return false;
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    true
}
