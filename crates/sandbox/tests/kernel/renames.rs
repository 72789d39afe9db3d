//! Directories that were there before are renamed on an overlay, where they were made movable; and what of them was not changed is no
//! change.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use shward_sandbox::Exit;
use shward_sandbox::overlay::{Accept, Change, Room, Run, Store};

use crate::overlay::{SCRIPTS, furnish, left, overlaid, store, tree};
use crate::support::{Place, go, need_sandbox, stdout};

/// The directories of a furnished workspace that may be renamed, upper ones and ones in others.
const UPPER: &[&str] = &["a", "d", "e/f", "node_modules", "a/b"];
const INNER: &[&str] = &["a/b", "e/f", "node_modules/x/y"];

/// Runs a script on an overlay on which these can be renamed, and commits.
fn commit(place: &Place, store: &Store, script: &str, movable: &[&str]) -> Vec<Change> {
    let mut run = store.begin().unwrap();
    make_movable(place, &mut run, movable);
    let result = go(&overlaid(place, &run, script));
    assert_eq!(result.exit, Exit::Exited(0), "{script}: {} {}", stdout(&result), result.stderr.to_text());
    // Twice is as once.
    let accepted = run.changes(&Accept).unwrap().accepted;
    let changes = run.changes(&Accept).unwrap();
    assert_eq!(accepted, changes.accepted, "{script}");
    let committed = run.commit(changes, script).unwrap();
    assert!(committed.failed.is_empty(), "{script}: {:?}", committed.failed);
    committed.accepted
}

/// Those that could be made.
fn make_movable(place: &Place, run: &mut Run, names: &[&str]) -> Vec<PathBuf> {
    let wanted: Vec<PathBuf> = names.iter().map(|name| place.workspace().join(name)).collect();
    run.make_movable(&wanted, Room::default()).unwrap()
}

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Everything with its permissions, closed or not; it is left as it was.
fn all(root: &Path) -> (BTreeMap<PathBuf, u32>, Tree) {
    let (mut modes, mut waiting) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            modes.insert(path, meta.mode());
        }
    }
    let found = tree(root);
    for (path, mode) in modes.iter().rev() {
        fs::set_permissions(path, PermissionsExt::from_mode(mode & 0o7777)).unwrap();
    }
    let modes = modes.into_iter().map(|(path, mode)| (path.strip_prefix(root).unwrap().to_owned(), mode));
    (modes.collect(), found)
}

const RENAMES: &[(&[&str], &str)] = &[
    (UPPER, "r a aa"),
    (UPPER, "r a aa; r aa a"),
    (UPPER, "r a aa; echo x > aa/new; rm aa/one; r aa a"),
    (UPPER, "r a aa; mkdir a; echo x > a/one"),
    (UPPER, "r d e/d; r e/f f; r a/b b"),
    (UPPER, "mkdir empty; r a empty"),
    (UPPER, "rm d/four; r a d"),
    (UPPER, "r a/b a/bb; echo x >> a/bb/two; chmod 700 a/bb/c"),
    (UPPER, "r d a/d; r a/d d"),
    (UPPER, "r d a/b/c/d; r a e/f/a"),
    (UPPER, "r a/b x; r a/one a/b; r x a/one"),
    (UPPER, "r a/b x; mkdir a/b; echo x > a/b/c; r x a/b/x"),
    (UPPER, "r a x; rm -r x/b; r x a; mkdir a/b"),
    (UPPER, "r e/f e/g; rm -r e; r d e"),
    (UPPER, "r a x; rm -r e; mkdir e; r x e/f"),
    (UPPER, "r e/f x; rm -r e; mkdir e; r x e/f"),
    (UPPER, "r e/f x; rm -r e; mkdir e; r x e/f; rm e/f/five; echo x > e/f/six"),
    (UPPER, "r node_modules n; rm -rf n/x; mkdir node_modules; r n/z node_modules/z"),
    (UPPER, "r a/b/c node_modules/c; r node_modules/c a/b/c; r a/b/c/three a/b/c/3; r a/b/c/3 a/b/c/three"),
    (UPPER, "r a x; chmod 500 x/b; chmod 000 x/b/c; r x a; chmod 500 a"),
    (UPPER, "chmod 000 a/b/c; chmod 000 a/b; chmod 300 a"),
    (UPPER, "rm a/b/two; chmod 000 a/b a; chmod 555 d"),
    (UPPER, "ln a/one a/b/hard; echo x >> a/b/hard; r a b"),
    (UPPER, "mkdir target; echo x > target/x; r target target.old; mkdir target; r target.old target/old"),
    (UPPER, "cd a/b; r ../../a ../../c; echo x > here; cd ../../c/b; rm here"),
    (UPPER, "exec 3<> a/b/two; r a b; cat >&3 <<< more; grep -q more b/b/two"),
    (UPPER, "rm -r a e/f; mkdir a; ln -s ../top a/b; echo x > a/c"),
    (INNER, "r a/b b"),
    (INNER, "r a/b a/bb; echo x > a/new"),
    (INNER, "r e/f e/g; r e/g e/f"),
    (INNER, "r e/f f; rmdir e"),
    (INNER, "rm -r a; mkdir -p a/b; echo x > a/b/two"),
    (INNER, "r a/b x; rm -r a; mkdir a; r x a/b"),
    (INNER, "r e/f f; rmdir e; mkdir e; r f e/f; chmod 000 e"),
    (INNER, "r a/b x; rm -r a; mkdir -p a/b; chmod 000 a"),
    (INNER, "chmod 700 e; chmod 300 a; r a/b a/c; chmod 000 node_modules"),
    (INNER, "r node_modules/x/y z; rmdir node_modules/x"),
];

#[test]
fn a_directory_is_renamed_like_anywhere_else() {
    need_sandbox!();
    for (movable, script) in RENAMES {
        // rename(2), without what mv(1) makes of its failure.
        let script = format!(
            "set -e; r() {{ /usr/bin/perl -e 'rename $ARGV[0], $ARGV[1] or die $!' \"$@\"; }}; {script}"
        );
        let (plain, place) = (Place::new(), Place::new());
        let Some(store) = store(&place) else { return };
        furnish(&plain.workspace());
        furnish(&place.workspace());
        let before = all(&place.workspace());
        let result = plain.run(&script);
        assert_eq!(result.exit, Exit::Exited(0), "{script}: {}", result.stderr.to_text());
        commit(&place, &store, &script, movable);
        assert_eq!(all(&place.workspace()), all(&plain.workspace()), "{script}");
        for kept in store.kept().unwrap() {
            let undone = store.undo(&kept.id).unwrap();
            assert!(undone.skipped.is_empty(), "{script}: {undone:?}");
        }
        assert_eq!(all(&place.workspace()), before, "{script}");
        assert_eq!(left(&store), [""; 0], "{script}");
    }
}

/// Whatever a command does, it is told and committed as if nothing had been made movable.
#[test]
fn what_is_made_movable_is_no_change() {
    need_sandbox!();
    for (number, script) in SCRIPTS.iter().enumerate() {
        let mut seen = Vec::new();
        for movable in [&[][..], [UPPER, INNER][number % 2]] {
            let place = Place::new();
            let Some(store) = store(&place) else { return };
            furnish(&place.workspace());
            let mut changes = commit(&place, &store, script, movable);
            // Two workspaces have two files.
            changes.iter_mut().for_each(|change| change.found = None);
            seen.push((changes, all(&place.workspace())));
        }
        assert_eq!(seen[0], seen[1], "{script}");
    }
}

/// A command sees what it would see without, and it is the same after a rename.
#[test]
fn what_is_made_movable_is_as_it_was() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let at = |name: &str| place.workspace().join(name);
    furnish(&place.workspace());
    fs::hard_link(at("a/one"), at("a/b/same")).unwrap();
    fs::hard_link(at("a/one"), at("other")).unwrap();
    symlink("../nowhere", at("a/b/link")).unwrap();
    fs::create_dir(at("a/empty")).unwrap();
    let name = "n".repeat(255);
    fs::write(at("a/b").join(&name), "long").unwrap();
    fs::write(at("a/data"), vec![7; 3 << 20]).unwrap();
    let attribute = |path: &str| {
        let path = CString::new(at(path).as_os_str().as_bytes()).unwrap();
        // SAFETY: C strings, and a value with its length.
        let set =
            unsafe { libc::setxattr(path.as_ptr(), c"user.kept".as_ptr(), b"kept".as_ptr().cast(), 4, 0) };
        assert_eq!(set, 0);
    };
    ["a/one", "a/b"].iter().for_each(|path| attribute(path));
    for (name, mode) in [("a/one", 0o400), ("a/b/two", 0o4755), ("a/b/c", 0o2555), ("a/empty", 0o700)] {
        fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).unwrap();
    }
    // From the inside out, as what is made in a directory changes its time.
    for name in ["a/b/two", "a/b/link", "a/b/c", "a/b", "a"] {
        let done = std::process::Command::new("touch")
            .args(["-h", "-d", "2001-02-03 04:05:06.789"])
            .arg(at(name))
            .status();
        assert!(done.unwrap().success());
    }
    let show = "cd $D && find . -printf '%p %M %s %T@ %n %l\\n' | sort && /usr/bin/python3 -c 'import os
for p in (\"one\", \"b\"): print(os.getxattr(p, \"user.kept\"), os.listxattr(p))
print(open(\"data\", \"rb\").read() == bytes([7]) * (3 << 20))'";
    let seen = |movable: &[&str], script: &str, directory: &str| {
        let mut run = store.begin().unwrap();
        let made = make_movable(&place, &mut run, movable);
        assert_eq!(made.len(), movable.len());
        let script = format!("set -e; {script}; {show}");
        let result = go(&overlaid(&place, &run, &script).variable("D", directory));
        assert_eq!(result.exit, Exit::Exited(0), "{}", result.stderr.to_text());
        (stdout(&result), run)
    };
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    // One of its names lies elsewhere, and is another file then.
    let plain = seen(&[], "true", "a").0;
    assert!(plain.contains(&name) && plain.contains("kept") && plain.contains(" 3 \n"), "{plain}");
    let fewer = |line: String| match line.contains("./one") || line.contains("/same") {
        true => line.replace(" 3 ", " 2 "),
        false => line,
    };
    let expected: Vec<_> = lines(&plain).into_iter().map(fewer).collect();
    assert_eq!(lines(&seen(&["a"], "true", "a").0), expected);
    let (text, run) = seen(&["a"], "/usr/bin/python3 -c 'import os; os.rename(\"a\", \"z\")'", "z");
    assert_eq!(lines(&text), expected);
    let changes = run.changes(&Accept).unwrap();
    assert!(run.commit(changes, "rename").unwrap().failed.is_empty());
    assert_eq!(fs::metadata(at("z/b")).unwrap().mtime(), 981_173_106);
    assert_eq!(fs::metadata(at("z/one")).unwrap().ino(), fs::metadata(at("z/b/same")).unwrap().ino());
}

/// What is made in a directory with a default access list gets one (acl(5)); what is renamed in it, and so a copy, does not.
#[test]
fn a_copy_has_the_access_lists_of_its_original() {
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    fs::create_dir_all(place.workspace().join("above/in/deep")).unwrap();
    fs::write(place.workspace().join("above/in/deep/file"), "").unwrap();
    let path = |path: PathBuf| CString::new(path.as_os_str().as_bytes()).unwrap();
    // Its owner, one user more, its group, what both may have at most, and others.
    let entries = [(1_u16, u32::MAX), (2, 1234), (4, u32::MAX), (16, u32::MAX), (32, u32::MAX)];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, who) in entries {
        list.extend([&tag.to_le_bytes()[..], &7_u16.to_le_bytes(), &who.to_le_bytes()].concat());
    }
    let (above, name) = (path(place.workspace().join("above")), c"system.posix_acl_default");
    // SAFETY: C strings, and a value with its length.
    let set = unsafe { libc::setxattr(above.as_ptr(), name.as_ptr(), list.as_ptr().cast(), list.len(), 0) };
    if set != 0 {
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOTSUP));
        return;
    }
    let mut run = store.begin().unwrap();
    assert_eq!(make_movable(&place, &mut run, &["above/in"]).len(), 1);
    for (name, listed) in
        [("above", true), ("above/in", false), ("above/in/deep", false), ("above/in/deep/file", false)]
    {
        let copy = path(run.layer().upper().join(name));
        let mut names = [0_u8; 1024];
        // SAFETY: a C string, and room for what is written.
        let length = unsafe { libc::llistxattr(copy.as_ptr(), names.as_mut_ptr().cast(), names.len()) };
        let names = String::from_utf8_lossy(&names[..usize::try_from(length).unwrap()]).into_owned();
        assert_eq!(names.contains("posix_acl"), listed, "{name}: {names:?}");
    }
}

/// Where something else lies in a directory, or too much of it, it is left as it is, and nothing of it lies in the layer.
#[test]
fn what_cannot_be_copied_as_it_is_is_not_made_movable() {
    need_sandbox!();
    let path = |at: &Path| CString::new(at.as_os_str().as_bytes()).unwrap();
    let pipe = |at: &Path| {
        // SAFETY: a C string and a number.
        assert_eq!(unsafe { libc::mkfifo(path(&at.join("x")).as_ptr(), 0o600) }, 0);
    };
    let whiteout = |at: &Path| {
        // SAFETY: a C string and numbers.
        assert_eq!(unsafe { libc::mknod(path(&at.join("x")).as_ptr(), libc::S_IFCHR | 0o600, 0) }, 0);
    };
    let socket = |at: &Path| drop(std::os::unix::net::UnixListener::bind(at.join("x")).unwrap());
    let sparse = |at: &Path| fs::File::create(at.join("x")).unwrap().set_len(1 << 40).unwrap();
    let attribute = |name: &std::ffi::CStr, at: &Path| {
        let (value, at) = (b"y".as_ptr().cast(), path(at));
        // SAFETY: C strings, and a value with its length.
        let set = unsafe { libc::setxattr(at.as_ptr(), name.as_ptr(), value, 1, 0) };
        assert_eq!(set, 0);
    };
    let opaque = |at: &Path| attribute(c"user.overlay.opaque", at);
    let redirected = |at: &Path| {
        fs::write(at.join("x"), "x").unwrap();
        attribute(c"user.overlay.redirect", &at.join("x"));
    };
    let deep = |at: &Path| fs::create_dir_all(at.join("d/".repeat(210))).unwrap();
    let long = |at: &Path| {
        fs::create_dir_all((0..12).fold(at.to_owned(), |at, _| at.join("l".repeat(255)))).unwrap()
    };
    let many = |at: &Path| (0..60).for_each(|number| fs::write(at.join(number.to_string()), "").unwrap());
    let large = |at: &Path| fs::write(at.join("x"), vec![0; 2 << 20]).unwrap();
    let link = |at: &Path| {
        fs::remove_dir_all(at).unwrap();
        symlink("/usr", at).unwrap();
    };
    let closed = |at: &Path| {
        fs::write(at.join("x"), "x").unwrap();
        fs::set_permissions(at.join("x"), PermissionsExt::from_mode(0o000)).unwrap();
        // Root reads it all the same.
        if fs::File::open(at.join("x")).is_ok() {
            pipe(&at.join("c"));
        }
    };
    let others = |at: &Path| {
        fs::write(at.join("x"), "x").unwrap();
        // SAFETY: a C string and numbers.
        if unsafe { libc::chown(path(&at.join("x")).as_ptr(), 12345, libc::getegid()) } != 0 {
            pipe(&at.join("c"));
        }
    };
    type Furnish<'f> = &'f dyn Fn(&Path);
    let kinds: [(&str, Furnish<'_>); 14] = [
        ("pipe", &pipe),
        ("whiteout", &whiteout),
        ("socket", &socket),
        ("sparse", &sparse),
        ("opaque", &opaque),
        ("redirected", &redirected),
        ("deep", &deep),
        ("long", &long),
        ("many", &many),
        ("large", &large),
        ("link", &link),
        ("closed", &closed),
        ("others", &others),
        ("missing", &|at| fs::remove_dir_all(at).unwrap()),
    ];
    for (kind, furnished) in kinds {
        let place = Place::new();
        let Some(store) = store(&place) else { return };
        furnish(&place.workspace());
        let inner = place.workspace().join("t/u");
        fs::create_dir_all(inner.join("c/e")).unwrap();
        fs::write(inner.join("c/file"), "x").unwrap();
        furnished(&inner);
        for top in ["t", "t/u"] {
            if top == "t" && ["link", "missing"].contains(&kind) {
                continue; // of those nothing is in it
            }
            let mut run = store.begin().unwrap();
            let wanted =
                [top, "t/u/c/../../../out", "../out", "", "a/b"].map(|name| place.workspace().join(name));
            let made = run.make_movable(&wanted, Room::at_most(50, 1 << 20)).unwrap();
            assert_eq!(made, [place.workspace().join("a/b")], "{kind} {top}");
            assert!(!run.layer().upper().join("t/u").exists(), "{kind} {top}");
            if top == "t" {
                continue;
            }
            let result = go(&overlaid(&place, &run, "ls t t/u > /dev/null; mv a/b b"));
            assert_eq!(result.exit, Exit::Exited(0), "{kind}: {}", result.stderr.to_text());
            let changes = run.changes(&Accept).unwrap();
            let outside = changes
                .accepted
                .iter()
                .find(|change| !change.path.starts_with("a/b") && !change.path.starts_with("b"));
            assert!(outside.is_none(), "{kind} {top}: {outside:?}");
        }
    }
}

/// What has just been changed is copied in a later tick of the clock, or not: times tell of one change in each, and not of the others in it.
#[test]
fn what_may_change_without_a_trace_is_not_copied() {
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    fs::create_dir(place.workspace().join("s")).unwrap();
    let file = place.workspace().join("s/file");
    // What nobody has touched for some ticks is.
    fs::write(&file, "first").unwrap();
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(make_movable(&place, &mut store.begin().unwrap(), &["s"]), [place.workspace().join("s")]);
    for _ in 0..20 {
        fs::write(&file, "again").unwrap();
        let changed = fs::metadata(&file).unwrap();
        let mut run = store.begin().unwrap();
        if !make_movable(&place, &mut run, &["s"]).is_empty() {
            let now = clock_gettime(ClockId::RealtimeCoarse);
            assert!((changed.ctime(), changed.ctime_nsec()) < (now.tv_sec, now.tv_nsec));
        }
    }
}

/// Others change the directory while it is copied: a layer holds what was there, or nothing.
#[test]
fn nothing_is_followed_while_others_change_it() {
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    let at = |name: &str| place.workspace().join(name);
    let fill = || {
        for directory in ["d", "e"] {
            fs::create_dir_all(at("s").join(directory)).unwrap();
            (0..20).for_each(|number| fs::write(at(&format!("s/{directory}/{number}")), directory).unwrap());
        }
    };
    fill();
    let secret = place.outside().join("d");
    fs::create_dir(&secret).unwrap();
    (0..20).for_each(|number| fs::write(secret.join(number.to_string()), "secret").unwrap());
    /// Ends the other thread, whatever becomes of this one.
    struct Ending<'o>(&'o AtomicBool);
    impl Drop for Ending<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let over = AtomicBool::new(false);
    let (mut whole, mut not) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0_u32.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                // The directory, and a file in it, become links and come back.
                fs::rename(at("s/d"), at("s/kept")).unwrap();
                symlink(&secret, at("s/d")).unwrap();
                fs::remove_file(at("s/d")).unwrap();
                fs::rename(at("s/kept"), at("s/d")).unwrap();
                fs::rename(at("s/d/7"), at("s/d/kept")).unwrap();
                symlink(secret.join("7"), at("s/d/7")).unwrap();
                fs::rename(at("s/d/kept"), at("s/d/7")).unwrap();
                // And two are exchanged.
                for (from, to) in [("s/d", "s/kept"), ("s/e", "s/d"), ("s/kept", "s/e")] {
                    fs::rename(at(from), at(to)).unwrap();
                }
                // At times long enough that a copy is begun.
                std::thread::sleep(Duration::from_micros(if turn.is_multiple_of(8) { 25_000 } else { 50 }));
            }
        });
        let _ending = Ending(&over);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(500) && (whole < 5 || not < 20) {
            let mut run = store.begin().unwrap();
            let made = run.make_movable(&[at("s")], Room::default()).unwrap();
            let found = tree(&run.layer().upper());
            match made.is_empty() {
                true => {
                    not += 1;
                    assert_eq!(found.len(), 1, "{found:?}");
                }
                false => whole += 1,
            }
            for directory in ["s/d", "s/e"] {
                let inside = found
                    .iter()
                    .filter(|(path, _)| path.starts_with(directory) && *path != Path::new(directory));
                let contents: Vec<_> = inside.map(|(_, (_, content))| content.as_slice()).collect();
                assert!(contents.iter().all(|content| *content != b"secret"), "{found:?}");
                assert!(contents.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
            }
        }
    });
    assert!(not > 0, "nothing was changed meanwhile: {whole}");
}

/// What somebody else changes in a directory while a command runs stays, where the command has not changed it.
#[test]
fn what_others_change_meanwhile_stays() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = store(&place) else { return };
    furnish(&place.workspace());
    let at = |name: &str| place.workspace().join(name);
    let mut run = store.begin().unwrap();
    make_movable(&place, &mut run, &["a", "d"]);
    let result = go(&overlaid(&place, &run, "rm a/b/two; echo x > a/mine"));
    assert_eq!(result.exit, Exit::Exited(0));
    fs::write(at("a/one"), "theirs\n").unwrap();
    fs::write(at("a/b/c/new"), "theirs\n").unwrap();
    fs::remove_dir_all(at("d")).unwrap();
    let changes = run.changes(&Accept).unwrap();
    assert_eq!(changes.accepted.len(), 2, "{:?}", changes.accepted);
    assert!(run.commit(changes, "").unwrap().failed.is_empty());
    assert_eq!(fs::read(at("a/one")).unwrap(), b"theirs\n");
    assert_eq!(fs::read(at("a/b/c/new")).unwrap(), b"theirs\n");
    assert!(at("a/mine").exists() && !at("a/b/two").exists() && !at("d").exists());
}

/// What a command has renamed is a copy: the directory that it was made of is not removed with what somebody else has changed in it.
#[test]
fn what_others_change_in_a_renamed_directory_stays() {
    need_sandbox!();
    for (theirs, stays) in [("a/one", true), ("a/b/c/new", true), ("e/new", false)] {
        let place = Place::new();
        let Some(store) = store(&place) else { return };
        furnish(&place.workspace());
        let at = |name: &str| place.workspace().join(name);
        let mut run = store.begin().unwrap();
        make_movable(&place, &mut run, &["a"]);
        let result = go(&overlaid(&place, &run, "mv a lib; mkdir a; rmdir a"));
        assert_eq!(result.exit, Exit::Exited(0));
        fs::write(at(theirs), "theirs\n").unwrap();
        let changes = run.changes(&Accept).unwrap();
        let refused: Vec<_> = changes.refused.iter().map(|refused| refused.change.path.as_path()).collect();
        assert_eq!(refused.contains(&Path::new("a")), stays, "{theirs}: {refused:?}");
        assert!(run.commit(changes, "").unwrap().failed.is_empty());
        assert_eq!(fs::read(at(theirs)).unwrap(), b"theirs\n");
        assert!(at("lib/one").exists() && at("a").exists() == stays, "{theirs}");
    }
}
