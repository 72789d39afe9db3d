//! The room that commands run in: new namespaces, and a file system of which nothing is the host's but read-only programs.

use crate::Failure;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{chdir, getgid, getuid, pivot_root, sethostname};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

/// Where commands start if nothing else is said.
pub(crate) const WORKSPACE: &str = "/workspace";
/// The home directory.
pub(crate) const HOME: &str = "/home/dev";
/// Real programs that may run, by name. First in `PATH`.
pub(crate) const TOOLS: &str = "/tools";
/// Every other name is a program here. Second in `PATH`.
pub(crate) const STUBS: &str = "/stub";

/// Directories that are emptied after each command that may have written.
pub(crate) const WRITABLE: &[&str] = &[WORKSPACE, HOME, "/tmp", "/root", "/app", "/testbed"];

/// Directories of the host that are there to be read and executed.
const PROGRAMS: &[&str] = &["usr", "bin", "sbin", "lib", "lib64", "lib32"];

/// Devices that do nothing.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// What a room offers that its commands cannot harm: text tools, file tools, wrappers and shells.
const REAL: &[&str] = &[
    "arch",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "bash",
    "bunzip2",
    "bzcat",
    "bzip2",
    "cat",
    "chmod",
    "cmp",
    "comm",
    "cp",
    "csplit",
    "cut",
    "dash",
    "date",
    "dd",
    "diff",
    "dir",
    "dirname",
    "du",
    "echo",
    "egrep",
    "env",
    "expand",
    "expr",
    "factor",
    "false",
    "fgrep",
    "find",
    "flock",
    "fmt",
    "fold",
    "gawk",
    "getopt",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "hostname",
    "id",
    "install",
    "ionice",
    "join",
    "link",
    "ln",
    "ls",
    "mawk",
    "md5sum",
    "mkdir",
    "mkfifo",
    "mktemp",
    "mv",
    "nice",
    "nl",
    "nohup",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "patch",
    "pathchk",
    "perl",
    "pr",
    "printenv",
    "printf",
    "pwd",
    "python3",
    "readlink",
    "realpath",
    "rev",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "setsid",
    "sh",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shuf",
    "sort",
    "split",
    "stat",
    "stdbuf",
    "strings",
    "sum",
    "tac",
    "tail",
    "tar",
    "tee",
    "test",
    "timeout",
    "touch",
    "tr",
    "true",
    "truncate",
    "tsort",
    "uname",
    "unexpand",
    "uniq",
    "unlink",
    "unxz",
    "unzip",
    "vdir",
    "wc",
    "which",
    "whoami",
    "xargs",
    "xxd",
    "xz",
    "xzcat",
    "zcat",
    "zip",
    "zsh",
    "busybox",
    "[",
];

/// Files that are there before each command, so that globs and tools find something.
const FILES: &[(&str, &str)] = &[
    ("a", "one\ntwo\nthree\n"),
    ("b", "two\nfour\n"),
    ("file.txt", "alpha beta\ngamma\n"),
    ("list", "a\nb\n"),
    ("names", "a\n../up\n/tmp/abs\ntwo words.txt\n-n\nd/new\n"),
    ("rows.csv", "a,n1\nfile.txt,../n2\ntwo words.txt,d/n 3\nb,/tmp/n4\n,\nq\n"),
    ("two words.txt", "five six\n"),
    ("notes.md", "# Notes\n"),
    ("src/main.c", "int main(void) { return 0; }\n"),
    ("src/x.py", "print(1)\n"),
    ("d/e", "deep\n"),
    ("d/.h", "hidden\n"),
];

const CLOSED: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

/// Becomes nobody's: new namespaces for users, mounts, processes, network, messages and names. The caller's children
/// live in it. Needs a process of one thread.
pub(crate) fn enter() -> Result<(), Failure> {
    let (user, group) = (getuid(), getgid());
    let all = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    unshare(all).map_err(|error| format!("no new namespaces: {error}"))?;
    map(0, user.as_raw(), group.as_raw())
}

/// Gives up what root of the room may do: a user below it, to whom the mounts of the room are not his own.
pub(crate) fn drop_rights() -> Result<(), Failure> {
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| format!("no user namespace in the room: {error}"))?;
    map(1000, 0, 0)
}

fn map(inside: u32, user: u32, group: u32) -> Result<(), Failure> {
    fs::write("/proc/self/setgroups", "deny").map_err(|error| format!("setgroups: {error}"))?;
    fs::write("/proc/self/uid_map", format!("{inside} {user} 1"))
        .map_err(|error| format!("uid_map: {error}"))?;
    fs::write("/proc/self/gid_map", format!("{inside} {group} 1"))
        .map_err(|error| format!("gid_map: {error}"))?;
    Ok(())
}

/// Builds the room's file system and moves into it. The caller is the first process of the room.
pub(crate) fn build() -> Result<(), Failure> {
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    let root = Path::new("/tmp");
    mount(
        Some("room"),
        root,
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some("size=4m,mode=755"),
    )?;
    for name in PROGRAMS {
        bring(name, root)?;
    }
    fs::create_dir(root.join("dev"))?;
    for name in DEVICES {
        let (from, to) = (Path::new("/dev").join(name), root.join("dev").join(name));
        fs::write(&to, "")?;
        mount(Some(&from), &to, none, MsFlags::MS_BIND, none)?;
    }
    for (name, target) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
        symlink(format!("/proc/self/fd{target}"), root.join("dev").join(name))?;
    }
    fs::create_dir(root.join("etc"))?;
    fs::write(root.join("etc/passwd"), "root:x:0:0::/root:/bin/sh\ndev:x:1000:1000::/home/dev:/bin/bash\n")?;
    fs::write(root.join("etc/group"), "root:x:0:\ndev:x:1000:\n")?;
    // Names of programs lead through here to others (update-alternatives(1)): `awk`.
    bring("etc/alternatives", root)?;
    fs::create_dir(root.join("proc"))?;
    mount(Some("proc"), &root.join("proc"), Some("proc"), CLOSED, none)?;
    for directory in WRITABLE.iter().copied().chain([TOOLS, STUBS]) {
        let path = root.join(directory.trim_start_matches('/'));
        fs::create_dir_all(&path)?;
        if directory != TOOLS {
            let size =
                if directory == STUBS { "size=64m,mode=755" } else { "size=8m,nr_inodes=4096,mode=755" };
            mount(Some("room"), &path, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some(size))?;
        }
    }
    for name in real() {
        if let Some(file) = found(name) {
            symlink(file, root.join("tools").join(name))?;
        }
    }
    mount(
        none,
        root,
        none,
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        none,
    )?;
    chdir(root)?;
    pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    chdir("/")?;
    sethostname("room")?;
    Ok(())
}

/// Closes `/proc`, for whoever owns the kernel's files outside may own them in here as well. Before that the starter of
/// shells has given up its rights there.
pub(crate) fn seal() -> Result<(), Failure> {
    let none = None::<&str>;
    Ok(mount(
        none,
        "/proc",
        none,
        CLOSED | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY,
        none,
    )?)
}

/// Makes a directory of the host's programs, or the link that stands for it, part of the room.
fn bring(name: &str, root: &Path) -> Result<(), Failure> {
    let (from, to) = (Path::new("/").join(name), root.join(name));
    match fs::symlink_metadata(&from) {
        Err(_) => return Ok(()),
        Ok(metadata) if metadata.is_symlink() => symlink(fs::read_link(&from)?, &to)?,
        Ok(_) => {
            fs::create_dir(&to)?;
            let none = None::<&str>;
            mount(Some(&from), &to, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)?;
            let again = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
            mount(none, &to, none, again | MsFlags::MS_NOSUID, none)
                .or_else(|_| mount(none, &to, none, again | MsFlags::MS_NOSUID | MsFlags::MS_NODEV, none))
                .map_err(|error| format!("{} does not become read-only: {error}", from.display()))?;
        }
    }
    Ok(())
}

/// Whether a real program of this name may run.
pub(crate) fn is_real(name: &[u8]) -> bool {
    str::from_utf8(name).is_ok_and(|name| real().any(|real| real == name))
}

/// Whether a real program of this name may run, and this machine has it.
pub(crate) fn is_there(name: &str) -> bool {
    is_real(name.as_bytes()) && found(name).is_some()
}

fn found(name: &str) -> Option<String> {
    let places = ["/usr/bin", "/bin"].map(|place| format!("{place}/{name}"));
    places.into_iter().find(|file| Path::new(file).exists())
}

/// The variable that names more of them.
pub(crate) const MORE_TOOLS: &str = "SHWARD_TOOLS";

/// All of them.
fn real() -> impl Iterator<Item = &'static str> {
    static MORE: LazyLock<String> = LazyLock::new(|| env::var(MORE_TOOLS).unwrap_or_default());
    REAL.iter().copied().chain(MORE.split_whitespace().filter(|name| !REAL.contains(name)))
}

/// Lets the shell find a program of this name.
pub(crate) fn provide(name: &Path) {
    let file = Path::new(STUBS).join(name);
    if fs::write(&file, "").is_ok() {
        // A name that cannot be made is one that the shell will not find.
        let _ = fs::set_permissions(&file, fs::Permissions::from_mode(0o755));
    }
}

/// Empties what can be written and puts the files back.
pub(crate) fn tidy_up() -> Result<(), Failure> {
    for directory in WRITABLE {
        empty(Path::new(directory))?;
    }
    for (name, text) in FILES {
        let path = Path::new(WORKSPACE).join(name);
        if let Some(parent) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

fn empty(directory: &Path) -> Result<(), Failure> {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            empty(&entry.path())?;
            fs::remove_dir(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
