//! Processes: how they end, what they inherit, whom they can touch, and that none is left.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use shward_sandbox::{Cancel, Exit, Gap, Limits, Options, Stdin, Stream, run};

use crate::roles;
use crate::support::{Place, confinement, go, need_sandbox, stdout, succeed, through_bubblewrap};

/// Waits for something that happens soon, however slow the machine is.
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Processes of the whole machine with this text in their command line.
fn processes_with(text: &str) -> usize {
    let lines = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

/// Processes of this user with these words that nobody waits for any more.
fn living_of_mine(words: &str) -> usize {
    // SAFETY: cannot fail, no preconditions.
    let user = unsafe { libc::geteuid() };
    let of_nobody = |process: &Path| {
        let stat = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        let owner = std::fs::metadata(process).map(|data| std::os::unix::fs::MetadataExt::uid(&data));
        owner.is_ok_and(|owner| owner == user)
            && stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.split(' ').nth(1) == Some("1"))
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes
        .filter(|process| std::fs::read(process.join("cmdline")).is_ok_and(|line| line == words.as_bytes()))
        .filter(|process| of_nobody(process))
        .count()
}

#[test]
fn codes_and_signals_are_told_apart() {
    need_sandbox!();
    let place = Place::new();
    for (script, exit) in [
        ("true", Exit::Exited(0)),
        ("exit 1", Exit::Exited(1)),
        ("exit 127", Exit::Exited(127)),
        ("exit 137", Exit::Exited(137)),
        ("exit 255", Exit::Exited(255)),
        ("kill -9 $$", Exit::Signaled(9)),
        ("kill -TERM $$", Exit::Signaled(15)),
        ("kill -SEGV $$", Exit::Signaled(11)),
        ("sleep 60 & exit 4", Exit::Exited(4)),
        ("(sleep 0.05; exit 3) & sleep 0.2; exit 5", Exit::Exited(5)),
    ] {
        let result = place.run(script);
        assert_eq!(result.exit, exit, "{script}");
        assert!(!result.timed_out && !result.cancelled);
    }
}

#[test]
fn the_environment_is_exactly_what_was_given() {
    need_sandbox!();
    let plan = confinement("/usr/bin/env", "/").arguments(["env"]).variable("A", "1").variable("B", "x=y z");
    assert_eq!(succeed(&plan), "A=1\nB=x=y z\n");
    let place = Place::new();
    let script = "cat /proc/$$/environ /proc/1/environ 2> /dev/null | tr '\\0' '\\n'";
    let text = succeed(&place.shell(script));
    let names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
    assert_eq!(names, ["PATH", "WS", "OUT"], "{text}");
}

#[test]
fn no_privilege_is_left() {
    need_sandbox!();
    let place = Place::new();
    let text = succeed(&place.shell("grep -E '^(Cap|NoNewPrivs|Seccomp:|Sig(Blk|Ign))' /proc/self/status"));
    let values: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(":\t")).collect();
    let none = "0000000000000000";
    let expected = [
        ("SigBlk", none),
        ("SigIgn", none),
        ("CapInh", none),
        ("CapPrm", none),
        ("CapEff", none),
        ("CapBnd", none),
        ("CapAmb", none),
        ("NoNewPrivs", "1"),
        ("Seccomp", "2"),
    ];
    assert_eq!(values, expected);
}

#[test]
fn descriptors_do_not_leak() {
    need_sandbox!();
    let file = File::open("/etc/passwd").unwrap();
    for number in [3, 5, 63, 200] {
        // SAFETY: takes numbers; without close-on-exec, as a careless program leaves them.
        let leaked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD, number) };
        assert!(leaked >= number);
        let text = succeed(&confinement("/bin/ls", "/").arguments(["ls", "/proc/self/fd"]));
        // The last one is the directory that ls reads.
        assert_eq!(text, "0\n1\n2\n3\n");
        // SAFETY: it was just made and belongs to nobody else.
        drop(unsafe { File::from_raw_fd(leaked) });
    }
}

#[test]
fn standard_input_is_what_was_given() {
    need_sandbox!();
    let place = Place::new();
    assert_eq!(succeed(&place.shell("cat; cat")), "");
    for bytes in [&b"hello"[..], b"", b"\xff\0\n", &[b'x'; 300_000]] {
        let mut options = Options::default();
        options.stdin = Stdin::Bytes(bytes.to_vec());
        let result = run(&place.shell("cat").prepare().unwrap(), options).unwrap();
        assert_eq!(result.stdout.to_bytes(), bytes);
    }
    let mut options = Options::default();
    options.stdin = Stdin::Bytes(vec![b'x'; 1 << 20]);
    assert_eq!(run(&place.shell("exit 3").prepare().unwrap(), options).unwrap().exit, Exit::Exited(3));
}

#[test]
fn other_processes_are_out_of_reach() {
    need_sandbox!();
    let place = Place::new();
    let mut victim = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = victim.id();
    for script in [
        format!("kill -9 {pid}"),
        format!("kill -0 {pid}"),
        format!("cat /proc/{pid}/cmdline"),
        format!("renice 19 {pid}"),
        "kill -9 -1; exit 1".to_owned(),
        "kill -9 1; sleep 0.1; kill -0 1 && exit 1".to_owned(),
        "cat /proc/1/environ".to_owned(),
        "echo forged > /proc/1/fd/3".to_owned(),
    ] {
        let result = place.run(&script);
        assert_ne!(result.exit, Exit::Exited(0), "{script}");
        assert_eq!(stdout(&result), "", "{script}");
    }
    assert_eq!(victim.try_wait().unwrap(), None);
    victim.kill().unwrap();
    victim.wait().unwrap();
    let numbers =
        succeed(&place.shell("for p in /proc/[0-9]*; do echo ${p#/proc/}; done | sort -n | head -2"));
    // The reserved ones are skipped where the number of pids is what limits root.
    assert!(["1\n2\n", "1\n301\n"].contains(&numbers.as_str()), "{numbers}");
}

#[test]
fn the_deadline_ends_a_tree_that_resists() {
    need_sandbox!();
    let place = Place::new();
    let mark = format!("86{}", std::process::id());
    let script = format!(
        "trap '' TERM INT HUP; for i in 1 2 3; do setsid bash -c 'trap \"\" TERM; exec sleep {mark}' & done; \
         while :; do sleep 1; done"
    );
    let mut options = Options::default();
    options.timeout = Some(Duration::from_secs(1));
    let result = run(&place.shell(&script).prepare().unwrap(), options).unwrap();
    assert!(result.timed_out && !result.cancelled);
    assert_eq!(result.exit, Exit::Signaled(9));
    assert_eq!(processes_with(&mark), 0);
}

#[test]
fn cancelling_ends_400_processes_that_resist() {
    need_sandbox!();
    let place = Place::new();
    let mark = format!("88{}", std::process::id());
    let script = format!(
        "trap '' TERM INT HUP; for i in $(seq 400); do setsid sleep {mark} & done; echo started; \
         while :; do sleep 1; done"
    );
    let cancel = Cancel::new().unwrap();
    let other = cancel.clone();
    let mut on_output = |_: Stream, _: &[u8]| other.cancel();
    let mut options = Options::default();
    options.cancel = Some(cancel);
    options.on_output = Some(&mut on_output);
    let mut limits = Limits::default();
    limits.processes = Some(512); // on two processors it would be fewer
    let result = run(&place.shell(&script).limits(limits).prepare().unwrap(), options).unwrap();
    assert!(result.cancelled && !result.timed_out);
    assert_eq!((stdout(&result).as_str(), result.exit), ("started\n", Exit::Signaled(9)));
    assert_eq!(processes_with(&mark), 0);
}

#[test]
fn background_processes_end_with_the_command() {
    need_sandbox!();
    let place = Place::new();
    let mark = format!("87{}", std::process::id());
    let result = place.run(&format!("setsid nohup sleep {mark} > /dev/null 2>&1 & sleep 0.1; exit 6"));
    assert_eq!(result.exit, Exit::Exited(6));
    assert!(result.left_running);
    assert_eq!(processes_with(&mark), 0);
}

/// A shell does not wait for what it gave its output to. Whoever goes on starting others is waited for no longer than anybody.
#[test]
fn what_is_written_at_last_is_not_lost() {
    need_sandbox!();
    let place = Place::new();
    let result = place.run("exec > >(sleep 0.1; tee log) 2>&1; echo first; echo last >&2");
    assert_eq!((stdout(&result).as_str(), result.left_running), ("first\nlast\n", false));
    assert_eq!(std::fs::read_to_string(place.workspace().join("log")).unwrap(), "first\nlast\n");
    let without_end = "while :; do (true &); done > /dev/null 2>&1 & exit 7";
    let result = place.run(without_end);
    assert_eq!((result.exit, result.left_running), (Exit::Exited(7), true));
    assert!(result.duration < Duration::from_secs(20), "{:?}", result.duration);
}

/// What ends the run while others are waited for does not end the command, which has ended.
#[test]
fn what_has_ended_is_neither_late_nor_cancelled() {
    need_sandbox!();
    let place = Place::new();
    let plan = place.shell("sleep 9 & echo x; exit 7").prepare().unwrap();
    let late = || {
        let mut options = Options::default();
        options.timeout = Some(Duration::from_millis(300));
        run(&plan, options).unwrap()
    };
    let cancelled = || {
        let cancel = Cancel::new().unwrap();
        let mut on_output = |_, _: &[u8]| {
            thread::sleep(Duration::from_millis(150));
            cancel.cancel();
        };
        let mut options = Options::default();
        options.cancel = Some(cancel.clone());
        options.on_output = Some(&mut on_output);
        run(&plan, options).unwrap()
    };
    for ended in [&late as &dyn Fn() -> _, &cancelled] {
        // On a busy machine the command itself may be late.
        let tries = (0..20).map(|_| ended()).find(|result| result.exit == Exit::Exited(7));
        let result = tries.expect("the command ends in time at least once");
        assert!(result.left_running && !result.timed_out && !result.cancelled, "{result:?}");
        assert!(result.duration < Duration::from_secs(9), "{result:?}");
    }
}

/// What it has used up beforehand counts all the same.
#[test]
fn a_limit_that_was_exceeded_is_told_whatever_comes_late() {
    need_sandbox!();
    let place = Place::new();
    let plan = place.shell("head -c 9000 /dev/zero; sleep 9 & exit 0").prepare().unwrap();
    let mut on_output = |_, _: &[u8]| thread::sleep(Duration::from_millis(900));
    let mut options = Options::default();
    options.timeout = Some(Duration::from_millis(600));
    options.max_output = 1000;
    options.kill_on_output = true;
    options.on_output = Some(&mut on_output);
    let result = run(&plan, options).unwrap();
    assert!(result.output_exceeded || result.timed_out, "{result:?}");
    assert_eq!(result.exit, Exit::Signaled(9), "{result:?}");
}

#[test]
fn cancelling_ends_the_run() {
    need_sandbox!();
    let place = Place::new();
    let cancel = Cancel::new().unwrap();
    let other = cancel.clone();
    let ready = place.workspace().join("ready");
    let canceller = thread::spawn(move || {
        wait_until("the command starts", || ready.exists());
        other.cancel();
    });
    let mut options = Options::default();
    options.cancel = Some(cancel);
    let result =
        run(&place.shell("echo partial; touch ready; sleep 1000").prepare().unwrap(), options).unwrap();
    canceller.join().unwrap();
    assert!(result.cancelled && !result.timed_out);
    assert_eq!((stdout(&result).as_str(), result.exit), ("partial\n", Exit::Signaled(9)));
}

#[test]
fn nothing_survives_its_supervisor() {
    need_sandbox!();
    let place = Place::new();
    let mut supervisor =
        roles::command("supervise", &place.workspace()).stdout(Stdio::null()).spawn().unwrap();
    wait_until("the command starts", || place.workspace().join("started").exists());
    let processes = || processes_with(place.workspace().to_str().unwrap());
    // Where bubblewrap starts process 1, that has no words of its own.
    let expected = if through_bubblewrap() { 1 } else { 2 };
    assert_eq!(processes(), expected, "process 1 and the command");
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    wait_until("all are gone", || processes() == 0);
}

/// At every moment of the start: between clone and the death signal, during the mounts, before process 1 runs.
#[test]
fn nothing_survives_a_supervisor_killed_while_it_starts() {
    need_sandbox!();
    let place = Place::new();
    let name = place.workspace();
    for step in 0..80 {
        let mut supervisor = roles::command("supervise", &name).stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(step * 250));
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
    }
    wait_until("all are gone", || processes_with(name.to_str().unwrap()) == 0);
    // Of bubblewrap, too: it has its words from a descriptor, and these alone on its command line.
    if through_bubblewrap() {
        wait_until("every bubblewrap is gone", || {
            let words = "bwrap\0--args\x0010\0--\0/proc/self/fd/11\0";
            living_of_mine(words) == 0
        });
    }
}

#[test]
fn limits_bind() {
    need_sandbox!();
    let place = Place::new();
    let limited = |script: &str, change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        go(&place.shell(script).limits(limits))
    };
    let result = limited("ulimit -c; ulimit -n; ulimit -f; ulimit -v; ulimit -t", |limits| {
        limits.open_files = Some(99);
        limits.file_size = Some(1024 * 1024);
        limits.address_space = Some(1 << 30);
        limits.cpu_seconds = Some(77);
    });
    assert_eq!(stdout(&result), "0\n99\n1024\n1048576\n77\n");
    let result = limited("head -c 2M /dev/zero > big; echo $?; stat -c %s big", |limits| {
        limits.file_size = Some(1024 * 1024);
    });
    assert_eq!(stdout(&result), "153\n1048576\n"); // SIGXFSZ
    let result = limited("head -c 2M /dev/zero > /tmp/big", |limits| limits.private_bytes = 1 << 20);
    assert_eq!(result.exit, Exit::Exited(1), "no space");
    // SAFETY: cannot fail, no preconditions.
    if through_bubblewrap() && unsafe { libc::geteuid() } == 0 {
        return; // the plan says that this limit does not hold
    }
    let result =
        limited("i=0; while [ $i -lt 2000 ]; do sleep 5 & i=$((i+1)); done 2> /dev/null; true", |limits| {
            limits.processes = Some(50);
        });
    assert!(result.stderr.total > 0 || result.exit != Exit::Exited(0), "{result:?}");
}

#[test]
fn nothing_leaks_in_the_supervisor() {
    need_sandbox!();
    assert_eq!(roles::outside("leaks", Path::new("")), "none");
}

/// Root has no `RLIMIT_NPROC`; there the pids are counted.
#[test]
fn the_number_of_processes_is_bound_exactly() {
    need_sandbox!();
    const LIMIT: u64 = 120;
    let place = Place::new();
    let mut limits = Limits::default();
    limits.processes = Some(LIMIT);
    let plan = place.shell("while :; do sleep 60 & echo; done").limits(limits).prepare().unwrap();
    if plan.gaps().contains(&Gap::ProcessLimit) {
        eprintln!("skipped: this kernel does not limit root's processes");
        return;
    }
    // The shell's first complaint; it would try again for 15 seconds.
    let cancel = Cancel::new().unwrap();
    let other = cancel.clone();
    let mut on_output = |stream: Stream, _: &[u8]| {
        if stream == Stream::Stderr {
            other.cancel();
        }
    };
    let mut options = Options::default();
    options.cancel = Some(cancel);
    options.timeout = Some(Duration::from_secs(60));
    options.on_output = Some(&mut on_output);
    let result = run(&plan, options).unwrap();
    assert!(result.cancelled, "{result:?}");
    let started = stdout(&result).len() as u64;
    assert!((LIMIT - 4..LIMIT).contains(&started), "{started}");
}

#[test]
fn no_session_is_shared() {
    need_sandbox!();
    let text = succeed(&Place::new().shell("read -r line < /proc/self/stat; echo ${line##*) }"));
    // A session of somebody outside has the number 0 here (proc_pid_stat(5)).
    assert_ne!(text.split(' ').nth(3), Some("0"), "{text}");
}
