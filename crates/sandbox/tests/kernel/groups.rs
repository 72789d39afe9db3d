//! Control groups: a run that asks for one starts in it, it limits the run as a whole, and none is left.
//!
//! They have to be delegated to whoever runs the tests, with their controllers. What is not says so and is not passed off as tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use shward_sandbox::{Exit, Gap, Limits, Options, Stage, features, run};

use crate::roles;
use crate::support::{Place, confinement, go, need_sandbox, stdout};

/// Whether groups can be made here, with these controllers; says loudly when not.
fn given(controllers: &[&str]) -> bool {
    let found = features().cgroup;
    let missing = match &found {
        Err(why) => Some(why.clone()),
        Ok(given) => controllers
            .iter()
            .find(|name| !given.iter().any(|given| given == *name))
            .map(|name| format!("no controller {name}")),
    };
    if let Some(why) = &missing {
        eprintln!("SKIPPED: control groups of version 2 with {controllers:?}: {why}");
    }
    missing.is_none()
}

/// The directories of groups that are ours.
fn groups() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = mounts
        .lines()
        .filter(|line| line.contains(" - cgroup2 "))
        .find_map(|line| line.split(' ').nth(4))
        .unwrap();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap().to_owned();
    let own = Path::new(mount).join(own);
    let places = [Some(own.as_path()), own.parent()];
    let entries = places.into_iter().flatten().filter_map(|place| fs::read_dir(place).ok()).flatten();
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("shward-"));
    named.map(|entry| entry.path()).collect()
}

fn of_process(directory: &Path, process: u32) -> bool {
    directory.file_name().unwrap().to_string_lossy().starts_with(&format!("shward-{process}-"))
}

#[test]
fn a_run_starts_in_its_own_group_and_leaves_none() {
    need_sandbox!();
    if !given(&[]) {
        return;
    }
    let place = Place::new();
    let script = "grep ^0:: /proc/self/cgroup; grep ^0:: /proc/1/cgroup; sleep 1000 &";
    for _ in 0..2 {
        // With namespaces made ahead, and without.
        let result = go(&place.shell(script).require_group());
        assert_eq!((stdout(&result).as_str(), result.exit), ("0::/\n0::/\n", Exit::Exited(0)), "{result:?}");
        assert!(!result.out_of_memory);
    }
    let ours: Vec<PathBuf> =
        groups().into_iter().filter(|path| of_process(path, std::process::id())).collect();
    // Other tests have theirs at the same time, but not for long.
    let started = Instant::now();
    while ours.iter().any(|path| path.exists()) {
        assert!(started.elapsed() < Duration::from_secs(20), "{ours:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_seen_in_its_group_from_outside() {
    need_sandbox!();
    if !given(&[]) {
        return;
    }
    let place = Place::new();
    let mark = format!("85{}", std::process::id());
    let mut seen = Vec::new();
    let mut on_output = |_: shward_sandbox::Stream, _: &[u8]| {
        // A process that is just executing its program has no words yet.
        let started = Instant::now();
        while !seen.iter().any(|count| *count >= 3) && started.elapsed() < Duration::from_secs(10) {
            for path in groups() {
                let members = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
                let words = |pid: &str| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let count = members.lines().filter(|pid| {
                    let words = words(pid);
                    words.windows(mark.len()).any(|w| w == mark.as_bytes())
                        || words.starts_with(b"shward-init")
                });
                seen.push(count.count());
            }
        }
        fs::write(place.workspace().join("seen"), []).unwrap();
    };
    let mut options = Options::default();
    options.on_output = Some(&mut on_output);
    // However late we look, everything is still there.
    let script = format!("sleep {mark} & echo started; until [ -e seen ]; do sleep 0.02; done; kill $!");
    run(&place.shell(&script).require_group().prepare().unwrap(), options).unwrap();
    assert!(
        seen.iter().any(|count| *count >= 3),
        "process 1, the shell and what it started: {:?}",
        seen.iter().max()
    );
}

/// The role: a supervisor that waits for its command.
pub(crate) fn supervise(place: &Path) -> String {
    let script = format!("touch {}/started; sleep 1000", place.display());
    let plan = confinement("/bin/bash", place)
        .arguments(["bash", "-c", &script])
        .variable("PATH", "/usr/bin:/bin")
        .writable(place)
        .require_group()
        .prepare()
        .unwrap();
    format!("{:?}", run(&plan, Options::default()))
}

#[test]
fn what_a_killed_supervisor_leaves_is_cleared_by_the_next_run() {
    need_sandbox!();
    if !given(&[]) {
        return;
    }
    let place = Place::new();
    let mut supervisor =
        roles::command("supervise-group", &place.workspace()).stdout(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !place.workspace().join("started").exists() {
        assert!(started.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(20));
    }
    let left = || groups().into_iter().any(|path| of_process(&path, supervisor.id()));
    assert!(left());
    // A run of others leaves alone what somebody still holds.
    go(&place.shell("true").require_group());
    assert!(left());
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    let left = || groups().into_iter().any(|path| of_process(&path, supervisor.id()));
    assert!(left(), "nobody was there to remove it");
    go(&place.shell("true").require_group());
    assert!(!left());
}

#[test]
fn limits_of_a_whole_run_hold() {
    need_sandbox!();
    if !given(&["memory", "pids", "cpu"]) {
        return;
    }
    let place = Place::new();
    let limited = |script: &str, change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        go(&place.shell(script).limits(limits).require_group())
    };
    // tail keeps what it is to print; the reader lets it wait.
    let eat = |times: u32| {
        format!(
            "for i in $(seq {times}); do head -c 40M /dev/zero | tail -c 40M | (sleep 2; wc -c) & done; wait"
        )
    };
    let result = limited(&eat(1), |limits| limits.run_memory = Some(100 << 20));
    assert!(!result.out_of_memory && stdout(&result) == "41943040\n", "{result:?}");
    let result = limited(&eat(4), |limits| limits.run_memory = Some(100 << 20));
    assert!(result.out_of_memory, "{result:?}");
    // So do private directories, which are memory.
    let result = limited("head -c 200M /dev/zero > /tmp/big", |limits| limits.run_memory = Some(64 << 20));
    assert!(result.out_of_memory && result.exit != Exit::Exited(0), "{result:?}");
    let count = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let free = limited(count, |_| {}).duration;
    let slow = limited(count, |limits| limits.processors = Some(5)).duration;
    assert!(slow > free * 4, "{slow:?} {free:?}");
}

#[test]
fn what_cannot_be_limited_is_told_and_refused_where_it_is_required() {
    need_sandbox!();
    if features().cgroup.is_ok_and(|given| given.iter().any(|name| name == "memory")) {
        eprintln!("SKIPPED: control groups are delegated here");
        return;
    }
    let place = Place::new();
    let mut limits = Limits::default();
    limits.run_memory = Some(1 << 30);
    let wanted = place.shell("echo ran").limits(limits);
    let plan = wanted.prepare().unwrap();
    assert!(
        matches!(plan.gaps(), [Gap::NoGroup { limits, .. }] if *limits == ["memory"]),
        "{:?}",
        plan.gaps()
    );
    assert!(plan.to_string().contains("Delegate=yes"), "{plan}");
    assert_eq!(stdout(&go(&wanted)), "ran\n");
    let error = wanted.require_group().prepare().unwrap_err();
    assert_eq!(error.stage, Stage::Limits);
    assert!(error.to_string().contains("Delegate=yes"), "{error}");
}
