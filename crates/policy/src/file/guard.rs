//! What is looked at before a file is parsed: its size and how deeply it nests, since a parser's stack is finite.

use super::diagnostic::Diagnostic;

/// Largest accepted file, in bytes: ten thousand rules have room in it.
pub const MAX_FILE: usize = 8 << 20;

/// Deepest nesting of arrays and inline tables. A policy needs three.
const MAX_DEPTH: usize = 16;

/// Most parts of a dotted key.
const MAX_PARTS: usize = 8;

/// Looks a text over, strings and comments aside.
pub(crate) fn check(text: &str) -> Result<(), Diagnostic> {
    if text.len() > MAX_FILE {
        return Err(Diagnostic::new(
            "too-large",
            0..0,
            format!(
                "the file has {} bytes, more than {MAX_FILE}; split the rules over several files",
                text.len()
            ),
        ));
    }
    let mut bytes = text.bytes().enumerate().peekable();
    let mut depth = 0usize;
    let mut parts = 0usize;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'#' => while bytes.next_if(|(_, b)| *b != b'\n').is_some() {},
            b'"' | b'\'' => {
                let triple = text.as_bytes().get(at..at + 3) == Some(&[byte; 3]);
                if triple {
                    bytes.next();
                    bytes.next();
                }
                skip_string(&mut bytes, byte, triple);
            }
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Diagnostic::new(
                        "too-deep",
                        at..at + 1,
                        "too many brackets inside each other",
                    ));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'.' => {
                parts += 1;
                if parts > MAX_PARTS {
                    return Err(Diagnostic::new("too-deep", at..at + 1, "too many dots in one key"));
                }
            }
            b'\n' | b'=' | b',' => parts = 0,
            _ => {}
        }
    }
    Ok(())
}

fn skip_string(bytes: &mut std::iter::Peekable<impl Iterator<Item = (usize, u8)>>, quote: u8, triple: bool) {
    let mut run = 0;
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'\\' if quote == b'"' => {
                bytes.next();
                run = 0;
            }
            // Without its end a string stops with its line; the parser will say so.
            b'\n' if !triple => return,
            b if b == quote => {
                run += 1;
                if !triple || run == 3 {
                    return;
                }
            }
            _ => run = 0,
        }
    }
}
