//! `check`: decide about a command without running it.

use crate::args::Args;
use crate::exit::Exit;
use crate::flags::{BATCH, CONTAINED, FROZEN, JSON, PLAN};
use crate::reviewers::Caller;
use crate::terminal::{self, Fail};
use crate::{ask, batch, plan, setup, shown};
use shward::{Checked, Decision, Error, Firewall, Request, Setting};
use std::fmt::Write as _;

/// How the options say a request is to be judged.
pub(crate) fn setting(args: &Args) -> Setting {
    let mut setting = Setting::others();
    setting.contained = args.has(&CONTAINED);
    setting.frozen = args.has(&FROZEN);
    setting.plan = args.has(&PLAN);
    setting
}

/// The exit code for a decision.
pub(crate) fn exit(decision: Decision) -> Exit {
    match decision {
        Decision::Allow => Exit::Allow,
        Decision::Ask => Exit::Ask,
        Decision::Deny => Exit::Deny,
    }
}

/// Carries out the verb.
///
/// # Errors
/// The options or the request are wrong, or the decision could not be recorded.
pub(crate) fn run(args: &Args) -> Result<Exit, Fail> {
    let setting = setting(args);
    let workspace = ask::Directories::from(args)?.workspace;
    let firewall = if setting.frozen {
        Firewall::new(setup::policy(args, &workspace)?)
    } else if args.has(&BATCH) {
        // Judgements alone: whoever asks for many at once is not about to run them.
        setup::firewall(args, &workspace)?
    } else {
        setup::reviewed(args, &workspace, Caller::Check)?
    };
    if args.has(&BATCH) {
        return batch::run(args, &firewall, &setting);
    }
    let request = ask::request(args)?;
    let checked = firewall.check(&request, &setting).map_err(fail)?;
    if args.has(&JSON) {
        terminal::line(&serde_json::to_string(&checked).map_err(|e| Fail::io(e.to_string()))?)?;
    } else {
        let mut text = text(&checked);
        if let Some(unasked) = unasked(&firewall, &request, &setting, &checked) {
            let _ = writeln!(text, "  {unasked}");
        }
        if let Some(plan) = &checked.plan {
            text.push_str(&plan::text(plan));
        }
        terminal::line(&text)?;
    }
    Ok(exit(checked.decision))
}

/// What a failure of the engine means for the one who asked.
pub(crate) fn fail(error: Error) -> Fail {
    match error {
        Error::BadRequest(e) => Fail::input(e.to_string()),
        e => Fail::io(e.to_string()),
    }
}

/// What could be done instead of asking.
pub(crate) fn unasked(
    firewall: &Firewall,
    request: &Request,
    setting: &Setting,
    checked: &Checked,
) -> Option<&'static str> {
    let asks = checked.decision == Decision::Ask && !setting.contained;
    (asks && firewall.runs_unasked(request, setting))
        .then_some("`shward run` needs no answer: it runs this in its sandbox")
}

/// Who answered, or could.
pub(crate) fn answered(checked: &Checked) -> String {
    let mut out = String::new();
    if let Some(review) = checked.review.as_ref().filter(|_| checked.decision == Decision::Allow) {
        let _ = writeln!(out, "  allowed this once by {} {}", review.by, shown::one_line(&review.name));
        if let Some(explanation) = &review.explanation {
            let _ = writeln!(out, "      because: {}", shown::one_line(explanation));
        }
    }
    if let Some(limit) = checked.rate_limit.as_ref().filter(|limit| !limit.refused) {
        let _ = writeln!(out, "  waited {} ms for a rate limit", limit.wait_ms);
    }
    if let Some(id) = &checked.pending {
        let _ = writeln!(out, "  a person can allow it once: shward approve {id}");
    }
    out
}

/// A verdict in words.
pub(crate) fn text(checked: &Checked) -> String {
    let mut out = format!("{} (tier {})\n", checked.decision.as_str(), checked.tier);
    for finding in &checked.findings {
        let _ = writeln!(
            out,
            "  {}: {} [{}]",
            finding.decision.as_str(),
            shown::one_line(&finding.message),
            finding.rule
        );
        if let Some(suggestion) = &finding.suggestion {
            let _ = writeln!(out, "      instead: {}", shown::one_line(suggestion));
        }
    }
    out.push_str(&answered(checked));
    out
}
