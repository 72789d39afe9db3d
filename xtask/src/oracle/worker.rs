//! The three processes of a room: the one that makes it, the first one in it, and the one that starts shells.

use super::protocol::{Greeting, Job, Reply};
use super::trace::Tracer;
use super::{calls, room};
use crate::Failure;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::prctl::{set_no_new_privs, set_pdeathsig};
use nix::sys::ptrace;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, raise};
use nix::unistd::{Pid, getuid};
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::OnceLock;

/// The first arguments by which this program is told to be one of them.
pub(crate) const MAKER: &str = "oracle-room";
/// The environment variable that names the room's processor.
const PROCESSOR: &str = "ORACLE_PROCESSOR";
const FIRST: &str = "oracle-first";
const STARTER: &str = "oracle-starter";

/// This program, wherever its file is by now.
const SELF: &str = "/proc/self/exe";
/// Who the room's maker is, if it may choose.
const NOBODY: u32 = 65_534;

/// Runs the part that an argument names.
pub(crate) fn part(name: &str) -> Option<ExitCode> {
    let result = match name {
        MAKER => make(),
        FIRST => first(),
        STARTER => starter(),
        _ => return None,
    };
    Some(match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
    })
}

fn make() -> Result<(), Failure> {
    set_pdeathsig(Signal::SIGKILL)?;
    if let Some(processor) = std::env::var(PROCESSOR).ok().and_then(|text| text.parse().ok()) {
        let mut set = CpuSet::new();
        set.set(permitted(processor)?)?;
        // Where it may not choose, it goes where it is sent.
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
    if let Err(error) = room::enter() {
        return greet(Some(error.to_string()));
    }
    let status = Command::new(SELF).arg(FIRST).status()?;
    if status.success() { Ok(()) } else { Err(format!("the room's first process: {status}").into()) }
}

/// Of the processors that this process was given, the one with this number: `taskset` may have left it few.
fn permitted(number: usize) -> Result<usize, Failure> {
    let given = sched_getaffinity(Pid::from_raw(0))?;
    let given = (0..CpuSet::count()).filter(|processor| given.is_set(*processor).unwrap_or(false));
    Ok(given.cycle().nth(number).unwrap_or(number))
}

fn greet(error: Option<String>) -> Result<(), Failure> {
    answer(&Greeting { error })
}

fn answer(value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, value)?;
    output.write_all(b"\n")?;
    output.flush()?;
    Ok(())
}

fn first() -> Result<(), Failure> {
    set_pdeathsig(Signal::SIGKILL)?;
    let prepared = room::build().and_then(|()| room::tidy_up()).and_then(|()| start());
    let (mut starter, mut jobs, mut tracer) = match prepared {
        Ok(parts) => parts,
        Err(error) => return greet(Some(error.to_string())),
    };
    greet(None)?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let job: Job = serde_json::from_str(&line)?;
        fs::create_dir_all(&job.cwd)?;
        jobs.write_all(line.as_bytes())?;
        jobs.write_all(b"\n")?;
        let reply = tracer.follow(job.answer)?;
        if reply.seen.events.iter().any(|event| !matches!(event.act, super::protocol::Act::Exec { .. })) {
            room::tidy_up()?;
        }
        answer(&reply)?;
    }
    starter.kill()?;
    Ok(())
}

fn start() -> Result<(Child, ChildStdin, Tracer), Failure> {
    let mut starter = Command::new(SELF).arg(STARTER).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let jobs = starter.stdin.take().ok_or("the starter of shells takes no jobs")?;
    let tracer = Tracer::new(Pid::from_raw(i32::try_from(starter.id())?))?;
    room::seal()?;
    Ok((starter, jobs, tracer))
}

fn starter() -> Result<(), Failure> {
    room::drop_rights()?;
    set_no_new_privs()?;
    limit(Resource::RLIMIT_FSIZE, 1 << 20)?;
    limit(Resource::RLIMIT_NOFILE, 256)?;
    limit(Resource::RLIMIT_AS, 1 << 30)?;
    limit(Resource::RLIMIT_CORE, 0)?;
    ptrace::traceme()?;
    for filter in calls::filters()? {
        seccompiler::apply_filter(&filter)?;
    }
    raise(Signal::SIGSTOP)?;
    for line in io::stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let Some((program, arguments)) = job.argv.split_first() else { continue };
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .env("PATH", format!("{}:{}", room::TOOLS, room::STUBS))
            .env("HOME", room::HOME)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(&job.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        // What cannot be started does nothing.
        if let Ok(mut child) = child {
            child.wait()?;
        }
    }
    Ok(())
}

fn limit(resource: Resource, most: u64) -> Result<(), Failure> {
    Ok(setrlimit(resource, most, most)?)
}

/// A room, seen from outside.
#[derive(Debug)]
pub(crate) struct Room {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    processor: Option<usize>,
}

/// More programs that are real in rooms.
static MORE: OnceLock<String> = OnceLock::new();

/// Makes these programs real in all rooms that are opened from here on.
pub(crate) fn provide(names: String) {
    // Whoever came first has said so.
    let _ = MORE.set(names);
}

impl Room {
    /// Makes a room, all of whose processes stay on one processor if it is given: a stop wakes the tracer, and where both
    /// are on the same one it does so at half the cost. An error says why there can be none.
    pub(crate) fn open(processor: Option<usize>) -> Result<Room, Failure> {
        if !Path::new("/proc/self/ns/user").exists() {
            return Err("this kernel has no user namespaces".into());
        }
        let mut command = Command::new(SELF);
        command.arg(MAKER).stdin(Stdio::piped()).stdout(Stdio::piped());
        if getuid().is_root() {
            // Then even the room's root is nobody outside.
            command.uid(NOBODY).gid(NOBODY);
        }
        if let Some(names) = MORE.get() {
            command.env(room::MORE_TOOLS, names);
        }
        if let Some(processor) = processor {
            command.env(PROCESSOR, processor.to_string());
        }
        let mut child = command.spawn()?;
        let input = child.stdin.take().ok_or("a room takes no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("a room gives no output")?);
        let mut room = Room { child, input, output, processor };
        let greeting: Greeting = room.read()?;
        greeting.error.map_or(Ok(room), |error| Err(error.into()))
    }

    /// Another one in the same place.
    pub(crate) fn again(&self) -> Result<Room, Failure> {
        Room::open(self.processor)
    }

    /// Runs a command.
    pub(crate) fn run(&mut self, job: &Job) -> Result<Reply, Failure> {
        serde_json::to_writer(&mut self.input, job)?;
        self.input.write_all(b"\n")?;
        self.input.flush()?;
        self.read()
    }

    fn read<T: serde::de::DeserializeOwned>(&mut self) -> Result<T, Failure> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the room was closed from inside".into());
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Everything in it ends with its first process, and that with its maker.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
