//! Who answers when shward asks: a gatekeeper model, a person; and how often an agent may try at all.
//!
//! Three things, each usable alone:
//!
//! - [`Limiter`]: rate limits that hold between processes which live for a few milliseconds each, without a daemon.
//! - [`Gatekeeper`]: a second opinion on a command that the policy asks about, from a program ([`Program`]) or from a model
//!   behind the OpenAI-compatible chat protocol ([`Chat`]). [`consult`] is the only way to ask one, and it fails closed.
//! - [`Approver`]: a person. [`Terminal`] asks on the controlling terminal; [`Asks`] keeps questions for a person who is
//!   elsewhere, and each answer for one use.
//!
//! Nothing here can lift a denial: whoever uses this crate asks it about commands that the policy *asks* about, and about
//! nothing else. Everything that comes from an agent is data, and is made visible ([`Shown`]) before anybody reads it.

mod asks;
mod gatekeeper;
mod limits;
mod shown;
mod store;
mod terminal;
mod wanted;

pub use asks::{Answered, Ask, Asks, Entered, NewAsk, State};
pub use gatekeeper::{
    Answer, Case, CaseFinding, Chat, Gatekeeper, GatekeeperError, Input, Opinion, Program, consult,
};
pub use limits::{Key, Limit, Limiter, Per, Rate, Refusal, Turn};
pub use shown::{Shown, lookalikes, one_line, typed};
pub use store::{StateDir, StoreError};
pub use terminal::{Approver, Permission, Question, Reply, Terminal, Unanswered, is_confined};
pub use wanted::Wanted;
