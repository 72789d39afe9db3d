//! Decides allow, ask or deny from a plan of effects.

mod condition;
mod decide;
mod decision;
mod grant;
mod mentions;
mod message;
mod policy;
mod rule;
mod rules;
mod verdict;

pub use decide::decide;
pub use decision::{Decision, Tier};
pub use policy::{Policy, Profile};
pub use rule::Rule;
pub use rules::rules;
pub use verdict::{Finding, Grant, Network, Verdict};

/// Where and by whom the command will be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context<'a> {
    /// shward runs it in its sandbox; else somebody else runs it.
    pub contained: bool,
    /// The working directory at the start.
    pub cwd: &'a [u8],
    /// The workspace.
    pub workspace: &'a [u8],
    /// The home directory.
    pub home: &'a [u8],
}
