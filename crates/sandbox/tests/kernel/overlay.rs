//! What is done on an overlay: the same as without one, once it is committed, and nothing before.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use shward_sandbox::overlay::{
    Accept, Change, ChangeKind, Changes, CommitPolicy, Content, Keep, OverlayError, Run, Sight, Store,
};
use shward_sandbox::{Confinement, Exit};

use crate::support::{Place, confinement, go, need_sandbox, stdout};

/// Type, permissions, and content or target of everything below a directory.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_symlink() {
            fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else if meta.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if meta.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        found.insert(path.strip_prefix(root).unwrap().to_owned(), (meta.mode(), content));
    }
    found
}

/// A workspace with something of everything.
pub(crate) fn furnish(root: &Path) {
    for directory in ["a/b/c", "d", "e/f", "node_modules/x/y", "node_modules/z"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for (file, content) in [
        ("top", "top\n"),
        ("a/one", "1\n"),
        ("a/b/two", "2\n"),
        ("a/b/c/three", "3\n"),
        ("d/four", "4\n"),
        ("e/f/five", "5\n"),
        ("node_modules/x/y/i.js", "js\n"),
        ("node_modules/z/j.js", "js\n"),
        ("name with\nnewline", "odd\n"),
    ] {
        fs::write(root.join(file), content).unwrap();
    }
    std::os::unix::fs::symlink("a/one", root.join("link")).unwrap();
}

pub(crate) fn store(place: &Place) -> Option<Store> {
    match Store::for_workspace(&place.outside().join("state"), &place.workspace()) {
        Ok(store) => Some(store),
        Err(error @ OverlayError::Unsuited { .. }) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// What lies in a store, besides the key that stays.
pub(crate) fn left(store: &Store) -> Vec<String> {
    let names = fs::read_dir(store.root()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name != "key").collect()
}

pub(crate) fn overlaid(place: &Place, run: &Run, script: &str) -> Confinement {
    confinement("/bin/bash", place.workspace())
        .arguments(["bash", "-c", script])
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("STORE", run.layer().store())
        .overlaid(place.workspace(), run.layer().clone())
}

/// Runs a script on an overlay and commits what the policy accepts.
pub(crate) fn commit(
    place: &Place,
    store: &Store,
    script: &str,
    policy: &dyn CommitPolicy,
) -> (Vec<Change>, Changes) {
    let run = store.begin().unwrap();
    let result = go(&overlaid(place, &run, script));
    assert_eq!(result.exit, Exit::Exited(0), "{script}: {}", result.stderr.to_text());
    let changes = run.changes(policy).unwrap();
    let seen = run.changes(policy).unwrap();
    let committed = run.commit(changes, script).unwrap();
    assert!(committed.failed.is_empty(), "{script}: {:?}", committed.failed);
    (committed.accepted, seen)
}

fn paths(changes: &[Change], what: ChangeKind) -> Vec<String> {
    let meant = changes.iter().filter(|change| change.what == what);
    meant.map(|change| change.path.display().to_string()).collect()
}

pub(crate) const SCRIPTS: &[&str] = &[
    "true",
    "echo x > new",
    "echo x >> top",
    "rm top",
    "mkdir -p n/e/w; echo x > n/e/w/file; ln -s file n/e/w/link",
    "rm -r a",
    "rm -r a; mkdir a; echo x > a/other; echo y > a/one",
    "rm -r a; echo x > a",
    "rm top; mkdir top; echo x > top/in",
    "mv top moved; mv a/one a/uno",
    "mv a aa",
    "mv a d/",
    "mv d/four a/b/c/; rmdir d",
    "chmod 700 a; chmod 600 top; chmod +x a/one",
    "chmod 500 d",
    "mkdir closed; echo x > closed/f; chmod 555 closed",
    "rm link; ln -s top link; ln -s nowhere dangling",
    "ln top hard; echo x >> hard",
    "mkfifo pipe",
    "rm -rf node_modules; mkdir node_modules; echo x > node_modules/z",
    "rm -rf node_modules/x; mkdir -p node_modules/x/y; echo x > node_modules/x/y/i.js",
    "touch -d 2001-01-01 top",
    "rm 'name with\nnewline'; echo x > 'a b'; echo y > \"$(printf '\\377\\\\,:')\"",
    "for i in $(seq 300); do mkdir -p many/$((i % 7)); echo $i > many/$((i % 7))/$i; done",
    "echo x > top.new; mv top.new top",
    "rm -rf ./* .[!.]*",
    "rm -rf a/b; mkdir a/b; rmdir a/b; mkdir a/b; echo 1 > a/b/k; rm a/b/k",
    "set -e; mkdir t; mv a/b/two t/; rm -r a/b; mv t a/b",
];

#[test]
fn a_commit_leaves_what_the_command_would_have_left() {
    need_sandbox!();
    for script in SCRIPTS {
        let (plain, place) = (Place::new(), Place::new());
        let Some(store) = store(&place) else { return };
        furnish(&plain.workspace());
        furnish(&place.workspace());
        let before = tree(&place.workspace());
        assert_eq!(plain.run(script).exit, Exit::Exited(0), "{script}");
        let (changes, _) = commit(&place, &store, script, &Accept);
        assert_eq!(tree(&place.workspace()), tree(&plain.workspace()), "{script}");
        listed_exactly(&before, &tree(&place.workspace()), &changes, script);
        for path in tree(&place.workspace()).keys() {
            let mut names = [0; 1024];
            let path = std::ffi::CString::new(place.workspace().join(path).as_os_str().as_bytes()).unwrap();
            // SAFETY: a C string, and a buffer with its length.
            let length = unsafe { libc::llistxattr(path.as_ptr(), names.as_mut_ptr().cast(), names.len()) };
            let names = &names[..usize::try_from(length).unwrap_or(0)];
            assert!(!names.windows(7).any(|part| part == b"overlay"), "{script}: {path:?}");
        }

        // And back.
        let kept = store.kept().unwrap();
        assert_eq!(kept.len(), usize::from(!changes.is_empty()), "{script}");
        for run in kept {
            let undone = store.undo(&run.id).unwrap();
            assert!(undone.skipped.is_empty(), "{script}: {undone:?}");
        }
        assert_eq!(tree(&place.workspace()), before, "{script}");
        assert!(store.kept().unwrap().is_empty(), "{script}");
        assert_eq!(left(&store).len(), 0, "{script}: something is left");
    }
}

/// The list names every file that differs, and no other (a file that was rewritten as it was may be listed).
fn listed_exactly(
    before: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
    after: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
    changes: &[Change],
    script: &str,
) {
    let listed: BTreeMap<&Path, &Change> = changes.iter().map(|c| (c.path.as_path(), c)).collect();
    assert_eq!(listed.len(), changes.len(), "{script}: something is listed twice: {changes:#?}");
    for path in before.keys().chain(after.keys()) {
        let expected = match (before.get(path), after.get(path)) {
            (None, Some(_)) => Some(ChangeKind::Created),
            (Some(_), None) => Some(ChangeKind::Deleted),
            (Some(b), Some(a)) if a != b => Some(ChangeKind::Changed),
            _ => None,
        };
        let found = listed.get(path.as_path());
        match expected {
            Some(what) => assert_eq!(found.map(|c| c.what), Some(what), "{script}: {path:?}"),
            None => assert!(found.is_none_or(|c| c.what == ChangeKind::Changed), "{script}: {path:?}"),
        }
    }
    for change in changes {
        let (content, length) = match change.what {
            ChangeKind::Deleted => (before.get(&change.path), change.size),
            _ => (after.get(&change.path), change.size),
        };
        let (mode, content) = content.unwrap();
        assert_eq!(length, content.len() as u64, "{script}: {:?}", change.path);
        assert_eq!(change.mode, mode & 0o7777, "{script}: {:?}", change.path);
    }
}

/// Below `/tmp` nothing of the host shows anyway.
#[test]
fn the_store_does_not_show() {
    need_sandbox!();
    let Some(parent) =
        ["/opt", "/var/lib"].map(Path::new).into_iter().find(|path| tempfile::tempfile_in(path).is_ok())
    else {
        eprintln!(
            "SKIPPED the_store_does_not_show: no directory that is writable here and not private inside"
        );
        return;
    };
    let place = Place::below(parent);
    let Some(store) = store(&place) else { return };
    let run = store.begin().unwrap();
    let script = "ls -A $STORE | wc -l; echo x 2>&- > $STORE/x || echo refused; echo x > f";
    let result = go(&overlaid(&place, &run, script));
    assert_eq!(stdout(&result), "0\nrefused\n", "{}", result.stderr.to_text());
    assert_eq!(left(&store).len(), 1);
}

#[test]
fn without_a_commit_nothing_happened() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    let before = tree(&place.workspace());
    let run = store.begin().unwrap();
    let script = "rm -rf a d top; echo x > new; chmod 700 e; cat new; ls -A $STORE 2>/dev/null | wc -l";
    let result = go(&overlaid(&place, &run, script));
    assert_eq!(stdout(&result), "x\n0\n", "{}", result.stderr.to_text());
    let changes = run.changes(&Accept).unwrap();
    assert_eq!(paths(&changes.accepted, ChangeKind::Created), ["new"]);
    assert!(paths(&changes.accepted, ChangeKind::Deleted).contains(&"a/b/c/three".to_owned()));
    drop(run);
    assert_eq!(tree(&place.workspace()), before);
    assert_eq!(left(&store).len(), 0);
}

/// What one run does to the root of its overlay, where nothing is left to be committed, is not there for the next one, although the
/// directories around it serve again.
#[test]
fn what_changed_nothing_leaves_nothing() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    let inode = |path: &Path| fs::metadata(path).map(|meta| meta.ino()).ok();
    let script = "stat -c '%a %h' .; test $(stat -c %Y .) -gt 1000000 && echo now; ls -A | wc -l
        mkdir x; rmdir x; chmod 711 .; touch -d @1000000 .; setfattr -n user.left -v x . 2>&-; getfattr . 2>&- | wc -l";
    let (mut before, mut served, mut round) = (None, 0, 0);
    // A process that another test is starting holds a copy of each lock until it executes its program; a layer whose lock
    // is held does not serve again.
    while served < 3 {
        assert!(round < 50, "{served}");
        round += 1;
        let spare = inode(&store.root().join("spare"));
        let run = store.begin().unwrap();
        let layer = run.layer().upper();
        let own = inode(layer.parent().unwrap());
        served += usize::from(own.is_some() && own == spare);
        let plan = overlaid(&place, &run, script).prepare().unwrap();
        let mut options = shward_sandbox::Options::default();
        options.meanwhile = Some(Box::new(|| run.sweep()));
        let said = stdout(&shward_sandbox::run(&plan, options).unwrap());
        assert!(said.contains("\nnow\n"), "{said}");
        assert_eq!(*before.get_or_insert_with(|| said.clone()), said, "{round}");
        let changes = run.changes(&Accept).unwrap();
        assert!(changes.is_empty());
        run.leave(&changes);
        assert!(store.recover().unwrap().is_empty());
    }
    assert!(left(&store).len() < round, "what was spent is taken apart by later runs");
    // What was changed and is not wanted goes at once.
    let run = store.begin().unwrap();
    go(&overlaid(&place, &run, "echo x > new"));
    let changes = run.changes(&Accept).unwrap();
    run.leave(&changes);
    assert!(!place.workspace().join("new").exists());
    let begun = Instant::now();
    while left(&store).len() != 1 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", left(&store));
        store.sweep();
    }
}

/// Refuses names.
pub(crate) struct Names(pub(crate) &'static [&'static str]);

impl CommitPolicy for Names {
    fn refuses(&self, change: &Change, _sight: &Sight<'_>) -> Option<Cow<'static, str>> {
        let named = change.path.iter().any(|part| self.0.iter().any(|name| part == *name));
        named.then(|| "is protected".into())
    }
}

#[test]
fn what_the_policy_refuses_stays_as_it_was() {
    need_sandbox!();
    let refuse = Names(&["secret"]);
    for (script, refused, accepted) in [
        ("echo x > secret; echo x > fine", &["secret"][..], &["fine"][..]),
        ("mkdir -p n/secret; echo x > n/secret/f; echo x > n/g", &["n/secret", "n/secret/f"], &["n", "n/g"]),
        ("echo x > t; ln -s t secret", &["secret"], &["t"]),
        ("mkdir t; echo x > t/f; mv t secret", &["secret", "secret/f"], &[]),
        ("mkdir t; echo x > t/secret; mv t u; mv u d/v", &["d/v/secret"], &["d/v"]),
        ("rm -r d; mkdir d; echo x > d/secret; echo x > d/g", &["d/secret"], &["d", "d/four", "d/g"]),
        (
            "mkdir -p kept/secret; chmod 700 kept/secret; rm kept/secret/f; echo y > kept/g",
            &["kept/secret", "kept/secret/f"],
            &["kept/g"],
        ),
        ("rm -r kept/secret", &["kept/secret"], &[]),
        (
            "rm -r kept/secret; mkdir kept/secret; echo y > kept/secret/f",
            &["kept/secret", "kept/secret/f"],
            &[],
        ),
        ("mv kept/secret kept/other", &["kept/secret"], &["kept/other", "kept/other/f"]),
    ] {
        let place = Place::new();
        let Some(store) = store(&place) else { return };
        furnish(&place.workspace());
        fs::create_dir_all(place.workspace().join("kept/secret")).unwrap();
        fs::write(place.workspace().join("kept/secret/f"), "old\n").unwrap();
        let (changes, seen) = commit(&place, &store, script, &refuse);
        let listed: Vec<String> =
            seen.refused.iter().map(|refused| refused.change.path.display().to_string()).collect();
        assert_eq!(listed, refused, "{script}");
        let changed: Vec<String> = changes.iter().map(|c| c.path.display().to_string()).collect();
        assert_eq!(changed, accepted, "{script}");
        for path in tree(&place.workspace()).keys().filter(|path| path.iter().any(|part| part == "secret")) {
            assert!(path.starts_with("kept/secret"), "{script}: {path:?} is there");
        }
        assert_eq!(fs::read(place.workspace().join("kept/secret/f")).unwrap(), b"old\n", "{script}");
    }
}

#[test]
fn what_was_changed_since_is_not_taken_back() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    let root = place.workspace();
    commit(
        &place,
        &store,
        "echo x > top; echo x > a/one; mkdir n; echo x > n/f; echo y > n/g; rm d/four; rm e/f/five",
        &Accept,
    );
    fs::write(root.join("top"), "mine\n").unwrap();
    fs::write(root.join("n/g"), "mine\n").unwrap();
    fs::write(root.join("d/four"), "mine\n").unwrap();
    let id = store.kept().unwrap().remove(0).id;
    let undone = store.undo(&id).unwrap();
    let mut skipped: Vec<String> = undone.skipped.iter().map(|s| s.path.display().to_string()).collect();
    skipped.sort();
    assert_eq!(skipped, ["d/four", "n", "n/g", "top"], "{undone:?}");
    let content = |path: &str| fs::read_to_string(root.join(path)).ok();
    assert_eq!(content("top").as_deref(), Some("mine\n"));
    assert_eq!(content("n/g").as_deref(), Some("mine\n"));
    assert_eq!(content("d/four").as_deref(), Some("mine\n"));
    assert_eq!(content("n/f"), None);
    assert_eq!(content("a/one").as_deref(), Some("1\n"));
    assert_eq!(content("e/f/five").as_deref(), Some("5\n"));
    // What was there before is still kept.
    assert_eq!(store.kept().unwrap().len(), 1);
}

#[test]
fn runs_are_taken_back_one_after_the_other() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    let mut states = vec![tree(&place.workspace())];
    for script in [
        "echo 1 > top; mkdir n; echo 1 > n/f",
        "echo 2 > top; echo 2 > n/f; echo 2 > n/g",
        "rm -r n a; mv top t",
    ] {
        commit(&place, &store, script, &Accept);
        states.push(tree(&place.workspace()));
    }
    // The first cannot be taken back alone: the others changed the same files.
    let kept = store.kept().unwrap();
    assert_eq!(kept.len(), 3);
    states.pop();
    for run in kept {
        let undone = store.undo(&run.id).unwrap();
        assert!(undone.skipped.is_empty(), "{undone:?}");
        assert_eq!(Some(tree(&place.workspace())), states.pop());
    }
}

/// One store holds the runs of all workspaces on its file system.
#[test]
fn another_workspace_takes_nothing_back() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    let other = place.outside().join("other");
    fs::create_dir(&other).unwrap();
    furnish(&other);
    let elsewhere = Store::for_workspace(&place.outside().join("state"), &other).unwrap();
    assert_eq!(elsewhere.root(), store.root());
    commit(&place, &store, "rm -r a; echo x > top", &Accept);
    let id = store.kept().unwrap().remove(0).id;
    let before = tree(&other);
    fs::remove_dir_all(other.join("a")).unwrap();
    assert!(matches!(elsewhere.undo(&id), Err(OverlayError::Unknown(_))));
    assert!(elsewhere.kept().unwrap().is_empty() && !other.join("a").exists());
    assert_eq!(store.undo(&id).unwrap().restored.len(), 2);
    assert_eq!(tree(&place.workspace()), before);
}

#[test]
fn what_is_kept_is_bounded() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let day = Duration::from_secs(86_400);
    for number in 0..6 {
        commit(&place, &store, &format!("head -c 1000 /dev/zero > f; echo {number} >> f"), &Accept);
        std::thread::sleep(Duration::from_millis(2));
    }
    store.expire(&Keep::new(4, u64::MAX, day)).unwrap();
    assert_eq!(store.kept().unwrap().len(), 4);
    // Each keeps a file of a thousand bytes, which takes a block.
    store.expire(&Keep::new(4, 2 * 4096 + 500, day)).unwrap();
    assert_eq!(store.kept().unwrap().len(), 2);
    let latest = store.kept().unwrap().remove(0);
    assert!(latest.title.contains("echo 5"), "{latest:?}");
    store.expire(&Keep::new(4, 2 * 4096 + 500, Duration::ZERO)).unwrap();
    assert!(store.kept().unwrap().is_empty());
}

/// What takes no room on the disk takes none of what is kept either, and what takes too much is not kept alone.
#[test]
fn nobody_takes_the_way_back_from_what_was_before() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let day = Duration::from_secs(86_400);
    for script in [
        "echo 1 > f",
        "truncate -s 1T hole; head -c 99999 /dev/zero > much",
        "rm hole; echo 2 > f",
        "rm much; echo 3 > f",
        "echo 4 > f",
    ] {
        commit(&place, &store, script, &Accept);
        std::thread::sleep(Duration::from_millis(2));
    }
    let gone = store.expire(&Keep::new(9, 50_000, day)).unwrap();
    let titles: Vec<_> = store.kept().unwrap().into_iter().map(|kept| kept.title).collect();
    assert_eq!(gone.len(), 1, "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("rm much")), "{titles:?}");
    // That it was is kept: what came before it is not the last.
    let past = store.past().unwrap();
    assert_eq!(past.iter().map(|past| &past.id).collect::<Vec<_>>(), gone.iter().collect::<Vec<_>>());
    let kept = store.kept().unwrap();
    assert!(past[0].title.contains("rm much") && kept[0].time > past[0].time && kept[1].time < past[0].time);
    for id in [gone[0].as_str(), gone[0].strip_suffix(char::is_alphanumeric).unwrap()] {
        assert!(matches!(store.undo(id), Err(OverlayError::Past(_))), "{id}");
    }
    store.expire(&Keep::new(9, 50_000, day)).unwrap();
    assert_eq!(store.past().unwrap(), past);
    // Nor do the marks of another workspace push it out.
    let beside = place.outside().join("beside");
    fs::create_dir(&beside).unwrap();
    let other = Store::for_workspace(&place.outside().join("state"), &beside).unwrap();
    assert_eq!(other.root(), store.root());
    for number in 0..3 {
        fs::write(beside.join("much"), vec![1; 99_999]).unwrap();
        let run = other.begin().unwrap();
        fs::write(run.layer().upper().join("much"), "little").unwrap();
        let changes = run.changes(&Accept).unwrap();
        assert!(run.commit(changes, &number.to_string()).unwrap().id.is_some());
        std::thread::sleep(Duration::from_millis(2));
    }
    store.expire(&Keep::new(2, 50_000, day)).unwrap();
    store.expire(&Keep::new(2, 50_000, day)).unwrap();
    assert_eq!(store.past().unwrap(), past);
    let titles: Vec<_> = other.past().unwrap().into_iter().map(|past| past.title).collect();
    assert_eq!(titles, ["2", "1"]);
    store.expire(&Keep::new(9, 50_000, Duration::ZERO)).unwrap();
    assert!(store.past().unwrap().is_empty() && left(&store).is_empty(), "{:?}", left(&store));
}

/// A policy for which every file means how long it is.
struct Lengths;

impl CommitPolicy for Lengths {
    fn refuses(&self, _: &Change, _: &Sight<'_>) -> Option<Cow<'static, str>> {
        None
    }

    fn meaning(&self, _: &Path, content: Content<'_>) -> Option<Vec<u8>> {
        content().map(|content| content.len().to_le_bytes().to_vec())
    }
}

/// Nobody is kept waiting by files of which the meaning is looked at: what is read is bounded together.
#[test]
fn only_so_much_is_read_for_what_it_means() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    commit(&place, &store, "truncate -s 40M a1 a2; echo x > a3", &Lengths);
    // Written anew with what they meant; for the second there was no room left.
    for name in ["a1", "a2", "a3"] {
        let path = place.workspace().join(name);
        let content = fs::read(&path).unwrap();
        fs::write(&path, content).unwrap();
    }
    let id = store.kept().unwrap().remove(0).id;
    let undone = store
        .undo_by_meaning(&id, |_, content| content().map(|content| content.len().to_le_bytes().to_vec()))
        .unwrap();
    let skipped: Vec<_> = undone.skipped.iter().map(|skipped| skipped.path.display().to_string()).collect();
    assert_eq!(skipped, ["a2"]);
}

/// What somebody else has begun to commit is finished before anything is judged.
#[test]
fn one_commit_at_a_time() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let [first, second] = [store.begin().unwrap(), store.begin().unwrap()];
    assert!(!first.is_touched());
    fs::write(first.layer().upper().join("new"), "x").unwrap();
    assert!(first.is_touched());
    let turn = first.turn(Duration::MAX, &|| false).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope
            .spawn(|| second.turn(Duration::MAX, &|| false).map(|_| place.workspace().join("new").exists()));
        let changes = first.changes(&Accept).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        first.commit(changes, "new").unwrap();
        drop(turn);
        assert!(waiting.join().unwrap().unwrap());
    });
}

#[test]
fn a_run_that_is_under_way_is_left_alone() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let run = store.begin().unwrap();
    assert!(store.recover().unwrap().is_empty());
    let result = go(&overlaid(&place, &run, "echo x > f"));
    assert_eq!(result.exit, Exit::Exited(0), "{}", result.stderr.to_text());
    let changes = run.changes(&Accept).unwrap();
    run.commit(changes, "").unwrap();
    assert!(place.workspace().join("f").exists());
}

#[test]
fn what_is_too_deep_to_look_at_is_refused() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let script = "echo x > fine; for i in $(seq 300); do mkdir d; cd d; done; echo x > deep";
    let (_, seen) = commit(&place, &store, script, &Accept);
    assert!(seen.refused.iter().any(|refused| refused.reason.contains("too deep")), "{:?}", seen.refused);
    assert!(place.workspace().join("fine").exists());
    assert!(!place.workspace().join("d/".repeat(300)).exists());
}

#[test]
fn a_workspace_that_is_not_suited_is_refused_with_the_reason() {
    let place = Place::new();
    let state = place.workspace().join("state");
    let error = Store::for_workspace(&state, &place.workspace()).unwrap_err();
    assert!(matches!(error, OverlayError::Unsuited { .. }), "{error}");
    let error = Store::for_workspace(Path::new("/dev/shm"), Path::new("/proc/self")).unwrap_err();
    assert!(matches!(error, OverlayError::Unsuited { .. }), "{error}");
}
