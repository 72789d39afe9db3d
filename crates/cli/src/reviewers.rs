//! From the options to who answers, and how often may be asked.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{
    APPROVE, GATEKEEPER, GATEKEEPER_KEY, GATEKEEPER_MODEL, GATEKEEPER_TIMEOUT, LIMIT, LIMIT_WAIT,
};
use crate::state;
use crate::terminal::Fail;
use shward::reviewing::{
    Asks, Chat, Gatekeeper, GatekeeperError, Limit, Limiter, Per, Program, Rate, Terminal,
};
use shward::{Policy, Reviewers};
use std::io::{self, IsTerminal as _};
use std::time::Duration;

/// Who asks to be reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// `check`: somebody else runs it.
    Check,
    /// A host's hook, which has to answer soon: a host lets the command run when a hook is late.
    Hook,
    /// `run`: a person may be at the terminal.
    Run,
}

/// The longest that a hook waits for its turn, and for a gatekeeper, in seconds; together well within its deadline.
const HOOK_WAIT: u64 = 5;
const HOOK_GATEKEEPER: u64 = 12;

/// Who answers, as the options say.
///
/// # Errors
/// The options are wrong.
pub(crate) fn reviewers(args: &Args, caller: Caller, policy: &Policy) -> Result<Reviewers, Fail> {
    let mut reviewers = Reviewers::new();
    let limits = limits(args, caller, policy)?;
    let state = state::directory();
    if !limits.is_empty() {
        let state = state.clone().ok_or_else(|| state::missing("rate limits cannot be counted"))?;
        reviewers = reviewers.limiter(Limiter::new(state, limits));
    }
    if let Some(gatekeeper) = gatekeeper(args, caller, policy)? {
        // The only thing for which `check` and `hook` start threads, and `run` before its command has started.
        shward::complete_start();
        reviewers = reviewers.gatekeeper(gatekeeper);
    }

    let approve = args.text(&APPROVE).map_err(Fail::usage)?.unwrap_or("auto");
    let (elsewhere, here) = match (approve, caller) {
        // Somebody who looks at neither stream would not know what the terminal suddenly wants.
        ("auto", Caller::Run) => (true, io::stderr().is_terminal()),
        ("auto", _) => (true, false),
        ("tty", Caller::Run) => (false, true),
        ("never", _) => (false, false),
        (other, Caller::Run) => {
            return Err(Fail::usage(format!("--approve: unknown {other:?}; one of auto tty never")));
        }
        (other, _) => return Err(Fail::usage(format!("--approve: unknown {other:?}; one of auto never"))),
    };
    if let (true, Some(state)) = (elsewhere, state) {
        reviewers = reviewers.asks(Asks::new(state));
    }
    if here {
        reviewers = reviewers.approver(Terminal::default());
    }
    Ok(reviewers)
}

/// The gatekeeper of the options, else that of the policy.
fn gatekeeper(args: &Args, caller: Caller, policy: &Policy) -> Result<Option<Box<dyn Gatekeeper>>, Fail> {
    let text = |flag| args.text(flag).map_err(Fail::usage);
    let (model, key) = (text(&GATEKEEPER_MODEL)?, text(&GATEKEEPER_KEY)?);
    let most = if caller == Caller::Hook { HOOK_GATEKEEPER } else { 600 };
    let seconds = args.number(&GATEKEEPER_TIMEOUT, 1, most).map_err(Fail::usage)?.unwrap_or(most.min(20));
    let deadline = Duration::from_secs(seconds);
    let wrong = |e: GatekeeperError| Fail::usage(format!("--gatekeeper: {e}"));
    let named: Box<dyn Gatekeeper> = match (text(&GATEKEEPER)?, model) {
        (None, None) if key.is_none() => {
            return shward::chosen_gatekeeper(policy, None, Duration::from_secs(most)).map_err(|e| Fail {
                exit: Exit::BadPolicy,
                message: format!("the policy's gatekeeper: {e}"),
            });
        }
        (None, _) => {
            return Err(Fail::usage(
                "--gatekeeper-model and --gatekeeper-key belong to --gatekeeper ADDRESS",
            ));
        }
        (Some(address), Some(model)) => {
            let mut chat = Chat::new(address, model).map_err(wrong)?.deadline(deadline);
            if let Some(key) = key {
                chat = chat.key_variable(key);
            }
            Box::new(chat)
        }
        (Some(address), None) if address.contains("://") => {
            return Err(Fail::usage(
                "--gatekeeper: a model behind an address needs its name: --gatekeeper-model NAME",
            ));
        }
        (Some(file), None) => Box::new(Program::new(file).map_err(wrong)?.deadline(deadline).variables(key)),
    };
    shward::chosen_gatekeeper(policy, Some(named), Duration::from_secs(most)).map_err(wrong)
}

/// Those of the policy and those of the options.
fn limits(args: &Args, caller: Caller, policy: &Policy) -> Result<Vec<Limit>, Fail> {
    let mut limits = shward::rate_limits(policy);
    for text in args.texts(&LIMIT).map_err(Fail::usage)? {
        let wrong = || {
            Fail::usage(format!(
                "--limit: {text:?} is not KEY=COUNT/SECONDS[,COUNT/SECONDS]…; KEY is session, program, tier, tier1 to \
                 tier4 or global, as in session=3/10,10/60"
            ))
        };
        let (key, rates) = text.split_once('=').ok_or_else(wrong)?;
        let per = match key {
            "session" => Per::Session,
            "program" => Per::Program,
            "global" => Per::Global,
            "tier" => Per::Tier(None),
            "tier1" => Per::Tier(Some(1)),
            "tier2" => Per::Tier(Some(2)),
            "tier3" => Per::Tier(Some(3)),
            "tier4" => Per::Tier(Some(4)),
            _ => return Err(wrong()),
        };
        for text in rates.split(',') {
            limits.push(Limit::new(per, rate(text).ok_or_else(wrong)?));
        }
    }
    let most = if caller == Caller::Hook { HOOK_WAIT } else { 60 };
    let wait = args.number(&LIMIT_WAIT, 0, most).map_err(Fail::usage)?.map(Duration::from_secs);
    for limit in &mut limits {
        limit.wait = wait.unwrap_or(limit.wait).min(Duration::from_secs(most));
    }
    Ok(limits)
}

/// `3/10`: three in ten seconds.
fn rate(text: &str) -> Option<Rate> {
    let (count, seconds) = text.split_once('/')?;
    Rate::new(count.parse().ok()?, Duration::from_secs(seconds.parse().ok()?))
}
