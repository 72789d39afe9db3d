//! A second opinion on a command that the policy asks about.
//!
//! [`consult`] is the only way to ask, and everything that is not a clear ALLOW from the gatekeeper itself is a DENY or a
//! CHALLENGE: no reasoning, tier 4, an error, a late, long or malformed answer.

mod chat;
mod fence;
mod program;
mod wire;

pub use chat::Chat;
pub use program::Program;

use crate::shown::is_blank;
use crate::wanted::{SLICE, Wanted};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Longest text of an opinion that is passed on, in bytes; what is longer is cut.
const MAX_TEXT: usize = 2000;

/// What a gatekeeper says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Do it.
    Allow,
    /// Do not.
    Deny,
    /// Say more first.
    Challenge,
}

impl Answer {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Challenge => "challenge",
        }
    }
}

/// An answer and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// The answer.
    pub answer: Answer,
    /// Why; for the agent and the record.
    pub explanation: String,
    /// What to do instead.
    pub suggested_alternative: Option<String>,
    /// What has to be said first.
    pub required_clarification: Option<String>,
}

impl Opinion {
    /// A denial for this reason.
    fn deny(explanation: String) -> Self {
        Self { answer: Answer::Deny, explanation, suggested_alternative: None, required_clarification: None }
    }
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    /// A shell command.
    Command(&'a str),
    /// A program and its arguments.
    Argv(&'a [String]),
}

/// Why the policy asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFinding<'a> {
    /// The rule's id.
    pub rule: &'a str,
    /// What and why.
    pub message: &'a str,
}

/// A command that the policy asks about.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// The command.
    pub input: Input<'a>,
    /// Where it starts.
    pub cwd: &'a str,
    /// What it may change.
    pub workspace: &'a str,
    /// shward runs it in its sandbox; else somebody else runs it.
    pub contained: bool,
    /// The tier, 1 to 4.
    pub tier: u8,
    /// Why the policy asks.
    pub findings: &'a [CaseFinding<'a>],
    /// What it may do, as `check --plan --json` tells it.
    pub plan: &'a serde_json::Value,
    /// What the agent says it is for.
    pub reasoning: Option<&'a str>,
    /// What else the caller knows: the task, the system. Null for nothing.
    pub context: &'a serde_json::Value,
    /// Until when somebody waits for the opinion. Whoever takes time for one has to look at it.
    pub wanted: Wanted<'a>,
}

impl Case<'_> {
    /// The command's first word, for messages.
    fn program(&self) -> String {
        let word = match self.input {
            Input::Command(text) => text.split_whitespace().next().unwrap_or_default(),
            Input::Argv(argv) => argv.first().map(String::as_str).unwrap_or_default(),
        };
        crate::one_line(word)
    }
}

/// Why there is no opinion.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatekeeperError {
    /// It cannot be reached or started.
    #[error("{0}")]
    Unreachable(String),
    /// It did not answer in time.
    #[error("no answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// Whoever asked does not wait for an answer any more.
    #[error("what it was asked for was ended meanwhile")]
    Withdrawn,
    /// It answered, but not what was asked for.
    #[error("{0}")]
    Malformed(String),
    /// It would not answer.
    #[error("the model refused: {0}")]
    Refused(String),
}

/// Somebody who has an opinion on commands.
pub trait Gatekeeper: std::fmt::Debug + Send + Sync {
    /// Its name, for messages and the record.
    fn name(&self) -> &str;

    /// What it thinks of the case. Call [`consult`] instead, which fails closed.
    ///
    /// # Errors
    /// It has no opinion.
    fn evaluate(&self, case: &Case<'_>) -> Result<Opinion, GatekeeperError>;
}

impl Gatekeeper for Box<dyn Gatekeeper> {
    fn name(&self) -> &str {
        self.as_ref().name()
    }

    fn evaluate(&self, case: &Case<'_>) -> Result<Opinion, GatekeeperError> {
        self.as_ref().evaluate(case)
    }
}

/// The gatekeeper's opinion, or a denial that says why there is none. A command without reasoning, and one of tier 4, is
/// denied without asking.
#[must_use]
pub fn consult(gatekeeper: &dyn Gatekeeper, case: &Case<'_>) -> Opinion {
    if case.tier >= 4 {
        return Opinion::deny("A command of tier 4 is denied whatever anybody says.".to_owned());
    }
    if case.reasoning.is_none_or(is_blank) {
        return Opinion::deny(format!(
            "Command '{}' is classified as level {} but no reasoning was provided.",
            case.program(),
            case.tier
        ));
    }
    match gatekeeper.evaluate(case) {
        Ok(opinion) => Opinion {
            answer: opinion.answer,
            explanation: told(&opinion.explanation),
            suggested_alternative: opinion.suggested_alternative.as_deref().map(told),
            required_clarification: opinion.required_clarification.as_deref().map(told),
        },
        Err(error) => Opinion::deny(format!("Gatekeeper error: {}", told(&error.to_string()))),
    }
}

/// What another thread finds out, if it does so before the deadline and while somebody waits for it.
fn await_answer<T>(
    answers: &Receiver<T>,
    start: Instant,
    deadline: Duration,
    wanted: Wanted<'_>,
) -> Result<T, GatekeeperError> {
    loop {
        let left = deadline.saturating_sub(start.elapsed());
        match answers.recv_timeout(left.min(SLICE)) {
            _ if wanted.is_withdrawn() => return Err(GatekeeperError::Withdrawn),
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
            Err(_) => return Err(GatekeeperError::Late(deadline)),
        }
    }
}

/// A gatekeeper's text as it is passed on: on one line, made visible, and not longer than it should be.
fn told(text: &str) -> String {
    let text = crate::one_line(text.trim());
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default().to_owned()
}
