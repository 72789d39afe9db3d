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

// The same program twice. It keeps argc, argv, envp and the child's pid in registers that system calls preserve, and
// 48 bytes of stack: pollfd at 0, errno of the failed exec at 8, wait status at 16, report at 24, what it waits at 32.
//
//  1. Not dumpable: nobody in the sandbox may open its /proc entries (a forged report, for one).
//  2. If the status pipe has no reader any more, the supervisor died before the death signal was armed: end.
//  3. The command must not inherit the status pipe: close-on-exec.
//  4. vfork; the child starts a session, takes the terminal for it if it is to, and calls execve. Its stack is ours, so it only uses registers, and its errno
//     reaches us through the shared stack. Without a program (a probe) report success. With an empty one it is fork, and
//     the child goes through the table at BASE (`script::machine`), never to come back: the table ends with exit_group.
//  5. Reap until the command itself ends, report, exit. The kernel then kills all that is left in the namespace. Whoever is
//     without parent there is our child, so if we have none then, nobody is left, and the report says that. Others are given half a
//     second: what a shell has not waited for (`exec > >(tee log)`) still writes what it was given. It is counted, a millisecond as
//     64 and whoever ends as 1, so that nobody who starts others again and again is waited for any longer. How the command ended is
//     reported before, too: a deadline that passes meanwhile is not the command's.
#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::ffi::CString;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

use crate::descriptor;
use crate::error::{SandboxError, Stage};
use crate::script::{Assembler, Cell, TABLE};

/// What process 1 wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The command ended with this wait status (wait(2)).
    Ended(i32),
    /// The same, and process 1 is the only one left.
    EndedAlone(i32),
    /// The same, and others were being waited for when process 1 was killed.
    EndedFirst(i32),
    /// execve(2) of the command, or the fork before it, failed with this errno; nothing ran.
    NotStarted(i32),
}

impl Report {
    /// Of what was read from the pipe the first that is not followed by a more certain one.
    pub(crate) fn of(read: &[u8]) -> Option<Self> {
        let (reports, _) = read.as_chunks();
        let mut reports = reports.iter().map(|report| Self::parse(*report));
        match reports.next()? {
            first @ Some(Self::EndedFirst(_)) => reports.next().unwrap_or(first),
            first => first,
        }
    }

    /// Whether the command was started and has ended.
    pub(crate) fn is_end(self) -> bool {
        !matches!(self, Self::NotStarted(_))
    }

    fn parse(bytes: [u8; 8]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let value = i32::from_ne_bytes([e, f, g, h]);
        match u32::from_ne_bytes([a, b, c, d]) {
            1 => Some(Self::Ended(value)),
            2 => Some(Self::NotStarted(value)),
            3 => Some(Self::EndedAlone(value)),
            4 => Some(Self::EndedFirst(value)),
            _ => None,
        }
    }
}

/// What the child reports itself, over the same pipe, if it could not become the command: the errno comes after four bytes.
pub(crate) fn not_started(assembler: &mut Assembler) -> Cell {
    Cell(assembler.words(&[2, 0]))
}

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
        let report = |reports: &[(u32, i32)]| {
            let bytes = |(kind, value): &(u32, i32)| [kind.to_ne_bytes(), value.to_ne_bytes()].concat();
            Report::of(&reports.iter().flat_map(bytes).collect::<Vec<_>>())
        };
        assert_eq!(report(&[(1, 0x100)]), Some(Report::Ended(0x100)));
        assert_eq!(report(&[(2, 2)]), Some(Report::NotStarted(2)));
        assert_eq!(report(&[(0, 0)]), None);
        assert_eq!(report(&[(3, 0x100)]), Some(Report::EndedAlone(0x100)));
        assert_eq!(report(&[(4, 0x100)]), Some(Report::EndedFirst(0x100)));
        assert_eq!(report(&[(4, 0x100), (3, 0x100)]), Some(Report::EndedAlone(0x100)));
        // The child's own counts, and process 1 tells of its end later.
        assert_eq!(report(&[(2, 2), (1, 0x7f00)]), Some(Report::NotStarted(2)));
        assert_eq!((report(&[(5, 0)]), report(&[]), Report::of(&[1, 0, 0])), (None, None, None));
    }
}
