//! Notes for the careful reader, and the checks on the source as a whole.

use super::{Parser, Result};
use crate::seek::has_unusual;
use crate::{ErrorCode, Note, NoteKind, Span};

/// So many bytes are looked at together.
const CHUNK: usize = 32;

impl Parser<'_> {
    /// Takes a note, once per kind, about everything from `start` to the cursor.
    pub(super) fn note(&mut self, kind: NoteKind, start: usize) {
        if self.notes.iter().all(|note| note.kind != kind) {
            let end = self.cursor.position().max(start + 1).min(self.cursor.len()).max(start);
            let span = self.cursor.span(start, end);
            self.notes.push(Note { kind, span });
        }
    }

    /// Refuses what is too long or has bytes that the shell uses internally; notes what people cannot see.
    pub(super) fn check_source(&mut self, max_len: usize) -> Result<()> {
        if self.source.len() > max_len.min(u32::MAX as usize) {
            return self.fail(ErrorCode::TooLong, "");
        }
        if !has_unusual(self.source) {
            return Ok(());
        }
        let refused = first(self.source, |byte| matches!(byte, 0 | 1 | 0x7f));
        let carriage_return = first(self.source, |byte| byte == b'\r');
        if let Some(position) = refused {
            self.cursor.set_position(position);
            return self.fail(ErrorCode::ControlByte, "");
        }
        if let Some(position) = carriage_return {
            self.note(NoteKind::CarriageReturn, position);
        }
        if let Ok(text) = str::from_utf8(self.source) {
            self.note_invisible(text, 0);
            return Ok(());
        }
        let mut valid_up_to = 0;
        for chunk in self.source.utf8_chunks() {
            self.note_invisible(chunk.valid(), valid_up_to);
            valid_up_to += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                self.note_bytes(NoteKind::NotUtf8, valid_up_to, chunk.invalid().len());
            }
            valid_up_to += chunk.invalid().len();
        }
        Ok(())
    }

    /// Takes note of the first character of a text, which begins at `start`, that people cannot see.
    fn note_invisible(&mut self, text: &str, start: usize) {
        let mut rest = text;
        // Most of it is ASCII, and ASCII is mostly visible.
        while let Some(at) =
            first(rest.as_bytes(), |byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r'))
        {
            let Some(from) = rest.get(at..) else { break };
            let Some(character) = from.chars().next() else { break };
            if is_invisible(character) {
                self.note_bytes(
                    NoteKind::InvisibleCharacter,
                    start + text.len() - from.len(),
                    character.len_utf8(),
                );
                break;
            }
            rest = from.get(character.len_utf8()..).unwrap_or_default();
        }
    }

    fn note_bytes(&mut self, kind: NoteKind, start: usize, length: usize) {
        if self.notes.iter().all(|note| note.kind != kind) {
            let offset = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
            let span = Span::new(offset(start), offset(start + length));
            self.notes.push(Note { kind, span });
        }
    }
}

/// Where the first byte stands of which this holds. Looks at many together.
fn first(bytes: &[u8], holds: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.chunks(CHUNK).enumerate().find_map(|(index, chunk)| {
        let any = chunk.iter().fold(false, |any, byte| any | holds(*byte));
        let at = any.then(|| chunk.iter().position(|byte| holds(*byte))).flatten();
        at.map(|at| index * CHUNK + at)
    })
}

/// Whether people read the character differently than the shell, which takes it as part of a word: blanks outside
/// ASCII, zero-width characters, bidirectional controls, tags, other control characters.
fn is_invisible(character: char) -> bool {
    match character {
        ' '..='~' | '\n' | '\t' | '\r' => false,
        _ if character.is_control() => true,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}'
        | '\u{17b5}' | '\u{3000}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{180b}'..='\u{180f}'
        | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{fff0}'..='\u{fff8}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}
