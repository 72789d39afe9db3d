//! Lines, and the errors that end one.
//!
//! bash gives up the rest of the line that it is running, out of all functions and loops, where an element is assigned that
//! an array cannot have; the next line runs as ever. Text that
//! is evaluated or sourced has lines of its own.

use super::Interpreter;
use super::functions::FrameKind;
use super::state::{Branch, Flags, Mark, Space};
use shward_syntax::{Arithmetic, Item, PartKind, WordPart};

/// A line that is being run.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The state it started from.
    mark: Mark<'a>,
    /// The states in which an error may have ended it.
    left: Option<Branch<'a>>,
    /// How many frames are around it.
    frames: usize,
    /// How many assignments before commands stand around it.
    environment: usize,
}

impl<'a> Interpreter<'a, '_> {
    /// Runs items line by line. `last`: nothing comes after them.
    pub(super) fn read_lines(&mut self, items: &[Item<'_>], last: bool) {
        let mut lines = items.chunk_by(|one, next| one.line == next.line).peekable();
        while let Some(line) = lines.next() {
            if !self.budget.is_left() {
                break;
            }
            // Counted through all texts: a line of evaluated text is no line of the script.
            self.lines = self.lines.saturating_add(1);
            self.line = self.lines;
            if last && lines.peek().is_none() {
                // Nothing comes after it.
                self.items(line);
                break;
            }
            let outer = self.open_line.replace(Line {
                mark: self.state.mark(),
                left: None,
                frames: self.frames.len(),
                environment: self.environment.len(),
            });
            let ended = std::mem::take(&mut self.line_may_have_ended);
            self.items(line);
            self.line_may_have_ended = ended;
            if let Some(line) = std::mem::replace(&mut self.open_line, outer) {
                self.end_line(line);
            }
        }
    }

    /// A line is over: joins the states in which an error may have ended it.
    fn end_line(&mut self, line: Line<'a>) {
        let Some(left) = line.left else { return };
        self.budget.spend(left.size() + self.state.changes(line.mark.moment()));
        self.state.join(&line.mark, &left);
    }

    /// What is being run may be an error, and then ends its line.
    pub(super) fn may_end_line(&mut self) {
        self.line_may_have_ended = true;
        let Some(line) = &self.open_line else { return };
        let around = self.frames.get(line.frames..).unwrap_or_default();
        if self.state.flow.ended || around.iter().any(|frame| frame.kind == FrameKind::Shell) {
            // A subshell ends with its line.
            return;
        }
        let here = self.state.mark();
        let (mark, given) = (line.mark, line.environment);
        let hidden: Vec<_> = around.iter().flat_map(|frame| frame.locals.iter().copied()).collect();
        let in_function = around.iter().any(|frame| matches!(frame.kind, FrameKind::Function(_)));
        self.bring_back(&hidden);
        self.forget_given(given);
        if in_function {
            self.state.flow.arguments = mark.flow().arguments;
        }
        let branch = self.state.branch(&mark);
        self.budget.spend(branch.size());
        self.state.rewind(&here);
        if let Some(line) = &mut self.open_line {
            match &mut line.left {
                Some(left) => left.absorb(&branch, self.arena),
                none => *none = Some(branch),
            }
        }
    }

    /// The key by which an element is assigned. An array has no element without a key, and none before its first.
    pub(super) fn key_to_assign(&mut self, name: &'a [u8], subscript: &Arithmetic<'_>) -> Option<&'a [u8]> {
        let key = self.key(name, subscript);
        let name = self.dereference(name, subscript.span)?;
        let there = match key {
            // Part of a key that is text makes one.
            _ if self.state.get(Space::Variable, name).flags.has(Flags::ASSOCIATIVE) => {
                subscript.parts.iter().any(is_some_text) || key.is_some_and(|key| !key.is_empty())
            }
            Some(key) => match std::str::from_utf8(key).ok().and_then(|key| key.parse::<i64>().ok()) {
                Some(index) if index < 0 => self.elements(name, subscript.span).is_some_and(|elements| {
                    let last = elements
                        .last()
                        .and_then(|last| std::str::from_utf8(last.key).ok()?.parse::<i64>().ok());
                    last.is_some_and(|last| last.saturating_add(1).saturating_add(index) >= 0)
                }),
                _ => true,
            },
            None => false,
        };
        if !there {
            self.may_end_line();
        }
        key
    }
}

/// Whether a part of a key is some text, whatever the shell knows. Quotes still stand in it.
pub(super) fn is_some_text(part: &WordPart<'_>) -> bool {
    match part.kind {
        PartKind::Literal(text) | PartKind::Quoted(text) => {
            text.iter().any(|byte| !matches!(byte, b'\'' | b'\\'))
        }
        _ => false,
    }
}
