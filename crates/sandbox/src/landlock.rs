//! Landlock: the second opinion on every file and socket operation (landlock(7)).
//!
//! The mount view already decides what can be written; Landlock says it again, by another mechanism, and adds what mounts
//! cannot: no opening of devices and pipes for writing outside the given places, no device nodes, TCP, sockets of others
//! (abstract ones, and from Linux 7.1 on those with a path), signals. It is a hard requirement. What a kernel can express depends on its ABI version; what this one cannot is left to
//! the other layers, which do not depend on it.

use crate::Network;
use crate::error::{SandboxError, Stage};
use crate::sys::{self, RulesetAttributes};

/// Rights of Landlock, in the order of the ABI that brought them.
mod right {
    pub(super) const EXECUTE: u64 = 1;
    pub(super) const WRITE_FILE: u64 = 1 << 1;
    pub(super) const READ_FILE: u64 = 1 << 2;
    pub(super) const READ_DIR: u64 = 1 << 3;
    pub(super) const MAKE_CHAR: u64 = 1 << 6;
    pub(super) const MAKE_BLOCK: u64 = 1 << 11;
    pub(super) const TRUNCATE: u64 = 1 << 14;
    pub(super) const IOCTL_DEV: u64 = 1 << 15;
    /// Connecting to a socket by its path. One that was made in the same sandbox needs no right.
    pub(super) const RESOLVE_UNIX: u64 = 1 << 16;
    pub(super) const ABI_1: u64 = (1 << 13) - 1;
    pub(super) const REFER: u64 = 1 << 13;
    pub(super) const TCP: u64 = 0b11;
    pub(super) const SCOPES: u64 = 0b11;
}

/// What a rule grants beneath its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read, list, execute.
    Read,
    /// Read and list, where only some programs may be executed.
    ReadData,
    /// One of those programs.
    Execute,
    /// All of it, except making device nodes.
    Write,
    /// The same, where only some programs may be executed.
    WriteData,
    /// A device file: read, write, and its ioctls.
    Device,
    /// The directory of pseudo-terminals.
    Terminals,
}

/// What no writable place has: device nodes, and the sockets that others listen on there.
const NEVER: u64 = right::MAKE_CHAR | right::MAKE_BLOCK | right::IOCTL_DEV | right::RESOLVE_UNIX;

impl Access {
    /// The rights, cut down to those that `handled` knows.
    pub(crate) fn rights(self, handled: u64) -> u64 {
        let rights = match self {
            Self::Read => right::EXECUTE | right::READ_FILE | right::READ_DIR,
            Self::ReadData => right::READ_FILE | right::READ_DIR,
            Self::Execute => right::EXECUTE | right::READ_FILE,
            Self::Write => !NEVER,
            Self::WriteData => !(NEVER | right::EXECUTE),
            Self::Device => right::READ_FILE | right::WRITE_FILE | right::TRUNCATE | right::IOCTL_DEV,
            Self::Terminals => right::READ_FILE | right::WRITE_FILE | right::READ_DIR | right::IOCTL_DEV,
        };
        rights & handled
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read and execute",
            Self::ReadData => "read",
            Self::Execute => "execute",
            Self::Write => "write and execute",
            Self::WriteData => "write",
            Self::Device => "use device",
            Self::Terminals => "use terminals",
        }
    }
}

/// The ABI version of the running kernel.
pub(crate) fn version() -> Result<u32, SandboxError> {
    sys::landlock_version()
        .map_err(|errno| SandboxError::kernel(Stage::Landlock, errno, "asking for the ABI version"))
}

/// Everything that this ABI can handle, as the network choice needs it.
pub(crate) fn attributes(version: u32, network: Network) -> RulesetAttributes {
    let mut filesystem = right::ABI_1;
    for (since, bit) in
        [(2, right::REFER), (3, right::TRUNCATE), (5, right::IOCTL_DEV), (9, right::RESOLVE_UNIX)]
    {
        if version >= since {
            filesystem |= bit;
        }
    }
    RulesetAttributes {
        filesystem,
        // TCP is handled, and no port granted, only where there is no network at all: ports cannot tell loopback from
        // the rest.
        network: if version >= 4 && network == Network::None { right::TCP } else { 0 },
        scoped: if version >= 6 { right::SCOPES } else { 0 },
    }
}

/// How much of the attributes struct a kernel of this ABI accepts.
pub(crate) fn attributes_size(version: u32) -> usize {
    match version {
        0..=3 => 8,
        4..=5 => 16,
        _ => 24,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: [Access; 7] = [
        Access::Read,
        Access::ReadData,
        Access::Execute,
        Access::Write,
        Access::WriteData,
        Access::Device,
        Access::Terminals,
    ];

    #[test]
    fn rights_grow_with_the_abi_only() {
        let mut last = 0;
        for version in 1..=9 {
            let handled = attributes(version, Network::None).filesystem;
            assert_eq!(handled & last, last, "{version}");
            last = handled;
            for access in EVERY {
                assert_eq!(access.rights(handled) & !handled, 0, "the kernel refuses unhandled rights");
            }
        }
    }

    #[test]
    fn writing_never_includes_device_nodes() {
        let handled = attributes(7, Network::None).filesystem;
        assert_eq!(Access::Write.rights(handled) & (right::MAKE_CHAR | right::MAKE_BLOCK), 0);
        assert_eq!(Access::Read.rights(handled) & right::WRITE_FILE, 0);
    }

    /// From Linux 7.1 on (ABI 9), whenever they came to be and wherever they lie.
    #[test]
    fn sockets_of_others_are_reached_nowhere() {
        let handled = |version| attributes(version, Network::None).filesystem & right::RESOLVE_UNIX;
        assert_eq!((handled(8), handled(9)), (0, right::RESOLVE_UNIX));
        for access in EVERY {
            assert_eq!(access.rights(right::RESOLVE_UNIX), 0, "{access:?}");
        }
    }

    #[test]
    fn data_is_never_executed() {
        let handled = attributes(7, Network::None).filesystem;
        for (access, whole) in [(Access::ReadData, Access::Read), (Access::WriteData, Access::Write)] {
            assert_eq!(access.rights(handled), whole.rights(handled) & !right::EXECUTE);
        }
    }

    #[test]
    fn tcp_is_refused_only_where_no_network_is() {
        assert_eq!(attributes(4, Network::None).network, right::TCP);
        assert_eq!(attributes(3, Network::None).network, 0);
        assert_eq!(attributes(7, Network::Loopback).network, 0);
    }
}
