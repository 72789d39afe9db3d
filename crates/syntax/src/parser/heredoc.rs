//! Here-documents: the delimiter where the operator stands, the body after the next newline (POSIX 2.7.4).

use super::redirect::reads_as_descriptor;
use super::word::Mode;
use super::{Parser, Result};
use crate::cursor::{Cursor, END, Segment};
use crate::seek::until;
use crate::{
    Descriptor, ErrorCode, HereDocument, NoteKind, PartKind, Redirect, RedirectOperator, RedirectTarget,
    Span, WordPart,
};
use bumpalo::collections::Vec as BumpVec;
use std::cell::Cell;

/// bash gives up at more.
const MOST_PENDING: usize = 16;

impl<'a> Parser<'a> {
    /// A here-document's operator is read; reads the delimiter.
    pub(super) fn here_document(
        &mut self,
        descriptor: Descriptor<'a>,
        strip_tabs: bool,
        start: usize,
    ) -> Result<Redirect<'a>> {
        self.blanks();
        if !self.at_word() {
            return self.fail(ErrorCode::MissingTarget, "a here-document delimiter");
        }
        let word_start = self.cursor.position();
        let word = self.word(Mode::NAME)?;
        let mut delimiter = BumpVec::new_in(self.arena);
        let mut quoted = false;
        let plain = word.parts().iter().all(|part| delimiter_part(part, &mut delimiter, &mut quoted));
        let unusual = delimiter.iter().any(|byte| matches!(byte, b'\n' | b'$' | b'`'));
        let text = self.cursor.slice(word_start, self.cursor.position());
        let glued = matches!(self.cursor.peek(), b'<' | b'>') && reads_as_descriptor(text);
        if !plain || unusual || glued {
            return self.fail_from(word_start, ErrorCode::BadDelimiter, "");
        }
        if self.pending.len() >= MOST_PENDING {
            return self.fail_from(word_start, ErrorCode::TooManyHereDocuments, "");
        }
        let document = &*self.arena.alloc(HereDocument {
            delimiter: delimiter.into_bump_slice(),
            quoted,
            strip_tabs,
            body: Cell::new(&[]),
            body_span: Cell::new(Span::default()),
        });
        self.documents += 1;
        self.pending.push(document);
        Ok(Redirect {
            descriptor,
            operator: RedirectOperator::HereDocument,
            target: RedirectTarget::HereDocument(document),
            span: self.cursor.span_from(start),
        })
    }

    /// Reads the bodies of the here-documents whose operators stand on the line that just ended.
    #[inline]
    pub(super) fn here_document_bodies(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.pending_bodies()
    }

    fn pending_bodies(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        for document in pending {
            let start = self.cursor.position();
            let end = self.body_end(document)?;
            let after = self.cursor.position();
            self.spend(end - start)?;
            document.body_span.set(self.cursor.span(start, end));
            let mut parts = self.body_parts(document, start, end)?;
            if end > start && self.cursor.byte_at(end - 1) != b'\n' {
                parts = self.with_newline(parts, end);
            }
            document.body.set(parts);
            self.cursor.set_position(after);
        }
        Ok(())
    }

    /// Steps over the body and the delimiter's line; returns where the body ends.
    fn body_end(&mut self, document: &HereDocument<'a>) -> Result<usize> {
        loop {
            let start = self.cursor.position();
            if self.cursor.at_end() {
                self.note(NoteKind::HereDocumentAtEnd, start);
                return Ok(start);
            }
            let end = self.line_end(start, document.quoted);
            let next_line = end + usize::from(self.cursor.byte_at(end) == b'\n');
            // Most lines begin with another byte.
            let first = self.cursor.byte_at(start);
            let other = document.delimiter.first().is_some_and(|byte| *byte != first);
            if other && !matches!(first, b'\\' | b'\t') {
                self.cursor.set_position(next_line);
                continue;
            }
            let mut line = self.cursor.ending_at(end);
            if document.strip_tabs {
                while next_of_line(&mut line, document.quoted) == b'\t' {
                    line.advance(1);
                }
            }
            let mut rest = document.delimiter;
            while let Some((byte, others)) = rest.split_first() {
                if next_of_line(&mut line, document.quoted) != *byte {
                    break;
                }
                line.advance(1);
                rest = others;
            }
            if rest.is_empty() {
                if next_of_line(&mut line, document.quoted) == END {
                    self.cursor.set_position(next_line);
                    return Ok(start);
                }
                if self.in_substitution && line.rest().contains(&b')') {
                    return self.fail(ErrorCode::HereDocumentEnd, "");
                }
            }
            self.cursor.set_position(next_line);
        }
    }

    /// Where the line at `start` ends, before its newline. Unless the delimiter is quoted, a line continuation
    /// joins the next line to it.
    fn line_end(&self, start: usize, quoted: bool) -> usize {
        let mut position = start;
        loop {
            let rest = self.cursor.from(position);
            position += if quoted { until(rest, [b'\n']) } else { until(rest, [b'\n', b'\\']) };
            match self.cursor.byte_at(position) {
                b'\n' => return position,
                END => return position.min(self.cursor.len()),
                b'\\' if !quoted => position += 2,
                _ => position += 1,
            }
        }
    }

    /// The body's text and expansions.
    fn body_parts(
        &mut self,
        document: &HereDocument<'a>,
        start: usize,
        end: usize,
    ) -> Result<&'a [WordPart<'a>]> {
        let text = self.cursor.slice(start, end);
        if text.is_empty() {
            return Ok(&[]);
        }
        let span = self.cursor.span(start, end);
        let has_pair = |pair: &[u8; 2]| text.windows(2).any(|two| two == pair);
        let tabs = document.strip_tabs && (text.first() == Some(&b'\t') || has_pair(b"\n\t"));
        let active = !document.quoted && until(text, [b'$', b'`', b'\\']) < text.len();
        let joined = active && has_pair(b"\\\n");
        let outer = self.cursor;
        let mut text = text;
        if tabs || joined {
            let (derived, map) = self.derived_body(document, start, end);
            text = derived;
            self.cursor = Cursor::derived(derived, map);
        } else {
            self.cursor = self.cursor.ending_at(end);
            self.cursor.set_position(start);
        }
        if !active {
            self.cursor = outer;
            return Ok(self.arena.alloc_slice_copy(&[WordPart { kind: PartKind::Quoted(text), span }]));
        }
        let extglob = self.extglob;
        let substitution = std::mem::replace(&mut self.in_substitution, false);
        let operand = std::mem::replace(&mut self.in_document_operand, false);
        let parts = self.here_document_text()?;
        self.in_document_operand = operand;
        self.in_substitution = substitution;
        self.extglob = extglob;
        self.cursor = outer;
        Ok(parts)
    }

    /// The body ends with the text, in the middle of a line, to which bash adds the missing newline.
    fn with_newline(&self, parts: &'a [WordPart<'a>], end: usize) -> &'a [WordPart<'a>] {
        let mut complete = BumpVec::with_capacity_in(parts.len() + 1, self.arena);
        complete.extend_from_slice_copy(parts);
        let span = self.cursor.span(end, end);
        complete.push(WordPart { kind: PartKind::Quoted(b"\n"), span });
        complete.into_bump_slice()
    }

    /// A copy of the body as bash reads it, line by line: lines that a backslash continues are joined, wherever in
    /// the body they stand, and then leading tabs are removed.
    fn derived_body(
        &self,
        document: &HereDocument<'a>,
        start: usize,
        end: usize,
    ) -> (&'a [u8], &'a [Segment]) {
        let mut text = BumpVec::with_capacity_in(end - start, self.arena);
        let mut map = BumpVec::new_in(self.arena);
        let mut piece = start;
        let mut at = start;
        let mut line_start = true;
        while at < end {
            let byte = self.cursor.byte_at(at);
            let escapes = byte == b'\\' && !document.quoted;
            let skipped = if escapes && self.cursor.byte_at(at + 1) == b'\n' {
                2
            } else {
                usize::from(line_start && document.strip_tabs && byte == b'\t')
            };
            if skipped > 0 {
                self.cursor.copy_into(piece, at, &mut text, &mut map);
                at += skipped;
                piece = at;
                continue;
            }
            line_start = byte == b'\n';
            at += if escapes { 2 } else { 1 };
        }
        self.cursor.copy_into(piece, end, &mut text, &mut map);
        (text.into_bump_slice(), map.into_bump_slice())
    }
}

/// The next byte of a here-document's line.
fn next_of_line(line: &mut Cursor<'_>, quoted: bool) -> u8 {
    if quoted { line.raw(0) } else { line.peek() }
}

/// Appends the part's text to the delimiter; false if the part is not plain text.
fn delimiter_part(part: &WordPart<'_>, delimiter: &mut BumpVec<'_, u8>, quoted: &mut bool) -> bool {
    match part.kind {
        PartKind::Literal(text) => delimiter.extend_from_slice_copy(text),
        PartKind::Glob(byte) => delimiter.push(byte),
        PartKind::Quoted(text) | PartKind::SingleQuoted(text) => {
            delimiter.extend_from_slice_copy(text);
            *quoted = true;
        }
        PartKind::DoubleQuoted(parts) => {
            *quoted = true;
            return parts.iter().all(|part| delimiter_part(part, delimiter, quoted));
        }
        _ => return false,
    }
    true
}
