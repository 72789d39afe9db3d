//! The composition: request → plan → verdict.

use crate::machine::Once;
use crate::reviewers::Reviewers;
use crate::running::Running;
use crate::undo::Undoing;
use crate::{Action, BadRequest, Machine, Request, Sessions, leash};
use bumpalo::Bump;
use shward_analysis::{Frozen, Plan, Source, World, analyze};
use shward_audit::Log;
use shward_policy::{Context, Decision, Policy, Verdict, decide_request};
use shward_review::StateDir;
use shward_syntax::Dialect;
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
    pub(crate) fn judge_with<'a>(
        &self,
        arena: &'a Bump,
        request: &'a Request,
        environment: &[(Vec<u8>, Vec<u8>)],
        setting: &Setting,
    ) -> Result<Judged<'a>, BadRequest> {
        if setting.frozen {
            self.judge_in(arena, request, &Frozen, setting.contained)
        } else if setting.contained {
            self.judge_here(arena, request, &self.with_own(Machine::ours(environment), request), true)
        } else {
            self.judge_here(arena, request, &self.with_own(Machine::of_others(), request), false)
        }
    }

    /// Judges a request on this machine. What changes something is also held against the other names of what is protected, for
    /// which nobody looks before.
    pub(crate) fn judge_here<'a>(
        &self,
        arena: &'a Bump,
        request: &'a Request,
        machine: &Machine,
        contained: bool,
    ) -> Result<Judged<'a>, BadRequest> {
        let world = Once::new(machine);
        let source = self.source(arena, request, &world)?;
        let judged = self.judge_source(arena, source, request, &request.cwd, &world, contained);
        if judged.verdict.decision() == Decision::Deny || !leash::may_change(&judged.plan) {
            return Ok(judged);
        }
        let led = leash::Found::few_links(request)?;
        if !led.is_empty() {
            let machine = machine.clone().with_led(led);
            return Ok(self.under_other_names(arena, source, request, &Once::new(&machine), contained, None));
        }
        Ok(self.under_other_names(arena, source, request, &world, contained, Some(judged)))
    }

    /// The verdict with files that are the same as a protected one.
    fn under_other_names<'a>(
        &self,
        arena: &'a Bump,
        source: Source<'a>,
        request: &'a Request,
        world: &dyn World,
        contained: bool,
        judged: Option<Judged<'a>>,
    ) -> Judged<'a> {
        let judged = judged
            .unwrap_or_else(|| self.judge_source(arena, source, request, &request.cwd, world, contained));
        match leash::under_other_names(arena, &judged.plan, request) {
            Some(plan) => self.decided(plan, source, request, &request.cwd, world, contained),
            None => judged,
        }
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
        let source = self.source(arena, request, world)?;
        Ok(self.judge_source(arena, source, request, &request.cwd, world, contained))
    }

    /// What a request asks for, as the policy rewrites it.
    fn source<'a>(
        &self,
        arena: &'a Bump,
        request: &'a Request,
        world: &dyn World,
    ) -> Result<Source<'a>, BadRequest> {
        request.validate()?;
        Ok(match &request.action {
            Action::Command(text) => Source::Command(text.as_bytes()),
            Action::Argv(argv) => {
                let words: Vec<&[u8]> = argv.iter().map(|a| a.as_bytes()).collect();
                Source::Argv(arena.alloc_slice_fill_iter(self.policy.rewritten(&words, world)))
            }
        })
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
        self.decided(plan, source, request, cwd, world, contained)
    }

    /// The verdict on a plan.
    fn decided<'a>(
        &self,
        plan: Plan<'a>,
        source: Source<'a>,
        request: &'a Request,
        cwd: &'a Path,
        world: &dyn World,
        contained: bool,
    ) -> Judged<'a> {
        let context = Context {
            contained,
            cwd: cwd.as_os_str().as_bytes(),
            workspace: request.workspace.as_os_str().as_bytes(),
            home: request.home.as_os_str().as_bytes(),
        };
        let verdict = decide_request(&self.policy, &plan, &context, &source, world);
        Judged { plan, verdict }
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
}
