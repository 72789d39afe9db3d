//! What the settings of repositories lead to: more settings, directories of hooks, and the files that commands in them name. All are
//! read or run by git wherever they lie.

use super::filled::is_installed;
use super::{Special, lexical};
use crate::Request;
use crate::account::user;
use crate::git::{Leads, leads_to};
use crate::reading;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How many directories are looked through for repositories, and to how many places their settings may lead. Where there are more,
/// nothing is run, and a command could see to that for all later ones: so it is no less than what a workspace may hold at all.
const MOST: usize = super::MAX_ENTRIES_OF_WORKSPACE;

/// So many links lead on, as for the kernel (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// How often what was read may be gone through, for one repository after another.
const MOST_STEPS: usize = 16 * MOST;

/// How many submodules are looked for by their names. Where there are more, which a command could see to, all directories of
/// repositories are looked through instead.
const MOST_NAMES: usize = 100_000;

/// How long one may be, in bytes.
const MAX_LENGTH: u64 = 1 << 20;

/// The longest path that the kernel takes, in bytes (`PATH_MAX`): what is longer leads nowhere.
const LONGEST_PATH: usize = 4096;

/// How many work trees one repository may have, times what its settings name in each. Only the last one counts to git, and such
/// settings no command can make.
const MOST_IN_TREES: usize = 100_000;

/// The longest file that says where something else lies, in bytes.
const LONGEST_WAY: u64 = 64 << 10;

impl Special {
    /// What the settings of the workspace's repositories lead to, those of their submodules and work trees and the user's own among
    /// them. `None`: there are more than are looked at.
    pub(crate) fn git_targets(&self, request: &Request) -> Option<Vec<PathBuf>> {
        self.targets(request, Some(MOST_NAMES)).or_else(|| self.targets(request, None))
    }

    /// With a number of names what git fills is left out, and so many submodules are looked for by their names.
    fn targets(&self, request: &Request, names: Option<usize>) -> Option<Vec<PathBuf>> {
        let mut search =
            Search { waiting: Vec::new(), met: HashSet::new(), left: MOST, by_name: names.is_some() };
        // Those that the workspace lies in lead into it, too, and it is their work tree that a command there is about.
        let above = request.workspace.ancestors().skip(1).map(|above| above.join(".git"));
        for git in self.repositories.iter().cloned().chain(above) {
            let tree = git.parent();
            if let Some(directory) = directory_of(&git) {
                // Those of submodules and of further work trees lie in the repository that they belong to.
                let places = ["modules", "worktrees"].map(|place| directory.join(place));
                search.waiting.extend(places.map(|place| Waiting::Below(place, Within::Nothing)));
                search.waiting.push(Waiting::Repository(directory, tree.map(Path::to_owned)));
            }
        }
        let mut reading = Reading {
            home: &request.home,
            workspace: &request.workspace,
            files: HashMap::new(),
            found: BTreeSet::new(),
            steps: MOST_STEPS,
            names,
        };
        // The user's settings are about every repository.
        let of_user = [".gitconfig", ".config/git/config"].map(|name| request.home.join(name));
        while let Some((directory, tree)) = search.next()? {
            let shared = way(&directory.join("commondir"), "").map(|common| real(&directory.join(common)));
            let own = shared.iter().chain([&directory]).flat_map(|place| own_settings(place));
            let modules = reading.repository(&directory, tree, own.chain(of_user.clone()).collect())?;
            // By their names, wherever those lead to: a submodule may be called `lib/logs/refs`, and a command can make a repository
            // of `lib`.
            let named = modules.into_iter().map(|name| directory.join("modules").join(name));
            search.waiting.extend(named.filter(|module| is_there(&module.join("HEAD"))).map(repository_at));
        }
        Some(reading.found.into_iter().collect())
    }
}

/// The files in which a repository keeps settings (gitrepository-layout(5)).
fn own_settings(repository: &Path) -> [PathBuf; 2] {
    [repository.join("config"), repository.join("config.worktree")]
}

/// The repository of a work tree: its `.git`, or, of a submodule or a further work tree, the directory that this file names.
fn directory_of(git: &Path) -> Option<PathBuf> {
    if fs::metadata(git).ok()?.is_dir() {
        return Some(git.to_owned());
    }
    let directory = git.parent()?.join(way(git, "gitdir:")?);
    // Without one git takes it for no repository, and it may be any directory.
    directory.join("HEAD").exists().then(|| real(&directory))
}

/// The path that a file consists of, after what introduces it.
fn way(file: &Path, introduction: &str) -> Option<PathBuf> {
    let mut text = String::new();
    reading::open(file).ok()?.take(LONGEST_WAY).read_to_string(&mut text).ok()?;
    let path = text.strip_prefix(introduction)?.trim();
    (!path.is_empty()).then(|| path.into())
}

/// Where nothing is yet, what would come to be there is what counts.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| lexical(path))
}

enum Waiting {
    /// A repository, and the work tree from which its hooks are named, where that is known.
    Repository(PathBuf, Option<PathBuf>),
    /// A directory in which there may be some, if it is none itself.
    Below(PathBuf, Within),
}

/// What a directory is to the repository that it lies in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Nothing,
    /// Its `objects`.
    Objects,
    /// Its `logs`.
    Logs,
    /// Its `refs`.
    Refs,
}

impl Within {
    /// What a directory is by its name. Only where there is a repository around it, it has logs and references.
    fn named(name: &OsStr, in_repository: bool) -> Self {
        match name.as_bytes() {
            b"objects" => Self::Objects,
            b"logs" if in_repository => Self::Logs,
            b"refs" if in_repository => Self::Refs,
            _ => Self::Nothing,
        }
    }

    /// Whether git fills a directory of this name there, and with nothing else (gitrepository-layout(5)).
    fn is_filled(self, name: &OsStr) -> bool {
        let name = name.as_bytes();
        match self {
            Self::Nothing => false,
            Self::Objects => {
                matches!(name, b"info" | b"pack") || name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit)
            }
            Self::Logs => name == b"refs",
            Self::Refs => matches!(name, b"heads" | b"notes" | b"remotes" | b"tags"),
        }
    }
}

/// Where a repository lies that has no work tree of its own, or one that its file `gitdir` names, as further work trees do.
fn repository_at(path: PathBuf) -> Waiting {
    let git = way(&path.join("gitdir"), "").map(|git| path.join(git));
    let tree = git.and_then(|git| git.parent().map(lexical));
    Waiting::Repository(path, tree)
}

/// To git a repository has a `HEAD` even where that is a link that leads nowhere.
fn is_there(head: &Path) -> bool {
    head.symlink_metadata().is_ok()
}

/// The search for repositories within repositories.
struct Search {
    waiting: Vec<Waiting>,
    met: HashSet<(PathBuf, Option<PathBuf>)>,
    /// So many directories may still be looked at.
    left: usize,
    /// Whether submodules are looked for by their names, too.
    by_name: bool,
}

impl Search {
    /// The next repository, if there is one. `None`: there is more than is looked at.
    fn next(&mut self) -> Option<Option<(PathBuf, Option<PathBuf>)>> {
        while let Some(waiting) = self.waiting.pop() {
            match waiting {
                Waiting::Below(directory, within) => self.below(directory, within)?,
                Waiting::Repository(directory, tree) => {
                    let found = (directory, tree);
                    if self.met.insert(found.clone()) {
                        return Some(Some(found));
                    }
                }
            }
        }
        Some(None)
    }

    /// What lies in a directory, and whether it is a repository: a submodule is called as its path is, which may have slashes. What
    /// lies in a repository is looked at, too, because a command can make one of the directory in which another one lies. What git
    /// fills itself is left out. Each directory is read once, and nothing in it is asked for by its name: there may be very many.
    fn below(&mut self, directory: PathBuf, within: Within) -> Option<()> {
        let (mut below, mut has) = (Vec::new(), [false; 3]);
        let Ok(entries) = fs::read_dir(&directory) else {
            // One that cannot be listed can be a repository all the same.
            if is_there(&directory.join("HEAD")) {
                self.waiting.push(repository_at(directory));
            }
            return Some(());
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            for (has, known) in has.iter_mut().zip(["HEAD", "objects", "refs"]) {
                *has |= name == known;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !(self.by_name && within.is_filled(&name))
            {
                self.left = self.left.checked_sub(1)?;
                below.push(name);
            }
        }
        let [head, objects, references] = has;
        let in_repository = head && objects && references;
        self.waiting.extend(
            (below.into_iter())
                .map(|name| Waiting::Below(directory.join(&name), Within::named(&name, in_repository))),
        );
        if head {
            self.waiting.push(repository_at(directory));
        }
        Some(())
    }
}

/// What a file of settings says, which is read once, however many repositories obey it.
#[derive(Default)]
struct Said {
    settings: Vec<PathBuf>,
    /// Relative to the work tree.
    hooks: Vec<PathBuf>,
    /// Words of commands, relative to the work tree.
    started: Vec<PathBuf>,
    /// Work trees, relative to the repository.
    trees: Vec<PathBuf>,
    /// Names of submodules.
    modules: Vec<PathBuf>,
}

/// What was read, and what that leads to.
struct Reading<'h> {
    home: &'h Path,
    workspace: &'h Path,
    files: HashMap<PathBuf, Rc<Said>>,
    found: BTreeSet<PathBuf>,
    /// So many may still be made.
    steps: usize,
    /// So many submodules may still be named, if they are looked for by their names.
    names: Option<usize>,
}

impl Reading<'_> {
    /// What the settings of one repository, and all that these include, lead to, and the names of its submodules. `None`: that is
    /// more than is looked at.
    fn repository(
        &mut self,
        directory: &Path,
        tree: Option<PathBuf>,
        mut waiting: Vec<PathBuf>,
    ) -> Option<BTreeSet<PathBuf>> {
        let (mut seen, mut hooks, mut modules) = (HashSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut started: BTreeSet<PathBuf> = BTreeSet::new();
        let mut trees: BTreeSet<PathBuf> = tree.into_iter().collect();
        while let Some(file) = waiting.pop() {
            if seen.contains(&file) {
                continue;
            }
            let said = self.said(&file)?;
            seen.insert(file);
            self.step(1 + said.settings.len() + said.hooks.len() + said.started.len() + said.trees.len())?;
            modules.extend(self.named(&said)?);
            waiting.extend(said.settings.iter().cloned());
            hooks.extend(said.hooks.iter().cloned());
            started.extend(said.started.iter().cloned());
            trees.extend(said.trees.iter().map(|tree| lexical(&directory.join(tree))));
        }
        let mut in_trees = MOST_IN_TREES.max(hooks.len() + started.len());
        for tree in &trees {
            // What is only described is a submodule before anybody has set it up here.
            let described = self.said(&tree.join(".gitmodules"))?;
            modules.extend(self.named(&described)?);
            in_trees = in_trees.checked_sub(hooks.len() + started.len())?;
            self.step(hooks.len())?;
            hooks.iter().try_for_each(|hooks| self.find_with_links(&tree.join(hooks)))?;
            self.step(started.len())?;
            started.iter().try_for_each(|word| self.start(tree, word))?;
        }
        // Those that are no matter of a tree.
        let absolute = hooks.iter().filter(|hooks| trees.is_empty() && hooks.is_absolute());
        absolute.into_iter().try_for_each(|hooks| self.find_with_links(hooks))?;
        Some(modules)
    }

    /// A word of a command names a file of the workspace if one lies there, or if it is written as the path of one. What is a directory
    /// is where a command works (`code --wait .`), and no file of its; what package managers install comes and goes as a whole.
    fn start(&mut self, tree: &Path, word: &Path) -> Option<()> {
        let path = tree.join(word);
        if lexical(&path).strip_prefix(self.workspace).is_ok_and(is_installed) {
            return Some(());
        }
        if ![real(&path), lexical(&path)].iter().any(|path| path.starts_with(self.workspace)) {
            return Some(());
        }
        let is_path = word.components().count() > 1;
        match fs::metadata(&path) {
            Ok(found) if !found.is_dir() => self.find_with_links(&path),
            Err(_) if is_path => self.find_with_links(&path),
            _ => Some(()),
        }
    }

    /// Where it lies, and each name by which git gets there: whoever can change a link on the way makes it lead elsewhere.
    fn find_with_links(&mut self, path: &Path) -> Option<()> {
        self.find(real(path))?;
        let mut named = lexical(path);
        for _ in 0..MOST_LINKS {
            self.step(named.iter().count())?;
            self.find(named.clone())?;
            let inside = named.ancestors().take_while(|above| above.starts_with(self.workspace));
            let Some(link) = inside.filter(|above| above.is_symlink()).last().map(Path::to_owned) else {
                break;
            };
            let Ok(target) = fs::read_link(&link) else { break };
            let behind = named.strip_prefix(&link).unwrap_or(Path::new(""));
            named = lexical(&link.parent().unwrap_or(&link).join(target).join(behind));
            self.find(link)?;
        }
        Some(())
    }

    /// The submodules that a file names. `None`: more than are looked for by their names.
    fn named(&mut self, said: &Said) -> Option<Vec<PathBuf>> {
        let Some(left) = &mut self.names else { return Some(Vec::new()) };
        *left = left.checked_sub(said.modules.len())?;
        Some(said.modules.clone())
    }

    fn step(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(steps)?;
        Some(())
    }

    fn find(&mut self, path: PathBuf) -> Option<()> {
        self.found.insert(path);
        (self.found.len() <= MOST).then_some(())
    }

    /// What a file says; nothing if it cannot be read. `None`: it is too long, or closed by us in the workspace, where a command could
    /// open it again.
    fn said(&mut self, file: &Path) -> Option<Rc<Said>> {
        if let Some(said) = self.files.get(file) {
            return Some(Rc::clone(said));
        }
        let mut said = Said::default();
        let opened = reading::open(file);
        if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
            && file.starts_with(self.workspace)
            && fs::metadata(file).is_ok_and(|found| found.uid() == user())
        {
            return None;
        }
        if let Ok(opened) = opened {
            let mut text = Vec::new();
            let _ = opened.take(MAX_LENGTH + 1).read_to_end(&mut text);
            if u64::try_from(text.len()).is_ok_and(|length| length > MAX_LENGTH) {
                return None;
            }
            let mut included = HashSet::new();
            for (leads, path) in leads_to(&text) {
                if path.len() >= LONGEST_PATH {
                    continue;
                }
                let path =
                    path.strip_prefix("~/").map_or_else(|| path.clone().into(), |path| self.home.join(path));
                match leads {
                    // The same once more says nothing new.
                    Leads::Settings if !included.insert(path.clone()) => {}
                    Leads::Settings => {
                        let path = real(&file.parent().unwrap_or(file).join(path));
                        self.find(path.clone())?;
                        said.settings.push(path);
                    }
                    Leads::Hooks => said.hooks.push(path),
                    Leads::Started => said.started.push(path),
                    Leads::Tree => said.trees.push(path),
                    Leads::Module => said.modules.push(path),
                }
            }
        }
        let said = Rc::new(said);
        self.files.insert(file.to_owned(), Rc::clone(&said));
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_fills_is_left_out() {
        for (within, filled, others) in [
            (Within::Nothing, &[][..], &["refs", "heads", "objects", "ab"][..]),
            (Within::Objects, &["info", "pack", "ab", "0F"], &["a", "abc", "zz", "lib", "refs"]),
            (Within::Logs, &["refs"], &["heads", "lib", "HEAD"]),
            (Within::Refs, &["heads", "notes", "remotes", "tags"], &["refs", "lib", "stash"]),
        ] {
            for (names, expected) in [(filled, true), (others, false)] {
                for name in names {
                    assert_eq!(within.is_filled(OsStr::new(name)), expected, "{name}");
                }
            }
        }
    }

    /// Git fills only what it takes for a repository.
    #[test]
    fn what_is_no_repository_is_looked_through() {
        for missing in ["objects", "refs"] {
            let place = tempfile::tempdir().unwrap();
            let module = place.path().join("modules/m");
            for name in ["objects", "refs", "logs/refs/deep"].into_iter().filter(|name| *name != missing) {
                fs::create_dir_all(module.join(name)).unwrap();
            }
            fs::write(module.join("HEAD"), "").unwrap();
            let waiting = vec![Waiting::Below(place.path().join("modules"), Within::Nothing)];
            let mut search = Search { waiting, met: HashSet::new(), left: MOST, by_name: true };
            assert_eq!(search.next().unwrap(), Some((module, None)));
            assert_eq!(search.next().unwrap(), None);
            assert_eq!(MOST - search.left, 5, "{missing}");
        }
    }

    /// A link that leads nowhere is a `HEAD` to git.
    #[test]
    fn a_head_is_there_wherever_it_leads() {
        let place = tempfile::tempdir().unwrap();
        let head = place.path().join("HEAD");
        assert!(!is_there(&head));
        std::os::unix::fs::symlink("nowhere", &head).unwrap();
        assert!(is_there(&head));
    }

    /// What git fills is not looked through, however much it is; unless there are too many names.
    #[test]
    fn what_git_fills_costs_nothing() {
        let place = tempfile::tempdir().unwrap();
        let modules = place.path().join("modules");
        let filled = ["logs/refs/heads", "refs/heads", "refs/remotes/o", "refs/tags", "objects/ab"];
        for (module, head) in [("git", true), ("other", false)] {
            for name in filled {
                for number in 0..10 {
                    fs::create_dir_all(modules.join(module).join(name).join(number.to_string())).unwrap();
                }
            }
            if head {
                fs::write(modules.join(module).join("HEAD"), "").unwrap();
            }
        }
        // Of the one its name, `logs`, `refs` and `objects`; of the other those, `logs/refs` with what is below, and that below `refs`.
        for (by_name, expected) in [(true, 4 + 4 + 12 + 34), (false, 2 * (4 + 12 + 34 + 11))] {
            let waiting = vec![Waiting::Below(modules.clone(), Within::Nothing)];
            let mut search = Search { waiting, met: HashSet::new(), left: MOST, by_name };
            assert_eq!(search.next().unwrap(), Some((modules.join("git"), None)));
            assert_eq!(search.next().unwrap(), None);
            assert_eq!(MOST - search.left, expected, "{by_name}");
        }
    }

    /// Paths that lead nowhere, the same settings again and again, and many work trees of one repository cost next to nothing.
    #[test]
    fn what_is_written_without_end_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let git = root.join(".git");
        fs::create_dir_all(&git).unwrap();
        let lines = |line: &dyn Fn(usize) -> String, number: usize| (0..number).map(line).collect::<String>();
        let targets = |text: &str| {
            fs::write(git.join("config"), text).unwrap();
            let special = Special { repositories: HashSet::from([git.clone()]), ..Special::default() };
            let begun = std::time::Instant::now();
            let request = Request { home: root.join("home"), ..Request::command("true", &root, &root) };
            let found = special.git_targets(&request);
            assert!(begun.elapsed().as_secs() < 10, "{:.60}: {:?}", text, begun.elapsed());
            found
        };
        let word = "a/".repeat(500_000);
        for name in ["fsmonitor", "hooksPath", "worktree"] {
            assert_eq!(targets(&format!("[core]\n\t{name} = {word}\n")), Some(vec![]), "{name}");
        }
        assert_eq!(targets(&format!("[include]\n\tpath = {word}\n")), Some(vec![]));
        let found = targets(&format!("[include]\n{}", lines(&|_| "\tpath = ../x\n".to_owned(), 50_000)));
        assert_eq!(found, Some(vec![root.join("x")]));
        let trees = lines(&|number| format!("\tworktree = ../t{number}\n\thooksPath = h{number}\n"), 3_000);
        assert_eq!(targets(&format!("[core]\n{trees}")), None);
        let longest = format!("{}h", "./".repeat(LONGEST_PATH / 2 - 1));
        let found = targets(&format!("[core]\n\thooksPath = {longest}\n"));
        assert_eq!(found, Some(vec![root.join("h")]));
    }
}
