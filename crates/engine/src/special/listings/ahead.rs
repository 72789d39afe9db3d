//! The state of remembered directories, asked for on another processor meanwhile.
//!
//! A start asks for the state of hundreds of directories, and each question takes the kernel a microsecond. They are known before:
//! so a second thread begins with the last one, and where the two meet all have been asked for.

use super::record::Record;
use super::{Stamp, split};
use rustix::fs::{AtFlags, CWD, FileType, statat};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Builder;

/// From how many bytes of records on a thread is worth what it costs (350 directories, asked for in 0.4 ms; a thread takes 0.1 of
/// that, and where there are two processors it waits behind the one who makes the namespaces); in tests always.
const MANY: usize = if cfg!(test) { 1 } else { 32 << 10 };

/// The least that a record takes.
const LEAST: usize = 64;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::special) struct Seen {
    pub(in crate::special) is_directory: bool,
    /// It is ours, and we have closed it to ourselves (root looks into it all the same).
    pub(in crate::special) is_closed: bool,
    pub(in crate::special) stamp: Stamp,
}

impl Seen {
    /// Asks. fstatat(2), because statx(2), which std asks with, takes a tenth longer.
    pub(in crate::special) fn at(path: &Path, follow: bool) -> Option<Self> {
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let stat = statat(CWD, path, flags).ok()?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let user = || rustix::process::geteuid().as_raw();
        let is_closed = is_directory && is_closed(stat.st_mode, stat.st_uid, user);
        Some(Self { is_directory, is_closed, stamp: Stamp::of(&stat) })
    }
}

/// Whether a user's own directory is closed to them. Nothing is to root. Who the user is is asked where it makes a difference: that is a
/// system call.
fn is_closed(mode: u32, owner: u32, user: impl Fn() -> u32) -> bool {
    mode & 0o500 != 0o500 && owner != 0 && owner == user()
}

/// The second thread. Dropping it ends it, and nobody waits for that.
#[derive(Debug)]
pub(super) struct Ahead {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// By the number of the record.
    seen: Vec<OnceLock<Seen>>,
    /// How many records the first thread has come to.
    reached: AtomicUsize,
}

impl Ahead {
    /// Begins to ask for what the records from a place on are about. Links are followed in the first kinds of places. `None` where that
    /// is not worth it, or where there can be no thread: then nothing is lost but time.
    pub(super) fn start(records: &Arc<Vec<u8>>, from: usize, followed: usize) -> Option<Self> {
        let length = records.len().saturating_sub(from);
        if length < MANY {
            return None;
        }
        let count = length / LEAST;
        let seen = std::iter::repeat_with(OnceLock::new).take(count).collect();
        let shared = Arc::new(Shared { seen, reached: AtomicUsize::new(0) });
        let (theirs, records) = (shared.clone(), records.clone());
        // Memory that the thread asked for would be from a heap of its own, which takes time to make.
        let places = Vec::with_capacity(count);
        let work = move || theirs.ask(records.get(from..).unwrap_or_default(), followed, places);
        shward_sandbox::complete_start();
        let thread = Builder::new().name("shward looks".to_owned()).stack_size(64 << 10).spawn(work).ok()?;
        shward_sandbox::spread(&thread);
        Some(Self { shared })
    }

    /// What is at the path of a record, if that is known already.
    pub(super) fn seen(&self, number: usize) -> Option<Seen> {
        self.shared.reached.store(number.saturating_add(1), Ordering::Relaxed);
        self.shared.seen.get(number)?.get().copied()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.shared.reached.store(usize::MAX, Ordering::Relaxed);
    }
}

impl Shared {
    fn ask(&self, records: &[u8], followed: usize, mut places: Vec<usize>) {
        let mut rest = records;
        while places.len() < self.seen.len() {
            let place = records.len() - rest.len();
            if Record::read(&mut rest).is_none() {
                break;
            }
            places.push(place);
        }
        for (number, (place, slot)) in places.iter().zip(&self.seen).enumerate().rev() {
            if number < self.reached.load(Ordering::Relaxed) {
                return;
            }
            let key = records.get(*place..).and_then(Record::key);
            let Some((kind, path)) = key.and_then(split) else { continue };
            if let Some(seen) = Seen::at(Path::new(path), kind < followed) {
                let _ = slot.set(seen);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Listing, key};
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;
    use std::time::{Duration, Instant};

    #[test]
    fn who_is_kept_out() {
        for (mode, owner, user, expected) in [
            (0o40_755, 7, 7, false),
            (0o40_500, 7, 7, false),
            (0o40_000, 7, 7, true),
            (0o40_300, 7, 7, true),
            (0o40_477, 7, 7, true),
            (0o40_000, 8, 7, false),
            (0o40_000, 0, 0, false),
        ] {
            assert_eq!(is_closed(mode, owner, || user), expected, "{mode:o} {owner} {user}");
        }
    }

    #[test]
    fn what_is_asked_ahead_is_what_is_there() {
        let place = tempfile::tempdir().unwrap();
        let (real, link) = (place.path().join("real"), place.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        let missing = place.path().join("missing");
        let wanted = [(0, &real), (0, &link), (1, &link), (1, &missing), (1, &real)];
        let mut records = b"head".to_vec();
        for (kind, path) in wanted {
            let stamp = Seen::at(place.path(), true).unwrap().stamp;
            Record::write(&mut records, &key(kind, path), stamp, &Listing::default());
        }
        let ahead = Ahead::start(&Arc::new(records), 4, 1).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while ahead.shared.seen.first().unwrap().get().is_none() && Instant::now() < end {
            std::thread::yield_now();
        }
        let [directory, itself] = [Seen::at(&real, true), Seen::at(&link, false)].map(Option::unwrap);
        let meta = fs::metadata(&link).unwrap();
        assert_eq!((directory.stamp.inode, directory.stamp.device), (meta.ino(), meta.dev()));
        assert!(directory.is_directory && !itself.is_directory);
        let expected = [Some(directory), Some(directory), Some(itself), None, Some(directory), None];
        for (number, expected) in expected.into_iter().enumerate() {
            assert_eq!(ahead.seen(number), expected, "{number}");
        }
    }
}
