//! Attacks on the containment and ordinary work in it, with the real binary, as root and as an ordinary user.
//!
//! They stand in the tables beside this file: `[name | containment | language | outside | overlay | path=… | needs=… | since=…]`, then the program.
//! The containment is that of `run --contain`; `listed` is `workspace-write` with a list of programs, `terminal` the same on a terminal,
//! `gated` with every program judged, `live` without an overlay, `session` in several calls of one. `outside` says where an attack works
//! that nothing stops: `works`, `root` (for root), or `maybe` (it depends on the kernel), the first two from a version of Linux on if
//! there is a `since`; with `overlay` it means something only where there is one. An attack that does not work there proves nothing, so each is first carried out without a
//! sandbox, unless it may depend. All of it happens in throw-away rooms: mount, process, network, IPC and host name
//! namespaces of their own, with file systems in memory. As most of an attack is waiting, several rooms are open at once, each with a
//! share of the attacks. What counts is what the host shows afterwards: files that changed,
//! the secret word in what was printed, messages that arrived, processes that were hurt or are left. Where nothing of
//! that could tell, the program prints `ESCAPED`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod listening;
mod room;
mod table;

use room::Room;
use std::collections::VecDeque;
use std::env;
use std::fs;
use std::num::NonZero;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use table::{Entry, Outside};

const ATTACKS: [&str; 9] = [
    include_str!("files.txt"),
    include_str!("secrets.txt"),
    include_str!("network.txt"),
    include_str!("processes.txt"),
    include_str!("kernel.txt"),
    include_str!("programs.txt"),
    include_str!("protected.txt"),
    include_str!("interfaces.txt"),
    include_str!("sessions.txt"),
];

const NOBODY: &str = "65534";

/// Makes the room, with everything in it that is to be attacked, and plays in it: as this user, or as another.
const MAKE_ROOM: &str = r#"
set -e
tests=$1 shward=$2 user=$3
mount -t tmpfs -o mode=0755 room /mnt
cp "$tests" /mnt/tests; cp "$shward" /mnt/shward; chmod 0755 /mnt/tests /mnt/shward
for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o mode=1777 room $d; done
mkdir /mnt/place /mnt/again
mount --bind /mnt/place /mnt/again
unshare --net /usr/bin/python3 -c 'import os, socket, time
import threading
def serve(name):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen()
    os.chmod(name, 0o777)
    threading.Thread(target=lambda: [s.accept() for _ in iter(int, 1)]).start()
os.makedirs("/mnt/agents-of-another/a/b")
for name in ("/mnt/agent-of-another", "/mnt/agents-of-another/agent", "/mnt/agents-of-another/a/b/agent"): serve(name)
os.mkdir("/mnt/agents")
os.close(os.open("/mnt/agent", os.O_CREAT))' < /dev/null > /dev/null 2>&1 &
until [ -e /mnt/agent ]; do sleep 0.02; done
mount --bind /mnt/agent-of-another /mnt/agent
mount --bind /mnt/agents-of-another /mnt/agents
/usr/bin/python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))'
mount -t tracefs room /sys/kernel/tracing || :
export ROOM=/mnt/place ROOM_SECRET=SECRET-WORD RUST_BACKTRACE=0
set -- /mnt/tests --exact play --ignored --nocapture --test-threads=1
cd /
if [ "$user" = 0 ]; then exec "$@"; fi
chown "$user:$user" /mnt/place
exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"#;

/// Where only bubblewrap may make namespaces.
const RESTRICT: &str = include_str!("../data/restrict.py");

/// Who attacks, and how the sandbox comes by its namespaces.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    user: &'static str,
    real_root: bool,
    through_bubblewrap: bool,
}

/// How many rooms of a kind there are, one after the other or at once: enough for nobody to wait long for the last one.
const SHARES: usize = 4;

/// With this a room says that it has played to its end.
const PLAYED: &str = "ordinary programs";

/// What was said in a room, and whether everything in it was as it should be.
fn room(kind: Kind, share: usize) -> (bool, String) {
    let Kind { name, user, real_root, through_bubblewrap } = kind;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--mount-proc", "--net", "--ipc", "--uts"]);
    if !real_root {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["sh", "-c", MAKE_ROOM, "room"]).arg(env::current_exe().unwrap());
    command.arg(env!("CARGO_BIN_EXE_shward")).arg(user);
    command.env("ROOM_RESTRICT", if through_bubblewrap { RESTRICT } else { "" });
    command.env("ROOM_REAL_ROOT", if real_root && user == "0" { "yes" } else { "no" });
    command.env("ROOM_SHARE", share.to_string());
    let done = command.output().unwrap();
    let [out, err] = [done.stdout, done.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    let number = share + 1;
    // Where no test is found by its name, nothing fails either.
    let good = done.status.success() && err.contains(PLAYED);
    // What the tests in the room say of themselves is of interest where they fail.
    let out = if good { String::new() } else { out };
    (good, format!("{name}, room {number} of {SHARES}: {err}{out}"))
}

/// All rooms of these kinds, some at once. Returns which of them were not as they should be.
fn rooms(kinds: &[Kind]) -> Vec<&'static str> {
    let every = kinds.iter().flat_map(|kind| (0..SHARES).map(|share| (*kind, share)));
    let pending = Mutex::new(every.collect::<VecDeque<_>>());
    let bad = Mutex::new(Vec::new());
    let at_once = thread::available_parallelism().map_or(1, NonZero::get) * 2;
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let Some((kind, share)) = pending.lock().unwrap().pop_front() else { break };
                    let (good, said) = room(kind, share);
                    eprint!("{said}");
                    if !good {
                        bad.lock().unwrap().push(kind.name);
                    }
                }
            });
        }
    });
    bad.into_inner().unwrap()
}

/// `SHWARD_ESCAPES=required` says that nothing may be missing for it.
#[test]
#[ignore = "takes minutes; a step of its own in .ci/run"]
fn every_attack_is_stopped_and_ordinary_work_goes_on() {
    let works = |program: &str, words: &[&str]| {
        Command::new(program).args(words).output().is_ok_and(|done| done.status.success())
    };
    for (program, words) in [
        ("/usr/bin/python3", &["-c", ""][..]),
        ("setpriv", &["true"]),
        ("git", &["--version"]),
        ("script", &["--version"]),
        ("unshare", &["--user", "--map-root-user", "--mount", "--pid", "--fork", "true"]),
    ] {
        if !works(program, words) {
            let required = env::var_os("SHWARD_ESCAPES").is_some();
            assert!(!required, "{program} does not work here");
            eprintln!("SKIPPED: {program} does not work here, nothing is tested");
            return;
        }
    }
    let real_root = works("sh", &["-c", "[ \"$(id -u)\" = 0 ]"]);
    let root = Kind { name: "as root", user: "0", real_root, through_bubblewrap: false };
    let mut kinds = vec![root];
    if real_root {
        let ordinary = Kind { name: "as an ordinary user", user: NOBODY, ..root };
        kinds.insert(0, ordinary);
        // Of anybody else's bubblewrap no use is made, and in a user namespace root's files are nobody's.
        if works("bwrap", &["--ro-bind", "/", "/", "true"]) {
            let name = "as an ordinary user whom only bubblewrap gives namespaces";
            kinds.insert(0, Kind { name, through_bubblewrap: true, ..ordinary });
        } else {
            assert!(env::var_os("SHWARD_ESCAPES").is_none(), "there is no bubblewrap");
        }
    }
    if kinds.len() < 3 {
        eprintln!("SKIPPED: of three kinds of rooms, those that take root or bubblewrap");
    }
    let bad = rooms(&kinds);
    assert!(bad.is_empty(), "{bad:?}");
}

/// What happens in the room.
#[test]
#[ignore = "started in a room by the test above"]
fn play() {
    let Some(place) = env::var_os("ROOM") else { return };
    let real_root = env::var("ROOM_REAL_ROOT").unwrap() == "yes";
    // Parts of names.
    let only = env::var("ROOM_ONLY").unwrap_or_default();
    let is_left_out =
        |name: &str| !only.is_empty() && !only.split_whitespace().any(|part| name.contains(part));
    let share: usize = env::var("ROOM_SHARE").unwrap().parse().unwrap();
    let mut room = Room::new(place.as_ref());
    let mut failures = Vec::new();
    // By bubblewrap's namespaces there is no overlay, no terminal, and no list of programs, so some runs are refused.
    let through_bubblewrap = env::var("ROOM_RESTRICT").is_ok_and(|text| !text.is_empty());
    let mut refused: Vec<(&str, String)> = Vec::new();
    let (mut attacks, mut judged) = (0, Vec::new());
    let every = ATTACKS.iter().flat_map(|text| table::read(text)).enumerate();
    for (_, entry) in every.filter(|(index, _)| index % SHARES == share) {
        if is_left_out(entry.name)
            || (entry.needs_x86() && !cfg!(target_arch = "x86_64"))
            || (entry.overlay && through_bubblewrap)
        {
            continue;
        }
        let works = entry.outside == Outside::Works || (entry.outside == Outside::Root && real_root);
        let works = works && entry.since.is_none_or(|since| kernel() >= since);
        // Some need luck with the scheduler, of which a busy machine has less.
        if works && !(0..3).any(|_| !room.attack(&entry, false).evidence.is_empty()) {
            failures.push(format!("{} does not work where nothing stops it", entry.name));
        }
        let inside = room.attack(&entry, true);
        attacks += 1;
        if inside.code == Some(126) {
            judged.push(entry.name);
        }
        if !inside.evidence.is_empty() {
            failures.push(format!("{} got through: {:?}", entry.name, inside.evidence));
        }
        if through_bubblewrap && inside.code == Some(125) {
            refused.push((entry.name, inside.said));
        } else if inside.code == Some(125) || inside.code == Some(64) {
            failures.push(format!("{} was not run: {}", entry.name, inside.said));
        }
    }
    let mut ordinary = 0;
    let every = table::read(include_str!("ordinary.txt")).into_iter().enumerate();
    for (_, entry) in every.filter(|(index, _)| index % SHARES == share) {
        if is_left_out(entry.name) || !room.is_possible(&entry) {
            continue;
        }
        if through_bubblewrap && ["listed", "terminal"].contains(&entry.containment) {
            continue;
        }
        ordinary += 1;
        failures.extend(room.work(&entry).map(|why| format!("{} does not work: {why}", entry.name)));
    }
    eprintln!("{attacks} attacks ({} not even started: {judged:?}), {ordinary} {PLAYED}", judged.len());
    if through_bubblewrap {
        eprintln!("{} refused through bubblewrap: {refused:#?}", refused.len());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The first two numbers of the kernel's version.
fn kernel() -> (u32, u32) {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// The tables are whole: names are unique, and what is named is there.
#[test]
fn the_tables_are_read() {
    let attacks: Vec<Entry<'_>> = ATTACKS.iter().flat_map(|text| table::read(text)).collect();
    let ordinary = table::read(include_str!("ordinary.txt"));
    assert!(attacks.len() > 560 && ordinary.len() > 60, "{} {}", attacks.len(), ordinary.len());
    for text in ATTACKS {
        let entries = table::read(text);
        let names: std::collections::BTreeSet<_> = entries.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), entries.len());
    }
    for entry in attacks.iter().chain(&ordinary) {
        assert!(!entry.program.trim().is_empty(), "{}", entry.name);
    }
    assert!(fs::metadata(env!("CARGO_BIN_EXE_shward")).is_ok());
}
