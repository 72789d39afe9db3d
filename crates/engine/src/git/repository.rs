//! What a path is to a repository of git: its settings and hooks, what leads to others, or nothing that git goes by.

use super::config::values_of;
use shward_sandbox::overlay::{Change, ChangeKind, Kind, Sight};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What a path is to a repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InRepository {
    /// The repository's directory, or what stands in its place.
    Itself,
    /// `config` and its kin; whether the repository was made by this command.
    Settings { new: bool },
    /// A file that git runs.
    Hooks,
    /// A file by which git finds settings in another place.
    Elsewhere,
    /// A file of its own for one repository that is fetched from and sent to.
    Remote,
    /// What a rebase has still to do; git executes what it says, once somebody goes on with it.
    Steps,
    /// How a rebase or a cherry-pick that waits goes on merging; git starts the program of that name.
    Strategy,
    /// What makes a repository of a directory that holds settings already.
    Completed,
    /// A link, a pipe or a device, of which git makes none there.
    Strange,
    /// The example of a hook, which is none.
    Sample,
    /// Everything that a commit writes.
    Ordinary,
}

/// Where a path lies in a repository, if it does: below a `.git`, or in a directory that git would take for one
/// (gitrepository-layout(5)), such as a bare repository or one under another name, wherever that lies. Of several answers the
/// strictest counts.
pub(crate) fn within_repository(change: &Change, sight: &Sight<'_>) -> Option<InRepository> {
    let parts: Vec<&OsStr> = change.path.iter().collect();
    let git = parts.iter().rposition(|part| part.as_bytes().eq_ignore_ascii_case(b".git"));
    let mut found = None;
    if let Some(at) = git {
        let repository: PathBuf = parts.get(..=at)?.iter().collect();
        let below = parts.get(at + 1..)?;
        let new = !sight.existed(&repository);
        found = Some(match below {
            [] => InRepository::Itself,
            below if leads_elsewhere(below, change, sight) => InRepository::Elsewhere,
            below => classify(below, change, new),
        });
    } else if leads_elsewhere(&[], change, sight) {
        return Some(InRepository::Elsewhere);
    }
    if is_strange(change) && found.is_none() {
        // Whatever its name is: git writes under more than can be listed.
        let within = change
            .path
            .ancestors()
            .skip(1)
            .any(|directory| looks_like_one(|name| sight.exists(&directory.join(name))));
        found = within.then_some(InRepository::Strange);
    }
    // Only these names say anything, so only for them the neighbours are looked at.
    for (at, name) in parts.iter().enumerate().skip(git.map_or(0, |git| git + 1)) {
        if found.as_ref().is_some_and(|found| *found != InRepository::Ordinary) {
            break;
        }
        let (means, makes) = (MEANING.iter().any(|n| name == n), MAKING.iter().any(|n| name == n));
        // The repository's own directory has been judged.
        if !(means || makes) || git.is_some_and(|git| at == git + 1) {
            continue;
        }
        let directory: PathBuf = parts.get(..at)?.iter().collect();
        let was_one = looks_like_one(|name| sight.existed(&directory.join(name)));
        if !looks_like_one(|name| sight.exists(&directory.join(name))) {
            // Its settings would be nobody's until somebody brings back what is gone, with git or by taking a run back.
            if was_one && makes && at + 1 == parts.len() && change.what == ChangeKind::Deleted {
                found = Some(InRepository::Itself);
            }
            continue;
        }
        if means {
            // What is nothing to this repository may be something by its name.
            let inner = classify(parts.get(at..)?, change, !was_one);
            found = Some(inner).filter(|inner| *inner != InRepository::Ordinary).or(found);
        } else if at + 1 == parts.len()
            && !was_one
            && MEANING.iter().any(|name| sight.existed(&directory.join(name)))
        {
            // What was no setting when it was written would be one by this.
            found = Some(InRepository::Completed);
        }
    }
    found
}

/// Where a directory lies in the own directory of a repository, if it does: below a `.git`, or another one that git would take for one.
pub(crate) fn place_in_repository(directory: &Path) -> Option<PathBuf> {
    let is_one = |above: &&Path| {
        above.file_name().is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b".git"))
            || looks_like_one(|name| above.join(name).exists())
    };
    let repository = directory.ancestors().find(is_one)?;
    directory.strip_prefix(repository).ok().map(Path::to_owned)
}

/// Whether everything in a directory is run, or obeyed, by the repository in which it lies.
pub(crate) fn is_run_by_git(directory: &Path) -> bool {
    let means = |part: &OsStr| ["hooks", "info"].iter().any(|name| part.eq_ignore_ascii_case(name));
    place_in_repository(directory).is_some_and(|inside| inside.iter().any(means))
}

/// Whether what is changed in a directory at such a place is more to the repository than what a commit writes.
pub(crate) fn is_of_repository(inside: &Path, change: &Change) -> bool {
    let path = inside.join(&change.path);
    // At the top it is judged by what lies beside it.
    !inside.as_os_str().is_empty()
        && classify(&path.iter().collect::<Vec<_>>(), change, false) != InRepository::Ordinary
}

/// What git reads its settings from, and what it runs.
const MEANING: [&str; 7] = ["config", "config.worktree", "hooks", "commondir", "info", "remotes", "branches"];

/// The directories in which git still looks for remote repositories that its settings do not have (gitrepository-layout(5)); nothing
/// writes there any more.
pub(crate) const REMOTES: [&str; 2] = ["branches", "remotes"];

/// The file with what a rebase has still to do.
pub(crate) const STEPS: &str = "git-rebase-todo";

/// The files that name the strategy with which a rebase, or a cherry-pick of several commits, goes on. Of a name that is not its own git
/// starts `git-merge-NAME`, and with a slash in it that is a path (git-merge(1), "MERGE STRATEGIES").
pub(crate) const STRATEGIES: [&str; 2] = ["rebase-merge/strategy", "sequencer/opts"];

/// What git merges with itself.
const OWN_STRATEGIES: [&str; 6] = ["octopus", "ort", "ours", "recursive", "resolve", "subtree"];

/// Whether such a file names nothing but strategies of git's own.
pub(crate) fn is_own_strategy(file: &Path, text: &[u8]) -> bool {
    let is_own = |name: &str| OWN_STRATEGIES.contains(&name);
    match file.file_name() {
        Some(name) if name.eq_ignore_ascii_case("strategy") => {
            std::str::from_utf8(text).is_ok_and(|name| is_own(name.trim()))
        }
        _ => {
            values_of(text, "options", "strategy").is_some_and(|names| names.iter().all(|name| is_own(name)))
        }
    }
}

/// The lines of such a file that are commands for a shell (git-rebase(1)).
pub(crate) fn commands(steps: &[u8]) -> Vec<&[u8]> {
    let is_command = |line: &&[u8]| {
        ["exec", "x"].iter().any(|word| {
            line.strip_prefix(word.as_bytes())
                .is_some_and(|rest| rest.starts_with(b" ") || rest.starts_with(b"\t"))
        })
    };
    steps.split(|b| matches!(b, b'\n' | b'\r')).map(<[u8]>::trim_ascii).filter(is_command).collect()
}

/// What makes git take a directory for a repository.
const MAKING: [&str; 3] = ["HEAD", "objects", "refs"];

/// Whether git would take a directory for a repository: with a `commondir`, the rest may lie where that leads.
fn looks_like_one(there: impl Fn(&str) -> bool) -> bool {
    there("HEAD") && (there("commondir") || there("objects") && there("refs"))
}

/// Whether this is, in whatever directory, a file that only repositories have and that leads git to other settings. `git worktree add`
/// writes one, with the way back to the repository that it belongs to.
fn leads_elsewhere(below: &[&OsStr], change: &Change, sight: &Sight<'_>) -> bool {
    let name = change.path.file_name().unwrap_or_default();
    if change.kind == Kind::Directory || change.what == ChangeKind::Deleted {
        return false;
    }
    if name.eq_ignore_ascii_case("config.worktree") {
        return true;
    }
    let of_worktree = || {
        matches!(below, [worktrees, _, _] if worktrees.eq_ignore_ascii_case("worktrees"))
            && change.what == ChangeKind::Created
            && sight.after(&change.path, 16).is_some_and(|way| way.trim_ascii_end() == b"../..")
    };
    name.eq_ignore_ascii_case("commondir") && !of_worktree()
}

/// Whether a path ends with these names, to a file system that may not tell upper from lower case.
fn ends_with(path: &[&OsStr], end: &str) -> bool {
    let ends: Vec<&str> = end.split('/').collect();
    let last = path.len().checked_sub(ends.len()).and_then(|from| path.get(from..));
    last.is_some_and(|last| last.iter().zip(ends).all(|(part, name)| part.eq_ignore_ascii_case(name)))
}

/// What a path below a repository's directory is. Those of submodules and worktrees lie deeper and look the same.
fn classify(below: &[&OsStr], change: &Change, new: bool) -> InRepository {
    let is = |part: Option<&&OsStr>, name: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(name));
    let inner = match below.first() {
        // The name of a submodule may have several parts.
        Some(first) if first.eq_ignore_ascii_case("modules") || first.eq_ignore_ascii_case("worktrees") => {
            below
                .iter()
                .position(|part| {
                    ["hooks", "config", "config.worktree", "commondir"]
                        .iter()
                        .any(|n| part.eq_ignore_ascii_case(n))
                })
                .and_then(|at| below.get(at..))
                .unwrap_or_default()
        }
        _ => below,
    };
    let (first, last) = (inner.first(), inner.last());
    if is(below.last(), STEPS) && change.what != ChangeKind::Deleted {
        return InRepository::Steps;
    }
    if STRATEGIES.iter().any(|file| ends_with(below, file)) && change.what != ChangeKind::Deleted {
        return InRepository::Strategy;
    }
    if is(first, "hooks") {
        // Hooks are run by their name, which samples do not have (githooks(5)).
        let created = change.what == ChangeKind::Created;
        let sample = inner.len() == 2 && last.is_some_and(|name| name.as_bytes().ends_with(b".sample"));
        return match change.kind {
            Kind::File if sample && (new || created) => InRepository::Sample,
            Kind::Directory if created => InRepository::Ordinary,
            _ => InRepository::Hooks,
        };
    }
    if is(first, "config") || is(first, "config.worktree") {
        return InRepository::Settings { new };
    }
    if is(first, "commondir") {
        let created = change.what == ChangeKind::Created;
        return if created { InRepository::Ordinary } else { InRepository::Elsewhere };
    }
    if is_remote(below) && change.kind != Kind::Directory && change.what != ChangeKind::Deleted {
        return InRepository::Remote;
    }
    if is(first, "info") && is(inner.get(1), "attributes") {
        return InRepository::Elsewhere;
    }
    if is_strange(change) {
        return InRepository::Strange;
    }
    InRepository::Ordinary
}

/// Whether git makes nothing of this kind in a repository's directory, unless it is told to (`core.preferSymlinkRefs`). It reads where a
/// link leads as what it keeps there itself, and writes there, too: to `logs/HEAD` with the name and the message of each commit, and
/// over `COMMIT_EDITMSG`. At a pipe it waits. A socket is that of its own watcher (git-fsmonitor--daemon(1)).
fn is_strange(change: &Change) -> bool {
    change.what != ChangeKind::Deleted && matches!(change.kind, Kind::Link | Kind::Pipe | Kind::Special)
}

/// Whether a path below a repository's directory is that of a file of old for a remote repository: the names of those have no parts
/// (git's remote.c), and no other file lies beside them, which a submodule called `remotes` has.
fn is_remote(below: &[&OsStr]) -> bool {
    let [above @ .., directory, name] = below else { return false };
    let is = |part: &OsStr, names: &[&str]| names.iter().any(|known| part.eq_ignore_ascii_case(known));
    // What a repository knows of the branches of others has such a name, too, and so may a branch.
    is(directory, &REMOTES)
        && !above.iter().any(|part| is(part, &["refs", "logs"]))
        && !(above.first().is_some_and(|first| is(first, &["modules"])) && is(name, &OF_EVERY_REPOSITORY))
}

/// What lies in every repository's directory.
const OF_EVERY_REPOSITORY: [&str; 14] = [
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "HEAD",
    "HEAD.lock",
    "MERGE_HEAD",
    "MERGE_MSG",
    "ORIG_HEAD",
    "config",
    "config.lock",
    "description",
    "index",
    "index.lock",
    "packed-refs",
    "packed-refs.lock",
];

#[cfg(test)]
mod tests {
    use super::{InRepository, classify, commands, is_own_strategy};
    use shward_sandbox::overlay::{Change, ChangeKind, Kind};
    use std::path::Path;

    fn change(path: &str) -> Change {
        Change {
            path: path.into(),
            what: ChangeKind::Created,
            kind: Kind::File,
            kind_before: None,
            size: 1,
            size_before: None,
            mode: 0o644,
            mode_before: None,
            found: None,
            whole: false,
        }
    }

    /// A repository's own files for others are not what it knows of their branches.
    #[test]
    fn repositories_that_are_fetched_from() {
        for (path, known) in [
            ("remotes/o", true),
            ("Branches/o", true),
            ("modules/s/remotes/o", true),
            ("modules/a/b/branches/o", true),
            ("remotes", false),
            ("refs/remotes/o/main", false),
            ("logs/refs/remotes/o/main", false),
            ("modules/s/refs/remotes/o/main", false),
            ("modules/a/b/logs/refs/remotes/o/HEAD", false),
            ("worktrees/w/refs/remotes/x", false),
            // A branch and a submodule of such a name.
            ("modules/s/refs/heads/branches/x", false),
            ("modules/s/logs/refs/heads/branches/x", false),
            ("modules/remotes/sub/index", false),
            ("modules/remotes/sub/objects/ab/cd", false),
            ("modules/remotes/HEAD", false),
        ] {
            let change = change(path);
            let found = classify(&Path::new(path).iter().collect::<Vec<_>>(), &change, false);
            assert_eq!(found == InRepository::Remote, known, "{path}: {found:?}");
        }
    }

    #[test]
    fn examples_of_hooks() {
        let file = |path: &str| change(path);
        for (change, new, expected) in [
            (file("hooks/a.sample"), false, InRepository::Sample),
            (file("modules/s/hooks/a.sample"), false, InRepository::Sample),
            (file("hooks/a"), true, InRepository::Hooks),
            (file("hooks/a.sample/b"), true, InRepository::Hooks),
            // In a repository in there it is something else.
            (file("hooks/r/remotes/a.sample"), true, InRepository::Hooks),
            (file("modules/hooks/r/remotes/a.sample"), false, InRepository::Hooks),
            (Change { what: ChangeKind::Changed, ..file("hooks/a.sample") }, false, InRepository::Hooks),
            (Change { what: ChangeKind::Deleted, ..file("hooks/a.sample") }, false, InRepository::Hooks),
            (Change { kind: Kind::Link, ..file("hooks/a.sample") }, true, InRepository::Hooks),
            (Change { kind: Kind::Directory, ..file("hooks/a.sample") }, true, InRepository::Ordinary),
        ] {
            let below: Vec<_> = change.path.iter().collect();
            assert_eq!(classify(&below, &change, new), expected, "{change:?}");
        }
    }

    /// Git makes no links and no pipes, and follows those that are there.
    #[test]
    fn what_git_makes_none_of() {
        for path in
            ["remotes", "modules/s/info", "rebase-merge", "refs/x", "logs/HEAD", "COMMIT_EDITMSG", "index"]
        {
            for (kind, what, expected) in [
                (Kind::Link, ChangeKind::Created, true),
                (Kind::Link, ChangeKind::Changed, true),
                (Kind::Pipe, ChangeKind::Created, true),
                (Kind::Special, ChangeKind::Created, true),
                (Kind::Link, ChangeKind::Deleted, false),
                (Kind::Socket, ChangeKind::Created, false),
                (Kind::Directory, ChangeKind::Created, false),
            ] {
                let change = Change { kind, what, ..change(path) };
                let found = classify(&Path::new(path).iter().collect::<Vec<_>>(), &change, false);
                assert_eq!(found == InRepository::Strange, expected, "{path} {kind:?} {what:?}: {found:?}");
            }
        }
    }

    /// git-rebase(1) and git-cherry-pick(1) write both.
    #[test]
    fn strategies_that_start_a_program() {
        for (file, text, own) in [
            ("rebase-merge/strategy", "ort\n", true),
            ("rebase-merge/strategy", "recursive", true),
            ("rebase-merge/strategy", "mine/x\n", false),
            ("rebase-merge/strategy", "theirs", false),
            ("rebase-merge/strategy", "", false),
            ("sequencer/opts", "[options]\n\trecord-origin = true\n", true),
            ("sequencer/opts", "[options]\n\tstrategy = ort\n\tstrategy-option = theirs\n", true),
            ("sequencer/opts", "[options]\n\tstrategy = mine/x\n", false),
            ("sequencer/opts", "[OPTIONS]\nStrategy=mine\n", false),
            ("sequencer/opts", "[options]\n\tstrategy = ort\n\tstrategy = mine\n", false),
            ("sequencer/opts", "[options]\n\tstrategy = mi\\\nne\n", false),
        ] {
            assert_eq!(is_own_strategy(Path::new(file), text.as_bytes()), own, "{file} {text:?}");
        }
    }

    #[test]
    fn commands_among_the_steps_of_a_rebase() {
        let steps =
            b"pick 1 exec\n# exec a\nexec make\n\tx\tls\nfixup -C 2\nexecute\nxyz\nbreak\r\n  exec b\r\n";
        assert_eq!(commands(steps), [&b"exec make"[..], b"x\tls", b"exec b"]);
        assert!(commands(b"pick 1\nlabel x\nmerge -C 3 x\n").is_empty());
    }
}
