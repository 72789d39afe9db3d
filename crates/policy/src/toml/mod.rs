//! TOML 1.0 into values that borrow from the text, each with the place that it stands at.
//!
//! Everything of the language is read but dates and times, which no policy has a use for: they are refused like any other
//! mistake. Time is linear in the text and its keys; the depth of what is inside each other and the number of keys and values are
//! bounded, whatever the text is: files come from whoever wrote the project.

mod parse;
mod scalar;
mod table;

pub(crate) use parse::parse;
pub(crate) use table::Table;

use std::borrow::Cow;
use std::ops::Range;

/// Byte offsets in the text. Of a text they leave its quotation marks out; of a table they are those of its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

/// A key, as it reads without quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key<'t> {
    pub(crate) name: Cow<'t, str>,
    pub(crate) span: Span,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value<'t> {
    pub(crate) inner: Inner<'t>,
    pub(crate) span: Span,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Inner<'t> {
    Text(Cow<'t, str>),
    Whole(i64),
    /// A number with a fraction or an exponent. No key takes one, so that its value is not kept.
    Fraction,
    Switch(bool),
    List(Vec<Value<'t>>),
    Table(Table<'t>),
}

impl<'t> Value<'t> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        self.as_text().map(AsRef::as_ref)
    }

    pub(crate) fn as_text(&self) -> Option<&Cow<'t, str>> {
        if let Inner::Text(text) = &self.inner { Some(text) } else { None }
    }

    pub(crate) fn as_integer(&self) -> Option<i64> {
        if let Inner::Whole(number) = self.inner { Some(number) } else { None }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Inner::Switch(switch) = self.inner { Some(switch) } else { None }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        if let Inner::List(items) = &self.inner { Some(items) } else { None }
    }

    pub(crate) fn as_table(&self) -> Option<&Table<'t>> {
        if let Inner::Table(table) = &self.inner { Some(table) } else { None }
    }

    /// What it is, for people.
    pub(crate) const fn type_name(&self) -> &'static str {
        match self.inner {
            Inner::Text(_) => "text",
            Inner::Whole(_) => "integer",
            Inner::Fraction => "fraction",
            Inner::Switch(_) => "boolean",
            Inner::List(_) => "array",
            Inner::Table(_) => "table",
        }
    }
}

/// What is wrong with a text. There is no value then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Error {
    /// `syntax`, `too-deep`, or `too-large`.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) span: Span,
}

#[cfg(test)]
mod tests;
