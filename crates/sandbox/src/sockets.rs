//! Unix sockets of the host that the command could connect to.
//!
//! Connecting to a socket is not writing to a file system, so a read-only mount does not stop it, and Landlock learned it
//! only with ABI 9 (Linux 7.1). Whoever listens acts with its own rights: a container daemon, an SSH agent, an editor. So each socket
//! that is visible is masked. The private `/run` and `/tmp` already cover most of them.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::elsewhere::Mounts;
use crate::paths::contents;

/// Sockets of services that may listen in another network namespace, where `/proc/net/unix` does not show them, and that lie outside
/// of `/run` and `/tmp`.
const WELL_KNOWN: &[&str] = &[
    "/nix/var/nix/daemon-socket/socket",
    "/var/lib/docker/docker.sock",
    "/var/lib/incus/unix.socket",
    "/var/lib/lxd/unix.socket",
    "/var/snap/docker/common/var-lib-docker/docker.sock",
    "/var/snap/lxd/common/lxd/unix.socket",
];

/// Below the home directory.
const WELL_KNOWN_IN_HOME: &[&str] = &[
    ".colima/default/docker.sock",
    ".docker/desktop/docker.sock",
    ".docker/run/docker.sock",
    ".orbstack/run/docker.sock",
    ".rd/docker.sock",
];

/// How many entries are looked at where a part of another system is mounted, and how deep.
const MOST: usize = 1000;
const DEEPEST: usize = 3;

/// Canonical paths of the sockets that exist and that the caller can see. The list is as of now: a socket that is made
/// later under a path that is visible inside is covered by Landlock alone. What is `needless` is not looked at.
pub(crate) fn visible(
    home: Option<&Path>,
    mounts: &Mounts,
    needless: impl Fn(&Path) -> bool,
) -> BTreeSet<PathBuf> {
    // Without /proc there is no list to read; the plan then fails at its own use of /proc.
    let listed = contents("/proc/self/net/unix").unwrap_or_default();
    let listed = paths(&listed).map(Path::to_owned);
    let known = WELL_KNOWN.iter().map(PathBuf::from);
    let in_home = WELL_KNOWN_IN_HOME.iter().filter_map(|name| home.map(|home| home.join(name)));
    // A directory of the host in a container, with the sockets in it.
    let shown = mounts.shown().flat_map(|place| within(place, &needless));
    listed
        .chain(shown)
        .chain(mounts.parts().map(Path::to_owned))
        .chain(known)
        .chain(in_home)
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket()))
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect()
}

/// The sockets that lie in a directory, the upper ones first.
fn within(directory: &Path, needless: &impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), MOST);
    let mut waiting = VecDeque::from([(directory.to_owned(), 1)]);
    while let Some((directory, depth)) = waiting.pop_front() {
        if needless(&directory) {
            continue;
        }
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return found };
            left = rest;
            match entry.file_type() {
                Ok(kind) if kind.is_socket() => found.push(entry.path()),
                Ok(kind) if kind.is_dir() && depth < DEEPEST => waiting.push_back((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    found
}

/// The absolute paths in the last column of `/proc/net/unix` (proc_net(5)). A name with `@` in front is abstract, and a
/// relative one cannot be resolved.
fn paths(listing: &[u8]) -> impl Iterator<Item = &Path> {
    const COLUMNS_BEFORE: usize = 7;
    listing.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut rest = line;
        for _ in 0..COLUMNS_BEFORE {
            let end = rest.iter().position(|byte| *byte == b' ')?;
            rest = rest.get(end..)?.trim_ascii_start();
        }
        rest.starts_with(b"/").then(|| Path::new(std::ffi::OsStr::from_bytes(rest)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listing_is_read() {
        let listing = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 18420 /run/a b.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 18421\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 18422 @abstract\n\
            0000000000000000: 00000002 00000000 00010000 0005 01    19 /x/\xff\n";
        let found: Vec<&[u8]> = paths(listing).map(|p| p.as_os_str().as_bytes()).collect();
        assert_eq!(found, [&b"/run/a b.sock"[..], b"/x/\xff"]);
    }

    #[test]
    fn sockets_of_a_directory_are_found_as_deep_as_is_looked() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        let bound: Vec<_> = ["s", "a/s", "a/b/s", "a/b/c/s"]
            .map(|name| root.join(name))
            .into_iter()
            .map(|path| (std::os::unix::net::UnixListener::bind(&path).unwrap(), path))
            .collect();
        let paths: Vec<PathBuf> = bound.into_iter().map(|(_, path)| path).collect();
        assert_eq!(within(&root, &|_| false), paths[..3]);
        assert_eq!(within(&root, &|path| path.ends_with("b")), paths[..2]);
        assert!(within(&root.join("s"), &|_| false).is_empty());
        for number in 0..MOST {
            fs::write(root.join(format!("{number}")), "").unwrap();
        }
        assert!(within(&root, &|_| false).len() < 3, "that is not the end of it");
    }

    #[test]
    fn a_socket_that_listens_is_found() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().canonicalize().unwrap().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(visible(None, &Mounts::read(), |_| false).contains(&path));
    }
}
