//! Messages: what a shell says when something fails.

use super::compile::{Compiler, Machine};
use super::machine::{Label, Value};

use Value::Is;

/// Errors that redirections, `cd` and execve(2) are likely to meet, in the words of glibc, which are bash's.
#[rustfmt::skip]
const ERRORS: [(i32, &str); 27] = [
    (libc::EPERM, "Operation not permitted"),
    (libc::ENOENT, "No such file or directory"),
    (libc::EIO, "Input/output error"),
    (libc::ENXIO, "No such device or address"),
    (libc::E2BIG, "Argument list too long"),
    (libc::ENOEXEC, "Exec format error"),
    (libc::EBADF, "Bad file descriptor"),
    (libc::EAGAIN, "Resource temporarily unavailable"),
    (libc::ENOMEM, "Cannot allocate memory"),
    (libc::EACCES, "Permission denied"),
    (libc::EBUSY, "Device or resource busy"),
    (libc::EEXIST, "File exists"),
    (libc::ENODEV, "No such device"),
    (libc::ENOTDIR, "Not a directory"),
    (libc::EISDIR, "Is a directory"),
    (libc::EINVAL, "Invalid argument"),
    (libc::ENFILE, "Too many open files in system"),
    (libc::EMFILE, "Too many open files"),
    (libc::ETXTBSY, "Text file busy"),
    (libc::EFBIG, "File too large"),
    (libc::ENOSPC, "No space left on device"),
    (libc::EROFS, "Read-only file system"),
    (libc::EPIPE, "Broken pipe"),
    (libc::ENAMETOOLONG, "File name too long"),
    (libc::ELOOP, "Too many levels of symbolic links"),
    (libc::EDQUOT, "Disk quota exceeded"),
    (libc::ESTALE, "Stale file handle"),
];

/// What is said of a process that a signal has ended; of `SIGINT` and `SIGPIPE` nothing is.
const SIGNALS: [(i32, &str); 14] = [
    (libc::SIGHUP, "Hangup"),
    (libc::SIGQUIT, "Quit"),
    (libc::SIGILL, "Illegal instruction"),
    (libc::SIGTRAP, "Trace/breakpoint trap"),
    (libc::SIGABRT, "Aborted"),
    (libc::SIGBUS, "Bus error"),
    (libc::SIGFPE, "Floating point exception"),
    (libc::SIGKILL, "Killed"),
    (libc::SIGUSR1, "User defined signal 1"),
    (libc::SIGSEGV, "Segmentation fault"),
    (libc::SIGUSR2, "User defined signal 2"),
    (libc::SIGALRM, "Alarm clock"),
    (libc::SIGTERM, "Terminated"),
    (libc::SIGXCPU, "CPU time limit exceeded"),
];

impl Compiler {
    /// Writes the text and what the last result means to standard error.
    pub(super) fn say_failure(&mut self, text: &[u8]) {
        let at = self.assembler.bytes(text);
        let [pointer, length, ..] = self.machine.pieces;
        self.assembler.set(pointer, at);
        self.assembler.set(length, text.len() as u64);
        self.assembler.gosub(self.machine.failure, self.machine.failure_back);
    }

    /// What is only ever gone to.
    pub(super) fn routines(&mut self) {
        let Machine { failure, failure_back, signal, signal_back, no_process, .. } = self.machine;
        let newline = self.assembler.bytes(b"\n");
        self.assembler.place(failure);
        let [.., pointer, length] = self.machine.pieces;
        self.assembler.set(pointer, newline);
        self.assembler.set(length, 1);
        self.say(&ERRORS.map(|(errno, text)| (-errno as u32, text)), "Unknown error", failure_back);
        self.assembler.place(signal);
        self.say(&SIGNALS.map(|(signal, text)| (signal as u32, text)), "Ended by a signal", signal_back);
        self.assembler.place(no_process);
        self.assembler.set(self.machine.result, u64::from(-libc::EAGAIN as u32));
        self.say_failure(b"bash: fork: ");
        self.set_status(254);
        self.exit();
    }

    /// Writes the pieces, with the word for the last result in the middle.
    pub(super) fn say(&mut self, words: &[(u32, &str)], other: &str, back: Label) {
        let Machine { result, pieces: [first, _, pointer, length, ..], .. } = self.machine;
        let found = self.assembler.label();
        for (number, word) in words {
            let next = self.assembler.label();
            let at = self.assembler.bytes(word.as_bytes());
            self.assembler.jump_unless_equal(result, *number, next);
            self.assembler.set(pointer, at);
            self.assembler.set(length, word.len() as u64);
            self.assembler.jump(found);
            self.assembler.place(next);
        }
        let at = self.assembler.bytes(other.as_bytes());
        self.assembler.set(pointer, at);
        self.assembler.set(length, other.len() as u64);
        self.assembler.place(found);
        self.call(libc::SYS_writev, &[Is(2), Is(first.0), Is(3)]);
        self.assembler.come_back(back);
    }
}
