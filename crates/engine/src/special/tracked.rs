//! Which hidden files git has a version of.
//!
//! A hidden file is empty for the command, so that what merely reads on its way goes on. To git an empty file is a change: `git
//! commit -a` would record that a file it tracks was emptied. Such files are made unreadable instead, at which git stops. What its
//! index says is read here as gitformat-index(5) tells it; what is not understood counts as tracked.

use crate::git::entries;
use crate::reading;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The longest index that is read, in bytes.
const MAX_INDEX: u64 = 256 << 20;

/// Up to how many hidden files of one repository are looked for one by one, which is less work than to sort an index.
const FEW: usize = 16;

/// The longest file that says where the index lies, in bytes.
const LONGEST_WAY: u64 = 64 << 10;

/// Those of the paths that git tracks, or in which it tracks something.
pub(super) fn tracked<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> HashSet<PathBuf> {
    let mut repositories: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
    for path in paths {
        let tree = path.ancestors().skip(1).find(|above| above.join(".git").symlink_metadata().is_ok());
        if let Some(tree) = tree {
            repositories.entry(tree).or_default().push(path);
        }
    }
    let mut found = HashSet::new();
    for (tree, paths) in repositories {
        let index = index(tree);
        let mut names: Option<Vec<&[u8]>> = index.as_ref().ok().and_then(|index| names(index));
        // A command can make many of both.
        let many = paths.len() > FEW;
        if many && let Some(names) = &mut names {
            names.sort_unstable();
        }
        for path in paths {
            let relative = path.strip_prefix(tree).unwrap_or(path).as_os_str().as_bytes();
            let is_listed =
                |names: &Vec<&[u8]>| if many { holds(names, relative) } else { has(names, relative) };
            if names.as_ref().is_none_or(is_listed) {
                found.insert(path.clone());
            }
        }
    }
    found
}

/// Whether a path, or something in it, is among some names.
fn has(names: &[&[u8]], path: &[u8]) -> bool {
    let is_of =
        |name: &&[u8]| name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
    names.iter().any(is_of)
}

/// The same of names in their order.
fn holds(names: &[&[u8]], path: &[u8]) -> bool {
    let below = [path, b"/"].concat();
    let first = names.partition_point(|name| *name < below.as_slice());
    names.binary_search(&path).is_ok() || names.get(first).is_some_and(|name| name.starts_with(&below))
}

/// The index of a work tree; empty if there is none.
fn index(tree: &Path) -> io::Result<Vec<u8>> {
    let git = tree.join(".git");
    // Of a submodule or a further work tree it is a file that says where (gitrepository-layout(5)).
    let directory = match fs::metadata(&git)?.is_dir() {
        true => git,
        false => {
            let mut text = String::new();
            reading::open(&git)?.take(LONGEST_WAY).read_to_string(&mut text)?;
            let path = text.strip_prefix("gitdir:").ok_or(io::ErrorKind::InvalidData)?;
            tree.join(path.trim())
        }
    };
    let file = match reading::open(&directory.join("index")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_INDEX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INDEX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// The names in an index.
fn names(index: &[u8]) -> Option<Vec<&[u8]>> {
    Some(entries(index)?.into_iter().map(|entry| entry.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn names_in_their_order_are_found_as_others_are() {
        let mut names: Vec<&[u8]> =
            ["a", "a-b", "a.c", "a/b", "b-c", "b/c/d", "b/c.d", "c", "d0", "e/"].map(str::as_bytes).to_vec();
        names.sort_unstable();
        for path in ["a", "a/b", "a-", "b", "b/c", "b/", "c", "c/d", "d", "d0", "e", "", "z"] {
            let path = path.as_bytes();
            assert_eq!(holds(&names, path), has(&names, path), "{path:?}");
        }
    }

    #[test]
    fn what_git_tracks_is_known_from_its_index() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(&root).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &root);
            git.output().unwrap().status.success()
        };
        if !git(&["init", "-q"]) {
            println!("skipped: no git");
            return;
        }
        let hidden = [".env", "a/.env", "a/b/.env", "keys", "long"].map(|name| root.join(name));
        let find = || {
            let mut found: Vec<PathBuf> = tracked(hidden.iter()).into_iter().collect();
            found.sort();
            found
        };
        assert!(find().is_empty(), "there is no index");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(root.join("keys/deep")).unwrap();
        for name in ["a/.env", "a/x.env", "keys/deep/k", "keysmith", "zz"] {
            fs::write(root.join(name), "x").unwrap();
        }
        assert!(git(&["add", "."]));
        let expected = [root.join("a/.env"), root.join("keys")];
        assert_eq!(find(), expected);
        // An entry with more flags makes version 3.
        fs::write(root.join("later"), "x").unwrap();
        assert!(git(&["add", "-N", "later"]));
        assert_eq!(find(), expected);
        let index = fs::read(root.join(".git/index")).unwrap();
        for cut in 1..index.len() {
            assert_eq!(names(index.get(..cut).unwrap()), None, "{cut} of {}", index.len());
        }
        // What is not understood is taken for tracked.
        assert!(git(&["update-index", "--index-version", "4"]));
        assert_eq!(find().len(), hidden.len());
        assert!(git(&["update-index", "--index-version", "2"]) && git(&["update-index", "--split-index"]));
        assert_eq!(find().len(), hidden.len());
        fs::write(root.join(".git/index"), "DIRC").unwrap();
        assert_eq!(find().len(), hidden.len());
        // A pipe would let us wait for whoever writes to it.
        fs::remove_file(root.join(".git/index")).unwrap();
        let pipe = |name: &str| {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mkfifoat(rustix::fs::CWD, root.join(name), mode).unwrap();
        };
        pipe(".git/index");
        assert_eq!(find().len(), hidden.len());
        fs::remove_dir_all(root.join(".git")).unwrap();
        pipe(".git");
        assert_eq!(find().len(), hidden.len());
    }
}
