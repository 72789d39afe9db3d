//! What takes minutes: many runs at once, fork bombs, floods, full disks, a supervisor that is killed at any moment. Nothing
//! survives and nothing is left over.
//!
//! `cargo test --release -p shward-sandbox --test stress -- --ignored --nocapture --test-threads 1`
#![allow(clippy::panic, clippy::print_stdout, clippy::print_stderr, clippy::exit, clippy::unwrap_used)]
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use shward_sandbox::{Confinement, Exit, Limits, Options, RunResult, run};

fn shell(script: &str) -> Confinement {
    Confinement::new("/bin/bash", "/usr").arguments(["bash", "-c", script]).variable("PATH", "/usr/bin:/bin")
}

fn go(confinement: &Confinement, timeout: Duration) -> RunResult {
    let mut options = Options::default();
    options.timeout = Some(timeout);
    options.max_output = 1000;
    run(&confinement.prepare().unwrap(), options).unwrap()
}

/// Descriptors, mounts, threads and children of this process.
fn held() -> (usize, usize, usize, usize) {
    let lines = |path: &str| fs::read_to_string(path).unwrap().lines().count();
    let entries = |path: &str| fs::read_dir(path).unwrap().count();
    let children = fs::read_dir("/proc/self/task").unwrap().flatten();
    let children = children.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let children = children.map(|list| list.split_whitespace().count()).sum();
    (entries("/proc/self/fd"), lines("/proc/self/mountinfo"), entries("/proc/self/task"), children)
}

/// Resident memory in KiB.
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Numbers of the processes that have this word in their environment.
fn marked(word: &str) -> BTreeSet<u32> {
    let has = |pid: &u32| {
        fs::read(format!("/proc/{pid}/environ"))
            .unwrap_or_default()
            .windows(word.len())
            .any(|w| w == word.as_bytes())
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has).collect()
}

fn temporary() -> BTreeSet<std::ffi::OsString> {
    fs::read_dir("/tmp")
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().contains("shward"))
        .collect()
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_runs_at_once() {
    const RUNS: u32 = 1000;
    const WORKERS: u32 = 64;
    let round = |runs: u32| {
        let next = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..WORKERS.min(runs) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= runs {
                            break;
                        }
                        let script =
                            format!("echo {number}; echo e{number} >&2; sleep 60 & exit {}", number % 100);
                        let done = go(&shell(&script), Duration::from_secs(300));
                        assert_eq!(done.exit, Exit::Exited((number % 100) as i32));
                        assert_eq!(done.stdout.to_text(), format!("{number}\n"));
                        assert_eq!(done.stderr.to_text(), format!("e{number}\n"));
                    }
                });
            }
        });
    };
    round(WORKERS);
    let (before, memory, started) = (held(), resident(), Instant::now());
    round(RUNS);
    println!("{RUNS} runs, {WORKERS} at once: {:?}, {} KiB more", started.elapsed(), resident() - memory);
    // A scope ends when its threads have done their work, and they are gone a moment later.
    let patience = Instant::now();
    while held() != before && patience.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(held(), before);
    assert!(resident() - memory < 16 * 1024, "KiB: {}", resident() - memory);
}

#[test]
#[ignore = "takes minutes"]
fn fork_bombs_end_with_their_deadline() {
    go(&shell("true"), Duration::from_secs(60)); // what is made once is there
    let before = held();
    let mut limits = Limits::default();
    limits.processes = Some(400);
    for script in [
        ":() { : | : & }; :; sleep 60",
        "trap '' TERM HUP INT; bomb() { (trap '' TERM; bomb) & (setsid sleep 60) & wait; }; bomb",
        "while :; do sleep 60 & disown; done",
    ] {
        let bomb = shell(script).variable("MARK", "shward-stress-bomb").limits(limits.clone());
        let started = Instant::now();
        let done = go(&bomb, Duration::from_secs(2));
        let late = started.elapsed().saturating_sub(Duration::from_secs(2));
        println!("gone {late:?} after the deadline; {script}");
        assert!(done.timed_out || done.exit != Exit::Exited(0), "{done:?}");
        assert!(marked("shward-stress-bomb").is_empty());
    }
    assert_eq!(held(), before);
    assert_eq!(go(&shell("true"), Duration::from_secs(60)).exit, Exit::Exited(0));
}

#[test]
#[ignore = "takes minutes"]
fn a_flood_of_two_gigabytes_is_drained_in_constant_memory() {
    go(&shell("head -c 1M /dev/zero"), Duration::from_secs(60));
    let (before, memory, started) = (held(), resident(), Instant::now());
    let done = go(&shell("head -c 2G /dev/zero; head -c 2G /dev/zero >&2; exit 3"), Duration::from_secs(600));
    assert_eq!((done.exit, done.stdout.total, done.stderr.total), (Exit::Exited(3), 2 << 30, 2 << 30));
    assert!(done.stdout.truncated && done.stdout.head.len() + done.stdout.tail.len() <= 1000);
    println!("4 GiB in {:?}, {} KiB more", started.elapsed(), resident() - memory);
    assert!(resident() - memory < 8 * 1024, "KiB: {}", resident() - memory);
    assert_eq!(held(), before);
}

#[test]
#[ignore = "takes minutes"]
fn a_full_disk_is_the_commands_alone() {
    let before = held();
    let mut limits = Limits::default();
    limits.private_bytes = 1 << 20;
    let script = "head -c 8M /dev/zero > /tmp/a; echo $?; i=0; while echo > /tmp/f$i; do i=$((i+1)); done 2> /dev/null; \
         [ $i -lt 100000 ]; echo $?; echo still here";
    for _ in 0..20 {
        let done = go(&shell(script).limits(limits.clone()), Duration::from_secs(120));
        assert_eq!(done.stdout.to_text(), "1\n0\nstill here\n", "{done:?}");
    }
    assert_eq!(held(), before);
}

/// A supervisor of its own, which this program becomes when it is started with this variable.
const SUPERVISE: &str = "SHWARD_STRESS_SUPERVISE";

#[test]
#[ignore = "started by another test"]
fn supervise() {
    let Some(mark) = std::env::var_os(SUPERVISE) else { return };
    let script = "trap '' TERM HUP; for i in 1 2 3 4 5 6 7 8; do (trap '' TERM HUP; setsid sleep 60) & done; echo up; sleep 60";
    let base = shell(script).variable("MARK", mark);
    loop {
        go(&base, Duration::from_millis(40));
    }
}

#[test]
#[ignore = "takes minutes"]
fn nothing_survives_a_supervisor_that_is_killed_at_any_moment() {
    const ROUNDS: u64 = 200;
    let (before, files) = (held(), temporary());
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..ROUNDS {
        let mark = format!("shward-stress-{}-{round}.", std::process::id());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "supervise", "--ignored", "--nocapture", "--test-threads=1"])
            .env(SUPERVISE, &mark)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // xorshift: a moment that differs each time and is the same in each run.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        std::thread::sleep(Duration::from_micros(seed % 100_000));
        child.kill().unwrap();
        child.wait().unwrap();
        // The kernel ends the pid namespace after its process 1 has got the signal.
        let started = Instant::now();
        while !marked(&mark).is_empty() {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "round {round}: {:?} live on",
                marked(&mark)
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!((held(), temporary()), (before, files));
    println!("{ROUNDS} supervisors killed");
}
