//! Policies from text, and what they decide.

use crate::judging::judge;
use shward_policy::{Decision, Layer, Policy, Source};

pub(crate) fn source(layer: Layer, text: &str) -> Source {
    Source { layer, name: format!("{}.toml", layer.name()), text: text.to_owned() }
}

pub(crate) fn policy(text: &str) -> Policy {
    Policy::from_sources(None, &[source(Layer::User, text)]).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn decision(policy: &Policy, command: &str) -> Decision {
    judge(policy, command, false).decision()
}
