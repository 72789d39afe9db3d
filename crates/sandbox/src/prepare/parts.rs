//! What of a plan is no operation: the list of programs, the environment, and which devices there are.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Builder, DEVICES};
use crate::confinement::Confinement;
use crate::error::SandboxError;
use crate::gate::{Listed, listed};
use crate::layout::{Layout, Mounted, cover};
use crate::operation::{CStrings, Operation, Slot};
use crate::paths::c_string;

impl Builder {
    /// Those that work inside and exist here.
    pub(super) fn present_devices(&self) -> &[&'static CStr] {
        let own = if self.terminal { Some(c"/dev/tty") } else { None };
        let exists = |path: &&CStr| Path::new(OsStr::from_bytes(path.to_bytes())).exists();
        self.present.get_or_init(|| DEVICES.iter().copied().chain(own).filter(exists).collect())
    }

    /// Makes what is seen in the place of what is hidden.
    pub(super) fn masks(&mut self, scratch: Slot, layout: &Layout) {
        let unreadable = layout.values().any(|mounted| *mounted == Mounted::Hidden { readable: false });
        for readable in [true, false].into_iter().take(if unreadable { 2 } else { 1 }) {
            let (file, directory) = if readable { (0o444, 0o555) } else { (0, 0) };
            let name = |is_directory| mask(is_directory, readable).to_owned();
            self.push(Operation::ScratchFile { scratch, name: name(false), mode: file });
            self.push(Operation::ScratchDirectory { scratch, name: name(true), mode: directory });
        }
    }
}

/// Directories that are emptied, by their names in the scratch file system, with the mount points that were made in them.
#[derive(Default)]
pub(super) struct Emptied {
    names: BTreeMap<PathBuf, usize>,
    points: BTreeSet<PathBuf>,
}

impl Emptied {
    pub(super) fn is_made(&mut self, path: &Path, number: usize) {
        self.names.insert(path.to_owned(), number);
    }

    /// Makes the directories from `top` down to `path`. Where it is seen it cannot be changed, but in the scratch file system it can.
    pub(super) fn mount_point(
        &mut self,
        builder: &mut Builder,
        scratch: Slot,
        top: &Path,
        path: &Path,
    ) -> Result<(), SandboxError> {
        let mut made = PathBuf::from(self.names.get(top).map(usize::to_string).unwrap_or_default());
        for component in path.strip_prefix(top).unwrap_or(path) {
            made.push(component);
            if self.points.insert(made.clone()) {
                let name = c_string(made.as_os_str(), "path")?;
                builder.push(Operation::ScratchDirectory { scratch, name, mode: 0o755 });
            }
        }
        Ok(())
    }
}

/// The name of what is seen in the place of what is hidden.
pub(super) fn mask(is_directory: bool, readable: bool) -> &'static CStr {
    match (is_directory, readable) {
        (false, true) => c"hidden-file",
        (true, true) => c"hidden-directory",
        (false, false) => c"unreadable-file",
        (true, false) => c"unreadable-directory",
    }
}

/// The only programs that may be executed. A program that the command could replace would stand for any other.
pub(super) fn only(wanted: &Confinement, layout: &Layout) -> Result<Option<Vec<Listed>>, SandboxError> {
    if wanted.only.is_empty() {
        return Ok(None);
    }
    let list: Vec<Listed> = wanted.only.iter().map(|path| listed(path)).collect::<Result<_, _>>()?;
    for Listed { path, .. } in &list {
        let above = layout.get(path).copied().or_else(|| cover(layout, path).map(|(_, mounted)| mounted));
        if !matches!(above, None | Some(Mounted::ReadOnly)) {
            return Err(SandboxError::request(
                format!("the program `{}` lies where the command may write", path.display()),
                "name programs outside of the writable and private directories",
            ));
        }
    }
    Ok(Some(list))
}

/// `NAME=value`, each.
pub(super) fn environment(wanted: &Confinement) -> Result<CStrings, SandboxError> {
    let mut strings = Vec::with_capacity(wanted.environment.len());
    for (name, value) in &wanted.environment {
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            return Err(SandboxError::request(
                format!("`{}` is not a name of an environment variable", name.display()),
                "a name is not empty and has no `=`",
            ));
        }
        let mut entry = name.clone();
        entry.push("=");
        entry.push(value);
        strings.push(c_string(&entry, "environment")?);
    }
    Ok(CStrings::new(strings))
}
