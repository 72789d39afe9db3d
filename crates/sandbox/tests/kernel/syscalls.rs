//! The kernel's surface: calls that must be refused inside, each shown to get further outside.

use shward_sandbox::Network;

use crate::roles;
use crate::support::{Place, need_sandbox};

/// The type of libc's constant differs between C libraries.
const TIOCSTI: u64 = 0x5412;

/// Name, call, arguments. None of them does harm where it is not refused: arguments are invalid or concern the caller only.
#[rustfmt::skip]
const ATTACKS: &[(&str, i64, [u64; 6])] = &[
    ("unshare user", libc::SYS_unshare, [libc::CLONE_NEWUSER as u64, 0, 0, 0, 0, 0]),
    ("ptrace attach", libc::SYS_ptrace, [libc::PTRACE_ATTACH as u64, i32::MAX as u64, 0, 0, 0, 0]),
    ("process_vm_readv", libc::SYS_process_vm_readv, [u32::MAX as u64, 0, 0, 0, 0, 0]),
    ("io_uring_setup", libc::SYS_io_uring_setup, [1, 0, 0, 0, 0, 0]),
    ("keyctl", libc::SYS_keyctl, [0, -3i64 as u64, 0, 0, 0, 0]),
    ("add_key", libc::SYS_add_key, [0, 0, 0, 0, 0, 0]),
    ("request_key", libc::SYS_request_key, [0, 0, 0, 0, 0, 0]),
    ("setns", libc::SYS_setns, [u32::MAX as u64, 0, 0, 0, 0, 0]),
    ("personality", libc::SYS_personality, [0x40000, 0, 0, 0, 0, 0]),
    ("mount_setattr", libc::SYS_mount_setattr, [u32::MAX as u64, 0, 1 << 31, 0, 0, 0]),
    ("open_tree", libc::SYS_open_tree, [u32::MAX as u64, 0, 1 << 30, 0, 0, 0]),
    ("kcmp", libc::SYS_kcmp, [u32::MAX as u64, u32::MAX as u64, 0, 0, 0, 0]),
    ("pidfd_getfd", libc::SYS_pidfd_getfd, [u32::MAX as u64, 0, 0, 0, 0, 0]),
    ("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, 0, 0, 0]),
    ("clone user", libc::SYS_clone, [libc::CLONE_NEWUSER as u64 | libc::CLONE_FS as u64, 0, 0, 0, 0, 0]),
    ("ioctl tiocsti", libc::SYS_ioctl, [u32::MAX as u64, TIOCSTI, 0, 0, 0, 0]),
    ("ioctl tiocsti high", libc::SYS_ioctl, [u32::MAX as u64, TIOCSTI | 1 << 32, 0, 0, 0, 0]),
    ("socket inet", libc::SYS_socket, [libc::AF_INET as u64, libc::SOCK_STREAM as u64, 0, 0, 0, 0]),
    ("socket netlink", libc::SYS_socket, [libc::AF_NETLINK as u64, libc::SOCK_RAW as u64, 0, 0, 0, 0]),
];

/// Calls that need privilege outside, so that an ordinary user is refused there as well.
#[rustfmt::skip]
const PRIVILEGED: &[(&str, i64, [u64; 6])] = &[
    ("mount", libc::SYS_mount, [0, 0, 0, 0, 0, 0]),
    ("chroot", libc::SYS_chroot, [0, 0, 0, 0, 0, 0]),
    ("pivot_root", libc::SYS_pivot_root, [0, 0, 0, 0, 0, 0]),
    ("fanotify_init", libc::SYS_fanotify_init, [u32::MAX as u64, 0, 0, 0, 0, 0]),
    ("bpf", libc::SYS_bpf, [u32::MAX as u64, 0, 0, 0, 0, 0]),
    ("kexec_load", libc::SYS_kexec_load, [0, 0, 0, u64::MAX, 0, 0]),
    ("open_by_handle_at", libc::SYS_open_by_handle_at, [u32::MAX as u64, 0, 0, 0, 0, 0]),
    ("quotactl", libc::SYS_quotactl, [u32::MAX as u64, 0, 0, 0, 0, 0]),
    ("swapoff", libc::SYS_swapoff, [0, 0, 0, 0, 0, 0]),
    ("reboot", libc::SYS_reboot, [0, 0, 0, 0, 0, 0]),
    ("init_module", libc::SYS_init_module, [0, 0, 0, 0, 0, 0]),
    ("settimeofday", libc::SYS_settimeofday, [1, 1, 0, 0, 0, 0]),
    ("sethostname", libc::SYS_sethostname, [1, 1, 0, 0, 0, 0]),
    ("setuid 1", libc::SYS_setuid, [1, 0, 0, 0, 0, 0]),
];

/// Carries out one attack in this process and says what the kernel answered.
pub(crate) fn attack(name: &str) -> String {
    let (_, number, [a, b, c, d, e, f]) =
        ATTACKS.iter().chain(PRIVILEGED).find(|(candidate, ..)| *candidate == name).unwrap();
    // SAFETY: the calls of the two tables get null or invalid pointers only, which the kernel checks; none makes a process
    // that would come back here (clone's flags contradict each other).
    let result = unsafe { libc::syscall(*number, *a, *b, *c, *d, *e, *f) };
    if result >= 0 { "done".to_owned() } else { format!("refused: {}", std::io::Error::last_os_error()) }
}

const EPERM: &str = "refused: Operation not permitted (os error 1)";

#[test]
fn dangerous_calls_are_refused() {
    need_sandbox!();
    let place = Place::new();
    for (name, ..) in ATTACKS {
        assert_ne!(roles::outside("syscall", name), EPERM, "{name} proves nothing here");
        assert_eq!(roles::inside(&place.shell(""), "syscall", name), EPERM, "{name}");
    }
    for (name, ..) in PRIVILEGED {
        let answer = roles::inside(&place.shell(""), "syscall", name);
        // A user that is not mapped is an invalid argument.
        assert!(
            answer == EPERM || name.starts_with("setuid") && answer.contains("os error 22"),
            "{name}: {answer}"
        );
    }
    for (network, allowed) in [(Network::None, false), (Network::Loopback, true), (Network::Host, true)] {
        let answer = roles::inside(&place.shell("").network(network), "syscall", "socket inet");
        assert_eq!(answer == "done", allowed, "{network}");
    }
}

#[test]
fn a_sandbox_in_a_sandbox_is_an_error_that_says_so() {
    need_sandbox!();
    let place = Place::new();
    assert_eq!(roles::inside(&place.shell(""), "probe", ""), "Err((Clone, 1))");
}
