//! What was asked for and is not given.

use std::fmt;
use std::path::PathBuf;

use crate::guarantee::Guarantee;

/// What delegates control groups to shward, in words.
pub const ADVICE: &str = "start shward, or the agent that starts it, with `systemd-run --user --scope -p Delegate=yes`, or, in a service, set \
     `Delegate=yes` and `DelegateSubgroup=supervisor`; in a container mount /sys/fs/cgroup writable";

/// Something that was asked for and that this plan does not give. Whoever runs the plan must look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gap {
    /// A protected path does not exist inside its writable root, so nothing can be mounted on it: the command may create
    /// it.
    ProtectedMissing(PathBuf),
    /// A protected path is a symbolic link: its target is protected, the link itself can be replaced.
    ProtectedLink(PathBuf),
    /// A writable root belongs to another user. Root without capabilities is an ordinary user here: it may change what the
    /// permissions let it.
    OwnedByAnother(PathBuf),
    /// The machine lacks this, and the caller has accepted that.
    Accepted(Guarantee),
    /// These limits of a whole run cannot be had, for this reason: the control group that is needed is not delegated.
    NoGroup {
        /// What is not limited.
        limits: Vec<&'static str>,
        /// Why.
        why: String,
    },
    /// The process limit does not bind real root: on this kernel (before Linux 6.14 only a cgroup can), or because bubblewrap makes the pid
    /// namespace.
    ProcessLimit,
    /// How much the run writes is not bounded ([`Space::most`](crate::Space::most)): it writes where others do, too, and nobody can tell
    /// what is its.
    RunDisk,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProtectedMissing(path) => {
                write!(f, "{} does not exist and could be created by the command", path.display())
            }
            Self::ProtectedLink(path) => {
                write!(f, "{} is a symbolic link and could be replaced by the command", path.display())
            }
            Self::OwnedByAnother(path) => write!(
                f,
                "{} belongs to another user and may not be writable for root without capabilities; run as its owner",
                path.display()
            ),
            Self::Accepted(guarantee) => write!(f, "{guarantee} (accepted): {}", guarantee.loss()),
            Self::NoGroup { limits, why } => {
                write!(f, "a limit of the whole run's {}: {why}; {}", limits.join(", "), ADVICE)
            }
            Self::ProcessLimit => {
                write!(
                    f,
                    "the process limit does not bind root before Linux 6.14, nor where bubblewrap makes the namespaces; run as an ordinary user"
                )
            }
            Self::RunDisk => write!(
                f,
                "the limit of what the run writes (run-disk): that goes straight to the workspace, where nothing tells it from what was there"
            ),
        }
    }
}
