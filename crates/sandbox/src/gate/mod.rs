//! The exec gate: every program that starts inside the sandbox, at any depth, is judged on what it really is, before its
//! first instruction.
//!
//! # How
//!
//! 1. The sandbox's seccomp filter sends every execve(2) and execveat(2) to the gate's thread (seccomp_unotify(2)) and
//!    holds the caller. What the call's pointers say now proves nothing: another thread, a process that shares the memory
//!    or a shared page can rewrite path and arguments after they were looked at. So nothing is decided here.
//! 2. The gate attaches to the caller (ptrace(2), `PTRACE_SEIZE` with `PTRACE_O_TRACEEXEC`), lets the call go on, and asks the
//!    caller to stop at the next opportunity (`PTRACE_INTERRUPT`). Two things can follow. The call fails: the caller stops on
//!    its way back or soon after, and is let go. Or it succeeds: the kernel reports `PTRACE_EVENT_EXEC` with the *new* image in
//!    place, stopped before its first instruction.
//! 3. That is the moment of judgement ([`Judge`]). The stack, or `/proc/PID/cmdline` and `environ`, now tells of fresh memory that
//!    nobody else has ever mapped, and `/proc/PID/exe` of the file that the kernel really opened. What is allowed is detached
//!    from and runs untraced; what is denied is killed and has not executed one instruction; what is asked about stays stopped
//!    until there is an answer.
//!
//! Unlike tracing everything, forks and threads cost nothing, and programs inside run untraced.
//!
//! # Why it is sound
//!
//! - No execve passes unseen: the filter is inherited, cannot be removed, and no other filter takes precedence over it:
//!   stricter answers only refuse, and a second listener inside the sandbox is refused (`SECCOMP_FILTER_FLAG_NEW_LISTENER`).
//!   Calls of other ABIs are killed.
//! - Nobody inside can write another process's memory: ptrace, process_vm_writev and io_uring are refused, `/proc` is
//!   read-only.
//! - A caller that cannot be attached to (it made itself undumpable in a namespace that we have no power over) does not get
//!   its call.
//! - If the gate's thread ends, the listener closes: execve fails with `ENOSYS`, whatever is attached is killed
//!   (`PTRACE_O_EXITKILL`), and the run is killed.
//!
//! What it does not see: what a program does by itself (a shell's builtins, a library that is loaded, code that is mapped).
//! That is held by the other layers.

mod exec;
mod guard;
mod list;
mod listener;
mod stack;
mod trace;

pub use exec::Exec;
pub(crate) use guard::{Gate, Guard};
pub use list::Identity;
pub(crate) use list::{Listed, listed};

use std::fmt;

/// What becomes of a program that is about to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It runs.
    Allow,
    /// It is killed before its first instruction.
    Deny,
    /// It waits, stopped, for what [`Judge::answer`] says. The rest of the sandbox goes on.
    Ask,
}

/// Whether nobody waits for an answer any more: the program is gone, with the run or before it, or this process was told to end.
pub type Withdrawn<'w> = &'w (dyn Fn() -> bool + Sync);

/// Decides about every program that starts inside the sandbox.
///
/// The first is the command itself. Each comes once, after the kernel has loaded it and before it has run.
pub trait Judge: Sync {
    /// Called on the gate's thread, one program at a time; every other execve of the sandbox waits meanwhile. It should take
    /// microseconds.
    fn judge(&self, exec: &Exec) -> Ruling;

    /// Told of a program that is killed because it is not on the list of those that may be executed
    /// ([`allow_exec`](crate::Confinement::allow_exec)); it is not judged.
    fn unlisted(&self, exec: &Exec) {
        let _ = exec;
    }

    /// Called on a second thread, one question at a time, for what [`judge`](Self::judge) wants asked: whether it may run.
    /// The run ends only after a call that is under way has returned, even when the sandbox was killed meanwhile, so whoever takes
    /// time to answer has to look at `withdrawn` now and then: from when it says so the answer is no.
    fn answer(&self, exec: &Exec, withdrawn: Withdrawn<'_>) -> bool {
        let _ = (exec, withdrawn);
        false
    }
}

impl fmt::Debug for dyn Judge + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}
