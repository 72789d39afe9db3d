//! The same files under other names: what is mounted where (proc_pid_mountinfo(5)).
//!
//! A cover hides a file under one name. Where a file system is mounted at two places, in whole or in part, the file has another one: a
//! host's home in a container beside the root that holds it, `/sysroot` of a system that is made of images, the top of a btrfs below
//! `/mnt`.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::ops::Bound;
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
    /// The part is one that the file system itself is divided into (btrfs(5)).
    volume: bool,
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
            let mut fields = fields.skip_while(|field| *field != b"-").skip(1);
            let (kind, options) = (fields.next()?, fields.nth(1).unwrap_or_default());
            let named = options.split(|byte| *byte == b',').find_map(|one| one.strip_prefix(b"subvol="));
            let (volume, remote) = (named == Some(part), REMOTE.contains(&kind));
            Some(Mount { device, part: path(part), place: path(place), remote, volume })
        };
        Self(listing.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// Where a part of a file system is mounted, which may be a single file: so a socket of the host comes into a container, and whoever
    /// listens there is in no list of it.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter(|mount| mount.part != Path::new("/") && !mount.remote).map(|m| m.place.as_path())
    }

    /// The same without the volumes that a file system is divided into: whoever divides a disk shows nothing of another system by that.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Path> {
        let part = |mount: &&Mount| mount.part != Path::new("/") && !mount.remote && !mount.volume;
        self.0.iter().filter(part).map(|mount| mount.place.as_path())
    }

    /// Where something is mounted.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|mount| mount.place.as_path())
    }

    /// What has more than one name.
    pub(crate) fn twice(&self) -> Twice<'_> {
        let mut number: HashMap<&[u8], usize> = HashMap::new();
        self.0.iter().for_each(|mount| *number.entry(&mount.device).or_default() += 1);
        let mut twice = Twice { places: HashMap::new(), parts: BTreeMap::new() };
        for mount in self.0.iter().filter(|mount| number.get(&*mount.device).is_some_and(|many| *many > 1)) {
            twice.places.entry(&mount.place).or_default().push(mount);
            twice.parts.entry((&mount.device, &mount.part)).or_default().push(mount);
        }
        twice
    }
}

/// What is mounted of file systems that are at several places, so that a name is looked up and not compared with each of them: there may
/// be thousands of either.
#[derive(Debug)]
pub(crate) struct Twice<'m> {
    places: HashMap<&'m Path, Vec<&'m Mount>>,
    parts: BTreeMap<(&'m [u8], &'m Path), Vec<&'m Mount>>,
}

impl Twice<'_> {
    /// The other names of what lies at a canonical path, and of what lies in it and is mounted elsewhere.
    pub(crate) fn others(&self, path: &Path) -> Vec<PathBuf> {
        let found = self.named_otherwise(path).into_iter();
        found.filter(|(name, known)| is_same(name, known)).map(|(name, _)| name).collect()
    }

    /// Names that may be such, each with the known one of the same file.
    fn named_otherwise(&self, path: &Path) -> Vec<(PathBuf, PathBuf)> {
        let mut found = Vec::new();
        if self.places.is_empty() {
            return found;
        }
        // Which of several covers the others depends on their order: each may be the one that the path leads to.
        for own in path.ancestors().filter_map(|place| self.places.get(place)).flatten() {
            let Ok(below) = path.strip_prefix(&own.place) else { continue };
            let inside = joined(&own.part, below);
            for part in inside.ancestors() {
                let Ok(rest) = inside.strip_prefix(part) else { continue };
                let around = self.parts.get(&(&*own.device, part)).into_iter().flatten();
                found.extend(around.map(|mount| (joined(&mount.place, rest), path.to_owned())));
            }
            let after = (Bound::Excluded((&*own.device, &*inside)), Bound::Unbounded);
            for ((device, part), within) in self.parts.range(after) {
                let Some(deeper) = part.strip_prefix(&inside).ok().filter(|_| *device == own.device) else {
                    break;
                };
                found.extend(within.iter().map(|mount| (mount.place.clone(), joined(path, deeper))));
            }
        }
        found.retain(|(name, _)| !name.starts_with(path));
        found
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
    if !text.contains(&b'\\') {
        return text.to_vec();
    }
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
        44 20 8:4 /x /opt/in/deep rw - ext4 /dev/sda4 rw\n\
        45 20 8:5 / /opt/in rw - ext4 /dev/sda5 rw\n\
        46 20 8:5 /deep /again rw - ext4 /dev/sda5 rw\n\
        47 20 0:60 /@srv /srv rw - btrfs /dev/sda6 rw,subvol=/@srv\n\
        48 20 0:60 /@srv/run /sockets rw - btrfs /dev/sda6 rw,subvol=/@srv\n\
        43 20\n";

    #[test]
    fn parts_of_file_systems_are_found_where_they_are_mounted() {
        let mounts = Mounts::parse(LISTING);
        let found: Vec<&Path> = mounts.parts().collect();
        let parts = ["/srv/keys", "/ssh-agent", "/x y\\z", "/opt/in/deep", "/again", "/srv", "/sockets"];
        assert_eq!(found, parts.map(Path::new));
        let shown: Vec<&Path> = mounts.shown().collect();
        assert_eq!(
            shown,
            parts.map(Path::new).into_iter().filter(|place| *place != Path::new("/srv")).collect::<Vec<_>>()
        );
    }

    #[test]
    fn other_names_of_a_file() {
        let mounts = Mounts::parse(LISTING);
        let twice = mounts.twice();
        let table: [(&str, &[(&str, &str)]); 8] = [
            ("/home/u/.netrc", &[("/sysroot/home/u/.netrc", "/home/u/.netrc")]),
            (
                "/home/u/keys/a",
                &[("/srv/keys/a", "/home/u/keys/a"), ("/sysroot/home/u/keys/a", "/home/u/keys/a")],
            ),
            // What lies in it, too.
            ("/home/u", &[("/sysroot/home/u", "/home/u"), ("/srv/keys", "/home/u/keys")]),
            ("/srv/keys/a", &[("/home/u/keys/a", "/srv/keys/a"), ("/sysroot/home/u/keys/a", "/srv/keys/a")]),
            ("/etc/shadow", &[]),
            ("/run/user", &[("/ssh-agent", "/run/user/1/agent.sock")]),
            ("/proc/1", &[]),
            // What was mounted there before is covered.
            ("/opt/in/deep/a", &[("/again/a", "/opt/in/deep/a")]),
        ];
        for (path, expected) in table {
            let found = twice.named_otherwise(Path::new(path));
            let found: Vec<_> =
                found.iter().map(|(a, b)| (a.to_str().unwrap(), b.to_str().unwrap())).collect();
            assert_eq!(found, expected, "{path}");
        }
    }

    /// Each of 3,000 against each of 3,000 would be nine million.
    #[test]
    fn many_files_and_many_mounts() {
        let lines = (0..3_000).map(|n| format!("{n} 1 8:1 /a/{n} /b/{n} rw - ext4 x rw\n"));
        let listing = lines.collect::<String>() + "1 1 8:1 / / rw - ext4 x rw\n";
        let mounts = Mounts::parse(listing.as_bytes());
        let started = std::time::Instant::now();
        let twice = mounts.twice();
        for n in 0..3_000 {
            let found = twice.named_otherwise(&PathBuf::from(format!("/a/{n}/.env")));
            assert_eq!(found.len(), 1);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(1), "{:?}", started.elapsed());
    }
}
