//! What a run did to the workspace: what of it is committed, what is refused, and taking it back.

pub(crate) mod git_config;
mod guard;
mod report;
mod repository;
mod settle;
mod undo;

pub(crate) use guard::Guard;
pub(crate) use report::MAX_NAMED;
pub use report::{ChangeReport, ChangesReport, Proposal, RefusedReport};
pub(crate) use repository::{STEPS, commands};
pub use settle::{Decide, Then};
pub use undo::{UndoReport, Undoing};

use crate::{Action, Request};

/// How much of a command the list of what can be undone shows.
const MAX_TITLE: usize = 200;

/// A command, for the list of what can be undone.
pub(crate) fn title(request: &Request) -> String {
    let text = match &request.action {
        Action::Command(text) => text.clone(),
        Action::Argv(argv) => argv.join(" "),
    };
    text.chars().take(MAX_TITLE).collect()
}
