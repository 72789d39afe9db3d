//! From a verdict to a decision: rate limits, and an answer to what is asked.
//!
//! Refuse, then allow, then ask. A denial is final: nobody is asked about it, and there is no grant that could run it. An
//! attempt over a limit becomes a denial. What is asked is answered by, in this order, an answer that a person gave before,
//! the gatekeeper, a person at the terminal; else it stays asked, and a person can answer it from elsewhere.
//!
//! Whoever takes time to answer answers about what was. So when somebody said yes, or the attempt had to wait, the request
//! is judged again, and holds only if everything is as it was.

mod answer;
mod binding;

use crate::report::{Checked, FindingReport, PlanReport};
use crate::{Action, BadRequest, Firewall, Judged, Request};
use answer::Found;
use binding::Bound;
use serde_json::Value;
use shward_analysis::Plan;
use shward_audit::{Digest, Log};
use shward_policy::{Decision, Grant, Settings};
use shward_review::{
    Answer, Answered, Case, CaseFinding, Entered, Gatekeeper, Input, Key, NewAsk, Permission, Question,
    Reply, Unanswered, Wanted, consult, typed,
};
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// What a grant would permit, in lines for a person.
pub(crate) type Permits<'c> = dyn Fn(&Grant) -> Vec<String> + 'c;

/// A request, and how it is to be judged and run.
pub(crate) struct Circumstances<'c> {
    pub(crate) request: &'c Request,
    pub(crate) contained: bool,
    /// It is an attempt for the rate limits.
    pub(crate) counted: bool,
    /// The environment that the command will get, as far as it is known.
    pub(crate) environment: &'c [(Vec<u8>, Vec<u8>)],
    /// For a command that shward runs: what a grant would permit. Nobody is asked at the terminal
    /// about what somebody else runs: the host asks.
    pub(crate) permits: Option<&'c Permits<'c>>,
    /// Until when somebody waits for the answer.
    pub(crate) wanted: Wanted<'c>,
}

/// What was decided in the end, and the judgement that it holds for.
pub(crate) struct Settled<'a> {
    pub(crate) judged: Judged<'a>,
    pub(crate) checked: Checked,
}

impl Firewall {
    /// Judges and settles. `judge` is called again when time has passed.
    pub(crate) fn settle<'a>(
        &self,
        around: &Circumstances<'_>,
        judge: impl Fn() -> Result<Judged<'a>, BadRequest>,
    ) -> Result<Settled<'a>, BadRequest> {
        let judged = judge()?;
        let checked = Checked::new(&judged.verdict);
        let reviewers = self.reviewers();
        let decision = checked.decision;
        let limiter = reviewers.limiter.as_ref().filter(|_| around.counted);
        if limiter.is_none() && decision != Decision::Ask {
            return Ok(Settled { judged, checked });
        }
        let mut found = Found::new(checked);
        let keys = keys(around.request, &judged.plan, found.checked.tier);
        let waited = limiter.is_some_and(|limiter| found.limit(limiter.attempt(&keys)));
        if decision == Decision::Deny && waited {
            // Why should it wait to be denied? It has been counted.
            found.checked.rate_limit = None;
        }
        if found.checked.decision == Decision::Deny || (decision == Decision::Allow && !waited) {
            return Ok(Settled { judged, checked: found.checked });
        }
        let before = self.bound(around, &judged);
        if waited {
            wait(found.waited(), around.wanted);
        }
        let took_time = decision == Decision::Ask && self.answer(around, &judged, before, &mut found);
        if !(waited || took_time) || found.checked.decision != Decision::Allow {
            return Ok(Settled { judged, checked: found.checked });
        }
        let again = judge()?;
        if self.bound(around, &again) != before {
            found.changed();
        }
        Ok(Settled { judged: again, checked: found.checked })
    }

    /// The digest that an answer is bound to.
    fn bound(&self, around: &Circumstances<'_>, judged: &Judged<'_>) -> Digest {
        Bound {
            request: around.request,
            policy: self.policy(),
            contained: around.contained,
            environment: around.environment,
            plan: &judged.plan,
            checked: &Checked::new(&judged.verdict),
            log: self.log().map(Log::path),
        }
        .digest()
    }

    /// Looks for an answer to a request that is asked about. Returns whether time has passed since it was judged.
    fn answer(
        &self,
        around: &Circumstances<'_>,
        judged: &Judged<'_>,
        digest: Digest,
        found: &mut Found,
    ) -> bool {
        let reviewers = self.reviewers();
        let tier = found.checked.tier;
        if around.wanted.is_withdrawn() {
            found.unanswered(&Unanswered::Withdrawn);
            return false;
        }
        let required =
            |settings: &Settings| settings.gatekeeper_required.as_ref().is_some_and(|set| set.value);
        if reviewers.gatekeeper.is_none() && self.policy().all_settings().any(required) {
            found.no_gatekeeper();
            return false;
        }
        if let Some(asks) = &reviewers.asks {
            match asks.redeem(&digest) {
                Ok(Some(answered)) => {
                    found.person(&answered);
                    return false;
                }
                Ok(None) => {}
                Err(error) => found.broken(&error),
            }
        }
        let plan = serde_json::to_value(PlanReport::new(&judged.plan)).unwrap_or(Value::Null);
        let mut took_time = false;
        if let Some(gatekeeper) = &reviewers.gatekeeper {
            took_time = true;
            let opinion = {
                let findings: Vec<CaseFinding<'_>> =
                    found.reasons().map(|f| CaseFinding { rule: &f.rule, message: &f.message }).collect();
                consult(gatekeeper.as_ref(), &self.case(around, tier, &findings, &plan))
            };
            // Whatever it says: it may have been about to when there was nobody any more to whom it mattered.
            if around.wanted.is_withdrawn() {
                found.unanswered(&Unanswered::Withdrawn);
                return took_time;
            }
            let answer = opinion.answer;
            found.gatekeeper(gatekeeper.name(), opinion);
            if answer != Answer::Challenge {
                return took_time;
            }
        }
        let reasons: Vec<String> = found.reasons().map(|f| format!("{} [{}]", f.message, f.rule)).collect();
        if let (Some(approver), Some(permits), Some(grant)) =
            (&reviewers.approver, around.permits, judged.verdict.grant())
            && tier < 4
        {
            took_time = true;
            let permissions = permits(grant);
            let request = around.request;
            let question = Question {
                command: &typed_request(request),
                cwd: &request.cwd.to_string_lossy(),
                tier,
                reasoning: request.reasoning.as_deref(),
                findings: &reasons,
                permission: Permission::Sandbox(&permissions),
                explanation: &serde_json::to_string_pretty(&plan).unwrap_or_default(),
                wanted: around.wanted,
            };
            match approver.ask(&question) {
                // Nor is it kept for somebody who is elsewhere.
                _ if around.wanted.is_withdrawn() => {
                    found.unanswered(&Unanswered::Withdrawn);
                    return took_time;
                }
                Ok(reply) => {
                    let by = approver.name();
                    found.person(&Answered { id: String::new(), yes: reply == Reply::Yes, by });
                    return took_time;
                }
                Err(Unanswered::NoTerminal) => {}
                Err(unanswered) => found.unanswered(&unanswered),
            }
        }
        if let Some(asks) = &reviewers.asks
            && tier < 4
        {
            let ask = new_ask(around, digest, tier, reasons);
            match asks.enter(&ask) {
                Ok(Entered::Pending(id)) => found.checked.pending = Some(id),
                Ok(Entered::Unlisted(_)) => {}
                Ok(Entered::Answered(answered)) => found.person(&answered),
                Err(error) => found.broken(&error),
            }
        }
        took_time
    }

    fn case<'c>(
        &'c self,
        around: &'c Circumstances<'_>,
        tier: u8,
        findings: &'c [CaseFinding<'c>],
        plan: &'c Value,
    ) -> Case<'c> {
        let request = around.request;
        Case {
            input: match &request.action {
                Action::Command(text) => Input::Command(text),
                Action::Argv(argv) => Input::Argv(argv),
            },
            cwd: request.cwd.to_str().unwrap_or("(not UTF-8)"),
            workspace: request.workspace.to_str().unwrap_or("(not UTF-8)"),
            contained: around.contained,
            tier,
            findings,
            plan,
            reasoning: request.reasoning.as_deref(),
            context: &self.reviewers().context,
            wanted: around.wanted,
        }
    }
}

/// Waits for so long, if somebody does.
fn wait(time: Duration, wanted: Wanted<'_>) {
    const SLICE: Duration = Duration::from_millis(100);
    let start = Instant::now();
    while let Some(left) = time.checked_sub(start.elapsed()).filter(|_| !wanted.is_withdrawn()) {
        std::thread::sleep(left.min(SLICE));
    }
}

/// What is asked for, as a person reads it.
fn typed_request(request: &Request) -> Cow<'_, str> {
    match &request.action {
        Action::Command(text) => text.into(),
        Action::Argv(argv) => typed(argv.iter().map(String::as_str)).into(),
    }
}

fn new_ask(around: &Circumstances<'_>, digest: Digest, tier: u8, findings: Vec<String>) -> NewAsk {
    let request = around.request;
    NewAsk {
        digest,
        command: typed_request(request).into_owned(),
        cwd: request.cwd.to_string_lossy().into_owned(),
        workspace: request.workspace.to_string_lossy().into_owned(),
        contained: around.contained,
        tier,
        findings,
        reasoning: request.reasoning.clone(),
        session: request.session.clone(),
    }
}

/// Everything that an attempt is counted under: the programs by their last name, so that a path is no way around.
fn keys<'k>(request: &'k Request, plan: &Plan<'k>, tier: u8) -> Vec<Key<'k>> {
    let name =
        |program: &'k [u8]| program.rsplit(|&b| b == b'/').next().and_then(|name| str::from_utf8(name).ok());
    let mut keys = vec![Key::Global, Key::Tier(tier), Key::Session(request.session.as_deref().unwrap_or(""))];
    keys.extend(plan.invocations.iter().map(|i| Key::Program(i.program.and_then(name).unwrap_or(""))));
    keys
}

/// A finding of this module, about the whole command.
fn finding(rule: &str, decision: Decision, message: String, suggestion: Option<String>) -> FindingReport {
    FindingReport { rule: rule.to_owned(), decision, message, span: [0, 0], source: None, suggestion }
}
