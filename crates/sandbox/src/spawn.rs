//! Makes the child and learns whether it came as far as starting process 1.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::ahead::Ahead;
use crate::cgroup::Group;
use crate::child::{Context, Progress, enter};
use crate::error::{SandboxError, Stage};
use crate::plan::Plan;
use crate::sys::Start;
use crate::{init, sys};

/// A started sandbox. Dropping it kills the whole tree and reaps process 1.
#[derive(Debug)]
pub(crate) struct Sandbox {
    pidfd: OwnedFd,
    reaped: bool,
    /// What it runs in, removed after it.
    group: Option<Group>,
    /// Who made it, gone by now. Dropping it reaps it, which can wait.
    _ahead: Option<Ahead>,
}

impl Sandbox {
    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.pidfd.as_raw_fd()
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
        while !self.reaped {
            // SAFETY: an all-zero siginfo_t is valid, and the call writes into it.
            let result = unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                libc::waitid(
                    libc::P_PIDFD,
                    self.as_raw_fd() as libc::id_t,
                    &raw mut info,
                    libc::WEXITED | libc::__WALL,
                )
            };
            // ECHILD: somebody else of this process reaped it, which is as good.
            self.reaped = result == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EINTR);
        }
    }
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
    let own = match &plan.table {
        Some(table) => Some(init::image_with(table)?),
        None => None,
    };
    let image = own.as_ref().map_or_else(init::image, |own| Ok(own.as_raw_fd()))?;
    let stack = Stack::new().map_err(|error| {
        SandboxError::kernel(
            Stage::Resources,
            error.raw_os_error().unwrap_or(0),
            "mapping a stack for the child",
        )
    })?;
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
        progress: &progress,
    };
    let group = plan.group.as_ref().map(Group::new).transpose()?;
    let into = group.as_ref().map_or(-1, Group::as_raw_fd);
    let ahead = ahead.filter(|ahead| ahead.suits(plan.clone_flags));
    let made = ahead.as_ref().and_then(|ahead| {
        // SAFETY: the context is only used again below.
        unsafe { ahead.spawn(&raw mut context, &stack, plan.clone_flags, into) }
    });
    let pidfd = match made {
        Some(pidfd) => pidfd,
        None => make_child(plan.clone_flags, &mut context, &stack, into)?,
    };
    let mut sandbox = Sandbox { pidfd, reaped: false, group, _ahead: ahead };
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

/// The child in new namespaces of its own, after it has called execve or exited.
fn make_child(
    namespaces: i32,
    context: &mut Context<'_>,
    stack: &Stack,
    group: RawFd,
) -> Result<OwnedFd, SandboxError> {
    let mut pidfd: RawFd = -1;
    let start = Start {
        entry,
        argument: (&raw mut *context).cast(),
        stack: stack.range(),
        flags: namespaces | libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD,
        pidfd: &raw mut pidfd,
        lives: ptr::null_mut(),
        group,
    };
    let mask = sys::block_signals();
    // SAFETY: the stack is mapped; `entry` gets the context it expects. With CLONE_VFORK this thread is suspended until the
    // child has called execve or exited, so stack, plan and context outlive the child's use of them. Signals are blocked, so
    // no handler runs in the child while it shares our memory.
    let made = unsafe { start.make() };
    sys::restore_signals(mask);
    made.map_err(|errno| SandboxError::kernel(Stage::Clone, errno, "creating a process in new namespaces"))?;
    // SAFETY: clone succeeded with CLONE_PIDFD, so this is a new descriptor that belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(pidfd) })
}

pub(crate) extern "C" fn entry(context: *mut libc::c_void) -> i32 {
    // SAFETY: only `make_child`, here and ahead, passes this function to clone, with a context as `enter` demands.
    unsafe { enter(context) }
}

/// Memory for the child's stack, with a guard page below.
#[derive(Debug)]
pub(crate) struct Stack {
    base: *mut libc::c_void,
}

impl Stack {
    pub(crate) const SIZE: usize = 128 * 1024;
    const GUARD: usize = 64 * 1024; // at least one page on every machine

    pub(crate) fn new() -> io::Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping touches no memory that exists.
        let base = unsafe { libc::mmap(ptr::null_mut(), Self::SIZE, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self { base };
        // SAFETY: the range lies within the mapping that was just made.
        let opened = unsafe {
            libc::mprotect(
                base.byte_add(Self::GUARD),
                Self::SIZE - Self::GUARD,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        if opened != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// Where it was mapped, and its length with the guard page. Stacks grow downwards.
    pub(crate) fn range(&self) -> (*mut libc::c_void, usize) {
        (self.base, Self::SIZE)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and the child no longer uses it.
        unsafe { libc::munmap(self.base, Self::SIZE) };
    }
}
