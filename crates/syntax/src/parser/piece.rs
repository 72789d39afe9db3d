//! Reading a program piece by piece: where one piece ends, and what the next has to know.

use super::{Parser, Result};
use crate::{Function, Note, Options, ParseError, Piece};

/// Where reading leaves off.
pub(super) struct Bounds {
    /// From here on a piece may end.
    pub(super) end: usize,
    /// Where the last line begins at the latest. What stands in it may be read in several pieces.
    last_line: usize,
    /// The line that is being read, counted through all pieces.
    pub(super) line: u32,
    /// More is left to read.
    pub(super) left_off: bool,
    /// More is left to read of the same line.
    goes_on: bool,
}

impl Bounds {
    /// All is read at once.
    pub(super) const NONE: Self =
        Self { end: usize::MAX, last_line: 0, line: 0, left_off: false, goes_on: false };
}

/// How far a program has been read.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    position: usize,
    last_line: usize,
    line: u32,
    extglob: bool,
    fuel: u64,
    before: usize,
    notes: Vec<Note>,
    done: bool,
}

impl Progress {
    pub(crate) fn new(source: &[u8], options: &Options) -> Self {
        Self {
            position: 0,
            last_line: source.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1),
            line: 0,
            extglob: options.extglob && options.dialect == crate::Dialect::Bash,
            fuel: super::FUEL_PER_BYTE * source.len() as u64 + super::FUEL,
            before: 0,
            notes: Vec::new(),
            done: false,
        }
    }

    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.done
    }

    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }
}

impl<'a> Parser<'a> {
    /// Reads the next piece of the source as a program.
    pub(crate) fn piece(
        mut self,
        progress: &mut Progress,
        least: usize,
        max_len: usize,
    ) -> Result<Piece<'a>> {
        let Progress { position, last_line, line, extglob, fuel, before, ref mut notes, ref mut done } =
            *progress;
        // After an error there is nothing more to read.
        *done = true;
        self.notes = std::mem::take(notes);
        if position == 0 {
            self.check_source(max_len)?;
        }
        (self.extglob, self.fuel, self.before) = (extglob, fuel, before);
        self.cursor.set_position(position);
        self.piece = Bounds { end: position.saturating_add(least), last_line, line, ..Bounds::NONE };
        let read = self.script_to_end();
        let before = u32::try_from(self.before).unwrap_or(u32::MAX);
        let script = read.map_err(|error| ParseError { before, ..error })?;
        let functions = self.functions();
        *progress = Progress {
            position: self.cursor.position(),
            last_line,
            line: self.piece.line,
            extglob: self.extglob,
            fuel: self.fuel,
            before: self.before,
            notes: self.notes,
            done: !self.piece.left_off,
        };
        Ok(Piece { items: script.items, functions, goes_on: self.piece.goes_on })
    }

    /// Every function that was read, in the order in which they are named. What was read again comes last.
    pub(super) fn functions(&mut self) -> &'a [&'a Function<'a>] {
        if self.functions.is_empty() {
            return &[];
        }
        self.functions.sort_by_key(|function| function.name_span.start);
        self.arena.alloc_slice_copy(&self.functions)
    }

    /// Whether this is where a piece of the program ends, with the items since `mark`, of which those since `line` stand in the
    /// line that is being read.
    #[cold]
    pub(super) fn leaves_off(&mut self, mark: usize, line: usize) -> bool {
        let items = self.stacks.items.len();
        // bash reads a line whole before it runs it, and what follows may be the bodies of its here-documents.
        let whole = items == line || self.cursor.position() >= self.piece.last_line;
        self.piece.left_off = self.depth == 1 && items > mark && whole && self.pending.is_empty();
        self.piece.goes_on = self.piece.left_off && items > line;
        self.piece.left_off
    }
}
