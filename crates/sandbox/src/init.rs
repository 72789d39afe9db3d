//! Process 1 of the sandbox: a program of a few hundred bytes that starts the command, reaps what is orphaned, and reports
//! how the command ended.
//!
//! A pid namespace lives as long as its process 1, and that process must reap. It cannot be the command (a shell as
//! process 1 ignores signals and knows nothing of adopted children), nor the supervisor's own code: until it calls
//! execve, the child shares the supervisor's memory. So it is a program of its own, small enough to be written in
//! assembly here, and started from memory: nothing needs to be installed, and its page tables cost next to nothing.
//!
//! It is started with the argument vector `name, PROGRAM, ARGV0, ARGV1 …` and the command's environment, with the
//! status pipe as descriptor 3; with an empty PROGRAM its child carries out the table of a [`Script`](crate::Script) that the image
//! brings along instead. If its name is a path it goes through the beginning of that table itself first: whoever started it has made
//! namespaces and mounts, and the rest of the sandbox is left to do (`bubblewrap`). It writes 8 bytes to the pipe: a [`Kind`](Report) and a value. Exit codes of process 1
//! itself could not tell "exit 137" from "killed by signal 9".

use std::ffi::CString;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

use crate::descriptor;
use crate::error::{SandboxError, Stage};
use crate::script::{Assembler, Cell, TABLE};

/// The descriptor on which process 1 reports.
pub(crate) const STATUS_FD: i32 = 3;

/// What process 1 wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The command ended with this wait status (wait(2)).
    Ended(i32),
    /// execve(2) of the command, or the fork before it, failed with this errno; nothing ran.
    NotStarted(i32),
}

impl Report {
    pub(crate) fn parse(bytes: [u8; 8]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let value = i32::from_ne_bytes([e, f, g, h]);
        match u32::from_ne_bytes([a, b, c, d]) {
            1 => Some(Self::Ended(value)),
            2 => Some(Self::NotStarted(value)),
            _ => None,
        }
    }
}

/// What the child reports itself, over the same pipe, if it could not become the command: the errno comes after four bytes.
pub(crate) fn not_started(assembler: &mut Assembler) -> Cell {
    Cell(assembler.words(&[2, 0]))
}

// The same program twice. It keeps argc, argv, envp and the child's pid in registers that system calls preserve, and
// 32 bytes of stack: pollfd at 0, errno of the failed exec at 8, wait status at 16, report at 24.
//
//  1. Not dumpable: nobody in the sandbox may open its /proc entries (a forged report, for one).
//  2. If the status pipe has no reader any more, the supervisor died before the death signal was armed: end.
//  3. The command must not inherit the status pipe: close-on-exec.
//  4. vfork; the child starts a session, takes the terminal for it if it is to, and calls execve. Its stack is ours, so it only uses registers, and its errno
//     reaches us through the shared stack. Without a program (a probe) report success. With an empty one it is fork, and
//     the child goes through the table at BASE (`script::machine`), never to come back: the table ends with exit_group.
//  5. Reap until the command itself ends, report, exit. The kernel then kills all that is left in the namespace.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .rodata.shward_sandbox_init,\"a\",@progbits",
    ".globl shward_sandbox_init_start",
    ".hidden shward_sandbox_init_start",
    ".globl shward_sandbox_init_end",
    ".hidden shward_sandbox_init_end",
    ".balign 16",
    "shward_sandbox_init_start:",
    "mov r12, [rsp]",             // argc
    "lea r13, [rsp + 8]",         // argv
    "lea r14, [r13 + r12*8 + 8]", // envp
    "sub rsp, 48",
    "and rsp, -16",
    "mov ebp, 0x10001000", // where the next of us begins with the table
    "mov rdi, [r13]",
    "cmp byte ptr [rdi], 47", // '/'
    "je 20f",
    "32:",
    // prctl(PR_SET_DUMPABLE, 0)
    "mov eax, 157",
    "mov edi, 4",
    "xor esi, esi",
    "syscall",
    // poll({3, 0}, 1, 0); POLLERR is 8
    "mov qword ptr [rsp], 3",
    "mov eax, 7",
    "mov rdi, rsp",
    "mov esi, 1",
    "xor edx, edx",
    "syscall",
    "test byte ptr [rsp + 6], 8",
    "jnz 7f",
    // fcntl(3, F_SETFD, FD_CLOEXEC)
    "mov eax, 72",
    "mov edi, 3",
    "mov esi, 2",
    "mov edx, 1",
    "syscall",
    "mov dword ptr [rsp + 16], 0",
    "cmp r12, 3",
    "jb 5f",
    // vfork()
    "mov dword ptr [rsp + 8], 0",
    "mov eax, 58",
    "mov rdi, [r13 + 8]",
    "cmp byte ptr [rdi], 0",
    "jne 8f",
    "mov eax, 57", // fork()
    "8:",
    "syscall",
    "test eax, eax",
    "jz 2f",
    "js 4f",
    "mov r15d, eax",
    "mov eax, [rsp + 8]",
    "test eax, eax",
    "jnz 4f",
    // wait4(-1, &status, __WALL, NULL)
    "3:",
    "mov eax, 61",
    "mov rdi, -1",
    "lea rsi, [rsp + 16]",
    "mov edx, 0x40000000",
    "xor r10d, r10d",
    "syscall",
    "cmp eax, r15d",
    "je 5f",
    "cmp eax, -10", // ECHILD cannot happen; not to spin if it does
    "je 7f",
    "jmp 3b",
    // The child: setsid(), execve(argv[1], argv + 2, envp)
    "2:",
    "mov eax, 112",
    "syscall",
    "mov rdi, [r13]",
    "cmp byte ptr [rdi], 116", // 't'
    "jne 30f",
    "mov eax, 16", // ioctl(0, TIOCSCTTY, 0)
    "xor edi, edi",
    "mov esi, 0x540e",
    "xor edx, edx",
    "syscall",
    "30:",
    "mov rdi, [r13 + 8]",
    "cmp byte ptr [rdi], 0",
    "je 20f",
    "mov eax, 59",
    "lea rsi, [r13 + 16]",
    "mov rdx, r14",
    "syscall",
    "mov [rsp + 8], eax",
    "mov eax, 231",
    "mov edi, 127",
    "syscall",
    // eax is a negative errno: report that nothing was started
    "4:",
    "neg eax",
    "mov [rsp + 28], eax",
    "mov dword ptr [rsp + 24], 2",
    "jmp 6f",
    // report the wait status
    "5:",
    "mov eax, [rsp + 16]",
    "mov [rsp + 28], eax",
    "mov dword ptr [rsp + 24], 1",
    // write(3, report, 8); exit_group(0)
    "6:",
    "mov eax, 1",
    "mov edi, 3",
    "lea rsi, [rsp + 24]",
    "mov edx, 8",
    "syscall",
    "7:",
    "mov eax, 231",
    "xor edi, edi",
    "syscall",
    // The table: rbx is the instruction, eight words of 8 bytes
    "20:",
    "mov rbx, rbp",
    "21:",
    "mov rax, [rbx]",
    "mov rdi, [rbx + 8]",
    "mov rsi, [rbx + 16]",
    "mov rdx, [rbx + 24]",
    "test rax, rax",
    "js 23f",
    "mov r10, [rbx + 32]",
    "mov r8, [rbx + 40]",
    "mov r9, [rbx + 48]",
    "syscall",
    "mov rcx, [rbx + 56]",
    "mov [rcx], rax",
    "22:",
    "add rbx, 64",
    "jmp 21b",
    "23:",
    "cmp eax, -4",
    "je 27f",
    "jl 28f",
    // jumps: cell, value, target
    "mov edi, [rdi]",
    "cmp eax, -2",
    "je 24f",
    "jl 25f",
    "cmp edi, esi",
    "jne 22b",
    "jmp 26f",
    "24:",
    "cmp edi, esi",
    "je 22b",
    "jmp 26f",
    "25:",
    "cmp edi, esi",
    "jge 22b",
    "26:",
    "mov rbx, rdx",
    "jmp 21b",
    // copy: to, from, shift, mask, addend
    "27:",
    "mov eax, [rsi]",
    "mov ecx, edx",
    "shr eax, cl",
    "and eax, [rbx + 32]",
    "add eax, [rbx + 40]",
    "mov [rdi], rax",
    "jmp 22b",
    // process 1 goes on as such, and its child after this
    "31:",
    "lea rbp, [rbx + 64]",
    "jmp 32b",
    // add, subtract: to, from
    "28:",
    "cmp eax, -7",
    "je 31b",
    "mov ecx, [rsi]",
    "cmp eax, -5",
    "je 29f",
    "sub [rdi], rcx",
    "jmp 22b",
    "29:",
    "add [rdi], rcx",
    "jmp 22b",
    "shward_sandbox_init_end:",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".pushsection .rodata.shward_sandbox_init,\"a\",@progbits",
    ".globl shward_sandbox_init_start",
    ".hidden shward_sandbox_init_start",
    ".globl shward_sandbox_init_end",
    ".hidden shward_sandbox_init_end",
    ".balign 16",
    "shward_sandbox_init_start:",
    "ldr x19, [sp]",   // argc
    "add x20, sp, #8", // argv
    "add x21, x20, x19, lsl #3",
    "add x21, x21, #8", // envp
    "sub sp, sp, #48",
    "mov x25, x19",
    "mov x23, #0x1000", // where the next of us begins with the table
    "movk x23, #0x1000, lsl #16",
    "ldr x9, [x20]",
    "ldrb w9, [x9]",
    "cmp w9, #47", // '/'
    "b.eq 20f",
    "32:",
    // prctl(PR_SET_DUMPABLE, 0)
    "mov x8, #167",
    "mov x0, #4",
    "mov x1, #0",
    "svc #0",
    // ppoll({3, 0}, 1, {0, 0}, NULL, 0); the zero timeout lies at 16
    "mov x9, #3",
    "str x9, [sp]",
    "stp xzr, xzr, [sp, #16]",
    "mov x8, #73",
    "mov x0, sp",
    "mov x1, #1",
    "add x2, sp, #16",
    "mov x3, #0",
    "mov x4, #8",
    "svc #0",
    "ldrh w9, [sp, #6]",
    "tbnz w9, #3, 7f",
    // fcntl(3, F_SETFD, FD_CLOEXEC)
    "mov x8, #25",
    "mov x0, #3",
    "mov x1, #2",
    "mov x2, #1",
    "svc #0",
    "str wzr, [sp, #16]",
    "cmp x25, #3",
    "b.lo 5f",
    // clone(CLONE_VM | CLONE_VFORK | SIGCHLD, same stack)
    "str wzr, [sp, #8]",
    "mov x8, #220",
    "ldr x9, [x20, #8]",
    "ldrb w9, [x9]",
    "mov x0, #0x4111",
    "mov x10, #0x11", // without them: fork
    "cmp w9, #0",
    "csel x0, x10, x0, eq",
    "mov x1, #0",
    "mov x2, #0",
    "mov x3, #0",
    "mov x4, #0",
    "svc #0",
    "cbz x0, 2f",
    "tbnz x0, #63, 4f",
    "mov x22, x0",
    "ldr w0, [sp, #8]",
    "cbnz w0, 4f",
    // wait4(-1, &status, __WALL, NULL)
    "3:",
    "mov x8, #260",
    "mov x0, #-1",
    "add x1, sp, #16",
    "mov x2, #0x40000000",
    "mov x3, #0",
    "svc #0",
    "cmp x0, x22",
    "b.eq 5f",
    "cmn x0, #10",
    "b.eq 7f",
    "b 3b",
    // The child: setsid(), execve(argv[1], argv + 2, envp)
    "2:",
    "mov x8, #157",
    "svc #0",
    "ldr x9, [x20]",
    "ldrb w9, [x9]",
    "cmp w9, #116", // 't'
    "b.ne 30f",
    "mov x8, #29", // ioctl(0, TIOCSCTTY, 0)
    "mov x0, #0",
    "mov x1, #0x540e",
    "mov x2, #0",
    "svc #0",
    "30:",
    "ldr x0, [x20, #8]",
    "ldrb w9, [x0]",
    "cbz w9, 20f",
    "mov x8, #221",
    "add x1, x20, #16",
    "mov x2, x21",
    "svc #0",
    "str w0, [sp, #8]",
    "mov x8, #94",
    "mov x0, #127",
    "svc #0",
    // report that nothing was started
    "4:",
    "neg w0, w0",
    "str w0, [sp, #28]",
    "mov w9, #2",
    "str w9, [sp, #24]",
    "b 6f",
    // report the wait status
    "5:",
    "ldr w0, [sp, #16]",
    "str w0, [sp, #28]",
    "mov w9, #1",
    "str w9, [sp, #24]",
    "6:",
    "mov x8, #64",
    "mov x0, #3",
    "add x1, sp, #24",
    "mov x2, #8",
    "svc #0",
    "7:",
    "mov x8, #94",
    "mov x0, #0",
    "svc #0",
    // The table: x19 is the instruction, eight words of 8 bytes
    "20:",
    "mov x19, x23",
    "21:",
    "ldp x8, x0, [x19]",
    "ldp x1, x2, [x19, #16]",
    "tbnz x8, #63, 23f",
    "ldp x3, x4, [x19, #32]",
    "ldr x5, [x19, #48]",
    "svc #0",
    "ldr x9, [x19, #56]",
    "str x0, [x9]",
    "22:",
    "add x19, x19, #64",
    "b 21b",
    "23:",
    "cmn w8, #4",
    "b.eq 27f",
    "b.lt 28f",
    // jumps: cell, value, target
    "ldr w0, [x0]",
    "cmn w8, #2",
    "b.eq 24f",
    "b.lt 25f",
    "cmp w0, w1",
    "b.ne 22b",
    "b 26f",
    "24:",
    "cmp w0, w1",
    "b.eq 22b",
    "b 26f",
    "25:",
    "cmp w0, w1",
    "b.ge 22b",
    "26:",
    "mov x19, x2",
    "b 21b",
    // copy: to, from, shift, mask, addend
    "27:",
    "ldr w1, [x1]",
    "lsr w1, w1, w2",
    "ldr w3, [x19, #32]",
    "and w1, w1, w3",
    "ldr w3, [x19, #40]",
    "add w1, w1, w3",
    "str x1, [x0]",
    "b 22b",
    // process 1 goes on as such, and its child after this
    "31:",
    "add x23, x19, #64",
    "b 32b",
    // add, subtract: to, from
    "28:",
    "cmn w8, #7",
    "b.eq 31b",
    "ldr w1, [x1]",
    "ldr x2, [x0]",
    "cmn w8, #5",
    "b.eq 29f",
    "sub x2, x2, x1",
    "str x2, [x0]",
    "b 22b",
    "29:",
    "add x2, x2, x1",
    "str x2, [x0]",
    "b 22b",
    "shward_sandbox_init_end:",
    ".popsection",
);

unsafe extern "C" {
    static shward_sandbox_init_start: u8;
    static shward_sandbox_init_end: u8;
}

/// The machine code between the two labels.
fn code() -> &'static [u8] {
    // SAFETY: the labels delimit one read-only section of this program, defined above, in this order.
    unsafe {
        let start = &raw const shward_sandbox_init_start;
        let end = &raw const shward_sandbox_init_end;
        std::slice::from_raw_parts(start, end.offset_from_unsigned(start))
    }
}

/// An ELF file (elf(5)) with one readable and executable segment, headers and code; and with a writable one for the table of a
/// script, if there is one.
fn elf(table: &[u8]) -> Vec<u8> {
    const BASE: u64 = 0x40_0000;
    const ALIGNMENT: u64 = 0x1_0000; // the largest page size of any machine in question
    const STACK_SEGMENT: u32 = 0x6474_e551; // its absence would make the stack executable
    #[cfg(target_arch = "x86_64")]
    const MACHINE: u16 = 62;
    #[cfg(target_arch = "aarch64")]
    const MACHINE: u16 = 183;

    let code = code();
    let segments: u16 = if table.is_empty() { 2 } else { 3 };
    let headers = 64 + 56 * u64::from(segments);
    let size = headers + code.len() as u64;
    // An address and its place in the file are the same within a page of any size.
    let place = TABLE % 0x1000_0000;
    let mut file = Vec::with_capacity(size as usize);
    let half = |file: &mut Vec<u8>, value: u16| file.extend(value.to_ne_bytes());
    let word = |file: &mut Vec<u8>, value: u32| file.extend(value.to_ne_bytes());
    let long = |file: &mut Vec<u8>, value: u64| file.extend(value.to_ne_bytes());

    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"); // 64 bit, little endian, version 1, System V
    half(&mut file, 2); // ET_EXEC
    half(&mut file, MACHINE);
    word(&mut file, 1);
    long(&mut file, BASE + headers); // entry
    long(&mut file, 64); // program headers follow
    long(&mut file, 0); // no sections
    word(&mut file, 0);
    for value in [64, 56, segments, 0, 0, 0] {
        half(&mut file, value); // sizes and counts
    }
    // PT_LOAD, R+X: offset, virtual and physical address, size in file and memory, alignment
    word(&mut file, 1);
    word(&mut file, 5);
    for value in [0, BASE, BASE, size, size, ALIGNMENT] {
        long(&mut file, value);
    }
    // PT_GNU_STACK, R+W
    word(&mut file, STACK_SEGMENT);
    word(&mut file, 6);
    for value in [0, 0, 0, 0, 0, 16] {
        long(&mut file, value);
    }
    if table.is_empty() {
        file.extend(code);
        return file;
    }
    // PT_LOAD, R+W
    word(&mut file, 1);
    word(&mut file, 6);
    for value in [place, TABLE, TABLE, table.len() as u64, table.len() as u64, ALIGNMENT] {
        long(&mut file, value);
    }
    file.extend(code);
    file.resize(place as usize, 0);
    file.extend(table);
    file
}

/// The program as an open, sealed memory file, made once per supervisor.
pub(crate) fn image() -> Result<i32, SandboxError> {
    static IMAGE: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(image) = IMAGE.get() {
        return Ok(image.as_raw_fd());
    }
    let made = make_image(&[])?;
    Ok(IMAGE.get_or_init(|| made).as_raw_fd())
}

/// The program with the table of a script.
pub(crate) fn image_with(table: &[u8]) -> Result<OwnedFd, SandboxError> {
    make_image(table)
}

fn make_image(table: &[u8]) -> Result<OwnedFd, SandboxError> {
    let failed = |error: io::Error| {
        SandboxError::kernel(
            Stage::Init,
            error.raw_os_error().unwrap_or(libc::EIO),
            "making process 1 of the sandbox",
        )
    };
    let mut file = descriptor::memory_file(c"shward-init", libc::MFD_EXEC).map_err(failed)?;
    file.write_all(&elf(table)).and_then(|()| descriptor::seal(&file)).map_err(failed)?;
    descriptor::above_standard(file.into())
}

/// The first argument of process 1: the name that `ps` shows inside the sandbox. By its first letter process 1 knows whether standard
/// input is to be the controlling terminal.
pub(crate) fn name(terminal: bool) -> CString {
    if terminal { c"tty shward-init".to_owned() } else { c"shward-init".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_small_and_well_formed() {
        let file = elf(&[]);
        assert!(file.len() < 900, "{}", file.len());
        assert_eq!(file.len(), 176 + code().len());
        let with = elf(b"table");
        assert_eq!(with.get(TABLE as usize % 0x1000_0000..), Some(&b"table"[..]));
        assert!(file.starts_with(b"\x7fELF"));
    }

    #[test]
    fn reports_are_told_apart() {
        let report = |kind: u32, value: i32| {
            let mut bytes = [0; 8];
            bytes[..4].copy_from_slice(&kind.to_ne_bytes());
            bytes[4..].copy_from_slice(&value.to_ne_bytes());
            Report::parse(bytes)
        };
        assert_eq!(report(1, 0x100), Some(Report::Ended(0x100)));
        assert_eq!(report(2, 2), Some(Report::NotStarted(2)));
        assert_eq!(report(0, 0), None);
        assert_eq!(report(3, 0), None);
    }
}
