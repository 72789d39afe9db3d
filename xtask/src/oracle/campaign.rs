//! Many commands: predicted in one go, run in as many rooms as there are processors, compared.

use super::law::Plan;
use super::options::Options;
use super::protocol::{Act, Answer, Event, Job, Seen};
use super::room::WORKSPACE;
use super::worker::Room;
use crate::Failure;
use crate::batch::Batch;
use crate::corpus::{Label, Sample};
use crate::progress::Progress;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A command to be predicted and run.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) cwd: String,
}

impl Candidate {
    pub(super) fn new(id: String, command: String, cwd: Option<&str>) -> Candidate {
        Candidate { id, command, cwd: cwd.unwrap_or(WORKSPACE).to_owned() }
    }

    fn job(&self, answer: Answer) -> Job {
        let argv = ["/usr/bin/bash", "--norc", "--noprofile", "-c", "--", &self.command];
        Job { argv: argv.map(str::to_owned).to_vec(), cwd: self.cwd.clone(), answer }
    }

    fn sample(&self) -> Sample {
        Sample {
            id: self.id.clone(),
            command: self.command.clone(),
            cwd: self.cwd.clone(),
            label: Label::Dual,
            effect: Vec::new(),
            source: "oracle".to_owned(),
        }
    }
}

/// What was seen of a command.
#[derive(Debug, Serialize)]
pub(super) struct Observation<'a> {
    pub(super) id: &'a str,
    pub(super) command: &'a str,
    pub(super) cwd: &'a str,
    pub(super) answer: Answer,
    #[serde(flatten)]
    pub(super) seen: Seen,
}

/// What was not predicted.
#[derive(Debug, Serialize)]
struct Violation<'a> {
    id: &'a str,
    command: &'a str,
    answer: Answer,
    unpredicted: &'a [&'a Event],
}

#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Count {
    commands: usize,
    /// Refused, or with an unknown that covers everything: nothing can be violated.
    open: usize,
    runs: usize,
    limited: usize,
    /// Programs that were executed by the shell itself, or by what it started.
    executed: usize,
    /// Of these, those whose argument list was predicted word for word.
    exactly: usize,
    changes: usize,
    violating_commands: usize,
    violations: usize,
}

pub(super) struct Campaign {
    binary: PathBuf,
    jobs: usize,
    count: Count,
    record: Option<BufWriter<File>>,
    violations: Option<BufWriter<File>>,
}

/// The prediction for each command; `None` for what could not be judged.
pub(super) fn predict(binary: &Path, candidates: &[Candidate]) -> Result<Vec<Option<Plan>>, Failure> {
    let samples: Vec<Sample> = candidates.iter().map(Candidate::sample).collect();
    let batch = Batch { binary, contained: false, plan: true, home: super::room::HOME };
    let (answers, _) = batch.judge("predict", &samples)?;
    Ok(answers.into_iter().map(|answer| answer.plan).collect())
}

/// What is seen of one command, with either answer of programs that are not there.
pub(super) fn observe(room: &mut Room, candidate: &Candidate) -> Result<[(Answer, Seen); 2], Failure> {
    let mut run = |answer| Ok::<_, Failure>((answer, room.run(&candidate.job(answer))?));
    Ok([run(Answer::Word)?, run(Answer::Failure)?])
}

impl Campaign {
    pub(super) fn new(binary: PathBuf, options: &Options) -> Result<Campaign, Failure> {
        let open = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| Ok::<_, Failure>(BufWriter::new(File::create(path)?))).transpose()
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Ok(Campaign {
            binary,
            jobs: options.jobs.unwrap_or(processors),
            count: Count::default(),
            record: open(&options.record)?,
            violations: open(&options.violations)?,
        })
    }

    pub(super) fn run(&mut self, candidates: &[Candidate]) -> Result<(), Failure> {
        let plans = predict(&self.binary, candidates)?;
        // What is recorded must be run even if no violation is possible now: the prediction may become sharper.
        let all = self.record.is_some();
        let wanted: Vec<(&Candidate, &Plan)> = candidates
            .iter()
            .zip(&plans)
            .filter_map(|(candidate, plan)| Some((candidate, plan.as_ref()?)))
            .filter(|(candidate, plan)| (all || !plan.is_open()) && !candidate.command.contains('\0'))
            .filter(|(_, plan)| !plan.needs_interpreter())
            .collect();
        self.count.commands += candidates.len();
        self.count.open += candidates.len() - plans.iter().flatten().filter(|plan| !plan.is_open()).count();
        let mut seen = observe_all(self.jobs, &wanted)?;
        seen.sort_by_key(|(index, ..)| *index);
        for (index, answer, seen) in seen {
            if let Some((candidate, plan)) = wanted.get(index) {
                self.judge(candidate, plan, answer, seen)?;
            }
        }
        Ok(())
    }

    fn judge(
        &mut self,
        candidate: &Candidate,
        plan: &Plan,
        answer: Answer,
        seen: Seen,
    ) -> Result<(), Failure> {
        let count = &mut self.count;
        count.runs += 1;
        count.limited += usize::from(seen.limit.is_some());
        if !plan.is_open() {
            for event in &seen.events {
                match &event.act {
                    Act::Exec { argv, .. } => {
                        count.executed += 1;
                        count.exactly += usize::from(plan.names_exactly(argv));
                    }
                    _ => count.changes += 1,
                }
            }
        }
        let unpredicted = plan.violations(&seen);
        if !unpredicted.is_empty() {
            count.violations += unpredicted.len();
            count.violating_commands += 1;
            let violation = Violation {
                id: &candidate.id,
                command: &candidate.command,
                answer,
                unpredicted: &unpredicted,
            };
            if let Some(file) = &mut self.violations {
                serde_json::to_writer(&mut *file, &violation)?;
                file.write_all(b"\n")?;
                file.flush()?;
            } else {
                eprintln!("{}", serde_json::to_string(&violation)?);
            }
        }
        if let Some(file) = &mut self.record {
            let Candidate { id, command, cwd } = candidate;
            serde_json::to_writer(&mut *file, &Observation { id, command, cwd, answer, seen })?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }

    pub(super) fn report(mut self, json: bool) -> Result<ExitCode, Failure> {
        if let Some(file) = &mut self.record {
            file.flush()?;
        }
        let count = self.count;
        if json {
            println!("{}", serde_json::to_string(&count)?);
        } else {
            println!(
                "{} commands, {} of them open: nothing is unpredicted there",
                count.commands, count.open
            );
            println!("{} runs, {} ended early", count.runs, count.limited);
            println!("{} programs executed, {} with the very words predicted", count.executed, count.exactly);
            println!("{} changes of files", count.changes);
            println!("{} violations in {} runs", count.violations, count.violating_commands);
        }
        Ok(if count.violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

type Found = (usize, Answer, Seen);

fn observe_all(jobs: usize, wanted: &[(&Candidate, &Plan)]) -> Result<Vec<Found>, Failure> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new((Vec::new(), Progress::new("observe", wanted.len())));
    let work = || -> Result<(), String> {
        let mut room = Room::open().map_err(|error| error.to_string())?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((candidate, _)) = wanted.get(index) else { return Ok(()) };
            match observe(&mut room, candidate) {
                Ok(observed) => {
                    let mut found = found.lock().map_err(|error| error.to_string())?;
                    found.0.extend(observed.map(|(answer, seen)| (index, answer, seen)));
                    found.1.show(index);
                }
                // A command may kill whatever started it; it gets no second room.
                Err(error) => {
                    eprintln!("{}: {error}: {:?}", candidate.id, candidate.command);
                    room = Room::open().map_err(|error| error.to_string())?;
                }
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or(Err("a worker panicked".to_owned())))
    })?;
    Ok(found.into_inner().map_err(|error| error.to_string())?.0)
}
