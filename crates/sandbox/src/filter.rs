//! Which system calls the command may make: the table behind the seccomp filter.
//!
//! Namespaces and Landlock say what the command can reach; this table says how much of the kernel it can talk to. It
//! refuses what changes the view that the sandbox has set up (mounts, namespaces), what reaches other processes
//! (ptrace and kin), what reaches past the file and network rules (io_uring, file handles, exotic sockets) and the rarely
//! used calls where kernel exploits live. Whatever this table has no knowledge of, because it is newer, is answered with
//! `ENOSYS`: programs take that as an older kernel.

use std::sync::OnceLock;

use crate::Network;
use crate::bpf::{self, Answer, Decision, Range, Test};
use crate::sys::Instruction;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// On x86-64, numbers with this bit are the x32 ABI: the same calls under other numbers.
const X32_BIT: u32 = 0x4000_0000;

/// The newest call that was judged for this table: `listns`, Linux 6.19. Above it: `ENOSYS`.
const NEWEST: u32 = 470;

const REFUSED: Answer = Answer::Fail(libc::EPERM as u16);
const MISSING: Answer = Answer::Fail(libc::ENOSYS as u16);
/// The call says that it was carried out, and was not.
const DONE: Answer = Answer::Fail(0);

/// The limit of core dumps (`RLIMIT_CORE`). With 0 no file is written, but a program to which the machine gives them
/// (`/proc/sys/kernel/core_pattern`, core(5)) is still started outside, as root, and keeps what it is given; with 1, which is less than any core file, it is not
/// either. So nobody inside may lower it.
pub(crate) const NO_CORE_DUMPS: u64 = 1;

/// Calls that are refused whatever their arguments, by what they would reach.
#[rustfmt::skip]
const DENIED: &[(&str, &[libc::c_long])] = &[
    ("mounts and roots", &[
        libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_open_tree,
        libc::SYS_move_mount, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick,
        libc::SYS_mount_setattr, OPEN_TREE_ATTR, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_quotactl,
        libc::SYS_quotactl_fd, libc::SYS_nfsservctl,
    ]),
    ("namespaces", &[libc::SYS_unshare, libc::SYS_setns]),
    ("other processes", &[
        libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_process_madvise,
        libc::SYS_process_mrelease, libc::SYS_pidfd_getfd, libc::SYS_kcmp, libc::SYS_migrate_pages,
        libc::SYS_move_pages,
    ]),
    ("files by handle", &[libc::SYS_open_by_handle_at, libc::SYS_name_to_handle_at, libc::SYS_lookup_dcookie]),
    ("watching other files", &[libc::SYS_fanotify_init]),
    ("kernel code", &[
        libc::SYS_bpf, libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_kexec_load,
        libc::SYS_kexec_file_load, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    ]),
    ("keys", &[libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl]),
    ("the machine", &[
        libc::SYS_reboot, libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_clock_adjtime, libc::SYS_adjtimex,
        libc::SYS_sethostname, libc::SYS_setdomainname, libc::SYS_syslog, libc::SYS_acct, libc::SYS_vhangup,
    ]),
    #[cfg(target_arch = "x86_64")]
    ("x86 relics", &[
        libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_ustat, libc::SYS_sysfs,
        libc::SYS__sysctl,
    ]),
];

/// `open_tree_attr`, Linux 6.15; not in every libc yet.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Flags of clone(2) that make a namespace. `CLONE_NEWTIME` is not among them: its bit belongs to the exit signal there.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// Terminal controls that type into, or take over, a terminal that the command may have inherited.
const TERMINAL_CONTROLS: &[u32] = &[
    libc::TIOCSTI as u32,
    libc::TIOCSETD as u32,
    libc::TIOCCONS as u32,
    0x541C, // TIOCLINUX: paste into a virtual console
];

/// Controls of file systems that need no right to write, and do something all the same: a snapshot holds what is covered where it was
/// taken, and who gives up the key of an encrypted directory (fscrypt) closes it for the whole account.
const FILE_SYSTEM_CONTROLS: &[u32] = &[
    0x5000_9401, // BTRFS_IOC_SNAP_CREATE
    0x5000_9417, // BTRFS_IOC_SNAP_CREATE_V2
    0x4020_bc10, // BCH_IOCTL_SUBVOLUME_CREATE, which takes snapshots, too
    0xc050_6617, // FS_IOC_ADD_ENCRYPTION_KEY
    0xc040_6618, // FS_IOC_REMOVE_ENCRYPTION_KEY
    0xc040_6619, // FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS
];

/// Commands of fcntl(2) that reach whoever else opens a file, which may only be read here: a lease makes them wait for up to 45 seconds
/// (`/proc/sys/fs/lease-break-time`).
const FILE_CONTROLS: &[u32] = &[libc::F_SETLEASE as u32, libc::F_NOTIFY as u32, F_SETDELEG];

/// A lease on a directory, Linux 6.19; not in every libc yet.
const F_SETDELEG: u32 = 1024 + 16;

/// How far a filter watches what is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Execution {
    /// Not at all.
    Free,
    /// Every execve waits for the exec gate.
    Gated,
    /// The same, and memory files cannot be executed.
    Listed,
}

/// The filter for a network choice, with or without the exec gate; made once of each.
pub(crate) fn program(network: Network, execution: Execution) -> Vec<Instruction> {
    static MADE: [OnceLock<Vec<Instruction>>; 12] = [const { OnceLock::new() }; 12];
    let make = || bpf::program(ARCHITECTURE, &ranges(network, execution));
    match MADE.get(network as usize * 3 + execution as usize) {
        Some(made) => made.get_or_init(make).clone(),
        None => make(),
    }
}

/// What the filter refuses, in a few words.
pub(crate) fn summary(network: Network) -> String {
    let groups: Vec<&str> = DENIED.iter().map(|(name, _)| *name).collect();
    let sockets = match network {
        Network::None => "local sockets only",
        Network::Loopback | Network::Proxied | Network::Host => "local, TCP and UDP sockets only",
    };
    format!("refuse {}; {sockets}", groups.join(", "))
}

fn ranges(network: Network, execution: Execution) -> Vec<Range> {
    let mut special = judged_by_argument(network);
    if execution >= Execution::Gated {
        special.extend(gate());
    }
    if execution == Execution::Listed {
        special.push((libc::SYS_memfd_create, data_only()));
    }
    for number in DENIED.iter().flat_map(|(_, numbers)| *numbers) {
        special.push((*number, Decision::Always(REFUSED)));
    }
    special.push((libc::SYS_clone3, Decision::Always(MISSING)));
    special.sort_by_key(|(number, _)| *number);

    let allow = || Decision::Always(Answer::Allow);
    let mut ranges = vec![(0, allow())];
    for (number, decision) in special {
        let number = number as u32;
        // Two entries for neighbours: the later one takes the place of the range that the earlier one ended with.
        if ranges.last().is_some_and(|(start, _)| *start == number) {
            ranges.pop();
        }
        ranges.push((number, decision));
        ranges.push((number + 1, allow()));
    }
    ranges.push((NEWEST + 1, Decision::Always(MISSING)));
    ranges.push((X32_BIT, Decision::Always(Answer::Kill)));
    bpf::merge(ranges)
}

/// Calls whose arguments decide. clone3 is not among them: its flags are in memory, where a filter cannot look, so it
/// "does not exist", and libraries fall back to clone.
fn judged_by_argument(network: Network) -> Vec<(libc::c_long, Decision)> {
    let allow = Decision::Always(Answer::Allow);
    let refuse = Decision::Always(REFUSED);
    let clone = Decision::If {
        argument: 0,
        test: Test::AnyBit(NAMESPACES),
        then: Box::new(refuse.clone()),
        otherwise: Box::new(allow.clone()),
    };
    // personality(2): reading it (all ones) and the ordinary one; others switch off address randomisation and the like.
    let personality = Decision::one_of(0, u32::MAX, &[0, u32::MAX], &allow, refuse.clone());
    // Whoever sets their own limit of core dumps is told that it is set, and it stays: see `NO_CORE_DUMPS`.
    let own = Decision::one_of(0, u32::MAX, &[0], &Decision::Always(DONE), refuse.clone());
    let set = Decision::If {
        argument: 2,
        test: Test::Address,
        then: Box::new(own),
        otherwise: Box::new(allow.clone()),
    };
    // The constant's type differs between C libraries.
    let core = &[i64::from(libc::RLIMIT_CORE) as u32];
    let setrlimit = Decision::one_of(0, u32::MAX, core, &Decision::Always(DONE), allow.clone());
    let prlimit = Decision::one_of(1, u32::MAX, core, &set, allow.clone());
    let controls = [TERMINAL_CONTROLS, FILE_SYSTEM_CONTROLS].concat();
    let ioctl = Decision::one_of(1, u32::MAX, &controls, &refuse, allow.clone());
    let fcntl = Decision::one_of(1, u32::MAX, FILE_CONTROLS, &refuse, allow.clone());
    // What is left by it is overlayfs' own sign, a device, which nobody may make: see `overlay/changes.rs`. overlayfs answers the same.
    let rename = Decision::If {
        argument: 4,
        test: Test::AnyBit(libc::RENAME_WHITEOUT),
        then: Box::new(Decision::Always(Answer::Fail(libc::EINVAL as u16))),
        otherwise: Box::new(allow.clone()),
    };
    vec![
        (libc::SYS_clone, clone),
        (libc::SYS_renameat2, rename),
        (libc::SYS_fcntl, fcntl),
        (libc::SYS_personality, personality),
        (libc::SYS_ioctl, ioctl),
        (libc::SYS_setrlimit, setrlimit),
        (libc::SYS_prlimit64, prlimit),
        (libc::SYS_socket, socket(network)),
        (libc::SYS_socketpair, Decision::one_of(0, u32::MAX, &[libc::AF_UNIX as u32], &allow, refuse)),
    ]
}

/// What the exec gate needs: every execve waits for it, and nobody inside makes a listener of his own. Kernels that permit
/// several would ask the one that was made last.
fn gate() -> [(libc::c_long, Decision); 3] {
    const NEW_LISTENER: u32 = 1 << 3; // SECCOMP_FILTER_FLAG_NEW_LISTENER
    let listener = Decision::If {
        argument: 1,
        test: Test::AnyBit(NEW_LISTENER),
        then: Box::new(Decision::Always(Answer::Fail(libc::EBUSY as u16))),
        otherwise: Box::new(Decision::Always(Answer::Allow)),
    };
    let notify = || Decision::Always(Answer::Notify);
    [(libc::SYS_execve, notify()), (libc::SYS_execveat, notify()), (libc::SYS_seccomp, listener)]
}

/// memfd_create(2), only with `MFD_NOEXEC_SEAL`: the file can then never be made executable. The gate would kill what is executed
/// from memory; this tells a program at once.
fn data_only() -> Decision {
    Decision::If {
        argument: 1,
        test: Test::AnyBit(libc::MFD_NOEXEC_SEAL),
        then: Box::new(Decision::Always(Answer::Allow)),
        otherwise: Box::new(Decision::Always(Answer::Fail(libc::EACCES as u16))),
    }
}

/// socket(2): local sockets always; with a network also plain TCP and UDP, and the netlink protocol that lists interfaces.
/// Not raw or packet sockets, not ICMP, not MPTCP (protocol 262, which Landlock's TCP rules do not see), not SCTP, not
/// vsock, which reaches the hypervisor.
fn socket(network: Network) -> Decision {
    let allow = Decision::Always(Answer::Allow);
    let refuse = Decision::Always(REFUSED);
    let local = &[libc::AF_UNIX as u32];
    if network == Network::None {
        return Decision::one_of(0, u32::MAX, local, &allow, refuse);
    }
    const KIND: u32 = 0xf; // the rest of the argument are SOCK_CLOEXEC and SOCK_NONBLOCK
    let protocols = [0, libc::IPPROTO_TCP as u32, libc::IPPROTO_UDP as u32];
    let protocol = Decision::one_of(2, u32::MAX, &protocols, &allow, refuse.clone());
    let kinds = [libc::SOCK_STREAM as u32, libc::SOCK_DGRAM as u32];
    let internet = Decision::one_of(1, KIND, &kinds, &protocol, refuse.clone());
    let netlink = Decision::one_of(2, u32::MAX, &[libc::NETLINK_ROUTE as u32], &allow, refuse.clone());
    let other = Decision::one_of(0, u32::MAX, &[libc::AF_NETLINK as u32], &netlink, refuse);
    let families = [libc::AF_INET as u32, libc::AF_INET6 as u32];
    Decision::one_of(0, u32::MAX, local, &allow, Decision::one_of(0, u32::MAX, &families, &internet, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_calls() {
        let allow = Answer::Allow;
        let netlink = libc::AF_NETLINK as u64;
        let (inet, inet6, unix) = (libc::AF_INET as u64, libc::AF_INET6 as u64, libc::AF_UNIX as u64);
        let (stream, datagram, raw) =
            (libc::SOCK_STREAM as u64, libc::SOCK_DGRAM as u64, libc::SOCK_RAW as u64);
        let flagged = stream | libc::SOCK_CLOEXEC as u64 | libc::SOCK_NONBLOCK as u64;
        let high = 1u64 << 32;
        // call, first three arguments, answer without network, answer with network
        #[rustfmt::skip]
        let table = [
            (libc::SYS_read, [0, 0, 0], allow, allow),
            (libc::SYS_execve, [0, 0, 0], allow, allow),
            (libc::SYS_execveat, [0, 0, 0], allow, allow),
            (libc::SYS_memfd_create, [0, 0, 0], allow, allow),
            (libc::SYS_prctl, [0, 0, 0], allow, allow),
            (libc::SYS_socket, [unix, stream, 0], allow, allow),
            (libc::SYS_socket, [inet, stream, 0], REFUSED, allow),
            (libc::SYS_socket, [inet, flagged, 6], REFUSED, allow),
            (libc::SYS_socket, [inet6, datagram, 17], REFUSED, allow),
            (libc::SYS_socket, [inet | high, stream, 0], REFUSED, allow),
            (libc::SYS_socket, [inet, stream, 262], REFUSED, REFUSED),
            (libc::SYS_socket, [inet, stream, 132], REFUSED, REFUSED),
            (libc::SYS_socket, [inet, datagram, 1], REFUSED, REFUSED),
            (libc::SYS_socket, [inet, raw, 6], REFUSED, REFUSED),
            (libc::SYS_socket, [netlink, raw, 0], REFUSED, allow),
            (libc::SYS_socket, [netlink, raw, 15], REFUSED, REFUSED),
            (libc::SYS_socket, [17, raw, 0], REFUSED, REFUSED),
            (libc::SYS_socket, [40, stream, 0], REFUSED, REFUSED),
            (libc::SYS_socketpair, [unix, stream, 0], allow, allow),
            (libc::SYS_socketpair, [30, stream, 0], REFUSED, REFUSED),
            (libc::SYS_clone, [0x11, 0, 0], allow, allow),
            (libc::SYS_clone, [0x3d0f00, 0, 0], allow, allow),
            (libc::SYS_clone, [libc::CLONE_NEWUSER as u64 | 17, 0, 0], REFUSED, REFUSED),
            (libc::SYS_clone, [libc::CLONE_NEWNET as u64 | high, 0, 0], REFUSED, REFUSED),
            (libc::SYS_clone3, [0, 0, 0], MISSING, MISSING),
            (libc::SYS_unshare, [0, 0, 0], REFUSED, REFUSED),
            (libc::SYS_ioctl, [0, 0x5401, 0], allow, allow),
            (libc::SYS_ioctl, [0, 0x5412, 0], REFUSED, REFUSED),
            (libc::SYS_ioctl, [0, 0x5412 | high, 0], REFUSED, REFUSED),
            (libc::SYS_ioctl, [0, 0x541c, 0], REFUSED, REFUSED),
            (libc::SYS_ioctl, [0, 0x5000_9417, 0], REFUSED, REFUSED),
            (libc::SYS_ioctl, [0, 0xc040_6618 | high, 0], REFUSED, REFUSED),
            (libc::SYS_ioctl, [0, 0x4004_9409, 0], allow, allow), // FICLONE
            (libc::SYS_fcntl, [0, libc::F_SETFL as u64, 0], allow, allow),
            (libc::SYS_fcntl, [0, libc::F_OFD_SETLKW as u64, 0], allow, allow),
            (libc::SYS_fcntl, [0, libc::F_SETLEASE as u64, 0], REFUSED, REFUSED),
            (libc::SYS_fcntl, [0, libc::F_SETLEASE as u64 | high, 0], REFUSED, REFUSED),
            (libc::SYS_fcntl, [0, libc::F_NOTIFY as u64, 0], REFUSED, REFUSED),
            (libc::SYS_fcntl, [0, 1040, 0], REFUSED, REFUSED),
            (libc::SYS_setrlimit, [4, 0, 0], DONE, DONE),
            (libc::SYS_setrlimit, [4 | high, 0, 0], DONE, DONE),
            (libc::SYS_setrlimit, [7, 0, 0], allow, allow),
            (libc::SYS_prlimit64, [0, 4, 0], allow, allow),
            (libc::SYS_prlimit64, [0, 4, 16], DONE, DONE),
            (libc::SYS_prlimit64, [0, 4 | high, high], DONE, DONE),
            (libc::SYS_prlimit64, [1, 4, 16], REFUSED, REFUSED),
            (libc::SYS_prlimit64, [1, 4, 0], allow, allow),
            (libc::SYS_prlimit64, [0, 7, 16], allow, allow),
            (libc::SYS_personality, [0xffff_ffff, 0, 0], allow, allow),
            (libc::SYS_personality, [0, 0, 0], allow, allow),
            (libc::SYS_personality, [0x40000, 0, 0], REFUSED, REFUSED),
            (470, [0, 0, 0], allow, allow),
            (471, [0, 0, 0], MISSING, MISSING),
        ];
        for (network, pick) in [(Network::None, 0), (Network::Loopback, 1), (Network::Host, 1)] {
            let program = program(network, Execution::Free);
            for (number, [a, b, c], without, with) in table {
                let got = bpf::evaluate(&program, ARCHITECTURE, number as u32, [a, b, c, 0, 0, 0]);
                let expected = if pick == 0 { without } else { with };
                assert_eq!(got, expected.code(), "{number} {a:#x} {b:#x} {c:#x} {network:?}");
            }
        }
    }

    #[test]
    fn no_sign_of_the_overlay_is_left_by_a_move() {
        for network in [Network::None, Network::Host] {
            let program = program(network, Execution::Free);
            for (flags, fails) in
                [(0, false), (1, false), (2, false), (4, true), (5, true), (4 | 1 << 32, true)]
            {
                let moved = libc::SYS_renameat2 as u32;
                let got = bpf::evaluate(&program, ARCHITECTURE, moved, [0, 0, 0, 0, flags, 0]);
                assert_eq!(got != Answer::Allow.code(), fails, "{flags:#x}");
            }
        }
    }

    #[test]
    fn every_denied_call_is_refused_and_only_those() {
        let program = program(Network::None, Execution::Free);
        let denied: Vec<u32> = DENIED.iter().flat_map(|(_, n)| *n).map(|n| *n as u32).collect();
        let by_argument: Vec<u32> = judged_by_argument(Network::None)
            .iter()
            .map(|(n, _)| *n as u32)
            .chain([libc::SYS_clone3 as u32])
            .collect();
        for number in (0..=NEWEST).filter(|n| !by_argument.contains(n)) {
            let expected = if denied.contains(&number) { REFUSED } else { Answer::Allow };
            assert_eq!(bpf::evaluate(&program, ARCHITECTURE, number, [0; 6]), expected.code(), "{number}");
        }
    }

    #[test]
    fn other_abis_are_killed() {
        const I386: u32 = 0x4000_0003;
        let program = program(Network::Host, Execution::Free);
        assert_eq!(bpf::evaluate(&program, I386, 20, [0; 6]), Answer::Kill.code());
        assert_eq!(bpf::evaluate(&program, ARCHITECTURE, X32_BIT | 41, [0; 6]), Answer::Kill.code());
        assert_eq!(bpf::evaluate(&program, ARCHITECTURE, u32::MAX, [0; 6]), Answer::Kill.code());
    }

    #[test]
    fn the_gate_changes_three_calls_only() {
        let notify = Answer::Notify.code();
        let busy = Answer::Fail(libc::EBUSY as u16).code();
        for network in [Network::None, Network::Host] {
            let (with, without) = (program(network, Execution::Gated), program(network, Execution::Free));
            for number in 0..=NEWEST + 1 {
                for argument in [0, 1, 8, 9, 8 | 1 << 32, 4] {
                    let arguments = [argument, argument, 0, 0, 0, 0];
                    let got = bpf::evaluate(&with, ARCHITECTURE, number, arguments);
                    let expected = match libc::c_long::from(number) {
                        libc::SYS_execve | libc::SYS_execveat => notify,
                        libc::SYS_seccomp if argument & 8 != 0 => busy,
                        _ => bpf::evaluate(&without, ARCHITECTURE, number, arguments),
                    };
                    assert_eq!(got, expected, "{number} {argument:#x}");
                }
            }
        }
    }

    #[test]
    fn a_list_permits_memory_for_data_only() {
        let program = program(Network::None, Execution::Listed);
        for (flags, expected) in
            [(0, false), (1, false), (0x10, false), (8, true), (9, true), (8 | 1 << 32, true)]
        {
            let number = libc::SYS_memfd_create as u32;
            let got = bpf::evaluate(&program, ARCHITECTURE, number, [0, flags, 0, 0, 0, 0]);
            let refused = Answer::Fail(libc::EACCES as u16);
            assert_eq!(got, if expected { Answer::Allow } else { refused }.code(), "{flags:#x}");
        }
    }

    #[test]
    fn the_program_stays_small() {
        for (network, execution, most) in [
            (Network::None, Execution::Free, 256),
            (Network::Host, Execution::Free, 256),
            (Network::Host, Execution::Gated, 256),
            (Network::Host, Execution::Listed, 264),
        ] {
            let length = program(network, execution).len();
            assert!(length < most, "{network} {execution:?}: {length}");
        }
    }
}
