//! Makes the child and learns whether it came as far as starting process 1.

mod bubblewrap;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::Network;
use crate::ahead::{AfterRun, Ahead};
use crate::cgroup::Group;
use crate::child::{Context, Progress, entry};
use crate::error::{SandboxError, Stage};
use crate::init;
use crate::plan::Plan;
use crate::stack::{Stack, make_child};

/// A started sandbox. Dropping it kills the whole tree and reaps process 1.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pidfd: OwnedFd,
    /// Process 1, where bubblewrap has made it: our own child is bubblewrap then.
    first: Option<OwnedFd>,
    reaped: bool,
    /// What it runs in, removed after it.
    group: Option<Group>,
    /// Who made it, gone by now, until it is reaped, which can wait.
    ahead: Option<Ahead>,
    /// What can be used again when nothing of the run is left.
    after: Option<AfterRun>,
}

impl Sandbox {
    /// A sandbox whose namespaces bubblewrap makes. It is whole when there is a process 1.
    pub(crate) fn of_bubblewrap(pidfd: OwnedFd, group: Option<Group>) -> Self {
        Self { pidfd, first: None, reaped: false, group, ahead: None, after: None }
    }

    /// Ends and reaps who made it. To be called while there is nothing to do but to wait.
    pub(crate) fn settle(&mut self) {
        self.after = self.ahead.take().map(Ahead::end);
    }

    /// Process 1 has come to its end with the steps.
    pub(crate) fn is_whole(&mut self, first: OwnedFd) {
        self.first = Some(first);
    }

    /// Whether our child has ended.
    pub(crate) fn has_ended(&self) -> bool {
        let mut wait = libc::pollfd { fd: self.pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry; a timeout of zero returns at once.
        unsafe { libc::poll(&raw mut wait, 1, 0) != 0 }
    }

    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.first.as_ref().unwrap_or(&self.pidfd).as_raw_fd()
    }

    /// Kills process 1, and so, by the kernel, everything in its pid namespace.
    pub(crate) fn kill(&self) {
        if let Some(group) = &self.group {
            group.kill();
        }
        // SAFETY: takes numbers; a null siginfo means an ordinary kill. It fails only when the process is gone.
        unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, self.as_raw_fd(), libc::SIGKILL, ptr::null::<u8>(), 0)
        };
    }

    /// Whether the kernel has killed something in it because the memory of the run was used up.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        self.group.as_ref().is_some_and(Group::ran_out_of_memory)
    }

    /// Waits until process 1 has gone, which is after everything else in the namespace.
    pub(crate) fn reap(&mut self) {
        if let Some(first) = &self.first {
            // Only who made it can reap it, and that goes by itself.
            wait_until_gone(first);
            // SAFETY: as in `kill`.
            unsafe {
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    self.pidfd.as_raw_fd(),
                    libc::SIGKILL,
                    ptr::null::<u8>(),
                    0,
                )
            };
        }
        while !self.reaped {
            // SAFETY: an all-zero siginfo_t is valid, and the call writes into it.
            let result = unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                libc::waitid(
                    libc::P_PIDFD,
                    self.pidfd.as_raw_fd() as libc::id_t,
                    &raw mut info,
                    libc::WEXITED | libc::__WALL,
                )
            };
            // ECHILD: somebody else of this process reaped it, which is as good.
            self.reaped = result == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR);
        }
    }
}

/// poll(2) until a process has gone.
fn wait_until_gone(pidfd: &OwnedFd) {
    let mut wait = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid entry.
    while unsafe { libc::poll(&raw mut wait, 1, -1) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            self.reap();
        }
    }
}

/// The sockets over which the child hands descriptors out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sockets {
    /// To the exec gate.
    pub(crate) gate: Option<RawFd>,
    /// To whoever serves the proxy.
    pub(crate) proxy: Option<RawFd>,
    /// To whoever serves the pseudo-terminal, and its size.
    pub(crate) terminal: Option<(RawFd, [u16; 2])>,
}

/// Starts the plan with these descriptors as standard input, output, error and status pipe; in the namespaces that were made ahead, if they are those of the plan.
pub(crate) fn spawn(
    plan: &Plan,
    descriptors: [RawFd; 4],
    sockets: Sockets,
    ahead: Option<Ahead>,
) -> Result<Sandbox, SandboxError> {
    if let Some(outer) = &plan.outer {
        return bubblewrap::start(plan, outer, descriptors, sockets);
    }
    let own = match &plan.table {
        Some(table) => Some(init::image_with(table)?),
        None => None,
    };
    let image = own.as_ref().map_or_else(init::image, |own| Ok(own.as_raw_fd()))?;
    let stack = Stack::for_child()?;
    let progress = Progress::default();
    let mut slots = vec![-1; plan.slots];
    let mut context = Context {
        plan,
        slots: &mut slots,
        descriptors,
        gate: sockets.gate.unwrap_or(-1),
        proxy: sockets.proxy.unwrap_or(-1),
        terminal: sockets.terminal.unwrap_or((-1, [0; 2])),
        image,
        mapped: false,
        begun: None,
        progress: &progress,
    };
    let group = plan.group.as_ref().map(Group::new).transpose()?;
    let into = group.as_ref().map_or(-1, Group::as_raw_fd);
    let ahead = ahead.filter(|ahead| ahead.suits(plan));
    let made = ahead.as_ref().and_then(|ahead| {
        context.mapped = ahead.is_mapped();
        context.begun = Some(ahead.begun());
        // SAFETY: the context is only used again below.
        unsafe { ahead.spawn(&raw mut context, &stack, plan.clone_flags, into) }
    });
    let is_ahead = made.is_some();
    let pidfd = match made {
        Some(pidfd) => pidfd,
        None => {
            (context.mapped, context.begun) = (false, None);
            // SAFETY: `entry` expects the context, which nobody else uses meanwhile.
            unsafe { make_child(plan.clone_flags, entry, (&raw mut context).cast(), &stack, into) }?
        }
    };
    let may_be_kept = is_ahead && progress.failure().is_none() && plan.network == Network::None;
    if let Some(ahead) = ahead.as_ref().filter(|_| may_be_kept) {
        ahead.may_be_kept();
    }
    let mut sandbox = Sandbox { pidfd, first: None, reaped: false, group, ahead, after: None };
    match progress.failure() {
        None => Ok(sandbox),
        Some((index, errno)) => {
            sandbox.reap();
            Err(match plan.operations.get(index) {
                Some(operation) => SandboxError::kernel(operation.stage(), errno, operation.to_string()),
                // Process 1 is the first to get the command's arguments and environment.
                None if errno == libc::E2BIG => {
                    SandboxError::kernel(Stage::Execute, errno, "starting the program")
                }
                None => SandboxError::kernel(Stage::Init, errno, "starting process 1 of the sandbox"),
            })
        }
    }
}
