//! What the names in a directory mean, remembered from one start to the next.
//!
//! Looking for secrets by their names reads every directory in which there may be one: thousands of system calls for a
//! command that takes a millisecond. But directories rarely change, and a change shows in the directory itself: the
//! kernel sets its change time whenever a name comes, goes or is renamed (inode(7)), and nobody can set that back. So
//! what was found in a directory is kept with its identity and times, and counts for as long as these are the same. What
//! is not remembered, has changed, or cannot be relied on is read. Whether a name is a secret is never guessed from
//! what was remembered of another directory.
//!
//! Three things cannot be relied on: a directory that changed so shortly before it was read that a second change could
//! bear the same time, a file system that does not keep these times itself, and a file of ours that somebody else could
//! have written. Then nothing is remembered.

use rustix::fs::statfs;
use shward_review::StateDir;
use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Names in the order of the file system.
pub(super) type Names = Vec<Box<[u8]>>;

/// By directory and kind of place: its state, and what it held in that.
type Known = HashMap<Box<[u8]>, (Stamp, Listing)>;

/// What one directory holds, as far as it matters here.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Listing {
    /// How many entries it has.
    pub(super) entries: usize,
    /// Names that a command must not see.
    pub(super) hidden: Names,
    /// Names that a command must not change.
    pub(super) protected: Names,
    /// Names of repositories.
    pub(super) repositories: Names,
    /// Names below which there may be more: directories, and links that may lead to some.
    pub(super) below: Names,
}

/// Tells a directory in one state from the same in another and from any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    modified: i64,
    changed: i64,
}

impl Stamp {
    const BYTES: usize = 32;

    pub(super) fn of(meta: &Metadata) -> Self {
        let time = |seconds: i64, nanos: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos);
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            modified: time(meta.mtime(), meta.mtime_nsec()),
            changed: time(meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// How long before it was read a directory must have changed last. The coarsest clock of the file systems in question
/// ticks every ten milliseconds, and every two seconds on disks that come from elsewhere.
const SETTLED: Duration = Duration::from_secs(3);

/// File systems of this machine, which keep change times themselves. Numbers from linux/magic.h.
const LOCAL: [i64; 9] = [
    0xef53,      // ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0xf2f5_2010, // f2fs
    0xca45_1a4e, // bcachefs
    0x2fc1_2fc1, // zfs
    0x794c_7630, // overlayfs
];

/// The most that is read of what was remembered, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// For how many workspaces it is kept.
const MAX_FILES: usize = 64;

const HEAD: &[u8] = b"shward listings 2\n";
const END: &[u8] = b"\nend\n";

/// What is remembered for one way of looking, and what comes to it.
#[derive(Debug, Default)]
pub(super) struct Listings {
    /// Nothing is remembered without.
    file: Option<PathBuf>,
    known: Known,
    /// What was remembered in the order in which it was met, and is not in `known` yet. Mostly it is met in that order
    /// again, and then no record is looked up.
    ordered: Vec<u8>,
    /// How much of that has been met again.
    at: usize,
    /// What was met in this walk and can be relied on.
    met: Vec<u8>,
    /// `met` is not what the file holds.
    changed: bool,
    local: HashMap<u64, bool>,
}

impl Listings {
    /// What is remembered in a state directory. `about` says everything that the meaning of a name depends on.
    pub(super) fn open(state: &StateDir, about: &str) -> Self {
        let name = shward_audit::Digest::of(about.as_bytes()).to_string();
        let directory = state.path().join("listings");
        let ready = state.create().is_ok() && is_ours(&directory);
        let Some(file) = ready.then(|| directory.join(name)) else { return Self::default() };
        let ordered = read(&file).and_then(|bytes| records(&bytes).map(<[u8]>::to_vec)).unwrap_or_default();
        Self { file: Some(file), ordered, ..Self::default() }
    }

    /// What a directory holds, `read` if it has to be. `read` says whether it came to the end.
    pub(super) fn of(
        &mut self,
        kind: usize,
        path: &Path,
        meta: &Metadata,
        limit: usize,
        read: impl FnOnce() -> (Listing, bool),
    ) -> Listing {
        let key = key(kind, path);
        let stamp = Stamp::of(meta);
        if let Some((_, listing)) = self.remembered(&key).filter(|(of, _)| *of == stamp)
            && listing.entries <= limit
        {
            write_one(&mut self.met, &key, stamp, &listing);
            return listing;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (listing, whole) = read();
        let settled = i64::try_from(now.saturating_sub(SETTLED).as_nanos()).unwrap_or(0);
        if whole && self.file.is_some() && stamp.changed < settled && self.is_local(path, stamp.device) {
            write_one(&mut self.met, &key, stamp, &listing);
            self.changed = true;
        }
        listing
    }

    fn remembered(&mut self, key: &[u8]) -> Option<(Stamp, Listing)> {
        let mut rest = self.ordered.get(self.at..).unwrap_or_default();
        if !rest.is_empty() {
            match record(&mut rest) {
                Some((next, found)) if next == key => {
                    self.at = self.ordered.len() - rest.len();
                    return Some(found);
                }
                _ => {
                    let rest = self.ordered.get(self.at..).unwrap_or_default();
                    self.known = parse(rest).unwrap_or_default();
                    self.ordered = Vec::new();
                }
            }
        }
        self.known.remove(key)
    }

    fn is_local(&mut self, path: &Path, device: u64) -> bool {
        #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
        let look = || statfs(path).is_ok_and(|found| LOCAL.contains(&i64::from(found.f_type)));
        *self.local.entry(device).or_insert_with(look)
    }

    /// Remembers what was met. Where that fails it is read again; that costs time and no safety.
    pub(super) fn keep(self) {
        let Some(file) = self.file.filter(|_| self.changed) else { return };
        let Some(directory) = file.parent() else { return };
        if !file.exists() {
            forget_oldest(directory);
        }
        let mut bytes = HEAD.to_vec();
        bytes.extend_from_slice(&self.met);
        bytes.extend_from_slice(END);
        let making = file.with_extension(format!("{}", std::process::id()));
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        let made = options.open(&making).and_then(|mut made| made.write_all(&bytes));
        if made.and_then(|()| fs::rename(&making, &file)).is_err() {
            let _ = fs::remove_file(&making);
        }
    }
}

/// Makes the directory if it is not there, and sees that nobody else can write in it.
fn is_ours(directory: &Path) -> bool {
    let look = || fs::symlink_metadata(directory).ok();
    let meta = look().or_else(|| DirBuilder::new().mode(0o700).create(directory).ok().and_then(|()| look()));
    meta.is_some_and(|meta| meta.is_dir() && is_mine(&meta))
}

fn is_mine(meta: &Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let file = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || !is_mine(&meta) || meta.len() > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).ok()?.checked_add(1)?);
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Makes room for one more.
fn forget_oldest(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> =
        entries.filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path()))).collect();
    files.sort();
    for (_, path) in files.iter().take((files.len() + 1).saturating_sub(MAX_FILES)) {
        let _ = fs::remove_file(path);
    }
}

/// The same directory means something else in another kind of place.
fn key(kind: usize, path: &Path) -> Box<[u8]> {
    let mut key = Vec::with_capacity(path.as_os_str().len() + size_of::<usize>());
    key.extend_from_slice(&kind.to_le_bytes());
    key.extend_from_slice(path.as_os_str().as_bytes());
    key.into()
}

/// A record: the key, the stamp, the number of entries, and the four lists of names, each with its length before it.
fn write_one(out: &mut Vec<u8>, key: &[u8], stamp: Stamp, listing: &Listing) {
    let text = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(bytes);
    };
    text(out, key);
    let Stamp { device, inode, modified, changed } = stamp;
    for number in [device, inode, modified.cast_unsigned(), changed.cast_unsigned()] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    let Listing { entries, hidden, protected, repositories, below } = listing;
    out.extend_from_slice(&u32::try_from(*entries).unwrap_or(u32::MAX).to_le_bytes());
    for names in [hidden, protected, repositories, below] {
        out.extend_from_slice(&u32::try_from(names.len()).unwrap_or(u32::MAX).to_le_bytes());
        names.iter().for_each(|name| text(out, name));
    }
}

/// What stands between head and end, if both are there.
fn records(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(HEAD)?.strip_suffix(END)
}

/// All records, or nothing if any of them is not as it was written.
fn parse(mut rest: &[u8]) -> Option<Known> {
    let mut known = Known::new();
    while !rest.is_empty() {
        let (key, found) = record(&mut rest)?;
        known.insert(key.into(), found);
    }
    Some(known)
}

fn record<'b>(rest: &mut &'b [u8]) -> Option<(&'b [u8], (Stamp, Listing))> {
    let key = text(rest)?;
    let numbers = take(rest, Stamp::BYTES)?;
    let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let stamp = Stamp {
        device: numbers.next()?,
        inode: numbers.next()?,
        modified: numbers.next()?.cast_signed(),
        changed: numbers.next()?.cast_signed(),
    };
    let entries = number(rest)?;
    let mut names = || {
        let count = number(rest)?;
        (0..count).map(|_| Some(text(rest)?.into())).collect::<Option<Names>>()
    };
    let (hidden, protected, repositories, below) = (names()?, names()?, names()?, names()?);
    Some((key, (stamp, Listing { entries, hidden, protected, repositories, below })))
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*taken)).ok()
}

fn text<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let count = number(rest)?;
    take(rest, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(names: &[&str]) -> Listing {
        let names: Names = names.iter().map(|name| name.as_bytes().into()).collect();
        Listing { entries: names.len(), hidden: names, ..Listing::default() }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let stamp = Stamp { device: 1, inode: u64::MAX, modified: -5, changed: i64::MAX };
        let mut bytes = HEAD.to_vec();
        write_one(&mut bytes, b"\x01/a", stamp, &listing(&["x", "", "\u{fc}"]));
        write_one(&mut bytes, b"\x01/b", stamp, &Listing::default());
        bytes.extend_from_slice(END);
        let parse = |bytes: &[u8]| records(bytes).and_then(parse);
        let known = parse(&bytes).unwrap();
        assert_eq!(known.get(&b"\x01/a"[..]), Some(&(stamp, listing(&["x", "", "\u{fc}"]))));
        assert_eq!(known.len(), 2);
        for cut in 0..bytes.len() {
            let mut less = bytes[..cut].to_vec();
            assert_eq!(parse(&less), None, "{cut}");
            less.extend_from_slice(END);
            // Whole records are as good as all of them: what is not remembered is read.
            assert!(parse(&less).is_none_or(|k| k.iter().all(|(k, v)| known.get(k) == Some(v))), "{cut}");
        }
        assert_eq!(parse(&vec![0; bytes.len()]), None);
    }

    /// Reads a directory through the memory and says whether it was really read.
    fn look(state: &Path, directory: &Path) -> (Listing, bool) {
        let mut listings = Listings::open(&StateDir::new(state), "test");
        let mut was_read = false;
        let meta = fs::metadata(directory).unwrap();
        let found = listings.of(0, directory, &meta, 100, || {
            was_read = true;
            let names: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name()).collect();
            (listing(&names.iter().map(|n| n.to_str().unwrap()).collect::<Vec<_>>()), true)
        });
        listings.keep();
        (found, was_read)
    }

    #[test]
    fn only_what_has_not_changed_is_remembered() {
        let place = tempfile::tempdir().unwrap();
        let (state, directory) = (place.path().join("state"), place.path().join("d"));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join(".env"), "").unwrap();
        assert!(look(&state, &directory).1);
        assert!(look(&state, &directory).1, "it changed a moment ago");
        std::thread::sleep(SETTLED + Duration::from_millis(50));
        assert!(look(&state, &directory).1, "now it is settled, and is remembered");
        assert_eq!(look(&state, &directory), (listing(&[".env"]), false));
        // Whatever is done to the names shows, also when the directory's own time is set back.
        let before = fs::metadata(&directory).unwrap().modified().unwrap();
        fs::rename(directory.join(".env"), directory.join("id_rsa")).unwrap();
        File::open(&directory).unwrap().set_modified(before).unwrap();
        assert_eq!(look(&state, &directory), (listing(&["id_rsa"]), true));
        // Another directory in its place is another directory.
        std::thread::sleep(SETTLED + Duration::from_millis(50));
        assert!(look(&state, &directory).1 && !look(&state, &directory).1);
        fs::rename(&directory, place.path().join("e")).unwrap();
        fs::create_dir(&directory).unwrap();
        assert_eq!(look(&state, &directory), (listing(&[]), true));
    }

    #[test]
    fn what_others_could_have_written_is_not_believed() {
        let place = tempfile::tempdir().unwrap();
        let state = StateDir::new(place.path().join("state"));
        assert!(Listings::open(&state, "x").file.is_some());
        let listings = place.path().join("state/listings");
        fs::set_permissions(&listings, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(Listings::open(&state, "x").file.is_none());
        fs::remove_dir(&listings).unwrap();
        std::os::unix::fs::symlink("/tmp", &listings).unwrap();
        assert!(Listings::open(&state, "x").file.is_none());
    }

    #[test]
    fn it_is_kept_for_a_bounded_number_of_workspaces() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..MAX_FILES + 5 {
            forget_oldest(place.path());
            fs::write(place.path().join(format!("{number}")), "").unwrap();
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), MAX_FILES);
    }
}
