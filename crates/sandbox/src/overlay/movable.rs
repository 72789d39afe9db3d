//! Directories of the workspace that a command is to rename.
//!
//! overlayfs renames a directory only where all of it lies in the layer; for others it would have to note where the rest is found
//! (`redirect_dir`), and a mount with attributes that an ordinary user may set, which ours is, has no such notes. So what is to be
//! renamed is copied into the layer before it is mounted, and marked as what hides the directory below. What a command has not changed
//! of it is [taken out again](super::given_back) before the layer is read, so that what a command did is judged as if it had copied and
//! removed itself.

use super::copied::{self, State, unsuited};
use super::remove::remove;
use super::tree::{Tree, set_opaque, set_ours};
use super::upper::{MAX_DEPTH, fits, inside};
use rustix::fs::{FileType, Stat};
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much is copied for that, of all directories of a run together: what takes some seconds where nothing can share its room, and
/// about half as long as programs that copy it through overlayfs themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Room {
    /// How many files, directories and links.
    pub entries: usize,
    /// How many bytes of files, holes included.
    pub bytes: u64,
}

impl Default for Room {
    /// 20,000 entries, 256 MiB.
    fn default() -> Self {
        Self { entries: 20_000, bytes: 256 << 20 }
    }
}

impl Room {
    /// This much, where it is less than usual.
    #[must_use]
    pub fn at_most(entries: u64, bytes: u64) -> Self {
        let usual = Self::default();
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        Self { entries: usual.entries.min(entries), bytes: usual.bytes.min(bytes) }
    }
}

/// The longest tick of the kernel's clock, at 100 of them a second.
const TICK: Duration = Duration::from_millis(10);

/// What lies in a layer without having been changed. All paths are relative to the workspace.
#[derive(Debug, Default)]
pub(super) struct Movable {
    /// The directories that can be renamed. None lies in another.
    pub(super) tops: Vec<PathBuf>,
    /// Those, and all that lie below them.
    pub(super) directories: BTreeMap<PathBuf, Listed>,
    /// Those above them, which hide nothing, and their permissions.
    pub(super) above: BTreeMap<PathBuf, u32>,
    /// What each of the tops and everything in it was in the workspace.
    originals: BTreeMap<PathBuf, State>,
}

/// A directory as it is in the layer.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) itself: State,
    /// What is in it. Of a directory this says only that it is one.
    pub(super) names: Vec<(OsString, State)>,
}

/// Something of the workspace that is to be copied.
struct Original {
    path: PathBuf,
    stat: Stat,
}

impl Original {
    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }
}

impl Movable {
    /// Copies directories into a layer. What fails is as if it had never been asked for; the error is of what then could not be removed.
    pub(super) fn make(store: &Tree, workspace: &Tree, wanted: &[PathBuf], room: Room) -> io::Result<Self> {
        let below = wanted.iter().filter_map(|path| path.strip_prefix(workspace.path()).ok());
        let mut below: Vec<&Path> = below.filter(|path| !path.as_os_str().is_empty()).collect();
        below.sort_unstable();
        below.dedup();
        let mut maker = Maker {
            store,
            workspace,
            owner: Owner::of(workspace)?,
            room,
            made: Self::default(),
            above: Vec::new(),
        };
        for top in below {
            // What lies in a directory is sorted right behind it.
            if maker.made.tops.last().is_some_and(|above| top.starts_with(above)) {
                continue;
            }
            if maker.top(top).is_err() {
                match remove(&store.path().join(inside(top))) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        // What came into them has changed their times.
        for Original { path, stat } in maker.above.iter().rev() {
            let _ = copied::set_times(store, path, stat);
        }
        Ok(maker.made)
    }

    /// The tops in which something of the workspace is not what was copied any more: somebody else has changed it.
    pub(super) fn changed_meanwhile(&self, workspace: &Tree) -> Vec<&Path> {
        let is_other = |path: &Path, state: &State| !matches!(workspace.stat(path), Ok(Some(stat)) if State::of(&stat) == *state);
        let changed = |top: &&Path| {
            let from = self.originals.range::<Path, _>((Bound::Included(*top), Bound::Unbounded));
            from.take_while(|(path, _)| path.starts_with(top)).any(|(path, state)| is_other(path, state))
        };
        self.tops.iter().map(PathBuf::as_path).filter(changed).collect()
    }
}

/// Whose files are copied: a copy of somebody else's would be ours.
struct Owner {
    device: u64,
    user: u32,
    group: u32,
}

impl Owner {
    fn of(workspace: &Tree) -> io::Result<Self> {
        let (device, _) = workspace.identity()?;
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        Ok(Self { device, user: user.as_raw(), group: group.as_raw() })
    }

    /// What it is can be copied, and it is of this user and on this file system.
    fn has(&self, found: &Original) -> bool {
        let stat = &found.stat;
        #[allow(clippy::useless_conversion, reason = "the widths differ between machines")]
        let device: u64 = stat.st_dev.into();
        (device, stat.st_uid, stat.st_gid) == (self.device, self.user, self.group)
            && matches!(found.kind(), FileType::RegularFile | FileType::Directory | FileType::Symlink)
    }
}

struct Maker<'m> {
    store: &'m Tree,
    workspace: &'m Tree,
    owner: Owner,
    /// What is left of it.
    room: Room,
    made: Movable,
    above: Vec<Original>,
}

impl Maker<'_> {
    /// Copies a directory with everything in it.
    fn top(&mut self, top: &Path) -> io::Result<()> {
        let originals = self.settled(top)?;
        self.make_above(top)?;
        let mut linked: HashMap<u64, &Path> = HashMap::new();
        for original in &originals {
            let Original { path, stat } = original;
            match original.kind() {
                FileType::Directory => self.store.make_directory(&inside(path))?,
                FileType::Symlink => copied::link(self.workspace, self.store, path, stat)?,
                _ => {
                    let number = State::of(stat).inode;
                    match linked.get(&number) {
                        Some(first) => self.store.link(&inside(first), &inside(path))?,
                        None => copied::file(self.workspace, self.store, path, stat)?,
                    }
                    if stat.st_nlink > 1 {
                        linked.entry(number).or_insert(path);
                    }
                }
            }
        }
        self.finish(top, &originals)
    }

    /// Everything in a directory, if its times tell of whatever is changed from now on: file systems count them in ticks of the kernel's
    /// clock, and what has been changed in this one could be changed again without a trace.
    fn settled(&mut self, top: &Path) -> io::Result<Vec<Original>> {
        let room = self.room;
        for _ in 0..2 {
            let begun = clock_gettime(ClockId::RealtimeCoarse);
            let found = self.list(top)?;
            let is_old = |original: &Original| State::of(&original.stat).is_before(begun);
            if found.iter().all(is_old) {
                return Ok(found);
            }
            self.room = room;
            std::thread::sleep(TICK);
        }
        Err(unsuited())
    }

    /// Everything in a directory, itself first, if all of it can be copied.
    fn list(&mut self, top: &Path) -> io::Result<Vec<Original>> {
        let (mut found, mut waiting) = (Vec::new(), vec![(top.to_owned(), 0)]);
        while let Some((path, depth)) = waiting.pop() {
            let stat = self.workspace.stat(&path)?.ok_or_else(unsuited)?;
            let original = Original { path, stat };
            let (kind, path) = (original.kind(), &original.path);
            if !self.owner.has(&original) || !fits(path) || path == top && kind != FileType::Directory {
                return Err(unsuited());
            }
            if kind == FileType::Directory {
                let (names, more) = self.workspace.names(path, self.room.entries)?;
                let left = self.room.entries.checked_sub(names.len() + usize::from(path == top));
                self.room.entries = left.filter(|_| !more && depth < MAX_DEPTH).ok_or_else(unsuited)?;
                waiting.extend(names.into_iter().map(|name| (path.join(name), depth + 1)));
            } else {
                let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
                self.room.bytes = self.room.bytes.checked_sub(size).ok_or_else(unsuited)?;
            }
            found.push(original);
        }
        Ok(found)
    }

    /// Makes in the layer what is above a directory. It stays whatever becomes of that: it hides nothing and is like what is below.
    fn make_above(&mut self, top: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> =
            top.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        above.reverse();
        for path in above {
            if self.made.above.contains_key(path) {
                continue;
            }
            let stat = self.workspace.stat(path)?.ok_or_else(unsuited)?;
            let original = Original { path: path.to_owned(), stat };
            if !self.owner.has(&original) || original.kind() != FileType::Directory {
                return Err(unsuited());
            }
            self.store.make_directory(&inside(path))?;
            match copied::directory(self.workspace, self.store, path, &stat) {
                Ok(made) => self.made.above.insert(path.to_owned(), made.permissions()),
                Err(error) => {
                    // It is empty, and open to its owner.
                    self.store.remove_directory(&inside(path))?;
                    return Err(error);
                }
            };
            self.above.push(original);
        }
        Ok(())
    }

    /// Notes what has been made, and makes its directories like those that they are copies of, from the inside out.
    fn finish(&mut self, top: &Path, originals: &[Original]) -> io::Result<()> {
        let mut names: HashMap<&Path, Vec<(OsString, State)>> = HashMap::new();
        for Original { path, .. } in originals.iter().filter(|original| original.path != top) {
            let made = self.store.stat(&inside(path))?.ok_or_else(unsuited)?;
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Err(unsuited()) };
            names.entry(above).or_default().push((name.to_owned(), State::of(&made)));
        }
        set_opaque(&self.store.path().join(inside(top)), true)?;
        let mut listed = Vec::new();
        let directories = originals.iter().filter(|original| original.kind() == FileType::Directory);
        for Original { path, stat } in directories.rev() {
            set_ours(&self.store.path().join(inside(path)))?;
            let itself = copied::directory(self.workspace, self.store, path, stat)?;
            let names = names.remove(path.as_path()).unwrap_or_default();
            listed.push((path.clone(), Listed { itself, names }));
        }
        self.made.directories.extend(listed);
        let states = originals.iter().map(|Original { path, stat }| (path.clone(), State::of(stat)));
        self.made.originals.extend(states);
        self.made.tops.push(top.to_owned());
        Ok(())
    }
}
