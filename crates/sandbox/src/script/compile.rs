//! From the tree to the list of system calls and jumps.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::machine::{Assembler, Cell, Label, Value};
use super::prefix;
use super::{Action, Command, List, Script};
use crate::descriptor::STATUS_FD;
use crate::error::SandboxError;
use crate::paths::c_string;

use Value::{In, Is};

/// Bytes of the table that a script may become; a command has at most a megabyte of text.
const MAX_SIZE: usize = 16 << 20;

/// Lists inside each other.
const MAX_DEPTH: usize = 64;

/// Variables that the script keeps up to date itself, as a shell does.
const OWN: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// The table of a script that starts in this directory with this environment. `before` writes what process 1 has to do first, if it
/// has to do anything.
pub(crate) fn compile(
    script: &Script,
    cwd: &Path,
    environment: &[CString],
    before: impl FnOnce(&mut Assembler),
) -> Result<Vec<u8>, SandboxError> {
    let own = |entry: &CString| {
        OWN.iter()
            .any(|name| entry.to_bytes().strip_prefix(name.as_bytes()).is_some_and(|e| e.starts_with(b"=")))
    };
    if environment.iter().any(own) {
        return Err(SandboxError::request(
            "the environment of a script sets PWD, OLDPWD, SHLVL or _",
            "leave them out: the script keeps them",
        ));
    }
    let mut assembler = Assembler::default();
    let entries: Vec<u64> = environment.iter().map(|entry| assembler.string(entry.to_bytes())).collect();
    let start = assembler.label();
    let machine = Machine::new(&mut assembler, cwd, &entries);
    let mut compiler = Compiler { assembler, machine, entries, depth: 0 };
    compiler.assembler.place(start);
    before(&mut compiler.assembler);
    // Process 1's own report goes over this descriptor.
    compiler.call(libc::SYS_close, &[Is(STATUS_FD as u64)]);
    compiler.list(&script.list, Context { last: true, main: true, leaves: true })?;
    compiler.exit();
    compiler.routines();
    Ok(compiler.assembler.finish(start))
}

/// Cells and routines that everything shares.
#[derive(Debug)]
pub(super) struct Machine {
    /// Result of the last system call.
    pub(super) result: Cell,
    /// `$?`.
    pub(super) status: Cell,
    /// What wait4(2) stored.
    pub(super) ended: Cell,
    /// The two ends of the last pipe.
    pub(super) pipe: Cell,
    /// Three pieces of a message (`struct iovec`).
    pub(super) pieces: [Cell; 6],
    /// `struct stat`; device and inode number come first.
    pub(super) file: Cell,
    /// The current directory's name and a newline, to be written.
    pub(super) directory: [Cell; 2],
    pub(super) directory_pieces: Cell,
    /// The variables of every program. `_`, `SHLVL`, `PWD` come first, `OLDPWD` last.
    pub(super) environment: u64,
    pub(super) underscore: Cell,
    pub(super) level: Cell,
    pub(super) pwd: Cell,
    pub(super) old_pwd: Cell,
    pub(super) level_up: u64,
    pub(super) level_down: u64,
    pub(super) failure: Label,
    pub(super) failure_back: Label,
    pub(super) signal: Label,
    pub(super) signal_back: Label,
    pub(super) no_process: Label,
}

impl Machine {
    fn new(assembler: &mut Assembler, cwd: &Path, entries: &[u64]) -> Self {
        let pwd = named(assembler, cwd);
        let (level_up, level_down) = (assembler.string(b"SHLVL=1"), assembler.string(b"SHLVL=0"));
        let underscore = assembler.string(b"_=");
        let words: Vec<u64> = [underscore, level_up, pwd.variable]
            .into_iter()
            .chain(entries.iter().copied())
            .chain([0, 0])
            .collect();
        let environment = assembler.words(&words);
        let newline = assembler.bytes(b"\n");
        let directory = assembler.words(&[pwd.name, pwd.length, newline, 1]);
        let pieces = assembler.words(&[0; 6]);
        let file = Cell(assembler.words(&[0; 32]));
        Self {
            result: assembler.cell(),
            status: assembler.cell(),
            ended: assembler.cell(),
            pipe: assembler.cell(),
            pieces: [0, 1, 2, 3, 4, 5].map(|at| Cell(pieces + 8 * at)),
            file,
            directory: [Cell(directory), Cell(directory + 8)],
            directory_pieces: Cell(directory),
            environment,
            underscore: Cell(environment),
            level: Cell(environment + 8),
            pwd: Cell(environment + 16),
            old_pwd: Cell(environment + 8 * (words.len() as u64 - 2)),
            level_up,
            level_down,
            failure: assembler.label(),
            failure_back: assembler.label(),
            signal: assembler.label(),
            signal_back: assembler.label(),
            no_process: assembler.label(),
        }
    }
}

/// A directory's name in memory: `OLDPWD=` and the path, of which `PWD=` and the path are the end.
pub(super) struct Named {
    pub(super) variable: u64,
    pub(super) name: u64,
    pub(super) length: u64,
}

pub(super) fn named(assembler: &mut Assembler, path: &Path) -> Named {
    let path = path.as_os_str().as_bytes();
    let at = assembler.string(&[b"OLDPWD=", path].concat());
    Named { variable: at + 3, name: at + 7, length: path.len() as u64 }
}

/// Where a command stands.
#[derive(Debug, Clone, Copy)]
struct Context {
    /// Nothing comes after it in this process.
    last: bool,
    /// This process is the first, which stands for the shell itself.
    main: bool,
    /// A program that takes this process's place is one level of shells up (`SHLVL`).
    leaves: bool,
}

impl Context {
    fn followed(self) -> Self {
        Self { last: false, ..self }
    }

    /// Whether the process is there for this command alone.
    fn own(self) -> bool {
        self.last && !self.main
    }
}

pub(super) struct Compiler {
    pub(super) assembler: Assembler,
    pub(super) machine: Machine,
    /// The addresses of the variables that do not change.
    pub(super) entries: Vec<u64>,
    pub(super) depth: usize,
}

impl Compiler {
    pub(super) fn call(&mut self, number: libc::c_long, arguments: &[Value]) {
        self.assembler.call(number, arguments, self.machine.result);
    }

    pub(super) fn set_status(&mut self, status: u8) {
        self.assembler.set(self.machine.status, u64::from(status));
    }

    pub(super) fn exit(&mut self) {
        let status = self.machine.status;
        self.call(libc::SYS_exit_group, &[In(status)]);
    }

    fn list(&mut self, list: &List, context: Context) -> Result<(), SandboxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || self.assembler.size() > MAX_SIZE {
            return Err(SandboxError::request("the script is too large", "write it to a file and run that"));
        }
        match list {
            List::Pipeline { commands, negated } => {
                let inner = if *negated { context.followed() } else { context };
                match commands.as_slice() {
                    [command] => self.command(command, inner)?,
                    commands => self.pipeline(commands)?,
                }
                if *negated {
                    let (failed, end) = (self.assembler.label(), self.assembler.label());
                    self.assembler.jump_unless_equal(self.machine.status, 0, failed);
                    self.set_status(1);
                    self.assembler.jump(end);
                    self.assembler.place(failed);
                    self.set_status(0);
                    self.assembler.place(end);
                }
            }
            List::And(first, second) => {
                self.list(first, context.followed())?;
                let end = self.assembler.label();
                self.assembler.jump_unless_equal(self.machine.status, 0, end);
                self.list(second, context)?;
                self.assembler.place(end);
            }
            List::Or(first, second) => {
                self.list(first, context.followed())?;
                let end = self.assembler.label();
                self.assembler.jump_if_equal(self.machine.status, 0, end);
                self.list(second, context)?;
                self.assembler.place(end);
            }
            List::Sequence(lists) => {
                for (at, list) in lists.iter().enumerate() {
                    let last = at + 1 == lists.len();
                    self.list(list, if last { context } else { context.followed() })?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Commands side by side. Each process keeps its own two ends and no others, or no reader would ever see the end.
    fn pipeline(&mut self, commands: &[Command]) -> Result<(), SandboxError> {
        let mut before: Option<Cell> = None;
        let mut processes = Vec::with_capacity(commands.len());
        for (at, command) in commands.iter().enumerate() {
            let ends = match at + 1 < commands.len() {
                true => Some(self.pipe_ends()),
                false => None,
            };
            let (process, parent) = self.fork();
            if let Some(read) = before {
                self.move_descriptor(read, 0);
            }
            if let Some((read, write)) = ends {
                self.call(libc::SYS_close, &[In(read)]);
                self.move_descriptor(write, 1);
            }
            self.command(command, Context { last: true, main: false, leaves: false })?;
            self.exit();
            self.assembler.place(parent);
            if let Some(read) = before {
                self.call(libc::SYS_close, &[In(read)]);
            }
            before = ends.map(|(read, write)| {
                self.call(libc::SYS_close, &[In(write)]);
                read
            });
            processes.push((process, command));
        }
        let last = processes.len().saturating_sub(1);
        for (at, (process, command)) in processes.into_iter().enumerate() {
            self.wait(process);
            if at == last {
                self.take_status(command);
            }
        }
        Ok(())
    }

    /// The two ends of a new pipe.
    pub(super) fn pipe_ends(&mut self) -> (Cell, Cell) {
        let (pipe, failed, made) = (self.machine.pipe, self.assembler.label(), self.assembler.label());
        self.call(libc::SYS_pipe2, &[Is(pipe.0), Is(0)]);
        self.assembler.jump_if_negative(self.machine.result, failed);
        self.assembler.jump(made);
        self.assembler.place(failed);
        self.say_failure(b"bash: pipe error: ");
        self.set_status(1);
        self.exit();
        self.assembler.place(made);
        let (read, write) = (self.assembler.cell(), self.assembler.cell());
        self.assembler.copy(read, pipe, 0, u32::MAX, 0);
        self.assembler.copy(write, Cell(pipe.0 + 4), 0, u32::MAX, 0);
        (read, write)
    }

    /// Forks. What follows is the child, until the label is placed.
    pub(super) fn fork(&mut self) -> (Cell, Label) {
        let (process, parent) = (self.assembler.cell(), self.assembler.label());
        // Without flags but the signal at its end this is fork(2), on every architecture.
        let arguments = [Is(libc::SIGCHLD as u64), Is(0), Is(0), Is(0), Is(0)];
        self.assembler.call(libc::SYS_clone, &arguments, process);
        self.assembler.jump_if_negative(process, self.machine.no_process);
        self.assembler.jump_unless_equal(process, 0, parent);
        (process, parent)
    }

    pub(super) fn wait(&mut self, process: Cell) {
        let ended = self.machine.ended;
        self.call(libc::SYS_wait4, &[In(process), Is(ended.0), Is(0), Is(0)]);
    }

    /// `$?` from how the process ended that was waited for, and a message if a signal ended it.
    fn take_status(&mut self, command: &Command) {
        let Machine { status, ended, result, pieces, .. } = self.machine;
        let (signalled, end) = (self.assembler.label(), self.assembler.label());
        self.assembler.copy(result, ended, 0, 0x7f, 0);
        self.assembler.jump_unless_equal(result, 0, signalled);
        self.assembler.copy(status, ended, 8, 0xff, 0);
        self.assembler.jump(end);
        self.assembler.place(signalled);
        self.assembler.copy(status, ended, 0, 0x7f, 128);
        for signal in [libc::SIGINT, libc::SIGPIPE] {
            self.assembler.jump_if_equal(result, signal as u32, end);
        }
        let text = match &command.action {
            Action::Program(program) => program.arguments.first().map_or(&b""[..], |name| name.as_bytes()),
            _ => b"a subshell",
        };
        let (before, after) = (prefix(command.line), [b": ", text, b"\n"].concat());
        for (piece, text) in [(0, before), (4, after)] {
            let at = self.assembler.bytes(&text);
            if let [Some(pointer), Some(length)] = [pieces.get(piece), pieces.get(piece + 1)] {
                self.assembler.set(*pointer, at);
                self.assembler.set(*length, text.len() as u64);
            }
        }
        self.assembler.gosub(self.machine.signal, self.machine.signal_back);
        self.assembler.place(end);
    }

    fn command(&mut self, command: &Command, context: Context) -> Result<(), SandboxError> {
        let end = self.assembler.label();
        match &command.action {
            Action::Program(program) => {
                // With redirections a shell forks, so that how the program ends is its own exit status.
                if context.last && (!context.main || command.redirects.is_empty()) {
                    self.redirects(command, end)?;
                    self.execute(program, command.line, context.leaves && command.redirects.is_empty())?;
                } else {
                    let (process, parent) = self.fork();
                    let failed = self.assembler.label();
                    self.redirects(command, failed)?;
                    self.execute(program, command.line, false)?;
                    self.assembler.place(failed);
                    self.exit();
                    self.assembler.place(parent);
                    self.wait(process);
                    self.take_status(command);
                }
            }
            Action::Subshell(list) => {
                let inner = Context { last: true, main: false, leaves: true };
                if context.own() {
                    self.redirects(command, end)?;
                    self.list(list, inner)?;
                } else {
                    let (process, parent) = self.fork();
                    let failed = self.assembler.label();
                    self.redirects(command, failed)?;
                    self.list(list, inner)?;
                    self.assembler.place(failed);
                    self.exit();
                    self.assembler.place(parent);
                    self.wait(process);
                    self.take_status(command);
                }
            }
            action => {
                let saved = match context.own() {
                    true => Vec::new(),
                    false => self.save(&command.redirects),
                };
                self.redirects(command, end)?;
                match action {
                    Action::Group(list) => {
                        self.list(list, Context { last: context.own(), ..context })?;
                    }
                    Action::Print { name, bytes } => self.print(name, bytes, command.line),
                    Action::PrintDirectory => self.print_directory(command.line),
                    Action::Status(status) => self.set_status(*status),
                    Action::Enter { given, directory } => self.enter(given, directory, command.line)?,
                    Action::Program(_) | Action::Subshell(_) => {}
                }
                self.assembler.place(end);
                self.restore(&saved);
                return Ok(());
            }
        }
        self.assembler.place(end);
        Ok(())
    }

    pub(super) fn path(&mut self, text: &OsStr) -> Result<u64, SandboxError> {
        let text = c_string(text, "word")?;
        Ok(self.assembler.string(text.to_bytes()))
    }
}
