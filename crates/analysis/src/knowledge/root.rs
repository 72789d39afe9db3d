//! A place below which names are found, by what was looked for.

use crate::effect::Target;
use crate::value::{Field, Origins, Value};
use shward_syntax::Span;

/// A place below which names are found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(super) target: Target<'a>,
    /// Only names of this pattern.
    pub(super) pattern: Option<&'a [u8]>,
    /// Only paths of this pattern, or names of one in any case.
    pub(super) within: Option<&'a [u8]>,
    /// It may be among what is found itself, by another name than `.`.
    pub(super) itself: bool,
    /// Not everything below it is meant.
    pub(super) filtered: bool,
    /// The words of another program that has looked for them, and whether it is given nothing but names.
    pub(super) sought: Option<(&'a [Field<'a>], bool)>,
    /// Each name begins with that of a directory.
    pub(super) led: bool,
    /// Any hidden directory may be found.
    pub(super) hidden: bool,
    /// A secret that is looked for by its name, among what another root means.
    pub(super) picked: bool,
    pub(super) span: Span,
}

/// A name that a search has found, or a part of it where it was divided at blanks.
pub(super) const NAME: Value<'static> = Value::unknown(Origins::NAMES.union(Origins::FOUND));
