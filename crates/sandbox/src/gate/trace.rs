//! ptrace(2), as far as the gate needs it. All of it must be called by the one thread that attached.

use std::io;

/// What a wait told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A new image is in place, before its first instruction; with the thread's number from before, which is another one when
    /// a thread that was not the first of its process called execve.
    Executed { thread: libc::pid_t, before: libc::pid_t },
    /// Stopped for another reason, with the signal that it was about to get, or 0.
    Stopped { thread: libc::pid_t, signal: i32 },
    /// Dead, and reaped as far as we are concerned.
    Gone { thread: libc::pid_t },
    /// Nothing to tell at present.
    Nothing,
    /// Nothing is attached.
    Nobody,
}

// linux/ptrace.h. Not libc's: their type differs between C libraries.
const DETACH: libc::c_long = 17;
const GET_EVENT_MESSAGE: libc::c_long = 0x4201;
const SEIZE: libc::c_long = 0x4206;
const INTERRUPT: libc::c_long = 0x4207;
const GET_REGISTERS: libc::c_long = 0x4204;
/// `NT_PRSTATUS`.
const GENERAL: libc::c_long = 1;

/// A request without an address.
///
/// # Safety
/// If the request takes a pointer as `data`, it must be valid for what the kernel does with it.
unsafe fn request(number: libc::c_long, thread: libc::pid_t, data: usize) -> io::Result<()> {
    // SAFETY: the caller vouches for `data`; the other arguments are numbers.
    let result = unsafe { libc::syscall(libc::SYS_ptrace, number, libc::c_long::from(thread), 0usize, data) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Attaches without stopping. The tracee dies when this thread ends.
pub(super) fn seize(thread: libc::pid_t) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL;
    // SAFETY: takes a number.
    unsafe { request(SEIZE, thread, options as usize) }
}

/// Makes it stop as soon as it is about to run user code.
pub(super) fn interrupt(thread: libc::pid_t) -> io::Result<()> {
    // SAFETY: takes no data.
    unsafe { request(INTERRUPT, thread, 0) }
}

/// Lets go of a stopped tracee, and gives it the signal that it stopped for.
pub(super) fn detach(thread: libc::pid_t, signal: i32) -> io::Result<()> {
    // SAFETY: takes a number.
    unsafe { request(DETACH, thread, signal as usize) }
}

/// Kills a process.
pub(super) fn kill(process: libc::pid_t) {
    // SAFETY: takes numbers. The tracee cannot have been reaped by anyone else, so the number is still its own.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// Where its stack ends, of a stopped thread that runs in this program's word size.
pub(super) fn stack_pointer(thread: libc::pid_t) -> Option<usize> {
    // SAFETY: registers are numbers, for which all zero is valid.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let size = size_of_val(&registers);
    let mut part = libc::iovec { iov_base: (&raw mut registers).cast(), iov_len: size };
    // SAFETY: the kernel writes no more than the stated size, and the size that it has written.
    let result = unsafe {
        libc::syscall(
            libc::SYS_ptrace,
            GET_REGISTERS,
            libc::c_long::from(thread),
            GENERAL,
            (&raw mut part) as usize,
        )
    };
    if result != 0 || part.iov_len != size {
        return None; // fewer registers are those of 32 bits
    }
    #[cfg(target_arch = "x86_64")]
    return usize::try_from(registers.rsp).ok();
    #[cfg(target_arch = "aarch64")]
    return usize::try_from(registers.sp).ok();
}

/// Reads memory of a process from an address on, as much as is there and there is room for.
pub(super) fn memory(process: libc::pid_t, address: usize, into: &mut [u8]) -> Option<usize> {
    let ours = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: into.len() };
    // SAFETY: the kernel writes into the slice, no more than its length; the other address is not ours.
    let read = unsafe { libc::process_vm_readv(process, &raw const ours, 1, &raw const theirs, 1, 0) };
    usize::try_from(read).ok()
}

/// Waits for what this thread has attached to.
pub(super) fn wait(block: bool) -> io::Result<Event> {
    let mut status = 0;
    let flags = libc::__WALL | libc::__WNOTHREAD | if block { 0 } else { libc::WNOHANG };
    // SAFETY: the status is written to a variable that outlives the call.
    let thread = unsafe { libc::waitpid(-1, &raw mut status, flags) };
    match thread {
        0 => Ok(Event::Nothing),
        1.. => Ok(told(thread, status)),
        _ => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(Event::Nobody),
            error if error.kind() == io::ErrorKind::Interrupted => Ok(Event::Nothing),
            error => Err(error),
        },
    }
}

fn told(thread: libc::pid_t, status: i32) -> Event {
    if !libc::WIFSTOPPED(status) {
        return Event::Gone { thread };
    }
    match (status >> 16, libc::WSTOPSIG(status)) {
        (libc::PTRACE_EVENT_EXEC, _) => Event::Executed { thread, before: message(thread).unwrap_or(thread) },
        (0, signal) => Event::Stopped { thread, signal },
        _ => Event::Stopped { thread, signal: 0 },
    }
}

/// `PTRACE_GETEVENTMSG`.
fn message(thread: libc::pid_t) -> Option<libc::pid_t> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one long to a variable that outlives the call.
    unsafe { request(GET_EVENT_MESSAGE, thread, (&raw mut message) as usize) }.ok()?;
    libc::pid_t::try_from(message).ok()
}
