//! A commit and an undo are killed at every system call that they make and that may change something, and finished by the next recovery: the workspace is then
//! as before or as after, never in between.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use shward_sandbox::overlay::{Accept, Room, Run, Store};

use crate::overlay::{furnish, left, store, tree};
use crate::support::Place;

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Fills a layer as overlayfs would for a command that creates, changes, replaces and deletes.
fn command(run: &Run) {
    let upper = run.layer().upper();
    for directory in ["a/b", "n/e/w", "d"] {
        fs::create_dir_all(upper.join(directory)).unwrap();
    }
    for (file, content) in [
        ("new", "n\n"),
        ("a/one", "changed\n"),
        ("a/b/fresh", "f\n"),
        ("n/e/w/file", "w\n"),
        ("d/other", "o\n"),
    ] {
        fs::write(upper.join(file), content).unwrap();
    }
    let c = |path: PathBuf| CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: C strings, a value with its length, and numbers; each result is checked.
    unsafe {
        let opaque = libc::setxattr(
            c(upper.join("d")).as_ptr(),
            c"user.overlay.opaque".as_ptr(),
            b"y".as_ptr().cast(),
            1,
            0,
        );
        assert_eq!(opaque, 0);
        for gone in ["top", "node_modules", "a/b/two"] {
            assert_eq!(libc::mknod(c(upper.join(gone)).as_ptr(), libc::S_IFCHR | 0o600, 0), 0);
        }
    }
}

/// Calls that leave every file as it is: whoever is killed before one of them leaves what they leave who are killed before the next that
/// is none of them.
const HARMLESS: [libc::c_long; 27] = [
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    libc::SYS_readlinkat,
    libc::SYS_lgetxattr,
    libc::SYS_llistxattr,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_geteuid,
    libc::SYS_getuid,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigaction,
    libc::SYS_sigaltstack,
];

/// Whether a process that is stopped by a system call is about to make one that may change something.
fn is_about_to_change(process: libc::pid_t) -> bool {
    // `struct ptrace_syscall_info`: what kind of stop it is, and from byte 24 on the call's number where it begins.
    const GET_SYSCALL_INFO: libc::c_uint = 0x420e;
    const BEGINS: u8 = 1;
    let mut told = [0_u64; 12];
    // SAFETY: the kernel writes no more than the size that it is given.
    let length =
        unsafe { libc::ptrace(GET_SYSCALL_INFO as _, process, size_of_val(&told), told.as_mut_ptr()) };
    assert!(length > 0);
    told[0].to_ne_bytes()[0] == BEGINS && !HARMLESS.contains(&(told[3] as libc::c_long))
}

/// Runs what `prepare` returns in a process that is killed before its call number `calls` that may change something. Returns whether it
/// was.
fn killed_at<W: FnOnce()>(calls: usize, prepare: impl FnOnce() -> W) -> bool {
    // SAFETY: the child calls only what the work needs, and then _exit; it is stopped before it begins.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: closes descriptors that only the parent's threads use.
        unsafe {
            // Locks that other tests hold.
            libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0);
        }
        let work = || {
            let work = prepare();
            // SAFETY: no preconditions; the parent is waiting for the stop.
            unsafe {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                libc::raise(libc::SIGSTOP);
            }
            work();
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: ends the process without running what belongs to the parent.
        unsafe { libc::_exit(i32::from(ended.is_err())) };
    }
    let wait = || {
        let mut status = 0;
        // SAFETY: waits for the child that was just made.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        status
    };
    assert!(libc::WIFSTOPPED(wait()));
    // SAFETY: the child is stopped and traced. Without that nobody is told which call it is.
    let set = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, child, 0, libc::PTRACE_O_TRACESYSGOOD) };
    assert_eq!(set, 0);
    let mut left = calls + 1;
    while left > 0 {
        // SAFETY: the child is stopped and traced.
        unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0, 0) };
        let status = wait();
        if libc::WIFEXITED(status) {
            assert_eq!(libc::WEXITSTATUS(status), 0, "the work itself failed");
            return false;
        }
        left -= usize::from(is_about_to_change(child));
    }
    // SAFETY: the child has not been waited for to its end.
    unsafe { libc::kill(child, libc::SIGKILL) };
    assert!(libc::WIFSIGNALED(wait()));
    true
}

/// Kills `work` at every call, prepares anew each time, and lets the recovery be killed, too. `whole` is whether all of it can be
/// taken back.
fn whole_at_every_moment<'w, W: FnOnce() + 'w>(
    what: &str,
    whole: bool,
    prepare: impl Fn(&Store, &Path),
    work: impl Fn(Store) -> W,
    expected: &[Tree; 2],
) {
    let mut seen = [0, 0];
    for calls in 0.. {
        let place = Place::new();
        let Some(store) = store(&place) else { return };
        furnish(&place.workspace());
        prepare(&store, &place.workspace());
        let killed = killed_at(calls, || work(store.clone()));
        // Every few, the recovery dies as well, somewhere.
        if calls % 5 == 0 {
            killed_at(calls / 2 % 60, || || drop(store.recover().unwrap()));
        }
        store.recover().unwrap();
        let after = tree(&place.workspace());
        let state = expected.iter().position(|state| *state == after);
        let state = state.unwrap_or_else(|| panic!("{what}: in between after {calls} calls: {after:#?}"));
        seen[state] += 1;
        assert!(store.recover().unwrap().is_empty());
        // What is kept can still be taken back, or is gone.
        for kept in store.kept().unwrap() {
            let undone = store.undo(&kept.id).unwrap();
            assert!(!whole || undone.skipped.is_empty(), "{what}: {calls}: {undone:?}");
        }
        let left = left(&store);
        let here = if whole { "new-" } else { "kept-" };
        assert!(
            left.iter().all(|name| name.starts_with("new-") || name.starts_with(here)),
            "{what}: {calls}: {left:?}"
        );
        if !killed {
            break;
        }
    }
    assert!(seen.iter().all(|count| *count > 3), "{what}: {seen:?}");
}

fn commit(store: &Store) -> impl FnOnce() + use<> {
    let run = store.begin().unwrap();
    command(&run);
    let changes = run.changes(&Accept).unwrap();
    move || {
        let committed = run.commit(changes, "test").unwrap();
        assert!(committed.failed.is_empty(), "{committed:?}");
    }
}

fn states() -> Option<[Tree; 2]> {
    let place = Place::new();
    let store = store(&place)?;
    furnish(&place.workspace());
    let before = tree(&place.workspace());
    commit(&store)();
    Some([before, tree(&place.workspace())])
}

#[test]
fn a_killed_commit_is_all_or_nothing() {
    let Some(states) = states() else { return };
    whole_at_every_moment("commit", true, |_, _| {}, |store| commit(&store), &states);
}

#[test]
fn a_killed_undo_is_all_or_nothing() {
    let Some(states) = states() else { return };
    let undo = |store: Store| {
        let id = store.kept().unwrap().remove(0).id;
        move || assert!(store.undo(&id).unwrap().skipped.is_empty())
    };
    whole_at_every_moment("undo", true, |store, _| commit(store)(), undo, &states);
}

/// What cannot be taken back stays kept, and what was taken back stays so, whenever the undo is killed and how often it is begun.
#[test]
fn a_killed_undo_of_a_part_is_all_or_nothing() {
    let Some([mut before, mut after]) = states() else { return };
    std::mem::swap(&mut before, &mut after);
    let mine = |root: &Path| fs::write(root.join("a/one"), "mine\n").unwrap();
    for state in [&mut before, &mut after] {
        state.get_mut(Path::new("a/one")).unwrap().1 = b"mine\n".to_vec();
    }
    let undo = |store: Store| {
        let id = store.kept().unwrap().remove(0).id;
        move || assert_eq!(store.undo(&id).unwrap().skipped.len(), 1)
    };
    let prepare = |store: &Store, root: &Path| {
        commit(store)();
        mine(root);
    };
    whole_at_every_moment("undo of a part", false, prepare, undo, &[before, after.clone()]);
    // Once more: nothing of it is left to be taken back, and nothing comes again.
    let again = |store: &Store, root: &Path| {
        prepare(store, root);
        undo(store.clone())();
    };
    for calls in 0..40 {
        let place = Place::new();
        let Some(store) = store(&place) else { return };
        furnish(&place.workspace());
        again(&store, &place.workspace());
        killed_at(calls, || undo(store.clone()));
        store.recover().unwrap();
        assert_eq!(tree(&place.workspace()), after, "{calls}");
    }
}

/// What is put into a layer and taken out of it again is of no effect on the workspace, whenever that is cut off.
#[test]
fn a_run_that_is_killed_while_directories_are_made_movable_leaves_nothing() {
    // What a command has left of them.
    let changed = |run: &Run| {
        let upper = run.layer().upper();
        fs::write(upper.join("a/one"), "changed\n").unwrap();
        fs::remove_dir_all(upper.join("a/b")).unwrap();
        fs::write(upper.join("a/b"), "a file\n").unwrap();
        fs::remove_file(upper.join("d/four")).unwrap();
    };
    for after in [false, true] {
        for calls in (0..).step_by(19) {
            let place = Place::new();
            let Some(store) = store(&place) else { return };
            furnish(&place.workspace());
            let before = tree(&place.workspace());
            let wanted = ["a", "d", "e/f"].map(|name| place.workspace().join(name));
            let killed = killed_at(calls, || {
                let mut run = store.begin().unwrap();
                if after {
                    run.make_movable(&wanted, Room::default()).unwrap();
                    changed(&run);
                }
                let wanted = &wanted;
                move || {
                    if after {
                        assert_eq!(run.changes(&Accept).unwrap().accepted.len(), 6);
                    } else {
                        assert_eq!(run.make_movable(wanted, Room::default()).unwrap().len(), 3);
                    }
                }
            });
            assert!(store.recover().unwrap().is_empty());
            assert_eq!(tree(&place.workspace()), before, "{calls}");
            assert!(left(&store).iter().all(|name| name.starts_with("new-")), "{calls}: {:?}", left(&store));
            if !killed {
                assert!(calls > 30, "{calls}");
                break;
            }
        }
    }
}
