//! A program that has been loaded and has not run yet.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::list::Identity;
use super::stack::Stack;
use crate::paths::contents;

/// A program stopped between execve(2) and its first instruction, as the kernel tells of it (proc(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exec {
    /// Its process id outside of the sandbox.
    pub pid: i32,
    /// The file that is executed, every link resolved; of a script, its interpreter. The kernel's answer, not what the caller said:
    /// `/proc/self/fd/3` comes as the file that is open there.
    pub program: PathBuf,
    /// The file has no name (any more): a memory file, or a deleted one. Then [`program`](Self::program) means nothing.
    pub nameless: bool,
    /// The device and inode number of the file.
    pub identity: Identity,
    /// The argument vector, the zeroth argument included, which the caller chooses freely. Of a script, the interpreter's: its
    /// name, the option of the `#!` line if there is one, the script's path as the caller gave it, the script's arguments.
    pub arguments: Vec<OsString>,
    /// The environment, entry by entry as execve(2) got it: usually `NAME=value`.
    pub environment: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
}

impl Exec {
    /// Reads what the kernel tells of a process that is stopped before its first instruction.
    pub(super) fn read(pid: libc::pid_t, stack: &mut Stack) -> io::Result<Self> {
        let of = |name: &str| format!("/proc/{pid}/{name}");
        let exe = of("exe");
        let data = fs::metadata(&exe)?; // of the file itself: this link leads to what is open, not to a name
        let program = fs::read_link(&exe)?;
        // The kernel appends this to the name of what is deleted. A file that is really called so counts as deleted.
        let nameless = data.nlink() == 0 || program.as_os_str().as_bytes().ends_with(b" (deleted)");
        let (arguments, environment) = match stack.strings(pid) {
            Some(found) => found,
            None => (strings(contents(of("cmdline"))?), strings(contents(of("environ"))?)),
        };
        Ok(Self {
            pid,
            program,
            nameless,
            identity: Identity { device: data.dev(), inode: data.ino() },
            arguments,
            environment,
            cwd: fs::read_link(of("cwd"))?,
        })
    }

    /// The program of the process that started it, while that one lives.
    pub fn parent(&self) -> Option<PathBuf> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim();
        fs::read_link(format!("/proc/{parent}/exe")).ok()
    }

    /// The value of an environment variable; of several entries with this name, the first, as getenv(3) has it.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        self.environment
            .iter()
            .find_map(|entry| entry.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }

    /// Whether the program is the dynamic loader, which then runs what its arguments name (ld.so(8)).
    pub fn is_loader(&self) -> bool {
        is_loader(&self.program)
    }
}

/// By name: glibc's `ld-linux*.so.*` and `ld64.so.*`, `ld-2.31.so` and musl's `ld-musl-*.so.*`, which may be a link to musl's library:
/// `libc.so`, `libc.musl-*.so.*`.
fn is_loader(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().as_bytes();
    let named = name.starts_with(b"ld") && name.windows(3).any(|part| part == b".so");
    named || name == b"libc.so" || name.starts_with(b"libc.musl-")
}

/// Strings that each end with a NUL.
fn strings(bytes: Vec<u8>) -> Vec<OsString> {
    let Some((_, rest)) = bytes.split_last() else { return Vec::new() };
    rest.split(|byte| *byte == 0).map(|text| OsString::from_vec(text.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_split_at_their_ends() {
        let table: [(&[u8], &[&str]); 5] = [
            (b"", &[]),
            (b"\0", &[""]),
            (b"a\0", &["a"]),
            (b"a\0\0b\0", &["a", "", "b"]),
            (b"a\0b\0", &["a", "b"]),
        ];
        for (bytes, expected) in table {
            assert_eq!(strings(bytes.to_vec()), expected);
        }
    }

    #[test]
    fn loaders_are_known_by_name() {
        let table = [
            ("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", true),
            ("/lib/ld-musl-x86_64.so.1", true),
            ("/lib/x86_64-linux-gnu/ld-2.31.so", true),
            ("/lib/ld64.so.2", true),
            ("/usr/lib/x86_64-linux-musl/libc.so", true),
            ("/lib/libc.musl-aarch64.so.1", true),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", false),
            ("/usr/bin/ld", false),
            ("/usr/bin/ldd", false),
            ("/usr/bin/x86_64-linux-gnu-ld.bfd", false),
        ];
        for (path, expected) in table {
            assert_eq!(is_loader(Path::new(path)), expected, "{path}");
        }
    }

    /// Under what the kernel tells nothing is found any more, though the file has another name.
    #[test]
    fn a_program_that_lost_the_name_it_was_started_by_has_none() {
        let place = tempfile::tempdir().unwrap();
        let [name, other] = ["name", "other"].map(|name| place.path().join(name));
        fs::copy("/bin/sleep", &name).unwrap();
        fs::hard_link(&name, &other).unwrap();
        // Whoever forks in another thread may still have open what was written.
        let start = || loop {
            match std::process::Command::new(&name).arg("60").spawn() {
                Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => std::thread::yield_now(),
                started => return started.unwrap(),
            }
        };
        let mut child = start();
        let read = || Exec::read(child.id() as i32, &mut Stack::default()).unwrap().nameless;
        let before = read();
        fs::remove_file(&name).unwrap();
        let after = read();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((before, after), (false, true));
    }

    #[test]
    fn this_process_can_be_read() {
        let this = Exec::read(std::process::id() as i32, &mut Stack::default()).unwrap();
        assert_eq!(this.program, std::env::current_exe().unwrap().canonicalize().unwrap());
        assert_eq!(this.cwd, std::env::current_dir().unwrap());
        assert_eq!(this.arguments.len(), std::env::args_os().count());
        assert!(!this.nameless && !this.is_loader());
        assert_eq!(
            this.variable("PATH").map(<[u8]>::to_vec),
            std::env::var_os("PATH").map(OsString::into_vec)
        );
    }
}
