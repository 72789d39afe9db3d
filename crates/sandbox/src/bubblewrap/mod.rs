//! bubblewrap as the maker of namespaces, where only it may make them.
//!
//! Some distributions let no program of an ordinary user make a user namespace but those that have an AppArmor profile for it
//! (`kernel.apparmor_restrict_unprivileged_userns`), and bubblewrap has one. That profile takes every capability from
//! what bubblewrap starts. So bubblewrap makes the namespaces and the mounts, and the rest, which takes no capability, is done
//! inside, by process 1 before it starts the command: limits, Landlock, `no_new_privs`, the filter. It looks first whether namespaces
//! and mounts are what they have to be: not a word of bubblewrap is believed.
//!
//! What bubblewrap cannot make is refused ([`Guarantee::OwnNamespaces`](crate::Guarantee::OwnNamespaces)).

mod steps;
mod table;

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

pub(crate) use steps::{Found, Step};
pub(crate) use table::{before, table};

/// Numbers of the descriptors that bubblewrap passes on.
pub(crate) mod number {
    /// Standard input, output and error of the command, until process 1 puts them to their places.
    pub(crate) const STANDARD: [i32; 3] = [4, 5, 6];
    /// To us: whether process 1 came to its end with the steps.
    pub(crate) const REPORT: i32 = 7;
    /// To the exec gate.
    pub(crate) const GATE: i32 = 8;
    /// To whoever serves the proxy.
    pub(crate) const PROXY: i32 = 9;
    /// bubblewrap's own arguments.
    pub(crate) const ARGUMENTS: i32 = 10;
    /// The program of process 1.
    pub(crate) const IMAGE: i32 = 11;
    /// The first of those that the content of hidden files is read from, which is empty.
    pub(crate) const EMPTY: i32 = 16;
}

/// What is asked of bubblewrap, and what is done inside.
#[derive(Debug)]
pub(crate) struct Outer {
    pub(crate) program: CString,
    /// As bubblewrap reads them from a descriptor.
    pub(crate) arguments: Vec<CString>,
    /// How many files are hidden.
    pub(crate) empty: usize,
    pub(crate) steps: Vec<Step>,
}

/// Where distributions put it.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// The bubblewrap of the system, at its canonical path, or why there is none that can be used. Only root may have put it there, and it may
/// have no rights of its own: set-user-id bubblewraps behave differently.
pub(crate) fn find() -> Result<PathBuf, String> {
    let mut why = "bubblewrap (bwrap) is not installed".to_owned();
    for place in PLACES {
        let Ok(path) = fs::canonicalize(place) else { continue };
        match trusted(&path) {
            Ok(()) => return Ok(path),
            Err(reason) => why = format!("{} is not used: {reason}", path.display()),
        }
    }
    Err(why)
}

fn trusted(path: &Path) -> Result<(), String> {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    const OTHER_RIGHTS: u32 = 0o6000;
    let mut each = path.ancestors();
    let found = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() || found.mode() & 0o111 == 0 {
        return Err("it is no program".to_owned());
    }
    let capable = rustix::fs::lgetxattr(path, "security.capability", &mut [0u8; 64][..]);
    if found.mode() & OTHER_RIGHTS != 0 || capable.is_ok() {
        return Err("it has rights of its own (set-user-id or capabilities)".to_owned());
    }
    let changeable = each.find(|path| {
        fs::symlink_metadata(path)
            .map_or(true, |data| data.uid() != 0 || data.mode() & WRITABLE_BY_OTHERS != 0)
    });
    match changeable {
        None => Ok(()),
        Some(path) => Err(format!("{} can be changed by others than root", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_program_that_others_could_have_put_there_is_not_trusted() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("bwrap");
        fs::write(&program, "").unwrap();
        let with = |mode| {
            fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
            trusted(&program).unwrap_err()
        };
        assert!(with(0o644).contains("no program"));
        assert!(with(0o4755).contains("rights of its own"));
        // The directory of temporary files is everybody's.
        assert!(with(0o755).contains("can be changed"));
        assert!(trusted(Path::new("/nowhere")).is_err());
    }
}
