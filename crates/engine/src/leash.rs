//! Under which other names lies what no command may change: where links with protected names lead, and files that are the
//! same as a protected one.
//!
//! People keep their settings in a repository and link to them from where programs look. The tables know the names of the
//! links; what is written through the other name is the same file. Nothing is looked at before a command changes something.

use crate::account::Account;
use crate::machine::{self, Led, own_program};
use crate::paths::canonical;
use crate::{BadRequest, Request};
use bumpalo::Bump;
use rustix::fs::{FileType, Mode, OFlags, RawDir, RawDirEntry, Stat, open, readlink, stat};
use shward_analysis::{Effect, EffectKind, Meaning, Plan, Rest, Scope, Scopes, Target, WriteMode, scope_of};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

/// Where people keep the settings of many programs, beside the directories that the tables name for one.
const OF_MANY: [&str; 1] = [".config"];

/// As many links as the kernel follows in one path (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// So many places to which protected names lead are held against each path of a command.
const MOST_LED: usize = 512;

/// So many names below a place that is changed are looked at for another name of a protected file.
const MOST_NAMES: usize = 20_000;

/// So many names below all that one command changes.
const MOST_NAMES_OF_ALL: usize = 20 * MOST_NAMES;

/// How deep below a directory of settings protected files are looked for, of which another name may be written.
const DEEPEST: usize = 4;

/// What was found under protected names.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Names that are links, and where they lead.
    pub(crate) led: Vec<Led>,
    /// Files that matter for themselves.
    files: Vec<PathBuf>,
}

/// Whether a command changes what a protected name could lead to. What builds make again, and what version control keeps,
/// nobody links to for settings.
pub(crate) fn may_change(plan: &Plan<'_>) -> bool {
    changed(plan).any(|target| {
        !matches!(target.scope, Scope::Harmless | Scope::Product | Scope::Repository) || target.covers.own
    })
}

/// What a plan changes.
fn changed<'a>(plan: &Plan<'a>) -> impl Iterator<Item = Target<'a>> {
    plan.effects.iter().filter_map(|effect| match effect.kind {
        EffectKind::Write { target, .. }
        | EffectKind::Metadata { target, .. }
        | EffectKind::Delete { target, .. } => Some(target),
        _ => None,
    })
}

impl Found {
    /// Where protected names lead that are links: in the home directory and the workspace, in the directories of settings in these, and
    /// of the user's policy and what variables name in place of these.
    pub(crate) fn links(request: &Request) -> Self {
        Self::look(request, 1)
    }

    /// Where they lead, if a verdict can hold that against what a command changes.
    pub(crate) fn few_links(request: &Request) -> Result<Vec<Led>, BadRequest> {
        let led = Self::links(request).led;
        if led.len() > MOST_LED { Err(BadRequest::TooManyLinks(MOST_LED)) } else { Ok(led) }
    }

    /// The same, deeper, with the files that are there.
    fn whole(request: &Request) -> Self {
        Self::look(request, DEEPEST)
    }

    fn look(request: &Request, deepest: usize) -> Self {
        let mut look = Look {
            scopes: Scopes::new(
                request.workspace.as_os_str().as_bytes(),
                request.home.as_os_str().as_bytes(),
            ),
            found: Self::default(),
            deepest,
        };
        look.directory(&request.home, 0);
        if request.workspace != request.home {
            look.directory(&request.workspace, 0);
        }
        let own = machine::own().into_iter().map(|place| PathBuf::from(OsString::from_vec(place)));
        own.chain(Account::of_process().policy()).for_each(|place| look.name(&place));
        look.found
    }
}

/// What a protected name means that leads into a workspace.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    led: Vec<(PathBuf, PathBuf)>,
}

impl Inside {
    /// Looks where protected names lead.
    pub(crate) fn find(request: &Request) -> Self {
        let path = |bytes: Vec<u8>| PathBuf::from(OsString::from_vec(bytes));
        let led = Found::links(request).led.into_iter().map(|(name, place)| (path(name), path(place)));
        let touches = |(_, place): &(PathBuf, PathBuf)| {
            place.starts_with(&request.workspace) || request.workspace.starts_with(place)
        };
        Self { led: led.filter(touches).collect() }
    }

    /// The names that mean an absolute path, too.
    pub(crate) fn names<'p>(&'p self, path: &'p Path) -> impl Iterator<Item = PathBuf> + 'p {
        self.led.iter().filter_map(|(name, place)| path.strip_prefix(place).ok().map(|rest| name.join(rest)))
    }

    /// The places that are protected as a whole because the name is, or is `guarded`.
    pub(crate) fn whole(&self, request: &Request, guarded: fn(&OsStr) -> bool) -> Vec<PathBuf> {
        let is_whole = |name: &Path| name.file_name().is_some_and(guarded) || matters(name, request);
        let below = |place: &Path| *place != request.workspace && place.starts_with(&request.workspace);
        let whole = self.led.iter().filter(|(name, place)| below(place) && is_whole(name));
        whole.map(|(_, place)| place.clone()).collect()
    }

    /// What is there in the workspace and protected: as a whole, or for its name in a directory that a name leads to.
    pub(crate) fn there(&self, request: &Request, guarded: fn(&OsStr) -> bool) -> Vec<PathBuf> {
        let mut found = self.whole(request, guarded);
        for (name, place) in &self.led {
            each(place, |entry| {
                let child = name_of(entry);
                if matters(&name.join(child), request) {
                    found.push(place.join(child));
                }
                true
            });
        }
        found.retain(|path| path.starts_with(&request.workspace));
        found
    }
}

/// Whether a path is obeyed or executed by other programs for its name.
fn matters(path: &Path, request: &Request) -> bool {
    let scope = scope_of(&bytes(path), &bytes(&request.workspace), &bytes(&request.home));
    matches!(scope, Scope::Own | Scope::Persistence)
}

/// A look at directories of settings.
struct Look<'r> {
    scopes: Scopes<'r>,
    found: Found,
    deepest: usize,
}

impl Look<'_> {
    fn directory(&mut self, directory: &Path, depth: usize) {
        let mut found = Vec::new();
        each(directory, |entry| {
            // Most names in a home and a workspace are those of nothing that matters.
            if entry.file_type() == FileType::RegularFile && self.deepest == 1 {
                return true;
            }
            let path = directory.join(name_of(entry));
            let meaning = self.scopes.meaning(path.as_os_str().as_bytes());
            if meaning.itself || meaning.holds {
                found.push((path, meaning, entry.file_type()));
            }
            true
        });
        for (path, meaning, kind) in found {
            match kind {
                FileType::RegularFile => self.found.files.push(path),
                FileType::Directory => self.below(&path, meaning, depth),
                FileType::Symlink => self.link(&path, meaning, depth),
                // Not every file system says what a name is.
                _ => {
                    self.link(&path, meaning, depth);
                    self.below(&path, meaning, depth);
                }
            }
        }
    }

    /// What lies in a directory, if programs look there.
    fn below(&mut self, path: &Path, meaning: Meaning, depth: usize) {
        let of_many = || path.file_name().is_some_and(|name| OF_MANY.iter().any(|many| name == *many));
        let settings = meaning.of_agent || of_many();
        if depth < self.deepest && (settings || self.deepest > 1) {
            self.directory(path, depth + 1);
        }
    }

    /// Every place that a chain of links names: whoever puts another link at one of them changes what is meant.
    fn link(&mut self, path: &Path, meaning: Meaning, depth: usize) {
        let mut places = vec![path.to_owned()];
        let mut exact = true;
        for _ in 0..MAX_LINKS {
            let Some(place) = places.last() else { break };
            let Ok(aim) = readlink(place, Vec::new()) else { break };
            let aim = PathBuf::from(OsString::from_vec(aim.into_bytes()));
            // What is above is itself named through links, perhaps.
            let above = place.parent().unwrap_or(place);
            let above = canonical(above).unwrap_or(Cow::Borrowed(above));
            exact &= is_exact(&aim);
            let place = lexical(&above.join(aim));
            // Whoever goes in a circle arrives nowhere.
            if places.contains(&place) {
                break;
            }
            places.push(place);
        }
        let end = places.last().and_then(|place| {
            if exact { real(place) } else { path.canonicalize().ok().or_else(|| real(place)) }
        });
        places.extend(end.filter(|end| !places.contains(end)));
        self.found.led.extend(places.iter().skip(1).map(|place| (bytes(path), bytes(place))));
        // Links in it have names that matter, too.
        if meaning.holds && depth < self.deepest && path.is_dir() {
            self.directory(path, depth + 1);
        }
    }

    /// A name that matters, on the way to which there may be a link.
    fn name(&mut self, path: &Path) {
        if let Ok(real) = canonical(path)
            && *real != *path
        {
            self.found.led.push((bytes(path), bytes(&real)));
        }
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Where a path without `..` really lies; what is not there lies in the directory that is.
fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = canonical(path) {
        return Some(real.into_owned());
    }
    Some(canonical(path.parent()?).ok()?.join(path.file_name()?))
}

/// Whether the letters alone say what `..` means in what a link names: nothing stands before it.
fn is_exact(aim: &Path) -> bool {
    !aim.components()
        .skip_while(|part| !matches!(part, Component::Normal(_)))
        .any(|p| p == Component::ParentDir)
}

/// A path without `.` and `..`.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// A plan in which what is written through another name of the same file (link(2)) counts as what it is. `None`: nothing is.
pub(crate) fn under_other_names<'a>(arena: &'a Bump, plan: &Plan<'a>, request: &Request) -> Option<Plan<'a>> {
    let mut same = Same { request, program: None, others: None, left: MOST_NAMES_OF_ALL };
    let mut effects: Option<&'a mut [Effect<'a>]> = None;
    let mut led = plan.led.to_vec();
    for (at, effect) in plan.effects.iter().enumerate() {
        let Some((name, scope)) = same.as_written(&effect.kind) else { continue };
        let effects = effects.get_or_insert_with(|| arena.alloc_slice_copy(plan.effects));
        let Some(EffectKind::Write { target, .. } | EffectKind::Metadata { target, .. }) =
            effects.get_mut(at).map(|effect| &mut effect.kind)
        else {
            continue;
        };
        target.scope = target.scope.max(scope);
        target.covers.guarded |= scope == Scope::Own;
        led.push((arena.alloc_slice_copy(name.as_os_str().as_bytes()), target.path));
    }
    let effects = effects?;
    Some(Plan { effects, led: arena.alloc_slice_copy(&led), ..*plan })
}

/// What tells files apart.
fn identity(found: &Stat) -> (u64, u64) {
    (found.st_dev, found.st_ino)
}

/// The files that matter, by what tells files apart. They are looked at when they are first asked for.
struct Same<'r> {
    request: &'r Request,
    /// The running program, if it has another name.
    program: Option<Option<(&'static Path, Stat)>>,
    others: Option<Vec<(PathBuf, (u64, u64))>>,
    /// How many names are still looked at. Beyond, any place may hold what matters.
    left: usize,
}

impl Same<'_> {
    /// The file that matters and is written, what it is.
    fn as_written(&mut self, kind: &EffectKind<'_>) -> Option<(PathBuf, Scope)> {
        let (target, below) = match *kind {
            EffectKind::Write { target, mode, .. } => (target, mode == WriteMode::Below),
            EffectKind::Metadata { target, .. } => (target, false),
            _ => return None,
        };
        if matches!(target.scope, Scope::Harmless | Scope::Own) || target.covers.guarded {
            return None;
        }
        let path = Path::new(OsStr::from_bytes(target.path));
        match target.rest {
            Rest::Exact if !target.tree && !below => self.as_file(path),
            // Which of the files below a place a search has chosen, nobody knows here.
            Rest::Below | Rest::Unknown if !target.tree => None,
            rest => {
                let (program, found) = self.program()?;
                let deepest = if rest == Rest::Glob && !target.tree { 0 } else { DEEPEST };
                let lies = lies_below(path, identity(&found), deepest, &mut self.left);
                (lies || self.left == 0).then(|| (program.to_owned(), Scope::Own))
            }
        }
    }

    fn as_file(&mut self, path: &Path) -> Option<(PathBuf, Scope)> {
        let found = stat(path).ok()?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || found.st_nlink < 2 {
            return None;
        }
        if let Some((program, own)) = self.program()
            && identity(&own) == identity(&found)
        {
            return Some((program.to_owned(), Scope::Own));
        }
        let request = self.request;
        let others = self.others.get_or_insert_with(|| {
            let files = Found::whole(request).files.into_iter().chain(Account::of_process().policy());
            files.filter_map(|file| stat(&file).ok().map(|found| (file, identity(&found)))).collect()
        });
        let (name, _) = others.iter().find(|(_, other)| *other == identity(&found))?;
        let scope = scope_of(&bytes(name), &bytes(&request.workspace), &bytes(&request.home));
        Some((name.clone(), scope))
    }

    fn program(&mut self) -> Option<(&'static Path, Stat)> {
        let look = || {
            let program = own_program()?;
            let found = stat(program).ok()?;
            (found.st_nlink > 1).then_some((program, found))
        };
        *self.program.get_or_insert_with(look)
    }
}

/// Whether a file has a name below a directory, among the first that there are. `all` is what may be looked at, of which that is taken.
fn lies_below(directory: &Path, file: (u64, u64), deepest: usize, all: &mut usize) -> bool {
    let mut waiting = vec![(directory.to_owned(), 0)];
    let most = MOST_NAMES.min(*all);
    let (mut left, mut found) = (most, false);
    while let Some((directory, depth)) = waiting.pop() {
        each(&directory, |entry| {
            let path = || directory.join(name_of(entry));
            let is_it = || stat(path()).is_ok_and(|found| identity(&found) == file);
            match entry.file_type() {
                FileType::RegularFile if entry.ino() == file.1 && is_it() => found = true,
                FileType::Directory if depth < deepest => waiting.push((path(), depth + 1)),
                _ => {}
            }
            left = left.saturating_sub(1);
            !found && left > 0
        });
        if found || left == 0 {
            break;
        }
    }
    *all = all.saturating_sub(most.saturating_sub(left));
    found
}

/// So many bytes of a directory are read at once: few have more.
const AT_ONCE: usize = 16 << 10;

fn name_of<'e>(entry: &'e RawDirEntry<'_>) -> &'e OsStr {
    OsStr::from_bytes(entry.file_name().to_bytes())
}

/// Goes through what lies in a directory, but itself and the one above, for as long as it is told to.
fn each(directory: &Path, mut told: impl FnMut(&RawDirEntry<'_>) -> bool) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let Ok(opened) = open(directory, flags, Mode::empty()) else { return };
    let mut room = [MaybeUninit::uninit(); AT_ONCE];
    let mut entries = RawDir::new(opened, &mut room);
    while let Some(Ok(entry)) = entries.next() {
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") && !told(&entry) {
            return;
        }
    }
}
