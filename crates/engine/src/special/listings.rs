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

mod ahead;
mod record;

use self::ahead::Ahead;
pub(super) use self::ahead::Seen;
pub(super) use self::record::Found;
use self::record::{Record, places};
use rustix::fs::{Stat, statfs};
use shward_review::StateDir;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{Read as _, Write as _};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Names in the order of the file system.
pub(super) type Names = Vec<Box<[u8]>>;

/// What one directory was found to hold, as far as it matters here ([`Found`]).
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

    #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
    fn of(stat: &Stat) -> Self {
        let time = |seconds: i64, nanos: Option<i64>| {
            seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos.unwrap_or_default())
        };
        Self {
            device: stat.st_dev.into(),
            inode: stat.st_ino.into(),
            modified: time(stat.st_mtime.into(), i64::try_from(stat.st_mtime_nsec).ok()),
            changed: time(stat.st_ctime.into(), i64::try_from(stat.st_ctime_nsec).ok()),
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
    /// What was remembered: records in the order in which directories were met. Mostly they are met in that order again, and then no
    /// record is looked up, and none is copied.
    bytes: Arc<Vec<u8>>,
    /// How much of that has been met again, in that order and with nothing between.
    at: usize,
    /// How many records that is.
    number: usize,
    /// Who asks for the states of the others meanwhile.
    ahead: Option<Ahead>,
    /// Where the others begin, by their keys, once the order was another.
    known: Option<HashMap<Box<[u8]>, usize>>,
    /// What was met in this walk and can be relied on, if it is not just what lies before `at`.
    met: Option<Vec<u8>>,
    /// What was met has something that is not in the file.
    changed: bool,
    /// A directory that was read.
    read: Vec<u8>,
    local: HashMap<u64, bool>,
}

impl Listings {
    /// What is remembered in a state directory. `about` says everything that the meaning of a name depends on.
    pub(super) fn open(state: &StateDir, about: &str) -> Self {
        let name = shward_audit::Digest::of(about.as_bytes()).to_string();
        let directory = state.path().join("listings");
        let ready = state.create().is_ok() && is_ours(&directory);
        let Some(file) = ready.then(|| directory.join(name)) else { return Self::default() };
        let mut bytes = read(&file).unwrap_or_default();
        let whole = bytes.starts_with(HEAD) && bytes.len() >= HEAD.len() + END.len() && bytes.ends_with(END);
        bytes.truncate(if whole { bytes.len() - END.len() } else { 0 });
        let at = HEAD.len().min(bytes.len());
        Self { file: Some(file), at, bytes: Arc::new(bytes), ..Self::default() }
    }

    /// Begins to ask for the states of what is remembered, before it is met. Links are followed in the first kinds of places.
    pub(super) fn ask_ahead(&mut self, followed: usize) {
        self.ahead = Ahead::start(&self.bytes, self.at, followed);
    }

    /// The state of a directory, if it is known already.
    pub(super) fn seen(&self, kind: usize, path: &Path) -> Option<Seen> {
        let ahead = self.ahead.as_ref().filter(|_| self.known.is_none())?;
        let key = Record::key(self.bytes.get(self.at..)?)?;
        if is_of(key, kind, path) { ahead.seen(self.number) } else { None }
    }

    /// What a directory holds, `read` if it has to be. `read` says whether it came to the end.
    pub(super) fn of(
        &mut self,
        kind: usize,
        path: &Path,
        stamp: Stamp,
        limit: usize,
        read: impl FnOnce() -> (Listing, bool),
    ) -> Found<'_> {
        if let Some(place) = self.remembered(kind, path, stamp, limit) {
            self.meet(&place);
            return found(self.bytes.get(place));
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (listing, whole) = read();
        let settled = i64::try_from(now.saturating_sub(SETTLED).as_nanos()).unwrap_or(0);
        self.read.clear();
        Record::write(&mut self.read, &key(kind, path), stamp, &listing);
        if whole && self.file.is_some() && stamp.changed < settled && self.is_local(path, stamp.device) {
            let read = std::mem::take(&mut self.read);
            self.met().extend_from_slice(&read);
            self.read = read;
            self.changed = true;
        }
        found(Some(&self.read))
    }

    /// Where the record of a directory lies that is in this state.
    fn remembered(&mut self, kind: usize, path: &Path, stamp: Stamp, limit: usize) -> Option<Range<usize>> {
        let is_it = |record: &Record<'_>| is_of(record.key, kind, path);
        let still = |record: &Record<'_>| record.stamp == stamp && record.found.entries <= limit;
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        if self.known.is_none() && !rest.is_empty() {
            if let Some(record) = Record::read(&mut rest).filter(is_it) {
                let place = self.at..self.bytes.len() - rest.len();
                if !still(&record) {
                    // It is passed over, so what is met from here on is not what lies before.
                    self.met();
                    self.at = place.end;
                    self.number += 1;
                    return None;
                }
                return Some(place);
            }
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let places = places(rest).unwrap_or_default();
            self.known = Some(places.into_iter().map(|(key, at)| (key.into(), self.at + at)).collect());
        }
        let begin = self.known.as_mut()?.remove(&*key(kind, path))?;
        let mut rest = self.bytes.get(begin..)?;
        let record = Record::read(&mut rest).filter(still);
        record.map(|_| begin..self.bytes.len() - rest.len())
    }

    /// A record counts.
    fn meet(&mut self, place: &Range<usize>) {
        if place.start == self.at && self.known.is_none() {
            if let Some(met) = &mut self.met {
                met.extend_from_slice(self.bytes.get(place.clone()).unwrap_or_default());
            }
            self.at = place.end;
            self.number += 1;
            return;
        }
        self.met();
        if let Some(met) = &mut self.met {
            met.extend_from_slice(self.bytes.get(place.clone()).unwrap_or_default());
        }
    }

    /// What was met and can be relied on, apart from what was remembered.
    fn met(&mut self) -> &mut Vec<u8> {
        let before = self.bytes.get(HEAD.len()..self.at).unwrap_or_default();
        self.met.get_or_insert_with(|| before.to_vec())
    }

    fn is_local(&mut self, path: &Path, device: u64) -> bool {
        #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
        let look = || statfs(path).is_ok_and(|found| LOCAL.contains(&i64::from(found.f_type)));
        *self.local.entry(device).or_insert_with(look)
    }

    /// Remembers what was met. Where that fails it is read again; that costs time and no safety.
    pub(super) fn keep(mut self) {
        let Some(file) = self.file.take().filter(|_| self.changed) else { return };
        let Some(directory) = file.parent() else { return };
        if !file.exists() {
            forget_oldest(directory);
        }
        let mut bytes = HEAD.to_vec();
        bytes.extend_from_slice(self.met());
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
    let mut bytes = vec![0; usize::try_from(meta.len()).ok()?];
    (&file).read_exact(&mut bytes).ok()?;
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

/// The parts of a key.
fn split(key: &[u8]) -> Option<(usize, &OsStr)> {
    let (kind, path) = key.split_first_chunk()?;
    Some((usize::from_le_bytes(*kind), OsStr::from_bytes(path)))
}

/// Whether a key is that of this directory in this kind of place.
fn is_of(key: &[u8], kind: usize, path: &Path) -> bool {
    split(key) == Some((kind, path.as_os_str()))
}

/// What a record says that was read before.
fn found(record: Option<&[u8]>) -> Found<'_> {
    record.and_then(|mut bytes| Record::read(&mut bytes)).map_or_else(Found::default, |record| record.found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(names: &[&str]) -> Listing {
        let names: Names = names.iter().map(|name| name.as_bytes().into()).collect();
        Listing { entries: names.len(), hidden: names, ..Listing::default() }
    }

    fn owned(found: Found<'_>) -> Listing {
        let names = |names: record::Names<'_>| names.map(Box::from).collect();
        let Found { entries, hidden, protected, repositories, below } = found;
        let (hidden, protected) = (names(hidden), names(protected));
        Listing { entries, hidden, protected, repositories: names(repositories), below: names(below) }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let stamp = Stamp { device: 1, inode: u64::MAX, modified: -5, changed: i64::MAX };
        let all = Listing { below: listing(&["b"]).hidden, ..listing(&["x", "", "\u{fc}"]) };
        let mut bytes = Vec::new();
        Record::write(&mut bytes, b"\x01/a", stamp, &all);
        let first = bytes.len();
        Record::write(&mut bytes, b"\x01/b", stamp, &Listing::default());
        let known = places(&bytes).unwrap();
        assert_eq!((known.len(), known[&b"\x01/a"[..]], known[&b"\x01/b"[..]]), (2, 0, first));
        let record = Record::read(&mut &bytes[..]).unwrap();
        assert_eq!((record.stamp, owned(record.found)), (stamp, all));
        for cut in 0..bytes.len() {
            // Whole records are as good as all of them: what is not remembered is read.
            let expected = match cut {
                0 => Some(0),
                cut if cut == first => Some(1),
                _ => None,
            };
            assert_eq!(places(&bytes[..cut]).map(|places| places.len()), expected, "{cut}");
        }
        assert!(places(&vec![0xff; bytes.len()]).is_none());
    }

    /// Whatever comes, goes and changes in whatever order: the memory says what the file system does, and reads no directory again that
    /// it has just remembered.
    #[test]
    fn the_order_does_not_matter() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().join("state");
        let names = ["a", "b", "c", "d"].map(|name| place.path().join(name));
        let make = |name: &Path| fs::create_dir(name).unwrap();
        names.iter().for_each(|name| make(name));
        let settle = || std::thread::sleep(SETTLED + Duration::from_millis(50));
        // Which are looked at, and which of them are read.
        let looks = |order: &[usize]| -> Vec<usize> {
            let mut listings = Listings::open(&StateDir::new(&state), "order");
            let mut read = Vec::new();
            for number in order {
                let path = &names[*number];
                let one = listing(&[path.to_str().unwrap()]);
                let found = listings.of(0, path, Seen::at(path, true).unwrap().stamp, 100, || {
                    read.push(*number);
                    (one.clone(), true)
                });
                assert_eq!(owned(found), one);
            }
            listings.keep();
            read
        };
        settle();
        assert_eq!(looks(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(looks(&[0, 1, 2]), [0usize; 0]);
        assert_eq!(looks(&[0, 3, 1, 2]), [3], "one more");
        assert_eq!(looks(&[0, 3, 1, 2]), [0usize; 0]);
        assert_eq!(looks(&[2, 0, 1, 3]), [0usize; 0], "another order");
        fs::write(names[3].join("x"), "").unwrap();
        assert_eq!(looks(&[0, 3, 1, 2]), [3], "changed, and not settled");
        assert_eq!(looks(&[0, 3, 1, 2]), [3]);
        settle();
        assert_eq!(looks(&[0, 3, 1, 2]), [3]);
        assert_eq!(looks(&[3, 1, 2]), [0usize; 0], "one less");
        fs::write(names[1].join("x"), "").unwrap();
        settle();
        assert_eq!(looks(&[2, 1, 3]), [1], "passed over, changed, and met in another order");
        assert_eq!(looks(&[2, 1, 3]), [0usize; 0]);
        assert_eq!(looks(&[0, 1, 2, 3]), [0], "it was not met when the others were written");
    }

    /// Reads a directory through the memory and says whether it was really read.
    fn look(state: &Path, directory: &Path) -> (Listing, bool) {
        let mut listings = Listings::open(&StateDir::new(state), "test");
        let mut was_read = false;
        let found = listings.of(0, directory, Seen::at(directory, true).unwrap().stamp, 100, || {
            was_read = true;
            let names: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name()).collect();
            (listing(&names.iter().map(|n| n.to_str().unwrap()).collect::<Vec<_>>()), true)
        });
        let found = owned(found);
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
