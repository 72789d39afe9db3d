//! What a run may take of the disks that it writes to.
//!
//! How much is left is one statfs(2), so it is asked for ten times a second and more often the less there is. What one run has written
//! is not told by the kernel: the room that has gone since it began may be somebody else's doing. So that only says when the layer has to
//! be looked at, file by file, a little at a time: whoever does it has a deadline to keep.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, StatVfs};
use rustix::io::Errno;

/// What a run has to leave of the file systems that it writes to, and how much it may write.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Space {
    /// Directories, one on each file system, and what has to be left there.
    pub reserves: Vec<(PathBuf, Reserve)>,
    /// A directory that only this run writes to, and how many bytes it may hold. Counted is what has a name there, by the room that it
    /// takes, holes left out.
    pub most: Option<(PathBuf, u64)>,
}

/// How many bytes have to be left of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Reserve {
    /// So many. `None`: [`USUAL`](Self::USUAL), or a twentieth of the file system where that is less.
    pub bytes: Option<u64>,
    /// So many in any case.
    pub at_least: u64,
}

impl Reserve {
    /// What is left if nobody says otherwise.
    pub const USUAL: u64 = 512 << 20;

    fn of(self, size: u64) -> u64 {
        self.bytes.unwrap_or(Self::USUAL.min(size / 20)).max(self.at_least)
    }
}

impl Space {
    /// Nothing has to be left.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many files and bytes a run can write before it would be ended.
    #[must_use]
    pub fn spare(&self) -> (u64, u64) {
        let places = self.reserves.iter().filter_map(|(path, reserve)| Place::new(path, *reserve));
        let left = places.map(|place| {
            let ((bytes, files), floor) = (place.begun, place.floor);
            (files.saturating_sub(floor.1), bytes.saturating_sub(floor.0))
        });
        let most = self.most.iter().map(|(_, bytes)| (u64::MAX, *bytes));
        left.chain(most).fold((u64::MAX, u64::MAX), |least, next| (least.0.min(next.0), least.1.min(next.1)))
    }

    /// The first of the directories where so little is free that a run would be ended at once, and how many bytes are.
    #[must_use]
    pub fn is_used_up(&self) -> Option<(&Path, u64)> {
        let mut tried =
            self.reserves.iter().filter_map(|(path, reserve)| Some((path, Place::new(path, *reserve)?)));
        tried
            .find(|(_, place)| place.is_used_up(place.begun))
            .map(|(path, place)| (path.as_path(), place.begun.0))
    }
}

/// What of it was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Used {
    /// Less was left than has to be.
    Reserve,
    /// The run had written more than it may.
    Most,
}

/// Between two looks.
const OFTEN: Duration = Duration::from_millis(2);
const SELDOM: Duration = Duration::from_millis(100);
/// What no disk takes more of in a millisecond.
const BYTES: u64 = 8 << 20;
const FILES: u64 = 1000;

/// How long a layer is looked at in one go, and left alone then.
const PIECE: Duration = Duration::from_millis(4);
const PAUSE: Duration = Duration::from_millis(40);
/// A layer is looked at so often although nothing seems to have been written: somebody else may have made room meanwhile.
const ANYWAY: Duration = Duration::from_secs(10);

/// How many looks in a row have to find too much: what is renamed while it is looked at may be seen twice. More of them where so much room
/// has not even gone, unless somebody else made some.
const SURE: u32 = 2;
const UNLIKELY: u32 = 4;

/// How deep directories are looked at: each takes a descriptor.
const DEPTH: usize = 200;

/// One file system.
#[derive(Debug)]
struct Place {
    directory: OwnedFd,
    /// Bytes and files that were free when the run began.
    begun: (u64, u64),
    /// Bytes and files that have to be left.
    floor: (u64, u64),
}

impl Place {
    fn new(path: &Path, reserve: Reserve) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        let room = rustix::fs::fstatvfs(&directory).ok()?;
        let begun = free(&room);
        let size = room.f_blocks.saturating_mul(room.f_frsize);
        let bytes = reserve.of(size);
        // A log is one file. Some file systems have no number of files.
        let files = if bytes == 0 { 0 } else { (room.f_files / 100).min(1000) };
        Some(Self { directory, begun, floor: (floor(bytes, begun.0), floor(files, begun.1)) })
    }

    fn is_used_up(&self, (bytes, files): (u64, u64)) -> bool {
        bytes < self.floor.0 || files < self.floor.1
    }

    /// Bytes and files that are free, if it is known.
    fn free(&self) -> Option<(u64, u64)> {
        rustix::fs::fstatvfs(&self.directory).ok().map(|room| free(&room))
    }
}

/// What has to be left where so much is free: where it is less than the reserve, half of that, so that what a run has to write at all can
/// be written, and one after the other does not take everything.
fn floor(reserve: u64, free: u64) -> u64 {
    reserve.min((free / 2).max(reserve / 8))
}

fn free(room: &StatVfs) -> (u64, u64) {
    let files = if room.f_files == 0 { u64::MAX } else { room.f_favail };
    let blocks = if room.f_bfree > room.f_bavail && is_first_root() { room.f_bfree } else { room.f_bavail };
    (blocks.saturating_mul(room.f_frsize), files)
}

/// Whether we are the user for whom file systems keep some blocks, which is root and no other that is called so in a user namespace.
/// Only the first one, or one that is like it, has all numbers and each as itself (user_namespaces(7)).
fn is_first_root() -> bool {
    static FIRST: OnceLock<bool> = OnceLock::new();
    rustix::process::geteuid().is_root()
        && *FIRST.get_or_init(|| {
            let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
            map.split_whitespace().eq(["0", "0", "4294967295"])
        })
}

/// Looks whether a run has used up its room.
#[derive(Debug)]
pub(crate) struct Meter {
    places: Vec<Place>,
    most: Option<Layer>,
}

/// The directory whose content is bounded.
#[derive(Debug)]
struct Layer {
    path: PathBuf,
    place: Option<Place>,
    most: u64,
    /// What was found there when it was last looked at, and how much was free.
    known: (u64, u64),
    looked: Instant,
    walk: Option<Walk>,
    /// How many walks in a row found too much.
    over: u32,
}

impl Meter {
    /// `None` where nothing is bounded.
    pub(crate) fn new(space: &Space) -> Option<Self> {
        let places = space.reserves.iter().filter_map(|(path, reserve)| Place::new(path, *reserve));
        let places: Vec<_> = places.filter(|place| place.floor.0 > 0).collect();
        let most = space.most.as_ref().map(|(path, most)| {
            let place = Place::new(path, Reserve::default());
            let known = (0, place.as_ref().map_or(0, |place| place.begun.0));
            Layer {
                path: path.clone(),
                place,
                most: *most,
                known,
                looked: Instant::now(),
                walk: None,
                over: 0,
            }
        });
        (!places.is_empty() || most.is_some()).then_some(Self { places, most })
    }

    /// For how long nobody has to look at the beginning: what can be written in that time is little beside what is left.
    pub(crate) fn unwatched(&mut self) -> Duration {
        const LONGEST: Duration = Duration::from_millis(30);
        self.look().map_or(Duration::ZERO, |next| next.min(LONGEST))
    }

    /// What is used up, or when to look again.
    pub(crate) fn look(&mut self) -> Result<Duration, Used> {
        let mut wait = SELDOM;
        for place in &self.places {
            let Some((bytes, files)) = place.free() else { continue };
            if place.is_used_up((bytes, files)) {
                return Err(Used::Reserve);
            }
            wait = wait.min(soon(bytes - place.floor.0, BYTES)).min(soon(files - place.floor.1, FILES));
        }
        match &mut self.most {
            Some(layer) => layer.look().map(|next| next.min(wait)),
            None => Ok(wait),
        }
    }
}

/// When so much can have been used up.
fn soon(left: u64, in_a_millisecond: u64) -> Duration {
    Duration::from_millis(left / in_a_millisecond).clamp(OFTEN, SELDOM)
}

impl Layer {
    fn look(&mut self) -> Result<Duration, Used> {
        if let Some(walk) = &mut self.walk {
            let done = walk.go_on(PIECE);
            let (bytes, blind) = (walk.bytes, walk.blind);
            let gone = self.gone();
            // The run could have written all that has gone into what cannot be looked at.
            let found = if blind { bytes.max(gone) } else { bytes };
            if found > self.most {
                self.over += 1;
                if self.over >= if gone > self.most { SURE } else { UNLIKELY } {
                    return Err(Used::Most);
                }
                self.walk = Some(self.begin());
                return Ok(OFTEN);
            }
            if !done {
                return Ok(PAUSE);
            }
            self.known.0 = found;
            self.over = 0;
            self.walk = None;
        }
        let free = self.free();
        let written = self.known.0.saturating_add(self.known.1.saturating_sub(free));
        if written > self.most || self.looked.elapsed() >= ANYWAY {
            self.walk = Some(self.begin());
            return Ok(Duration::ZERO);
        }
        Ok(soon(self.most - written, BYTES))
    }

    fn begin(&mut self) -> Walk {
        // What is written meanwhile may be counted twice, and then it is looked at again.
        self.known.1 = self.free();
        self.looked = Instant::now();
        Walk::new(&self.path)
    }

    /// Bytes that are free, none if that is not known.
    fn free(&self) -> u64 {
        self.place.as_ref().and_then(Place::free).map_or(0, |(bytes, _)| bytes)
    }

    /// How much less is free than when the run began: no less than it has written, unless somebody else made room.
    fn gone(&self) -> u64 {
        self.place.as_ref().map_or(0, |place| place.begun.0).saturating_sub(self.free())
    }
}

/// Adds up what is in a directory, while others work there: no link is followed.
#[derive(Debug)]
struct Walk {
    open: Vec<Dir>,
    bytes: u64,
    /// There is something that it could not look at.
    blind: bool,
}

impl Walk {
    fn new(path: &Path) -> Self {
        let (open, blind) = match open(CWD, path) {
            Ok(directory) => (vec![directory], false),
            Err(_) => (Vec::new(), true),
        };
        Self { open, bytes: 0, blind }
    }

    /// Whether it is done.
    fn go_on(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        for number in 0_u32.. {
            let Some(directory) = self.open.last_mut() else { return true };
            let entry = directory.read();
            let found = entry.map(|entry| entry.and_then(|entry| seen(directory, entry.file_name())));
            match found {
                None => drop(self.open.pop()),
                // It is gone again.
                Some(Err(Errno::NOENT)) => {}
                Some(Err(_)) => self.blind = true,
                Some(Ok((bytes, below))) => {
                    self.bytes = self.bytes.saturating_add(bytes);
                    match below {
                        Below::Nothing | Below::Directory(Err(Errno::NOENT)) => {}
                        Below::Directory(Ok(directory)) if self.open.len() < DEPTH => {
                            self.open.push(directory);
                        }
                        Below::Directory(_) => self.blind = true,
                    }
                }
            }
            if number % 64 == 63 && Instant::now() >= until {
                break;
            }
        }
        false
    }
}

/// What lies in an entry.
enum Below {
    Nothing,
    Directory(rustix::io::Result<Dir>),
}

/// The room that an entry takes, and the directory, if it is one.
fn seen(directory: &Dir, name: &CStr) -> rustix::io::Result<(u64, Below)> {
    if matches!(name.to_bytes(), b"." | b"..") {
        return Ok((0, Below::Nothing));
    }
    let found = rustix::fs::statat(directory.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let bytes = u64::try_from(found.st_blocks).unwrap_or(0).saturating_mul(512);
    if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
        return Ok((bytes, Below::Directory(open(directory.fd()?, name))));
    }
    // All names of a file are in here: no link leads over a mount.
    #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
    let names = u64::from(found.st_nlink).max(1);
    Ok((bytes / names, Below::Nothing))
}

fn open(parent: impl AsFd, name: impl rustix::path::Arg) -> rustix::io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Dir::new(rustix::fs::openat(parent, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_has_to_be_left_depends_on_what_is_free() {
        for (reserve, free, expected) in [
            (800, 10_000, 800),
            (800, 1600, 800),
            (800, 1000, 500),
            (800, 300, 150),
            (800, 100, 100),
            (800, 0, 100),
            (0, 0, 0),
        ] {
            assert_eq!(floor(reserve, free), expected, "{reserve} {free}");
        }
    }

    #[test]
    fn more_can_be_wanted_and_less_only_by_who_may_say_so() {
        let reserve = |bytes, at_least| Reserve { bytes, at_least }.of(1 << 30);
        assert_eq!(reserve(None, 0), (1 << 30) / 20);
        assert_eq!(reserve(None, 1), (1 << 30) / 20);
        assert_eq!(reserve(None, 1 << 30), 1 << 30);
        assert_eq!((reserve(Some(0), 0), reserve(Some(7), 5), reserve(Some(5), 7)), (0, 7, 7));
        assert_eq!(Reserve::default().of(u64::MAX), Reserve::USUAL);
    }

    #[test]
    fn what_a_run_can_write_is_the_least_of_all_bounds() {
        let place = tempfile::tempdir().unwrap();
        let mut space = Space::new();
        assert_eq!(space.spare(), (u64::MAX, u64::MAX));
        space.reserves.push((place.path().to_owned(), Reserve::default()));
        let free = rustix::fs::statvfs(place.path()).unwrap();
        assert!(space.spare().1 <= free.f_bfree * free.f_frsize);
        space.most = Some((place.path().to_owned(), 7));
        assert_eq!(space.spare().1, 7);
        space.reserves[0].1.bytes = Some(u64::MAX);
        assert_eq!(space.spare().1, 0);
    }

    #[test]
    fn what_lies_in_a_directory_is_added_up() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), vec![1; 3 << 20]).unwrap();
        fs::hard_link(at("a/b/file"), at("other")).unwrap();
        fs::File::create(at("holes")).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::fs::symlink("/usr", at("link")).unwrap();
        let mut walk = Walk::new(place.path());
        while !walk.go_on(Duration::ZERO) {}
        assert!((3 << 20..4 << 20).contains(&walk.bytes), "{}", walk.bytes);
    }

    #[test]
    fn a_layer_is_bounded_by_what_is_in_it() {
        let place = tempfile::tempdir().unwrap();
        let mut space = Space::new();
        space.most = Some((place.path().to_owned(), 2 << 20));
        let mut meter = Meter::new(&space).unwrap();
        let looks = |meter: &mut Meter| (0..50).find_map(|_| meter.look().err());
        assert_eq!(looks(&mut meter), None);
        fs::write(place.path().join("file"), vec![1; 3 << 20]).unwrap();
        // The kernel may put off taking the room.
        fs::File::open(place.path().join("file")).unwrap().sync_all().unwrap();
        // Who makes room elsewhere meanwhile makes it look free; after a while it is looked at anyway.
        let end = Instant::now() + 2 * ANYWAY;
        let found = loop {
            match looks(&mut meter) {
                None if Instant::now() < end => std::thread::sleep(ANYWAY / 100),
                found => break found,
            }
        };
        assert_eq!(found, Some(Used::Most));
        fs::remove_file(place.path().join("file")).unwrap();
        let mut meter = Meter::new(&space).unwrap();
        assert_eq!(looks(&mut meter), None);
        assert!(Meter::new(&Space::new()).is_none());
    }

    /// A layer with a limit of 2 MiB that is looked at now, and so much room gone.
    fn layer(path: &Path, gone: u64) -> Layer {
        let mut space = Space::new();
        space.most = Some((path.to_owned(), 2 << 20));
        let mut layer = Meter::new(&space).unwrap().most.unwrap();
        let place = layer.place.as_mut().unwrap();
        place.begun.0 = place.free().unwrap().0.saturating_add(gone);
        layer.known.1 = place.begun.0;
        layer.walk = Some(layer.begin());
        layer
    }

    #[test]
    fn what_is_seen_twice_while_it_is_renamed_is_not_believed_at_once() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        // Somebody else may make room or take some meanwhile.
        for (gone, looks) in [(1 << 40, 2..=2), (0, 2..=4)] {
            fs::write(&file, vec![1; 3 << 20]).unwrap();
            fs::File::open(&file).unwrap().sync_all().unwrap();
            let mut found = layer(place.path(), gone);
            let ended = (1..10).find(|_| found.look().is_err());
            assert!(ended.is_some_and(|ended| looks.contains(&ended)), "{gone} {ended:?}");
            // Seen at the first look, and then it is less.
            let mut found = layer(place.path(), gone);
            assert!(found.look().is_ok());
            assert_eq!(found.over, 1);
            fs::remove_file(&file).unwrap();
            assert_eq!((0..10).find_map(|_| found.look().err()), None);
            assert_eq!(found.over, 0);
        }
    }

    #[test]
    fn where_nobody_can_look_all_the_room_that_has_gone_counts() {
        use std::os::unix::fs::PermissionsExt as _;
        let verdict = |path: &Path, gone| {
            let mut layer = layer(path, gone);
            (0..10).find_map(|_| layer.look().err())
        };
        let place = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", DEPTH - 1).collect();
        fs::create_dir_all(place.path().join(&deep)).unwrap();
        assert_eq!(verdict(place.path(), 1 << 40), None);
        fs::create_dir_all(place.path().join(deep).join("d")).unwrap();
        assert_eq!(verdict(place.path(), 1 << 40), Some(Used::Most));
        assert_eq!(verdict(&place.path().join("d"), 1 << 40), None);
        as_an_ordinary_user(|| {
            let place = tempfile::tempdir().unwrap();
            let closed = place.path().join("closed");
            fs::create_dir(&closed).unwrap();
            fs::write(closed.join("file"), "some").unwrap();
            // Names can be read of the second, and nothing else.
            for mode in [0, 0o400] {
                fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
                let denied = fs::metadata(closed.join("file")).map_err(|error| error.kind());
                assert_eq!(denied.err(), Some(std::io::ErrorKind::PermissionDenied), "{mode:o}");
                assert_eq!(verdict(place.path(), 1 << 40), Some(Used::Most), "{mode:o}");
                assert_eq!(verdict(place.path(), 0), None, "{mode:o}");
            }
            fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
            assert_eq!(verdict(place.path(), 1 << 40), None);
        });
    }

    /// Does it on a thread that has no more power over files than an ordinary user (setfsuid(2), capabilities(7)), whoever we are.
    fn as_an_ordinary_user(work: impl FnOnce() + Send) {
        const NOBODY: libc::uid_t = 65_534;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: no memory is involved, and only this thread is another user for files.
                unsafe {
                    if libc::geteuid() == 0 {
                        libc::setfsgid(NOBODY);
                        libc::setfsuid(NOBODY);
                    }
                }
                work();
            });
        });
    }
}
