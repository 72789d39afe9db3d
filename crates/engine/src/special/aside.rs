//! What a run without an overlay has made where it must not is given another name.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The ending of a file that a command created where it must not.
pub(super) const REFUSED: &str = "refused-by-shward";

/// Where in the workspace that lies which was made under a name, whatever links the run has made on the way: at the end of them, or, where
/// they lead out of the workspace, it is the link. What lies outside no run has made.
pub(super) fn made_in(path: &Path, workspace: &Path) -> PathBuf {
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    let real = directory.zip(path.file_name()).map(|(directory, name)| directory.join(name));
    if let Some(real) = real.filter(|real| real.starts_with(workspace)) {
        return real;
    }
    let inside = path.ancestors().take_while(|above| above.starts_with(workspace) && *above != workspace);
    inside.filter(|above| above.is_symlink()).last().unwrap_or(path).to_owned()
}

/// Gives what is there another name, also where the run has closed the directory to its owner.
pub(super) fn set_aside(path: &Path) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{REFUSED}"));
    match (fs::rename(path, &aside), path.parent()) {
        (Err(error), Some(directory)) if error.kind() == io::ErrorKind::PermissionDenied => {
            let closed = fs::symlink_metadata(directory)?;
            // The mode of a link is none, and that of what it leads to stays as it is.
            if !closed.is_dir() {
                return Err(error);
            }
            let closed = closed.permissions();
            fs::set_permissions(directory, Permissions::from_mode(closed.mode() | 0o700))?;
            let renamed = fs::rename(path, &aside);
            fs::set_permissions(directory, closed).and(renamed)
        }
        (renamed, _) => renamed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_do_not_lead_a_change_of_names_out_of_the_workspace() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let (workspace, outside) = (root.join("w"), root.join("o"));
        fs::create_dir_all(workspace.join("a/real")).unwrap();
        fs::create_dir_all(outside.join("hooks")).unwrap();
        symlink(&outside, workspace.join("out")).unwrap();
        symlink("a", workspace.join("in")).unwrap();
        symlink(&outside, workspace.join("a/out")).unwrap();
        for (path, expected) in [
            ("a/real", "a/real"),
            ("in/real", "a/real"),
            ("out/hooks", "out"),
            ("in/out/hooks", "in"),
            ("a/out/hooks", "a/out"),
            ("a/out", "a/out"),
        ] {
            assert_eq!(made_in(&workspace.join(path), &workspace), workspace.join(expected), "{path}");
        }
    }

    /// Nothing is closed to root, whom a missing name shows the same.
    #[test]
    fn the_mode_of_what_a_link_leads_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir(root.join("o")).unwrap();
        fs::write(root.join("o/x"), "").unwrap();
        fs::set_permissions(root.join("o"), Permissions::from_mode(0o500)).unwrap();
        symlink("o", root.join("l")).unwrap();
        let moved = set_aside(&root.join("l/x"));
        let mode = fs::metadata(root.join("o")).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(root.join("o"), Permissions::from_mode(0o700)).unwrap();
        assert_eq!((moved.is_err(), mode), (!rustix::process::geteuid().is_root(), 0o500));
    }
}
