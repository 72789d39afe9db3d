//! The guarantees of a sandbox, by name.

use std::fmt;

use crate::error::Stage;

/// Something that a sandbox rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Guarantee {
    /// A user namespace: rights inside that are none outside. Everything else is made with them.
    UserNamespace,
    /// A mount namespace with a sealed view of the file system.
    MountNamespace,
    /// A pid namespace with a process 1 of its own: no other process is reached, and none survives.
    PidNamespace,
    /// A `/proc` of its own, which shows the processes of the sandbox only.
    FreshProc,
    /// A network namespace: no address outside is reached.
    NetworkNamespace,
    /// A namespace for System V IPC and POSIX message queues.
    IpcNamespace,
    /// A namespace for the host's name.
    HostNameNamespace,
    /// A namespace for the view of control groups.
    CgroupNamespace,
    /// Landlock, the second opinion on files, sockets and signals.
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// Namespaces and mounts that shward makes itself. Without it bubblewrap makes them, if the machine lets it.
    OwnNamespaces,
}

impl Guarantee {
    /// Every guarantee, what the others rest on first.
    pub const ALL: [Self; 11] = [
        Self::UserNamespace,
        Self::MountNamespace,
        Self::PidNamespace,
        Self::FreshProc,
        Self::NetworkNamespace,
        Self::IpcNamespace,
        Self::HostNameNamespace,
        Self::CgroupNamespace,
        Self::Landlock,
        Self::Seccomp,
        Self::OwnNamespaces,
    ];

    /// Those that a sandbox can be built without.
    pub const DISPENSABLE: [Self; 7] = [
        Self::FreshProc,
        Self::NetworkNamespace,
        Self::IpcNamespace,
        Self::HostNameNamespace,
        Self::CgroupNamespace,
        Self::Landlock,
        Self::OwnNamespaces,
    ];

    /// The stable kebab-case name, as policies and records have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserNamespace => "user-ns",
            Self::MountNamespace => "mount-ns",
            Self::PidNamespace => "pid-ns",
            Self::FreshProc => "fresh-proc",
            Self::NetworkNamespace => "net-ns",
            Self::IpcNamespace => "ipc-ns",
            Self::HostNameNamespace => "uts-ns",
            Self::CgroupNamespace => "cgroup-ns",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::OwnNamespaces => "own-namespaces",
        }
    }

    /// The guarantee of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guarantee| guarantee.name() == name)
    }

    /// What a command could do without it, for the person who is to accept that.
    pub const fn loss(self) -> &'static str {
        match self {
            Self::UserNamespace | Self::MountNamespace | Self::PidNamespace | Self::Seccomp => {
                "nothing would be confined"
            }
            Self::FreshProc => {
                "command lines of other processes are visible; Landlock keeps their memory and environment closed"
            }
            Self::NetworkNamespace => {
                "the network is closed by the system call filter alone; loopback and named hosts cannot be offered"
            }
            Self::IpcNamespace => {
                "shared memory, semaphores and message queues of the host (System V) are reached"
            }
            Self::HostNameNamespace => "the name of the host is shared; changing it stays refused",
            Self::CgroupNamespace => "the names of the host's control groups are visible",
            Self::Landlock => {
                "there is no second opinion on files: pipes and sockets that lie in read-only places can be written to, \
                 abstract sockets are closed by the network namespace alone"
            }
            Self::OwnNamespaces => {
                "bubblewrap makes namespaces and mounts: changes go straight to the workspace and cannot be undone or previewed, \
                 terminals and lists of the only programs are refused, and the number of files in private directories is not limited"
            }
        }
    }

    /// The flag of clone(2) that asks for it; 0 for what is no namespace.
    pub(crate) const fn clone_flag(self) -> i32 {
        match self {
            Self::UserNamespace => libc::CLONE_NEWUSER,
            Self::MountNamespace => libc::CLONE_NEWNS,
            Self::PidNamespace => libc::CLONE_NEWPID,
            Self::NetworkNamespace => libc::CLONE_NEWNET,
            Self::IpcNamespace => libc::CLONE_NEWIPC,
            Self::HostNameNamespace => libc::CLONE_NEWUTS,
            Self::CgroupNamespace => libc::CLONE_NEWCGROUP,
            Self::FreshProc | Self::Landlock | Self::Seccomp | Self::OwnNamespaces => 0,
        }
    }

    /// Which guarantee the failure of a step is about, when everything dispensable was left out.
    pub(crate) fn of_stage(stage: Stage) -> Option<Self> {
        match stage {
            Stage::Clone | Stage::IdMap | Stage::Bubblewrap => Some(Self::UserNamespace),
            Stage::Mount => Some(Self::MountNamespace),
            Stage::Proc => Some(Self::FreshProc),
            Stage::Landlock => Some(Self::Landlock),
            Stage::Seccomp => Some(Self::Seccomp),
            Stage::Init => Some(Self::PidNamespace),
            _ => None,
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for guarantee in Guarantee::ALL {
            assert_eq!(Guarantee::from_name(guarantee.name()), Some(guarantee));
        }
        assert_eq!(Guarantee::from_name("net"), None);
    }

    #[test]
    fn what_can_be_left_out_is_not_what_the_rest_is_made_of() {
        for base in [Guarantee::UserNamespace, Guarantee::MountNamespace, Guarantee::PidNamespace] {
            assert!(!Guarantee::DISPENSABLE.contains(&base));
        }
    }
}
