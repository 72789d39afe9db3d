//! The gate's thread.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Scope, ScopedJoinHandle};

use super::listener::{self, Listener, Notification};
use super::stack::Stack;
use super::trace::{self, Event};
use super::{Exec, Identity, Judge, Ruling};
use crate::descriptor;
use crate::error::{SandboxError, Stage};
use crate::interrupt::Interrupted;
use crate::passing;

/// How often a stopped program is looked after while somebody is asked about it: it may be killed meanwhile. Milliseconds.
const LOOK_AFTER: i32 = 20;

/// What makes the dynamic loader load other code into a program (ld.so(8)).
const LOADED: [&str; 3] = ["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"];

/// Who decides.
#[derive(Debug, Clone)]
pub(crate) struct Gate<'a> {
    /// Nothing but these is ever executed, whatever the judge says.
    pub(crate) only: Option<&'a [Identity]>,
    /// The environment that the command was given.
    pub(crate) environment: &'a [CString],
    /// Decides about the rest.
    pub(crate) judge: Option<&'a dyn Judge>,
    /// Process 1 runs when the filter comes, so the first call is the command's.
    pub(crate) begun: bool,
    /// A signal to this process is a no to whatever is asked.
    pub(crate) interrupted: Option<Interrupted>,
}

impl Gate<'_> {
    fn judge(&self, exec: &Exec) -> Ruling {
        if let Some(only) = self.only
            && (exec.nameless || !only.contains(&exec.identity) || self.loads_more(exec))
        {
            if let Some(judge) = self.judge {
                judge.unlisted(exec);
            }
            return Ruling::Deny;
        }
        self.judge.map_or(Ruling::Allow, |judge| judge.judge(exec))
    }

    /// Whether somebody inside has told the loader to load something. That would be code in a program of the list.
    fn loads_more(&self, exec: &Exec) -> bool {
        let given = |entry: &[u8]| self.environment.iter().any(|given| given.to_bytes() == entry);
        exec.environment.iter().map(|entry| entry.as_bytes()).any(|entry| {
            let named =
                |name: &str| entry.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
            LOADED.iter().any(|name| named(name)) && !given(entry)
        })
    }
}

/// A gate's thread under way, seen from the one that runs the sandbox.
#[derive(Debug)]
pub(crate) struct Guard<'scope> {
    /// The end over which the child sends the listener. While it is open, the gate works.
    socket: OwnedFd,
    /// Readable when the gate has failed.
    failed: File,
    thread: ScopedJoinHandle<'scope, io::Result<()>>,
}

impl<'scope> Guard<'scope> {
    /// Starts the gate. It does nothing until the child sends its listener.
    pub(crate) fn start<'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        gate: Gate<'scope>,
    ) -> Result<Self, SandboxError> {
        let failed = |error: io::Error| {
            let errno = error.raw_os_error().unwrap_or(libc::EIO);
            SandboxError::kernel(Stage::Resources, errno, "starting the exec gate")
        };
        let (ours, theirs) = passing::sockets().map_err(failed)?;
        let bell = listener::event().map_err(failed)?;
        let alarm = bell.try_clone().map_err(failed)?;
        let thread = std::thread::Builder::new()
            .name("shward gate".to_owned())
            .spawn_scoped(scope, move || {
                let alarm = Alarm(alarm);
                let done = watch(scope, gate, &ours);
                if done.is_ok() {
                    std::mem::forget(alarm);
                }
                done
            })
            .map_err(failed)?;
        Ok(Self { socket: descriptor::above_standard(theirs)?, failed: bell, thread })
    }

    /// What the child sends its listener over.
    pub(crate) fn socket(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// A descriptor that becomes readable when the gate has failed and the sandbox must be killed.
    pub(crate) fn failed(&self) -> RawFd {
        self.failed.as_raw_fd()
    }

    /// Ends the gate after the sandbox, and tells whether it has worked to the end.
    pub(crate) fn finish(self) -> Result<(), SandboxError> {
        drop(self.socket);
        let errno = match self.thread.join() {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.raw_os_error().unwrap_or(libc::EIO),
            Err(_) => 0, // the judge panicked
        };
        Err(SandboxError::kernel(Stage::Gate, errno, "judging the programs of the sandbox"))
    }
}

/// Rings when the gate fails, also by a panic of the judge.
struct Alarm(File);

impl Drop for Alarm {
    fn drop(&mut self) {
        let _ = self.0.write(&1u64.to_ne_bytes());
    }
}

/// Watches until the other end of the socket is closed.
fn watch<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    gate: Gate<'scope>,
    socket: &OwnedFd,
) -> io::Result<()> {
    let Some(listener) = Listener::receive(socket)? else { return Ok(()) };
    let waiting = Waiting::new(scope, gate.interrupted.clone())?;
    let started = gate.begun;
    Watch { gate, listener, started, flying: Vec::new(), waiting, stack: Stack::default() }
        .run(socket.as_raw_fd())
}

struct Watch<'scope, 'env> {
    gate: Gate<'scope>,
    listener: Listener,
    /// Process 1 has been started.
    started: bool,
    /// Threads that are attached to and will stop or die without anything more being done.
    flying: Vec<libc::pid_t>,
    waiting: Waiting<'scope, 'env>,
    stack: Stack,
}

impl Watch<'_, '_> {
    fn run(&mut self, socket: RawFd) -> io::Result<()> {
        loop {
            let looking = !self.waiting.questions.is_empty();
            let patience = if looking { LOOK_AFTER } else { -1 };
            let [call, end, answer] =
                ready([self.listener.as_raw_fd(), socket, self.waiting.bell.as_raw_fd()], patience)?;
            if call & libc::POLLIN != 0 {
                self.begin()?;
            } else if call != 0 && end == 0 && !looking {
                // Nobody is left who could call, and nothing is attached; only the end can come now.
                ready([socket], -1)?;
            }
            if answer != 0 {
                self.answers();
            }
            if looking {
                while self.tell(trace::wait(false)?) {}
            }
            while !self.flying.is_empty() {
                // Others that call meanwhile are set off before anybody is waited for.
                let [call] = ready([self.listener.as_raw_fd()], 0)?;
                if call & libc::POLLIN != 0 {
                    self.begin()?;
                }
                self.tell(trace::wait(true)?);
            }
            // Only now: as long as anything is attached, the sandbox is not gone.
            if end != 0 && call & libc::POLLIN == 0 {
                return Ok(());
            }
        }
    }

    /// Takes a call, attaches to its thread, and lets it go on.
    fn begin(&mut self) -> io::Result<()> {
        let Some(notification) = self.listener.next()? else { return Ok(()) };
        if !self.started {
            // The first call is that of our own code, which starts process 1. Nothing of the command exists yet.
            self.started = true;
            self.listener.go_on(&notification);
            return Ok(());
        }
        let Notification { thread, .. } = notification;
        let Ok(thread) = libc::pid_t::try_from(thread) else {
            self.listener.fail(&notification, libc::ESRCH);
            return Ok(());
        };
        if trace::seize(thread).is_ok() {
            self.flying.push(thread);
        } else if !self.flying.contains(&thread) || trace::interrupt(thread).is_err() {
            // Nobody could see what it becomes.
            self.listener.fail(&notification, libc::EPERM);
            return Ok(());
        } // or it is attached to: its last call has failed, and this one came before it was interrupted
        // From here on the thread cannot vanish without our being told, so its number is its own.
        if self.listener.is_valid(&notification) {
            self.listener.go_on(&notification);
        } else {
            self.listener.fail(&notification, libc::EPERM);
        }
        // After the answer: a caller that waits would be woken by it on another processor. Where the call has failed before, the
        // caller goes on for a moment as what it was; where it has succeeded, it is stopped already. It fails only for what is
        // gone, or has another number by its call, which is told.
        let _ = trace::interrupt(thread);
        Ok(())
    }

    /// Deals with what a wait told. Returns whether there may be more.
    fn tell(&mut self, event: Event) -> bool {
        match event {
            Event::Executed { thread, before } => {
                self.flying.retain(|t| *t != thread && *t != before);
                self.executed(thread);
            }
            Event::Stopped { thread, signal } => {
                self.flying.retain(|t| *t != thread);
                // The call failed. A signal that came in meanwhile is passed on.
                if trace::detach(thread, signal).is_err() {
                    self.flying.push(thread); // it is dying, which is told
                }
            }
            Event::Gone { thread } => {
                self.flying.retain(|t| *t != thread);
                self.waiting.questions.retain(|question| question.thread != thread);
            }
            Event::Nothing => return false,
            Event::Nobody => {
                self.flying.clear();
                return false;
            }
        }
        true
    }

    fn executed(&mut self, thread: libc::pid_t) {
        // What cannot be read cannot be judged.
        let Ok(exec) = Exec::read(thread, &mut self.stack) else { return self.settle(thread, false) };
        match self.gate.judge(&exec) {
            Ruling::Allow => self.settle(thread, true),
            Ruling::Deny => self.settle(thread, false),
            Ruling::Ask => {
                if !self.waiting.ask(exec, self.gate.judge) {
                    self.settle(thread, false);
                }
            }
        }
    }

    /// Lets a stopped program run, or kills it.
    fn settle(&mut self, thread: libc::pid_t, allowed: bool) {
        if !allowed {
            trace::kill(thread);
        }
        if !allowed || trace::detach(thread, 0).is_err() {
            self.flying.push(thread); // until its death is told
        }
    }

    fn answers(&mut self) {
        let _ = (&self.waiting.bell).read(&mut [0; 8]);
        while let Ok((question, allowed)) = self.waiting.answers.try_recv() {
            let found = self.waiting.questions.iter().position(|open| open.number == question);
            if let Some(found) = found {
                let thread = self.waiting.questions.swap_remove(found).thread;
                self.settle(thread, allowed);
            }
        }
    }
}

/// A program that is stopped until somebody has answered. When it is dropped nobody waits for that any more.
struct Question {
    number: u64,
    thread: libc::pid_t,
    withdrawn: Arc<AtomicBool>,
}

impl Drop for Question {
    fn drop(&mut self) {
        self.withdrawn.store(true, Ordering::Release);
    }
}

/// What the thread that asks gets: the question's number, the program, and whether nobody waits for the answer any more.
type Asking = (u64, Exec, Arc<AtomicBool>);

/// Programs that are stopped until somebody has answered.
struct Waiting<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    questions: Vec<Question>,
    asked: u64,
    /// To the thread that asks, once there is one.
    asker: Option<Sender<Asking>>,
    answers: Receiver<(u64, bool)>,
    sender: Sender<(u64, bool)>,
    /// Readable when there are answers.
    bell: File,
    interrupted: Option<Interrupted>,
}

impl<'scope, 'env> Waiting<'scope, 'env> {
    fn new(scope: &'scope Scope<'scope, 'env>, interrupted: Option<Interrupted>) -> io::Result<Self> {
        let (sender, answers) = mpsc::channel();
        let bell = listener::event()?;
        let questions = Vec::new();
        Ok(Self { scope, questions, asked: 0, asker: None, answers, sender, bell, interrupted })
    }

    /// Has somebody asked. Returns whether there will be an answer.
    fn ask(&mut self, exec: Exec, judge: Option<&'scope dyn Judge>) -> bool {
        let Some(judge) = judge else { return false };
        if self.asker.is_none() {
            self.asker = self.start(judge).ok();
        }
        let withdrawn = Arc::new(AtomicBool::new(false));
        let question = Question { number: self.asked, thread: exec.pid, withdrawn: withdrawn.clone() };
        self.asked += 1;
        let asking = (question.number, exec, withdrawn);
        let sent = self.asker.as_ref().is_some_and(|asker| asker.send(asking).is_ok());
        if sent {
            self.questions.push(question);
        }
        sent
    }

    fn start(&self, judge: &'scope dyn Judge) -> io::Result<Sender<Asking>> {
        let (asker, questions) = mpsc::channel::<Asking>();
        let (answers, bell) = (self.sender.clone(), self.bell.try_clone()?);
        let interrupted = self.interrupted.clone();
        std::thread::Builder::new().name("shward gate asks".to_owned()).spawn_scoped(
            self.scope,
            move || {
                for (question, exec, withdrawn) in questions {
                    let withdrawn = || {
                        withdrawn.load(Ordering::Acquire) || interrupted.as_ref().is_some_and(Interrupted::is)
                    };
                    // A judge that panics allows nothing, and must not take the answers to others with it.
                    let ask = std::panic::AssertUnwindSafe(|| judge.answer(&exec, &withdrawn));
                    let allowed = std::panic::catch_unwind(ask).unwrap_or(false) && !withdrawn();
                    // What was interrupted is being killed. Until then the program stays stopped: what has started it would
                    // go on with the answer.
                    if interrupted.as_ref().is_some_and(Interrupted::is) {
                        continue;
                    }
                    let _ = answers.send((question, allowed));
                    let _ = (&bell).write(&1u64.to_ne_bytes());
                }
            },
        )?;
        Ok(asker)
    }
}

/// poll(2): what happened at each of the descriptors. `patience` is in milliseconds, negative for ever.
fn ready<const N: usize>(descriptors: [RawFd; N], patience: i32) -> io::Result<[i16; N]> {
    let mut wait = descriptors.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the pointer and the count are those of the array.
    let result = unsafe { libc::poll(wait.as_mut_ptr(), N as libc::nfds_t, patience) };
    match result {
        0.. => Ok(wait.map(|w| w.revents)),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok([0; N]),
            error => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A file without a name may get one, and another content, while it is executed.
    #[test]
    fn of_a_list_nothing_without_a_name_is_executed() {
        let identity = Identity { device: 1, inode: 2 };
        let exec = Exec {
            pid: 1,
            program: PathBuf::from("/bin/true"),
            nameless: false,
            identity,
            arguments: Vec::new(),
            environment: Vec::new(),
            cwd: PathBuf::from("/"),
        };
        let only = [identity];
        let mut gate =
            Gate { only: Some(&only), environment: &[], judge: None, begun: true, interrupted: None };
        assert!(matches!(gate.judge(&exec), Ruling::Allow));
        assert!(matches!(gate.judge(&Exec { nameless: true, ..exec.clone() }), Ruling::Deny));
        let other = Identity { inode: 3, ..identity };
        assert!(matches!(gate.judge(&Exec { identity: other, ..exec.clone() }), Ruling::Deny));
        let loads = vec!["LD_PRELOAD=/tmp/x.so".into()];
        assert!(matches!(gate.judge(&Exec { environment: loads, ..exec.clone() }), Ruling::Deny));
        gate.only = None;
        assert!(matches!(gate.judge(&Exec { nameless: true, ..exec }), Ruling::Allow));
    }
}
