//! Decides about what somebody else will carry out: judged, answered where it is asked, recorded.

use crate::record::Judgement;
use crate::report::{Checked, PlanReport};
use crate::review::{Circumstances, Settled};
use crate::{BadRequest, Error, Firewall, Judged, Request, Setting};
use bumpalo::Bump;
use shward_analysis::{EffectKind, Scope};
use shward_audit::Event;
use shward_policy::Decision;
use shward_review::Wanted;
use std::borrow::Cow;
use std::cell::RefCell;
use std::os::unix::ffi::OsStrExt as _;

impl Firewall {
    /// Decides about a request that somebody else will carry out, and records the decision unless the setting is frozen.
    ///
    /// # Errors
    /// The request cannot be judged, its directories are none on this machine (unless the setting is frozen), or the decision cannot
    /// be recorded: then it must not be carried out.
    pub fn check(&self, request: &Request, setting: &Setting) -> Result<Checked, Error> {
        places_exist(request, setting)?;
        let (request, environment) = &self.resumed_for(request, setting);
        let arena = Arena::take();
        let arena = arena.bump();
        if setting.frozen {
            let Judged { plan, verdict } = self.judge_with(arena, request, environment, setting)?;
            let mut checked = Checked::of(verdict);
            checked.plan = setting.plan.then(|| PlanReport::new(&plan));
            return Ok(checked);
        }
        // Whoever only wants to know what shward would do uses up no answer and makes no attempt.
        let (judged, checked) = if setting.contained {
            let judged = self.judge_with(arena, request, environment, setting)?;
            let checked = Checked::new(&judged.verdict);
            (judged, checked)
        } else {
            let environment: Vec<_> = std::env::var_os("PATH")
                .map(|path| (b"PATH".to_vec(), path.as_bytes().to_vec()))
                .into_iter()
                .collect();
            let around = Circumstances {
                request,
                contained: false,
                counted: true,
                environment: &environment,
                permits: None,
                wanted: Wanted::default(),
            };
            let Settled { judged, checked } = self.settle(&around, || self.judge(arena, request, setting))?;
            (judged, checked)
        };
        if let Some(log) = self.log() {
            let judgement = Judgement {
                request,
                policy: self.policy(),
                checked: &checked,
                contained: setting.contained,
                host: setting.host,
                grant: None,
            };
            log.append(&judgement.record(if setting.host.is_some() { Event::Hook } else { Event::Check }))?;
        }
        Ok(with_plan(checked, &judged, setting))
    }

    /// Decides about a request and records nothing, for explanation only.
    ///
    /// # Errors
    /// The request cannot be judged, or its directories are none on this machine (unless the setting is frozen).
    pub fn examine(&self, request: &Request, setting: &Setting) -> Result<Checked, BadRequest> {
        places_exist(request, setting)?;
        let (request, environment) = &self.resumed_for(request, setting);
        let arena = Bump::new();
        let judged = self.judge_with(&arena, request, environment, setting)?;
        Ok(with_plan(Checked::new(&judged.verdict), &judged, setting))
    }

    /// Whether shward itself would run, in its sandbox and unasked, what is asked about when somebody else carries it out, and
    /// it would be of use: nothing that it is seen to do is kept from it there. Records nothing.
    #[must_use]
    pub fn runs_unasked(&self, request: &Request, setting: &Setting) -> bool {
        let contained = Setting { contained: true, plan: false, ..*setting };
        let (request, environment) = &self.resumed_for(request, &contained);
        let arena = Bump::new();
        let Ok(judged) = self.judge_with(&arena, request, environment, &contained) else { return false };
        judged.verdict.decision() == Decision::Allow
            && judged.plan.effects.iter().all(|effect| comes_through(&effect.kind))
    }

    /// The request as its session goes on, and the environment of a contained command. A host says itself where its agent is.
    fn resumed_for<'r>(&self, request: &'r Request, setting: &Setting) -> (Cow<'r, Request>, Variables) {
        let mut environment = match setting.contained && !setting.frozen {
            true => crate::environment::of_policy(self.policy(), &request.home),
            false => Vec::new(),
        };
        let goes_on = self.sessions.is_some() && request.session.is_some();
        if !goes_on || setting.frozen || setting.host.is_some() {
            return (Cow::Borrowed(request), environment);
        }
        let Ok(resolved) = request.resolved() else { return (Cow::Borrowed(request), environment) };
        (Cow::Owned(self.resumed(resolved, &mut environment)), environment)
    }
}

/// Whether an effect is the same in the sandbox, as far as it can be told.
const fn comes_through(kind: &EffectKind<'_>) -> bool {
    match kind {
        EffectKind::Write { target, .. }
        | EffectKind::Metadata { target, .. }
        | EffectKind::Delete { target, .. } => {
            matches!(
                target.scope,
                Scope::Harmless | Scope::Product | Scope::Workspace | Scope::Repository | Scope::Unknown
            )
        }
        EffectKind::Read { .. }
        | EffectKind::List { .. }
        | EffectKind::Execute { .. }
        | EffectKind::Code { .. }
        | EffectKind::Vcs { .. }
        | EffectKind::Unknown { .. } => true,
        _ => false,
    }
}

/// Names and values of environment variables.
type Variables = Vec<(Vec<u8>, Vec<u8>)>;

/// Most bytes that a thread keeps from one check to the next. A command takes some seventy times its length, and memory that
/// has to be asked for anew costs as much as the judgement.
const KEPT: usize = 8 << 20;

thread_local! {
    static SPARE: RefCell<Bump> = RefCell::new(Bump::new());
}

/// The arena of one check. Its memory serves the next check on the same thread, unless it has become large.
struct Arena(Bump);

impl Arena {
    fn take() -> Self {
        Self(SPARE.try_with(RefCell::take).unwrap_or_default())
    }

    const fn bump(&self) -> &Bump {
        &self.0
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.0.reset();
        if self.0.allocated_bytes() <= KEPT {
            let arena = std::mem::take(&mut self.0);
            // A thread that ends has no use for it.
            let _ = SPARE.try_with(|spare| spare.replace(arena));
        }
    }
}

/// Refuses what starts in a directory that is not there: nobody can carry it out there, and whoever does so elsewhere does
/// something else than what was decided about.
fn places_exist(request: &Request, setting: &Setting) -> Result<(), BadRequest> {
    if setting.frozen {
        return Ok(());
    }
    request.validate()?;
    request.validate_directories()
}

fn with_plan(mut checked: Checked, judged: &Judged<'_>, setting: &Setting) -> Checked {
    checked.plan = setting.plan.then(|| PlanReport::new(&judged.plan));
    checked
}
