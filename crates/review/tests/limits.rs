//! The rate limiter between real processes: many at once, killed at any moment, on a full disk, with a store that is not
//! ours.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward_review::{Key, Limit, Limiter, Per, Rate, StateDir, StoreError, Turn};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The directory, for a copy of this program that only makes attempts.
const DIRECTORY: &str = "SHWARD_TEST_DIRECTORY";

/// How many attempts it makes.
const ATTEMPTS: &str = "SHWARD_TEST_ATTEMPTS";

/// More than a process makes in its life.
const ENDLESS: u32 = 4_000_000;

fn limiter(directory: &Path, count: u32) -> Limiter {
    let rate = Rate::new(count, Duration::from_secs(86_400)).unwrap();
    Limiter::new(StateDir::new(directory.join("state")), vec![Limit::new(Per::Session, rate)])
}

/// Not a test by itself: what the other processes do. Prints one letter per attempt.
#[test]
fn attempts_of_another_process() {
    let (Some(directory), Ok(attempts)) = (std::env::var_os(DIRECTORY), std::env::var(ATTEMPTS)) else {
        return;
    };
    let attempts: u32 = attempts.parse().unwrap();
    let limiter = limiter(Path::new(&directory), if attempts == ENDLESS { ENDLESS } else { 100 });
    let mut letters = String::new();
    for _ in 0..attempts {
        letters.push(match limiter.attempt(&[Key::Session("s")]) {
            Ok(Turn::Now) => '+',
            Ok(_) => '-',
            Err(StoreError::Io { .. }) => 'e',
            Err(_) => 'x',
        });
    }
    println!("ATTEMPTS {letters}");
}

fn process(directory: &Path, attempts: u32, shell: Option<&str>) -> Child {
    let this = std::env::current_exe().unwrap();
    let arguments = ["--exact", "attempts_of_another_process", "--nocapture"];
    let mut command = match shell {
        Some(before) => {
            let mut bash = Command::new("bash");
            bash.args(["-c", &format!("{before}; exec \"$0\" \"$@\"")]).arg(this).args(arguments);
            bash
        }
        None => {
            let mut direct = Command::new(this);
            direct.args(arguments);
            direct
        }
    };
    command.env(DIRECTORY, directory).env(ATTEMPTS, attempts.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn letters(child: Child) -> String {
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let (_, letters) = output.split_once("ATTEMPTS ").unwrap_or_else(|| panic!("{output}"));
    letters.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn many_processes_together_get_exactly_what_the_limit_gives() {
    let directory = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..24).map(|_| process(directory.path(), 20, None)).collect();
    let all: String = children.into_iter().map(letters).collect();
    assert_eq!(all.len(), 480);
    assert_eq!(all.matches('+').count(), 100, "{all}");
    assert_eq!(all.matches('-').count(), 380, "{all}");
}

#[test]
fn killed_at_any_moment_the_store_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let limiter = limiter(directory.path(), ENDLESS);
    for round in 0..40u64 {
        let mut child = process(directory.path(), ENDLESS, None);
        std::thread::sleep(Duration::from_millis(3 + round * 7 % 31));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(limiter.attempt(&[Key::Session("s")]).unwrap(), Turn::Now, "round {round}");
    }
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    // Not even the first copy fits: nobody may go on, and nothing is left that would look like a store.
    assert_eq!(letters(process(directory.path(), 3, Some("trap '' XFSZ; ulimit -f 4"))), "eee");
    let limiter = limiter(directory.path(), 100);
    assert_eq!(limiter.attempt(&[Key::Session("s")]).unwrap(), Turn::Now);
    // The second copy does not fit as a whole, the first does; what was counted and not told counts all the same.
    assert_eq!(letters(process(directory.path(), 3, Some("trap '' XFSZ; ulimit -f 12"))), "e+e");
    for _ in 4..100 {
        assert_eq!(limiter.attempt(&[Key::Session("s")]).unwrap(), Turn::Now);
    }
    assert!(matches!(limiter.attempt(&[Key::Session("s")]).unwrap(), Turn::Refused(_)));
}

#[test]
fn a_store_that_others_may_write_is_refused() {
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let limiter = limiter(directory.path(), 100);
    let attempt = || limiter.attempt(&[Key::Session("s")]);
    assert_eq!(attempt().unwrap(), Turn::Now);
    let (state, file) = (directory.path().join("state"), directory.path().join("state/limits"));
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    for (path, bad, good) in
        [(&file, 0o620, 0o600), (&file, 0o602, 0o600), (&state, 0o770, 0o700), (&state, 0o777, 0o700)]
    {
        mode(path, bad);
        let error = attempt().unwrap_err();
        assert!(matches!(error, StoreError::Writable { .. }), "{error}");
        assert!(error.to_string().contains("chmod go-w"), "{error}");
        mode(path, good);
        assert_eq!(attempt().unwrap(), Turn::Now);
    }
    // Another user's, which only root can make.
    if fs::metadata(&file).unwrap().uid() == 0 {
        for path in [&file, &state] {
            chown(path, Some(65_534), None).unwrap();
            assert!(matches!(attempt(), Err(StoreError::Owner { owner: 65_534, .. })));
            chown(path, Some(0), None).unwrap();
        }
    }
    // A link, a pipe and a directory in its place.
    fs::rename(&file, state.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(state.join("elsewhere"), &file).unwrap();
    assert!(attempt().is_err());
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert!(attempt().is_err());
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(attempt().is_err());
}

#[test]
fn a_lock_that_is_never_released_is_no_hang() {
    let directory = tempfile::tempdir().unwrap();
    let limiter = limiter(directory.path(), 100);
    assert_eq!(limiter.attempt(&[Key::Session("s")]).unwrap(), Turn::Now);
    let held = fs::File::open(directory.path().join("state/limits")).unwrap();
    held.lock().unwrap();
    let start = Instant::now();
    assert!(matches!(limiter.attempt(&[Key::Session("s")]), Err(StoreError::Locked { .. })));
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Prints what an attempt costs: `cargo test --release -p shward-review --test limits -- --ignored --nocapture cost`.
#[test]
#[ignore = "a measurement"]
fn cost() {
    let directory = tempfile::tempdir().unwrap();
    let limiter = limiter(directory.path(), 10_000_000);
    for filler in [0, 240] {
        for n in 0..filler {
            limiter.attempt(&[Key::Session(&n.to_string())]).unwrap();
        }
        let rounds = 5000;
        let mut times: Vec<Duration> = (0..rounds)
            .map(|_| {
                let start = Instant::now();
                limiter.attempt(&[Key::Session("s")]).unwrap();
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("{filler} other keys: median {:?}, 99 % {:?}", times[rounds / 2], times[rounds * 99 / 100]);
    }
}
