//! What of this machine's file system a contained command must not see or change.
//!
//! Places are judged by their names, with the same tables as the analysis uses. Directories are walked breadth first with a
//! budget each, so that a large one never uncovers what lies in another.

use crate::Request;
use shward_analysis::{Scope, scope_of};
use std::collections::{HashSet, VecDeque};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How many directory entries of one root are looked at. What lies beyond is as deep as generated trees are; the analysis
/// denies a command that names a secret there.
const MAX_ENTRIES: usize = 20_000;

/// How deep below a root.
const MAX_DEPTH: usize = 6;

/// Directories that hold nothing of the user's own and may be huge.
const SKIPPED: [&str; 6] =
    ["node_modules", "target", "__pycache__", "site-packages", "dist-packages", "objects"];

/// Directories in the workspace in which a new file could instruct an agent, an editor or git: protected as a whole.
pub(crate) const GUARDED: [&str; 8] =
    [".claude", ".codex", ".copilot", ".cursor", ".gemini", ".husky", ".idea", ".vscode"];

/// The ending of a file that a command created where it must not.
const REFUSED: &str = "refused-by-shward";

/// Existing paths that a command must not see, and those in the workspace that it must not change.
#[derive(Debug, Default)]
pub(crate) struct Special {
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) protected: Vec<PathBuf>,
    repositories: HashSet<PathBuf>,
}

impl Special {
    /// Looks at every home there is, at the workspace, and, for root, who can read them, at the system's own files.
    pub(crate) fn find(request: &Request) -> Self {
        let mut special = Self::default();
        for home in homes(request) {
            special.walk(&Walk { root: &home, home: &home, request, kind: Kind::Home });
        }
        if user() == Some(0) {
            for root in ["/etc", "/var/backups", "/var/lib"] {
                special.walk(&Walk {
                    root: Path::new(root),
                    home: &request.home,
                    request,
                    kind: Kind::System,
                });
            }
        }
        special.look_at_workspace(request);
        special
    }

    fn look_at_workspace(&mut self, request: &Request) {
        self.walk(&Walk { root: &request.workspace, home: &request.home, request, kind: Kind::Workspace });
    }

    fn walk(&mut self, walk: &Walk<'_>) {
        let mut budget = MAX_ENTRIES;
        let mut queue = VecDeque::from([(walk.root.to_owned(), 0)]);
        while let Some((directory, depth)) = queue.pop_front() {
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.flatten() {
                let Some(left) = budget.checked_sub(1) else { return };
                budget = left;
                let path = entry.path();
                if walk.kind != Kind::Workspace && path == walk.request.workspace {
                    continue;
                }
                let name = entry.file_name();
                if walk.kind == Kind::Workspace && name == ".git" {
                    self.repositories.insert(path.clone());
                }
                match walk.scope(&path) {
                    Scope::Secret => self.hidden.push(path),
                    Scope::Own | Scope::Persistence if walk.kind == Kind::Workspace => {
                        self.protected.push(path)
                    }
                    _ => {
                        if walk.kind == Kind::Workspace && GUARDED.iter().any(|g| name == *g) {
                            self.protected.push(path.clone());
                        }
                        let of_interest =
                            walk.kind != Kind::Home || depth > 0 || name.as_bytes().starts_with(b".");
                        if of_interest
                            && depth < MAX_DEPTH
                            && !SKIPPED.iter().any(|s| name == *s)
                            && walk.is_directory(&entry)
                        {
                            queue.push_back((path, depth + 1));
                        }
                    }
                }
            }
        }
    }

    /// Where protected symbolic links of the workspace lead: what lies there is what the protected name means.
    pub(crate) fn link_targets(&self) -> impl Iterator<Item = PathBuf> {
        let links = self.protected.iter().filter(|path| path.is_symlink());
        links.filter_map(|path| path.canonicalize().ok())
    }

    /// After a run without an overlay: moves aside what it created in places that instruct agents, editors or git. What existed before could
    /// not be changed; what did not exist could not be mounted over. A repository that the run made itself keeps its own
    /// settings and sample hooks.
    pub(crate) fn refuse_created(&self, request: &Request) -> Vec<PathBuf> {
        let mut after = Self::default();
        after.look_at_workspace(request);
        let before: HashSet<&PathBuf> = self.protected.iter().chain(&self.hidden).collect();
        let mut refused = Vec::new();
        for path in after.protected {
            if before.contains(&path)
                || path.extension().is_some_and(|e| e == REFUSED)
                || self.is_of_new_repository(&path)
            {
                continue;
            }
            let mut aside = path.clone().into_os_string();
            aside.push(format!(".{REFUSED}"));
            if fs::rename(&path, &aside).is_ok() {
                refused.push(path);
            }
        }
        refused
    }

    fn is_of_new_repository(&self, path: &Path) -> bool {
        let harmless = path.ends_with("config") || path.extension().is_some_and(|e| e == "sample");
        let repository = path.ancestors().find(|a| a.file_name().is_some_and(|n| n == ".git"));
        harmless && repository.is_some_and(|r| !self.repositories.contains(r))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What is kept for programs lies in dot directories; the rest is the user's work. Links are followed, since people
    /// keep their settings elsewhere and link to them.
    Home,
    Workspace,
    System,
}

struct Walk<'w> {
    root: &'w Path,
    home: &'w Path,
    request: &'w Request,
    kind: Kind,
}

impl Walk<'_> {
    fn scope(&self, path: &Path) -> Scope {
        let bytes = |p: &'_ Path| p.as_os_str().as_bytes().to_vec();
        scope_of(&bytes(path), &bytes(&self.request.workspace), &bytes(self.home))
    }

    fn is_directory(&self, entry: &fs::DirEntry) -> bool {
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => self.kind == Kind::Home && entry.path().is_dir(),
            Ok(kind) => kind.is_dir(),
            Err(_) => false,
        }
    }
}

/// The request's home, the account's own, root's, and those in the usual place: an environment variable must not move what
/// is protected.
fn homes(request: &Request) -> Vec<PathBuf> {
    let mut homes = vec![request.home.clone(), PathBuf::from("/root")];
    homes.extend(account_home());
    homes.extend(fs::read_dir("/home").into_iter().flatten().flatten().map(|entry| entry.path()));
    homes.sort();
    homes.dedup();
    homes
}

/// The effective user of this process.
fn user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|meta| meta.uid())
}

/// The home directory in passwd(5).
fn account_home() -> Option<PathBuf> {
    let user = user()?.to_string();
    let accounts = fs::read_to_string("/etc/passwd").ok()?;
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        (fields.next()? == user).then(|| fields.nth(2).map(PathBuf::from)).flatten()
    })
}
