//! Carrying out the operations of a plan: in the child, or ahead of it what depends on nothing else.
//!
//! The rules of the child hold for all of it: no allocation, no locks, no panics, no destructors.

use std::ffi::CStr;
use std::os::fd::RawFd;

use crate::descriptor::STATUS_FD;
use crate::operation::{Operation, Slot};
use crate::sys::{self, Errno, attribute};

/// The sockets over which descriptors go out.
pub(crate) struct Sockets {
    pub(crate) gate: RawFd,
    pub(crate) proxy: RawFd,
    pub(crate) terminal: RawFd,
    pub(crate) size: [u16; 2],
}

/// What of an operation can be done before there is a plan, in its namespaces, and the descriptor that came of it, if one did. It
/// lies above those that a plan gives a place.
///
/// `own` is the process' directory in a mount of proc outside: others may have a copy of a descriptor that is written to, and
/// while they have, its mount cannot be made read-only. `scratch` is the scratch file system, if there is one.
pub(crate) fn perform_ahead(
    operation: &Operation,
    own: RawFd,
    scratch: RawFd,
) -> Result<Option<RawFd>, Errno> {
    match operation {
        Operation::MapIds { user, group } => map_ids(own, user, group).map(|()| None),
        Operation::ResetSignals => sys::default_signals().map(|()| None),
        Operation::BoundCapabilities => bound_capabilities().map(|()| None),
        Operation::IsolateMounts => isolate_mounts().map(|()| None),
        Operation::MountOverlay { path, options, .. } => mount_overlay(path, options).map(|()| None),
        Operation::TakeTree { path, attributes, .. } => {
            on_path(path, |source| cloned(source, c"", *attributes)).and_then(above_placed).map(Some)
        }
        Operation::MountScratch { options, .. } => sys::new_tmpfs(options).and_then(above_placed).map(Some),
        Operation::ScratchDirectory { name, mode, .. } => {
            sys::make_directory(scratch, name, *mode).map(|()| None)
        }
        Operation::ScratchFile { name, mode, .. } => sys::make_file(scratch, name, *mode).map(|()| None),
        Operation::MountTerminals => sys::new_devpts(TERMINALS).and_then(above_placed).map(Some),
        _ => Err(libc::EINVAL),
    }
}

/// A descriptor above those that [`Operation::PlaceDescriptors`] gives a place.
fn above_placed(fd: RawFd) -> Result<RawFd, Errno> {
    if fd > STATUS_FD {
        return Ok(fd);
    }
    let above = sys::duplicate_above(fd, STATUS_FD);
    sys::close(fd);
    above
}

/// The rest of an operation that [`perform_ahead`] has begun.
pub(crate) fn complete(operation: &Operation, fd: Option<RawFd>, slots: &mut [RawFd]) -> Result<(), Errno> {
    match (operation, fd) {
        (Operation::ResetSignals, _) => sys::unblock_signals(),
        (Operation::TakeTree { slot, .. }, Some(tree)) => keep(slots, *slot, tree),
        (Operation::MountScratch { path, slot, .. }, Some(tree)) => {
            on_path(path, |target| sys::attach_tree(tree, target))?;
            keep(slots, *slot, tree)
        }
        (Operation::MountTerminals, Some(tree)) => {
            on_path(c"/dev/pts", |target| sys::attach_tree(tree, target))
        }
        _ => Ok(()),
    }
}

pub(crate) fn perform(
    operation: &Operation,
    slots: &mut [RawFd],
    descriptors: &[RawFd; 4],
    sockets: &Sockets,
) -> Result<(), Errno> {
    match operation {
        Operation::DieWithSupervisor => {
            sys::process_control(libc::PR_SET_PDEATHSIG, libc::SIGKILL as usize, 0).map(drop)
        }
        Operation::OwnControlGroups => sys::unshare(libc::CLONE_NEWCGROUP),
        Operation::NewSession => sys::new_session(),
        Operation::ResetSignals => sys::reset_signals(),
        Operation::BoundCapabilities => bound_capabilities(),
        Operation::MapIds { user, group } => {
            let own = own_directory()?;
            let mapped = map_ids(own, user, group);
            sys::close(own);
            mapped
        }
        Operation::IsolateMounts => isolate_mounts(),
        Operation::TakeTree { path, attributes, slot } => {
            on_path(path, |source| take(source, c"", *attributes, *slot, slots))
        }
        Operation::MountOverlay { path, options, .. } => mount_overlay(path, options),
        Operation::SealRoot { attributes } => {
            on_path(c"/", |root| sys::set_mount_attributes(root, *attributes))
        }
        Operation::MountScratch { path, options, slot } => {
            let flags = libc::MS_NOSUID | libc::MS_NODEV;
            sys::mount(c"shward", path, c"tmpfs", flags, options)?;
            keep(slots, *slot, sys::open_exact(path)?)
        }
        Operation::ScratchDirectory { scratch, name, mode } => {
            sys::make_directory(kept(slots, *scratch)?, name, *mode)
        }
        Operation::ScratchFile { scratch, name, mode } => sys::make_file(kept(slots, *scratch)?, name, *mode),
        Operation::TakeScratch { scratch, name, attributes, slot } => {
            take(kept(slots, *scratch)?, name, *attributes, *slot, slots)
        }
        Operation::MakeDirectory { path, mode } => sys::make_directory(libc::AT_FDCWD, path, *mode),
        Operation::MakeFile { path } => sys::make_file(libc::AT_FDCWD, path, 0o600),
        Operation::MakeLink { content, path } => sys::make_symlink(content, path),
        Operation::Attach { slot, path, kept: is_kept } => attach(slots, *slot, path, *is_kept),
        Operation::MountTerminals => {
            let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
            sys::mount(c"devpts", c"/dev/pts", c"devpts", flags, TERMINALS)
        }
        Operation::OpenTerminal => open_terminal(sockets),
        Operation::MountProc => {
            let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            sys::mount(c"proc", c"/proc", c"proc", flags, c"")
        }
        Operation::LimitPids { text, skip } => {
            sys::write_file(libc::AT_FDCWD, c"/proc/sys/kernel/pid_max", text.to_bytes())?;
            if *skip {
                sys::write_file(libc::AT_FDCWD, c"/proc/sys/kernel/ns_last_pid", b"300")
            } else {
                Ok(())
            }
        }
        Operation::SealProc => {
            on_path(c"/proc", |proc| sys::set_mount_attributes(proc, attribute::READ_ONLY))
        }
        Operation::RaiseLoopback => sys::raise_loopback(),
        Operation::OfferProxy { port } => offer_proxy(*port, sockets),
        Operation::Limit { resource, value, .. } => sys::set_limit(*resource, *value),
        Operation::ChangeDirectory { path } => sys::change_directory(path),
        Operation::PlaceDescriptors => {
            for (to, from) in (0..).zip(descriptors) {
                sys::place_descriptor(*from, to)?;
            }
            sys::close_on_exec_from(STATUS_FD as u32 + 1)
        }
        Operation::DropCapabilities => drop_capabilities(),
        Operation::NoNewPrivileges => sys::process_control(libc::PR_SET_NO_NEW_PRIVS, 1, 0).map(drop),
        Operation::Ruleset { attributes, size, slot } => {
            keep(slots, *slot, sys::create_ruleset(attributes, *size)?)
        }
        Operation::Rule { path, rights, ruleset, tree, .. } => {
            let ruleset = kept(slots, *ruleset)?;
            let rule = |parent| sys::add_path_rule(ruleset, parent, *rights);
            match tree {
                Some(tree) => rule(kept(slots, *tree)?),
                None => on_path(path, rule),
            }
        }
        Operation::EnforceRuleset { ruleset } => sys::restrict_self(kept(slots, *ruleset)?),
        Operation::Filter { gated: false, program, .. } => sys::install_filter(program),
        // The listener closes here at execve, which waits for the gate's answer.
        Operation::Filter { gated: true, program, .. } => {
            let listener = sys::install_listening_filter(program)?;
            sys::send_descriptor(sockets.gate, listener)
        }
    }
}

/// Attaches a tree, which stays open if it is kept.
fn attach(slots: &mut [RawFd], slot: Slot, path: &CStr, is_kept: bool) -> Result<(), Errno> {
    let tree = kept(slots, slot)?;
    on_path(path, |target| sys::attach_tree(tree, target))?;
    if is_kept {
        return Ok(());
    }
    sys::close(tree);
    keep(slots, slot, -1)
}

/// The standard descriptors become a terminal, whose other side goes out.
fn open_terminal(sockets: &Sockets) -> Result<(), Errno> {
    let [master, slave] = sys::open_terminal(sockets.size)?;
    for standard in 0..=2 {
        sys::place_descriptor(slave, standard)?;
    }
    sys::close(slave);
    let sent = sys::send_descriptor(sockets.terminal, master);
    sys::close(master);
    sent
}

/// A listening socket for the proxy goes out.
fn offer_proxy(port: u16, sockets: &Sockets) -> Result<(), Errno> {
    let listener = sys::listen_on_loopback(port)?;
    let sent = sys::send_descriptor(sockets.proxy, listener);
    sys::close(listener);
    sent
}

/// The options of a devpts. It is a new one, whatever is said; before Linux 4.7 that had to be asked for.
const TERMINALS: &CStr = c"ptmxmode=0666,mode=0620";

fn keep(slots: &mut [RawFd], slot: Slot, fd: RawFd) -> Result<(), Errno> {
    *slots.get_mut(slot).ok_or(libc::EBADF)? = fd;
    Ok(())
}

fn kept(slots: &[RawFd], slot: Slot) -> Result<RawFd, Errno> {
    slots.get(slot).copied().filter(|fd| *fd >= 0).ok_or(libc::EBADF)
}

/// Opens a handle of a path, uses it, closes it.
fn on_path<T>(path: &CStr, action: impl FnOnce(RawFd) -> Result<T, Errno>) -> Result<T, Errno> {
    let fd = sys::open_exact(path)?;
    let result = action(fd);
    sys::close(fd);
    result
}

fn isolate_mounts() -> Result<(), Errno> {
    on_path(c"/", |root| sys::set_mount_attributes(root, 0))
}

fn take(at: RawFd, path: &CStr, attributes: u64, slot: Slot, slots: &mut [RawFd]) -> Result<(), Errno> {
    keep(slots, slot, cloned(at, path, attributes)?)
}

/// A detached copy of a tree, with attributes added to it.
fn cloned(at: RawFd, path: &CStr, attributes: u64) -> Result<RawFd, Errno> {
    let tree = sys::clone_tree(at, path)?;
    if attributes != 0
        && let Err(errno) = sys::set_mount_attributes(tree, attributes)
    {
        sys::close(tree);
        return Err(errno);
    }
    Ok(tree)
}

/// The lower layer and the mount point are the current directory: entered through a handle that passed no symbolic link, and
/// in no need of the escapes of the option string. A later operation enters the command's own directory.
fn mount_overlay(path: &CStr, options: &CStr) -> Result<(), Errno> {
    on_path(path, sys::change_directory_to)?;
    sys::mount(c"shward", c".", c"overlay", libc::MS_NOSUID | libc::MS_NODEV, options)
}

/// An unprivileged process may map its own ids only, and its group only after giving up setgroups(2).
fn map_ids(own: RawFd, user: &CStr, group: &CStr) -> Result<(), Errno> {
    sys::write_file(own, c"setgroups", b"deny")?;
    sys::write_file(own, c"uid_map", user.to_bytes())?;
    sys::write_file(own, c"gid_map", group.to_bytes())
}

/// The directory of the calling process in the mount of proc that it sees now.
pub(crate) fn own_directory() -> Result<RawFd, Errno> {
    sys::open(c"/proc/self", libc::O_PATH | libc::O_CLOEXEC)
}

/// capabilities(7): it needs `CAP_SETPCAP`, which stays until all sets are emptied.
fn bound_capabilities() -> Result<(), Errno> {
    for capability in 0..64 {
        match sys::process_control(libc::PR_CAPBSET_DROP, capability, 0) {
            Ok(_) => {}
            Err(libc::EINVAL) => break, // one more than the kernel knows
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// capabilities(7): the ambient set, then the switch that would give user 0 capabilities back at execve, then the three
/// sets of the thread.
fn drop_capabilities() -> Result<(), Errno> {
    const NO_ROOT_MAGIC: usize = 0b10_1111; // NOROOT, NO_SETUID_FIXUP, their locks, and KEEP_CAPS locked off
    sys::process_control(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as usize, 0)?;
    sys::process_control(libc::PR_SET_SECUREBITS, NO_ROOT_MAGIC, 0)?;
    sys::clear_capabilities()
}
