//! The composition: request → plan → verdict, recorded.

use crate::changes::Undoing;
use crate::machine::Once;
use crate::record::Judgement;
use crate::report::{Checked, PlanReport};
use crate::review::{Circumstances, Reviewers, Settled};
use crate::running::Running;
use crate::{Action, BadRequest, Error, Machine, Request, Sessions};
use bumpalo::Bump;
use shward_analysis::{EffectKind, Frozen, Plan, Scope, Source, World, analyze};
use shward_audit::{Event, Log};
use shward_policy::{Context, Decision, Policy, Verdict, decide_request};
use shward_review::StateDir;
use shward_syntax::Dialect;
use std::borrow::Cow;
use std::cell::RefCell;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A policy and the log that its decisions go into.
#[derive(Debug)]
pub struct Firewall {
    policy: Policy,
    log: Option<Log>,
    reviewers: Reviewers,
    running: Running,
    /// Where it is remembered which containments were tested, and what was found in directories.
    pub(crate) self_test: Option<StateDir>,
    /// Whether containments are tested before they are used.
    pub(crate) self_tested: bool,
    undoing: Option<Undoing>,
    /// Where sessions go on.
    pub(crate) sessions: Option<Sessions>,
}

/// How a request is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Setting {
    /// Judge as if shward will run the command in its sandbox; else as if somebody else will.
    pub contained: bool,
    /// Consult no file system and record nothing.
    pub frozen: bool,
    /// Put the plan into the report.
    pub plan: bool,
    /// The host that asks, by the name of its wire format, for the record.
    pub host: Option<&'static str>,
}

impl Setting {
    /// Somebody else will run it, on this machine.
    #[must_use]
    pub const fn others() -> Self {
        Self { contained: false, frozen: false, plan: false, host: None }
    }

    /// The answer depends on the request alone.
    #[must_use]
    pub const fn frozen() -> Self {
        Self { contained: false, frozen: true, plan: false, host: None }
    }
}

/// A plan and the verdict on it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Judged<'a> {
    /// What the command may do.
    pub plan: Plan<'a>,
    /// What was decided.
    pub verdict: Verdict,
}

impl Firewall {
    /// A firewall that keeps no record.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            log: None,
            reviewers: Reviewers::new(),
            running: Running::default(),
            self_test: None,
            self_tested: false,
            undoing: None,
            sessions: None,
        }
    }

    /// Records every decision in this log.
    #[must_use]
    pub fn with_log(mut self, log: Log) -> Self {
        self.log = Some(log);
        self
    }

    /// Limits attempts, and has somebody answer what the policy asks.
    #[must_use]
    pub fn with_reviewers(mut self, reviewers: Reviewers) -> Self {
        self.reviewers = reviewers;
        self
    }

    /// Runs commands on an overlay, whose changes are committed when they are over and can be taken back, for as long as the policy
    /// says.
    #[must_use]
    pub fn with_undoing(mut self, undoing: Undoing) -> Self {
        self.undoing = Some(undoing.of_policy(&self.policy));
        self
    }

    /// Where layers lie.
    pub(crate) fn undoing(&self) -> Option<&Undoing> {
        self.undoing.as_ref()
    }

    /// Who answers.
    pub(crate) fn reviewers(&self) -> &Reviewers {
        &self.reviewers
    }

    /// What runs.
    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The log.
    pub(crate) fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    /// Judges a request and records nothing. The plan lives in the arena.
    ///
    /// # Errors
    /// The request cannot be judged.
    pub fn judge<'a>(
        &self,
        arena: &'a Bump,
        request: &'a Request,
        setting: &Setting,
    ) -> Result<Judged<'a>, BadRequest> {
        let environment = match setting.contained && !setting.frozen {
            true => crate::environment::of_policy(&self.policy, &request.home),
            false => Vec::new(),
        };
        self.judge_with(arena, request, &environment, setting)
    }

    /// The same with the environment that a contained command gets.
    fn judge_with<'a>(
        &self,
        arena: &'a Bump,
        request: &'a Request,
        environment: &[(Vec<u8>, Vec<u8>)],
        setting: &Setting,
    ) -> Result<Judged<'a>, BadRequest> {
        if setting.frozen {
            self.judge_in(arena, request, &Frozen, setting.contained)
        } else if setting.contained {
            let machine = self.with_own(Machine::ours(environment), request);
            self.judge_in(arena, request, &Once::new(&machine), true)
        } else {
            let machine = self.with_own(Machine::of_others(), request);
            self.judge_in(arena, request, &Once::new(&machine), false)
        }
    }

    /// The request as its session goes on, and the environment of a contained command. A host says itself where its agent is.
    fn resumed_for<'r>(&self, request: &'r Request, setting: &Setting) -> (Cow<'r, Request>, Variables) {
        let mut environment = match setting.contained && !setting.frozen {
            true => crate::environment::of_policy(&self.policy, &request.home),
            false => Vec::new(),
        };
        let goes_on = self.sessions.is_some() && request.session.is_some();
        if !goes_on || setting.frozen || setting.host.is_some() {
            return (Cow::Borrowed(request), environment);
        }
        let Ok(resolved) = request.resolved() else { return (Cow::Borrowed(request), environment) };
        (Cow::Owned(self.resumed(resolved, &mut environment)), environment)
    }

    /// The machine, with the log and the stores as places of ours.
    pub(crate) fn with_own(&self, machine: Machine, request: &Request) -> Machine {
        let stores = self.reviewers.directories().map(|directory| directory.path());
        let machine = self.log.iter().map(Log::path).chain(stores).fold(machine, Machine::with_own);
        match shward_sandbox::overlay::beside(&request.workspace) {
            Some(layers) => machine.with_own(&layers),
            None => machine,
        }
    }

    /// Judges a request in a given world.
    ///
    /// # Errors
    /// The request cannot be judged.
    pub fn judge_in<'a>(
        &self,
        arena: &'a Bump,
        request: &'a Request,
        world: &dyn World,
        contained: bool,
    ) -> Result<Judged<'a>, BadRequest> {
        request.validate()?;
        let source = match &request.action {
            Action::Command(text) => Source::Command(text.as_bytes()),
            Action::Argv(argv) => {
                let words: Vec<&[u8]> = argv.iter().map(|a| a.as_bytes()).collect();
                Source::Argv(arena.alloc_slice_fill_iter(self.policy.rewritten(&words, world)))
            }
        };
        Ok(self.judge_source(arena, source, request, &request.cwd, world, contained))
    }

    /// Judges a source in a given directory, the rest as the request has it.
    pub(crate) fn judge_source<'a>(
        &self,
        arena: &'a Bump,
        source: Source<'a>,
        request: &'a Request,
        cwd: &'a Path,
        world: &dyn World,
        contained: bool,
    ) -> Judged<'a> {
        let asked = shward_analysis::Request {
            source,
            cwd: cwd.as_os_str().as_bytes(),
            workspace: request.workspace.as_os_str().as_bytes(),
            home: request.home.as_os_str().as_bytes(),
            dialect: Dialect::Bash,
        };
        let plan = analyze(arena, &asked, world);
        let context = Context { contained, cwd: asked.cwd, workspace: asked.workspace, home: asked.home };
        let verdict = decide_request(&self.policy, &plan, &context, &source, world);
        Judged { plan, verdict }
    }

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
            };
            let Settled { judged, checked } = self.settle(&around, || self.judge(arena, request, setting))?;
            (judged, checked)
        };
        if let Some(log) = &self.log {
            let judgement = Judgement {
                request,
                policy: &self.policy,
                checked: &checked,
                contained: setting.contained,
                host: setting.host,
                grant: None,
            };
            log.append(&judgement.record(if setting.host.is_some() { Event::Hook } else { Event::Check }))?;
        }
        Ok(with_plan(checked, &judged, setting))
    }

    /// The request with its argument list as the policy rewrites it, so that what is judged is what is run.
    pub(crate) fn rewritten(&self, mut request: Request) -> Request {
        if let Action::Argv(argv) = &request.action {
            let words: Vec<&[u8]> = argv.iter().map(String::as_bytes).collect();
            let rewritten = self.policy().rewritten(&words, &Machine::of_others());
            if rewritten.len() != words.len() {
                let text = |word: &&[u8]| String::from_utf8_lossy(word).into_owned();
                request.action = Action::Argv(rewritten.iter().map(text).collect());
            }
        }
        request
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
}

/// Whether an effect is the same in the sandbox, as far as it can be told.
const fn comes_through(kind: &EffectKind<'_>) -> bool {
    match kind {
        EffectKind::Write { target, .. }
        | EffectKind::Metadata { target, .. }
        | EffectKind::Delete { target } => {
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
