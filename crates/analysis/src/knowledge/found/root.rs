//! A place below which names are found, by what was looked for.

use crate::effect::Target;
use crate::value::{Field, Origins, Value};
use shward_syntax::Span;

/// Most words of a program that are looked at.
pub(crate) const MOST_WORDS: usize = 64;

/// A place below which names are found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) target: Target<'a>,
    /// Only names of this pattern.
    pub(crate) pattern: Option<&'a [u8]>,
    /// Only paths of this pattern, or names of one in any case.
    pub(crate) within: Option<&'a [u8]>,
    /// It may be among what is found itself, by another name than `.`.
    pub(crate) itself: bool,
    /// Not everything below it is meant.
    pub(crate) filtered: bool,
    /// The words of another program that has looked for them, and whether it is given nothing but names.
    pub(crate) sought: Option<(&'a [Field<'a>], bool)>,
    /// Each name begins with that of a directory.
    pub(crate) led: bool,
    /// Any hidden directory may be found.
    pub(crate) hidden: bool,
    /// A secret that is looked for by its name, among what another root means.
    pub(crate) picked: bool,
    /// Another program has looked there as well, perhaps for others.
    pub(crate) again: bool,
    pub(crate) span: Span,
}

/// A name that a search has found, or a part of it where it was divided at blanks.
pub(crate) const NAME: Value<'static> = Value::unknown(Origins::NAMES.union(Origins::FOUND));
