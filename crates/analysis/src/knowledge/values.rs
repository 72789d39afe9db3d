//! Cutting and joining values whose text may be known only in part.

use crate::value::{Field, Origins, Piece, Value};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Span;

/// One argument whose text is known.
pub(crate) fn field<'a>(bytes: &'a [u8], origins: Origins, span: Span) -> Field<'a> {
    Field { value: Value::text(bytes, origins), span, many: false }
}

/// The value without the first `count` bytes of its known prefix.
pub(crate) fn after<'a>(arena: &'a Bump, value: &Value<'a>, count: usize) -> Value<'a> {
    let Some((Piece::Text(first), rest)) = value.split_first() else { return *value };
    let kept = first.get(count..).unwrap_or_default();
    if kept.is_empty() {
        return Value::of_lasting(arena, rest, value.origins);
    }
    if rest.is_empty() {
        return Value::text(kept, value.origins);
    }
    let mut pieces = BumpVec::with_capacity_in(value.pieces().len(), arena);
    pieces.push(Piece::Text(kept));
    pieces.extend_from_slice_copy(rest);
    Value::of_lasting(arena, pieces.into_bump_slice(), value.origins)
}

/// One value after the other.
pub(crate) fn joined<'a>(arena: &'a Bump, parts: &[Value<'a>]) -> Value<'a> {
    if let Some(known) = joined_known(arena, parts) {
        return known;
    }
    let most = parts.iter().map(|part| part.pieces().len()).sum();
    let mut pieces: BumpVec<'a, Piece<'a>> = BumpVec::with_capacity_in(most, arena);
    let mut origins = Origins::NONE;
    // Texts that stand side by side, of which the first is the last piece.
    let mut texts: Option<BumpVec<'a, u8>> = None;
    let put = |pieces: &mut BumpVec<'a, Piece<'a>>, texts: Option<BumpVec<'a, u8>>| {
        if let (Some(last), Some(texts)) = (pieces.last_mut(), texts) {
            *last = Piece::Text(texts.into_bump_slice());
        }
    };
    for part in parts {
        origins = origins | part.origins;
        for piece in part.pieces().iter() {
            if let (Some(Piece::Text(last)), Piece::Text(next)) = (pieces.last(), piece) {
                let texts = texts.get_or_insert_with(|| {
                    let mut texts = BumpVec::with_capacity_in(last.len() + next.len(), arena);
                    texts.extend_from_slice_copy(last);
                    texts
                });
                texts.extend_from_slice_copy(next);
                continue;
            }
            if texts.is_some() {
                put(&mut pieces, texts.take());
            }
            pieces.push(*piece);
        }
    }
    put(&mut pieces, texts);
    Value::of_lasting(arena, pieces.into_bump_slice(), origins)
}

/// The same of texts that are known, which are most: one text, for which no list of pieces is needed.
fn joined_known<'a>(arena: &'a Bump, parts: &[Value<'a>]) -> Option<Value<'a>> {
    let mut length = 0;
    let mut filled = None;
    let mut several = false;
    let mut origins = Origins::NONE;
    for part in parts {
        let text = part.known()?;
        origins = origins | part.origins;
        if !text.is_empty() {
            several |= filled.is_some();
            filled = Some(text);
            length += text.len();
        }
    }
    if !several {
        return Some(Value::text(filled.unwrap_or_default(), origins));
    }
    let mut all = BumpVec::with_capacity_in(length, arena);
    for part in parts {
        all.extend_from_slice_copy(part.known()?);
    }
    Some(Value::text(all.into_bump_slice(), origins))
}

/// Whether no file system has so long a path, of which each name would take as many steps.
pub(crate) fn is_too_long(parts: &[Value<'_>]) -> bool {
    parts.iter().map(Value::extent).sum::<usize>() > Value::PATH_MAX
}

/// Where the text of a script may lie. One of the files that a search found may lie deeper than its name says.
pub(crate) fn script<'a>(arena: &'a Bump, file: &Field<'a>) -> Value<'a> {
    let name = file.value.known().filter(|_| file.value.origins.contains(Origins::NAMES)).and_then(|text| {
        let end = text.iter().rposition(|byte| *byte == b'/')?;
        text.get(..=end)
    });
    let Some(directory) = name else { return file.value };
    let pieces = [Piece::Text(directory), Piece::Glob(b"*")];
    Value::of(arena, &pieces, file.value.origins)
}

/// Bytes one after the other.
pub(crate) fn concat<'a>(arena: &'a Bump, parts: &[&[u8]]) -> &'a [u8] {
    let mut bytes = BumpVec::with_capacity_in(parts.iter().map(|p| p.len()).sum(), arena);
    for part in parts {
        bytes.extend_from_slice_copy(part);
    }
    bytes.into_bump_slice()
}

/// The part before the first `separator` byte and the part after it, if that byte is in the known prefix.
pub(crate) fn split_once<'a>(
    arena: &'a Bump,
    value: &Value<'a>,
    separator: u8,
) -> Option<(&'a [u8], Value<'a>)> {
    let prefix = value.known_prefix();
    let at = prefix.iter().position(|b| *b == separator)?;
    Some((prefix.get(..at)?, after(arena, value, at + 1)))
}

/// The words of a command line that has no quoting: what programs that split at blanks make of it.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty())
}

/// Whether a shell takes a word as it stands, whatever stands around it.
pub(crate) fn is_plain(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(|b| b.is_ascii_alphanumeric() || b"./_-+=,:@%".contains(b))
}

/// A word that the shell takes as it is.
pub(crate) fn quote(word: &[u8]) -> Vec<u8> {
    if is_plain(word) {
        return word.to_vec();
    }
    single_quoted(word)
}

/// A word between single quotes, as POSIX shells read it (XCU 2.2.2).
pub(crate) fn single_quoted(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word {
        if *byte == b'\'' {
            quoted.extend_from_slice(b"'\\''");
        } else {
            quoted.push(*byte);
        }
    }
    quoted.push(b'\'');
    quoted
}

/// The last component of a path.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let mut end = path.len();
    while end > 1 && path.get(end - 1) == Some(&b'/') {
        end -= 1;
    }
    let path = path.get(..end).unwrap_or(path);
    match path.iter().rposition(|b| *b == b'/') {
        Some(at) => path.get(at + 1..).unwrap_or_default(),
        None => path,
    }
}

/// Whether a value is at the end of a word: the value of an option that is joined to it.
pub(super) fn ends_in(word: &Value<'_>, value: &Value<'_>) -> bool {
    let (Some((first, rest)), Some((own, others))) = (word.split_first(), value.split_first()) else {
        return false;
    };
    match (first, own) {
        (Piece::Text(first), Piece::Text(own)) => first.ends_with(own) && rest == others,
        _ => rest == &*value.pieces(),
    }
}

/// Whether a text is what a pattern says, in which `*` stands for any text and `\` takes away the meaning of what follows.
pub(super) fn fits(text: &[u8], pattern: &[u8]) -> bool {
    let (mut rest, mut wanted) = (text, pattern);
    // Behind the last star: what is wanted there, and where it was looked for.
    let mut again: Option<(&[u8], &[u8])> = None;
    loop {
        let (literal, after) = match wanted {
            [b'*', after @ ..] => {
                again = Some((rest, after));
                wanted = after;
                continue;
            }
            [b'\\', byte, after @ ..] | [byte, after @ ..] => (Some(byte), after),
            [] => (None, wanted),
        };
        match (literal, rest.split_first()) {
            (None, None) => return true,
            (Some(byte), Some((first, tail))) if byte == first => (rest, wanted) = (tail, after),
            _ => {
                let Some((from, behind)) = again else { return false };
                let Some((_, tail)) = from.split_first() else { return false };
                again = Some((tail, behind));
                (rest, wanted) = (tail, behind);
            }
        }
    }
}
