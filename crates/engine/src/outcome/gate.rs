//! What the gate saw, for the outcome and the record.

use serde::Serialize;
use shward_audit::{Gated, Stopped, Text};
use shward_policy::settings::ExecGate;
use shward_sandbox::Exec;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;

/// Bytes of argument lists that are kept of one run.
const MAX_BYTES: usize = 64 * 1024;

/// Bytes of one argument that are kept.
const MAX_ARGUMENT: usize = 400;

/// Programs that were stopped and are told one by one.
const MAX_STOPPED: usize = 32;

/// The programs that started inside a run.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct GateReport {
    /// `observe` or `enforce`.
    pub mode: &'static str,
    /// How many programs were started, the command's own included.
    pub started: u64,
    /// How often each was started, in the order of their first start.
    pub programs: Vec<ProgramReport>,
    /// The programs that were stopped before they ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<StoppedReport>,
    /// For the record.
    #[serde(skip)]
    record: Gated,
}

/// A program that started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProgramReport {
    /// Its file.
    pub program: String,
    /// How often.
    pub times: u64,
}

/// A program that was stopped before it ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StoppedReport {
    /// Its file.
    pub program: String,
    /// Its argument list, the zeroth argument included.
    pub argv: Vec<String>,
    /// The rule that speaks against it.
    pub rule: String,
    /// What, why, and what to do instead.
    pub message: String,
}

impl GateReport {
    /// For the record.
    pub(crate) fn record(&self) -> Gated {
        self.record.clone()
    }
}

/// What is collected during a run, in bounded memory.
#[derive(Debug)]
pub(crate) struct Seen {
    mode: ExecGate,
    started: u64,
    programs: Vec<ProgramReport>,
    places: HashMap<Vec<u8>, usize>,
    bytes: usize,
    record: Gated,
    stopped: Vec<StoppedReport>,
}

impl Seen {
    pub(crate) fn new(mode: ExecGate) -> Self {
        let record = Gated {
            mode: mode.name().to_owned(),
            started: 0,
            commands: Vec::new(),
            left_out: 0,
            stopped: Vec::new(),
        };
        Self {
            mode,
            started: 0,
            programs: Vec::new(),
            places: HashMap::new(),
            bytes: 0,
            record,
            stopped: Vec::new(),
        }
    }

    /// Counts a program. Returns whether it is the first.
    pub(crate) fn add(&mut self, exec: &Exec) -> bool {
        self.started += 1;
        let program = exec.program.as_os_str().as_bytes();
        match self.places.get(program).and_then(|&at| self.programs.get_mut(at)) {
            Some(known) => known.times += 1,
            None if self.bytes < MAX_BYTES => {
                self.bytes += program.len();
                self.places.insert(program.to_vec(), self.programs.len());
                self.programs.push(ProgramReport { program: lossy(program), times: 1 });
            }
            None => {}
        }
        if self.bytes < MAX_BYTES {
            let argv = argv(exec);
            self.bytes += argv.iter().map(|text| text.as_bytes().len() + 3).sum::<usize>();
            self.record.commands.push(argv);
        } else {
            self.record.left_out += 1;
        }
        self.started == 1
    }

    /// Notes that a program was stopped.
    pub(crate) fn stop(&mut self, exec: &Exec, rule: String, message: String) {
        if self.stopped.len() < MAX_STOPPED {
            let argv = argv(exec);
            let program = exec.program.as_os_str().as_bytes();
            self.stopped.push(StoppedReport {
                program: lossy(program),
                argv: argv.iter().map(|text| text.to_lossy().into_owned()).collect(),
                rule: rule.clone(),
                message,
            });
            self.record.stopped.push(Stopped { program: program.into(), argv, rule });
        }
    }

    pub(crate) fn report(mut self) -> GateReport {
        self.record.started = self.started;
        GateReport {
            mode: self.mode.name(),
            started: self.started,
            programs: self.programs,
            stopped: self.stopped,
            record: self.record,
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The program's file in place of the zeroth argument, and the others, long ones cut.
fn argv(exec: &Exec) -> Vec<Text> {
    let cut = |bytes: &[u8]| Text::from(bytes.get(..MAX_ARGUMENT).unwrap_or(bytes));
    let program = Text::from(exec.program.as_os_str().as_bytes());
    let mut left = MAX_BYTES / 8;
    let rest = exec.arguments.iter().skip(1).map(|a| cut(a.as_bytes())).take_while(|text| {
        left = left.saturating_sub(text.as_bytes().len() + 3);
        left > 0
    });
    [program].into_iter().chain(rest).collect()
}
