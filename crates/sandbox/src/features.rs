//! What this machine gives of what a sandbox rests on.
//!
//! Each is found out with the calls of a run: a sandbox is built with all that can be left out left out, and then with one
//! thing more at a time. So "the network namespace is missing" means that a run with one fails and a run without one works.

use std::fs;
use std::path::PathBuf;

use crate::confinement::Confinement;
use crate::error::{SandboxError, Stage};
use crate::guarantee::Guarantee;
use crate::probe::attempt;
use crate::{bubblewrap, cgroup, kernel, landlock, probe};

/// Whether this machine gives a guarantee to this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// A sandbox with it was built.
    Given,
    /// A sandbox with it cannot be built; the error names what would mend that.
    Missing(SandboxError),
    /// Nothing was found out, because a sandbox cannot be built at all.
    Unknown,
}

/// What this machine gives of every guarantee, each found out by building sandboxes. Takes some milliseconds.
pub fn guarantees() -> Vec<(Guarantee, Presence)> {
    if attempt(&bare()).is_ok() {
        return Guarantee::ALL.map(|guarantee| (guarantee, Presence::Given)).to_vec();
    }
    let without = |kept: Option<Guarantee>| {
        Guarantee::DISPENSABLE
            .into_iter()
            .filter(|guarantee| Some(*guarantee) != kept && *guarantee != Guarantee::OwnNamespaces)
            .fold(bare(), Confinement::leaving_out)
    };
    match attempt(&without(None)) {
        Ok(()) => Guarantee::ALL
            .map(|guarantee| {
                let dispensable = Guarantee::DISPENSABLE.contains(&guarantee);
                match (dispensable && guarantee != Guarantee::OwnNamespaces)
                    .then(|| attempt(&without(Some(guarantee))))
                {
                    None | Some(Ok(())) => (guarantee, Presence::Given),
                    Some(Err(error)) => (guarantee, Presence::Missing(error)),
                }
            })
            .to_vec(),
        Err(error) if through_bubblewrap(&error) => Guarantee::ALL
            .map(|guarantee| match guarantee {
                Guarantee::OwnNamespaces => (guarantee, Presence::Missing(error.clone())),
                _ => (guarantee, Presence::Given),
            })
            .to_vec(),
        Err(error) => {
            let lacking = Guarantee::of_stage(error.stage);
            Guarantee::ALL
                .map(|guarantee| {
                    let missing = Some(guarantee) == lacking;
                    (guarantee, if missing { Presence::Missing(error.clone()) } else { Presence::Unknown })
                })
                .to_vec()
        }
    }
}

/// Whether bubblewrap makes a whole sandbox where we may not, because of what this error says.
fn through_bubblewrap(error: &SandboxError) -> bool {
    let refused = matches!(error.stage, Stage::Clone | Stage::IdMap | Stage::Mount)
        && matches!(error.errno, libc::EPERM | libc::EACCES);
    refused && attempt(&bare().leaving_out(Guarantee::OwnNamespaces)).is_ok()
}

/// The guarantees among `accepted` that this machine lacks and that a sandbox can be built without. Finding out takes some
/// milliseconds; nothing is tried if none is accepted.
pub fn lacking(accepted: &[Guarantee]) -> Vec<Guarantee> {
    if !accepted.iter().any(|guarantee| Guarantee::DISPENSABLE.contains(guarantee)) {
        return Vec::new();
    }
    let missing = guarantees().into_iter().filter(|(_, presence)| matches!(presence, Presence::Missing(_)));
    let accepted =
        |guarantee: &Guarantee| accepted.contains(guarantee) && Guarantee::DISPENSABLE.contains(guarantee);
    missing.map(|(guarantee, _)| guarantee).filter(accepted).collect()
}

fn bare() -> Confinement {
    Confinement::new("/", "/")
}

/// What the distribution has set that decides about sandboxes, by the name of its file; absent where the kernel has no such
/// setting.
pub fn settings() -> Vec<(&'static str, String)> {
    const FILES: &[&str] = &[
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/user/max_net_namespaces",
        "/proc/sys/kernel/yama/ptrace_scope",
        "/proc/sys/kernel/pid_max",
        "/proc/sys/vm/memfd_noexec",
        "/proc/sys/dev/tty/legacy_tiocsti",
        "/sys/kernel/security/lsm",
    ];
    let read = |path: &&'static str| Some((*path, fs::read_to_string(path).ok()?.trim().to_owned()));
    FILES.iter().filter_map(read).collect()
}

/// The release of the running kernel, as `uname -r` gives it.
pub fn kernel_release() -> String {
    kernel::kernel_release().to_string_lossy().into_owned()
}

/// What else matters to a sandbox.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Features {
    /// Release of the kernel, as `uname -r` gives it.
    pub kernel: String,
    /// Whether the effective user is root.
    pub root: bool,
    /// ABI version of Landlock.
    pub landlock: Option<u32>,
    /// Value of `kernel.yama.ptrace_scope`; absent without Yama.
    pub yama: Option<u32>,
    /// Whether another process traces this one.
    pub traced: bool,
    /// What a control group (v2) that this process may make can limit, of `cpu`, `memory` and `pids`; or why it cannot make one.
    pub cgroup: Result<Vec<String>, String>,
    /// Where the bubblewrap lies that could make namespaces, or why there is none.
    pub bubblewrap: Result<PathBuf, String>,
    /// Whether a program that starts inside was judged, or what stood in the way.
    pub gate: Result<(), SandboxError>,
    /// Whether an overlay was mounted on the file system of temporary files, or what stood in the way.
    pub overlay: Result<(), String>,
}

/// Looks them up, and tries those that can be tried. Takes some milliseconds.
pub fn features() -> Features {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse().ok();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    Features {
        kernel: kernel_release(),
        // SAFETY: cannot fail, no preconditions.
        root: unsafe { libc::geteuid() } == 0,
        landlock: landlock::version().ok(),
        yama: number("/proc/sys/kernel/yama/ptrace_scope"),
        traced: tracer.is_some_and(|tracer| tracer.trim() != "0"),
        cgroup: cgroup::place().map(|place| place.controllers),
        bubblewrap: bubblewrap::find(),
        gate: probe::gate(),
        overlay: probe::overlay(),
    }
}

impl Confinement {
    /// Builds the sandbox without these guarantees as far as this machine lacks them, and only so far: what it gives is used.
    /// Each that is left out is a [`Gap::Accepted`](crate::Gap::Accepted) of the plan. Finding out takes some milliseconds;
    /// without any accepted loss nothing is tried. What is not [dispensable](Guarantee::DISPENSABLE) cannot be accepted, and its
    /// lack stays an error.
    pub fn accept_missing(self, accepted: &[Guarantee]) -> Self {
        self.without(&lacking(accepted))
    }
}
