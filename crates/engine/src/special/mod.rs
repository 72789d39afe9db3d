//! What of this machine's file system a contained command must not see or change.
//!
//! Places are judged by their names, with the same tables as the analysis uses. Directories are walked breadth first with a
//! budget each, so that a large one never uncovers what lies in another. What a directory holds is read only if it has changed
//! since it was read last ([`listings`]).

mod around;
mod aside;
mod filled;
mod git_targets;
mod homes;
mod listings;
mod live;
mod named;
mod names;
mod spelling;
mod tracked;

pub(crate) use self::names::{
    is_guarded, is_read_as_a_way, is_read_by_others, is_respelled, leads_to_settings, lies_in_started,
    place_in_project,
};
pub(crate) use self::spelling::folded;

use self::aside::{made_in, remove, set_aside};
use self::filled::is_generated;
use self::listings::{Listing, Listings, Seen};
use crate::Request;
use crate::account::{Account, user};
use crate::direct::Direct;
use crate::paths::joined;
use shward_analysis::{Scope, scope_of};
use shward_policy::Grant;
use shward_review::StateDir;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// How many directory entries of one root are looked at. What lies beyond is as deep as generated trees are; the analysis
/// denies a command that names a secret there.
const MAX_ENTRIES: usize = 20_000;

/// How many of the workspace. A command could make more there, and what it then reads with another would lie beyond: where there are
/// more, nothing is run.
const MAX_ENTRIES_OF_WORKSPACE: usize = 1_000_000;

/// How deep below a root. In the workspace a command could make more directories around what is there, so it is looked at as a whole.
const MAX_DEPTH: usize = 6;

/// How many directories of a home are looked at that do not begin with a dot, the upper ones first, and how deep: other work lies there,
/// and a start asks for the state of each.
const MAX_BESIDE: usize = 256;
const MAX_DEPTH_BESIDE: usize = 4;

/// Where the system keeps what only root may read.
const SYSTEM: [&str; 3] = ["/etc", "/var/backups", "/var/lib"];

/// The bits that give whoever runs a file the rights of its owner or group (inode(7)).
pub(crate) const SET_ID: u32 = 0o6000;

/// Whether a name is that of a directory in which layers and what is kept to be undone may lie, this user's or another's
/// ([`shward_sandbox::overlay::beside`]).
pub(crate) fn is_store(name: &OsStr) -> bool {
    const STORE: &[u8] = b".shward-";
    name.as_bytes().get(..STORE.len()).is_some_and(|start| start.eq_ignore_ascii_case(STORE))
}

/// Existing paths that a command must not see, and those in the workspace that it must not change.
#[derive(Debug, Default)]
pub(crate) struct Special {
    pub(crate) hidden: Vec<PathBuf>,
    /// Homes of which a command sees nothing but the workspace in them.
    pub(crate) emptied: Vec<PathBuf>,
    pub(crate) protected: Vec<PathBuf>,
    /// What settings of git lead to and is not there: a command without an overlay must not make it.
    pub(crate) missing: Vec<PathBuf>,
    /// Those of the hidden that git tracks: empty, they would be committed as such.
    pub(crate) unreadable: HashSet<PathBuf>,
    /// The workspace was not looked at as a whole.
    pub(crate) incomplete: bool,
    /// The directory that could not be read, if that is why.
    pub(crate) unread: Option<PathBuf>,
    repositories: HashSet<PathBuf>,
    /// Links, pipes and what was moved aside, as they are before a run without an overlay.
    there: live::There,
    /// When it was looked for, in seconds (stat(2)).
    since: i64,
}

impl Special {
    /// Looks at every home there is, at the workspace, and, for root, who can read them, at the system's own files. With a
    /// state directory, which no command may change, what was found is remembered there. Where `needless` says so, homes are not
    /// looked at and not seen.
    pub(crate) fn find(request: &Request, state: Option<&StateDir>, needless: bool) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let since = now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX));
        let mut special = Self { since, ..Self::default() };
        let mut homes = homes(request);
        if needless {
            let told = homes::told_apart(&homes, &request.workspace);
            (special.emptied, special.hidden, homes) = (told.emptied, told.hidden, told.others);
        }
        let memory = state.zip(about(request, &homes));
        let mut listings =
            memory.map_or_else(Listings::default, |(state, about)| Listings::open(state, &about));
        listings.ask_ahead(homes.len());
        // What lies there is ours, and no secret; it changes with every run.
        let own = state.and_then(|state| state.path().canonicalize().ok());
        let own = own.as_deref();
        for (number, home) in homes.iter().enumerate() {
            let walk =
                Walk { root: home, home, request, kind: Kind::Home, number, own, lost: RefCell::default() };
            special.walk(&walk, &mut listings);
        }
        // By their real names, by which the workspace is told from what lies beside it.
        let real: BTreeSet<PathBuf> = homes.iter().filter_map(|home| home.canonicalize().ok()).collect();
        let beside = real.iter().filter(|home| homes::is_a_home(home, &request.workspace));
        for (number, home) in beside.enumerate() {
            let number = homes.len() + 2 + number;
            let walk =
                Walk { root: home, home, request, kind: Kind::Beside, number, own, lost: RefCell::default() };
            special.walk(&walk, &mut listings);
        }
        if !needless {
            special.look_around(request, &real, homes.len() + 2 + real.len(), own, &mut listings);
        }
        let home = &request.home;
        if user() == 0 {
            for root in SYSTEM {
                let walk = Walk {
                    root: Path::new(root),
                    home,
                    request,
                    kind: Kind::System,
                    number: homes.len(),
                    own,
                    lost: RefCell::default(),
                };
                special.walk(&walk, &mut listings);
            }
        }
        special.look_at_workspace(request, homes.len(), own, &mut listings);
        listings.keep();
        let inside = special.hidden.iter().filter(|path| path.starts_with(&request.workspace));
        special.unreadable = tracked::tracked(inside);
        special
    }

    /// Whether a granted command needs nothing of the homes but the workspace.
    pub(crate) fn homes_are_needless(request: &Request, grant: &Grant, direct: Option<&Direct>) -> bool {
        homes::are_needless(request, grant, direct)
    }

    fn look_at_workspace(
        &mut self,
        request: &Request,
        number: usize,
        own: Option<&Path>,
        listings: &mut Listings,
    ) {
        let (root, home) = (&request.workspace, &request.home);
        self.walk(
            &Walk {
                root,
                home,
                request,
                kind: Kind::Workspace,
                number: number + 1,
                own,
                lost: RefCell::default(),
            },
            listings,
        );
    }

    fn walk(&mut self, walk: &Walk<'_>, listings: &mut Listings) {
        let in_workspace = walk.kind == Kind::Workspace;
        let mut budget = if in_workspace { MAX_ENTRIES_OF_WORKSPACE } else { MAX_ENTRIES };
        let few = matches!(walk.kind, Kind::Beside | Kind::Tree);
        let mut directories = if few { MAX_BESIDE } else { usize::MAX };
        let mut queue = VecDeque::from([(walk.root.to_owned(), 0)]);
        while let Some((directory, depth)) = queue.pop_front() {
            // Before it is read: what comes to it meanwhile then shows the next time.
            let ahead = if depth > 0 { listings.seen(walk.number, &directory) } else { None };
            let seen = ahead.or_else(|| walk.look(&directory)).filter(|_| walk.own != Some(&directory));
            let Some(Seen { is_directory: true, is_closed, stamp }) = seen else { continue };
            let Some(left) = directories.checked_sub(1) else { return };
            directories = left;
            // A command could open it, and then see what nobody has looked at.
            if in_workspace && is_closed {
                self.incomplete |= depth == 0;
                self.hidden.push(directory);
                continue;
            }
            let read = || walk.list(&directory, depth, budget);
            let found = listings.of(walk.number, &directory, stamp, budget, read);
            let path = |name| joined(&directory, OsStr::from_bytes(name));
            self.hidden.extend(found.hidden.map(path));
            self.protected.extend(found.protected.map(path));
            self.repositories.extend(found.repositories.map(path));
            queue.extend(found.below.map(|name| (path(name), depth + 1)));
            budget = budget.saturating_sub(found.entries);
            if let Some(lost) = walk.lost.take().filter(|_| in_workspace) {
                self.incomplete = true;
                self.unread = Some(lost);
            }
            if budget == 0 {
                self.incomplete |= in_workspace;
                return;
            }
        }
    }

    /// Where protected symbolic links of the workspace lead: what lies there is what the protected name means.
    pub(crate) fn link_targets(&self) -> impl Iterator<Item = PathBuf> {
        let links = self.protected.iter().filter(|path| path.is_symlink());
        links.filter_map(|path| path.canonicalize().ok())
    }

    /// Before a run without an overlay: finds everything in the workspace that it must not change, wherever it lies. Returns whether
    /// that was possible.
    pub(crate) fn find_live(&mut self, request: &Request) -> bool {
        let found = live::look(request, 1, None);
        let known: HashSet<PathBuf> = self.protected.iter().cloned().collect();
        let more = found.of_repositories().chain(found.protected.iter().cloned());
        self.protected.extend(more.filter(|path| !known.contains(path)));
        self.there = found.there;
        found.whole
    }

    /// After such a run: moves aside what it created in places that instruct agents, editors or git. What existed before could
    /// not be changed; what did not exist could not be mounted over. A repository that the run made itself keeps settings that start
    /// nothing, and sample hooks. Links and pipes in a repository's directory are removed: whatever their name, git may read it or write
    /// there. Returns what was moved or removed, and whether everything was looked at and moved that had to be.
    pub(crate) fn refuse_created(&self, request: &Request) -> (Vec<PathBuf>, bool) {
        // It may have created as much as there was.
        let after = live::look(request, 2, Some(self.since));
        let before: HashSet<&PathBuf> = self.protected.iter().chain(&self.hidden).collect();
        let (mut refused, mut whole) = (Vec::new(), after.whole);
        let made = self.missing.iter().filter(|path| path.symlink_metadata().is_ok());
        let made = made.map(|path| made_in(path, &request.workspace));
        let mut note = |path: PathBuf, done: io::Result<()>| match done {
            Ok(()) => refused.push(path),
            // It was moved with the directory that it is in.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => whole = false,
        };
        for path in after.strange(&self.there) {
            note(path.clone(), remove(path, &request.workspace));
        }
        for path in made.chain(after.created(&before, &self.there)) {
            let done = set_aside(&path, &request.workspace);
            note(path, done);
        }
        after.opened.close(&request.workspace);
        (refused, whole)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What is kept for programs lies in dot directories; the rest is the user's work. Links are followed, since people
    /// keep their settings elsewhere and link to them.
    Home,
    /// What else lies in a home, which may be other workspaces.
    Beside,
    /// A directory above the workspace, itself.
    Above,
    /// The work tree that the workspace is a part of.
    Tree,
    Workspace,
    System,
}

struct Walk<'w> {
    root: &'w Path,
    home: &'w Path,
    request: &'w Request,
    kind: Kind,
    /// Tells walks in which the same directory means something else.
    number: usize,
    /// Our own state.
    own: Option<&'w Path>,
    /// The directory that could not be read, for a reason that is no reason of its own.
    lost: RefCell<Option<PathBuf>>,
}

impl Walk<'_> {
    fn scope(&self, path: &Path) -> Scope {
        let bytes = |p: &'_ Path| p.as_os_str().as_bytes().to_vec();
        let beside = path.strip_prefix(self.root).ok().filter(|_| self.kind == Kind::Beside);
        // Keys are what a project works with, there as here.
        let workspace = beside.and_then(|path| path.iter().next()).map(|first| self.root.join(first));
        let around = matches!(self.kind, Kind::Above | Kind::Tree).then_some(self.root);
        let workspace = workspace.as_deref().or(around).unwrap_or(&self.request.workspace);
        scope_of(&bytes(path), &bytes(workspace), &bytes(self.home))
    }

    /// What is there, links followed only where people link to what is theirs.
    fn look(&self, path: &Path) -> Option<Seen> {
        Seen::at(path, self.kind == Kind::Home || path == self.root)
    }

    /// Reads at most `limit` entries of a directory. Returns whether these are all.
    fn list(&self, directory: &Path, depth: usize, limit: usize) -> (Listing, bool) {
        let mut listing = Listing::default();
        // Why it cannot be read may lie elsewhere than in the directory: too many open files, or a group that is joined later.
        let lost = |error: &io::Error| {
            use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
            // What goes meanwhile, or becomes a file, holds nothing that could be seen.
            if !matches!(error.kind(), NotADirectory | NotFound | PermissionDenied) {
                self.lost.replace(Some(directory.to_owned()));
            }
        };
        let Ok(entries) = fs::read_dir(directory).inspect_err(lost) else { return (listing, false) };
        let hooks = self.kind == Kind::Workspace && is_hooks_of_bare_repository(directory);
        for entry in entries {
            let Ok(entry) = entry.inspect_err(lost) else { return (listing, false) };
            if listing.entries == limit {
                return (listing, false);
            }
            listing.entries += 1;
            let path = entry.path();
            if self.kind != Kind::Workspace && path == self.request.workspace {
                continue;
            }
            let name = entry.file_name();
            let dotted = name.as_bytes().starts_with(b".");
            let is_work = matches!(self.kind, Kind::Beside | Kind::Tree | Kind::Workspace);
            if self.kind == Kind::Beside && depth == 0 {
                if !dotted
                    && !is_generated(self.root, directory, &name, is_work)
                    && self.may_be_directory(&entry)
                {
                    listing.below.push(Box::from(name.as_bytes()));
                }
                continue;
            }
            let bytes = || Box::from(name.as_bytes());
            let in_workspace = self.kind == Kind::Workspace;
            if in_workspace && name == ".git" {
                listing.repositories.push(bytes());
            }
            if in_workspace && is_store(&name) {
                // Of a workspace below this one; where there is none, none may come to be.
                listing.hidden.push(bytes());
                listing.protected.push(bytes());
                continue;
            }
            // Whoever listens there may do so in another network namespace, where none of their sockets is in any list. In the workspace a
            // run leaves its own, and makes them anew.
            if !in_workspace && entry.file_type().is_ok_and(|kind| kind.is_socket()) {
                listing.hidden.push(bytes());
                continue;
            }
            // What the workspace lies in cannot be hidden from it.
            let holds =
                matches!(self.kind, Kind::Above | Kind::Tree) && self.request.workspace.starts_with(&path);
            match self.scope(&path) {
                Scope::Secret if !holds => listing.hidden.push(bytes()),
                Scope::Own | Scope::Persistence if in_workspace => listing.protected.push(bytes()),
                _ => {
                    let sample = Path::new(&name).extension().is_some_and(|ending| ending == "sample");
                    let named = || is_guarded(&name) || is_read_by_others(&path);
                    if in_workspace && (named() || hooks && !sample) {
                        listing.protected.push(bytes());
                    }
                    let of_interest = match self.kind {
                        Kind::Home => depth > 0 || dotted,
                        Kind::Tree => name != ".git",
                        _ => true,
                    };
                    if of_interest
                        && depth < self.depth()
                        && !is_generated(self.root, directory, &name, is_work)
                        && self.may_be_directory(&entry)
                    {
                        listing.below.push(bytes());
                    }
                }
            }
        }
        (listing, true)
    }

    /// How many directories deep it goes.
    const fn depth(&self) -> usize {
        match self.kind {
            Kind::Workspace => usize::MAX,
            Kind::Above => 0,
            Kind::Beside | Kind::Tree => MAX_DEPTH_BESIDE,
            Kind::Home | Kind::System => MAX_DEPTH,
        }
    }

    /// Where a link leads is looked at when its turn comes: that can change without the directory that it lies in.
    fn may_be_directory(&self, entry: &fs::DirEntry) -> bool {
        entry.file_type().is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && self.kind == Kind::Home))
    }
}

/// A path without `.` and `..`.
fn lexical(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
        path
    })
}

/// What git runs of a repository without a work tree (gitrepository-layout(5)).
fn is_hooks_of_bare_repository(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name == "hooks")
        && directory.parent().is_some_and(|above| {
            above.file_name().is_none_or(|name| name != ".git")
                && ["HEAD", "objects", "refs"].iter().all(|name| above.join(name).exists())
        })
}

/// Everything that the meaning of a name depends on: this very program, which holds the tables, and whose the places are.
/// `None` if that cannot be told.
fn about(request: &Request, homes: &[PathBuf]) -> Option<String> {
    let program = fs::metadata("/proc/self/exe").ok()?;
    let program = (program.dev(), program.ino(), program.size(), program.mtime(), program.ctime_nsec());
    Some(format!("{program:?} {:?} {:?} {:?} {homes:?}", user(), request.workspace, request.home))
}

/// The request's home, the account's own, root's, and those in the usual place: an environment variable must not move what
/// is protected.
fn homes(request: &Request) -> Vec<PathBuf> {
    let mut homes = vec![request.home.clone(), PathBuf::from("/root")];
    homes.extend(Account::of_process().listed().map(Path::to_owned));
    homes.extend(fs::read_dir("/home").into_iter().flatten().flatten().map(|entry| entry.path()));
    homes.sort();
    homes.dedup();
    homes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A directory that could not be read is no empty directory.
    #[test]
    fn what_cannot_be_read_is_not_remembered() {
        let request = Request::command("true", "/", "/");
        let root = Path::new("/proc/self/status");
        let walk = Walk {
            root,
            home: root,
            request: &request,
            kind: Kind::Workspace,
            number: 0,
            own: None,
            lost: RefCell::default(),
        };
        let (listing, whole) = walk.list(root, 0, 10);
        assert_eq!((listing.entries, whole), (0, false));
        // It was one when it was seen.
        assert_eq!(walk.lost.take(), None);
        let long = Path::new("/").join("x".repeat(300));
        walk.list(&long, 0, 10);
        assert_eq!(walk.lost.take(), Some(long));
    }

    /// A command can make as many files as it likes.
    #[test]
    fn many_files_uncover_nothing() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for directory in ["a", "b/c"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("b/c/.env"), "").unwrap();
        for number in 0..MAX_ENTRIES {
            fs::write(root.join(format!("a/{number}")), "").unwrap();
        }
        let request = Request::command("true", &root, &root).resolved().unwrap();
        let special = Special::find(&request, None, false);
        assert!(special.hidden.contains(&root.join("b/c/.env")) && !special.incomplete);
    }

    /// Where other work lies, too, and keys of that are its own as they are here.
    #[test]
    fn secrets_of_other_work_are_hidden() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let workspace = root.join("src/mine");
        fs::create_dir_all(&workspace).unwrap();
        let names = [
            ("src/other/.env", true),
            ("src/other/deep/er/.env", true),
            ("notes/passwords.kdbx", true),
            ("src/other/tests/server.key", false),
            ("src/other/node_modules/x/.env", false),
        ];
        for (name, _) in names {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        let request = Request { home: root.clone(), ..Request::command("true", &workspace, &workspace) };
        let special = Special::find(&request.resolved().unwrap(), None, false);
        for (name, hidden) in names {
            assert_eq!(special.hidden.contains(&root.join(name)), hidden, "{name}");
        }
    }

    /// Of those that listen in another network namespace no list tells.
    #[test]
    fn sockets_in_homes_are_hidden() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let workspace = root.join("work");
        fs::create_dir_all(root.join(".tool/run")).unwrap();
        fs::create_dir_all(&workspace).unwrap();
        let paths = [root.join(".tool/run/control"), workspace.join("own")];
        let _listeners = paths.each_ref().map(|path| std::os::unix::net::UnixListener::bind(path).unwrap());
        // Also where a link leads to the home.
        let link = root.join("link");
        symlink(&root, &link).unwrap();
        for home in [root, link] {
            let request = Request { home, ..Request::command("true", &workspace, &workspace) };
            let special = Special::find(&request.resolved().unwrap(), None, false);
            let hidden: HashSet<_> = special.hidden.iter().map(|path| path.canonicalize().unwrap()).collect();
            assert_eq!(paths.each_ref().map(|path| hidden.contains(path)), [true, false]);
        }
    }

    /// What is remembered never says anything else than the file system does.
    #[test]
    fn looking_twice_finds_the_same_as_looking_anew() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let [home, workspace, state, aside] = ["home", "home/work", "state", "aside"].map(|n| root.join(n));
        for directory in [".config/tool", ".cargo/registry/src", "lib/python3.9", "work/sub/.git/hooks"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        fs::create_dir_all(&aside).unwrap();
        let state = StateDir::new(state);
        let request = Request::command("true", &workspace, &workspace);
        let request = Request { home: home.clone(), ..request }.resolved().unwrap();
        let both = || {
            let of = |special: Special| {
                let ours = |mut paths: Vec<PathBuf>| {
                    paths.retain(|path| path.starts_with(&root));
                    paths.sort();
                    paths
                };
                (ours(special.hidden), ours(special.protected), special.repositories)
            };
            let [anew, remembered] =
                [None, Some(&state)].map(|state| of(Special::find(&request, state, false)));
            assert_eq!(anew, remembered);
            anew.0
        };
        let write = |path: PathBuf| fs::write(path, "").unwrap();
        assert!(both().is_empty());
        write(home.join(".config/tool/id_rsa"));
        write(workspace.join("sub/.env"));
        write(home.join(".cargo/registry/src/key.pem"));
        let found = [home.join(".config/tool/id_rsa"), workspace.join("sub/.env")];
        assert_eq!(both(), found);
        // Long enough for everything to be remembered, and looked up once more.
        std::thread::sleep(std::time::Duration::from_millis(3100));
        assert_eq!((both(), both()), (found.to_vec(), found.to_vec()));
        // A link that leads nowhere, to a file, to a directory: without any change beside it.
        symlink(&aside, home.join(".tool")).unwrap();
        fs::rename(&aside, root.join("away")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(3100));
        assert_eq!((both(), both()), (found.to_vec(), found.to_vec()));
        write(root.join("away/id_rsa"));
        fs::rename(root.join("away"), &aside).unwrap();
        assert_eq!(both().len(), 3);
        fs::rename(workspace.join("sub"), workspace.join("other")).unwrap();
        assert!(both().contains(&workspace.join("other/.env")));
        fs::rename(home.join(".config"), home.join(".settings")).unwrap();
        assert!(both().contains(&home.join(".settings/tool/id_rsa")));
        let mode = |mode| {
            fs::set_permissions(home.join(".settings"), std::os::unix::fs::PermissionsExt::from_mode(mode))
                .unwrap()
        };
        mode(0o000);
        both();
        mode(0o700);
        assert!(both().contains(&home.join(".settings/tool/id_rsa")));
    }
}
