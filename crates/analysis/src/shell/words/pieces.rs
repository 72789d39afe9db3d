//! What the collected bytes of a word come to: known text, patterns, and what is not known.

use super::builder::{Builder, Kind};
use crate::bracket::{CLASSES, class_end};
use crate::shell::spare::settled;
use crate::value::{Origins, Piece, Value};

/// So many pieces are moved and not copied.
const MANY: usize = 4096;

/// What is known of so many bytes goes before they are copied.
const LONG: usize = 256 << 10;

/// Whether a path has a component that ends in a dot, which `.` before it may make `..`.
fn goes_up(value: &Value<'_>) -> bool {
    value.pieces().iter().skip(1).any(|piece| match piece {
        Piece::Text(text) => text.split(|byte| *byte == b'/').any(|part| part.ends_with(b".")),
        _ => false,
    }) || value.pieces().first().is_some_and(
        |piece| matches!(piece, Piece::Text(text) if text.split(|byte| *byte == b'/').any(|part| part == b"..")),
    )
}

impl<'a> Builder<'a> {
    pub(super) fn value_of_field(&mut self) -> Value<'a> {
        let alone = self.kinds.len() <= 1;
        let mut value = self.value_as_it_stands();
        if !alone && value.origins.intersects(Origins::JOB.union(Origins::NOTED)) {
            // What stands beside a number makes another one of it.
            value.origins = value.origins.edited();
        }
        // Two of them side by side may lead anywhere: `.` and `./x`.
        if !alone && value.origins.contains(Origins::NAMES) && value.has_no_text() {
            return Value::unknown(value.origins.union(Origins::UNKNOWN));
        }
        // Behind a found name, which may be `.`, no text leads out of where it lies but one that goes up.
        if value.origins.contains(Origins::NAMES) && goes_up(&value) {
            return Value::unknown(value.origins.union(Origins::UNKNOWN));
        }
        value
    }

    fn value_as_it_stands(&mut self) -> Value<'a> {
        // Many at a time: a field may be long.
        let is_text = |kinds: &[Kind]| {
            kinds.iter().fold(true, |all, kind| all & matches!(kind, Kind::Plain | Kind::Quoted))
        };
        if self.kinds.chunks(64).all(is_text) {
            if self.kinds.len() > LONG {
                // All of them are told of, and the text will lie in memory twice.
                self.kinds = Vec::new();
            }
            if let Some(text) = self.referred() {
                return Value::text(text, self.origins);
            }
            let text = if self.bytes.is_empty() { &[] } else { &*self.arena.alloc_slice_copy(&self.bytes) };
            return Value::text(text, self.origins);
        }
        let mut pieces: Vec<Piece<'a>> = Vec::new();
        let mut text: Vec<u8> = Vec::new();
        let mut index = 0;
        // No bracket expression begins before this.
        let mut barren = 0;
        while let (Some(byte), Some(kind)) = (self.bytes.get(index), self.kinds.get(index)) {
            let mut width = 1;
            let piece = match kind {
                Kind::Plain | Kind::Quoted => None,
                // Digits, and perhaps a sign, or what a program prints of itself, within one path component.
                Kind::Number | Kind::Word => Some(Piece::MADE_UP),
                Kind::Made => Some(Piece::Made),
                Kind::Perhaps if self.is_part(index) => Some(Piece::MADE_UP),
                Kind::Unknown | Kind::Trusted | Kind::Perhaps => Some(Piece::Unknown),
                Kind::Pattern | Kind::Begun => {
                    let further = self.kinds.iter().skip(index + 1);
                    width = 1 + further.take_while(|kind| **kind == Kind::Pattern).count();
                    Some(self.pattern_piece(index, width))
                }
                Kind::Glob if *byte == b'[' && index < barren => None,
                Kind::Glob if *byte == b'[' => match self.bracket(index) {
                    Bracket::None(stop) => {
                        barren = stop;
                        None
                    }
                    Bracket::Unknown => Some(Piece::Unknown),
                    Bracket::Of(length) => {
                        width = length;
                        Some(self.pattern_piece(index, length))
                    }
                },
                Kind::Glob => Some(self.pattern_piece(index, 1)),
            };
            match piece {
                None => text.push(*byte),
                Some(piece) => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(self.arena.alloc_slice_copy(&text)));
                        text.clear();
                    }
                    if !(piece == Piece::Unknown && pieces.last() == Some(&Piece::Unknown)) {
                        pieces.push(piece);
                    }
                }
            }
            index += width;
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(self.arena.alloc_slice_copy(&text)));
        }
        if pieces.len() > MANY {
            // They should not lie in both places at once.
            return Value::of_lasting(self.arena, settled(self.arena, pieces).0, self.origins);
        }
        Value::of(self.arena, &pieces, self.origins)
    }

    /// Whether a word that may be nothing is a part of a name either way, wherever the field is taken apart later; or the
    /// whole field, which is not there then.
    fn is_part(&self, index: usize) -> bool {
        let kinds = self.kinds.as_slice();
        if kinds.len() == 1 {
            return self.many;
        }
        let plain = |at: &usize| {
            let byte =
                self.bytes.get(*at).filter(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
            byte.is_some() && matches!(kinds.get(*at), Some(Kind::Plain | Kind::Quoted))
        };
        let before = (0..index).rev().take_while(plain);
        let behind = (index + 1..kinds.len()).take_while(plain);
        let option = index == 0 && self.bytes.get(1) == Some(&b'-');
        !option && before.chain(behind).any(|at| self.bytes.get(at) != Some(&b'.'))
    }

    fn pattern_piece(&self, start: usize, width: usize) -> Piece<'a> {
        Piece::Glob(self.arena.alloc_slice_copy(self.bytes.get(start..start + width).unwrap_or_default()))
    }

    /// The bracket expression that an active `[` opens, if one closes it in the same path component.
    fn bracket(&self, start: usize) -> Bracket {
        let at = |i: usize| self.bytes.get(i).copied().zip(self.kinds.get(i).copied());
        let mut end = start + 1;
        if matches!(at(end), Some((b'!' | b'^', Kind::Plain))) {
            end += 1;
        }
        if matches!(at(end), Some((b']', Kind::Plain))) {
            end += 1;
        }
        // The kinds of classes of which none ends behind here.
        let mut endless = [false; CLASSES.len()];
        loop {
            match at(end) {
                None | Some((b'/', _)) => return Bracket::None(end),
                Some((b']', Kind::Plain)) => return Bracket::Of(end + 1 - start),
                Some((b'[', Kind::Plain | Kind::Glob)) => {
                    let mark = at(end + 1).map(|(mark, _)| mark);
                    let classes = CLASSES.iter().zip(&mut endless);
                    let class =
                        classes.into_iter().find(|(class, endless)| Some(**class) == mark && !**endless);
                    let behind = class.and_then(|(class, endless)| {
                        let behind = self.behind_class(end + 2, *class);
                        *endless = behind.is_none();
                        behind
                    });
                    let told = |at: usize| {
                        matches!(self.kinds.get(at), Some(Kind::Plain | Kind::Quoted | Kind::Glob))
                    };
                    match behind {
                        Some(behind) if !(end..behind).all(told) => return Bracket::Unknown,
                        behind => end = behind.unwrap_or(end + 1),
                    }
                }
                Some((_, Kind::Plain | Kind::Quoted | Kind::Glob)) => end += 1,
                Some(_) => return Bracket::Unknown,
            }
        }
    }

    /// What follows a class of a bracket expression, if it ends in the same path component.
    fn behind_class(&self, from: usize, mark: u8) -> Option<usize> {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let component = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        class_end(component, mark).map(|end| from + end)
    }
}

/// What an active `[` is.
enum Bracket {
    /// A character like others, as is every `[` up to this position.
    None(usize),
    /// What it matches is not known.
    Unknown,
    /// It opens an expression of this many bytes.
    Of(usize),
}
