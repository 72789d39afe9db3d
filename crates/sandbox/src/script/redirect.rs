//! Redirections.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::compile::Compiler;
use super::machine::{Cell, Label, Value};
use super::prefix;
use super::{Command, MAX_DESCRIPTOR, Mode, Redirect, Target};
use crate::error::SandboxError;

use Value::{In, Is};

const CURRENT: Value = Is(libc::AT_FDCWD as i64 as u64);

impl Compiler {
    /// Performs the redirections. One that fails makes the status 1 and goes to the label.
    pub(super) fn redirects(&mut self, command: &Command, failed: Label) -> Result<(), SandboxError> {
        for redirect in &command.redirects {
            if redirect.descriptor > MAX_DESCRIPTOR {
                return Err(SandboxError::request("a descriptor above 9 is redirected", "use a lower one"));
            }
            let broken = self.assembler.label();
            let done = self.assembler.label();
            let shown = self.redirect(redirect, broken)?;
            self.assembler.jump(done);
            self.assembler.place(broken);
            self.say_failure(&[prefix(command.line).as_slice(), &shown, b": "].concat());
            self.set_status(1);
            self.assembler.jump(failed);
            self.assembler.place(done);
        }
        Ok(())
    }

    /// Performs one. What a message about it names.
    pub(super) fn redirect(&mut self, redirect: &Redirect, broken: Label) -> Result<Vec<u8>, SandboxError> {
        let to = redirect.descriptor;
        let result = self.machine.result;
        match &redirect.target {
            Target::File { path, mode } => {
                self.open(path, *mode, to, broken)?;
                return Ok(path.as_os_str().as_bytes().to_vec());
            }
            Target::Copy(from) => {
                match *from == to {
                    true => self.call(libc::SYS_fcntl, &[Is(u64::from(to)), Is(libc::F_GETFD as u64)]),
                    false => self.call(libc::SYS_dup3, &[Is(u64::from(*from)), Is(u64::from(to)), Is(0)]),
                }
                self.assembler.jump_if_negative(result, broken);
                return Ok(from.to_string().into_bytes());
            }
            Target::Closed => self.call(libc::SYS_close, &[Is(u64::from(to))]),
            Target::Text(text) if text.is_empty() => {
                self.open(Path::new("/dev/null"), Mode::Read, to, broken)?;
            }
            Target::Text(text) => self.text(text, to),
        }
        Ok(Vec::new())
    }

    pub(super) fn open(
        &mut self,
        path: &Path,
        mode: Mode,
        to: u8,
        broken: Label,
    ) -> Result<(), SandboxError> {
        let flags = match mode {
            Mode::Read => libc::O_RDONLY,
            Mode::Write => libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
            Mode::Append => libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND,
            Mode::ReadWrite => libc::O_RDWR | libc::O_CREAT,
        };
        let path = self.path(path.as_os_str())?;
        self.call(libc::SYS_openat, &[CURRENT, Is(path), Is(flags as u64), Is(0o666)]);
        self.assembler.jump_if_negative(self.machine.result, broken);
        let opened = self.assembler.cell();
        self.assembler.copy(opened, self.machine.result, 0, u32::MAX, 0);
        self.move_descriptor(opened, to);
        Ok(())
    }

    /// A pipe with the text in it. If it does not hold all of it, somebody writes the rest who is nobody's child.
    pub(super) fn text(&mut self, text: &[u8], to: u8) {
        let (read, write) = self.pipe_ends();
        let at = self.assembler.bytes(text);
        let (large, done) = (self.assembler.label(), self.assembler.label());
        let all = [In(write), Is(at), Is(text.len() as u64)];
        self.call(libc::SYS_fcntl, &[In(write), Is(libc::F_GETPIPE_SZ as u64)]);
        self.assembler.jump_if_less(self.machine.result, text.len().try_into().unwrap_or(u32::MAX), large);
        self.call(libc::SYS_write, &all);
        self.assembler.jump(done);
        self.assembler.place(large);
        let (process, parent) = self.fork();
        self.call(libc::SYS_close, &[In(read)]);
        let (_, between) = self.fork();
        for standard in 0..=2 {
            // Where one was closed before, the pipe may have its number.
            let next = self.assembler.label();
            self.assembler.jump_if_equal(write, standard, next);
            self.call(libc::SYS_close, &[Is(u64::from(standard))]);
            self.assembler.place(next);
        }
        self.call(libc::SYS_write, &all);
        self.assembler.place(between);
        self.exit();
        self.assembler.place(parent);
        self.wait(process);
        self.assembler.place(done);
        self.call(libc::SYS_close, &[In(write)]);
        self.move_descriptor(read, to);
    }

    /// Gives a descriptor another number.
    pub(super) fn move_descriptor(&mut self, from: Cell, to: u8) {
        let there = self.assembler.label();
        self.assembler.jump_if_equal(from, u32::from(to), there);
        self.call(libc::SYS_dup3, &[In(from), Is(u64::from(to)), Is(0)]);
        self.call(libc::SYS_close, &[In(from)]);
        self.assembler.place(there);
    }

    /// Copies of the descriptors that are about to be redirected, above all that a script can name.
    pub(super) fn save(&mut self, redirects: &[Redirect]) -> Vec<(u8, Cell)> {
        let mut descriptors: Vec<u8> = redirects.iter().map(|redirect| redirect.descriptor).collect();
        descriptors.sort_unstable();
        descriptors.dedup();
        let mut saved = Vec::with_capacity(descriptors.len());
        for descriptor in descriptors {
            let copy = self.assembler.cell();
            let above = Is(u64::from(MAX_DESCRIPTOR) + 1);
            let arguments = [Is(u64::from(descriptor)), Is(libc::F_DUPFD_CLOEXEC as u64), above];
            self.assembler.call(libc::SYS_fcntl, &arguments, copy);
            saved.push((descriptor, copy));
        }
        saved
    }

    pub(super) fn restore(&mut self, saved: &[(u8, Cell)]) {
        for (descriptor, copy) in saved {
            let (closed, next) = (self.assembler.label(), self.assembler.label());
            self.assembler.jump_if_negative(*copy, closed);
            self.move_descriptor(*copy, *descriptor);
            self.assembler.jump(next);
            self.assembler.place(closed);
            self.call(libc::SYS_close, &[Is(u64::from(*descriptor))]);
            self.assembler.place(next);
        }
    }
}
