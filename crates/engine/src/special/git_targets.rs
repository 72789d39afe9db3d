//! What the settings of repositories lead to: more settings, and directories of hooks. Both are read by git wherever they lie.

use super::{Special, lexical};
use crate::Request;
use crate::git::{Leads, leads_to};
use crate::reading;
use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// How many files of settings are read, and how many directories are looked through for them.
const MOST: usize = 16_384;

/// How long one may be, in bytes.
const MAX_LENGTH: u64 = 1 << 20;

/// How deep submodules of submodules are looked for.
const MAX_DEPTH: usize = 8;

/// A file of settings that is to be read, and the work tree from which its hooks are named.
struct Waiting {
    file: PathBuf,
    tree: Option<PathBuf>,
}

impl Special {
    /// What the settings of the workspace's repositories lead to, those of their submodules and work trees and the user's own among
    /// them. `None`: there are more than are looked at.
    pub(crate) fn git_targets(&self, request: &Request) -> Option<Vec<PathBuf>> {
        let mut search = Search { waiting: VecDeque::new(), left: MOST };
        for repository in &self.repositories {
            let tree = repository.parent().map(Path::to_owned);
            // The user's settings are about every repository.
            let of_user = [".gitconfig", ".config/git/config"].map(|name| request.home.join(name));
            for file in own_settings(repository).into_iter().chain(of_user) {
                search.waiting.push_back(Waiting { file, tree: tree.clone() });
            }
            search.inner(repository, 0)?;
        }
        let mut waiting = search.waiting;
        let mut found = Vec::new();
        let (mut seen, mut read) = (HashSet::new(), 0);
        while let Some(Waiting { file, mut tree }) = waiting.pop_front() {
            if !seen.insert((file.clone(), tree.clone())) {
                continue;
            }
            let Ok(opened) = reading::open(&file) else { continue };
            let mut text = Vec::new();
            let _ = opened.take(MAX_LENGTH + 1).read_to_end(&mut text);
            read += 1;
            if read > MOST || u64::try_from(text.len()).is_ok_and(|length| length > MAX_LENGTH) {
                return None;
            }
            let leads = leads_to(&text);
            for (_, path) in leads.iter().filter(|(leads, _)| *leads == Leads::Tree) {
                tree = file.parent().map(|beside| beside.join(path));
            }
            for (leads, path) in leads {
                let beside = match leads {
                    Leads::Settings => file.parent(),
                    Leads::Hooks => tree.as_deref(),
                    Leads::Tree => continue,
                };
                let path = match (path.strip_prefix("~/"), beside) {
                    (Some(path), _) => request.home.join(path),
                    (None, Some(beside)) => beside.join(path),
                    (None, None) => continue,
                };
                // Where nothing is yet, what would come to be there is what counts.
                let path = path.canonicalize().unwrap_or_else(|_| lexical(&path));
                if leads == Leads::Settings {
                    waiting.push_back(Waiting { file: path.clone(), tree: tree.clone() });
                }
                if !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        Some(found)
    }
}

/// The files in which a repository keeps settings (gitrepository-layout(5)).
fn own_settings(repository: &Path) -> [PathBuf; 2] {
    [repository.join("config"), repository.join("config.worktree")]
}

/// The search for repositories within repositories.
struct Search {
    waiting: VecDeque<Waiting>,
    /// So many directories may still be looked at.
    left: usize,
}

impl Search {
    /// The settings of submodules and of further work trees, which lie in the repository that they belong to. `None`: there is more
    /// than is looked at.
    fn inner(&mut self, repository: &Path, depth: usize) -> Option<()> {
        ["modules", "worktrees"].iter().try_for_each(|place| self.below(&repository.join(place), depth))
    }

    /// What lies in a directory that is no repository: a submodule is called as its path is, which may have slashes.
    fn below(&mut self, directory: &Path, depth: usize) -> Option<()> {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            self.left = self.left.checked_sub(1).filter(|_| depth < MAX_DEPTH)?;
            let path = entry.path();
            if !path.join("HEAD").exists() {
                self.below(&path, depth + 1)?;
                continue;
            }
            // Of a work tree the file `gitdir` says where it lies.
            let said = reading::open(&path.join("gitdir")).ok().and_then(|file| {
                let mut said = String::new();
                file.take(MAX_LENGTH).read_to_string(&mut said).ok().map(|_| said)
            });
            let tree = said.and_then(|said| Path::new(said.trim()).parent().map(Path::to_owned));
            for file in own_settings(&path) {
                self.waiting.push_back(Waiting { file, tree: tree.clone() });
            }
            self.inner(&path, depth + 1)?;
        }
        Some(())
    }
}
