//! The system calls that are looked at, and what each asks for.

use crate::Failure;
use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;

/// Where a call names a path: which argument holds the directory's descriptor, if one does, and which the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) directory: Option<usize>,
    pub(super) path: usize,
}

const fn plain(path: usize) -> Place {
    Place { directory: None, path }
}

const fn at(directory: usize, path: usize) -> Place {
    Place { directory: Some(directory), path }
}

/// What a call comes to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning {
    /// Executes: path, argument list.
    Exec(Place, usize),
    /// Looks whether a file is there. Only `stat` of a path is: shells begin with it when they search `PATH`, and what is
    /// looked at more often costs more stops than everything else together.
    Look(Place),
    /// Opens, and writes if the flags in this argument (or, of `openat2`, behind this pointer) say so.
    Open(Place, usize),
    Write(Place),
    /// Makes a symbolic link: what it leads to, and where it lies.
    Link(usize, Place),
    Delete(Place),
    /// The first disappears, the second comes to be.
    Rename(Place, Place),
    Metadata(Place),
}

const OPEN2: i64 = libc::SYS_openat2;

/// Every call that stops a process of the room.
pub(super) const CALLS: &[(i64, Meaning)] = &[
    (libc::SYS_execve, Meaning::Exec(plain(0), 1)),
    (libc::SYS_execveat, Meaning::Exec(at(0, 1), 2)),
    (libc::SYS_stat, Meaning::Look(plain(0))),
    (libc::SYS_newfstatat, Meaning::Look(at(0, 1))),
    (libc::SYS_open, Meaning::Open(plain(0), 1)),
    (libc::SYS_openat, Meaning::Open(at(0, 1), 2)),
    (OPEN2, Meaning::Open(at(0, 1), 2)),
    (libc::SYS_creat, Meaning::Write(plain(0))),
    (libc::SYS_truncate, Meaning::Write(plain(0))),
    (libc::SYS_mkdir, Meaning::Write(plain(0))),
    (libc::SYS_mkdirat, Meaning::Write(at(0, 1))),
    (libc::SYS_mknod, Meaning::Write(plain(0))),
    (libc::SYS_mknodat, Meaning::Write(at(0, 1))),
    (libc::SYS_link, Meaning::Write(plain(1))),
    (libc::SYS_linkat, Meaning::Write(at(2, 3))),
    (libc::SYS_symlink, Meaning::Link(0, plain(1))),
    (libc::SYS_symlinkat, Meaning::Link(0, at(1, 2))),
    (libc::SYS_unlink, Meaning::Delete(plain(0))),
    (libc::SYS_unlinkat, Meaning::Delete(at(0, 1))),
    (libc::SYS_rmdir, Meaning::Delete(plain(0))),
    (libc::SYS_rename, Meaning::Rename(plain(0), plain(1))),
    (libc::SYS_renameat, Meaning::Rename(at(0, 1), at(2, 3))),
    (libc::SYS_renameat2, Meaning::Rename(at(0, 1), at(2, 3))),
    (libc::SYS_chmod, Meaning::Metadata(plain(0))),
    (libc::SYS_fchmodat, Meaning::Metadata(at(0, 1))),
    (libc::SYS_chown, Meaning::Metadata(plain(0))),
    (libc::SYS_lchown, Meaning::Metadata(plain(0))),
    (libc::SYS_fchownat, Meaning::Metadata(at(0, 1))),
    (libc::SYS_utimensat, Meaning::Metadata(at(0, 1))),
];

/// Calls that no command of ours has a use for and by which one might leave the room.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_sethostname,
    libc::SYS_socket,
];

pub(super) fn meaning(number: u64) -> Option<(i64, Meaning)> {
    CALLS.iter().copied().find(|(call, _)| u64::try_from(*call) == Ok(number))
}

/// Whether these flags of `open` change the file or make one.
pub(super) fn writes(flags: u64) -> bool {
    let changing = libc::O_CREAT | libc::O_TRUNC;
    let mode = i32::try_from(flags & 0x7fff_ffff).unwrap_or(i32::MAX);
    mode & libc::O_ACCMODE != libc::O_RDONLY || mode & changing != 0
}

/// The filters of every process of the room: what is refused, and what stops.
pub(super) fn filters() -> Result<[BpfProgram; 3], Failure> {
    let refusal = |calls, error: i32| {
        let action = SeccompAction::Errno(error.unsigned_abs());
        SeccompFilter::new(calls, SeccompAction::Allow, action, TargetArch::x86_64)
    };
    let refused = REFUSED.iter().map(|call| (*call, vec![])).chain([new_namespaces()?]).collect();
    let refuse = refusal(refused, libc::EPERM)?;
    // Its flags, which may ask for a namespace, no filter sees. The C library then uses `clone`.
    let absent = refusal(BTreeMap::from([(libc::SYS_clone3, vec![])]), libc::ENOSYS)?;
    let mut stopped = BTreeMap::new();
    for (call, meaning) in CALLS {
        let rules = match meaning {
            Meaning::Open(_, flags) if *call != OPEN2 => writing(u8::try_from(*flags)?)?,
            Meaning::Look(Place { directory: Some(directory), .. }) => {
                vec![by_path(u8::try_from(*directory)?, 3)?]
            }
            _ => vec![],
        };
        stopped.insert(*call, rules);
    }
    let stop =
        SeccompFilter::new(stopped, SeccompAction::Allow, SeccompAction::Trace(0), TargetArch::x86_64)?;
    Ok([refuse.try_into()?, absent.try_into()?, stop.try_into()?])
}

/// One bit of an argument is set.
fn bit(argument: u8, bit: u64) -> Result<SeccompRule, Failure> {
    let condition =
        SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), bit)?;
    Ok(SeccompRule::new(vec![condition])?)
}

/// `newfstatat` of a path from the working directory or the root, which is what `stat` is; not of an open file.
fn by_path(directory: u8, flags: u8) -> Result<SeccompRule, Failure> {
    let here = u64::from(libc::AT_FDCWD.cast_unsigned());
    Ok(SeccompRule::new(vec![
        SeccompCondition::new(directory, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, here)?,
        SeccompCondition::new(flags, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 0)?,
    ])?)
}

fn writing(flags: u8) -> Result<Vec<SeccompRule>, Failure> {
    [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC]
        .into_iter()
        .map(|flag| bit(flags, u64::from(flag.unsigned_abs())))
        .collect()
}

/// `clone` with a namespace of its own.
fn new_namespaces() -> Result<(i64, Vec<SeccompRule>), Failure> {
    let kinds = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let rules: Result<Vec<_>, Failure> =
        kinds.into_iter().map(|flag| bit(0, u64::from(flag.unsigned_abs()))).collect();
    Ok((libc::SYS_clone, rules?))
}
