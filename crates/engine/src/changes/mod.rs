//! What a run did to the workspace: what of it is committed, and what is refused.

mod agreed;
mod guard;
mod moved;
mod settle;

pub(crate) use guard::Guard;
pub(crate) use moved::directories as moved_directories;
pub(crate) use settle::Asked;

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
