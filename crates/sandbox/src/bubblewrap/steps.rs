//! What process 1 does before it starts the command, where bubblewrap has made namespaces and mounts.

use std::ffi::CString;
use std::fmt;

use crate::error::Stage;
use crate::gate::Identity;
use crate::operation::{Operation, shown};

/// One of the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is the first process of its namespace.
    First,
    /// A namespace is another one than ours.
    Namespace { name: &'static str, path: CString, ours: u32 },
    /// There are no capabilities, and none up to this one can be had by execve.
    Powerless { last: u64 },
    /// What is seen at a path, at which no symbolic link is passed: whether it is what we see there, of what kind it has to be (statfs(2)),
    /// and which mount flags have to be set.
    Seen { path: CString, found: Found, kind: Option<u32>, flags: u32 },
    /// What a sandbox is made of otherwise.
    Operation(Operation),
}

/// What is found at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The file that we see there.
    Same(Identity),
    /// Another one.
    Other(Identity),
    /// Something.
    Any,
}

impl Step {
    pub(crate) fn stage(&self) -> Stage {
        match self {
            Self::First | Self::Namespace { .. } | Self::Powerless { .. } | Self::Seen { .. } => {
                Stage::Bubblewrap
            }
            Self::Operation(operation) => operation.stage(),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => write!(f, "confirm that this is process 1"),
            Self::Namespace { name, .. } => write!(f, "confirm that {name} is a namespace of its own"),
            Self::Powerless { .. } => write!(f, "confirm that there are no capabilities"),
            Self::Seen { path, found, kind, flags } => {
                let found = match found {
                    Found::Same(_) => "what is seen outside",
                    Found::Other(_) => "not what is seen outside",
                    Found::Any => "there",
                };
                write!(f, "confirm that {} is {found}", shown(path))?;
                if kind.is_some() {
                    write!(f, ", of its kind")?;
                }
                let names = [(1, "ro"), (2, "nosuid"), (4, "nodev")];
                let set: Vec<&str> =
                    names.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect();
                if set.is_empty() { Ok(()) } else { write!(f, ", and {}", set.join(",")) }
            }
            Self::Operation(operation) => operation.fmt(f),
        }
    }
}
