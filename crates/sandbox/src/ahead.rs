//! Namespaces that are made while something else is done.
//!
//! Making a network namespace takes the kernel several times as long as everything else that a sandbox is made of, and
//! whoever runs a command has other work to do first: to judge it, to look for what must be hidden. So a helper process
//! can make the namespaces meanwhile, on another processor. It shares the supervisor's memory and descriptors, runs
//! nothing but the few calls below, and waits. When the plan is there, it makes the child, as a sibling of its own, inside
//! these namespaces and ends. Whatever goes wrong on the way, the supervisor makes the child itself.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::guarantee::Guarantee;
use crate::spawn::{Stack, entry};
use crate::{child::Context, sys};

/// What the helper is told.
const WAIT: u32 = 0;
const GO: u32 = 1;
const END: u32 = 2;

/// What is mounted is what was mounted then; so they are not kept for long, as when somebody is asked meanwhile.
const FRESH: Duration = Duration::from_secs(2);

/// What supervisor and helper have in common.
#[derive(Debug)]
struct Shared {
    order: AtomicU32,
    /// Not 0 while the helper uses this memory. The kernel sets it to 0 and wakes who waits (`CLONE_CHILD_CLEARTID`).
    lives: AtomicU32,
    context: AtomicPtr<libc::c_void>,
    stack: AtomicPtr<libc::c_void>,
    /// Of the child. The kernel writes it when it makes one, and also when it then fails to.
    pidfd: AtomicI32,
    /// What clone(2) has said: the child's number, or what is negative. 0 before.
    made: AtomicI32,
    /// The supervisor's process.
    supervisor: usize,
}

/// Namespaces being made, or ready. To be given to [`Options::ahead`](crate::Options::ahead) by the thread that made it: with
/// that thread the helper ends. Dropping it ends the helper.
#[derive(Debug)]
pub struct Ahead {
    shared: Box<Shared>,
    /// The helper runs on it as long as it lives.
    _stack: Stack,
    pid: libc::pid_t,
    started: Instant,
}

impl Ahead {
    /// Begins to make all namespaces of a sandbox. `None` when there cannot be a helper; nothing is lost by that but time.
    #[must_use]
    pub fn start() -> Option<Self> {
        let stack = Stack::new().ok()?;
        let shared = Box::new(Shared {
            order: AtomicU32::new(WAIT),
            lives: AtomicU32::new(1),
            context: AtomicPtr::new(ptr::null_mut()),
            stack: AtomicPtr::new(ptr::null_mut()),
            pidfd: AtomicI32::new(-1),
            made: AtomicI32::new(0),
            supervisor: std::process::id() as usize,
        });
        // With the descriptors, because those of the child are opened later; the child gets a copy.
        let flags = libc::CLONE_VM | libc::CLONE_FILES | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
        let mask = sys::block_signals();
        // SAFETY: the stack is mapped and its top aligned; stack and `shared` live until the helper has gone, which `drop`
        // waits for. Signals are blocked, so no handler runs in the helper.
        let pid = unsafe {
            libc::clone(
                helper,
                stack.top(),
                flags,
                (&raw const *shared).cast_mut().cast(),
                ptr::null_mut::<libc::pid_t>(),
                ptr::null_mut::<libc::c_void>(),
                shared.lives.as_ptr(),
            )
        };
        sys::restore_signals(mask);
        (pid > 0).then(|| Self { shared, _stack: stack, pid, started: Instant::now() })
    }

    /// Whether a plan that wants these namespaces (flags of clone(2)) can have them.
    pub(crate) fn suits(&self, flags: i32) -> bool {
        flags == Self::flags() && self.started.elapsed() < FRESH
    }

    fn flags() -> i32 {
        Guarantee::ALL.into_iter().fold(0, |flags, guarantee| flags | guarantee.clone_flag())
    }

    /// Has the helper make the child, and waits until the child has called execve or exited. `None` if there is no child.
    ///
    /// # Safety
    /// `context` must point to a [`Context`] that nobody else touches until this returns.
    pub(crate) unsafe fn spawn(&self, context: *mut Context<'_>, stack: &Stack) -> Option<OwnedFd> {
        self.shared.context.store(context.cast(), Ordering::Relaxed);
        self.shared.stack.store(stack.top(), Ordering::Relaxed);
        self.tell(GO);
        self.wait();
        let pidfd = self.shared.pidfd.load(Ordering::Acquire);
        match self.shared.made.load(Ordering::Acquire) {
            // SAFETY: the kernel has just made this descriptor, for the helper and so for us; nobody else knows of it.
            1.. => Some(unsafe { OwnedFd::from_raw_fd(pidfd) }),
            // Somebody has killed the helper while it made the child, which may go on building its sandbox in our memory.
            // It ends with us; nothing else is certain.
            0 if pidfd >= 0 => std::process::abort(),
            _ => None,
        }
    }

    fn tell(&self, order: u32) {
        self.shared.order.store(order, Ordering::Release);
        sys::wake(&self.shared.order);
    }

    /// Until the helper uses our memory no more.
    fn wait(&self) {
        loop {
            match self.shared.lives.load(Ordering::Acquire) {
                0 => return,
                lives => sys::wait_while(&self.shared.lives, lives),
            }
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.tell(END);
        self.wait();
        // SAFETY: waits for our own child by its number; no status is asked for. ECHILD: somebody else has reaped it.
        while unsafe { libc::waitpid(self.pid, ptr::null_mut(), libc::__WALL) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}

/// The helper. As in the child: no allocation, no locks, no panics; and nothing that touches the supervisor's `errno` while
/// that goes on with its own work.
extern "C" fn helper(shared: *mut libc::c_void) -> i32 {
    // SAFETY: the supervisor keeps it until the helper has gone. All of it is atomic.
    let shared = unsafe { &*shared.cast::<Shared>() };
    let pids = libc::CLONE_NEWPID; // counts for children only, so it is left to the child
    let ready = sys::process_control(libc::PR_SET_PDEATHSIG, libc::SIGKILL as usize, 0).is_ok()
        // The supervisor may have died before.
        && sys::parent() == shared.supervisor
        && sys::unshare(Ahead::flags() & !pids).is_ok();
    if ready {
        let order = loop {
            match shared.order.load(Ordering::Acquire) {
                WAIT => sys::wait_while(&shared.order, WAIT),
                order => break order,
            }
        };
        if order == GO {
            shared.made.store(make_child(shared, pids), Ordering::Release);
        }
    }
    sys::exit_now(0);
    0
}

fn make_child(shared: &Shared, flags: i32) -> libc::pid_t {
    let flags = flags
        | libc::CLONE_VM
        | libc::CLONE_VFORK
        | libc::CLONE_PARENT // the supervisor waits for it, and it dies with the supervisor
        | libc::CLONE_PIDFD
        | libc::SIGCHLD;
    // SAFETY: as in `spawn::spawn`: the supervisor has prepared stack and context and waits, with its own errno of no
    // interest to it, and the helper is suspended until the child has called execve or exited.
    unsafe {
        libc::clone(
            entry,
            shared.stack.load(Ordering::Relaxed),
            flags,
            shared.context.load(Ordering::Relaxed),
            shared.pidfd.as_ptr().cast::<libc::pid_t>(),
        )
    }
}
