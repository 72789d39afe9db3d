//! The directory of the stores, and what is said where an account has none.

use crate::terminal::Fail;
use shward::Account;
use shward::reviewing::StateDir;

/// The directory of the stores.
pub(crate) fn directory() -> Option<StateDir> {
    Account::of_process().state().map(StateDir::new)
}

/// What needs the state directory cannot be done.
pub(crate) fn missing(what: &str) -> Fail {
    let why = Account::of_process().lack().unwrap_or_default();
    Fail::usage(format!(
        "{what}: no state directory is known; set HOME, or XDG_STATE_HOME, or let the account have a home: {why}"
    ))
}
