//! What is committed where something is in the way: closed directories, refused places, another workspace, somebody's journal.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use shward_sandbox::Exit;
use shward_sandbox::overlay::{Accept, Keep, OverlayError, Store};

use crate::overlay::{Names, commit, furnish, left, store, tree};
use crate::support::{Place, need_sandbox};

/// What an owner may not look into is read and committed all the same, and left as closed as the command left it.
#[test]
fn closed_directories_are_committed_as_they_are() {
    need_sandbox!();
    // With the permissions of everything, whoever looks.
    let opened = |root: &Path| {
        let (mut modes, mut waiting) = (BTreeMap::new(), vec![root.to_owned()]);
        while let Some(path) = waiting.pop() {
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
                waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            modes.insert(path.strip_prefix(root).unwrap().to_owned(), meta.mode());
        }
        (modes, tree(root))
    };
    for script in [
        "mkdir shut; echo x > shut/f; chmod 000 shut; mkdir -p n/shut/e; echo x > n/shut/e/f; chmod 000 n/shut/e; chmod 200 n/shut",
        "chmod 000 a; echo x > new",
        "echo x >> a/one; chmod 444 a/one; chmod 000 a/b; rm -r d; mkdir d; chmod 000 d",
        "rm -r a; mkdir a; echo x > a/f; chmod 000 a; rm -r e/f; mkdir e/f; chmod 300 e/f",
        "rm a/b/two; chmod 000 a/b; echo x > a/new; chmod 000 a",
        "echo x > a/new; mkdir a/n; chmod 500 a/n; chmod 600 a",
    ] {
        let (plain, place) = (Place::new(), Place::new());
        let Some(store) = store(&place) else { return };
        furnish(&plain.workspace());
        furnish(&place.workspace());
        assert_eq!(plain.run(script).exit, Exit::Exited(0), "{script}");
        commit(&place, &store, script, &Accept);
        assert_eq!(opened(&place.workspace()), opened(&plain.workspace()), "{script}");
    }
}

/// And taken back, whoever looks.
#[test]
fn closed_directories_are_taken_back() {
    need_sandbox!();
    for script in [
        "mkdir shut; echo x > shut/f; chmod 000 shut; mkdir -p n/shut/e; echo x > n/shut/e/f; chmod 000 n/shut/e n/shut",
        "rm a/b/two; echo x > a/b/new; chmod 000 a/b; echo x > a/one; chmod 000 a",
        "rm d/four; echo x > a/new; chmod 600 a d",
        "rm -r a; mkdir a; echo x > a/f; chmod 000 a",
        "chmod 755 fixed; rm -r fixed",
    ] {
        let place = Place::new();
        let Some(store) = store(&place) else { return };
        furnish(&place.workspace());
        let mode = |name: &str, mode| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            fs::set_permissions(place.workspace().join(name), mode).unwrap();
        };
        fs::create_dir(place.workspace().join("fixed")).unwrap();
        fs::write(place.workspace().join("fixed/f"), "x\n").unwrap();
        mode("fixed", 0o555);
        let before = tree(&place.workspace());
        commit(&place, &store, script, &Accept);
        let id = store.kept().unwrap().remove(0).id;
        let undone = store.undo(&id).unwrap();
        assert!(undone.skipped.is_empty(), "{script}: {undone:?}");
        assert_eq!(tree(&place.workspace()), before, "{script}");
        assert!(store.kept().unwrap().is_empty(), "{script}");
        mode("fixed", 0o755);
    }
}

/// What somebody has touched in a directory that a run closed stays, and the directory stays closed.
#[test]
fn what_was_touched_in_a_closed_directory_stays() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    commit(&place, &store, "echo x > top; mkdir -p n/shut; echo x > n/shut/f; chmod 000 n/shut", &Accept);
    let (top, shut) = (place.workspace().join("n"), place.workspace().join("n/shut"));
    fs::write(top.join("mine"), "mine\n").unwrap();
    fs::write(place.workspace().join("top"), "mine\n").unwrap();
    let kept = store.kept().unwrap().remove(0);
    assert!(!kept.tried);
    let undone = store.undo(&kept.id).unwrap();
    assert!(undone.skipped.iter().any(|skipped| skipped.path == Path::new("n")), "{undone:?}");
    assert_eq!(fs::read(top.join("mine")).unwrap(), b"mine\n");
    assert_eq!(fs::metadata(&shut).unwrap().mode() & 0o7777, 0);
    // It is known to have been tried, and can be tried again.
    assert!(store.kept().unwrap().remove(0).tried);
    assert!(store.undo(&kept.id).is_ok());
}

/// What lay in a directory that even its owner could not look into is not known, so it stays; the rest is committed.
#[test]
fn what_lay_in_a_closed_directory_keeps_nothing_back() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    let closed = place.workspace().join("a");
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let root = fs::read_dir(&closed).is_ok();
    let (_, seen) = commit(&place, &store, "chmod 755 a; rm a/one; echo x > fine", &Accept);
    assert!(place.workspace().join("fine").exists());
    let refused: Vec<_> =
        seen.refused.iter().map(|refused| refused.change.path.display().to_string()).collect();
    assert_eq!(refused, if root { vec![] } else { vec!["a/one".to_owned()] });
    assert_eq!(closed.join("one").exists(), !root);
}

/// What was to come to be where it must not be stays where it was.
#[test]
fn half_a_move_is_none() {
    need_sandbox!();
    let refuse = Names(&["secret"]);
    for (script, refused, accepted) in [
        ("mv top secret; echo x > fine", &["secret", "top"][..], &["fine"][..]),
        ("mkdir n; mv a/one n/secret; rm a/b/two", &["a/one", "n/secret"], &["a/b/two", "n"]),
        ("mv e secret", &["e", "e/f", "e/f/five", "secret", "secret/f", "secret/f/five"], &[]),
        ("cp top secret; rm d/four", &["secret"], &["d/four"]),
        ("echo other > secret; rm top", &["secret"], &["top"]),
    ] {
        let place = Place::new();
        let Some(store) = store(&place) else { return };
        furnish(&place.workspace());
        let before = tree(&place.workspace());
        let (changes, seen) = commit(&place, &store, script, &refuse);
        let listed: Vec<_> = seen.refused.iter().map(|r| r.change.path.display().to_string()).collect();
        let changed: Vec<_> = changes.iter().map(|change| change.path.display().to_string()).collect();
        let mut listed = listed;
        listed.sort();
        assert_eq!(
            (listed, changed),
            (
                refused.iter().map(|s| s.to_string()).collect(),
                accepted.iter().map(|s| s.to_string()).collect()
            ),
            "{script}"
        );
        for kept in refused.iter().filter(|path| !path.contains("secret")) {
            assert_eq!(
                tree(&place.workspace()).get(Path::new(kept)),
                before.get(Path::new(kept)),
                "{script}"
            );
        }
    }
}

/// A commit into another directory than the one that the command saw is none, and nothing that it did is lost.
#[test]
fn a_workspace_that_was_replaced_is_left_alone() {
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let run = store.begin().unwrap();
    fs::write(run.layer().upper().join("new"), "x").unwrap();
    let changes = run.changes(&Accept).unwrap();
    fs::rename(place.workspace(), place.outside().join("away")).unwrap();
    fs::create_dir(place.workspace()).unwrap();
    let error = run.commit(changes, "").unwrap_err();
    let OverlayError::Rescued { path, .. } = &error else { panic!("{error}") };
    assert_eq!(fs::read(path.join("new")).unwrap(), b"x");
    assert!(tree(&place.workspace()).len() == 1 && !place.outside().join("away/new").exists());
    assert!(store.recover().unwrap().is_empty() && path.exists());
    store.expire(&Keep::new(4, u64::MAX, std::time::Duration::ZERO)).unwrap();
    assert!(left(&store).is_empty() || path.exists());
}

/// Where the store lies beside the workspace, a command of another workspace can have made it. Whatever is written in it does
/// nothing, and what one workspace is to become is not done in another.
#[test]
fn what_was_not_written_by_us_is_not_carried_out() {
    let place = Place::new();
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return };
    let [ours, other] = ["ours", "other"].map(|state| memory.path().join(state));
    let [inner, second] = ["inner", "second"].map(|name| place.workspace().join(name));
    for directory in [&inner, &second] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("old"), "old\n").unwrap();
    }
    let Ok(forger) = Store::for_workspace(&other, &inner) else { return };
    if forger.root().parent() != Some(place.workspace().as_path()) {
        eprintln!("SKIPPED: /dev/shm is no other mount");
        return;
    }
    let run = forger.begin().unwrap();
    let layer = run.layer().upper();
    fs::write(layer.join("evil"), "x").unwrap();
    fs::write(layer.join("old"), "x").unwrap();
    let changes = run.changes(&Accept).unwrap();
    let id = run.commit(changes, "").unwrap().id.unwrap();
    // What a command could write there: anything but the key that it does not see.
    let victim = Store::for_workspace(&ours, &inner).unwrap();
    assert_eq!(victim.root(), forger.root());
    assert!(victim.kept().unwrap().is_empty());
    assert!(matches!(victim.undo(&id), Err(OverlayError::Damaged { .. })));
    assert_eq!(fs::read(inner.join("old")).unwrap(), b"x");
    assert_eq!(forger.kept().unwrap().len(), 1, "and it stays");
    let kept = left(&forger).into_iter().find(|name| name.starts_with("kept-")).unwrap();
    let (kept, live) = (forger.root().join(kept), forger.root().join(format!("live-{id}")));
    fs::rename(inner.join("evil"), kept.join("upper/evil")).unwrap();
    fs::rename(&kept, &live).unwrap();
    for store in [&victim, &Store::for_workspace(&other, &second).unwrap()] {
        assert!(store.recover().unwrap().is_empty());
        assert!(live.exists() && !inner.join("evil").exists() && !second.join("evil").exists());
    }
    // A layer that lies ready is none if there is something in it, or it leads elsewhere.
    let spare = forger.root().join("spare");
    fs::create_dir_all(spare.join("work")).unwrap();
    std::os::unix::fs::symlink(&second, spare.join("upper")).unwrap();
    let run = victim.begin().unwrap();
    assert!(spare.exists() && !run.layer().upper().is_symlink());
    // Whoever has the key finishes it.
    assert_eq!(forger.recover().unwrap(), [id]);
    assert!(inner.join("evil").exists());
    assert!(shward_sandbox::overlay::stores(&ours).contains(&forger.root().to_owned()));
}
