//! Computations of library functions on text.

use super::Reader;
use super::acts::Fold;
use super::arguments::Arguments;
use super::moments::is_date_format;
use super::value::{Val, any_of, join};
use crate::knowledge::values;
use crate::value::{Origins, Piece, Value};
use bumpalo::collections::Vec as BumpVec;

impl<'a> Reader<'_, '_, 'a> {
    /// A computation on text.
    pub(super) fn fold(&mut self, fold: Fold, arguments: &Arguments<'a>) -> Val<'a> {
        let first =
            arguments.positional.first().copied().or_else(|| arguments.named.first().map(|(_, v)| *v));
        if let Some(Val::OneOf(vals)) = first.filter(|_| fold != Fold::JoinPath) {
            let mut result: Option<Val<'a>> = None;
            for each in vals.iter().filter(|v| !matches!(v, Val::OneOf(_))) {
                let one = self.fold_one(fold, Some(*each), arguments);
                result = Some(result.map_or(one, |old| join(self.report.arena, old, one)));
            }
            return result.unwrap_or(Val::Data);
        }
        self.fold_one(fold, first, arguments)
    }

    pub(super) fn fold_one(
        &mut self,
        fold: Fold,
        first: Option<Val<'a>>,
        arguments: &Arguments<'a>,
    ) -> Val<'a> {
        let arena = self.report.arena;
        let known = first.and_then(|v| v.known());
        let literal = self.report.text.origins;
        match fold {
            Fold::JoinPath => self.join_all(arguments),
            Fold::BaseName => match (known, first.and_then(|v| v.value())) {
                (Some(text), _) => self.known_text(values::base_name(text), literal),
                (None, Some(value)) => self.last_name(&value).map_or(Val::Data, Val::Text),
                _ => Val::Data,
            },
            Fold::Date => match known {
                Some(format) if is_date_format(format) => Val::Count,
                _ => Val::Data,
            },
            Fold::Normal => match known {
                Some(text) => self.known_text(&normal(text), literal),
                None => first.unwrap_or(Val::Data),
            },
            Fold::DirName => match (known, first.and_then(|v| v.value())) {
                (Some(text), _) => {
                    let end = text.iter().rposition(|b| *b == b'/');
                    // What counts from the root may be written as if it counted from here; what does not has no directory,
                    // and what is put behind that may begin at the root.
                    let directory: &[u8] = match end {
                        _ if text == b"." => b"..",
                        _ if text == b".." => b"../..",
                        _ if text.ends_with(b"/..") => return Val::Text(Value::unknown(literal)),
                        Some(0) => return self.known_text(b"/", literal),
                        // What leads back again may be written in place of what it leads to.
                        Some(at) if text.windows(3).any(|three| three == b"/..") => {
                            text.get(..at).unwrap_or_default()
                        }
                        // A path object does not begin with it.
                        Some(1) if text.starts_with(b"./") => b".",
                        Some(at) => return self.known_text(text.get(..at).unwrap_or_default(), literal),
                        None => b".",
                    };
                    let directories = [directory, b""].map(|text| self.known_text(text, literal));
                    any_of(arena, directories.into_iter()).unwrap_or(Val::Data)
                }
                // Where such files lie.
                (None, Some(value)) if value.is_made() => Val::Text(Value::unknown(value.origins)),
                (None, Some(value)) => self.directory_of(&value),
                _ => Val::Data,
            },
            Fold::Character => match first {
                Some(Val::Number(number)) => match char::from_u32(number) {
                    Some(c) => self.known_text(c.encode_utf8(&mut [0; 4]).as_bytes(), literal),
                    None => Val::Data,
                },
                _ => self.decoded(),
            },
            Fold::Base64 => match known.and_then(base64) {
                Some(text) => self.known_text(&text, literal),
                None => self.decoded(),
            },
            Fold::Hex => match known.and_then(hex) {
                Some(text) => self.known_text(&text, literal),
                None => self.decoded(),
            },
            Fold::Home => {
                let home = self.report.session.home();
                match (known, first) {
                    // Another user's, or whatever the variable says.
                    (Some(text), _) if text.starts_with(b"~") && (self.homeless || is_of_user(text)) => {
                        Val::Text(Value::unknown(Origins::UNKNOWN))
                    }
                    (None, None) if self.homeless => Val::Text(Value::unknown(Origins::UNKNOWN)),
                    (Some(b"~"), _) | (None, None) => self.known_text(home, literal),
                    (Some([b'~', b'/', below @ ..]), _) => {
                        self.known_text(&[home, b"/", below].concat(), literal)
                    }
                    (None, Some(val)) => match val.value() {
                        Some(value) if value.known_prefix().starts_with(b"~/") && !self.homeless => {
                            let home = Value::text(home, literal);
                            Val::Text(self.report.joined(&[home, values::after(arena, &value, 1)]))
                        }
                        Some(value) if value.known_prefix().starts_with(b"/") => Val::Text(value),
                        Some(_) => Val::Text(Value::unknown(Origins::UNKNOWN)),
                        None => Val::Data,
                    },
                    _ => first.unwrap_or(Val::Data),
                }
            }
            Fold::Here => Val::Text(self.here()),
            Fold::Quote => match known {
                Some(text) if !text.is_empty() && text.iter().all(|byte| is_safe(*byte)) => {
                    self.known_text(text, literal)
                }
                Some(text) => {
                    let mut quoted = Vec::with_capacity(text.len() + 2);
                    quoted.push(b'\'');
                    for byte in text {
                        match byte {
                            b'\'' => quoted.extend_from_slice(b"'\\''"),
                            other => quoted.push(*other),
                        }
                    }
                    quoted.push(b'\'');
                    self.known_text(&quoted, literal)
                }
                None => Val::Text(Value::unknown(Origins::UNKNOWN)),
            },
            Fold::Text => match first {
                Some(Val::Many(items)) => {
                    let byte = |v: &Val<'a>| match v {
                        Val::Number(n) => u8::try_from(*n).ok(),
                        _ => None,
                    };
                    let all = self.all_of(items).filter(|_| !items.pairs);
                    let bytes: Option<Vec<u8>> = all.and_then(|all| all.iter().map(byte).collect());
                    match bytes {
                        Some(bytes) => self.known_text(&bytes, literal),
                        None => self.decoded(),
                    }
                }
                Some(Val::Text(_)) => self.same(first, arguments),
                _ => Val::Data,
            },
        }
    }

    /// The last name of a path whose end is a pattern, perhaps with known text behind it: the name of what is there.
    fn last_name(&self, path: &Value<'a>) -> Option<Value<'a>> {
        let arena = self.report.arena;
        match *path.pieces() {
            [.., Piece::Glob(_)] => Some(Value::of(arena, &[Piece::LISTED], path.origins)),
            [.., Piece::Glob(_), Piece::Text(end)] if !end.contains(&b'/') => {
                Some(Value::of(arena, &[Piece::LISTED, Piece::Text(end)], path.origins))
            }
            _ => None,
        }
    }

    /// The directory of a path that is not known in full: the path itself, if the last part of it is not known either. A
    /// name that was found may lie right where the search began, or anywhere below, for which the path itself stands.
    fn directory_of(&self, path: &Value<'a>) -> Val<'a> {
        let pieces = path.pieces();
        let plain = |piece: &Piece<'a>| matches!(piece, Piece::Text(_) | Piece::Glob(_));
        let at = pieces.iter().rposition(|piece| matches!(piece, Piece::Text(text) if text.contains(&b'/')));
        let behind = at.map_or(&*pieces, |at| pieces.get(at..).unwrap_or_default());
        if !behind.iter().all(plain) {
            return Val::Text(*path);
        }
        let first = pieces.iter().position(|piece| matches!(piece, Piece::Glob(_))).unwrap_or(pieces.len());
        let began = pieces.get(..first).unwrap_or_default();
        let began =
            began.iter().rposition(|piece| matches!(piece, Piece::Text(text) if text.contains(&b'/')));
        let mut directories = BumpVec::new_in(self.report.arena);
        for at in [at, began] {
            let directory = at.and_then(|at| self.up_to_slash(&pieces, at, path.origins));
            match directory.filter(|directory| directory.known() != Some(b".")) {
                Some(directory) => directories.push(Val::Text(directory)),
                None => directories.extend([&b"."[..], b""].map(|text| self.known_text(text, path.origins))),
            }
        }
        directories.push(Val::Text(*path));
        any_of(self.report.arena, directories.into_iter()).unwrap_or(Val::Data)
    }

    /// What stands in a path before the last slash of a piece.
    fn up_to_slash(&self, pieces: &[Piece<'a>], at: usize, origins: Origins) -> Option<Value<'a>> {
        let Some(Piece::Text(text)) = pieces.get(at) else { return None };
        let end = text.iter().rposition(|byte| *byte == b'/')?;
        // The root is its own directory.
        let end = if end == 0 && at == 0 { 1 } else { end };
        let mut all = pieces.get(..at).unwrap_or_default().to_vec();
        all.push(Piece::Text(text.get(..end).unwrap_or_default()));
        all.retain(|piece| *piece != Piece::Text(b""));
        Some(Value::of(self.report.arena, &all, origins))
    }

    /// `str(value)`, `str(bytes, encoding)`
    pub(super) fn same(&mut self, first: Option<Val<'a>>, arguments: &Arguments<'a>) -> Val<'a> {
        let given = arguments.positional.iter().skip(1);
        let named = arguments.named.iter().filter(|(name, _)| matches!(*name, b"encoding" | b"errors"));
        let mut others = given.chain(named.map(|(_, val)| val));
        let plain = others.all(|val| val.known().is_some_and(super::strings::is_plain_encoding));
        if plain && !arguments.open { first.unwrap_or(Val::Data) } else { self.decoded() }
    }

    /// Text that was built so that it cannot be read here.
    pub(super) fn decoded(&mut self) -> Val<'a> {
        self.report.read = self.report.read | Origins::DECODED;
        Val::Text(Value::unknown(Origins::DECODED))
    }

    pub(super) fn join_all(&mut self, arguments: &Arguments<'a>) -> Val<'a> {
        let arena = self.report.arena;
        if arguments.positional.iter().any(|v| matches!(v, Val::Never)) {
            return Val::Never;
        }
        let mut results: Vec<Vec<Value<'a>>> = vec![Vec::new()];
        for val in &arguments.positional {
            let choices: Vec<Value<'a>> =
                val.alternatives().iter().map(|v| self.formatted_value(v)).collect();
            if results.len() * choices.len() > 16 {
                for result in &mut results {
                    result.push(Value::unknown(Origins::UNKNOWN));
                }
                continue;
            }
            results = results
                .iter()
                .flat_map(|start| {
                    choices.iter().map(|choice| {
                        let mut whole = start.clone();
                        whole.push(*choice);
                        whole
                    })
                })
                .collect();
        }
        if arguments.open {
            for result in &mut results {
                result.push(Value::unknown(Origins::UNKNOWN));
            }
        }
        any_of(arena, results.iter().map(|parts| Val::Text(self.path_join(parts)))).unwrap_or(Val::Data)
    }

    /// `a/b`, as `os.path.join` does it.
    pub(super) fn path_join(&self, parts: &[Value<'a>]) -> Value<'a> {
        if let [directory, name] = parts
            && is_joined_already(directory, name)
        {
            return *name;
        }
        let from = parts.iter().rposition(|p| p.known_prefix().starts_with(b"/")).unwrap_or(0);
        let mut joined: Vec<Value<'a>> = Vec::with_capacity(2 * parts.len());
        for (index, part) in parts.iter().skip(from).enumerate() {
            if part.pieces().is_empty() && index > 0 {
                continue;
            }
            let ends = joined.last().is_some_and(
                |last| matches!(last.pieces().last(), Some(Piece::Text(t)) if t.ends_with(b"/")),
            );
            let empty = joined.iter().all(|p| p.pieces().is_empty());
            if index > 0 && !ends && !empty {
                joined.push(self.report.literal(b"/"));
            }
            joined.push(*part);
        }
        // What is joined to itself again and again grows each time.
        if values::is_too_long(&joined) {
            return Value::unknown(joined.iter().fold(Origins::NONE, |all, part| all | part.origins));
        }
        let whole = self.report.joined(&joined);
        self.puts_together(&whole);
        // A name that was found may have been found at any depth: what it leads back to is not known.
        let found = whole.pieces().iter().position(|piece| matches!(piece, Piece::Glob(_)));
        let behind = found.and_then(|at| whole.pieces().get(at..).map(<[_]>::to_vec)).unwrap_or_default();
        let back = |piece: &Piece<'_>| matches!(piece, Piece::Text(text) if text.windows(3).any(|three| three == b"/.."));
        if behind.iter().any(back) {
            return Value::unknown(whole.origins);
        }
        whole
    }
}

/// Whether a name that was found in a directory has that before it. Where a loop puts it there (`f = os.path.join(d, f)`), what it is
/// put before is always the name alone, and if not, it lies deeper in the same directory.
fn is_joined_already(directory: &Value<'_>, name: &Value<'_>) -> bool {
    let Some(directory) = directory.known() else { return false };
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    let plain = |part: &[u8]| !part.is_empty() && !part.starts_with(b".") && !part.starts_with(b"~");
    directory.split(|byte| *byte == b'/').all(plain)
        && name.known_prefix().strip_suffix(b"/") == Some(directory)
        && matches!(*name.pieces(), [Piece::Text(_), Piece::Glob(_)])
}

/// Whether a byte needs no quotes in a shell, as `shlex.quote` sees it.
const fn is_safe(byte: u8) -> bool {
    matches!(byte, b'@' | b'%' | b'+' | b'=' | b':' | b',' | b'.' | b'/' | b'-' | b'_')
        || byte.is_ascii_alphanumeric()
}

/// A path without `.`, and without what `..` leads back from: `os.path.normpath`, which does not ask for links.
fn normal(path: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let rooted = path.starts_with(b"/");
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            b".." if rooted => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => [&b"/"[..], &joined].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}

/// Whether a path starts in the home directory of a user that it names.
const fn is_of_user(text: &[u8]) -> bool {
    !matches!(text, [b'~'] | [b'~', b'/', ..])
}

/// Decodes base64, standard or for URLs.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            b'\n' | b'\r' => continue,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(out)
}

/// Decodes hexadecimal digits, blanks between bytes allowed.
fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    digits
        .chunks(2)
        .map(|pair| match pair {
            [a, b] => Some(digit(*a)? << 4 | digit(*b)?),
            _ => None,
        })
        .collect()
}
