//! What a single command does: a program, or one of the few builtins that need no shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Program;
use super::compile::{Compiler, Machine, named};
use super::machine::{Cell, Value};
use super::prefix;
use crate::error::SandboxError;

use Value::{In, Is};

const CURRENT: Value = Is(libc::AT_FDCWD as i64 as u64);

impl Compiler {
    /// Takes the place of this process. Only failure goes on, with the status that a shell gives it.
    pub(super) fn execute(&mut self, program: &Program, line: u32, leaves: bool) -> Result<(), SandboxError> {
        let Machine { result, underscore, level, level_up, level_down, .. } = self.machine;
        let path = self.path(program.path.as_os_str())?;
        let name = program.path.as_os_str().as_bytes();
        let (failed, replaced, end) =
            (self.assembler.label(), self.assembler.label(), self.assembler.label());
        if let Some(identity) = program.identity {
            let file = self.machine.file;
            self.call(libc::SYS_newfstatat, &[CURRENT, Is(path), Is(file.0), Is(0)]);
            self.assembler.jump_if_negative(result, failed);
            for (at, number) in [(0, identity.device), (8, identity.inode)] {
                for (half, bits) in [(0, number as u32), (4, (number >> 32) as u32)] {
                    self.assembler.jump_unless_equal(Cell(file.0 + at + half), bits, replaced);
                }
            }
        }
        let mut arguments = Vec::with_capacity(program.arguments.len() + 1);
        for argument in &program.arguments {
            arguments.push(self.path(argument)?);
        }
        arguments.push(0);
        let arguments = self.assembler.words(&arguments);
        let called = self.assembler.string(&[b"_=", name].concat());
        self.assembler.set(underscore, called);
        self.assembler.set(level, if leaves { level_down } else { level_up });
        let environment = self.environment(program)?;
        self.call(libc::SYS_execve, &[Is(path), Is(arguments), Is(environment)]);
        self.assembler.place(failed);
        let missing = self.assembler.label();
        self.set_status(127);
        self.assembler.jump_if_equal(result, -libc::ENOENT as u32, missing);
        self.set_status(126);
        self.assembler.place(missing);
        self.say_failure(&[prefix(line).as_slice(), name, b": "].concat());
        self.assembler.jump(end);
        self.assembler.place(replaced);
        let said =
            [b"shward: ", name, b" was replaced after it was checked; run the command again\n"].concat();
        let at = self.assembler.bytes(&said);
        self.call(libc::SYS_write, &[Is(2), Is(at), Is(said.len() as u64)]);
        self.set_status(126);
        self.assembler.place(end);
        Ok(())
    }

    /// The variables of a program: everybody's, or a list of its own if it has some of its own.
    pub(super) fn environment(&mut self, program: &Program) -> Result<u64, SandboxError> {
        if program.variables.is_empty() {
            return Ok(self.machine.environment);
        }
        let mut own = Vec::with_capacity(program.variables.len());
        let mut names = Vec::with_capacity(program.variables.len());
        for (name, value) in &program.variables {
            let start = [name.as_bytes(), b"="].concat();
            own.push(self.path(OsStr::from_bytes(&[&start, value.as_bytes()].concat()))?);
            names.push(start);
        }
        let kept = self.entries.iter().filter(|at| {
            let entry = self.assembler.string_at(**at);
            !names.iter().any(|name| entry.starts_with(name))
        });
        let kept: Vec<u64> = kept.copied().collect();
        let words: Vec<u64> = [0; 3].into_iter().chain(own).chain(kept).chain([0, 0]).collect();
        let at = self.assembler.words(&words);
        let Machine { underscore, level, pwd, old_pwd, .. } = self.machine;
        let old = at + 8 * (words.len() as u64 - 2);
        for (from, to) in [(underscore, at), (level, at + 8), (pwd, at + 16), (old_pwd, old)] {
            self.assembler.copy(Cell(to), from, 0, u32::MAX, 0);
        }
        Ok(at)
    }

    pub(super) fn print(&mut self, name: &str, bytes: &[u8], line: u32) {
        let result = self.machine.result;
        let (again, failed, end) = (self.assembler.label(), self.assembler.label(), self.assembler.label());
        self.set_status(0);
        if bytes.is_empty() {
            return;
        }
        let text = self.assembler.bytes(bytes);
        let (at, left) = (self.assembler.cell(), self.assembler.cell());
        self.assembler.set(at, text);
        self.assembler.set(left, bytes.len() as u64);
        self.assembler.place(again);
        self.call(libc::SYS_write, &[Is(1), In(at), In(left)]);
        self.assembler.jump_if_negative(result, failed);
        self.assembler.add(at, result);
        self.assembler.subtract(left, result);
        self.assembler.jump_unless_equal(left, 0, again);
        self.assembler.jump(end);
        self.assembler.place(failed);
        self.say_failure(&[prefix(line).as_slice(), name.as_bytes(), b": write error: "].concat());
        self.set_status(1);
        self.assembler.place(end);
    }

    pub(super) fn print_directory(&mut self, line: u32) {
        let (failed, end) = (self.assembler.label(), self.assembler.label());
        self.set_status(0);
        let pieces = self.machine.directory_pieces;
        self.call(libc::SYS_writev, &[Is(1), Is(pieces.0), Is(2)]);
        self.assembler.jump_if_negative(self.machine.result, failed);
        self.assembler.jump(end);
        self.assembler.place(failed);
        self.say_failure(&[prefix(line).as_slice(), b"pwd: write error: "].concat());
        self.set_status(1);
        self.assembler.place(end);
    }

    pub(super) fn enter(&mut self, given: &[u8], directory: &Path, line: u32) -> Result<(), SandboxError> {
        let Machine { result, pwd, old_pwd, directory: [name, length], .. } = self.machine;
        let (failed, end) = (self.assembler.label(), self.assembler.label());
        let path = self.path(directory.as_os_str())?;
        self.call(libc::SYS_chdir, &[Is(path)]);
        self.assembler.jump_if_negative(result, failed);
        let named = named(&mut self.assembler, directory);
        self.assembler.copy(old_pwd, pwd, 0, u32::MAX, -3);
        self.assembler.set(pwd, named.variable);
        self.assembler.set(name, named.name);
        self.assembler.set(length, named.length);
        self.set_status(0);
        self.assembler.jump(end);
        self.assembler.place(failed);
        self.say_failure(&[prefix(line).as_slice(), b"cd: ", given, b": "].concat());
        self.set_status(1);
        self.assembler.place(end);
        Ok(())
    }
}
