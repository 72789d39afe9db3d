//! Namespaces that are made while something else is done.
//!
//! Making a network namespace takes the kernel several times as long as everything else that a sandbox is made of, and
//! whoever runs a command has other work to do first: to judge it, to look for what must be hidden. So a helper process
//! can make the namespaces meanwhile, on another processor. It shares the supervisor's memory and descriptors, runs
//! nothing but the few calls below, and waits. When the plan is there, it makes the child, as a sibling of its own, inside
//! these namespaces and ends. Whatever goes wrong on the way, the supervisor makes the child itself.

use std::cell::{Cell, UnsafeCell};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::thread::JoinHandleExt as _;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::begun::Begun;
use crate::child::Context;
use crate::guarantee::Guarantee;
use crate::helper::Helper;
use crate::kept::{self, Kept};
use crate::overlay::Layer;
use crate::perform::own_directory;
use crate::plan::Plan;
use crate::prepare::{mount_overlay, overlaid};
use crate::stack::Stack;
use crate::sys::{self, Processors, Start};
use crate::{child, entry};

/// What the helper is told.
const WAIT: u32 = 0;
const GO: u32 = 1;
const END: u32 = 2;
const MOUNT: u32 = 3;

/// Whether the helper has begun, or has been sent to another processor before.
const NEW: u32 = 0;
const BEGUN: u32 = 1;
const SENT: u32 = 2;
const ARRIVED: u32 = 3;

/// What is mounted is what was mounted then; so they are not kept for long, as when somebody is asked meanwhile.
const FRESH: Duration = Duration::from_secs(2);

/// What supervisor and helper have in common.
#[derive(Debug)]
struct Shared {
    order: AtomicU32,
    /// Where the helper runs.
    place: AtomicU32,
    /// The processors on which it may run, written before it is sent.
    processors: UnsafeCell<Processors>,
    context: AtomicPtr<libc::c_void>,
    /// Where the child's stack was mapped.
    stack: AtomicPtr<libc::c_void>,
    /// The control group that the child starts in, negative for ours.
    group: AtomicI32,
    /// Namespaces that the child makes for itself (flags of clone(2)).
    flags: AtomicI32,
    /// Of the child. The kernel writes it when it makes one, and also when it then fails to.
    pidfd: AtomicI32,
    /// What clone(2) has said: the child's number, or what is negative. 0 before.
    made: AtomicI32,
    /// The user and the network namespace: those that are used again, or those that were made, once they were; negative before.
    namespaces: [AtomicI32; 2],
    /// The supervisor's process.
    supervisor: usize,
    /// Another run may have them.
    keeps: bool,
    /// What is done before there is a plan. It is listed while the helper makes the namespaces.
    begun: OnceLock<Begun>,
    /// Not 0 once that is listed.
    listed: AtomicU32,
}

// SAFETY: all of it is atomic but `begun`, which is a lock of its own, and `processors`, which the supervisor writes before it sends the
// helper, and the helper reads after.
unsafe impl Sync for Shared {}

/// Namespaces being made, or ready. To be given to [`Options::ahead`](crate::Options::ahead) by the thread that made it: with
/// that thread the helper ends. Dropping it ends the helper.
#[derive(Debug)]
pub struct Ahead {
    helper: Helper<Shared>,
    started: Instant,
    /// Namespaces of a run before this one.
    kept: Option<Kept>,
    /// What was done with them.
    used: Cell<Used>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Used {
    /// Nothing.
    No,
    /// A run without a network had them.
    Cleanly,
    /// What a run had that could do more, or what nobody can tell.
    Up,
}

/// What the helper leaves to the child: pids count for children only, and a namespace of control groups begins at the group in which
/// its maker is.
const CHILDS: i32 = libc::CLONE_NEWPID | libc::CLONE_NEWCGROUP;

impl Ahead {
    /// Begins to make all namespaces of a sandbox. The network namespace, and the user namespace that it belongs to, are those of an earlier
    /// run of this process that had no network, if there is one that has ended. `None` when there cannot be a helper; nothing is
    /// lost by that but time.
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::begin(true).inspect(Self::list)
    }

    /// The same for a process that runs one command, on another processor at once: nothing is kept for another run.
    #[must_use]
    pub fn start_once() -> Option<Self> {
        let ahead = Self::begin(false).inspect(Self::spread).inspect(Self::list);
        entry::ask_for_more();
        ahead
    }

    fn begin(keeps: bool) -> Option<Self> {
        let kept = Kept::take();
        let shared = Shared {
            order: AtomicU32::new(WAIT),
            place: AtomicU32::new(NEW),
            processors: UnsafeCell::new(Processors::default()),
            context: AtomicPtr::new(ptr::null_mut()),
            stack: AtomicPtr::new(ptr::null_mut()),
            group: AtomicI32::new(-1),
            flags: AtomicI32::new(0),
            pidfd: AtomicI32::new(-1),
            made: AtomicI32::new(0),
            namespaces: kept.as_ref().map_or([-1; 2], Kept::as_raw_fds).map(AtomicI32::new),
            supervisor: std::process::id() as usize,
            keeps,
            begun: OnceLock::new(),
            listed: AtomicU32::new(0),
        };
        // With the descriptors, because those of the child are opened later; the child gets a copy.
        // SAFETY: the function takes a `Shared`, and keeps to the rules.
        let helper = unsafe { Helper::start(helper, libc::CLONE_FILES, shared) }.ok()?;
        Some(Self { helper, started: Instant::now(), kept, used: Cell::new(Used::No) })
    }

    /// Lists for the helper what it is to do before there is a plan. It waits for that.
    fn list(&self) {
        self.begun();
        let listed = &self.helper.shared().listed;
        listed.store(1, Ordering::Release);
        sys::wake(listed);
    }

    /// Sends the helper to another processor if it has not begun. A new process often waits behind the one that made it, even where
    /// another processor has nothing to do. To be called at once, if work is left.
    pub fn spread(&self) {
        let shared = self.helper.shared();
        let Some((all, others)) = other_processors() else { return };
        if shared.place.load(Ordering::Acquire) != NEW {
            return;
        }
        // SAFETY: the helper does not look at it before it finds itself sent.
        unsafe { *shared.processors.get() = all };
        if shared.place.compare_exchange(NEW, SENT, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            // Where this is refused it stays behind us. The helper has not been reaped, so the number is its own.
            let _ = sys::run_on(self.helper.pid(), &others);
            shared.place.store(ARRIVED, Ordering::Release);
            sys::wake(&shared.place);
        }
    }

    /// Has the overlay of the run that comes mounted already, on the root that it is for
    /// ([`Confinement::overlaid`](crate::Confinement::overlaid)): that takes as long as everything else of a start. To be called as soon as
    /// it is known and no sooner, since what the root holds is what it holds then. If nothing comes of it, the run does it.
    pub fn overlay(&self, root: &Path, layer: &Layer) {
        let wanted = overlaid(root).and_then(|root| mount_overlay(&root, layer));
        if let Ok(operation) = wanted
            && self.started.elapsed() < FRESH / 2
            && self.begun().wants(operation, layer.clone())
        {
            self.tell(MOUNT);
        }
    }

    /// What was done before there was a plan, for the child that [`Ahead::spawn`] makes.
    pub(crate) fn begun(&self) -> &Begun {
        self.helper.shared().begun.get_or_init(|| Begun::usual(self.is_mapped()))
    }

    /// Whether a plan can have these namespaces: it wants all of them, and the overlay that is mounted there.
    pub(crate) fn suits(&self, plan: &Plan) -> bool {
        plan.clone_flags | libc::CLONE_NEWCGROUP == Self::flags()
            && self.begun().is_wanted(&plan.operations)
            && self.started.elapsed() < FRESH
    }

    /// Whether the user namespace is one whose user and group are mapped already.
    pub(crate) fn is_mapped(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.mapped)
    }

    /// The run that has these namespaces has no power over them and no socket but local ones, and its child has been made. Once all of
    /// it has gone, another may have them.
    pub(crate) fn may_be_kept(&self) {
        self.used.set(Used::Cleanly);
    }

    fn flags() -> i32 {
        Guarantee::ALL.into_iter().fold(0, |flags, guarantee| flags | guarantee.clone_flag())
    }

    /// Has the helper make the child of a plan with these namespaces, and waits until the child has called execve or exited. `None`
    /// if there is no child.
    ///
    /// # Safety
    /// `context` must point to a [`Context`] that nobody else touches until this returns.
    pub(crate) unsafe fn spawn(
        &self,
        context: *mut Context<'_>,
        stack: &Stack,
        flags: i32,
        group: RawFd,
    ) -> Option<OwnedFd> {
        self.used.set(Used::Up);
        let shared = self.helper.shared();
        shared.context.store(context.cast(), Ordering::Relaxed);
        shared.stack.store(stack.range().0, Ordering::Relaxed);
        shared.flags.store(flags & CHILDS, Ordering::Relaxed);
        shared.group.store(group, Ordering::Relaxed);
        self.tell(GO);
        self.helper.wait();
        self.begun().close();
        let pidfd = shared.pidfd.load(Ordering::Acquire);
        match shared.made.load(Ordering::Acquire) {
            // SAFETY: the kernel has just made this descriptor, for the helper and so for us; nobody else knows of it.
            1.. => Some(unsafe { OwnedFd::from_raw_fd(pidfd) }),
            // Somebody has killed the helper while it made the child, which may go on building its sandbox in our memory.
            // It ends with us; nothing else is certain.
            0 if pidfd >= 0 => std::process::abort(),
            _ => None,
        }
    }

    fn tell(&self, order: u32) {
        let shared = self.helper.shared();
        shared.order.store(order, Ordering::Release);
        sys::wake(&shared.order);
    }
}

impl Ahead {
    /// Ends the helper, and leaves what another run may have once nothing of this one is left.
    pub(crate) fn end(mut self) -> AfterRun {
        AfterRun(self.finish())
    }

    fn finish(&mut self) -> Option<Kept> {
        self.tell(END);
        self.helper.wait();
        let made = |namespaces: &[AtomicI32; 2]| {
            let [user, network] = namespaces.each_ref().map(|fd| fd.swap(-1, Ordering::AcqRel));
            // SAFETY: the helper has opened them for us and has gone, and they are taken once.
            unsafe { Kept::new([user, network]) }
        };
        let mapped = self.begun().has_mapped();
        let shared = self.helper.shared();
        // Those that were used again are there twice.
        let kept = match self.kept.take() {
            Some(kept) => {
                shared.namespaces.iter().for_each(|fd| fd.store(-1, Ordering::Release));
                Some(kept)
            }
            None => made(&shared.namespaces),
        };
        kept.filter(|_| self.used.get() != Used::Up).map(|mut kept| {
            kept.mapped |= self.used.get() == Used::Cleanly || mapped;
            kept
        })
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        drop(AfterRun(self.finish()));
    }
}

/// What is kept for another run when this is dropped.
#[derive(Debug)]
pub(crate) struct AfterRun(Option<Kept>);

impl Drop for AfterRun {
    fn drop(&mut self) {
        if let Some(kept) = self.0.take() {
            kept.keep();
        }
    }
}

/// Sends a thread to another processor, if there is one: a new thread often waits behind the one that made it, even where another
/// processor has nothing to do.
pub fn spread<T>(thread: &JoinHandle<T>) {
    if let Some((_, others)) = other_processors() {
        // SAFETY: the thread has not been joined, so the handle is that of a thread. The set is as long as is said, and only read.
        unsafe {
            let thread = thread.as_pthread_t();
            libc::pthread_setaffinity_np(thread as _, size_of_val(&others), others.as_ptr().cast());
        }
    }
}

/// The processors on which this thread may run, and those of them on which it does not; nothing if there are none.
fn other_processors() -> Option<(Processors, Processors)> {
    let mut all = Processors::default();
    // SAFETY: no preconditions. It tells where we are, or have just been.
    let here = usize::try_from(unsafe { libc::sched_getcpu() }).ok()?;
    sys::processors(0, &mut all).ok()?;
    let mut others = all;
    *others.get_mut(here / usize::BITS as usize)? &= !(1 << (here % usize::BITS as usize));
    others.iter().any(|word| *word != 0).then_some((all, others))
}

/// The helper. As in the child: no allocation, no locks, no panics; and nothing that touches the supervisor's `errno` while
/// that goes on with its own work.
extern "C" fn helper(shared: *mut libc::c_void) -> i32 {
    // SAFETY: the supervisor keeps it until the helper has gone, and it can be shared.
    let shared = unsafe { &*shared.cast::<Shared>() };
    // Before it waits for the supervisor for the first time, which may have died already.
    let begun = sys::process_control(libc::PR_SET_PDEATHSIG, libc::SIGKILL as usize, 0).is_ok()
        && sys::parent() == shared.supervisor;
    if begun {
        begin(shared);
    }
    let own = own_directory().unwrap_or(-1);
    let ready = (begun && make_namespaces(shared, own)).then(|| listed(shared));
    if let Some(begun) = ready {
        begun.perform(own);
    }
    sys::close(own);
    if let Some(begun) = ready {
        let order = loop {
            match shared.order.load(Ordering::Acquire) {
                WAIT => sys::wait_while(&shared.order, WAIT),
                MOUNT => {
                    begun.mount();
                    // Unless there is another order by now.
                    let _ = shared.order.compare_exchange(MOUNT, WAIT, Ordering::AcqRel, Ordering::Acquire);
                }
                order => break order,
            }
        };
        if order == GO {
            shared.made.store(make_child(shared), Ordering::Release);
        }
    }
    sys::exit_now(0);
    0
}

/// What is to be done before there is a plan, once it is listed.
fn listed(shared: &Shared) -> &Begun {
    loop {
        match shared.begun.get() {
            Some(begun) => return begun,
            None => sys::wait_while(&shared.listed, 0),
        }
    }
}

/// From here on the helper stays where it is. If it was sent somewhere, then only to begin there: what it makes may run wherever the
/// supervisor may.
fn begin(shared: &Shared) {
    if shared.place.compare_exchange(NEW, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_err() {
        while shared.place.load(Ordering::Acquire) == SENT {
            sys::wait_while(&shared.place, SENT);
        }
        // SAFETY: the supervisor has written it before, and does not touch it again.
        let _ = sys::run_on(0, unsafe { &*shared.processors.get() });
    }
}

/// All that a sandbox has and that are not the child's to make.
fn make_namespaces(shared: &Shared, own: RawFd) -> bool {
    let wanted = Ahead::flags() & !CHILDS;
    let [user, network] = &shared.namespaces;
    let known = [user.load(Ordering::Relaxed), network.load(Ordering::Relaxed)];
    if known.iter().all(|fd| *fd >= 0) {
        return kept::enter(known, own)
            && sys::unshare(wanted & !(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)).is_ok();
    }
    if sys::unshare(wanted).is_err() {
        return false;
    }
    if shared.keeps {
        let [made, of_network] = kept::opened();
        user.store(made, Ordering::Release);
        network.store(of_network, Ordering::Release);
    }
    true
}

/// The number of the child, or what is negative.
fn make_child(shared: &Shared) -> libc::pid_t {
    let start = Start {
        entry: child::entry,
        argument: shared.context.load(Ordering::Relaxed),
        stack: (shared.stack.load(Ordering::Relaxed), Stack::SIZE),
        flags: shared.flags.load(Ordering::Relaxed)
            | libc::CLONE_VM
            | libc::CLONE_VFORK
            | libc::CLONE_PARENT // the supervisor waits for it, and it dies with the supervisor
            | libc::CLONE_PIDFD,
        pidfd: shared.pidfd.as_ptr(),
        lives: ptr::null_mut(),
        group: shared.group.load(Ordering::Relaxed),
    };
    // SAFETY: as in `spawn::spawn`: the supervisor has prepared stack and context and waits, with its own errno of no
    // interest to it, and the helper is suspended until the child has called execve or exited.
    unsafe { start.make() }.unwrap_or(-1)
}
