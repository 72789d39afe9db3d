//! What a run may use up.

use std::sync::OnceLock;

use crate::sys;

/// Resource limits (getrlimit(2)); `None` leaves the caller's own limit. A limit above the caller's hard limit is lowered to
/// it. Core dumps are always off.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of address space per process (`RLIMIT_AS`). Programs that reserve much and use little (node, go, java) need
    /// room here; [`data`](Self::data) is usually the better limit.
    pub address_space: Option<u64>,
    /// Bytes of private writable memory per process (`RLIMIT_DATA`).
    pub data: Option<u64>,
    /// Processes and threads of the whole sandbox (`RLIMIT_NPROC` of its user namespace; for real root, whom that does not bind,
    /// the numbers that its pid namespace has to give). How long a fork bomb outlives its deadline depends on it: the kernel
    /// takes a fraction of a millisecond to clear up after each process, and longer after one that was forked from a fork.
    pub processes: Option<u64>,
    /// Bytes of a single file that is written (`RLIMIT_FSIZE`).
    pub file_size: Option<u64>,
    /// Open descriptors per process (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Seconds of processor time per process (`RLIMIT_CPU`).
    pub cpu_seconds: Option<u64>,
    /// Bytes of memory that all processes and private directories of the run use together. Takes a control group; where none is
    /// delegated it is a [`Gap`](crate::Gap).
    pub run_memory: Option<u64>,
    /// Hundredths of a processor that the run uses at once, in the mean of a tenth of a second. As above.
    pub processors: Option<u64>,
    /// Bytes that all private directories hold together; they live in memory.
    pub private_bytes: u64,
}

impl Default for Limits {
    /// 320 processes and threads where there are one or two processors, else 256 for each and at most 1024; 1 GiB in private directories,
    /// or a quarter of the memory where that is less; the rest as the caller has it.
    fn default() -> Self {
        static PROCESSORS: OnceLock<u64> = OnceLock::new();
        let processors = *PROCESSORS.get_or_init(processors);
        // Two processors clear up after so many forks of forks in 100 ms.
        let processes = if processors <= 2 { 320 } else { processors.saturating_mul(256).min(1024) };
        Self {
            address_space: None,
            data: None,
            processes: Some(processes),
            file_size: None,
            open_files: None,
            cpu_seconds: None,
            run_memory: None,
            processors: None,
            private_bytes: usual_private_bytes(),
        }
    }
}

/// What all private directories hold together unless somebody says otherwise: they lie in memory, of which there may be little.
pub(crate) fn usual_private_bytes() -> u64 {
    const MOST: u64 = 1 << 30;
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        // SAFETY: all bytes zero are a valid `sysinfo`, which the kernel then fills.
        let machine = unsafe {
            let mut machine: libc::sysinfo = std::mem::zeroed();
            libc::sysinfo(&raw mut machine);
            machine
        };
        let memory = machine.totalram.saturating_mul(u64::from(machine.mem_unit));
        // A size of 0 would mean no limit.
        MOST.min((memory / 4).max(1 << 20))
    })
}

/// How many processors we may use.
fn processors() -> u64 {
    let mut ours = sys::Processors::default();
    let known = sys::processors(0, &mut ours).is_ok();
    match ours.iter().map(|word| u64::from(word.count_ones())).sum() {
        // A control group can only give less. Where there are groups of the first version, asking takes a dozen system calls.
        few @ 1..=2 if known => few,
        _ => std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
    }
}
