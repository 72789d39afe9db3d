//! A policy file: TOML text in, settings and rules or the list of what is wrong out.

mod cases;
mod check;
mod diagnostic;
mod guard;
pub(crate) mod keys;
mod read;
mod rule;
pub mod schema;

pub use cases::{Case, cases};
pub(crate) use diagnostic::line_span;
pub use diagnostic::{BadPolicy, Diagnostic};
pub use guard::MAX_FILE;

use crate::settings::{Layer, Settings};
use crate::spec::RuleSpec;

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

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its settings.
    pub(crate) settings: Settings,
    /// Its rules.
    pub(crate) rules: Vec<RuleSpec>,
}

/// Reads a file.
///
/// # Errors
/// Everything that is wrong with it: syntax, unknown keys, wrong types and words, expressions that do not compile, rules
/// that could never apply. A file with any problem is no policy.
pub fn parse(source: &Source) -> Result<Document, BadPolicy> {
    let bad = |diagnostics| BadPolicy::new(&source.name, &source.text, diagnostics);
    guard::check(&source.text).map_err(|d| bad(vec![d]))?;
    let value = toml_span::parse(&source.text).map_err(|error| {
        let message = error.kind.to_string();
        bad(vec![Diagnostic::new("syntax", error.span, message)])
    })?;
    let mut problems = Vec::new();
    let Some(table) = value.as_table() else {
        return Err(bad(vec![Diagnostic::new("syntax", 0..0, "the file is not a table")]));
    };
    check::table(table, keys::POLICY, &mut problems);
    // What follows relies on the types.
    if !problems.is_empty() {
        return Err(bad(problems));
    }
    let mut reader = read::Reader::new(source);
    let settings = reader.settings(table);
    let rules = reader.rules(table);
    if reader.problems.is_empty() { Ok(Document { settings, rules }) } else { Err(bad(reader.problems)) }
}
