//! What `shward check --plan` answers: where `null` stands, it is not known.

use serde::Deserialize;

/// What was predicted.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Plan {
    pub(crate) invocations: Vec<Invocation>,
    pub(crate) effects: Vec<Effect>,
}

/// A program that may start.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Invocation {
    pub(crate) program: Option<String>,
    pub(crate) argv: Vec<Option<String>>,
    pub(crate) cwd: Option<String>,
    pub(crate) builtin: bool,
    pub(crate) span: [u32; 2],
}

/// Something that may happen.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Effect {
    pub(crate) kind: String,
    pub(crate) span: [u32; 2],
    #[serde(default)]
    pub(crate) path: Option<String>,
    #[serde(default)]
    pub(crate) rest: Option<String>,
    #[serde(default)]
    pub(crate) scope: Option<String>,
    #[serde(default)]
    pub(crate) tree: bool,
    #[serde(default)]
    pub(crate) detail: Option<String>,
}
