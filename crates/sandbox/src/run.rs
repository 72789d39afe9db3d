//! Runs a plan to its end: relays output, keeps the deadline, kills the tree, says how it ended.

mod reading;
mod stdio;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::TcpListener;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use self::reading::{More, Reading};
use self::stdio::{input, output};
use crate::Network;
use crate::ahead::Ahead;
use crate::cancel::Cancel;
use crate::capture::{CHUNK, Captured};
use crate::descriptor;
use crate::error::{SandboxError, Stage};
use crate::gate::{Gate, Guard, Judge};
use crate::init::Report;
use crate::interrupt::Interrupts;
use crate::passing;
use crate::plan::Plan;
use crate::pty::{self, Pty};
use crate::put_off::complete_start;
use crate::space::{Meter, Space, Used};
use crate::spawn::{Sandbox, Sockets, spawn};
use crate::watchdog::{Barked, Watchdog};

/// How the command itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Exited(i32),
    /// It was ended by this signal; 9 when the sandbox was killed on timeout or cancellation.
    Signaled(i32),
}

impl Exit {
    /// What a shell would give as `$?`.
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => code,
            Self::Signaled(signal) => 128 + signal,
        }
    }
}

/// An output stream of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What the command reads.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Stdin {
    /// End of file at once.
    #[default]
    Null,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// Where an output stream goes.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Output {
    /// Into the [`RunResult`], and to [`Options::on_output`].
    #[default]
    Capture,
    /// Straight to this descriptor, without passing through here. Not a terminal that somebody types at: whoever may write to
    /// a terminal may usually read from it.
    Descriptor(OwnedFd),
}

/// A callback for output as it comes.
pub type OnOutput<'a> = &'a mut dyn FnMut(Stream, &[u8]);

/// A callback that takes over the proxy's listening socket.
pub type OnListener<'a> = Box<dyn FnOnce(TcpListener) -> io::Result<()> + 'a>;

/// How to run a plan.
#[non_exhaustive]
pub struct Options<'a> {
    /// Kill everything after this time.
    pub timeout: Option<Duration>,
    /// How many bytes of each stream are kept; all are read.
    pub max_output: usize,
    /// Kill everything once a stream has brought more than `max_output`. Else the rest is read and left out.
    pub kill_on_output: bool,
    /// What the command reads.
    pub stdin: Stdin,
    /// Where standard output goes.
    pub stdout: Output,
    /// Where standard error goes.
    pub stderr: Output,
    /// Called with every piece of captured output, in the order in which it was read. While it runs, nothing is read, so a
    /// slow one slows the command.
    pub on_output: Option<OnOutput<'a>>,
    /// Serves the socket on which a run with [`Network::Proxied`](crate::Network::Proxied) listens. It is called once, before
    /// the command can have connected; an error kills the run.
    pub on_listener: Option<OnListener<'a>>,
    /// Kills everything when another thread asks for it.
    pub cancel: Option<Cancel>,
    /// Kills everything when this is used up. Short runs end before anybody looks.
    pub space: Option<Space>,
    /// Has the signals to this process from when the command has started, which cancel the run. For processes that run one command at
    /// a time.
    pub interrupts: Option<&'a Interrupts>,
    /// Judges every program that starts, for a plan that is [gated](crate::Confinement::gated).
    pub judge: Option<&'a dyn Judge>,
    /// The terminal of a plan that has one ([`Confinement::terminal`](crate::Confinement::terminal)), instead of `stdin`, `stdout` and
    /// `stderr`. `None` there: one at which nobody types.
    pub pty: Option<Pty>,
    /// Namespaces that this thread had made meanwhile. They are used if they are those that the plan wants.
    pub ahead: Option<Ahead>,
    /// Where a run may leave what is still going when nothing of the command is left. Without it that is waited for.
    pub rest: Option<&'a mut Rest>,
    /// Called once, when the command has been started and nothing is to be done but to wait. It should not take long: nothing is read
    /// and no deadline is kept meanwhile.
    pub meanwhile: Option<Box<dyn FnOnce() + 'a>>,
}

impl Default for Options<'_> {
    /// No timeout, 1 MiB of each stream, no input.
    fn default() -> Self {
        Self {
            timeout: None,
            max_output: 1 << 20,
            kill_on_output: false,
            stdin: Stdin::Null,
            stdout: Output::Capture,
            stderr: Output::Capture,
            on_output: None,
            on_listener: None,
            cancel: None,
            space: None,
            interrupts: None,
            judge: None,
            pty: None,
            ahead: None,
            rest: None,
            meanwhile: None,
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("timeout", &self.timeout)
            .field("max_output", &self.max_output)
            .field("kill_on_output", &self.kill_on_output)
            .field("stdout", &self.stdout)
            .field("stderr", &self.stderr)
            .field("on_output", &self.on_output.is_some())
            .field("cancel", &self.cancel)
            .field("space", &self.space)
            .field("interrupts", &self.interrupts)
            .field("judge", &self.judge.is_some())
            .field("pty", &self.pty)
            .field("ahead", &self.ahead.is_some())
            .field("rest", &self.rest.is_some())
            .field("meanwhile", &self.meanwhile.is_some())
            .finish_non_exhaustive()
    }
}

/// What of a run is still going when its result is there: process 1 of the sandbox, the last one in it and no part of the command, which
/// the kernel takes apart with its namespaces. Dropping it makes sure of that and waits until it is done.
#[derive(Debug, Default)]
pub struct Rest {
    _sandbox: Option<Sandbox>,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunResult {
    /// How the command ended.
    pub exit: Exit,
    /// The deadline passed before the command ended, and the tree was killed.
    pub timed_out: bool,
    /// It was cancelled before it ended, and the tree was killed.
    pub cancelled: bool,
    /// A stream brought more than is kept, and the tree was killed because [`Options::kill_on_output`] says so. What ends by itself
    /// in the same moment counts as killed, too: otherwise chance would decide.
    pub output_exceeded: bool,
    /// What of [`Options::space`] was used up, and the tree was killed. What ends by itself in the same moment counts as killed, too.
    pub disk_exceeded: Option<Used>,
    /// The kernel has killed something in it, because the run's memory was used up
    /// ([`Limits::run_memory`](crate::Limits::run_memory)).
    pub out_of_memory: bool,
    /// When the command ended something that it had started was still going, and was killed then.
    pub left_running: bool,
    /// What the command wrote to standard output, as far as it was captured.
    pub stdout: Captured,
    /// What the command wrote to standard error, as far as it was captured.
    pub stderr: Captured,
    /// From before the sandbox was built until everything in it was gone.
    pub duration: Duration,
}

/// Runs a plan and waits until nothing of it is left.
///
/// # Errors
/// When the sandbox could not be built or the program could not be started: then nothing of the command has run. After
/// that, only with [`Stage::Supervise`], when the kernel refuses to tell how it goes; then the tree has been killed.
pub fn run(plan: &Plan, options: Options<'_>) -> Result<RunResult, SandboxError> {
    if !plan.gated {
        return match options.judge {
            None => supervise(plan, options, None),
            Some(_) => Err(SandboxError::request("there is a judge and no gate", "make the plan `gated`")),
        };
    }
    let gate = Gate {
        only: plan.only.as_deref(),
        environment: &plan.environment.strings,
        judge: options.judge,
        begun: plan.outer.is_some(),
        interrupted: options.interrupts.map(Interrupts::watched),
    };
    complete_start();
    std::thread::scope(|scope| {
        let guard = Guard::start(scope, gate)?;
        let result = supervise(plan, options, Some(&guard));
        let judged = guard.finish();
        result.and_then(|result| judged.map(|()| result))
    })
}

/// Runs a plan, its programs judged by a gate if there is one.
fn supervise(
    plan: &Plan,
    options: Options<'_>,
    guard: Option<&Guard<'_>>,
) -> Result<RunResult, SandboxError> {
    let started = Instant::now();
    let deadline = options.timeout.and_then(|timeout| started.checked_add(timeout));
    let stdin = input(options.stdin)?;
    let (stdout, stdout_end) = output(options.stdout)?;
    let (stderr, stderr_end) = output(options.stderr)?;
    let (status, status_end) = descriptor::pipe()?;
    let ends = [stdin, stdout_end, stderr_end, status_end];
    let [a, b, c, d] = &ends;
    let cancel = match (options.cancel, options.interrupts) {
        (None, Some(_)) => Some(Cancel::new()?),
        (cancel, _) => cancel,
    };
    let proxy = Offer::of(plan, options.on_listener)?;
    let terminal = pty::Offer::of(plan, options.pty)?;
    let mut meter = options.space.as_ref().and_then(Meter::new);
    let mut sandbox = spawn(
        plan,
        [a.as_raw_fd(), b.as_raw_fd(), c.as_raw_fd(), d.as_raw_fd()],
        Sockets {
            gate: guard.map(Guard::socket),
            proxy: proxy.as_ref().map(|proxy| proxy.theirs.as_raw_fd()),
            terminal: terminal.as_ref().map(pty::Offer::for_child),
        },
        options.ahead,
    )?;
    drop(ends); // or the pipes would never end
    // The command runs on another processor meanwhile, and from here on there may be threads.
    complete_start();
    if let Some(proxy) = proxy {
        proxy.hand_over()?; // on failure the sandbox is dropped, and with it everything in it
    }
    sandbox.settle();
    if let (Some(interrupts), Some(cancel)) = (options.interrupts, &cancel) {
        interrupts.arm(cancel);
    }
    if let Some(meanwhile) = options.meanwhile {
        meanwhile();
    }

    let session = terminal.map(pty::Offer::take).transpose()?;
    let (stdout, stderr) = match &session {
        Some(session) => (Some(session.output()?), None),
        None => (stdout, stderr),
    };
    let mut relay = Relay {
        sandbox,
        session,
        streams: [
            Reading::new(Stream::Stdout, stdout, options.max_output),
            Reading::new(Stream::Stderr, stderr, options.max_output),
        ],
        on_output: options.on_output,
        cancel,
        deadline,
        kill_on_output: options.kill_on_output,
        gate: guard.map_or(-1, Guard::failed),
        watchdog: None,
        unwatched: meter.as_mut().map(|meter| Instant::now() + meter.unwatched()),
        meter,
        buffer: vec![0; CHUNK],
        status: Some(status),
        report: None,
        may_leave: options.rest.is_some() && !plan.gated && !plan.terminal && plan.outer.is_none(),
    };
    let killed = relay.until_gone()?;
    options.interrupts.inspect(|interrupts| interrupts.command_is_gone());
    let exit = match exit_of(relay.report, killed.is_some())? {
        // What ended by itself in the same moment has not succeeded: what it did is not kept.
        _ if matches!(killed, Some(Killed::OutputExceeded | Killed::DiskExceeded(_))) => {
            Exit::Signaled(libc::SIGKILL)
        }
        exit => exit,
    };
    let out_of_memory = relay.sandbox.ran_out_of_memory();
    let [stdout, stderr] = relay.streams.map(|stream| stream.collector.finish());
    if let Some(rest) = options.rest.filter(|_| relay.may_leave) {
        *rest = Rest { _sandbox: Some(relay.sandbox) };
    }
    Ok(RunResult {
        exit,
        timed_out: killed == Some(Killed::TimedOut),
        cancelled: killed == Some(Killed::Cancelled),
        output_exceeded: killed == Some(Killed::OutputExceeded),
        disk_exceeded: match killed {
            Some(Killed::DiskExceeded(used)) => Some(used),
            _ => None,
        },
        out_of_memory,
        left_running: killed.is_none()
            && matches!(relay.report, Some(Report::Ended(_) | Report::EndedFirst(_))),
        stdout,
        stderr,
        duration: started.elapsed(),
    })
}

/// The sockets by which the listening socket of a proxied network comes out.
struct Offer<'a> {
    ours: OwnedFd,
    theirs: OwnedFd,
    serve: OnListener<'a>,
}

impl<'a> Offer<'a> {
    fn of(plan: &Plan, serve: Option<OnListener<'a>>) -> Result<Option<Self>, SandboxError> {
        match (plan.network, serve) {
            (Network::Proxied, Some(serve)) => {
                let (ours, theirs) = passing::sockets().map_err(|error| Self::failed(&error))?;
                Ok(Some(Self { ours, theirs: descriptor::above_standard(theirs)?, serve }))
            }
            (Network::Proxied, None) => Err(SandboxError::request(
                "the network is that of a proxy, and nobody serves it",
                "give `Options::on_listener`",
            )),
            _ => Ok(None),
        }
    }

    fn failed(error: &io::Error) -> SandboxError {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        SandboxError::kernel(Stage::Supervise, errno, "taking over the proxy's socket")
    }

    fn hand_over(self) -> Result<(), SandboxError> {
        let Self { ours, theirs, serve } = self;
        drop(theirs); // or the wait would never end
        let received = passing::receive(&ours).and_then(|fd| fd.ok_or(io::ErrorKind::UnexpectedEof.into()));
        received.and_then(|fd| serve(TcpListener::from(fd))).map_err(|error| Self::failed(&error))
    }
}

/// Why the tree was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    TimedOut,
    Cancelled,
    OutputExceeded,
    DiskExceeded(Used),
    /// The gate cannot judge any more. The result is an error.
    GateFailed,
}

impl Killed {
    /// Whether that is nothing any more once the command has ended by itself: what it has left behind is killed anyway.
    fn is_late(self) -> bool {
        matches!(self, Self::TimedOut | Self::Cancelled)
    }
}

/// What process 1 reported; silence means that it was killed.
fn exit_of(report: Option<Report>, killed: bool) -> Result<Exit, SandboxError> {
    match report {
        Some(Report::NotStarted(errno)) if !killed => {
            Err(SandboxError::kernel(Stage::Execute, errno, "starting the program"))
        }
        Some(Report::NotStarted(_)) | None => Ok(Exit::Signaled(libc::SIGKILL)),
        Some(Report::Ended(status) | Report::EndedAlone(status) | Report::EndedFirst(status)) => {
            Ok(match libc::WIFSIGNALED(status) {
                true => Exit::Signaled(libc::WTERMSIG(status)),
                false => Exit::Exited(libc::WEXITSTATUS(status)),
            })
        }
    }
}

struct Relay<'a> {
    sandbox: Sandbox,
    /// The command's terminal, if it has one.
    session: Option<pty::Session>,
    streams: [Reading; 2],
    on_output: Option<OnOutput<'a>>,
    cancel: Option<Cancel>,
    deadline: Option<Instant>,
    kill_on_output: bool,
    /// Readable when the gate has failed; negative without one.
    gate: RawFd,
    /// Looks at the clock while somebody is given output, and at the disk.
    watchdog: Option<Watchdog>,
    /// What it is to look at, until it does.
    meter: Option<Meter>,
    /// From when on it has to be looked at.
    unwatched: Option<Instant>,
    buffer: Vec<u8>,
    /// Where process 1 reports, until it has.
    status: Option<File>,
    report: Option<Report>,
    /// Process 1 need not be waited for once it is alone.
    may_leave: bool,
}

impl Relay<'_> {
    /// Relays until process 1 is gone, or left alone, and the pipes are empty. Returns why it was killed, if it was.
    fn until_gone(&mut self) -> Result<Option<Killed>, SandboxError> {
        let mut why = None;
        loop {
            let killed = why.is_some();
            let [stdout, stderr] = &self.streams;
            let cancel = self.cancel.as_ref().filter(|_| !killed).map_or(-1, |cancel| cancel.as_raw_fd());
            let gate = if killed { -1 } else { self.gate };
            let [typed, room] = self.session.as_ref().map_or([-1; 2], pty::Session::wanted);
            let status = self.status.as_ref().filter(|_| self.may_leave).map_or(-1, AsRawFd::as_raw_fd);
            let sandbox = self.sandbox.as_raw_fd();
            let mut wait = [sandbox, cancel, stdout.fd(), stderr.fd(), gate, status, typed, room]
                .map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
            let [.., status, _, room] = &mut wait;
            // Only that process 1 has closed it, which it does when it has reported.
            status.events = 0;
            room.events = libc::POLLOUT;
            let patience = self.deadline.filter(|_| !killed);
            let looks = self.session.as_ref().is_some_and(pty::Session::is_followed);
            let look = looks.then(|| Instant::now() + pty::LOOK);
            let room = self.unwatched.filter(|_| !killed && self.watchdog.is_none());
            poll(&mut wait, [patience, look, room].into_iter().flatten().min())?;
            let [.., typed, _] = &wait;
            if let Some(session) = &mut self.session {
                session.pass(typed.revents);
            }
            let [_, _, said, complained, ..] = wait.map(|w| w.revents & libc::POLLIN != 0);
            let [gone, cancel, stdout, stderr, gate, reported, ..] = wait.map(|w| w.revents != 0);
            // Where there is no output, or nobody left to be ended, nobody has to look at the clock meanwhile.
            let passed_on = (said || complained) && self.on_output.is_some();
            let fills = room.is_some_and(|room| Instant::now() >= room);
            if (passed_on || fills) && !gone && !killed && self.watchdog.is_none() {
                let cancel = self.cancel.as_ref().map(|cancel| cancel.as_raw_fd());
                let process = self.sandbox.as_raw_fd();
                self.watchdog = Watchdog::start(process, cancel, self.deadline, &mut self.meter);
                // Perhaps there can be no more threads. Then the disk is looked at here, whenever nobody is given output, as the
                // clock is, and a thread is tried again.
                if fills && self.watchdog.is_none() {
                    why = self.look();
                }
            }
            for (ready, stream) in [stdout, stderr].into_iter().zip(&mut self.streams) {
                if ready {
                    stream.read_much(&mut self.buffer, &mut self.on_output)?;
                }
            }
            if reported {
                self.read_report();
            }
            let alone = matches!(self.report, Some(Report::EndedAlone(_))) && !killed;
            if gone || alone {
                break;
            }
            if killed {
                continue;
            }
            let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            why = match why {
                None if gate => Some(Killed::GateFailed),
                None if cancel => Some(Killed::Cancelled),
                None if self.is_over() => Some(Killed::OutputExceeded),
                None if late => Some(Killed::TimedOut),
                why => why,
            };
            if why.is_some() {
                self.sandbox.kill();
            }
        }
        let barked = self.watchdog.take().and_then(Watchdog::finish).map(|barked| match barked {
            Barked::TimedOut => Killed::TimedOut,
            Barked::Cancelled => Killed::Cancelled,
            Barked::Reserve => Killed::DiskExceeded(Used::Reserve),
            Barked::Most => Killed::DiskExceeded(Used::Most),
        });
        self.may_leave &=
            matches!(self.report, Some(Report::EndedAlone(_))) && why.is_none() && barked.is_none();
        if !self.may_leave {
            self.sandbox.reap();
            self.read_report();
        }
        let has_ended = self.report.is_some_and(Report::is_end);
        let [why, barked] = [why, barked].map(|killed| killed.filter(|why| !(has_ended && why.is_late())));
        let why = match (why, barked) {
            (Some(Killed::Cancelled), full @ Some(Killed::DiskExceeded(_))) => full,
            (why, barked) => why.or(barked),
        };
        // What somebody types from now on is not the command's.
        self.session = None;
        // All writers are gone with the namespace, so this ends, unless an end was passed to a process outside: what that one
        // writes is not waited for, and no more is read than can have been there.
        for stream in &mut self.streams {
            let enough = stream.collector.total().saturating_add(descriptor::MOST_IN_A_PIPE);
            while stream.read(&mut self.buffer, &mut self.on_output)? != More::No
                && stream.collector.total() < enough
            {}
        }
        Ok(why.or_else(|| self.is_over().then_some(Killed::OutputExceeded)))
    }

    /// Looks at the disk without a thread.
    fn look(&mut self) -> Option<Killed> {
        match self.meter.as_mut().map(Meter::look).transpose() {
            Ok(next) => {
                self.unwatched = next.map(|next| Instant::now() + next);
                None
            }
            Err(used) => Some(Killed::DiskExceeded(used)),
        }
    }

    /// Process 1 has written all that it writes, in one or two pieces; nothing if it was killed before the command ended.
    fn read_report(&mut self) {
        if let Some(mut status) = self.status.take() {
            let mut reports = [0; 16];
            let read = loop {
                match status.read(&mut reports) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read.unwrap_or(0),
                }
            };
            self.report = Report::of(reports.get(..read).unwrap_or_default());
        }
    }

    /// Whether there was more output than the command may make.
    fn is_over(&self) -> bool {
        self.kill_on_output && self.streams.iter().any(|stream| stream.collector.is_over())
    }
}

/// poll(2) until something happens or the deadline passes.
fn poll(wait: &mut [libc::pollfd], deadline: Option<Instant>) -> Result<(), SandboxError> {
    let timeout = match deadline {
        None => -1,
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            // Rounded up, so that it does not spin in the last millisecond.
            left.as_millis().saturating_add(1).try_into().unwrap_or(i32::MAX)
        }
    };
    // SAFETY: the pointer and the count are those of the slice.
    let result = unsafe { libc::poll(wait.as_mut_ptr(), wait.len() as libc::nfds_t, timeout) };
    if result < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
        return Err(SandboxError::last(Stage::Supervise, "waiting for the command"));
    }
    if result < 0 {
        wait.iter_mut().for_each(|w| w.revents = 0);
    }
    Ok(())
}
