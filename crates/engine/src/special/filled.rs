//! Directories that package managers, builds and git fill. They hold nothing of the user's own, and may be huge.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Directories that package managers and builds fill: they hold nothing of the user's own, and may be huge.
const FILLED: [&str; 5] = ["__pycache__", "dist-packages", "node_modules", "site-packages", "target"];

/// Where git keeps what it has.
const OBJECTS: &str = "objects";

/// Of these directories those below them, by the name of what they lie in.
const SKIPPED_IN: [(&str, &str); 3] =
    [(".cargo", "registry"), (".npm", "_cacache"), (".rustup", "toolchains")];

/// Whether a directory is filled by package managers, builds and git alone, whatever lies around it. Of what lies above the root
/// only its own name counts.
pub(super) fn is_filled(root: &Path, parent: &Path, name: &OsStr) -> bool {
    // Elsewhere than in a repository, which may be a bare one, that is a name like any other; work trees lie in repositories, too.
    let below = || parent.strip_prefix(root.parent().unwrap_or(root)).unwrap_or(parent);
    let of_git = || below().iter().any(|part| part.as_bytes().ends_with(b".git"));
    FILLED.iter().any(|known| name == *known) || name == OBJECTS && of_git()
}

/// Whether something of a workspace comes and goes with the packages that are installed in it.
pub(super) fn is_installed(path: &Path) -> bool {
    path.iter().any(|part| part == "node_modules")
}

/// Whether a directory is filled by package managers, builds and git alone. Where nobody works it is git that calls one `objects`: tools
/// keep repositories under any name.
pub(super) fn is_generated(root: &Path, parent: &Path, name: &OsStr, is_work: bool) -> bool {
    let filled = is_filled(root, parent, name) || !is_work && name == OBJECTS;
    let parent = parent.file_name().unwrap_or_default();
    filled
        || SKIPPED_IN.iter().any(|(above, s)| parent == *above && name == *s)
        // The library of a Python, with the keys that its tests use.
        || (parent == "lib" && is_of_a_python(name.as_bytes()))
}

/// `python3.12`, `python3.13t`; not `python-client`, which is somebody's work.
fn is_of_a_python(name: &[u8]) -> bool {
    let version = name.strip_prefix(b"python").map(|rest| rest.strip_suffix(b"t").unwrap_or(rest));
    version.is_some_and(|v| v.contains(&b'.') && v.iter().all(|b| b.is_ascii_digit() || *b == b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_fill_is_left_out() {
        for (parent, name, generated) in [
            ("/home/u/.pyenv/versions/3.12/lib", "python3.12", true),
            ("/home/u/.local/lib", "python3.13t", true),
            ("/srv/lib", "python-client", false),
            ("/srv/lib", "python", false),
            ("/srv/lib", "python3", false),
            ("/srv/libs", "python3.12", false),
            ("/home/u/.cargo", "registry", true),
            ("/srv", "registry", false),
            ("/srv", "node_modules", true),
            ("/srv/.git", "objects", true),
            ("/srv/.git/modules/m", "objects", true),
            ("/srv/mirror.git", "objects", true),
            ("/srv/k8s", "objects", false),
        ] {
            let found = is_generated(Path::new("/"), Path::new(parent), OsStr::new(name), true);
            assert_eq!(found, generated, "{parent}/{name}");
        }
        let objects = OsStr::new("objects");
        assert!(is_generated(Path::new("/"), Path::new("/home/u/.cargo/git/db/x"), objects, false));
        // A repository, a work tree in one, and one in that.
        for (root, parent, generated) in [
            ("/srv/m.git", "/srv/m.git", true),
            ("/srv/m.git/main", "/srv/m.git/main/k8s", false),
            ("/srv/m.git/main", "/srv/m.git/main/.git/modules/x", true),
        ] {
            assert_eq!(is_filled(Path::new(root), Path::new(parent), objects), generated, "{root} {parent}");
        }
    }
}
