//! From the options to a [`Firewall`]: policy and log.

use crate::args::Args;
use crate::flags::{LOG, PROFILE};
use crate::reviewers::{Caller, reviewers};
use crate::terminal::Fail;
use shward::audit::Log;
use shward::reviewing::StateDir;
use shward::{Firewall, Policy, Profile};
use std::path::PathBuf;

/// The policy that `--profile` names.
pub(crate) fn policy(args: &Args) -> Result<Policy, Fail> {
    let Some(name) = args.text(&PROFILE).map_err(Fail::usage)? else { return Ok(Policy::default()) };
    match Profile::from_name(name) {
        Some(profile) => Ok(Policy::new(profile)),
        None => {
            let known: Vec<&str> = Profile::ALL.iter().map(|p| p.name()).collect();
            Err(Fail::usage(format!("unknown profile {name:?}; profiles: {}", known.join(" "))))
        }
    }
}

/// A firewall that records into the log of the options.
pub(crate) fn firewall(args: &Args) -> Result<Firewall, Fail> {
    let path = log_path(args)?;
    let log = Log::open(&path).map_err(|e| Fail::io(format!("{e}")))?;
    Ok(Firewall::new(policy(args)?).with_log(log))
}

/// The same firewall, with whoever the options name to answer what is asked.
pub(crate) fn reviewed(args: &Args, caller: Caller) -> Result<Firewall, Fail> {
    let firewall = firewall(args)?;
    let reviewers = reviewers(args, caller, firewall.policy())?;
    Ok(firewall.with_reviewers(reviewers))
}

/// The log file: `--log`, else the XDG state directory.
pub(crate) fn log_path(args: &Args) -> Result<PathBuf, Fail> {
    if let Some(path) = args.get(&LOG) {
        return Ok(PathBuf::from(path));
    }
    match state() {
        Some(state) => Ok(state.join("audit.jsonl")),
        None => Err(Fail::usage("the state directory is not known; set HOME or give --log FILE")),
    }
}

/// The directory of the stores.
pub(crate) fn state_dir() -> Option<StateDir> {
    state().map(StateDir::new)
}

/// `$XDG_STATE_HOME/shward`.
fn state() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let state = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("shward"))
}
