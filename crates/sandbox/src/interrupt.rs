//! Signals to this process that end a run, and not the process before what came of the run has been told.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::{mem, ptr};

use crate::cancel::Cancel;

/// What a terminal, a service manager or the program that started us sends to have an end.
const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// After a signal the process is ended if the command has not gone in so many seconds, as when nobody reads its output.
const PATIENCE: libc::c_uint = 5;

/// The event of the run that is to be cancelled; negative while there is none.
static EVENT: AtomicI32 = AtomicI32::new(NOBODY);
const NOBODY: i32 = -1;

/// The signal that came, or 0.
static CAME: AtomicI32 = AtomicI32::new(0);

/// Some run of this process has the signals.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// How many threads are in the handler.
static HANDLING: AtomicUsize = AtomicUsize::new(0);

/// Holds `SIGINT`, `SIGTERM` and `SIGHUP` for one run, from when its command has started until this is dropped: the first of each kind
/// cancels the run (while the command is there) and is remembered, a second one does what it does otherwise. While the command is
/// there, a first one also sets an [alarm](https://man7.org/linux/man-pages/man2/alarm.2.html) of five seconds, at which the process
/// ends; no other one may be pending.
///
/// Of several runs of a process only the first has the signals. What is ignored, as with nohup(1), stays so. A signal that nobody
/// [asked for](Self::came) is raised again when this is dropped.
#[derive(Debug, Default)]
pub struct Interrupts {
    armed: RefCell<Option<Armed>>,
    told: Cell<bool>,
    /// It is this one that has the signals.
    ours: Arc<AtomicBool>,
}

/// Tells whether there was a signal, on other threads than that of the run.
#[derive(Debug, Clone)]
pub(crate) struct Interrupted(Arc<AtomicBool>);

impl Interrupted {
    pub(crate) fn is(&self) -> bool {
        self.0.load(Ordering::SeqCst) && CAME.load(Ordering::SeqCst) != 0
    }
}

/// What was before.
#[derive(Debug)]
struct Armed {
    before: Vec<(libc::c_int, Action)>,
    alarm: Option<Action>,
    /// What is written to must not be closed.
    _cancel: Cancel,
}

struct Action(libc::sigaction);

impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Action")
    }
}

impl Interrupts {
    /// The command has started: from here on the signals cancel it. Not before, since what is started must not have the handlers.
    pub(crate) fn arm(&self, cancel: &Cancel) {
        if TAKEN.swap(true, Ordering::SeqCst) {
            return;
        }
        CAME.store(0, Ordering::SeqCst);
        self.ours.store(true, Ordering::SeqCst);
        EVENT.store(cancel.as_raw_fd(), Ordering::SeqCst);
        // Anew each time: a second signal of a kind ends the process.
        let flags = libc::SA_RESETHAND | libc::SA_RESTART;
        let handler = received as *const () as libc::sighandler_t;
        let before = SIGNALS.iter().filter_map(|signal| Some((*signal, handle(*signal, handler, flags)?)));
        let before = before.collect();
        *self.armed.borrow_mut() =
            Some(Armed { before, alarm: action_of(libc::SIGALRM), _cancel: cancel.clone() });
    }

    /// The command has gone: what comes now cancels nothing, and waits until what came of it has been told.
    pub(crate) fn command_is_gone(&self) {
        let mut armed = self.armed.borrow_mut();
        let Some(armed) = &mut *armed else { return };
        EVENT.store(NOBODY, Ordering::SeqCst);
        await_handlers();
        if let Some(before) = armed.alarm.take().filter(|_| CAME.load(Ordering::SeqCst) != 0) {
            // SAFETY: no memory is involved.
            unsafe { libc::alarm(0) };
            put_back(libc::SIGALRM, &before);
        }
    }

    /// Tells it elsewhere, from when it is armed until it is dropped.
    pub(crate) fn watched(&self) -> Interrupted {
        Interrupted(Arc::clone(&self.ours))
    }

    /// The signal that came. Whoever asks tells it.
    #[must_use]
    pub fn came(&self) -> Option<i32> {
        let came = self.armed.borrow().as_ref().map_or(0, |_| CAME.load(Ordering::SeqCst));
        self.told.set(came != 0);
        Some(came).filter(|signal| *signal != 0)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.command_is_gone();
        let Some(armed) = self.armed.get_mut().take() else { return };
        for (signal, before) in &armed.before {
            put_back(*signal, before);
        }
        await_handlers();
        let came = CAME.load(Ordering::SeqCst);
        self.ours.store(false, Ordering::SeqCst);
        TAKEN.store(false, Ordering::SeqCst);
        if came != 0 && !self.told.get() {
            // SAFETY: no memory is involved.
            unsafe { libc::raise(came) };
        }
    }
}

/// Waits until no thread is in the handler any more: it is short and waits for nothing.
fn await_handlers() {
    while HANDLING.load(Ordering::SeqCst) != 0 {
        std::hint::spin_loop();
    }
}

/// What is done at a signal.
fn action_of(signal: libc::c_int) -> Option<Action> {
    // SAFETY: all bytes zero are a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: a place for one action.
    (unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) } == 0).then_some(Action(action))
}

/// Sets what is done at a signal, unless it is ignored. Returns what was done before.
fn handle(signal: libc::c_int, handler: libc::sighandler_t, flags: libc::c_int) -> Option<Action> {
    let before = action_of(signal).filter(|before| before.0.sa_sigaction != libc::SIG_IGN)?;
    // SAFETY: all bytes zero are a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: a valid action, whose handler calls nothing but functions that are safe in one.
    (unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } == 0).then_some(before)
}

fn put_back(signal: libc::c_int, before: &Action) {
    // SAFETY: the action that was there before.
    unsafe { libc::sigaction(signal, &raw const before.0, ptr::null_mut()) };
}

/// The handler: write(2), signal(2) and alarm(2) are safe in one (signal-safety(7)), and what they leave in `errno` is put back.
extern "C" fn received(signal: libc::c_int) {
    HANDLING.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the place of this thread's `errno`.
    let errno = unsafe { *libc::__errno_location() };
    CAME.store(signal, Ordering::SeqCst);
    let event = EVENT.load(Ordering::SeqCst);
    if event != NOBODY {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes that outlive the call. Whoever takes the descriptor out of EVENT waits until no handler runs before it
        // is closed.
        unsafe { libc::write(event, one.as_ptr().cast(), one.len()) };
        // SAFETY: no memory is involved.
        unsafe { libc::signal(libc::SIGALRM, libc::SIG_DFL) };
        // SAFETY: the same.
        unsafe { libc::alarm(PATIENCE) };
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    HANDLING.fetch_sub(1, Ordering::SeqCst);
}

/// Ends this process as a signal that nothing handles does, so that whoever waits for it is told so. It returns only if the signal is
/// ignored, blocked, or one that ends nothing.
pub fn end_by(signal: i32) {
    // SAFETY: no memory is involved.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
