//! Decides allow, ask or deny from a plan of effects.

mod argv;
mod builder;
mod compiled;
mod condition;
mod decide;
mod decision;
mod document;
mod environment;
mod examples;
pub mod file;
mod flow;
mod found;
mod grant;
pub mod import;
mod kinds;
mod lint;
mod mentions;
mod message;
mod pattern;
mod policy;
pub mod profiles;
mod program;
mod reach;
mod rule;
mod ruled;
mod rules;
pub mod settings;
mod shape;
mod spec;
mod timeout;
mod toml;
mod verdict;
mod within;
mod word_paths;

pub use argv::{Risk, risk};
pub use builder::{Permitted, PolicyBuilder, RuleBuilder};
pub use compiled::Compiled;
pub use decide::{decide, decide_request};
pub use decision::{Decision, Tier};
pub use document::Document;
pub use environment::carries_code;
pub use file::{BadPolicy, Diagnostic, Source};
pub use lint::{Remark, remarks};
pub use policy::Policy;
pub use profiles::Profile;
pub use reach::{Destination, Reach};
pub use rule::Rule;
pub use rules::rules;
pub use settings::{Layer, Origin, Settings};
pub use verdict::{Finding, Grant, Network, Verdict};
pub use within::{Wider, exceeds};

/// Whether this build lifts the floor. It says so wherever it says who it is.
pub const UNRESTRICTED: bool = cfg!(feature = "unrestricted");

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
