//! What the running kernel is, and how it numbers processes.

use std::ffi::{CStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

/// Whether a pid namespace can be told which pid it gave out last (proc_sys_kernel(5)); only with CONFIG_CHECKPOINT_RESTORE.
pub(crate) fn pids_can_be_skipped() -> bool {
    Path::new("/proc/sys/kernel/ns_last_pid").exists()
}

/// The bound of pids that leaves so many processes beside process 1. Pids below 300 are not given out a second time
/// (pid_namespaces(7)), and the kernel takes no bound below 301, or below 8 for each processor that there could be.
pub(crate) fn pid_max(processes: u64) -> u64 {
    const RESERVED: u64 = 300;
    const MOST: u64 = 4_194_304;
    let possible = fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    // "0-63", or "0-3,8-11"; without it, more than there are anywhere.
    let last = possible.trim().rsplit(['-', ',']).next().and_then(|last| last.parse().ok()).unwrap_or(8191);
    let least = u64::saturating_mul(8, u64::saturating_add(last, 1)).max(RESERVED + 2);
    processes.saturating_add(RESERVED).clamp(least.min(MOST), MOST)
}

/// Since Linux 6.14 `kernel.pid_max` belongs to the pid namespace. Before, writing it would change the host's, so the version
/// decides, not an attempt.
pub(crate) fn pid_limit_is_per_namespace() -> bool {
    kernel_version().is_some_and(|version| version >= (6, 14))
}

/// Major and minor version of the running kernel.
pub(crate) fn kernel_version() -> Option<(u32, u32)> {
    let text = kernel_release();
    let text = text.to_str()?;
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// uname(2)'s release.
pub(crate) fn kernel_release() -> OsString {
    // SAFETY: an all-zero utsname is valid, and the call, which cannot fail, writes terminated strings into it.
    let release = unsafe {
        let mut names: libc::utsname = std::mem::zeroed();
        libc::uname(&raw mut names);
        CStr::from_ptr(names.release.as_ptr()).to_bytes().to_vec()
    };
    OsString::from_vec(release)
}
