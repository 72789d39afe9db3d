//! What of the workspace is protected where a command writes straight to it: everything, however deep it lies.
//!
//! What exists is mounted over, so it has to be found before, and what comes to be is moved aside after. A limit on how much is
//! looked at would be where a command looks first, so there is one only for the time that it takes, and beyond it nothing is run.

use super::aside::{Opened, REFUSED};
use super::filled::is_filled;
use super::{
    SET_ID, folded, is_guarded, is_read_as_a_way, is_read_by_others, is_respelled, is_store,
    leads_to_settings, place_in_project,
};
use crate::git::{REMOTES, STEPS, STRATEGIES, commands, is_harmless, is_own_strategy};
use crate::{Request, reading};
use shward_analysis::{Scope, scope_of};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// How many entries of directories are looked at before a run. As many as a run on an overlay may change.
const MAX_ENTRIES: usize = 1_000_000;

/// The longest path of a directory that is looked into: the kernel takes those of what is in it as a whole. What lies in a longer one
/// cannot be judged.
const MAX_PATH: usize = 3_700;

/// The bits of a mode that tell what something is (`S_IFMT`, inode(7)).
const KIND: u32 = 0o170_000;

/// The longest settings of a repository that are read, in bytes.
const MAX_CONFIG: u64 = 256 * 1024;

/// What of a repository's directory git goes by (gitrepository-layout(5)), besides hooks.
const SETTINGS: [&str; 4] = ["commondir", "config", "config.worktree", "info/attributes"];

/// What was found below a directory.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// What has to stay as it is.
    pub(super) protected: Vec<PathBuf>,
    /// Hooks one by one, and settings, of repositories that were found.
    repositories: Vec<PathBuf>,
    /// When the run began, in seconds, if this is after it.
    since: Option<i64>,
    /// Where the workspace lies in its project, if it is looked for changes.
    place: PathBuf,
    /// Files with the rights of their owner or group, and links in the place of directories of settings, changed since the time that was
    /// asked for, and directories that lie too deep.
    refused: Vec<PathBuf>,
    /// Links, pipes and devices that changed since then. In a repository's directory git makes none.
    strange: Vec<PathBuf>,
    /// Before a run, links and where they lead, pipes, devices, and what was moved aside by then.
    pub(super) there: There,
    /// Directories that were closed to their owner.
    pub(super) opened: Opened,
    /// Whether everything was looked at.
    pub(super) whole: bool,
}

/// What is neither a file nor a directory, and files that were moved aside, by their paths. What a run finds so and leaves so is not its
/// own.
pub(super) type There = HashMap<PathBuf, State>;

/// What something is: its kind and whether it gives the rights of its owner or group (the bits of inode(7)), and where a link leads.
pub(super) type State = (u32, Option<PathBuf>);

fn state(path: &Path) -> Option<State> {
    let mode = fs::symlink_metadata(path).ok()?.mode();
    Some((mode & (KIND | SET_ID), fs::read_link(path).ok()))
}

/// Looks at everything below a workspace, without following links, `times` as much as is allowed before a run. If a time is given, in
/// seconds, it is also looked for what changed since in a way that no run may, and what is closed is opened.
pub(super) fn look(request: &Request, times: usize, since: Option<i64>) -> Live {
    let (workspace, home) = (&request.workspace, &request.home);
    let place = since.map(|_| place_in_project(request)).unwrap_or_default();
    let mut found = Live { whole: true, since, place, ..Live::default() };
    let mut left = MAX_ENTRIES.saturating_mul(times);
    let mut waiting = vec![(workspace.to_owned(), false)];
    while let Some((directory, filled)) = waiting.pop() {
        if directory.as_os_str().len() > MAX_PATH {
            // There was none before.
            found.whole &= since.is_some();
            found.refused.push(directory);
            continue;
        }
        let mut listed = entries(&directory, &mut left);
        if since.is_some()
            && is_closed(&directory, &listed)
            && found.opened.open(&directory, workspace).is_ok()
        {
            listed = entries(&directory, &mut left);
        }
        let entries = match listed {
            Ok(Some(entries)) => entries,
            Ok(None) => {
                found.whole = false;
                break;
            }
            Err(error) => {
                found.whole &= is_gone_or_of_others(&directory, &error);
                continue;
            }
        };
        found.whole &= entries.first().is_none_or(|(name, _)| is_searched(&directory, name));
        let has = |wanted: &str| entries.iter().any(|(name, _)| name == wanted);
        let is_git = directory.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        if is_git || has("HEAD") && (has("commondir") || has("objects") && has("refs")) {
            found.repositories.push(directory.clone());
        }
        for (name, kind) in entries {
            let path = directory.join(&name);
            if !kind.is_dir() && (name.eq_ignore_ascii_case(".git") || is_read_as_a_way(&path))
                || !filled && is_named(&path, workspace, home)
            {
                found.protected.push(path.clone());
            }
            if kind.is_dir() {
                let filled = filled || is_filled(workspace, &directory, &name);
                waiting.push((path, filled));
            } else if let Some(since) = since {
                found.note_changed(path, kind, since, request);
            } else if (!(kind.is_file() || kind.is_socket())
                || path.extension().is_some_and(|e| e == REFUSED))
                && let Some(state) = state(&path)
            {
                found.there.insert(path, state);
            }
        }
    }
    found
}

impl Live {
    /// Notes what is no directory, if it changed since the run began in a way that it may not.
    fn note_changed(&mut self, path: PathBuf, kind: fs::FileType, since: i64, request: &Request) {
        let Some(meta) = fs::symlink_metadata(&path).ok().filter(|meta| meta.ctime() >= since) else {
            return;
        };
        let is_below = |path: &Path| path.strip_prefix(&request.workspace).map(Path::to_owned);
        if kind.is_file() {
            if meta.mode() & SET_ID != 0 {
                self.refused.push(path);
            }
        } else if kind.is_symlink()
            && is_below(&path).is_ok_and(|below| leads_to_settings(request, &self.place, &below))
        {
            self.refused.push(path);
        } else if !kind.is_socket() {
            self.strange.push(path);
        }
    }

    /// What a run must not change of the repositories that were found.
    pub(super) fn of_repositories(&self) -> impl Iterator<Item = PathBuf> {
        let names = SETTINGS.iter().chain(&["hooks"]).chain(&REMOTES);
        let all = self
            .repositories
            .iter()
            .flat_map(move |repository| names.clone().map(|name| repository.join(name)));
        all.filter(|path| path.symlink_metadata().is_ok())
    }

    /// Links, pipes and devices that a run has put into directories of repositories.
    pub(super) fn strange(&self, there: &There) -> impl Iterator<Item = &PathBuf> {
        let repositories: HashSet<&Path> = self.repositories.iter().map(PathBuf::as_path).collect();
        let of_git = move |path: &&PathBuf| path.ancestors().any(|above| repositories.contains(above));
        self.strange.iter().filter(|path| !was_there(path, there)).filter(of_git)
    }

    /// What else a run has created that it must not, where this and nothing else was protected, or there, before.
    pub(super) fn created(&self, before: &HashSet<&PathBuf>, there: &There) -> Vec<PathBuf> {
        let repositories: HashSet<&Path> = self.repositories.iter().map(PathBuf::as_path).collect();
        // What a repository goes by is judged with the repository: one that the run has made keeps what starts nothing.
        let of_repository = |path: &PathBuf| {
            path.ancestors().skip(1).find(|above| repositories.contains(above)).is_some_and(|repository| {
                let below = path.strip_prefix(repository).unwrap_or(path);
                below.starts_with("hooks")
                    || REMOTES.iter().any(|name| below.starts_with(name))
                    || SETTINGS.iter().any(|name| below == Path::new(name))
            })
        };
        let mut found: Vec<PathBuf> =
            self.protected.iter().filter(|path| !of_repository(path)).cloned().collect();
        found.extend(self.refused.iter().cloned());
        for repository in &self.repositories {
            let settings = SETTINGS.iter().map(|name| repository.join(name));
            found.extend(settings.filter(|path| path.symlink_metadata().is_ok() && !is_allowed(path)));
            let steps = repository.join("rebase-merge").join(STEPS);
            if self.since.is_some_and(|since| is_changed(&steps, since))
                && content(&steps).is_none_or(|steps| !commands(&steps).is_empty())
            {
                found.push(steps);
            }
            let since = self.since;
            found.extend(STRATEGIES.map(|name| repository.join(name)).into_iter().filter(|file| {
                since.is_some_and(|since| is_changed(file, since))
                    && content(file).is_none_or(|text| !is_own_strategy(file, &text))
            }));
            let files = |name: &str| {
                let directory = Some(repository.join(name)).filter(|directory| !before.contains(directory));
                let entries = directory.and_then(|directory| fs::read_dir(directory).ok());
                entries.into_iter().flatten().flatten().map(|entry| entry.path())
            };
            found.extend(
                files("hooks").filter(|path| path.extension().is_none_or(|ending| ending != "sample")),
            );
            found.extend(REMOTES.iter().flat_map(|name| files(name)));
        }
        found.retain(|path| !before.contains(path) && !was_there(path, there));
        found
    }
}

/// Whether it is as it was before the run: a link that leads where it led, another of these, or what was moved aside by then.
fn was_there(path: &Path, there: &There) -> bool {
    there.get(path).is_some_and(|before| state(path).as_ref() == Some(before))
}

/// Whether settings that a run has made may stay: those that start no program, and what `git worktree add` writes.
fn is_allowed(path: &Path) -> bool {
    let above = |steps: usize| path.ancestors().nth(steps).and_then(Path::file_name).unwrap_or_default();
    match path.file_name().map(OsStr::as_bytes) {
        Some(b"config") => content(path).is_some_and(|text| is_harmless(None, &text)),
        Some(b"commondir") => {
            above(2) == "worktrees"
                && above(3) == ".git"
                && content(path).is_some_and(|way| way.trim_ascii_end() == b"../..")
        }
        _ => false,
    }
}

fn content(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
    reading::open(path).ok()?.take(MAX_CONFIG + 1).read_to_end(&mut bytes).ok()?;
    // Of what is longer nobody has seen the end.
    (u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_CONFIG)).then_some(bytes)
}

fn is_changed(path: &Path, since: i64) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.ctime() >= since)
}

/// The names in a directory with what they are; `None` when that is more than is looked at.
fn entries(directory: &Path, left: &mut usize) -> io::Result<Option<Vec<(OsString, fs::FileType)>>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let Some(rest) = left.checked_sub(1) else { return Ok(None) };
        *left = rest;
        found.push((entry.file_name(), entry.file_type()?));
    }
    Ok(Some(found))
}

/// Whether a directory may not be read, or what is in it not be looked at.
fn is_closed(directory: &Path, listed: &io::Result<Option<Vec<(OsString, fs::FileType)>>>) -> bool {
    match listed {
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        Ok(listed) => {
            let first = listed.iter().flatten().next();
            first.is_some_and(|(name, _)| !is_searched(directory, name))
        }
    }
}

/// Whether it can be told what the names in a directory are, as far as that is something to the command. Of one that may be read
/// and not searched they are known, and nothing else.
fn is_searched(directory: &Path, name: &OsStr) -> bool {
    match fs::symlink_metadata(directory.join(name)) {
        Err(error) => is_gone_or_of_others(directory, &error),
        Ok(_) => true,
    }
}

/// Whether what could not be read is nothing to the command: it has gone, or the command, which is this user, can neither read it
/// nor make that otherwise.
fn is_gone_or_of_others(directory: &Path, error: &io::Error) -> bool {
    let of_others = || {
        let meta = fs::symlink_metadata(directory);
        meta.map_or(true, |meta| meta.uid() != rustix::process::geteuid().as_raw())
    };
    match error.kind() {
        io::ErrorKind::NotFound => true,
        io::ErrorKind::PermissionDenied => of_others(),
        _ => false,
    }
}

fn is_named(path: &Path, workspace: &Path, home: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let scope = |path: &Path| scope_of(&bytes(path), &bytes(workspace), &bytes(home));
    let matters = |path: &Path| matches!(scope(path), Scope::Own | Scope::Persistence);
    let within = path.strip_prefix(workspace).unwrap_or(path);
    let folded = folded(within);
    is_store(name)
        || is_guarded(name)
        || is_read_by_others(path)
        || is_respelled(name)
        || matters(path)
        || *folded != *within && matters(&workspace.join(folded))
}

#[cfg(test)]
mod tests {
    use super::super::Special;
    use super::*;
    use crate::Request;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    /// Times tell nothing of what was made in the second in which a run began.
    #[test]
    fn what_was_there_stays_and_links_in_repositories_go_whatever_their_names() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for directory in [".git/objects", ".git/refs", ".git/logs", "sub"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let link = |name: &str| symlink("/nowhere", root.join(name)).unwrap();
        let is_there = |name: &str| root.join(name).symlink_metadata().is_ok();
        let old = [".git/FETCH_HEAD", ".devcontainer", ".git/hooks.refused-by-shward"];
        old.iter().for_each(|name| link(name));
        fs::write(root.join("o.refused-by-shward"), "").unwrap();
        let request = Request::command("true", &root, &root).resolved().unwrap();
        let mut special = Special::find(&request, None, false);
        assert!(special.find_live(&request));
        let new = [
            ".git/logs/HEAD",
            ".git/logs/x.refused-by-shward",
            "sub/.devcontainer",
            "sub/.docker.refused-by-shward",
        ];
        new.iter().for_each(|name| link(name));
        let gives =
            |name: &str| fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o4755)).unwrap();
        fs::write(root.join("s.refused-by-shward"), "").unwrap();
        ["s.refused-by-shward", "o.refused-by-shward"].into_iter().for_each(gives);
        // Where another link leads is another link.
        fs::remove_file(root.join(".git/FETCH_HEAD")).unwrap();
        symlink("/elsewhere", root.join(".git/FETCH_HEAD")).unwrap();
        let (refused, whole) = special.refuse_created(&request);
        assert!(whole);
        let gone =
            [".git/FETCH_HEAD", ".git/logs/HEAD", ".git/logs/x.refused-by-shward", "sub/.devcontainer"];
        assert!(gone.iter().all(|name| !is_there(name)), "{refused:?}");
        let stays = [".devcontainer", ".git/hooks.refused-by-shward", "sub/.docker.refused-by-shward"];
        assert!(stays.iter().all(|name| is_there(name)), "{refused:?}");
        for name in ["s.refused-by-shward", "o.refused-by-shward"] {
            let aside = root.join(format!("{name}.refused-by-shward")).symlink_metadata().unwrap();
            assert_eq!((aside.mode() & 0o7777, is_there(name)), (0o755, false), "{name}");
        }
    }

    /// Nothing is closed to root: as root, somebody else does it.
    #[test]
    fn what_a_run_has_closed_is_moved_aside_or_told() {
        if rustix::process::geteuid().is_root() {
            let (_, module) = module_path!().split_once("::").unwrap();
            let name = format!("{module}::what_a_run_has_closed_is_moved_aside_or_told");
            let mut again = Command::new("/proc/self/exe");
            let output = again.args(["--exact", &name]).uid(65_534).gid(65_534).output().unwrap();
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
            return;
        }
        // The mode of a directory `a` in which it has made something, what that is, whether it is moved aside, and whether all is.
        for (mode, made, moved, expected) in [
            (0o755, "a/.vscode/tasks.json", true, true),
            (0o555, "a/.vscode/tasks.json", true, true),
            (0o444, "a/.vscode/tasks.json", true, true),
            (0o444, "a/b/.vscode/tasks.json", true, true),
            (0o444, "a/b", false, true),
            (0o000, "a/.vscode/tasks.json", true, true),
        ] {
            let place = tempfile::tempdir().unwrap();
            let root = place.path().canonicalize().unwrap();
            let request = Request::command("true", &root, &root).resolved().unwrap();
            let mut special = Special::find(&request, None, false);
            assert!(special.find_live(&request));
            let made = root.join(made);
            fs::create_dir_all(made.parent().unwrap()).unwrap();
            fs::write(&made, "").unwrap();
            let close = |mode| fs::set_permissions(root.join("a"), fs::Permissions::from_mode(mode)).unwrap();
            close(mode);
            let (refused, whole) = special.refuse_created(&request);
            assert_eq!(root.join("a").symlink_metadata().unwrap().mode() & 0o777, mode);
            close(0o755);
            assert_eq!(
                (!refused.is_empty(), whole, made.exists()),
                (moved, expected, !moved),
                "{mode:o} {made:?}"
            );
        }
    }
}
