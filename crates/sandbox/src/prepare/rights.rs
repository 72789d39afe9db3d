//! What a command may do with what it sees: Landlock, limits, and the privileges that are dropped.

use std::ffi::CString;
use std::fs;
use std::path::Path;

use super::Builder;
use crate::confinement::Confinement;
use crate::error::SandboxError;
use crate::filter::{self, Execution};
use crate::gate::Listed;
use crate::landlock::{self, Access};
use crate::layout::{Layout, Mounted, with_covers};
use crate::network::Network;
use crate::operation::{Operation, Slot};
use crate::paths::c_string;

impl Builder {
    /// The ruleset, complete and not yet enforced.
    pub(super) fn landlock_rules(
        &mut self,
        layout: &Layout,
        network: Network,
        only: Option<&[Listed]>,
    ) -> Result<Slot, SandboxError> {
        let version = landlock::version()?;
        let attributes = landlock::attributes(version, network);
        let (ruleset, devices) = (self.slot(), self.present_devices().to_vec());
        let multiplexer =
            !self.own_devices && fs::symlink_metadata("/dev/ptmx").is_ok_and(|data| !data.is_symlink());
        self.push(Operation::Ruleset { attributes, size: landlock::attributes_size(version), slot: ruleset });
        let mut rule = |path: CString, access: Access| {
            let rights = access.rights(attributes.filesystem);
            let tree = self.keep(&path);
            self.push(Operation::Rule { path, access, rights, ruleset, tree });
        };
        let (read, write) = match only {
            None => (Access::Read, Access::Write),
            Some(_) => (Access::ReadData, Access::WriteData),
        };
        rule(c"/".to_owned(), read);
        for Listed { path, loader, .. } in only.into_iter().flatten() {
            rule(c_string(path.as_os_str(), "path")?, Access::Execute);
            if let Some(loader) = loader {
                rule(c_string(loader.as_os_str(), "path")?, Access::Execute);
            }
        }
        for (path, mounted, cover) in with_covers(layout) {
            let nested = matches!(cover, Some((_, Mounted::Private { .. } | Mounted::Writable)));
            let target = c_string(path.as_os_str(), "path")?;
            match mounted {
                Mounted::Private { .. } if nested => {}
                Mounted::Writable if path.is_dir() => rule(target, write),
                Mounted::Writable => rule(target, Access::Device), // a single file takes the rights of a file
                Mounted::Private { .. } => rule(target, write),
                Mounted::Pinned | Mounted::ReadOnly | Mounted::Empty | Mounted::Hidden { .. } => {}
            }
        }
        for path in devices {
            rule(path.to_owned(), Access::Device);
        }
        if Path::new("/dev/pts").is_dir() {
            rule(c"/dev/pts".to_owned(), Access::Terminals);
            if multiplexer {
                rule(c"/dev/ptmx".to_owned(), Access::Device);
            }
        }
        Ok(ruleset)
    }

    pub(super) fn limits(&mut self, wanted: &Confinement) {
        // The constants' type differs between C libraries.
        let limits = &wanted.limits;
        let table = [
            (i64::from(libc::RLIMIT_CORE), "core dumps", Some(filter::NO_CORE_DUMPS)),
            (i64::from(libc::RLIMIT_AS), "address space", limits.address_space),
            (i64::from(libc::RLIMIT_DATA), "data", limits.data),
            (i64::from(libc::RLIMIT_NPROC), "processes", limits.processes),
            (i64::from(libc::RLIMIT_FSIZE), "file size", limits.file_size),
            (i64::from(libc::RLIMIT_NOFILE), "open files", limits.open_files),
            (i64::from(libc::RLIMIT_CPU), "cpu seconds", limits.cpu_seconds),
        ];
        for (resource, name, value) in table {
            if let Some(value) = value {
                self.push(Operation::Limit { resource, name, value });
            }
        }
    }

    /// Privileges go last, and among them the filter: it refuses what the others are made of. Landlock asks for
    /// `no_new_privs` (landlock(7)).
    pub(super) fn privileges(&mut self, ruleset: Option<Slot>, network: Network, gated: bool) {
        self.operations.extend([Operation::DropCapabilities, Operation::NoNewPrivileges]);
        self.operations.extend(ruleset.map(|ruleset| Operation::EnforceRuleset { ruleset }));
        let execution = match (gated, self.data_only) {
            (false, _) => Execution::Free,
            (true, false) => Execution::Gated,
            (true, true) => Execution::Listed,
        };
        self.push(Operation::Filter { network, gated, program: filter::program(network, execution) });
    }
}
