//! Deciding and then running, confined to what was decided.

use crate::confine::{self, Shell};
use crate::outcome::{Ending, Outcome};
use crate::record::{self, Judgement};
use crate::report::Checked;
use crate::{Error, Firewall, Request, Setting, environment};
use bumpalo::Bump;
use shward_audit::{Digest, Event, StreamHasher};
use shward_policy::Decision;
use shward_sandbox::{Cancel, Exit, OnOutput, Options, Plan, Stream};
use std::time::Duration;

/// How far a run is contained. It chooses within what the policy grants and never widens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Containment {
    /// Nothing but the private temporary directories can be written.
    ReadOnly,
    /// The workspace can be written as far as the verdict grants it; there is no network.
    #[default]
    WorkspaceWrite,
    /// As `WorkspaceWrite`, with a loopback interface of its own.
    Loopback,
}

impl Containment {
    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::Loopback => "loopback",
        }
    }

    /// The level of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::ReadOnly, Self::WorkspaceWrite, Self::Loopback].into_iter().find(|c| c.name() == name)
    }
}

/// How to run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunOptions {
    /// Everything is killed after this time. Default: 300 seconds.
    pub timeout: Duration,
    /// How many bytes of each stream are kept. Default: 1,000,000.
    pub max_output: usize,
    /// How far the run is contained.
    pub containment: Containment,
    /// Kills the run from another thread.
    pub cancel: Option<Cancel>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(300),
            max_output: 1_000_000,
            containment: Containment::default(),
            cancel: None,
        }
    }
}

impl Firewall {
    /// Decides about a request as `contained`, records the decision, and runs it in the sandbox if it is allowed.
    /// `on_output` gets every piece of output as it comes.
    ///
    /// # Errors
    /// The request cannot be judged, the decision cannot be recorded, or the sandbox cannot be built. Then nothing ran,
    /// except for [`Error::Record`] after the command has ended: that it ran is recorded, how it ended is not.
    pub fn run(
        &self,
        request: &Request,
        options: &RunOptions,
        on_output: OnOutput<'_>,
    ) -> Result<Outcome, Error> {
        request.validate_directories()?;
        let environment = environment::contained(&request.home);
        let arena = Bump::new();
        let judged = self.judge(&arena, request, &Setting { contained: true, ..Setting::others() })?;
        let checked = Checked::new(&judged.verdict);
        let plan = match judged.verdict.grant() {
            Some(grant) if judged.verdict.decision() == Decision::Allow => Some(
                confine::confinement(request, grant, options.containment, &environment, &Shell::find()?)?
                    .prepare()?,
            ),
            _ => None,
        };
        let run = self.record_decision(request, &judged.verdict, plan.as_ref())?;
        let Some(plan) = plan else {
            return Ok(Outcome::refused(checked, request.call_id.clone()));
        };
        match execute(&plan, options, on_output) {
            Ok((ending, streams)) => {
                if let (Some(log), Some(run)) = (self.log(), run) {
                    log.append(&record::ended(request, run, &ending, streams))?;
                }
                Ok(Outcome::ended(checked, ending, request.call_id.clone()))
            }
            Err(error) => {
                if let (Some(log), Some(run)) = (self.log(), run) {
                    log.append(&record::not_started(request, run, error.to_string()))?;
                }
                Err(error.into())
            }
        }
    }

    /// The sandbox plan that [`run`](Self::run) would carry out for a verdict, or `None` when nothing would run.
    ///
    /// # Errors
    /// The sandbox cannot be prepared.
    pub fn sandbox_plan(&self, request: &Request, containment: Containment) -> Result<Option<Plan>, Error> {
        let arena = Bump::new();
        let judged = self.judge(&arena, request, &Setting { contained: true, ..Setting::others() })?;
        let Some(grant) = judged.verdict.grant() else { return Ok(None) };
        let environment = environment::contained(&request.home);
        Ok(Some(confine::confinement(request, grant, containment, &environment, &Shell::find()?)?.prepare()?))
    }

    fn record_decision(
        &self,
        request: &Request,
        verdict: &shward_policy::Verdict,
        plan: Option<&Plan>,
    ) -> Result<Option<u64>, Error> {
        let Some(log) = self.log() else { return Ok(None) };
        let grant = plan.map(|p| Digest::of(&p.canonical()));
        let judgement =
            Judgement { request, policy: self.policy(), verdict, contained: true, host: None, grant };
        Ok(Some(log.append(&judgement.record(Event::Run))?.seq))
    }
}

fn execute(
    plan: &Plan,
    options: &RunOptions,
    on_output: OnOutput<'_>,
) -> Result<(Ending, [shward_audit::StreamDigest; 2]), shward_sandbox::SandboxError> {
    let (mut out, mut err) = (StreamHasher::new(), StreamHasher::new());
    let mut relay = |stream: Stream, bytes: &[u8]| {
        match stream {
            Stream::Stdout => out.update(bytes),
            Stream::Stderr => err.update(bytes),
        }
        on_output(stream, bytes);
    };
    let mut sandbox = Options::default();
    sandbox.timeout = Some(options.timeout);
    sandbox.max_output = options.max_output;
    sandbox.on_output = Some(&mut relay);
    sandbox.cancel.clone_from(&options.cancel);
    let result = shward_sandbox::run(plan, sandbox)?;
    let (exit_code, signal) = match result.exit {
        Exit::Exited(code) => (Some(code), None),
        Exit::Signaled(signal) => (None, Some(signal)),
    };
    let ending = Ending {
        exit_code,
        signal,
        timed_out: result.timed_out,
        cancelled: result.cancelled,
        truncated: result.stdout.truncated || result.stderr.truncated,
        duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
        stdout: result.stdout,
        stderr: result.stderr,
    };
    Ok((ending, [out.finish(), err.finish()]))
}
