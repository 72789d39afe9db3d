//! The steps as the list of system calls and jumps that process 1 goes through.

use std::ffi::{CStr, CString};

use super::number;
use super::{Found, Step};
use crate::descriptor::STATUS_FD;
use crate::error::SandboxError;
use crate::init;
use crate::operation::Operation;
use crate::script::{Assembler, Cell, Label, Value};
use crate::sys::{Instruction, LISTENING};

use Value::{In, Is};

/// What a step ends with that found something else than it has to be.
const OTHERWISE: i32 = libc::ESTALE;

const CURRENT: Value = Is(libc::AT_FDCWD as i64 as u64);

/// The table of a program: the steps, and the child that becomes the program.
pub(crate) fn table(
    steps: &[Step],
    program: &CStr,
    arguments: &[CString],
    environment: &[CString],
) -> Result<Vec<u8>, SandboxError> {
    let mut assembler = Assembler::default();
    let [program, name] = [program.to_bytes(), b""].map(|text| assembler.string(text));
    let mut list = |strings: &[CString]| {
        let mut words: Vec<u64> = strings.iter().map(|text| assembler.string(text.to_bytes())).collect();
        words.push(0);
        assembler.words(&words)
    };
    let (mut argv, envp) = (list(arguments), list(environment));
    if arguments.is_empty() {
        argv = assembler.words(&[name, 0]); // as execve(2) would
    }
    let (result, difference) = (assembler.cell(), assembler.cell());
    let report = init::not_started(&mut assembler);
    let start = assembler.label();
    assembler.place(start);
    before(&mut assembler, steps);
    assembler.call(libc::SYS_execve, &[Is(program), Is(argv), Is(envp)], result);
    // Process 1 would tell of an exit only.
    assembler.set(difference, 0);
    assembler.subtract(difference, result);
    assembler.copy(Cell(report.0 + 4), difference, 0, u32::MAX, 0);
    assembler.call(libc::SYS_write, &[Is(STATUS_FD as u64), Is(report.0), Is(8)], result);
    assembler.call(libc::SYS_exit_group, &[Is(127)], result);
    Ok(assembler.finish(start))
}

/// The steps, and the end of what process 1 does first.
pub(crate) fn before(assembler: &mut Assembler, steps: &[Step]) {
    let failed = assembler.label();
    let mut writer = Writer {
        result: assembler.cell(),
        step: assembler.cell(),
        scratch: assembler.cell(),
        file: Cell(assembler.words(&[0; 32])),
        system: Cell(assembler.words(&[0; 32])),
        slots: Vec::new(),
        wrong: assembler.label(),
        failed,
        assembler,
    };
    for (index, step) in (0..).zip(steps) {
        let cell = writer.step;
        writer.assembler.set(cell, index);
        writer.step(step);
    }
    writer.end();
}

/// Writes steps.
struct Writer<'a> {
    assembler: &'a mut Assembler,
    result: Cell,
    /// The index of the present step.
    step: Cell,
    scratch: Cell,
    /// `struct stat`: device and inode number come first.
    file: Cell,
    /// `struct statfs`: the kind comes first, the flags after 80 bytes.
    system: Cell,
    /// Where descriptors are kept, by slot.
    slots: Vec<(usize, Cell)>,
    /// Something is not as it has to be.
    wrong: Label,
    /// A system call has failed.
    failed: Label,
}

impl Writer<'_> {
    /// A call that must not fail.
    fn call(&mut self, number: libc::c_long, arguments: &[Value]) {
        self.assembler.call(number, arguments, self.result);
        self.assembler.jump_if_negative(self.result, self.failed);
    }

    fn text(&mut self, text: &CStr) -> Value {
        Is(self.assembler.string(text.to_bytes()))
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::First => {
                self.call(libc::SYS_getpid, &[]);
                self.assembler.jump_unless_equal(self.result, 1, self.wrong);
            }
            Step::Namespace { path, ours, .. } => {
                let (path, file) = (self.text(path), self.file);
                self.call(libc::SYS_newfstatat, &[CURRENT, path, Is(file.0), Is(0)]);
                self.assembler.jump_if_equal(Cell(file.0 + 8), *ours, self.wrong);
            }
            Step::Powerless { last } => self.powerless(*last),
            Step::Seen { path, found, kind, flags } => self.seen(path, *found, *kind, *flags),
            Step::Operation(operation) => self.operation(operation),
        }
    }

    fn powerless(&mut self, last: u64) {
        const VERSION_3: u64 = 0x2008_0522;
        let header = self.assembler.words(&[VERSION_3]);
        let sets = self.assembler.words(&[0; 3]);
        self.call(libc::SYS_capget, &[Is(header), Is(sets)]);
        for set in 0..6 {
            self.assembler.jump_unless_equal(Cell(sets + 4 * set), 0, self.wrong);
        }
        for capability in 0..=last {
            self.call(libc::SYS_prctl, &[Is(libc::PR_CAPBSET_READ as u64), Is(capability)]);
            self.assembler.jump_unless_equal(self.result, 0, self.wrong);
        }
    }

    /// Opens a handle of a path, passing no symbolic link.
    fn open(&mut self, path: &CStr) -> Cell {
        // openat2(2): flags, mode, resolve.
        let how = [(libc::O_PATH | libc::O_CLOEXEC) as u64, 0, libc::RESOLVE_NO_SYMLINKS];
        let how = self.assembler.words(&how);
        let (path, fd) = (self.text(path), self.assembler.cell());
        self.call(libc::SYS_openat2, &[CURRENT, path, Is(how), Is(24)]);
        self.assembler.copy(fd, self.result, 0, u32::MAX, 0);
        fd
    }

    fn seen(&mut self, path: &CStr, found: Found, kind: Option<u32>, flags: u32) {
        let fd = self.open(path);
        let (file, system, empty) = (self.file, self.system, self.text(c""));
        self.call(libc::SYS_newfstatat, &[In(fd), empty, Is(file.0), Is(libc::AT_EMPTY_PATH as u64)]);
        let same = match found {
            Found::Same(identity) | Found::Other(identity) => Some(identity),
            Found::Any => None,
        };
        if let Some(identity) = same {
            let differs = self.assembler.label();
            for (at, number) in [(0, identity.device), (8, identity.inode)] {
                for (half, bits) in [(0, number as u32), (4, (number >> 32) as u32)] {
                    let to = if matches!(found, Found::Same(_)) { self.wrong } else { differs };
                    self.assembler.jump_unless_equal(Cell(file.0 + at + half), bits, to);
                }
            }
            if matches!(found, Found::Other(_)) {
                self.assembler.jump(self.wrong);
            }
            self.assembler.place(differs);
        }
        self.call(libc::SYS_fstatfs, &[In(fd), Is(system.0)]);
        if let Some(kind) = kind {
            self.assembler.jump_unless_equal(system, kind, self.wrong);
        }
        self.assembler.copy(self.scratch, Cell(system.0 + 80), 0, flags, 0);
        self.assembler.jump_unless_equal(self.scratch, flags, self.wrong);
        self.call(libc::SYS_close, &[In(fd)]);
    }

    fn slot(&mut self, slot: usize) -> Cell {
        if let Some((_, cell)) = self.slots.iter().find(|(known, _)| *known == slot) {
            return *cell;
        }
        let cell = self.assembler.cell();
        self.slots.push((slot, cell));
        cell
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::OfferProxy { port } => self.offer(*port),
            Operation::ChangeDirectory { path } => {
                let path = self.text(path);
                self.call(libc::SYS_chdir, &[path]);
            }
            Operation::Ruleset { attributes, size, slot } => {
                let words =
                    self.assembler.words(&[attributes.filesystem, attributes.network, attributes.scoped]);
                let slot = self.slot(*slot);
                self.call(libc::SYS_landlock_create_ruleset, &[Is(words), Is(*size as u64), Is(0)]);
                self.assembler.copy(slot, self.result, 0, u32::MAX, 0);
            }
            Operation::Rule { path, rights, ruleset, .. } => {
                const PATH_BENEATH: u64 = 1;
                let (fd, slot) = (self.open(path), self.slot(*ruleset));
                let rule = self.assembler.words(&[*rights, 0]);
                self.assembler.copy(Cell(rule + 8), fd, 0, u32::MAX, 0);
                self.call(libc::SYS_landlock_add_rule, &[In(slot), Is(PATH_BENEATH), Is(rule), Is(0)]);
                self.call(libc::SYS_close, &[In(fd)]);
            }
            Operation::EnforceRuleset { ruleset } => {
                let slot = self.slot(*ruleset);
                self.call(libc::SYS_landlock_restrict_self, &[In(slot), Is(0)]);
            }
            Operation::Limit { resource, value, .. } => {
                let both = self.assembler.words(&[*value; 2]);
                self.call(libc::SYS_prlimit64, &[Is(0), Is(*resource as u64), Is(both), Is(0)]);
            }
            Operation::NoNewPrivileges => {
                self.call(
                    libc::SYS_prctl,
                    &[Is(libc::PR_SET_NO_NEW_PRIVS as u64), Is(1), Is(0), Is(0), Is(0)],
                );
            }
            Operation::Filter { gated, program, .. } => {
                let instructions: Vec<u64> = program.iter().map(word).collect();
                let code = self.assembler.words(&instructions);
                let header = self.assembler.words(&[program.len() as u64, code]);
                let flags = if *gated { LISTENING } else { 0 };
                let set = libc::SECCOMP_SET_MODE_FILTER.into();
                self.call(libc::SYS_seccomp, &[Is(set), Is(flags as u64), Is(header)]);
                if *gated {
                    self.send(number::GATE);
                }
            }
            // The steps are made of these alone; whatever else comes here ends the run.
            _ => self.assembler.jump(self.wrong),
        }
    }

    /// A socket that listens on a port of 127.0.0.1, handed out.
    fn offer(&mut self, port: u16) {
        const BACKLOG: u64 = 128;
        let [high, low] = port.to_be_bytes();
        let family = (libc::AF_INET as u16).to_ne_bytes();
        let address = [family[0], family[1], high, low, 127, 0, 0, 1];
        let address = self.assembler.words(&[u64::from_ne_bytes(address), 0]);
        let socket = self.assembler.cell();
        let kind = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as u64;
        self.call(libc::SYS_socket, &[Is(libc::AF_INET as u64), Is(kind), Is(0)]);
        self.assembler.copy(socket, self.result, 0, u32::MAX, 0);
        self.call(libc::SYS_bind, &[In(socket), Is(address), Is(16)]);
        self.call(libc::SYS_listen, &[In(socket), Is(BACKLOG)]);
        self.assembler.copy(self.result, socket, 0, u32::MAX, 0);
        self.send(number::PROXY);
    }

    /// Sends the descriptor that the last call gave over a socket, and closes it. unix(7), `SCM_RIGHTS`.
    fn send(&mut self, over: i32) {
        const LENGTH: u64 = 20; // of the control message: a header of 16 bytes, and the descriptor
        let fd = self.assembler.cell();
        self.assembler.copy(fd, self.result, 0, u32::MAX, 0);
        let byte = self.assembler.words(&[0]);
        let part = self.assembler.words(&[byte, 1]);
        let kind = libc::SOL_SOCKET as u64 | (libc::SCM_RIGHTS as u64) << 32;
        let control = self.assembler.words(&[LENGTH, kind, 0]);
        let message = self.assembler.words(&[0, 0, part, 1, control, LENGTH, 0]);
        self.assembler.copy(Cell(control + 16), fd, 0, u32::MAX, 0);
        self.call(libc::SYS_sendmsg, &[Is(over as u64), Is(message), Is(0)]);
        self.call(libc::SYS_close, &[In(fd)]);
    }

    /// Tells that everything is done, closes what the command must not have, and goes on; and what is done on failure.
    fn end(mut self) {
        let (step, result, scratch) = (self.step, self.result, self.scratch);
        let (process, told) = (self.assembler.cell(), number::REPORT as u64);
        let none = self.assembler.words(&[0]);
        self.call(libc::SYS_rt_sigprocmask, &[Is(libc::SIG_SETMASK as u64), Is(none), Is(0), Is(8)]);
        for (to, from) in (0..).zip(number::STANDARD) {
            self.call(libc::SYS_dup3, &[Is(from as u64), Is(to), Is(0)]);
        }
        // All but the status pipe and the report.
        for (first, last) in [(STATUS_FD as u64 + 1, told - 1), (told + 1, u64::from(u32::MAX))] {
            self.call(libc::SYS_close_range, &[Is(first), Is(last), Is(0)]);
        }
        self.call(libc::SYS_prctl, &[Is(libc::PR_SET_PDEATHSIG as u64), Is(libc::SIGKILL as u64)]);
        self.call(libc::SYS_getpid, &[]);
        self.assembler.copy(process, result, 0, u32::MAX, 0);
        self.call(libc::SYS_pidfd_open, &[In(process), Is(0)]);
        self.send(number::REPORT);
        // bubblewrap may have died with the supervisor before the death signal was armed. Then nobody answers.
        self.call(libc::SYS_read, &[Is(told), Is(none), Is(1)]);
        self.assembler.jump_unless_equal(result, 1, self.wrong);
        self.call(libc::SYS_close, &[Is(told)]);
        let on = self.assembler.label();
        self.assembler.jump(on);

        let (wrong, failed) = (self.wrong, self.failed);
        let message = self.assembler.words(&[0; 2]);
        self.assembler.place(wrong);
        self.assembler.set(result, u64::from(-OTHERWISE as u32));
        self.assembler.place(failed);
        self.assembler.copy(Cell(message), step, 0, u32::MAX, 0);
        self.assembler.set(scratch, 0);
        self.assembler.subtract(scratch, result);
        self.assembler.copy(Cell(message + 4), scratch, 0, u32::MAX, 0);
        self.assembler.call(libc::SYS_write, &[Is(told), Is(message), Is(8)], scratch);
        self.assembler.call(libc::SYS_exit_group, &[Is(1)], scratch);
        self.assembler.place(on);
        self.assembler.go_on();
    }
}

/// `struct sock_filter` as the kernel reads it.
fn word(instruction: &Instruction) -> u64 {
    let Instruction { code, jump_true, jump_false, k } = *instruction;
    u64::from(code) | u64::from(jump_true) << 16 | u64::from(jump_false) << 24 | u64::from(k) << 32
}
