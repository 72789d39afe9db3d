//! From the options to a [`Firewall`]: policy and log.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{FROZEN, LOG, POLICY, PROFILE, SYSTEM};
use crate::reviewers::{Caller, reviewers};
use crate::state;
use crate::terminal::Fail;
use shward::audit::Log;
use shward::{Account, Firewall, Policy, PolicyError, PolicyPlaces, Sessions, Undoing};
use std::path::{Path, PathBuf};

/// Where the policy for a workspace comes from: the layers of this machine, what the options name, and with `--frozen`
/// the options alone.
pub(crate) fn places(args: &Args, workspace: &Path) -> Result<PolicyPlaces, Fail> {
    let mut places =
        if args.has(&FROZEN) { PolicyPlaces::none() } else { PolicyPlaces::of_machine(workspace) };
    places.profile = args.text(&PROFILE).map_err(Fail::usage)?.map(str::to_owned);
    if let Some(name) = &places.profile
        && shward::policy::profiles::text(name).is_none()
    {
        let known: Vec<&str> = shward::policy::profiles::SHIPPED.iter().map(|(name, _)| *name).collect();
        return Err(Fail::usage(format!("unknown profile {name:?}; profiles: {}", known.join(" "))));
    }
    places.explicit = args.get(&POLICY).map(PathBuf::from);
    places.explicit_is_system = args.has(&SYSTEM);
    Ok(places)
}

/// The policy for a workspace.
pub(crate) fn policy(args: &Args, workspace: &Path) -> Result<Policy, Fail> {
    places(args, workspace)?.load().map_err(bad_policy)
}

/// The project's files that only tighten until a person trusts them, in words.
///
/// # Errors
/// One is there and cannot be read.
pub(crate) fn untrusted(args: &Args, workspace: &Path) -> Result<Vec<String>, Fail> {
    let files = places(args, workspace)?.untrusted_files().map_err(bad_policy)?;
    let told = files.iter().map(|file| {
        let file = shward::reviewing::one_line(&file.display().to_string());
        format!("{file} is not trusted, so it can only tighten; `shward policy trust` lets it allow, too")
    });
    Ok(told.collect())
}

/// What a policy that cannot be used means for the one who asked.
pub(crate) fn bad_policy(error: PolicyError) -> Fail {
    Fail { exit: Exit::BadPolicy, message: error.to_string() }
}

/// A firewall for a workspace that records into the log of the options.
pub(crate) fn firewall(args: &Args, workspace: &Path) -> Result<Firewall, Fail> {
    let policy = policy(args, workspace)?;
    let path = log_path(args)?;
    let log = Log::open(&path).map_err(|e| Fail::io(format!("{e}")))?;
    Ok(Firewall::new(policy).with_log(log))
}

/// The same firewall, with whoever the options name to answer what is asked.
pub(crate) fn reviewed(args: &Args, workspace: &Path, caller: Caller) -> Result<Firewall, Fail> {
    let firewall = firewall(args, workspace)?;
    let reviewers = reviewers(args, caller, firewall.policy())?;
    let firewall = firewall.with_reviewers(reviewers);
    let state = state::directory();
    let firewall = firewall.with_self_test(state.clone());
    let firewall = match state {
        Some(state) => firewall.with_sessions(Sessions::new(state)),
        None => firewall,
    };
    Ok(match undoing() {
        Some(undoing) => firewall.with_undoing(undoing),
        None => firewall,
    })
}

/// Where layers lie and what is kept to undo them; `None` where the account has no place that is believed.
pub(crate) fn undoing() -> Option<Undoing> {
    Account::of_process().state().map(Undoing::new)
}

/// The log file: `--log`, else the account's.
pub(crate) fn log_path(args: &Args) -> Result<PathBuf, Fail> {
    if let Some(path) = args.get(&LOG) {
        return Ok(PathBuf::from(path));
    }
    Account::of_process().log().ok_or_else(|| state::missing("the log has no place; give --log FILE"))
}
