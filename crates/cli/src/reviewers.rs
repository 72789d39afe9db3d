//! From the options to who answers, and how often may be asked.

use crate::args::Args;
use crate::flags::{
    APPROVE, GATEKEEPER, GATEKEEPER_KEY, GATEKEEPER_MODEL, GATEKEEPER_TIMEOUT, LIMIT, LIMIT_WAIT,
};
use crate::setup;
use crate::terminal::Fail;
use shward::Reviewers;
use shward::reviewing::{Asks, Chat, Limit, Limiter, Limits, OnExceed, Program, Rate, Terminal};
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
pub(crate) fn reviewers(args: &Args, caller: Caller) -> Result<Reviewers, Fail> {
    let mut reviewers = Reviewers::new();
    let limits = limits(args, caller)?;
    let state = setup::state_dir();
    if !limits.is_none() {
        let state = state.clone().ok_or_else(|| {
            Fail::usage("limits need the state directory, which is not known; set HOME or XDG_STATE_HOME")
        })?;
        reviewers = reviewers.limiter(Limiter::new(state, limits));
    }
    let seconds = |most| args.number(&GATEKEEPER_TIMEOUT, 1, most).map_err(Fail::usage);
    let deadline = match caller {
        Caller::Hook => seconds(HOOK_GATEKEEPER)?.unwrap_or(HOOK_GATEKEEPER),
        Caller::Check | Caller::Run => seconds(600)?.unwrap_or(20),
    };
    reviewers = gatekeeper(args, Duration::from_secs(deadline), reviewers)?;

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

fn gatekeeper(args: &Args, deadline: Duration, reviewers: Reviewers) -> Result<Reviewers, Fail> {
    let text = |flag| args.text(flag).map_err(Fail::usage);
    let (model, key) = (text(&GATEKEEPER_MODEL)?, text(&GATEKEEPER_KEY)?);
    let wrong = |e: shward::reviewing::GatekeeperError| Fail::usage(format!("--gatekeeper: {e}"));
    match (text(&GATEKEEPER)?, model) {
        (None, None) if key.is_none() => Ok(reviewers),
        (None, _) => {
            Err(Fail::usage("--gatekeeper-model and --gatekeeper-key belong to --gatekeeper ADDRESS"))
        }
        (Some(address), Some(model)) => {
            let mut chat = Chat::new(address, model).map_err(wrong)?.deadline(deadline);
            if let Some(key) = key {
                chat = chat.key_variable(key);
            }
            Ok(reviewers.gatekeeper(chat))
        }
        (Some(address), None) if address.contains("://") => Err(Fail::usage(
            "--gatekeeper: a model behind an address needs its name: --gatekeeper-model NAME",
        )),
        (Some(file), None) => {
            let program = Program::new(file).map_err(wrong)?.deadline(deadline).variables(key);
            Ok(reviewers.gatekeeper(program))
        }
    }
}

fn limits(args: &Args, caller: Caller) -> Result<Limits, Fail> {
    let mut limits = Limits::NONE;
    for text in args.texts(&LIMIT).map_err(Fail::usage)? {
        if text == "gaia" {
            limits.session = Limit::GAIA;
            continue;
        }
        let wrong = || {
            Fail::usage(format!(
                "--limit: {text:?} is not KEY=COUNT/SECONDS[,COUNT/SECONDS]; KEY is session, program, global or \
                 tier1 to tier4, as in session=3/10,10/60; or gaia, which is that"
            ))
        };
        let (key, rates) = text.split_once('=').ok_or_else(wrong)?;
        let mut rates = rates.split(',').map(rate);
        let limit = Limit {
            burst: Some(rates.next().flatten().ok_or_else(wrong)?),
            sustained: rates.next().map(|r| r.ok_or_else(wrong)).transpose()?,
        };
        if rates.next().is_some() {
            return Err(wrong());
        }
        let [tier1, tier2, tier3, tier4] = &mut limits.tier;
        *match key {
            "session" => &mut limits.session,
            "program" => &mut limits.program,
            "global" => &mut limits.global,
            "tier1" => tier1,
            "tier2" => tier2,
            "tier3" => tier3,
            "tier4" => tier4,
            _ => return Err(wrong()),
        } = limit;
    }
    let most = if caller == Caller::Hook { HOOK_WAIT } else { 60 };
    if let Some(seconds) = args.number(&LIMIT_WAIT, 0, most).map_err(Fail::usage)? {
        limits.on_exceed = OnExceed::Wait(Duration::from_secs(seconds));
    }
    Ok(limits)
}

/// `3/10`: three in ten seconds.
fn rate(text: &str) -> Option<Rate> {
    let (count, seconds) = text.split_once('/')?;
    Rate::new(count.parse().ok()?, Duration::from_secs(seconds.parse().ok()?))
}
