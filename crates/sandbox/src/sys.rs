//! System calls, as thin as they can be: arguments in, result or errno out.
//!
//! The child that builds the sandbox shares the supervisor's memory (`CLONE_VM`), so nothing here may allocate, lock or
//! unwind. That is why these wrappers take `&CStr` and plain descriptors instead of std's types. libc's own wrappers are
//! avoided: they keep state, if only `errno`.

mod attributes;
mod clone;
mod detached;
mod helper;
mod signals;
mod terminal;

use std::ffi::CStr;
use std::mem;
use std::os::fd::RawFd;

pub(crate) use attributes::list_attributes;
pub(crate) use clone::{Entry, Start};
pub(crate) use detached::{duplicate_above, new_devpts, new_tmpfs};
pub(crate) use helper::{
    Processors, close_from, enter_namespace, parent, processors, read, run_on, unshare, wait_while, wake,
    write,
};
pub(crate) use signals::{block_signals, default_signals, reset_signals, restore_signals, unblock_signals};
pub(crate) use terminal::{Attributes, attributes, open_terminal, set_attributes};

/// The errno of a failed call.
pub(crate) type Errno = i32;

/// A system call with up to six arguments. Not by way of libc, which writes `errno`: a process that shares our memory has
/// it in common with the thread that made it.
///
/// # Safety
/// The arguments must satisfy what the kernel expects of this call number: pointers must be valid for what the kernel
/// reads or writes through them.
unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the convention of syscall(2); the caller vouches for the arguments.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            in("x4") e,
            in("x5") f,
            options(nostack),
        );
    }
    match result {
        -4095..=-1 => Err(result.unsigned_abs() as Errno),
        _ => Ok(result as usize),
    }
}

/// errno(3) of this thread.
pub(crate) fn errno() -> Errno {
    // SAFETY: __errno_location always returns a valid pointer to this thread's errno.
    unsafe { *libc::__errno_location() }
}

/// Sign-extends a descriptor (which may be `AT_FDCWD`, negative) into a register.
fn register(fd: RawFd) -> usize {
    fd as isize as usize
}

fn descriptor(result: usize) -> RawFd {
    result as RawFd
}

/// `close(2)`; errors are of no use to the child.
pub(crate) fn close(fd: RawFd) {
    // SAFETY: closing a descriptor touches no memory. The child's descriptor table is its own copy.
    let _ = unsafe { call(libc::SYS_close, [register(fd), 0, 0, 0, 0, 0]) };
}

/// `openat(2)` with an absolute path.
pub(crate) fn open(path: &CStr, flags: i32) -> Result<RawFd, Errno> {
    open_at(libc::AT_FDCWD, path, flags)
}

/// `openat(2)`.
pub(crate) fn open_at(at: RawFd, path: &CStr, flags: i32) -> Result<RawFd, Errno> {
    // SAFETY: the path is NUL-terminated and outlives the call.
    unsafe { call(libc::SYS_openat, [register(at), path.as_ptr() as usize, flags as usize, 0, 0, 0]) }
        .map(descriptor)
}

/// Opens a path as a handle (`O_PATH`), refusing every symbolic link on the way: the path was canonical when the plan was
/// made, so a link means that somebody swapped it since. openat2(2), `RESOLVE_NO_SYMLINKS`.
pub(crate) fn open_exact(path: &CStr) -> Result<RawFd, Errno> {
    #[repr(C)]
    struct OpenHow {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    let how = OpenHow {
        // Not O_NOFOLLOW: together with O_PATH that would open a final link instead of refusing it.
        flags: (libc::O_PATH | libc::O_CLOEXEC) as u64,
        mode: 0,
        resolve: libc::RESOLVE_NO_SYMLINKS,
    };
    // SAFETY: path and struct outlive the call; the size is that of the struct the kernel reads.
    unsafe {
        call(
            libc::SYS_openat2,
            [
                register(libc::AT_FDCWD),
                path.as_ptr() as usize,
                (&raw const how) as usize,
                size_of::<OpenHow>(),
                0,
                0,
            ],
        )
        .map(descriptor)
    }
}

/// Writes the whole of a short text to a file that exists (files of /proc take it in one call).
pub(crate) fn write_file(at: RawFd, path: &CStr, text: &[u8]) -> Result<(), Errno> {
    let fd = open_at(at, path, libc::O_WRONLY | libc::O_CLOEXEC)?;
    // SAFETY: the buffer is valid for its length.
    let written =
        unsafe { call(libc::SYS_write, [register(fd), text.as_ptr() as usize, text.len(), 0, 0, 0]) };
    close(fd);
    if written? == text.len() { Ok(()) } else { Err(libc::EIO) }
}

/// `mkdirat(2)`; an existing directory is fine.
pub(crate) fn make_directory(at: RawFd, path: &CStr, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path is NUL-terminated and outlives the call.
    let made =
        unsafe { call(libc::SYS_mkdirat, [register(at), path.as_ptr() as usize, mode as usize, 0, 0, 0]) };
    match made {
        Ok(_) | Err(libc::EEXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Creates an empty file; an existing one is fine.
pub(crate) fn make_file(at: RawFd, path: &CStr, mode: u32) -> Result<(), Errno> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the path is NUL-terminated and outlives the call.
    let made = unsafe {
        call(libc::SYS_openat, [register(at), path.as_ptr() as usize, flags as usize, mode as usize, 0, 0])
    };
    match made {
        Ok(fd) => {
            close(descriptor(fd));
            Ok(())
        }
        Err(libc::EEXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// `symlinkat(2)`.
pub(crate) fn make_symlink(content: &CStr, path: &CStr) -> Result<(), Errno> {
    // SAFETY: both strings are NUL-terminated and outlive the call.
    unsafe {
        call(
            libc::SYS_symlinkat,
            [content.as_ptr() as usize, register(libc::AT_FDCWD), path.as_ptr() as usize, 0, 0, 0],
        )
    }
    .map(drop)
}

/// `mount(2)`.
pub(crate) fn mount(
    source: &CStr,
    target: &CStr,
    kind: &CStr,
    flags: u64,
    options: &CStr,
) -> Result<(), Errno> {
    // SAFETY: all strings are NUL-terminated and outlive the call.
    unsafe {
        call(
            libc::SYS_mount,
            [
                source.as_ptr() as usize,
                target.as_ptr() as usize,
                kind.as_ptr() as usize,
                flags as usize,
                options.as_ptr() as usize,
                0,
            ],
        )
    }
    .map(drop)
}

/// `open_tree(2)` with `OPEN_TREE_CLONE`: a detached copy of the mount (and of those below it) at `path`.
pub(crate) fn clone_tree(at: RawFd, path: &CStr) -> Result<RawFd, Errno> {
    const OPEN_TREE_CLONE: i32 = 1;
    let flags = OPEN_TREE_CLONE
        | libc::O_CLOEXEC
        | libc::AT_RECURSIVE
        | libc::AT_SYMLINK_NOFOLLOW
        | if path.is_empty() { libc::AT_EMPTY_PATH } else { 0 };
    // SAFETY: the path is NUL-terminated and outlives the call.
    unsafe {
        call(libc::SYS_open_tree, [register(at), path.as_ptr() as usize, flags as usize, 0, 0, 0])
            .map(descriptor)
    }
}

/// `move_mount(2)`: attaches a detached tree on the object that `target` is a handle of.
pub(crate) fn attach_tree(tree: RawFd, target: RawFd) -> Result<(), Errno> {
    const MOVE_MOUNT_F_EMPTY_PATH: usize = 0x4;
    const MOVE_MOUNT_T_EMPTY_PATH: usize = 0x40;
    // SAFETY: both paths are static empty strings.
    unsafe {
        call(
            libc::SYS_move_mount,
            [
                register(tree),
                c"".as_ptr() as usize,
                register(target),
                c"".as_ptr() as usize,
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH,
                0,
            ],
        )
    }
    .map(drop)
}

/// Attribute bits of `mount_setattr(2)`.
pub(crate) mod attribute {
    pub(crate) const READ_ONLY: u64 = 0x1;
    pub(crate) const NO_SUID: u64 = 0x2;
    pub(crate) const NO_DEV: u64 = 0x4;
    pub(crate) const NO_EXEC: u64 = 0x8;
}

/// `mount_setattr(2)` on the mount that `fd` is in, and on all below it: sets attributes and makes the tree private.
pub(crate) fn set_mount_attributes(fd: RawFd, set: u64) -> Result<(), Errno> {
    #[repr(C)]
    struct MountAttributes {
        set: u64,
        clear: u64,
        propagation: u64,
        userns_fd: u64,
    }
    let attributes = MountAttributes { set, clear: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    // SAFETY: the path is a static empty string; the struct outlives the call and its size is given.
    unsafe {
        call(
            libc::SYS_mount_setattr,
            [
                register(fd),
                c"".as_ptr() as usize,
                (libc::AT_EMPTY_PATH | libc::AT_RECURSIVE) as usize,
                (&raw const attributes) as usize,
                size_of::<MountAttributes>(),
                0,
            ],
        )
    }
    .map(drop)
}

/// `chdir(2)`.
pub(crate) fn change_directory(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path is NUL-terminated and outlives the call.
    unsafe { call(libc::SYS_chdir, [path.as_ptr() as usize, 0, 0, 0, 0, 0]) }.map(drop)
}

/// `fchdir(2)`, which an `O_PATH` handle is enough for.
pub(crate) fn change_directory_to(directory: RawFd) -> Result<(), Errno> {
    // SAFETY: fchdir takes a number.
    unsafe { call(libc::SYS_fchdir, [register(directory), 0, 0, 0, 0, 0]) }.map(drop)
}

/// `umask(2)`, which cannot fail.
pub(crate) fn set_umask(mask: u32) -> u32 {
    // SAFETY: umask takes a number.
    unsafe { call(libc::SYS_umask, [mask as usize, 0, 0, 0, 0, 0]) }.unwrap_or(0) as u32
}

/// `setsid(2)`.
pub(crate) fn new_session() -> Result<(), Errno> {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_setsid, [0; 6]) }.map(drop)
}

/// `prctl(2)` for the operations that take numbers only.
pub(crate) fn process_control(operation: i32, a: usize, b: usize) -> Result<usize, Errno> {
    // SAFETY: only operations with integer arguments are passed by this crate.
    unsafe { call(libc::SYS_prctl, [operation as usize, a, b, 0, 0, 0]) }
}

/// Sets soft and hard limit alike, so that the command cannot raise it again. A limit above what the caller itself may
/// have is lowered to that: `setrlimit(2)` would refuse it.
pub(crate) fn set_limit(resource: i64, value: u64) -> Result<(), Errno> {
    let mut old = [0u64; 2];
    // SAFETY: the struct rlimit64 is two u64; the new limit is not given, the old one is written.
    unsafe {
        call(libc::SYS_prlimit64, [0, resource as usize, 0, (&raw mut old) as usize, 0, 0])?;
    }
    let [_, hard] = old;
    let new = [value.min(hard); 2];
    // SAFETY: as above, with the directions exchanged.
    unsafe { call(libc::SYS_prlimit64, [0, resource as usize, new.as_ptr() as usize, 0, 0, 0]) }.map(drop)
}

/// `dup3(2)` without close-on-exec; a descriptor that is already in place only loses the flag.
pub(crate) fn place_descriptor(from: RawFd, to: RawFd) -> Result<(), Errno> {
    let result = if from == to {
        // SAFETY: F_SETFD takes a number.
        unsafe { call(libc::SYS_fcntl, [register(from), libc::F_SETFD as usize, 0, 0, 0, 0]) }
    } else {
        // SAFETY: dup3 takes numbers.
        unsafe { call(libc::SYS_dup3, [register(from), register(to), 0, 0, 0, 0]) }
    };
    result.map(drop)
}

/// Marks every descriptor from `first` up close-on-exec. close_range(2).
pub(crate) fn close_on_exec_from(first: u32) -> Result<(), Errno> {
    let flags = libc::CLOSE_RANGE_CLOEXEC as usize;
    // SAFETY: close_range takes numbers.
    unsafe { call(libc::SYS_close_range, [first as usize, u32::MAX as usize, flags, 0, 0, 0]) }.map(drop)
}

/// Empties the effective, permitted and inheritable sets. capset(2).
pub(crate) fn clear_capabilities() -> Result<(), Errno> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header { version: VERSION_3, pid: 0 };
    let data = [0u32; 6];
    // SAFETY: version 3 reads a header of 8 bytes and two triples of u32.
    unsafe { call(libc::SYS_capset, [(&raw const header) as usize, data.as_ptr() as usize, 0, 0, 0, 0]) }
        .map(drop)
}

/// What Landlock's `struct landlock_ruleset_attr` holds since ABI 6.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RulesetAttributes {
    pub(crate) filesystem: u64,
    pub(crate) network: u64,
    pub(crate) scoped: u64,
}

/// `landlock_create_ruleset(2)`; `size` is how much of the struct this kernel knows.
pub(crate) fn create_ruleset(attributes: &RulesetAttributes, size: usize) -> Result<RawFd, Errno> {
    let size = size.min(size_of::<RulesetAttributes>());
    // SAFETY: the struct outlives the call and is at least `size` bytes long.
    unsafe {
        call(libc::SYS_landlock_create_ruleset, [(&raw const *attributes) as usize, size, 0, 0, 0, 0])
            .map(descriptor)
    }
}

/// The Landlock ABI version that the kernel offers (landlock(7)).
pub(crate) fn landlock_version() -> Result<u32, Errno> {
    const LANDLOCK_CREATE_RULESET_VERSION: usize = 1;
    // SAFETY: with this flag the pointer must be null and the size zero, as given.
    unsafe { call(libc::SYS_landlock_create_ruleset, [0, 0, LANDLOCK_CREATE_RULESET_VERSION, 0, 0, 0]) }
        .map(|version| version as u32)
}

/// `landlock_add_rule(2)` for everything beneath the object that `parent` is a handle of.
pub(crate) fn add_path_rule(ruleset: RawFd, parent: RawFd, access: u64) -> Result<(), Errno> {
    #[repr(C, packed)]
    struct PathBeneath {
        access: u64,
        parent: i32,
    }
    const LANDLOCK_RULE_PATH_BENEATH: usize = 1;
    let rule = PathBeneath { access, parent };
    // SAFETY: the struct has the kernel's packed layout and outlives the call.
    unsafe {
        call(
            libc::SYS_landlock_add_rule,
            [register(ruleset), LANDLOCK_RULE_PATH_BENEATH, (&raw const rule) as usize, 0, 0, 0],
        )
    }
    .map(drop)
}

/// `landlock_restrict_self(2)`.
pub(crate) fn restrict_self(ruleset: RawFd) -> Result<(), Errno> {
    // SAFETY: takes numbers.
    unsafe { call(libc::SYS_landlock_restrict_self, [register(ruleset), 0, 0, 0, 0, 0]) }.map(drop)
}

/// One instruction of classic BPF, `struct sock_filter`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) jump_true: u8,
    pub(crate) jump_false: u8,
    pub(crate) k: u32,
}

/// Installs a filter on this thread. seccomp(2), `SECCOMP_SET_MODE_FILTER`.
pub(crate) fn install_filter(program: &[Instruction]) -> Result<(), Errno> {
    set_filter(program, 0).map(drop)
}

fn set_filter(program: &[Instruction], flags: usize) -> Result<usize, Errno> {
    #[repr(C)]
    struct Program {
        length: u16,
        filter: *const Instruction,
    }
    let length = u16::try_from(program.len()).map_err(|_| libc::EINVAL)?;
    let program = Program { length, filter: program.as_ptr() };
    // SAFETY: the program is valid for its length while the kernel copies it.
    unsafe {
        call(
            libc::SYS_seccomp,
            [libc::SECCOMP_SET_MODE_FILTER as usize, flags, (&raw const program) as usize, 0, 0, 0],
        )
    }
}

/// `SECCOMP_FILTER_FLAG_NEW_LISTENER`; and a caller that was received is only disturbed by its death (`WAIT_KILLABLE_RECV`, Linux 5.19).
pub(crate) const LISTENING: usize = 1 << 3 | 1 << 5;

/// Installs a filter on this thread and returns the descriptor that its notifications come to. seccomp(2).
pub(crate) fn install_listening_filter(program: &[Instruction]) -> Result<RawFd, Errno> {
    set_filter(program, LISTENING).map(descriptor)
}

/// Sends a descriptor over a local socket. unix(7), `SCM_RIGHTS`.
pub(crate) fn send_descriptor(socket: RawFd, fd: RawFd) -> Result<(), Errno> {
    #[repr(C)]
    struct Control {
        header: libc::cmsghdr,
        fd: RawFd,
    }
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: all zero is valid for both; the C libraries differ in padding, so they are not written out.
    let (mut control, mut message): (Control, libc::msghdr) = unsafe { (mem::zeroed(), mem::zeroed()) };
    let length = mem::offset_of!(Control, fd) + size_of::<RawFd>();
    control.header.cmsg_len = length as _;
    control.header.cmsg_level = libc::SOL_SOCKET;
    control.header.cmsg_type = libc::SCM_RIGHTS;
    control.fd = fd;
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = length as _;
    // SAFETY: the header points to buffers of the stated sizes, which outlive the call.
    unsafe { call(libc::SYS_sendmsg, [register(socket), (&raw const message) as usize, 0, 0, 0, 0]) }
        .map(drop)
}

/// Brings up `lo` in the present network namespace. netdevice(7).
pub(crate) fn raise_loopback() -> Result<(), Errno> {
    #[repr(C)]
    struct InterfaceRequest {
        name: [u8; 16],
        flags: i16,
        rest: [u8; 22],
    }
    let mut request = InterfaceRequest { name: *b"lo\0\0\0\0\0\0\0\0\0\0\0\0\0\0", flags: 0, rest: [0; 22] };
    let kind = (libc::SOCK_DGRAM | libc::SOCK_CLOEXEC) as usize;
    // SAFETY: socket takes numbers.
    let socket = unsafe { call(libc::SYS_socket, [libc::AF_INET as usize, kind, 0, 0, 0, 0]) }?;
    request.flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request is a full struct ifreq (40 bytes) and outlives the call.
    let set = unsafe {
        call(libc::SYS_ioctl, [socket, libc::SIOCSIFFLAGS as usize, (&raw mut request) as usize, 0, 0, 0])
    };
    close(descriptor(socket));
    set.map(drop)
}

/// A socket that listens on a port of 127.0.0.1. socket(2), bind(2), listen(2).
pub(crate) fn listen_on_loopback(port: u16) -> Result<RawFd, Errno> {
    const BACKLOG: usize = 128;
    #[repr(C)]
    struct Address {
        family: u16,
        port: [u8; 2],
        address: [u8; 4],
        rest: [u8; 8],
    }
    let address = Address {
        family: libc::AF_INET as u16,
        port: port.to_be_bytes(),
        address: [127, 0, 0, 1],
        rest: [0; 8],
    };
    let kind = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as usize;
    // SAFETY: socket takes numbers.
    let socket = unsafe { call(libc::SYS_socket, [libc::AF_INET as usize, kind, 0, 0, 0, 0]) }?;
    // SAFETY: the address is a full struct sockaddr_in (16 bytes) and outlives the call.
    unsafe {
        call(libc::SYS_bind, [socket, (&raw const address) as usize, size_of::<Address>(), 0, 0, 0])?;
    }
    // SAFETY: listen takes numbers.
    unsafe { call(libc::SYS_listen, [socket, BACKLOG, 0, 0, 0, 0]) }?;
    Ok(descriptor(socket))
}

/// `execveat(2)` of a path, or of an open file with an empty one. Returns only on failure.
///
/// # Safety
/// `argv` and `envp` must be null-terminated arrays of NUL-terminated strings.
pub(crate) unsafe fn execute(
    at: RawFd,
    path: &CStr,
    argv: *const *const libc::c_char,
    envp: *const *const libc::c_char,
) -> Errno {
    let flags = libc::AT_EMPTY_PATH as usize;
    // SAFETY: the caller vouches for the arrays; the path is NUL-terminated and outlives the call.
    let result = unsafe {
        call(
            libc::SYS_execveat,
            [register(at), path.as_ptr() as usize, argv as usize, envp as usize, flags, 0],
        )
    };
    result.err().unwrap_or(libc::EIO)
}

/// Ends the child without running any destructor or exit handler of the supervisor.
pub(crate) fn exit_now(code: i32) {
    // SAFETY: takes a number and does not return.
    let _ = unsafe { call(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
}
