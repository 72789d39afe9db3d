//! Many commands: predicted in one go, run in as many rooms as there are processors, compared.

use super::generate::Pair;
use super::generate::Which;
use super::generate::programs::concerns;
use super::options::Options;
use super::protocol::{Act, Answer, Event, Job, Reply, Seen};
use super::room::{WORKSPACE, is_there};
use super::worker::Room;
use crate::Failure;
use crate::batch::{Batch, Decision};
use crate::corpus::{Label, Sample};
use crate::plan::Plan;
use crate::progress::Progress;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

/// A command to be predicted and run.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) cwd: String,
    pub(super) pair: Option<Pair>,
    /// How programs that are not there answer, if not both ways one after the other.
    pub(super) answer: Option<Answer>,
}

impl Candidate {
    pub(super) fn new(id: String, command: String, cwd: Option<&str>) -> Candidate {
        Candidate { id, command, cwd: cwd.unwrap_or(WORKSPACE).to_owned(), pair: None, answer: None }
    }

    fn job(&self, answer: Answer) -> Job {
        let argv = ["/usr/bin/bash", "--norc", "--noprofile", "-c", "--", &self.command];
        Job { argv: argv.map(str::to_owned).to_vec(), cwd: self.cwd.clone(), answer }
    }

    fn sample(&self, command: &str) -> Sample {
        Sample {
            id: self.id.clone(),
            command: command.to_owned(),
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
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unpredicted: &'a [&'a Event],
    /// A dangerous command in the same spelling, which is judged more mildly than it is by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    milder: Option<&'a str>,
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
    /// Spellings that were seen to run their command, and of these the ones under which a dangerous one is judged more
    /// mildly than by itself.
    pairs: usize,
    milder: usize,
    violating_runs: usize,
    violations: usize,
}

impl Count {
    fn line(&self) -> String {
        format!(
            "{} definite, {} runs, {} violations in {} of them, {} pairs, {} milder",
            self.commands - self.open,
            self.runs,
            self.violations,
            self.violating_runs,
            self.pairs,
            self.milder
        )
    }
}

pub(super) struct Campaign {
    binary: PathBuf,
    rooms: Vec<Room>,
    count: Count,
    record: Option<BufWriter<File>>,
    violations: Option<BufWriter<File>>,
    /// What programs do for themselves does not count.
    by_words: bool,
}

/// What was said of a command before it was run.
#[derive(Debug)]
pub(super) struct Prediction {
    pub(super) plan: Plan,
    /// The dangerous command in the same spelling is judged more mildly than by itself.
    milder: bool,
}

/// The prediction for each command; `None` for what could not be judged.
pub(super) fn predict(binary: &Path, candidates: &[Candidate]) -> Result<Vec<Option<Prediction>>, Failure> {
    let ask = |samples: &[Sample], plan| {
        let batch = Batch { binary, contained: false, plan, home: super::room::HOME };
        Ok::<_, Failure>(batch.judge("predict", samples)?.0)
    };
    let samples: Vec<Sample> =
        candidates.iter().map(|candidate| candidate.sample(&candidate.command)).collect();
    let pairs = candidates.iter().filter_map(|candidate| Some((candidate, candidate.pair.as_ref()?)));
    let pairs: Vec<Sample> = pairs
        .flat_map(|(candidate, pair)| [&pair.spelled, &pair.plain].map(|command| candidate.sample(command)))
        .collect();
    let judged = if pairs.is_empty() { Vec::new() } else { ask(&pairs, false)? };
    let mut judged = judged.into_iter().map(|answer| answer.decision);
    let answers = ask(&samples, true)?;
    let predictions = answers.into_iter().zip(candidates).map(|(answer, candidate)| {
        let [spelled, plain] = match candidate.pair {
            Some(_) => [judged.next().flatten(), judged.next().flatten()],
            None => [None, None],
        };
        let plan = answer.plan?;
        // What is not understood need not be denied, but it must not be allowed.
        let bound = if plan.is_open() { plain.min(Some(Decision::Ask)) } else { plain };
        Some(Prediction { milder: spelled.is_some() && spelled < bound, plan })
    });
    Ok(predictions.collect())
}

/// What is seen of one command, with either answer of programs that are not there; once, if it started none.
pub(super) fn observe(room: &mut Room, candidate: &Candidate) -> Result<Vec<(Answer, Seen)>, Failure> {
    let mut observed = Vec::new();
    let answers = [Answer::Word, Answer::Failure];
    for answer in answers.into_iter().filter(|answer| candidate.answer.is_none_or(|only| only == *answer)) {
        let Reply { seen, answered } = room.run(&candidate.job(answer))?;
        observed.push((answer, seen));
        if !answered {
            break;
        }
    }
    Ok(observed)
}

/// Commands with what is predicted for them.
type Predicted = (Vec<Candidate>, Vec<Option<Prediction>>);

impl Campaign {
    pub(super) fn new(binary: PathBuf, options: &Options) -> Result<Campaign, Failure> {
        let open = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| Ok::<_, Failure>(BufWriter::new(File::create(path)?))).transpose()
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Ok(Campaign {
            binary,
            rooms: (0..options.jobs.unwrap_or(processors).max(1))
                .map(|number| Room::open(Some(number % processors)))
                .collect::<Result<_, _>>()?,
            count: Count::default(),
            record: open(&options.record)?,
            violations: open(&options.violations)?,
            by_words: options.which == Which::Programs,
        })
    }

    /// Runs what comes in chunks. While one is observed the next is predicted. `done` hears how many commands that were.
    pub(super) fn run(
        &mut self,
        chunks: impl Iterator<Item = Vec<Candidate>> + Send,
        mut done: impl FnMut(usize, &str),
    ) -> Result<(), Failure> {
        let binary = self.binary.clone();
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Result<Predicted, String>>(1);
            scope.spawn(move || {
                for candidates in chunks {
                    let plans = predict(&binary, &candidates).map_err(|error| error.to_string());
                    // Nobody hears it if the observation has failed.
                    if sender.send(plans.map(|plans| (candidates, plans))).is_err() {
                        return;
                    }
                }
            });
            for predicted in receiver {
                let (candidates, plans) = predicted?;
                self.observe(&candidates, &plans)?;
                done(candidates.len(), &self.count.line());
            }
            Ok(())
        })
    }

    fn observe(
        &mut self,
        candidates: &[Candidate],
        predictions: &[Option<Prediction>],
    ) -> Result<(), Failure> {
        // What is recorded must be run even if no violation is possible now: the prediction may become sharper.
        let all = self.record.is_some();
        let wanted: Vec<(&Candidate, &Prediction)> = candidates
            .iter()
            .zip(predictions)
            .filter_map(|(candidate, prediction)| Some((candidate, prediction.as_ref()?)))
            .filter(|(candidate, it)| all || !it.plan.is_open() || candidate.pair.is_some())
            .filter(|(candidate, it)| {
                !candidate.command.contains('\0') && !it.plan.needs_interpreter(is_there)
            })
            .collect();
        let definite = predictions.iter().flatten().filter(|it| !it.plan.is_open()).count();
        self.count.commands += candidates.len();
        self.count.open += candidates.len() - definite;
        let mut seen = observe_all(&mut self.rooms, &wanted)?;
        seen.sort_by_key(|(index, ..)| *index);
        for (index, observed) in seen {
            if let Some((candidate, prediction)) = wanted.get(index) {
                self.judge(candidate, prediction, observed)?;
            }
        }
        Ok(())
    }

    fn judge(
        &mut self,
        candidate: &Candidate,
        prediction: &Prediction,
        observed: Vec<(Answer, Seen)>,
    ) -> Result<(), Failure> {
        let Prediction { plan, milder } = prediction;
        let Candidate { id, command, cwd, pair, .. } = candidate;
        let pair = pair.as_ref().filter(|pair| observed.iter().any(|(_, seen)| executes(seen, &pair.argv)));
        self.count.pairs += usize::from(pair.is_some());
        let mut milder = pair.filter(|_| *milder).map(|pair| pair.spelled.as_str());
        self.count.milder += usize::from(milder.is_some());
        for (answer, seen) in observed {
            self.tally(plan, &seen);
            let mut unpredicted = plan.violations(&seen);
            if self.by_words {
                unpredicted.retain(|event| is_by_words(event));
            }
            self.count.violations += unpredicted.len();
            self.count.violating_runs += usize::from(!unpredicted.is_empty());
            let violation =
                Violation { id, command, answer, unpredicted: &unpredicted, milder: milder.take() };
            if !unpredicted.is_empty() || violation.milder.is_some() {
                if let Some(file) = &mut self.violations {
                    serde_json::to_writer(&mut *file, &violation)?;
                    file.write_all(b"\n")?;
                    file.flush()?;
                } else {
                    eprintln!("{}", serde_json::to_string(&violation)?);
                }
            }
            if let Some(file) = &mut self.record {
                serde_json::to_writer(&mut *file, &Observation { id, command, cwd, answer, seen })?;
                file.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    fn tally(&mut self, plan: &Plan, seen: &Seen) {
        let count = &mut self.count;
        count.runs += 1;
        count.limited += usize::from(seen.limit.is_some());
        if plan.is_open() {
            return;
        }
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
            println!("{} violations in {} runs", count.violations, count.violating_runs);
            println!("{} spellings of {} were judged more mildly", count.milder, count.pairs);
        }
        let clean = count.violations == 0 && count.milder == 0;
        Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Whether an event of a program that was called is one that its words led to, and not the program's own affair.
fn is_by_words(event: &Event) -> bool {
    match &event.act {
        // A shell that is started as one for somebody who logs in is what comes of no command.
        Act::Exec { argv, .. } => {
            argv.first().is_some_and(|name| concerns(name) || name.starts_with('-') && !event.by.is_empty())
        }
        Act::Write { path, .. } | Act::Delete { path } => concerns(path),
        Act::Metadata { .. } => false,
    }
}

fn executes(seen: &Seen, wanted: &[String]) -> bool {
    seen.events.iter().any(|event| matches!(&event.act, Act::Exec { argv, .. } if argv == wanted))
}

type Found = (usize, Vec<(Answer, Seen)>);

fn observe_all(rooms: &mut [Room], wanted: &[(&Candidate, &Prediction)]) -> Result<Vec<Found>, Failure> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new((Vec::new(), Progress::new("observe", wanted.len())));
    let work = |room: &mut Room| -> Result<(), String> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((candidate, _)) = wanted.get(index) else { return Ok(()) };
            match observe(room, candidate) {
                Ok(observed) => {
                    let mut found = found.lock().map_err(|error| error.to_string())?;
                    found.0.push((index, observed));
                    found.1.show(index);
                }
                // A command may kill whatever started it; it gets no second room.
                Err(error) => {
                    eprintln!("{}: {error}: {:?}", candidate.id, candidate.command);
                    *room = room.again().map_err(|error| error.to_string())?;
                }
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = rooms.iter_mut().map(|room| scope.spawn(|| work(room))).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or(Err("a worker panicked".to_owned())))
    })?;
    Ok(found.into_inner().map_err(|error| error.to_string())?.0)
}
