//! The same files under other names: what is mounted where (proc_pid_mountinfo(5)).
//!
//! A cover hides a file under one name. Where a file system is mounted at two places, in whole or in part, the file has another one: a
//! host's home in a container beside the root that holds it, `/sysroot` of a system that is made of images, the top of a btrfs below
//! `/mnt`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::paths::contents;

/// File systems of other machines, which may not answer and hold no sockets of this one.
const REMOTE: [&[u8]; 5] = [b"nfs", b"nfs4", b"cifs", b"smb3", b"ceph"];

/// Everything that is mounted, in the order in which it was.
#[derive(Debug)]
pub(crate) struct Mounts(Vec<Mount>);

/// A part of a file system, where it is mounted.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The file system's number, as text.
    device: Vec<u8>,
    /// The part.
    part: PathBuf,
    /// Where it is.
    place: PathBuf,
    /// It is another machine's.
    remote: bool,
}

impl Mounts {
    /// Without /proc there is no list to read; a plan then fails at its own use of /proc.
    pub(crate) fn read() -> Self {
        Self::parse(&contents("/proc/self/mountinfo").unwrap_or_default())
    }

    fn parse(listing: &[u8]) -> Self {
        let path = |text: &[u8]| PathBuf::from(OsString::from_vec(unescaped(text)));
        let mount = |line: &[u8]| {
            let mut fields = line.split(|byte| *byte == b' ');
            let (device, part, place) = (fields.nth(2)?.to_vec(), fields.next()?, fields.next()?);
            let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
            Some(Mount { device, part: path(part), place: path(place), remote: REMOTE.contains(&kind) })
        };
        Self(listing.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// Where a part of a file system is mounted, which may be a single file: so a socket of the host comes into a container, and whoever
    /// listens there is in no list of it.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter(|mount| mount.part != Path::new("/") && !mount.remote).map(|m| m.place.as_path())
    }

    /// Where something is mounted.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|mount| mount.place.as_path())
    }

    /// The other names of what lies at a canonical path, and of what lies in it and is mounted elsewhere.
    pub(crate) fn others(&self, path: &Path) -> Vec<PathBuf> {
        let found = self.named_otherwise(path).into_iter();
        found.filter(|(name, known)| is_same(name, known)).map(|(name, _)| name).collect()
    }

    /// Names that may be such, each with the known one of the same file.
    fn named_otherwise(&self, path: &Path) -> Vec<(PathBuf, PathBuf)> {
        // Of several at one place the last covers the others.
        let around = self.0.iter().filter(|mount| path.starts_with(&mount.place));
        let Some(own) = around.max_by_key(|mount| mount.place.as_os_str().len()) else { return Vec::new() };
        let Ok(below) = path.strip_prefix(&own.place) else { return Vec::new() };
        let inside = joined(&own.part, below);
        let name = |mount: &Mount| match inside.strip_prefix(&mount.part) {
            Ok(rest) => Some((joined(&mount.place, rest), path.to_owned())),
            Err(_) => {
                let deeper = mount.part.strip_prefix(&inside).ok()?;
                Some((mount.place.clone(), joined(path, deeper)))
            }
        };
        let beside = self.0.iter().filter(|mount| mount.device == own.device);
        beside.filter_map(name).filter(|(name, _)| !name.starts_with(path)).collect()
    }
}

/// Without a slash at the end where nothing is joined.
fn joined(path: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { path.to_owned() } else { path.join(below) }
}

/// What is at a place may be covered by something else.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    identity(one).is_some_and(|found| Some(found) == identity(other))
}

/// A name as it is, where blanks and the like are written as three octal digits behind a backslash.
fn unescaped(mut text: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(text.len());
    while let Some((first, rest)) = text.split_first() {
        let digits = rest.first_chunk::<3>().filter(|_| *first == b'\\');
        let value = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        name.push(value.unwrap_or(*first));
        text = if value.is_some() { rest.get(3..).unwrap_or_default() } else { rest };
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &[u8] = b"20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
        22 20 0:21 / /proc rw,relatime - proc proc rw\n\
        30 20 8:2 / /home rw,relatime shared:1 - ext4 /dev/sda2 rw\n\
        31 20 8:2 /u/keys /srv/keys rw master:1 - ext4 /dev/sda2 rw\n\
        32 20 8:2 / /sysroot/home rw - ext4 /dev/sda2 rw\n\
        40 20 8:1 /run/user/1/agent.sock /ssh-agent rw,relatime master:1 - ext4 /dev/sda1 rw\n\
        41 20 8:3 /a\\040b /x\\040y\\134z rw - tmpfs none rw\n\
        42 20 0:50 /export /far rw - nfs4 server:/export rw\n\
        43 20\n";

    #[test]
    fn parts_of_file_systems_are_found_where_they_are_mounted() {
        let mounts = Mounts::parse(LISTING);
        let found: Vec<&Path> = mounts.parts().collect();
        assert_eq!(found, ["/srv/keys", "/ssh-agent", "/x y\\z"].map(Path::new));
    }

    #[test]
    fn other_names_of_a_file() {
        let mounts = Mounts::parse(LISTING);
        let table: [(&str, &[(&str, &str)]); 7] = [
            ("/home/u/.netrc", &[("/sysroot/home/u/.netrc", "/home/u/.netrc")]),
            (
                "/home/u/keys/a",
                &[("/srv/keys/a", "/home/u/keys/a"), ("/sysroot/home/u/keys/a", "/home/u/keys/a")],
            ),
            // What lies in it, too.
            ("/home/u", &[("/srv/keys", "/home/u/keys"), ("/sysroot/home/u", "/home/u")]),
            ("/srv/keys/a", &[("/home/u/keys/a", "/srv/keys/a"), ("/sysroot/home/u/keys/a", "/srv/keys/a")]),
            ("/etc/shadow", &[]),
            ("/run/user", &[("/ssh-agent", "/run/user/1/agent.sock")]),
            ("/proc/1", &[]),
        ];
        for (path, expected) in table {
            let found = mounts.named_otherwise(Path::new(path));
            let found: Vec<_> =
                found.iter().map(|(a, b)| (a.to_str().unwrap(), b.to_str().unwrap())).collect();
            assert_eq!(found, expected, "{path}");
        }
    }
}
