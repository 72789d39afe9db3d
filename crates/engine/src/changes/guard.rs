//! What a command may not bring into the workspace: files that make somebody else run something, later and unconfined.
//!
//! Names are judged where the change would land, whether they existed or not, at any depth; so neither a renamed parent nor a link
//! in the place of a directory gets around it. Which names matter is data: the tables of the analysis ([`scope_of`]) and
//! [`crate::special`]. A commit with git is none of it: objects, references, the index and the logs of a repository are ordinary files.

use crate::Request;
use crate::git::{
    self, InRepository, commands, is_harmless, is_of_repository, is_own_strategy, place_in_repository,
    within_repository,
};
use crate::leash::Inside;
use crate::special::{
    SET_ID, folded, is_guarded, is_read_as_a_way, is_read_by_others, is_respelled, is_store,
    leads_to_settings, lies_in_started, place_in_project,
};
use shward_analysis::{Scope, scope_of};
use shward_sandbox::overlay::{Change, ChangeKind, CommitPolicy, Content, Kind, Sight};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Where packages for Python lie: what its start executes there is part of installing them.
const SITES: [&str; 2] = ["dist-packages", "site-packages"];

/// The longest settings of a repository that are read, in bytes.
const MAX_CONFIG: u64 = 256 * 1024;

/// Refuses what is protected in one workspace.
#[derive(Debug)]
pub(crate) struct Guard<'r> {
    request: &'r Request,
    /// What is protected by its place: our own files, and where protected links lead. Relative to the workspace.
    places: BTreeSet<PathBuf>,
    /// Where the workspace lies in a repository's own directory, if it does.
    inside: Option<PathBuf>,
    /// Where protected names lead.
    led: Inside,
    /// Where the workspace lies in its project.
    project: PathBuf,
}

impl<'r> Guard<'r> {
    /// `places` are absolute; what does not lie in the workspace is out of reach anyway.
    pub(crate) fn new(request: &'r Request, places: impl IntoIterator<Item = PathBuf>) -> Self {
        let relative = |path: PathBuf| path.strip_prefix(&request.workspace).map(Path::to_owned).ok();
        let led = Inside::find(request);
        let places = places.into_iter().chain(led.whole(request, is_guarded)).filter_map(relative).collect();
        Self {
            request,
            places,
            inside: place_in_repository(&request.workspace),
            led,
            project: place_in_project(request),
        }
    }

    /// Whether a path lies in one of the places or, if it goes as a whole, one of them in it.
    fn is_placed(&self, path: &Path, whole: bool) -> bool {
        path.ancestors().any(|above| self.places.contains(above))
            // Those in it follow it.
            || whole && self.places.range(path.to_owned()..).next().is_some_and(|place| place.starts_with(path))
    }

    /// Refuses what a name means wherever it lies.
    fn by_name(&self, change: &Change) -> Option<Cow<'static, str>> {
        let path = self.project.join(&change.path);
        let guarded = path.iter().find(|part| is_guarded(part));
        if let Some(name) = guarded {
            return Some(format!("is read by programs that trust what lies in {}", name.display()).into());
        }
        if is_read_by_others(&path) || lies_in_started(&path) {
            return Some("is read by programs that do what it says".into());
        }
        if change.kind != Kind::Directory
            && change.what != ChangeKind::Deleted
            && (is_read_as_a_way(&path)
                || change.kind == Kind::Link && leads_to_settings(self.request, &self.project, &change.path))
        {
            return Some("leads programs to settings that lie elsewhere".into());
        }
        None
    }

    fn scope(&self, path: &Path) -> Scope {
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let (workspace, home) = (bytes(&self.request.workspace), bytes(&self.request.home));
        let path = self.request.workspace.join(path);
        let scope = |path: &Path| scope_of(&bytes(path), &workspace, &home);
        self.led.names(&path).map(|name| scope(&name)).filter(is_obeyed).fold(scope(&path), Scope::max)
    }

    /// Whether a path is another one to file systems that do not tell upper from lower case, and what that means to others.
    fn is_respelled(&self, path: &Path) -> bool {
        let folded = folded(path);
        *folded != *path && is_obeyed(&self.scope(&folded))
    }

    /// Refuses by the tables of the analysis.
    fn by_scope(&self, change: &Change) -> Option<Cow<'static, str>> {
        // A directory alone does nothing; what comes into it is asked about itself.
        if change.kind == Kind::Directory && change.what == ChangeKind::Created {
            return None;
        }
        if is_of_installing(&change.path) {
            return None;
        }
        match self.scope(&change.path) {
            _ if self.is_respelled(&change.path) => {
                Some("would be read by other programs under another spelling".into())
            }
            Scope::Own => Some("sets what an agent or its guard may do".into()),
            Scope::Persistence => Some("makes other programs run something later".into()),
            // A key that the command has made is its own business; settings with a fixed name are read by others.
            Scope::Secret if change.what == ChangeKind::Created && !is_hidden(&change.path) => None,
            Scope::Secret => Some("holds secrets that other programs read".into()),
            _ => None,
        }
    }
}

impl CommitPolicy for Guard<'_> {
    fn refuses(&self, change: &Change, sight: &Sight<'_>) -> Option<Cow<'static, str>> {
        let path = &change.path;
        // What goes with a directory goes, too.
        let whole = change.whole || (change.what == ChangeKind::Deleted && change.kind == Kind::Directory);
        let closes = closes(change);
        if self.is_placed(path, whole || closes) {
            return Some("is shward's own, or what a protected link or setting leads to".into());
        }
        // What had them before would run with another content.
        if change.kind == Kind::File && change.what != ChangeKind::Deleted && change.mode & SET_ID != 0 {
            return Some("would run with the rights of its owner or group".into());
        }
        if path.iter().any(is_store) {
            return Some("is where shward keeps what can be undone".into());
        }
        // With letters of ASCII alone repositories are judged below.
        if path.iter().any(is_respelled) || !path.as_os_str().as_bytes().is_ascii() && self.is_respelled(path)
        {
            return Some("would be read by other programs under another spelling".into());
        }
        if closes && change.kind == Kind::Directory {
            return Some(
                "would be closed, so that nobody sees any more what settings or secrets lie in it".into(),
            );
        }
        if let Some(inside) = &self.inside
            && is_of_repository(inside, change)
        {
            return Some("lies in a repository's own directory, and is run or obeyed by git".into());
        }
        if let Some(within) = within_repository(change, sight) {
            return match within {
                InRepository::Itself if whole || change.kind != Kind::Directory => {
                    Some("is a repository: put in its place, or gone, it would be another one".into())
                }
                InRepository::Itself | InRepository::Sample | InRepository::Ordinary => None,
                InRepository::Settings { new } => {
                    let before = sight.before(path, MAX_CONFIG);
                    let after = sight.after(path, MAX_CONFIG);
                    let harmless = change.kind == Kind::File
                        && change.what != ChangeKind::Deleted
                        && !closes
                        && (new || before.is_some())
                        && after.is_some_and(|after| is_harmless(before.as_deref(), &after));
                    (!harmless).then(|| "sets what git runs, or where it sends things".into())
                }
                InRepository::Steps => {
                    let before = sight.before(path, MAX_CONFIG).unwrap_or_default();
                    let known = commands(&before);
                    let after = sight.after(path, MAX_CONFIG).filter(|_| change.kind == Kind::File);
                    let harmless =
                        after.is_some_and(|after| commands(&after).iter().all(|line| known.contains(line)));
                    (!harmless).then(|| "names commands that git would run".into())
                }
                InRepository::Strategy => {
                    let after = sight.after(path, MAX_CONFIG).filter(|_| change.kind == Kind::File);
                    let harmless = after.is_some_and(|after| is_own_strategy(path, &after));
                    (!harmless).then(|| "names a program with which git would merge".into())
                }
                InRepository::Hooks => Some("is run by git".into()),
                InRepository::Completed => Some("would make a repository of settings that lie there".into()),
                InRepository::Elsewhere => Some("leads git to settings that lie elsewhere".into()),
                InRepository::Strange => {
                    Some("is nothing that git makes there: it would write where that leads, or wait".into())
                }
                InRepository::Remote => Some("tells git what it fetches from and sends to".into()),
            };
        }
        self.by_name(change).or_else(|| self.by_scope(change))
    }

    fn meaning(&self, path: &Path, content: Content<'_>) -> Option<Vec<u8>> {
        git::meaning(path, content)
    }
}

/// Whether other programs, an agent or its guard among them, obey what lies there.
const fn is_obeyed(scope: &Scope) -> bool {
    matches!(scope, Scope::Own | Scope::Persistence)
}

/// Whether its owner could read it, or enter it, before, and cannot any more.
fn closes(change: &Change) -> bool {
    let bits = if change.kind == Kind::Directory { 0o500 } else { 0o400 };
    change.what != ChangeKind::Deleted
        && change.kind_before == Some(change.kind)
        && change.mode_before.is_some_and(|before| before & bits == bits)
        && change.mode & bits != bits
}

/// Whether a file is one by which a package for Python takes part in the start of the interpreter (Python's `site`).
fn is_of_installing(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let started = path.extension().is_some_and(|ending| ending == "pth")
        || name == "sitecustomize.py"
        || name == "usercustomize.py";
    started && path.iter().any(|part| SITES.iter().any(|site| part == *site))
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."))
}
