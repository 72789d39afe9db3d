//! New processes that share our memory: clone(2), and clone3(2) where a process is to start in another control group.

use std::os::fd::RawFd;

use super::{Errno, errno};

/// What a new process begins with.
pub(crate) type Entry = extern "C" fn(*mut libc::c_void) -> i32;

/// How a process is made that shares our memory and has a stack of its own.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) entry: Entry,
    pub(crate) argument: *mut libc::c_void,
    /// Where the stack was mapped, and its length.
    pub(crate) stack: (*mut libc::c_void, usize),
    /// Flags of clone(2), without a signal; with `CLONE_PARENT` the signal is that of the caller.
    pub(crate) flags: i32,
    /// Where the descriptor goes (`CLONE_PIDFD`).
    pub(crate) pidfd: *mut RawFd,
    /// The word that is cleared when the process has gone (`CLONE_CHILD_CLEARTID`).
    pub(crate) lives: *mut u32,
    /// The directory of the control group that it starts in, negative for ours.
    pub(crate) group: RawFd,
}

impl Start {
    /// Makes the process, and returns its number.
    ///
    /// # Safety
    /// The stack must be mapped; stack, argument and words must live as long as the process uses them, and the entry function must
    /// be one that expects the argument. It must neither return nor touch what the caller's threads use meanwhile.
    pub(crate) unsafe fn make(&self) -> Result<libc::pid_t, Errno> {
        if self.group >= 0 {
            // SAFETY: the caller vouches for it.
            return unsafe { self.make_in_group() };
        }
        let (base, length) = self.stack;
        // SAFETY: the caller vouches for the rest; a mapping's end is aligned well enough for any stack.
        let pid = unsafe {
            libc::clone(
                self.entry,
                base.byte_add(length),
                self.flags | libc::SIGCHLD,
                self.argument,
                self.pidfd.cast::<libc::pid_t>(),
                std::ptr::null_mut::<libc::c_void>(),
                self.lives,
            )
        };
        if pid < 0 { Err(errno()) } else { Ok(pid) }
    }

    /// clone3(2), which has no wrapper: the new process begins where the call ends, on its own stack.
    ///
    /// # Safety
    /// As [`make`](Self::make).
    unsafe fn make_in_group(&self) -> Result<libc::pid_t, Errno> {
        // Together with CLONE_PARENT a signal of its own is refused.
        let signal = if self.flags & libc::CLONE_PARENT == 0 { libc::SIGCHLD } else { 0 };
        let arguments = Arguments {
            // The flag is above what an `int` holds.
            flags: self.flags as u32 as u64 | INTO_GROUP,
            pidfd: self.pidfd.addr() as u64,
            child_tid: self.lives.addr() as u64,
            exit_signal: signal as u64,
            stack: self.stack.0.addr() as u64,
            stack_size: self.stack.1 as u64,
            group: self.group as u64,
            ..Arguments::default()
        };
        let result: isize;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the convention of syscall(2); the parent goes on after the call with everything but the named registers as it
        // was. The child has a stack that nobody else uses, and never comes back here.
        unsafe {
            core::arch::asm!(
                "syscall",
                "test rax, rax",
                "jnz 2f",
                "xor ebp, ebp",
                "mov rdi, r13",
                "call r12",
                "mov edi, eax",
                "mov eax, 60", // exit
                "syscall",
                "ud2",
                "2:",
                inlateout("rax") libc::SYS_clone3 as isize => result,
                in("rdi") &raw const arguments,
                in("rsi") size_of::<Arguments>(),
                in("r12") self.entry,
                in("r13") self.argument,
                lateout("rcx") _,
                lateout("r11") _,
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "svc #0",
                "cbnz x0, 2f",
                "mov x29, #0",
                "mov x30, #0",
                "mov x0, x21",
                "blr x20",
                "mov x8, #93", // exit
                "svc #0",
                "brk #1",
                "2:",
                in("x8") libc::SYS_clone3 as isize,
                inlateout("x0") &raw const arguments => result,
                in("x1") size_of::<Arguments>(),
                in("x20") self.entry,
                in("x21") self.argument,
            );
        }
        match result {
            -4095..=-1 => Err(result.unsigned_abs() as Errno),
            _ => Ok(result as libc::pid_t),
        }
    }
}

/// `CLONE_INTO_CGROUP`, Linux 5.7.
const INTO_GROUP: u64 = 0x2_0000_0000;

/// `struct clone_args`.
#[repr(C)]
#[derive(Debug, Default)]
struct Arguments {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    group: u64,
}
