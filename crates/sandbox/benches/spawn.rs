//! `cargo bench -p shward-sandbox --bench spawn`: what a sandbox adds to starting a program, and the exec gate to every
//! program inside, as ratios against the same work beside it: one process, one after the other in turn, with 200 MB of its own
//! memory in use. As root everything is done as user 65534.
//!
//! With `-- starts` or `-- files` only that part is measured: starts, or what 10,000 small files cost on an overlay.
//!
//! The fifth of 100 and the first quartile are told besides the median: on a machine that does other things too, they are steadier, and
//! a sandbox, which changes processes more often than a plain start, waits more often for its turn.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::exit,
    clippy::indexing_slicing,
    reason = "a bench reports to whoever started it"
)]

use shward_sandbox::overlay::{Change, CommitPolicy, Sight, Store};
use shward_sandbox::{Ahead, Confinement, Exec, Exit, Judge, Options, Ruling, run};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NOBODY: u32 = 65534;
const MEMORY: usize = 200 << 20;

struct AllowAll;

impl Judge for AllowAll {
    fn judge(&self, _: &Exec) -> Ruling {
        Ruling::Allow
    }
}

/// Nothing is protected here: what is measured is reading and moving, not the names.
struct CommitAll;

impl CommitPolicy for CommitAll {
    fn refuses(&self, _: &Change, _: &Sight<'_>) -> Option<Cow<'static, str>> {
        None
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [word, directory] = words.as_slice()
        && word == "create"
    {
        return create(Path::new(directory));
    }
    if let [word, count] = words.as_slice()
        && word == "starts-inside"
    {
        return starts(count.parse().unwrap());
    }
    // SAFETY: no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        std::process::exit(as_nobody());
    }
    let mut memory = vec![1u8; MEMORY];
    memory.iter_mut().step_by(4096).for_each(|byte| *byte = byte.wrapping_add(1));
    let place = tempfile::Builder::new().permissions(PermissionsExt::from_mode(0o755)).tempdir().unwrap();
    let workspace = place.path().canonicalize().unwrap();
    let wanted = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    if wanted("starts") {
        spawns(&workspace);
    }
    if wanted("files") {
        files(&workspace);
    }
    if wanted("gate") {
        gates(&workspace);
    }
    std::hint::black_box(memory);
}

/// The bench again, from a copy that everybody can read.
fn as_nobody() -> i32 {
    let place = tempfile::Builder::new().permissions(PermissionsExt::from_mode(0o755)).tempdir().unwrap();
    let program = place.path().join("bench");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let done = Command::new(&program)
        .args(std::env::args().skip(1))
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .env("TMPDIR", "/tmp")
        .status();
    done.unwrap().code().unwrap_or(1)
}

/// Does each in turn, `rounds` times, and tells the fifth of 100, quartile and median in microseconds.
fn measure(rounds: usize, work: &mut [(&str, &mut dyn FnMut())]) -> Vec<[f64; 3]> {
    let mut times = vec![Vec::with_capacity(rounds); work.len()];
    for round in 0..=rounds {
        for ((_, action), times) in work.iter_mut().zip(&mut times) {
            let start = Instant::now();
            action();
            // The first round warms everything up.
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    let micros = |time: &Duration| time.as_secs_f64() * 1e6;
    times
        .iter_mut()
        .map(|times| {
            times.sort();
            [5, 25, 50].map(|part| times.get(times.len() * part / 100).map_or(0.0, micros))
        })
        .collect()
}

fn plain() {
    let quiet = || Stdio::null();
    let done = Command::new("/bin/true").env_clear().stdin(quiet()).stdout(quiet()).stderr(quiet()).status();
    assert!(done.unwrap().success());
}

fn workspace_write(workspace: &Path) -> Confinement {
    Confinement::new("/bin/true", workspace)
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("HOME", "/tmp")
        .variable("LC_ALL", "C.UTF-8")
        .writable(workspace)
}

fn confined(plan: &shward_sandbox::Plan, judge: Option<&dyn Judge>) {
    let mut options = Options::default();
    options.judge = judge;
    assert_eq!(run(plan, options).unwrap().exit, Exit::Exited(0));
}

/// As shward runs a command: what can be begun is begun, on another processor, before anything is prepared.
fn begun() -> Option<Ahead> {
    let ahead = Ahead::start();
    ahead.iter().for_each(Ahead::spread);
    ahead
}

/// A start on an overlay, from its empty layer to the commit, if there is something to be committed.
fn overlaid(store: &Store, confinement: &Confinement, workspace: &Path) {
    let ahead = begun();
    let layer = store.begin().unwrap();
    if let Some(ahead) = &ahead {
        ahead.overlay(workspace, layer.layer());
    }
    let mut options = Options::default();
    options.ahead = ahead;
    options.meanwhile = Some(Box::new(|| layer.sweep()));
    let plan = confinement.clone().overlaid(workspace, layer.layer().clone()).prepare().unwrap();
    assert_eq!(run(&plan, options).unwrap().exit, Exit::Exited(0));
    let changes = layer.changes(&CommitAll).unwrap();
    if changes.is_empty() {
        layer.leave(&changes);
    } else {
        layer.commit(changes, "bench").unwrap();
    }
}

fn store(workspace: &Path) -> (tempfile::TempDir, Store) {
    // Beside the workspace, so on its file system.
    let state = tempfile::tempdir().unwrap();
    let store = Store::for_workspace(state.path(), workspace).unwrap();
    (state, store)
}

const FILES: usize = 10_000;

/// What is measured: small files, in 20 directories.
fn create(directory: &Path) {
    for number in 0..FILES {
        let parent = directory.join(format!("d{}", number % 20));
        if number < 20 {
            fs::create_dir(&parent).unwrap();
        }
        fs::write(parent.join(format!("f{number}")), [b'x'; 200]).unwrap();
    }
}

fn files(workspace: &Path) {
    let program = std::env::current_exe().unwrap();
    let (_state, store) = store(workspace);
    let (target, clear) = (workspace.join("files"), |target: &Path| {
        if target.exists() {
            fs::remove_dir_all(target).unwrap();
        }
        fs::create_dir(target).unwrap();
    });
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..7 {
        clear(&target);
        let start = Instant::now();
        assert!(Command::new(&program).arg("create").arg(&target).status().unwrap().success());
        times[0].push(start.elapsed());

        let live = Confinement::new(&program, workspace)
            .arguments([program.as_os_str(), "create".as_ref(), target.as_os_str()])
            .read_only(&program)
            .writable(workspace);
        clear(&target);
        let start = Instant::now();
        confined(&live.prepare().unwrap(), None);
        times[1].push(start.elapsed());

        clear(&target);
        let start = Instant::now();
        overlaid(&store, &live, workspace);
        times[2].push(start.elapsed());
        assert_eq!(fs::read_dir(target.join("d19")).unwrap().count(), FILES / 20);
    }
    println!("\n{:28} {:>12} {:>8}", format!("{FILES} small files"), "median", "× plain");
    let medians = times.map(|mut times| {
        times.sort();
        times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64)
    });
    for (name, median) in ["plain", "workspace-write", "overlay, committed"].iter().zip(medians) {
        println!("{name:28} {:9.1} ms {:8.2}", median * 1e3, median / medians[0]);
    }
    fs::remove_dir_all(&target).unwrap();
}

fn spawns(workspace: &Path) {
    let ours = workspace_write(workspace);
    let (_state, store) = store(workspace);
    let (open, gated) = (ours.prepare().unwrap(), ours.clone().gated().prepare().unwrap());
    let mut bwrap = Command::new("bwrap");
    bwrap
        .args("--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind".split(' '))
        .args([workspace, workspace]);
    bwrap.args("--unshare-all --new-session --die-with-parent --clearenv /bin/true".split(' '));
    bwrap.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let has_bwrap = bwrap.status().is_ok_and(|status| status.success());
    let mut prepared = || confined(&ours.prepare().unwrap(), None);
    let mut ahead = || {
        let mut options = Options::default();
        options.ahead = begun();
        assert_eq!(run(&ours.prepare().unwrap(), options).unwrap().exit, Exit::Exited(0));
    };
    let mut ready = || confined(&open, None);
    let mut judged = || confined(&gated, Some(&AllowAll));
    let mut with_bwrap = || {
        if has_bwrap {
            assert!(bwrap.status().unwrap().success());
        }
    };
    let mut layered = || overlaid(&store, &ours, workspace);
    let mut work: [(&str, &mut dyn FnMut()); 7] = [
        ("plain spawn", &mut plain),
        ("workspace-write", &mut prepared),
        ("workspace-write, ahead", &mut ahead),
        ("workspace-write, plan kept", &mut ready),
        ("overlay, ahead", &mut layered),
        ("workspace-write, gated", &mut judged),
        ("bubblewrap", &mut with_bwrap),
    ];
    println!("{:28} {:>17} {:>21} {:>21}", "/bin/true, × plain", "5 of 100", "quartile", "median");
    let times = measure(400, &mut work);
    let base = times.first().copied().unwrap_or([1.0; 3]);
    for ((name, _), times) in work.iter().zip(&times) {
        print!("{name:28}");
        for (time, base) in times.iter().zip(base) {
            print!(" {time:9.0} µs {:8.2}", time / base);
        }
        println!();
    }
}

/// What is measured: how long each of some starts takes, in nanoseconds.
fn starts(count: usize) {
    let mut times = String::new();
    for _ in 0..count {
        let start = Instant::now();
        plain();
        let _ = writeln!(times, "{}", start.elapsed().as_nanos());
    }
    print!("{times}");
}

/// What the gate adds to programs that are started inside. Each start is timed by itself, in short runs with and without in turn: a
/// judged start changes processes four times more, and where others want the processors it waits four times more for one. The
/// least of all starts, 1 and 5 of 100, tell what it costs; the quartile and the median, how busy the machine is.
fn gates(workspace: &Path) {
    const AT_ONCE: usize = 20;
    const ROUNDS: usize = 150;
    const PARTS: [usize; 4] = [1, 5, 25, 50];
    let program = std::env::current_exe().unwrap();
    let confinement = Confinement::new(&program, workspace)
        .arguments([program.as_os_str(), "starts-inside".as_ref(), AT_ONCE.to_string().as_ref()])
        .read_only(&program);
    let plans = [confinement.prepare().unwrap(), confinement.gated().prepare().unwrap()];
    let mut times: [Vec<f64>; 2] = Default::default();
    for round in 0..ROUNDS * 2 {
        let gated = round % 2;
        let mut options = Options::default();
        options.judge = if gated == 1 { Some(&AllowAll) } else { None };
        let done = run(&plans[gated], options).unwrap();
        assert_eq!(done.exit, Exit::Exited(0));
        let text = done.stdout.to_text();
        times[gated].extend(text.lines().map(|nanos| nanos.parse::<f64>().unwrap() / 1e3));
    }
    let parts = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        PARTS.map(|part| times[times.len() * part / 100])
    });
    println!("\n{:28} {:>12} {:>12} {:>12}", "/bin/true inside", "free", "gated", "added");
    for ((part, free), gated) in PARTS.iter().zip(parts[0]).zip(parts[1]) {
        println!("{:28} {free:9.0} µs {gated:9.0} µs {:9.0} µs", format!("{part} of 100"), gated - free);
    }
    compile(workspace);
}

/// What it adds to work that starts few programs.
fn compile(workspace: &Path) {
    let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f(int n){return n<2?n:f(n-1)+f(n-2);}\n\
                  int main(int c,char**v){printf(\"%d\\n\",f(c));return 0;}\n";
    fs::write(workspace.join("a.c"), source).unwrap();
    let work = Confinement::new("/bin/bash", workspace)
        .arguments(["bash", "-c", "for i in 1 2 3 4 5 6; do cc -O2 -o a a.c || exit; done"])
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .writable(workspace);
    let (free, gated) = (work.prepare().unwrap(), work.gated().prepare().unwrap());
    let mut without = || confined(&free, None);
    let mut with = || confined(&gated, Some(&AllowAll));
    let times = measure(12, &mut [("", &mut without), ("", &mut with)]);
    let [[_, free, _], [_, gated, _]] = times.as_slice() else { return };
    let share = 100.0 * (gated / free - 1.0);
    println!("{:28} {:9.2} ms {:9.2} ms {share:+9.1} %", "6 × cc -O2", free / 1e3, gated / 1e3);
}
