//! What is wrong with a policy file, and where.

use std::fmt;
use std::fmt::Write as _;
use std::ops::Range;

/// Something that is wrong at one place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable kebab-case code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Byte offsets in the file.
    pub span: Range<usize>,
    /// What would be right.
    pub help: Option<String>,
    /// The line that is meant, from 1, where no offsets are known.
    line: Option<u32>,
}

impl Diagnostic {
    pub(crate) fn new(code: &'static str, span: impl Into<Range<usize>>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span: span.into(), help: None, line: None }
    }

    /// About a whole line, from 1.
    pub(crate) fn at_line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A policy file that cannot be used. Displayed, it shows each problem under the line that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPolicy {
    /// The file's name, for people.
    pub name: String,
    /// What is wrong; never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// The lines that the problems are in, with their numbers, parallel to `diagnostics`.
    places: Vec<Place>,
}

/// A line and the columns in it that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
    width: usize,
    text: String,
}

/// So many problems are told; the rest are probably of the same kind.
const MOST: usize = 20;

/// So many are collected, from which those are chosen that are told: a hostile file has a million.
const ENOUGH: usize = 100;

/// What is wrong with a file, as far as it is collected.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Diagnostic>);

impl Problems {
    pub(crate) fn push(&mut self, problem: Diagnostic) {
        if !self.are_enough() {
            self.0.push(problem);
        }
    }

    /// Whether nothing more is collected.
    pub(crate) fn are_enough(&self) -> bool {
        self.0.len() >= ENOUGH
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

/// Longest part of a line that is shown, in characters.
const LONGEST: usize = 160;

impl BadPolicy {
    pub(crate) fn new(name: &str, text: &str, mut diagnostics: Vec<Diagnostic>) -> Self {
        for diagnostic in &mut diagnostics {
            if let Some(line) = diagnostic.line {
                diagnostic.span = line_span(text, line);
            }
        }
        diagnostics.sort_by_key(|d| d.span.start);
        diagnostics.truncate(MOST);
        let places = diagnostics.iter().map(|d| place(text, &d.span)).collect();
        Self { name: name.to_owned(), diagnostics, places }
    }

    /// A file that could not even be read as text.
    #[must_use]
    pub fn unreadable(name: &str, why: impl Into<String>) -> Self {
        Self::new(name, "", vec![Diagnostic::new("unreadable", 0..0, why)])
    }

    /// The line of the first problem, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.places.first().map_or(1, |p| p.line)
    }
}

/// The offsets of a line, from 1.
pub(crate) fn line_span(text: &str, line: u32) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    start..start + rest.lines().next().map_or(0, str::len)
}

fn place(text: &str, span: &Range<usize>) -> Place {
    let start = floor(text, span.start);
    let (before, rest) = text.split_at_checked(start).unwrap_or((text, ""));
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let lead = before.get(line_start..).unwrap_or_default();
    let tail = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let length = floor(tail, span.end.saturating_sub(start).min(tail.len()));
    let width = tail.get(..length).unwrap_or_default().chars().count().max(1);
    let lead_width = lead.chars().count();
    // Of a very long line, what stands before the place is left out.
    let skip = lead_width.saturating_sub(LONGEST / 2);
    let shown: String = lead.chars().skip(skip).chain(tail.chars()).take(LONGEST).map(plain).collect();
    Place {
        line: before.matches('\n').count() + 1,
        column: lead_width - skip + 1,
        width: width.min(LONGEST.saturating_sub(lead_width - skip).max(1)),
        text: shown,
    }
}

fn plain(c: char) -> char {
    if c == '\t' {
        ' '
    } else if c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    {
        '\u{fffd}'
    } else {
        c
    }
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for BadPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        for (diagnostic, place) in self.diagnostics.iter().zip(&self.places) {
            if !out.is_empty() {
                out.push('\n');
            }
            let number = place.line.to_string();
            let margin = " ".repeat(number.len());
            let _ = write!(out, "{}:{}: {} [{}]", self.name, place.line, diagnostic.message, diagnostic.code);
            if !place.text.is_empty() {
                let _ = write!(
                    out,
                    "\n{margin} |\n{number} | {}\n{margin} | {}{}",
                    place.text,
                    " ".repeat(place.column - 1),
                    "^".repeat(place.width)
                );
            }
            if let Some(help) = &diagnostic.help {
                let _ = write!(out, "\n{margin} = {help}");
            }
        }
        f.write_str(&out)
    }
}

impl std::error::Error for BadPolicy {}
