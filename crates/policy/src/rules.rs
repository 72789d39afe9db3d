//! The rules, one table each for files, for code, and for what reaches beyond this command's own files.
//!
//! All rules that may be about an effect ([`index`]) are tried on it; the strictest answer counts, whatever their order. Of equally strict rules the
//! first tells its message, so that the more telling one stands first.

mod code;
mod files;
pub(crate) mod index;
mod reach;

use crate::condition::on;
use crate::decision::Tier;
use crate::kinds::Kinds;
use crate::rule::Rule;

/// The rules of the profile `workspace`, those of the floor among them.
pub(crate) const WORKSPACE: [&[Rule]; 3] = [files::RULES, code::RULES, reach::RULES];

/// What the profile `read-only` adds.
pub(crate) const READ_ONLY: &[Rule] = &[Rule::deny(
    "read-only",
    Tier::Two,
    &[on(Kinds::EFFECT.without(Kinds::READ.or(Kinds::LIST)))
        .and(|s| s.target().is_none_or(|target| target.scope != shward_analysis::Scope::Harmless))],
    "Does more than read, and the profile read-only permits inspection only. Use commands that print and change nothing.",
)];

/// Every rule there is.
pub fn rules() -> impl Iterator<Item = &'static Rule> + Clone {
    WORKSPACE.into_iter().flatten().chain(READ_ONLY)
}

/// The place of a rule in the catalogue, by its id, and the rule.
pub(crate) fn index_of(id: &str) -> Option<(usize, &'static Rule)> {
    rules().enumerate().find(|(_, rule)| rule.id == id)
}
