//! Deciding and then running, confined to what was decided.

use crate::changes::{self, Asked, Guard};
use crate::confine::{self, Beyond, First};
use crate::direct::{Carried, Sandboxed};
use crate::gate::{Gated, Pinned, Predicted, Programs};
use crate::git::is_run_by_git;
use crate::hints::Ran;
use crate::leash::Inside;
use crate::limits::DEFAULT_TIMEOUT;
use crate::machine::own_program;
use crate::options::{Containment, RunOptions};
use crate::outcome::{ChangesReport, Ending, Outcome};
use crate::record::{self, Judgement};
use crate::report::Checked;
use crate::review::{Circumstances, Settled};
use crate::running::Entry;
use crate::sessions::Telling;
use crate::special::{Special, is_guarded, is_store, lies_in_started, place_in_project};
use crate::{ConnectionReport, Error, Firewall, Machine, Request, environment, hints, network};
use bumpalo::Bump;
use shward_audit::{Digest, Event, Record, StreamHasher};
use shward_policy::settings::ExecGate;
use shward_policy::{Decision, Grant, Network, Reach};
use shward_review::Wanted;
use shward_sandbox::{
    Ahead, Cancel, Confinement, Gap, Guarantee, Interrupts, Judge, OnOutput, Options, Plan, Rest, Space,
    Stream,
};
use std::cell::Cell;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Firewall {
    /// Runs a request, in namespaces that are being made already, or none.
    pub(crate) fn run_ahead(
        &self,
        request: &Request,
        options: &RunOptions,
        ahead: Option<Ahead>,
        on_output: OnOutput<'_>,
    ) -> Result<Outcome, Error> {
        request.validate()?;
        request.validate_directories()?;
        let mut options = self.limited(options);
        let mut passed = self.passed(&options, on_output);
        let on_output: OnOutput<'_> = &mut passed;
        let own = self.own(request, &options);
        // Most of what is asked of `run` is allowed, and what is not costs the helper's time and not ours.
        let ahead = ahead.or_else(|| {
            let ahead = if own.is_none() { Ahead::start() } else { None };
            ahead.inspect(Ahead::spread)
        });
        let request = self.rewritten(request.resolved()?);
        let mut environment = environment::of_policy(self.policy(), &request.home);
        let request = &self.resumed(request, &mut environment);
        let _entry = self.entered(request, &mut options)?;
        let options = &options;
        let arena = Bump::new();
        let world = self.with_own(Machine::ours(&environment), request);
        self.refuse_above_ceiling(options)?;
        self.refuse_unconfined(options)?;
        let confined = options.containment.confines();
        let timeout = Cell::new(DEFAULT_TIMEOUT);
        let judge = || {
            let judged = self.judge_here(&arena, request, &world, confined)?;
            timeout.set(self.timeout(&judged.plan, options).min(options.at_most.unwrap_or(Duration::MAX)));
            Ok(judged)
        };
        let permits = |grant: &Grant| self.permissions(request, grant, options, timeout.get());
        let around = Circumstances {
            request,
            contained: confined,
            counted: !options.again,
            environment: &environment,
            permits: Some(&permits),
            wanted: Wanted::default(),
        };
        let Settled { judged, checked } = self.settle(&around, judge)?;
        // There is no grant for what is denied, whatever anybody answers.
        let granted = judged.verdict.grant().filter(|_| checked.decision == Decision::Allow);
        let performed = own.as_ref().zip(granted).and_then(|(own, grant)| {
            let performed = own.performed(request, &judged.plan, grant, &environment)?;
            performed.is_whole(options, timeout.get()).then_some(performed)
        });
        if let Some(performed) = performed {
            return self.carry_out(&performed, request, checked, options, timeout.get(), on_output);
        }
        let prepared = granted.map(|grant| {
            let moved = changes::moved_directories(&judged.plan, request);
            let ready = self.prepare(request, grant, options, &environment, ahead.as_ref(), moved)?;
            self.tested(options.containment).map(|()| ready)
        });
        let ready = match prepared.transpose() {
            Ok(ready) => ready,
            Err(error) => return Err(self.not_started(request, &checked, options, error)?),
        };
        let carried = ready.as_ref().map_or(Carried::Not, |ready| Carried::Confined(&ready.plan));
        let run = self.record_decision(request, &checked, options, carried)?;
        let Some(mut ready) = ready else {
            return Ok(Outcome::refused(checked, request.call_id.clone()));
        };
        let programs = (options.gate != ExecGate::Off).then(|| {
            let own = match confine::first(request, &environment, ready.telling.is_some()) {
                Ok(First::Program(program)) => Some(Pinned::of_command(&program)),
                Ok(First::OneOfSeveral) => None,
                Err(_) => Some(None),
            };
            let search = environment.iter().find(|(n, _)| n == b"PATH").map(|(_, v)| v.as_slice());
            let predicted = Predicted::all(&judged.plan, search.unwrap_or_default());
            let run =
                Gated { firewall: self, request, options, timeout: timeout.get(), environment: &environment };
            Programs::new(run, &world, own, predicted)
        });
        ready.telling.as_mut().map_or(Ok(()), Telling::listen).map_err(Error::Session)?;
        // What is left of a sandbox when the command and all that it started have ended goes while that is recorded.
        let mut rest = Rest::default();
        // Kept until what came of the command is recorded.
        let interrupts = options.interruptible.then(Interrupts::default);
        let held = Held { rest: &mut rest, interrupts: interrupts.as_ref() };
        match execute(&ready, ahead, options, timeout.get(), programs, on_output, held) {
            Ok((mut ending, streams)) => {
                let lived =
                    Lived { plan: &judged.plan, environment: &environment, interrupts: interrupts.as_ref() };
                self.settled(request, options, &mut ready, lived, &mut ending);
                let record = run.map(|run| record::ended(request, run, &ending, streams));
                self.ended(request, checked, ending, record)
            }
            Err(error) => {
                // What kept the command from starting is what the caller has to know.
                if let (Some(log), Some(run)) = (self.log(), run) {
                    let _ = log.append(&record::not_started(request, run, error.to_string()));
                }
                Err(self.lack(error))
            }
        }
    }

    /// Puts a run on the list before anything is decided, so that it can be cancelled while somebody is asked, too.
    fn entered(&self, request: &Request, options: &mut RunOptions) -> Result<Option<Entry<'_>>, Error> {
        let Some(call_id) = &request.call_id else { return Ok(None) };
        let cancel = options.cancel.take().map_or_else(Cancel::new, Ok)?;
        options.cancel = Some(cancel.clone());
        Ok(Some(self.running().enter(call_id, cancel)))
    }

    /// What became of the run's changes and of its session, and what it could not reach.
    fn settled(
        &self,
        request: &Request,
        options: &RunOptions,
        ready: &mut Ready,
        lived: Lived<'_>,
        ending: &mut Ending,
    ) {
        if ready.reach.is_none() && options.containment.confines() {
            ending.unreached = network::unreached(lived.plan, ending.exit_code == Some(0));
        }
        if options.containment.confines() {
            ending.hints = hints::of(ending, Ran::of(&ready.plan, ready.layer.is_some()));
        }
        let interrupted = || lived.interrupts.is_some_and(|interrupts| interrupts.came().is_some());
        let cancelled = || options.cancel.as_ref().is_some_and(Cancel::is_cancelled);
        match (ready.layer.take(), ready.live.take()) {
            // The disk is as it was, and what came of it can be recorded.
            (Some(layer), _) if ending.disk_exceeded.is_some() => {
                drop(layer);
                ending.changes = Some(ChangesReport::default());
            }
            (Some(layer), _) => {
                let guard = Guard::new(request, std::mem::take(&mut ready.places));
                let asked = Asked {
                    interrupted: &interrupted,
                    cancelled: &cancelled,
                    left: ending.timeout.saturating_sub(Duration::from_millis(ending.duration_ms)),
                };
                ending.changes = Some(self.settle_changes(layer, &guard, request, options, &asked));
            }
            (None, Some(mut reason)) => {
                let whole;
                // What others judged before they saw what this run has made is committed by then, and looked at with it. What they judge
                // from now on they judge with it.
                let through = self.undoing().is_none_or(|undoing| {
                    undoing.is_through(&request.workspace, &|| interrupted() || cancelled())
                });
                if !through {
                    reason.push_str("; others were committing meanwhile, and what they brought may not have been looked at");
                    ending.unseen = true;
                }
                (ending.moved_aside, whole) = ready.special.refuse_created(request);
                if !whole {
                    reason.push_str("; not all of what it created could be looked at");
                    ending.unseen = true;
                }
                ending.live = Some(reason);
            }
            (None, None) => {}
        }
        if let Some(telling) = &mut ready.telling
            && let Err(error) = self.remember(request, lived.environment, telling)
        {
            ending.session_lost = Some(error.to_string());
        }
        ending.interrupted = lived.interrupts.and_then(Interrupts::came);
    }

    /// Records how a command ended.
    pub(crate) fn ended(
        &self,
        request: &Request,
        checked: Checked,
        ending: Ending,
        record: Option<Record>,
    ) -> Result<Outcome, Error> {
        let outcome = Outcome::ended(checked, ending, request.call_id.clone());
        match (self.log(), record) {
            (Some(log), Some(record)) => match log.append(&record) {
                Ok(_) => Ok(outcome),
                Err(error) => Err(Error::Unrecorded { outcome: Box::new(outcome), error }),
            },
            _ => Ok(outcome),
        }
    }

    /// Records a decision that nothing comes of, and gives back why.
    fn not_started(
        &self,
        request: &Request,
        checked: &Checked,
        options: &RunOptions,
        error: Error,
    ) -> Result<Error, Error> {
        if let (Some(run), Some(log)) =
            (self.record_decision(request, checked, options, Carried::Not)?, self.log())
        {
            log.append(&record::not_started(request, run, error.to_string()))?;
        }
        Ok(error)
    }

    /// How [`run`](Self::run) would carry out a request.
    ///
    /// # Errors
    /// The request cannot be judged, or the sandbox cannot be prepared.
    pub fn sandbox_plan(&self, request: &Request, options: &RunOptions) -> Result<Sandboxed, Error> {
        request.validate()?;
        request.validate_directories()?;
        let options = &self.limited(options);
        let request = self.rewritten(request.resolved()?);
        let mut environment = environment::of_policy(self.policy(), &request.home);
        let request = &self.resumed(request, &mut environment);
        let arena = Bump::new();
        let world = self.with_own(Machine::ours(&environment), request);
        self.refuse_unconfined(options)?;
        let judged = self.judge_here(&arena, request, &world, options.containment.confines())?;
        let Some(grant) = judged.verdict.grant() else { return Ok(Sandboxed::NotRun) };
        if let Some(own) = self.own(request, options)
            && own.performed(request, &judged.plan, grant, &environment).is_some()
        {
            return Ok(Sandboxed::NoProcess(own.script()));
        }
        Ok(Sandboxed::Plan(Box::new(
            self.prepare(request, grant, options, &environment, None, Vec::new())?.plan,
        )))
    }

    /// The sandbox for a granted request. A protection that the kernel cannot give is refused; what only makes the
    /// command see less, or limits an operator's root less tightly, is not.
    fn prepare(
        &self,
        request: &Request,
        grant: &Grant,
        options: &RunOptions,
        environment: &[(Vec<u8>, Vec<u8>)],
        ahead: Option<&Ahead>,
        moved: Vec<PathBuf>,
    ) -> Result<Ready, Error> {
        let containment = options.containment;
        let telling = self.telling(request)?;
        let reach = self.reach(grant, options)?;
        let confined = containment.confines();
        let lacking = shward_sandbox::lacking(&self.accepted());
        let direct = confine::direct(request, environment, telling.is_some());
        let mut special = match confined {
            true => {
                let needless = Special::homes_are_needless(request, grant, direct.as_ref())
                    && !lacking.contains(&Guarantee::OwnNamespaces);
                Special::find(request, self.self_test.as_ref(), needless)
            }
            false => Special::default(),
        };
        if special.incomplete {
            return Err(match special.unread.take() {
                Some(directory) => Error::NotRead(directory),
                None => Error::NotSeen(request.workspace.clone()),
            });
        }
        let ours = self.ours();
        let is_ours = |place: &Path| {
            place.iter().any(is_store)
                || ours.iter().any(|own| place.starts_with(own))
                || self.undoing().is_some_and(|undoing| undoing.holds(place))
        };
        if confined && is_ours(&request.workspace) {
            return Err(Error::OfOurs(request.workspace.clone()));
        }
        // The program may be looked at and started, but not changed.
        let program = own_program().map(Path::to_owned);
        let mut places: Vec<PathBuf> =
            ours.iter().cloned().chain(program).filter(|path| path.starts_with(&request.workspace)).collect();
        let writable = confine::is_writable(grant, containment);
        let (mut layer, live) = match writable {
            true => match self.layer(request, options, &lacking)? {
                Ok(layer) => (Some(layer), None),
                Err(reason) => (None, Some(reason)),
            },
            false => (None, None),
        };
        // What only reads the workspace changes nothing of what is protected in it, so nobody has to look for that.
        let git = match writable {
            true => special.git_targets(request).ok_or_else(|| Error::NotSeen(request.workspace.clone()))?,
            false => Vec::new(),
        };
        if !writable {
            special.protected.clear();
        } else if let Some(layer) = &mut layer {
            self.make_movable(layer, moved, &special)?;
            if let Some(ahead) = ahead {
                ahead.overlay(&request.workspace, layer.layer());
            }
            places.extend(git);
            // They are judged when it is committed.
            places.extend(special.link_targets());
            special.protected.clear();
        } else {
            let obeyed = || {
                let place = place_in_project(request);
                is_run_by_git(&request.workspace) || place.iter().any(is_guarded) || lies_in_started(&place)
            };
            if live.is_some() && confined && obeyed() {
                return Err(Error::OfGit(request.workspace.clone()));
            }
            if live.is_some() && confined && !special.find_live(request) {
                return Err(Error::TooMuch(request.workspace.clone()));
            }
            special.protected.extend(places.iter().cloned());
            special.protected.extend(Inside::find(request).there(request, is_guarded));
            // What is not there yet cannot be mounted over.
            let inside = git.into_iter().filter(|path| path.starts_with(&request.workspace));
            let (there, missing) = inside.partition::<Vec<_>, _>(|path| path.exists());
            special.protected.extend(there);
            special.missing = missing.into_iter().filter(|path| path.symlink_metadata().is_err()).collect();
        }
        let mut confinement = confine::confinement(
            request,
            grant,
            containment,
            environment,
            &special,
            Beyond {
                layer: layer.as_ref().map(|run| run.layer().clone()),
                proxied: reach.is_some(),
                telling: telling.as_ref(),
                direct,
            },
        )?;
        if !confined {
            confinement = confinement.unconfined();
        }
        if confined {
            // What is ours holds what other commands did, and who may open the log can lock it, so that nothing else is run
            // meanwhile.
            let kept = self.undoing().map(|undoing| undoing.directories()).unwrap_or_default();
            let apart = ours.into_iter().chain(kept).filter(|path| !request.workspace.starts_with(path));
            confinement = apart.fold(confinement, Confinement::hidden);
        }
        if options.gate != ExecGate::Off {
            confinement = confinement.gated();
        }
        if options.pty.is_some() {
            confinement = confinement.terminal();
        }
        if self.policy().requires("cgroup") {
            confinement = confinement.require_group();
        }
        let mut plan = (options.allow_exec.iter())
            .fold(confinement.limits(self.limits()), Confinement::allow_exec)
            .without(&lacking)
            .prepare()
            .map_err(|error| self.lack(error))?;
        if live.is_some() && self.bounds_writing() {
            plan = plan.with_gap(Gap::RunDisk);
        }
        match plan.gaps().iter().find(|gap| matches!(gap, Gap::ProtectedMissing(_) | Gap::ProtectedLink(_))) {
            Some(gap) => Err(Error::Unprotected(gap.to_string())),
            None => {
                let changes = layer.as_ref().map(|run| run.layer().upper());
                let straight = live.as_ref().map(|_| request.workspace.clone());
                let layers = layer.as_ref().map(shward_sandbox::overlay::Run::layer);
                let space = self.space(changes.or(straight).as_deref(), layers);
                match space.is_used_up() {
                    Some((_, bytes)) => Err(Error::DiskFull(request.workspace.clone(), bytes)),
                    None => Ok(Ready { plan, special, layer, live, places, reach, telling, space }),
                }
            }
        }
    }

    /// What a grant permits, for the person who is asked.
    pub(crate) fn permissions(
        &self,
        request: &Request,
        grant: &Grant,
        options: &RunOptions,
        timeout: Duration,
    ) -> Vec<String> {
        if !options.containment.confines() {
            let end = format!("is killed after {} s", timeout.as_secs());
            return vec!["is not confined: it may do what you may".to_owned(), end];
        }
        let network = match (self.reach(grant, options), grant.network, options.containment) {
            (Ok(Some(reach)), ..) => format!("reaches {reach}, and no other host"),
            (
                _,
                Network::None,
                Containment::ReadOnly | Containment::WorkspaceWrite | Containment::Granted,
            ) => "no network".to_owned(),
            _ => "no network but a loopback interface of its own".to_owned(),
        };
        let files = if options.containment == Containment::Speculate {
            "changes nothing: what it does is shown and dropped".to_owned()
        } else if confine::is_writable(grant, options.containment) {
            format!("changes files in {}, and in a /tmp of its own", request.workspace.display())
        } else {
            "changes no files but in a /tmp of its own".to_owned()
        };
        let end = format!("reads no secrets, and is killed after {} s", timeout.as_secs());
        vec![files, network, end]
    }

    /// The log and the directories of our stores, which have to be there to be protected.
    fn ours(&self) -> Vec<PathBuf> {
        let stores = self.reviewers().directories().chain(&self.self_test).filter_map(|directory| {
            directory.path().canonicalize().ok().or_else(|| {
                let _ = directory.create();
                directory.path().canonicalize().ok()
            })
        });
        let log = self.log().map(|log| log.path()).and_then(|path| {
            path.canonicalize().ok().or_else(|| {
                let _ = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
                path.canonicalize().ok()
            })
        });
        log.into_iter().chain(stores).collect()
    }

    pub(crate) fn record_decision(
        &self,
        request: &Request,
        checked: &Checked,
        options: &RunOptions,
        carried: Carried<'_>,
    ) -> Result<Option<u64>, Error> {
        let Some(log) = self.log() else { return Ok(None) };
        let plan = match carried {
            Carried::Confined(plan) => Some(plan),
            Carried::Not | Carried::Itself => None,
        };
        let grant = plan.map(|p| Digest::of(&p.canonical()));
        let judgement = Judgement {
            request,
            policy: self.policy(),
            checked,
            contained: options.containment.confines(),
            host: None,
            grant,
        };
        let missing = plan.iter().flat_map(|plan| plan.gaps()).filter_map(|gap| match gap {
            Gap::Accepted(guarantee) => Some(guarantee.name().to_owned()),
            Gap::NoGroup { .. } => Some("cgroup".to_owned()),
            Gap::RunDisk => Some("run-disk".to_owned()),
            _ => None,
        });
        let missing: Vec<String> = missing.collect();
        Ok(Some(
            log.append(&judgement.record(|mut decided| {
                decided.missing = missing;
                decided.unconfined = !options.containment.confines();
                decided.no_process = matches!(carried, Carried::Itself);
                Event::Run(decided)
            }))?
            .seq,
        ))
    }
}

/// How a run was seen, for what becomes of it.
struct Lived<'r> {
    plan: &'r shward_analysis::Plan<'r>,
    environment: &'r [(Vec<u8>, Vec<u8>)],
    interrupts: Option<&'r Interrupts>,
}

/// Everything that a run needs.
struct Ready {
    plan: Plan,
    special: Special,
    /// Where its changes go.
    layer: Option<shward_sandbox::overlay::Run>,
    /// Why they go straight to the workspace.
    live: Option<String>,
    /// What of the workspace is not the command's, by its place.
    places: Vec<PathBuf>,
    /// What is reached through the proxy.
    reach: Option<Reach>,
    /// What the shell of a session tells.
    telling: Option<Telling>,
    /// What it has to leave of the disks.
    space: Space,
}

/// What is held beyond the end of a command.
struct Held<'h> {
    rest: &'h mut Rest,
    interrupts: Option<&'h Interrupts>,
}

fn execute(
    ready: &Ready,
    ahead: Option<Ahead>,
    options: &RunOptions,
    timeout: Duration,
    programs: Option<Programs<'_>>,
    on_output: OnOutput<'_>,
    held: Held<'_>,
) -> Result<(Ending, [shward_audit::StreamDigest; 2]), shward_sandbox::SandboxError> {
    let mut proxy = None;
    let (mut out, mut err) = (StreamHasher::new(), StreamHasher::new());
    let mut relay = |stream: Stream, bytes: &[u8]| {
        match stream {
            Stream::Stdout => out.update(bytes),
            Stream::Stderr => err.update(bytes),
        }
        on_output(stream, bytes);
    };
    let mut sandbox = Options::default();
    sandbox.ahead = ahead;
    match &ready.layer {
        Some(layer) => sandbox.meanwhile = Some(Box::new(|| layer.sweep())),
        // With a layer the last thing to go is the overlay, and only then the changes are looked at.
        None => sandbox.rest = Some(held.rest),
    }
    sandbox.pty.clone_from(&options.pty);
    sandbox.timeout = Some(timeout);
    sandbox.max_output = options.max_output;
    sandbox.kill_on_output = options.kill_on_output;
    sandbox.space = Some(ready.space.clone());
    sandbox.on_output = Some(&mut relay);
    sandbox.cancel.clone_from(&options.cancel);
    sandbox.interrupts = held.interrupts;
    sandbox.judge = programs.as_ref().map(|programs| programs as &dyn Judge);
    if let Some(reach) = ready.reach.clone() {
        sandbox.on_listener = Some(Box::new(|listener| {
            proxy = Some(network::serve(listener, reach)?);
            Ok(())
        }));
    }
    let result = shward_sandbox::run(&ready.plan, sandbox)?;
    let (connections, more_connections) =
        proxy.map_or_else(Default::default, |proxy| ConnectionReport::of(proxy.stop()));
    let ending = Ending {
        timed_out: result.timed_out,
        cancelled: result.cancelled,
        output_exceeded: result.output_exceeded,
        disk_exceeded: result.disk_exceeded.map(Into::into),
        out_of_memory: result.out_of_memory,
        left_running: result.left_running,
        duration_ms: u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
        gate: programs.map(Programs::report),
        connections,
        more_connections,
        ..Ending::new(result.exit, timeout, [result.stdout, result.stderr])
    };
    Ok((ending, [out.finish(), err.finish()]))
}
