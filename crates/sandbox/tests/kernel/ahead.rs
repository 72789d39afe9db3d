//! Namespaces that are made ahead are those of a run, and their helper leaves nothing behind.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use shward_sandbox::overlay::Accept;
use shward_sandbox::{Ahead, Exit, Limits, Network, Options, Plan, Rest, run};

use crate::overlay;
use crate::support::{Place, confinement, need_sandbox, stdout};

/// Children of this process whose memory is ours too or that nobody has reaped, and descriptors.
fn left() -> (usize, usize) {
    let me = format!("PPid:\t{}\n", std::process::id());
    let own = fs::read("/proc/self/cmdline").unwrap();
    let ours = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&read("status")).contains(&me)
            && [own.clone(), Vec::new()].contains(&read("cmdline"))
    });
    (ours.count(), fs::read_dir("/proc/self/fd").unwrap().count())
}

fn run_with(plan: &Plan, ahead: Option<Ahead>) -> String {
    let mut options = Options::default();
    options.ahead = ahead;
    let done = run(plan, options).unwrap();
    assert_eq!(done.exit, Exit::Exited(0), "{}", done.stderr.to_text());
    stdout(&done)
}

#[test]
fn every_namespace_is_another_than_ours() {
    need_sandbox!();
    const KINDS: [&str; 7] = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];
    let place = Place::new();
    let script = "for n in user mnt pid net ipc uts cgroup; do readlink /proc/self/ns/$n; done; echo $PPID";
    let plan = place.shell(script).prepare().unwrap();
    for ahead in [None, Ahead::start()] {
        let said = run_with(&plan, ahead);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), KINDS.len() + 1, "{said}");
        for (kind, inside) in KINDS.iter().zip(&lines) {
            let outside = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
            assert_ne!(outside.to_str(), Some(*inside));
        }
        assert_eq!(lines.last(), Some(&"1"), "below process 1, whichever way it was made");
    }
}

#[test]
fn what_does_not_suit_is_not_used() {
    need_sandbox!();
    let place = Place::new();
    let host = place.shell("readlink /proc/self/ns/net").network(Network::Host).prepare().unwrap();
    let outside = fs::read_link("/proc/self/ns/net").unwrap();
    assert_eq!(run_with(&host, Ahead::start()).trim(), outside.to_str().unwrap());
    let late = Ahead::start();
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(run_with(&place.shell("echo late").prepare().unwrap(), late), "late\n");
}

/// What was begun serves a plan that wants it; one that wants something else is as if nothing had been. Signals, capabilities,
/// propagation of mounts, every mount and devices are as the plan alone would make them; only the order in which mounts were
/// taken may differ.
#[test]
fn what_was_begun_is_what_the_plan_says() {
    need_sandbox!();
    // It would be inherited. SAFETY: no handler, and nothing else in this process uses this signal.
    let set = |action| unsafe { libc::signal(libc::SIGUSR2, action) };
    set(libc::SIG_IGN);
    let place = Place::new();
    let look = "grep -E '^(Cap|Sig(Ign|Cgt|Blk)|NoNewPrivs|Seccomp:)' /proc/self/status; cat /proc/self/uid_map; umask
        grep -cE ' (shared|master):' /proc/self/mountinfo; cut -d ' ' -f 4-7 /proc/self/mountinfo | sort
        stat -c '%a %n' /tmp /var/tmp /dev/shm /run /dev/pts /dev/ptmx; ls -A /tmp /var/tmp /dev/shm
        df --output=size /tmp | tail -n 1; echo x > /dev/null && echo written; (echo x > /dev/shm/x) 2>&- && echo shared";
    let usual = place.shell(look);
    let mut limits = Limits::default();
    limits.private_bytes = 1 << 20;
    let other = place.shell(look).limits(limits);
    for (confinement, kib) in [(usual, 1 << 20), (other, 1 << 10)] {
        let plan = confinement.prepare().unwrap();
        let alone = run_with(&plan, None);
        for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "SigIgn", "SigBlk"] {
            assert!(alone.contains(&format!("{name}:\t0000000000000000\n")), "{name} in {alone}");
        }
        assert!(alone.contains("\n0\n"), "a mount goes on to others: {alone}");
        let size = alone.lines().filter_map(|line| line.trim().parse::<u64>().ok()).next_back();
        assert_eq!(size, Some(kib), "{alone}");
        assert!(alone.ends_with("written\nshared\n"), "{alone}");
        // Begun at once, and long before; the second has namespaces that were used before.
        for wait in [0, 0, 20] {
            let ahead = Ahead::start();
            std::thread::sleep(Duration::from_millis(wait));
            assert_eq!(run_with(&plan, ahead), alone);
        }
    }
    set(libc::SIG_DFL);
}

/// A result is there when nothing of the command is left, and process 1 goes later.
#[test]
fn what_a_run_leaves_is_no_part_of_the_command() {
    need_sandbox!();
    let place = Place::new();
    let sleeps = || {
        let names = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
        names.filter(|name| fs::read(name).is_ok_and(|line| line == b"sleep\x007654\0")).count()
    };
    for (script, times) in [
        ("echo done", 5),
        ("sleep 7654 & echo done", 2),
        ("(sleep 7654 & exec sleep 7654) & echo done", 2),
        // So many that their end takes longer than it takes to look.
        ("for n in $(seq 150); do sleep 7654 & done; echo done", 2),
    ] {
        let plan = place.shell(script).prepare().unwrap();
        for _ in 0..times {
            let mut rest = Rest::default();
            let mut options = Options::default();
            options.ahead = Ahead::start();
            options.rest = Some(&mut rest);
            let done = run(&plan, options).unwrap();
            assert_eq!((done.exit, stdout(&done).as_str()), (Exit::Exited(0), "done\n"));
            assert_eq!(sleeps(), 0, "{script}");
        }
    }
    let killed = place.shell("sleep 7654").prepare().unwrap();
    let mut rest = Rest::default();
    let mut options = Options::default();
    options.rest = Some(&mut rest);
    options.timeout = Some(Duration::from_millis(50));
    let done = run(&killed, options).unwrap();
    assert!(done.timed_out && sleeps() == 0);
}

/// An overlay that is mounted ahead is that of the run, and what is not run costs the layer nothing.
#[test]
fn an_overlay_is_mounted_ahead() {
    need_sandbox!();
    let place = Place::new();
    let Some(store) = overlay::store(&place) else { return };
    let script = "echo new > file; stat -fc %T .";
    for wait in [0, 30, 2100] {
        let begun = store.begin().unwrap();
        let plan = place.shell(script).overlaid(place.workspace(), begun.layer().clone()).prepare().unwrap();
        let mounted = || {
            let ahead = Ahead::start();
            ahead.iter().for_each(|ahead| ahead.overlay(&place.workspace(), begun.layer()));
            std::thread::sleep(Duration::from_millis(wait));
            ahead
        };
        drop(mounted());
        assert_eq!(run_with(&plan, mounted()), "overlayfs\n");
        let changes = begun.changes(&Accept).unwrap();
        assert_eq!(changes.accepted.len(), 1);
        assert!(!place.workspace().join("file").exists());
        begun.leave(&changes);
    }
    // One that the plan does not want is not there.
    let unwanted = store.begin().unwrap();
    let counted = |ahead: Option<Ahead>| {
        let own = store.begin().unwrap();
        let plan = place.shell("grep -c ' overlay ' /proc/self/mounts");
        let plan = plan.overlaid(place.workspace(), own.layer().clone()).prepare().unwrap();
        std::thread::sleep(Duration::from_millis(30));
        run_with(&plan, ahead)
    };
    let ahead = Ahead::start();
    ahead.iter().for_each(|ahead| ahead.overlay(&place.workspace(), unwanted.layer()));
    assert_eq!(counted(ahead), counted(None));
}

#[test]
fn failures_are_told_as_ever() {
    need_sandbox!();
    let place = Place::new();
    let plan = confinement("/no/such/program", place.workspace()).prepare().unwrap();
    let errors: BTreeMap<String, ()> = [None, Ahead::start()]
        .into_iter()
        .map(|ahead| {
            let mut options = Options::default();
            options.ahead = ahead;
            (run(&plan, options).unwrap_err().to_string(), ())
        })
        .collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn nothing_is_left_of_helpers() {
    need_sandbox!();
    let place = Place::new();
    let plan = place.shell("echo done").prepare().unwrap();
    // Whatever other tests leave meanwhile, one hundred of anything would be ours.
    let (children, descriptors) = left();
    for round in 0..100 {
        match round % 3 {
            0 => drop(Ahead::start()),
            1 => {
                let ahead = Ahead::start();
                std::thread::sleep(Duration::from_millis(1));
                drop(ahead);
            }
            _ => assert_eq!(run_with(&plan, Ahead::start()), "done\n"),
        }
    }
    let (after, open) = left();
    assert!(
        after < children + 20 && open < descriptors + 60,
        "{children} {descriptors}, then {after} {open}"
    );
}

/// A run sees nothing in the network namespace of one before it, and no two have the same at the same time.
#[test]
fn what_is_used_again_is_as_new() {
    need_sandbox!();
    let place = Place::new();
    // Heading alone, no address, the loopback interface with no byte on it, and settings that not even root changes.
    let look = "readlink /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/ipc /proc/self/ns/uts; cat /proc/self/uid_map | wc -l
        test $(wc -l < /proc/net/unix) = 1 && test -z \"$(cat /proc/net/if_inet6)\" && grep -q 'lo: *0  *0 ' /proc/net/dev && echo clean
        for setting in /proc/sys/net/*/*; do (cat $setting > $setting) 2>&- && echo $setting; done; true";
    let clean = place.shell(look).prepare().unwrap();
    let busy =
        "bash -c 'echo x > /dev/udp/127.0.0.1/9' && ! grep -q 'lo: *0  *0 ' /proc/net/dev && echo used";
    let loopback = place.shell(busy).network(Network::Loopback).prepare().unwrap();
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for _ in 0..6 {
        let said = run_with(&clean, Ahead::start());
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        assert_eq!(lines[4..], ["1", "clean"], "{said}");
        seen.entry(lines[0].clone()).or_default().extend_from_slice(&lines[1..4]);
        assert_eq!(run_with(&loopback, Ahead::start()), "used\n");
    }
    for others in seen.values() {
        // Nothing else is used again. Numbers of what has gone are given out anew, but not at once.
        assert!(others.windows(2).all(|pair| pair[0] != pair[1]), "{others:?}");
    }
    let held = place.shell("readlink /proc/self/ns/net; sleep 1").prepare().unwrap();
    let names: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| run_with(&held, Ahead::start()))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let different: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), names.len(), "{names:?}");
}

/// One after the other gets the same, unless another test takes it.
#[test]
fn a_network_namespace_is_used_again() {
    need_sandbox!();
    let place = Place::new();
    let plan = place.shell("readlink /proc/self/ns/net").prepare().unwrap();
    let names: Vec<String> = (0..30).map(|_| run_with(&plan, Ahead::start())).collect();
    assert!(names.windows(2).any(|pair| pair[0] == pair[1]), "{names:?}");
}
