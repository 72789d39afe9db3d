//! Members of JSON objects, found without reading the rest (RFC 8259).

/// The value of a member of a JSON object, as its text: a string with its quotes, or an object from its brace on. Of
/// several of one name the last one counts.
pub(super) fn member<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let mut found = None;
    last_member(text, name, &mut found);
    found
}

/// Goes through an object to its end, or to what is no JSON.
fn last_member<'t>(text: &'t [u8], name: &[u8], last: &mut Option<&'t [u8]>) -> Option<()> {
    let mut rest = text.trim_ascii_start().strip_prefix(b"{")?;
    let mut depth = 0usize;
    // A string directly in the object is a name if a colon follows.
    while let Some((first, after)) = rest.split_first() {
        match first {
            b'"' => {
                let length = string_length(rest)?;
                let (string, after) = rest.split_at_checked(length)?;
                let value = after.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
                if depth == 0
                    && let Some(value) = value
                {
                    if unquoted(string).is_some_and(|found| found == name) {
                        *last = Some(value);
                    }
                    rest = value;
                    // A string that is the value is no name.
                    if value.starts_with(b"\"") {
                        rest = value.get(string_length(value)?..)?;
                    }
                    continue;
                }
                rest = after;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        rest = after;
    }
    None
}

fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The text of a JSON string; `None` for escapes that a command line does not need.
pub(super) fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    let inner = text.get(1..string_length(text.strip_prefix(b"\"").map(|_| text)?)? - 1)?;
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((first, after)) = rest.split_first() {
        match (first, after) {
            (b'\\', [escaped @ (b'"' | b'\\' | b'/'), more @ ..]) => {
                out.push(*escaped);
                rest = more;
            }
            (b'\\', [b'n', more @ ..]) => {
                out.push(b'\n');
                rest = more;
            }
            (b'\\', [b't', more @ ..]) => {
                out.push(b'\t');
                rest = more;
            }
            (b'\\', _) => return None,
            (other, _) => {
                out.push(*other);
                rest = after;
            }
        }
    }
    Some(out)
}
