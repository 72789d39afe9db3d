//! Follows every process of a command and notes what it asks the kernel for.

use super::calls::{self, Meaning, Place};
use super::protocol::{Act, Answer, Event, Reply, Seen};
use super::{memory, room};
use crate::Failure;
use nix::errno::Errno;
use nix::libc::{self, user_regs_struct};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// How long a command may take.
const TIME: Duration = Duration::from_millis(2000);
/// How long what it left running may go on after the shell ended.
const AFTERWARDS: Duration = Duration::from_millis(300);
/// How often the watch looks, and after how many looks at which nothing had happened it asks what the processes wait for.
const LOOK: Duration = Duration::from_millis(10);
const QUIET: u32 = 3;
/// How long its processes may compute without asking the kernel for anything that is looked at.
const COMPUTING: Duration = Duration::from_millis(150);
/// How many processes it may start.
const PROCESSES: usize = 200;
/// After how many stops at which nothing new was seen it is taken to repeat itself.
const REPETITIONS: usize = 1000;
/// How many different events are noted.
const EVENTS: usize = 4000;

/// Far below what the process's own functions use of its stack.
const BELOW_STACK: u64 = 1024;
/// What a program that is not there prints.
const WORD: &[u8] = b"w1\n";

#[derive(Debug, Default)]
struct Process {
    by: Rc<Vec<String>>,
    step: Step,
}

/// What is expected of a process next.
#[derive(Debug, Default, PartialEq, Eq)]
enum Step {
    /// It stops because it is new.
    #[default]
    New,
    /// The same, and nobody has said yet whose child it is.
    Orphan,
    /// It becomes the command's shell.
    Shell,
    Running,
    /// It becomes another program.
    Becomes(String),
    /// It stands for a program that is not there and has printed what that prints.
    Printed,
}

/// Ends commands that take too long.
#[derive(Debug, Default)]
struct Watch {
    deadline: Option<Instant>,
    expired: bool,
    processes: HashSet<i32>,
    /// Something has happened since the last look.
    busy: bool,
    /// At how many looks in a row nothing had happened.
    quiet: u32,
    /// How long its processes had computed when something had happened last.
    computed: Duration,
}

impl Watch {
    /// Whether nothing will happen any more: every process waits for another one, or for input that never comes, or they
    /// compute without an end.
    fn is_stuck(&mut self) -> bool {
        if self.processes.is_empty() {
            return false;
        }
        if std::mem::take(&mut self.busy) {
            self.quiet = 0;
            return false;
        }
        let computed = self.processes.iter().map(|process| computed(*process)).sum::<Duration>();
        if self.quiet == 0 {
            self.computed = computed;
        }
        self.quiet += 1;
        if computed > self.computed + COMPUTING {
            return true;
        }
        self.quiet >= QUIET
            && computed == self.computed
            && self.processes.iter().all(|process| waits(*process))
    }
}

/// How long a process has been on a processor.
fn computed(process: i32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Whether a process is asleep (proc(5): the field behind the name, which is in brackets).
fn waits(process: i32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat"))
        .ok()
        .and_then(|text| text.rsplit_once(") ").map(|(_, rest)| rest.starts_with(['S', 'Z'])))
        .unwrap_or(true)
}

/// The tracer of a room.
#[derive(Debug)]
pub(super) struct Tracer {
    /// Starts the shells, and is not itself looked at.
    starter: Pid,
    processes: HashMap<i32, Process>,
    watch: Arc<Mutex<Watch>>,
    answer: Answer,
    shell: Option<i32>,
    started: usize,
    /// How many stops there were since something new was seen.
    fruitless: usize,
    /// A program that is not there was stood for.
    answered: bool,
    seen: Seen,
    known: HashSet<Event>,
}

impl Tracer {
    /// Takes charge of the starter, which has stopped itself.
    pub(super) fn new(starter: Pid) -> Result<Tracer, Failure> {
        match waitpid(starter, Some(WaitPidFlag::WUNTRACED))? {
            WaitStatus::Stopped(_, Signal::SIGSTOP) => {}
            status => return Err(format!("the starter of shells did not start: {status:?}").into()),
        }
        let options = ptrace::Options::PTRACE_O_EXITKILL
            | ptrace::Options::PTRACE_O_TRACESYSGOOD
            | ptrace::Options::PTRACE_O_TRACEFORK
            | ptrace::Options::PTRACE_O_TRACEVFORK
            | ptrace::Options::PTRACE_O_TRACECLONE
            | ptrace::Options::PTRACE_O_TRACEEXEC
            | ptrace::Options::PTRACE_O_TRACESECCOMP;
        ptrace::setoptions(starter, options)?;
        ptrace::cont(starter, None)?;
        let watch = Arc::new(Mutex::new(Watch::default()));
        let shared = Arc::clone(&watch);
        thread::spawn(move || {
            loop {
                thread::sleep(LOOK);
                look(&shared);
            }
        });
        Ok(Tracer {
            starter,
            processes: HashMap::new(),
            watch,
            answer: Answer::Word,
            shell: None,
            started: 0,
            fruitless: 0,
            answered: false,
            seen: Seen::default(),
            known: HashSet::new(),
        })
    }

    /// Follows the command that the starter is about to start, until nothing of it is left.
    pub(super) fn follow(&mut self, answer: Answer) -> Result<Reply, Failure> {
        self.answer = answer;
        self.shell = None;
        self.started = 0;
        self.fruitless = 0;
        self.answered = false;
        self.known.clear();
        self.processes.clear();
        self.watched(|watch| {
            *watch = Watch { deadline: Some(Instant::now() + TIME), ..Watch::default() };
        });
        while self.shell.is_none() || !self.processes.is_empty() {
            let status = match waitpid(None, Some(WaitPidFlag::__WALL)) {
                Err(Errno::EINTR) => continue,
                status => status?,
            };
            self.fruitless += 1;
            if self.fruitless == REPETITIONS {
                self.stop("repetition");
            }
            match self.step(status) {
                // It was killed in between.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
            if !self.starter_lives() {
                return Err("the starter of shells was killed".into());
            }
        }
        let expired = self.watched(|watch| {
            watch.deadline = None;
            watch.expired
        });
        let mut seen = std::mem::take(&mut self.seen);
        if expired && seen.limit.is_none() {
            seen.limit = Some("time".to_owned());
        }
        Ok(Reply { seen, answered: self.answered })
    }

    fn starter_lives(&self) -> bool {
        self.starter != Pid::from_raw(0)
    }

    fn watched<R>(&self, change: impl FnOnce(&mut Watch) -> R) -> R {
        change(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn step(&mut self, status: WaitStatus) -> nix::Result<()> {
        self.watched(|watch| watch.busy = true);
        match status {
            WaitStatus::Exited(process, _) | WaitStatus::Signaled(process, ..) => self.ended(process),
            WaitStatus::PtraceEvent(process, _, event) => match event {
                libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                    let child = i32::try_from(ptrace::getevent(process)?).unwrap_or(0);
                    self.child(process, child)?;
                    ptrace::cont(process, None)?;
                }
                libc::PTRACE_EVENT_SECCOMP => self.call(process)?,
                libc::PTRACE_EVENT_EXEC => {
                    self.became(process);
                    ptrace::cont(process, None)?;
                }
                _ => ptrace::cont(process, None)?,
            },
            WaitStatus::PtraceSyscall(process) => self.after_call(process)?,
            WaitStatus::Stopped(process, signal) => self.stopped(process, signal)?,
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, process: Pid) {
        if process == self.starter {
            self.starter = Pid::from_raw(0);
        }
        self.processes.remove(&process.as_raw());
        let shell = self.shell == Some(process.as_raw());
        self.watched(|watch| {
            watch.processes.remove(&process.as_raw());
            if shell && let Some(deadline) = &mut watch.deadline {
                *deadline = (*deadline).min(Instant::now() + AFTERWARDS);
            }
        });
    }

    fn child(&mut self, parent: Pid, child: i32) -> nix::Result<()> {
        let orphan = self.processes.remove(&child).is_some();
        self.goes_on(parent);
        let (by, step) = if parent == self.starter {
            self.shell = Some(child);
            (Rc::default(), Step::Shell)
        } else {
            let by = self.processes.get(&parent.as_raw()).map(|process| Rc::clone(&process.by));
            (by.unwrap_or_default(), if orphan { Step::Running } else { Step::New })
        };
        self.processes.insert(child, Process { by, step });
        self.started += 1;
        if self.started > PROCESSES {
            self.stop("processes");
        }
        let expired = self.watched(|watch| {
            watch.processes.insert(child);
            watch.expired
        });
        if expired {
            // It may have ended by itself.
            let _ = kill(Pid::from_raw(child), Signal::SIGKILL);
        }
        if orphan { ptrace::cont(Pid::from_raw(child), None) } else { Ok(()) }
    }

    fn stopped(&mut self, process: Pid, signal: Signal) -> nix::Result<()> {
        if process == self.starter {
            return ptrace::cont(process, None);
        }
        // Its parent may be killed before it can say that it has a child.
        self.watched(|watch| watch.processes.insert(process.as_raw()));
        let known = self
            .processes
            .entry(process.as_raw())
            .or_insert_with(|| Process { step: Step::Orphan, ..Process::default() });
        match known.step {
            // Its parent will say whose it is.
            Step::Orphan => return Ok(()),
            Step::New => known.step = Step::Running,
            _ => {}
        }
        let stops = [Signal::SIGSTOP, Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU];
        // Who stops waits for somebody who is not there.
        ptrace::cont(process, (!stops.contains(&signal)).then_some(signal))
    }

    fn became(&mut self, process: Pid) {
        let Some(process) = self.processes.get_mut(&process.as_raw()) else { return };
        if let Step::Becomes(name) = std::mem::replace(&mut process.step, Step::Running) {
            Rc::make_mut(&mut process.by).push(name);
        }
    }

    /// Ends the command.
    fn stop(&mut self, limit: &str) {
        self.seen.limit.get_or_insert_with(|| limit.to_owned());
        self.watched(|watch| watch.deadline = Some(Instant::now()));
        look(&self.watch);
    }

    /// A file that the kernel did not execute, for it is not a program, is read by the shell that tried to.
    fn goes_on(&mut self, process: Pid) {
        if let Some(process) = self.processes.get_mut(&process.as_raw())
            && let Step::Becomes(name) = &mut process.step
        {
            Rc::make_mut(&mut process.by).push(std::mem::take(name));
            process.step = Step::Running;
        }
    }

    fn call(&mut self, process: Pid) -> nix::Result<()> {
        self.goes_on(process);
        let registers = ptrace::getregs(process)?;
        if process != self.starter
            && let Some((call, meaning)) = calls::meaning(registers.orig_rax)
            && self.meant(process, registers, call, meaning).is_some()
        {
            // It stands for a program, and prints what that prints.
            return ptrace::syscall(process, None);
        }
        ptrace::cont(process, None)
    }

    /// `Some` if the call was changed into one that prints.
    fn meant(
        &mut self,
        process: Pid,
        registers: user_regs_struct,
        call: i64,
        meaning: Meaning,
    ) -> Option<()> {
        let arguments =
            [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9];
        let argument = |index: usize| arguments.get(index).copied().unwrap_or(0);
        let name = |place: Place| memory::string(process, argument(place.path));
        let path = |place: Place| {
            let name = memory::string(process, argument(place.path))?;
            absolute(process, place.directory.map(argument), &name)
        };
        match meaning {
            Meaning::Look(place) => {
                let name = name(place)?;
                let name = name.strip_prefix(room::STUBS.as_bytes())?.strip_prefix(b"/")?;
                if !name.is_empty() && !name.contains(&b'/') {
                    room::provide(Path::new(OsStr::from_bytes(name)));
                }
            }
            Meaning::Open(place, flags) => {
                let flags = argument(flags);
                let flags = if call == libc::SYS_openat2 { memory::number(process, flags)? } else { flags };
                if calls::writes(flags) {
                    self.note(process, Act::Write { path: path(place)?, link: None });
                }
            }
            Meaning::Write(place) => self.note(process, Act::Write { path: path(place)?, link: None }),
            Meaning::Link(aim, place) => {
                let path = path(place)?;
                // It leads on from where it lies.
                let aim =
                    PathBuf::from(std::ffi::OsString::from_vec(memory::string(process, argument(aim))?));
                let link = normal(&Path::new(&path).parent()?.join(aim));
                self.note(process, Act::Write { path, link: Some(text(link.as_os_str().as_bytes())) });
            }
            Meaning::Delete(place) => self.note(process, Act::Delete { path: path(place)? }),
            Meaning::Rename(from, to) => {
                self.note(process, Act::Delete { path: path(from)? });
                self.note(process, Act::Write { path: path(to)?, link: None });
            }
            // Without a path the times of an open file are meant, which its opening told of.
            Meaning::Metadata(place) if argument(place.path) != 0 => {
                self.note(process, Act::Metadata { path: path(place)? });
            }
            Meaning::Metadata(_) => {}
            Meaning::Exec(place, list) => {
                if self.processes.get(&process.as_raw())?.step == Step::Shell {
                    self.processes.get_mut(&process.as_raw())?.step = Step::Running;
                    return None;
                }
                let (Some(name), Some(argv)) = (name(place), memory::strings(process, argument(list))) else {
                    self.stop("arguments");
                    return None;
                };
                return self.executes(process, registers, &name, &argv);
            }
        }
        None
    }

    fn executes(
        &mut self,
        process: Pid,
        registers: user_regs_struct,
        name: &[u8],
        argv: &[Vec<u8>],
    ) -> Option<()> {
        let file = absolute(process, None, name)?;
        let bare = |place: &str| name.strip_prefix(place.as_bytes())?.strip_prefix(b"/");
        let there = Path::new(&file).exists();
        let base = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        if bare(room::TOOLS).is_some() && !there {
            // Looked for, and not found.
            return None;
        }
        let found = bare(room::TOOLS).or_else(|| bare(room::STUBS));
        // Without a search path the kernel gets the name as it is.
        let here = [b"./".as_slice(), name].concat();
        let program = found.unwrap_or(if name.contains(&b'/') { name } else { &here });
        let cwd = directory_of(&format!("/proc/{process}/cwd"))?;
        self.note(
            process,
            Act::Exec { program: text(program), argv: argv.iter().map(|word| text(word)).collect(), cwd },
        );
        let written = room::WRITABLE.iter().any(|place| Path::new(&file).starts_with(place));
        if bare(room::STUBS).is_none() && !there {
            return None;
        }
        if bare(room::STUBS).is_none() && (written || room::is_real(base)) {
            self.processes.get_mut(&process.as_raw())?.step = Step::Becomes(text(base));
            return None;
        }
        self.answered = true;
        let address = registers.rsp.checked_sub(BELOW_STACK)?;
        let mut changed = registers;
        match self.answer {
            Answer::Word => {
                memory::put(process, address, WORD)?;
                changed.orig_rax = u64::try_from(libc::SYS_write).ok()?;
                (changed.rdi, changed.rsi, changed.rdx) = (1, address, u64::try_from(WORD.len()).ok()?);
            }
            Answer::Failure => changed.orig_rax = u64::try_from(libc::SYS_getpid).ok()?,
        }
        changed.rax = changed.orig_rax;
        ptrace::setregs(process, changed).ok()?;
        self.processes.get_mut(&process.as_raw())?.step = Step::Printed;
        Some(())
    }

    /// What stands for a program has printed, and ends: the instruction of the call is done again, with another call.
    fn after_call(&mut self, process: Pid) -> nix::Result<()> {
        let printed =
            self.processes.get(&process.as_raw()).is_some_and(|process| process.step == Step::Printed);
        if printed {
            const INSTRUCTION: u64 = 2;
            let mut registers = ptrace::getregs(process)?;
            registers.rip = registers.rip.saturating_sub(INSTRUCTION);
            registers.rax = u64::try_from(libc::SYS_exit_group).unwrap_or(0);
            registers.rdi = match self.answer {
                Answer::Word => 0,
                Answer::Failure => 1,
            };
            ptrace::setregs(process, registers)?;
        }
        ptrace::cont(process, None)
    }

    fn note(&mut self, process: Pid, act: Act) {
        let (Act::Write { path, .. }
        | Act::Delete { path }
        | Act::Metadata { path }
        | Act::Exec { program: path, .. }) = &act;
        if !matches!(act, Act::Exec { .. }) && is_inert(path) {
            return;
        }
        let by = self.processes.get(&process.as_raw()).map(|process| process.by.to_vec()).unwrap_or_default();
        let event = Event { act, by };
        if self.known.insert(event.clone()) {
            self.seen.events.push(event);
            self.fruitless = 0;
        }
        if self.known.len() > EVENTS {
            self.stop("events");
        }
    }
}

/// Kills what is over its time.
fn look(watch: &Mutex<Watch>) {
    let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
    if watch.deadline.is_some_and(|deadline| Instant::now() >= deadline || watch.is_stuck()) {
        watch.expired = true;
        for process in &watch.processes {
            // It may have ended by itself.
            let _ = kill(Pid::from_raw(*process), Signal::SIGKILL);
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The directory behind a link of a process. What was removed can still be stood in.
fn directory_of(link: &str) -> Option<String> {
    let path = text(fs::read_link(link).ok()?.as_os_str().as_bytes());
    Some(path.strip_suffix(" (deleted)").map(str::to_owned).unwrap_or(path))
}

/// The path that a process means, from the root, without `.` and `..`. No name is no file.
fn absolute(process: Pid, directory: Option<u64>, name: &[u8]) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let name = PathBuf::from(std::ffi::OsString::from_vec(name.to_vec()));
    let base = if name.is_absolute() {
        PathBuf::new()
    } else {
        // The lower half of the register is the descriptor.
        #[expect(clippy::cast_possible_truncation, reason = "a descriptor has 32 bits")]
        let directory = directory.map(|directory| directory as u32 as i32).filter(|it| *it != libc::AT_FDCWD);
        let link = match directory {
            None => format!("/proc/{process}/cwd"),
            Some(descriptor) => format!("/proc/{process}/fd/{descriptor}"),
        };
        PathBuf::from(directory_of(&link)?)
    };
    Some(text(normal(&base.join(name)).as_os_str().as_bytes()))
}

fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::from("/");
    for part in path.components() {
        match part {
            std::path::Component::Normal(name) => result.push(name),
            std::path::Component::ParentDir => {
                result.pop();
            }
            _ => {}
        }
    }
    result
}

/// Places where writing changes nothing, and files for here-documents, which the shell makes and removes unasked.
fn is_inert(path: &str) -> bool {
    let devices =
        ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
    devices.contains(&path)
        || ["/dev/fd/", "/proc/self/fd/", "/tmp/sh-thd."].iter().any(|place| path.starts_with(place))
        || (path.starts_with("/proc/") && path.contains("/fd/"))
        || path.is_empty()
}
