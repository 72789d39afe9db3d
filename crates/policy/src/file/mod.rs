//! A policy file: TOML text in, settings and rules or the list of what is wrong out.

mod cases;
mod check;
mod diagnostic;
pub(crate) mod keys;
mod read;
mod rule;
pub mod schema;

pub use cases::{Case, cases};
pub use diagnostic::{BadPolicy, Diagnostic};
pub(crate) use diagnostic::{Problems, line_span};

use crate::settings::{Layer, Settings};
use crate::spec::RuleSpec;
use crate::toml;
use std::ops::Range;

/// Largest accepted file, in bytes: ten thousand rules have room in it.
pub const MAX_FILE: usize = 8 << 20;

/// A policy file, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Which layer it belongs to.
    pub layer: Layer,
    /// Its name, for people: the path, usually.
    pub name: String,
    /// The text.
    pub text: String,
}

/// What a file says, its rules still as they were written.
#[derive(Debug, Clone)]
pub(crate) struct Read<'t> {
    pub(crate) settings: Settings,
    pub(crate) rules: Vec<RuleSpec<'t>>,
    /// The parts of the text that hold the rules and nothing else, in order, as far apart as possible.
    pub(crate) rule_text: Vec<Range<usize>>,
}

/// The text as TOML, but for the parts that are known.
fn read_toml<'s>(source: &'s Source, known: &[Range<usize>]) -> Result<toml::Table<'s>, BadPolicy> {
    let bad = |diagnostic| BadPolicy::new(&source.name, &source.text, vec![diagnostic]);
    if source.text.len() > MAX_FILE {
        let size = source.text.len();
        let message =
            format!("the file has {size} bytes, more than {MAX_FILE}; split the rules over several files");
        return Err(bad(Diagnostic::new("too-large", 0..0, message)));
    }
    let read = toml::parse(&source.text, known);
    read.map_err(|error| bad(Diagnostic::new(error.code, error.span, error.message)))
}

/// Reads a file.
///
/// # Errors
/// Everything that is wrong with it: syntax, unknown keys, wrong types and words, expressions that do not compile, rules
/// that could never apply. A file with any problem is no policy.
pub(crate) fn parse(source: &Source) -> Result<Read<'_>, BadPolicy> {
    parse_without(source, &[])
}

/// The settings of a file, its rules being known: they stand in these parts of the text.
///
/// # Errors
/// As for [`parse`].
pub(crate) fn settings(source: &Source, rule_text: &[Range<usize>]) -> Result<Settings, BadPolicy> {
    parse_without(source, rule_text).map(|read| read.settings)
}

fn parse_without<'s>(source: &'s Source, known: &[Range<usize>]) -> Result<Read<'s>, BadPolicy> {
    let table = read_toml(source, known)?;
    let bad = |problems| BadPolicy::new(&source.name, &source.text, problems);
    let mut problems = Problems::default();
    check::table(&table, keys::POLICY, &mut problems);
    // What follows relies on the types.
    if !problems.is_empty() {
        return Err(bad(problems.into_vec()));
    }
    let mut reader = read::Reader::new(source);
    let settings = reader.settings(&table);
    let rules = reader.rules(&table);
    if !reader.problems.is_empty() {
        return Err(bad(reader.problems.into_vec()));
    }
    Ok(Read { settings, rules, rule_text: rule_text(&table, source.text.len()) })
}

/// From each `[[rule]]` to the next header, neighbours as one.
fn rule_text(table: &toml::Table<'_>, length: usize) -> Vec<Range<usize>> {
    let headers = table.headers();
    let mut out: Vec<Range<usize>> = Vec::new();
    for item in table.get("rule").and_then(toml::Value::as_array).unwrap_or_default() {
        let start = item.span.start;
        let next = headers.partition_point(|header| *header <= start);
        let end = headers.get(next).copied().unwrap_or(length);
        // Not of headers: a list in brackets is read with the settings.
        if headers.binary_search(&start).is_err() {
            return Vec::new();
        }
        match out.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => out.push(start..end),
        }
    }
    out
}
