//! What lies around a workspace that is a part of something larger. Whoever chooses a directory of a project as the workspace would else
//! see what is hidden in the whole project.

use super::listings::Listings;
use super::{Kind, Special, Walk};
use crate::Request;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// How many directories above the workspace are looked at.
const MOST: usize = 16;

/// Directories that hold no project, but many: each command has its own, or they are the system's.
const ENDS: [&str; 6] = ["/", "/dev/shm", "/nix/store", "/run", "/tmp", "/var/tmp"];

/// The directories above a workspace, up to a home.
fn above<'w>(workspace: &'w Path, homes: &BTreeSet<PathBuf>) -> Vec<&'w Path> {
    let ends =
        |directory: &Path| homes.contains(directory) || ENDS.iter().any(|end| directory == Path::new(end));
    workspace.ancestors().skip(1).take_while(|directory| !ends(directory)).take(MOST).collect()
}

impl Special {
    /// Looks at the directories above the workspace, and through the work tree that it is a part of. `number` and the next tell these
    /// from other ways of looking.
    pub(super) fn look_around(
        &mut self,
        request: &Request,
        homes: &BTreeSet<PathBuf>,
        number: usize,
        own: Option<&Path>,
        listings: &mut Listings,
    ) {
        let workspace = &request.workspace;
        let above = above(workspace, homes);
        // Whoever makes a repository of the workspace itself sees no more.
        let tree = above.iter().find(|directory| directory.join(".git").symlink_metadata().is_ok());
        let known = std::mem::take(&mut self.hidden);
        for root in &above {
            let (kind, number) = match tree == Some(root) {
                true => (Kind::Tree, number + 1),
                false => (Kind::Above, number),
            };
            let home = &request.home;
            self.walk(&Walk { root, home, request, kind, number, own, lost: RefCell::default() }, listings);
        }
        let found = std::mem::replace(&mut self.hidden, known);
        let known: HashSet<&PathBuf> = self.hidden.iter().collect();
        let new: Vec<PathBuf> = found.into_iter().filter(|path| !known.contains(path)).collect();
        self.hidden.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_part_of_a_project_shows_no_more_than_the_whole() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let names = [
            (".env", true),
            ("repo/.env.local", true),
            ("repo/packages/b/.env", true),
            ("repo/packages/b/c/id_rsa", true),
            ("repo/packages/b/tests/server.key", false),
            ("repo/node_modules/x/.env", false),
            ("repo/.git/.env", false),
            ("beside/.env", false),
        ];
        for (name, _) in names {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        let home = root.join("home");
        for part in ["repo/packages/a", "repo/packages/a/src/deep"] {
            let workspace = root.join(part);
            fs::create_dir_all(&workspace).unwrap();
            let request = Request { home: home.clone(), ..Request::command("true", &workspace, &workspace) };
            let special = Special::find(&request.resolved().unwrap(), None, false);
            for (name, hidden) in names {
                let found = special.hidden.iter().filter(|path| **path == root.join(name)).count();
                assert_eq!(found, usize::from(hidden), "{part} {name}");
            }
        }
        // What it lies in itself is not hidden from it.
        let workspace = root.join("env/.env/lib/x");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(root.join("env/.env.local"), "").unwrap();
        let request = Request { home: home.clone(), ..Request::command("true", &workspace, &workspace) };
        let special = Special::find(&request.resolved().unwrap(), None, false);
        assert!(special.hidden.contains(&root.join("env/.env.local")));
        assert!(!special.hidden.iter().any(|path| workspace.starts_with(path)), "{:?}", special.hidden);
        // Also where the part is made a repository.
        let own = root.join("repo/packages/own");
        fs::create_dir_all(own.join(".git")).unwrap();
        let request = Request { home, ..Request::command("true", &own, &own) };
        let special = Special::find(&request.resolved().unwrap(), None, false);
        assert!(special.hidden.contains(&root.join("repo/.env.local")));
        assert!(special.hidden.contains(&root.join("repo/packages/b/.env")));
    }
}
