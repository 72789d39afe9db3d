//! What comes of a run whose shward is told to end, with the real binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod place;

use place::Place;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

const HUP: i32 = 1;
const INT: i32 = 2;
const KILL: i32 = 9;
const ALRM: i32 = 14;
const TERM: i32 = 15;

/// `None` where there is no sandbox.
fn place() -> Option<Place> {
    let place = Place::new();
    let output = place.command(&["run", "--", "/bin/true"]).output().unwrap();
    if output.status.code() != Some(0) {
        eprintln!("SKIPPED: {output:?}");
        return None;
    }
    Some(place)
}

fn send(child: &Child, signal: i32) {
    let status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Starts a run that says when it has begun, which a file does in the workspace, and gives it time to go on.
fn begun(place: &Place, options: &[&str], command: &str) -> Child {
    let file = place.project().join("begun");
    let command = format!("touch begun; {command}");
    let child = place.command(&[&["run", "--live"], options, &["--", &command]].concat()).spawn().unwrap();
    let start = Instant::now();
    while !file.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{command} has not begun");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::remove_file(file).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    child
}

fn ended(child: Child) -> (Output, [String; 2]) {
    let output = child.wait_with_output().unwrap();
    let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
    (output, texts)
}

/// Whether what is started here ignores a signal from its beginning.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal - 1)) != 0
}

/// The last record of the log.
fn recorded(place: &Place) -> String {
    let output = place.command(&["audit", "show", "--last", "1"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_was_interrupted_is_told_and_recorded() {
    let Some(place) = place() else { return };
    for (options, signal) in [
        (&[][..], TERM),
        (&[], INT),
        (&[], HUP),
        (&["--gate", "observe"], TERM),
        (&["--pty"], TERM),
        (&["--json"], TERM),
        (&["--json"], INT),
    ] {
        // As in a shell's background: that stays so.
        if is_ignored(signal) {
            eprintln!("SKIPPED: signal {signal} is ignored here");
            continue;
        }
        let child = begun(&place, options, "echo started; sleep 61");
        let start = Instant::now();
        send(&child, signal);
        let (output, [out, err]) = ended(child);
        let what = format!("{options:?}, signal {signal}: {output:?}");
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        // Whoever waits is told what became of shward, so that a shell's loop ends, too.
        assert_eq!(output.status.signal(), Some(signal), "{what}");
        assert!(out.contains("started"), "{what}");
        if options.contains(&"--json") {
            assert!(
                out.contains(r#""exit_code":null,"signal":9,"timed_out":false,"cancelled":true"#),
                "{what}"
            );
        } else {
            assert!(err.contains(&format!("shward: interrupted by signal {signal}; ")), "{what}");
        }
        assert!(recorded(&place).contains("; cancelled"), "{what}: {}", recorded(&place));
    }
}

/// A program that is asked about inside a run waits for whoever is asked, and shward does not when it is told to end.
#[test]
fn a_question_of_the_gate_ends_with_a_signal() {
    let Some(place) = place() else { return };
    let gatekeeper = place.home().join("gatekeeper");
    std::fs::write(&gatekeeper, "#!/bin/sh\ncat > /dev/null; touch \"$HOME/asked\"; exec sleep 50\n")
        .unwrap();
    std::fs::set_permissions(&gatekeeper, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let tool = "import subprocess\nopen('begun', 'w')\nsubprocess.run(['git', 'push'])\nprint('went on')\n";
    std::fs::write(place.project().join("tool.py"), tool).unwrap();
    let program = gatekeeper.to_str().unwrap();
    let asks = ["--gatekeeper", program, "--gatekeeper-timeout", "40", "--reasoning", "to publish it"];
    let waits = ["--limit", "global=1/40", "--limit-wait", "60"];
    for (options, file, signal, json) in [
        (&asks[..], place.home().join("asked"), TERM, false),
        (&asks, place.home().join("asked"), INT, true),
        (&asks, place.home().join("asked"), HUP, false),
        (&waits, place.project().join("begun"), TERM, false),
    ] {
        if is_ignored(signal) {
            eprintln!("SKIPPED: signal {signal} is ignored here");
            continue;
        }
        let _ = std::fs::remove_file(&file);
        let first = if json { &["run", "--json"][..] } else { &["run"] };
        let command = ["--live", "--gate", "enforce", "--", "/usr/bin/python3 tool.py"];
        let child = place.command(&[first, options, &command].concat()).spawn().unwrap();
        let start = Instant::now();
        while !file.exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "{options:?}: nobody was asked");
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(500));
        let start = Instant::now();
        send(&child, signal);
        let (output, [out, err]) = ended(child);
        let what = format!("{options:?}, signal {signal}: {output:?}");
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        assert_eq!(output.status.signal(), Some(signal), "{what}");
        assert!(!out.contains("went on"), "{what}");
        let told = if json { &out } else { &err };
        assert!(told.contains("Nobody answered: what it was asked for was ended meanwhile."), "{what}");
        let interrupted =
            if json { r#""cancelled":true"#.to_owned() } else { format!("interrupted by signal {signal}; ") };
        assert!(told.contains(&interrupted), "{what}");
        assert!(recorded(&place).contains("; cancelled"), "{what}");
        let log = std::fs::read_to_string(place.home().join(".local/state/shward/audit.jsonl")).unwrap();
        let last = log.lines().next_back().unwrap();
        assert!(last.contains("push") && last.contains("unanswered"), "{what}: {last}");
    }
}

/// Changes are those of a command that was killed: there, named, and to be taken back.
#[test]
fn what_was_interrupted_can_be_undone() {
    let Some(place) = place() else { return };
    place.command(&["run", "--", "echo one > b.txt"]).output().unwrap();
    if !recorded(&place).contains("created 1, changed 0, deleted 0, as ") {
        eprintln!("SKIPPED: there is no overlay: {}", recorded(&place));
        return;
    }
    let command = "echo one > a.txt; echo started; sleep 61";
    let mut child = place.command(&["run", "--", command]).spawn().unwrap();
    let mut started = [0; 8];
    child.stdout.as_mut().unwrap().read_exact(&mut started).unwrap();
    assert_eq!(&started, b"started\n");
    // The handlers are there as soon as the command has been started, which it was a moment ago.
    std::thread::sleep(Duration::from_millis(200));
    send(&child, TERM);
    let (output, _) = ended(child);
    assert_eq!(output.status.signal(), Some(TERM), "{output:?}");
    assert!(recorded(&place).contains("; cancelled; created 1"), "{}", recorded(&place));
    assert!(place.project().join("a.txt").exists());
    let output = place.command(&["undo"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!place.project().join("a.txt").exists());
}

#[test]
fn what_is_ignored_stays_so_and_kill_ends_all() {
    let Some(place) = place() else { return };
    let child = {
        let mut command = Command::new("sh");
        let run = place.command(&["run", "--", "echo started; sleep 2; echo ended"]);
        command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(run.get_program()).args(run.get_args());
        command.current_dir(place.project()).env("SHWARD_TEST_HOME", place.home()).env("HOME", place.home());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    std::thread::sleep(Duration::from_millis(1000));
    send(&child, HUP);
    let (output, [out, _]) = ended(child);
    assert_eq!((output.status.code(), out.as_str()), (Some(0), "started\nended\n"), "{output:?}");
    let child = begun(&place, &[], "sleep 61");
    send(&child, KILL);
    let (output, _) = ended(child);
    assert_eq!(output.status.signal(), Some(KILL), "{output:?}");
}

/// A reader that does not read must not keep a process that was told to end.
#[test]
fn nobody_who_reads_keeps_it() {
    let Some(place) = place() else { return };
    for second in [None, Some(TERM)] {
        let mut child = begun(&place, &[], "yes");
        let start = Instant::now();
        send(&child, TERM);
        if let Some(second) = second {
            std::thread::sleep(Duration::from_millis(300));
            send(&child, second);
        }
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), second.or(Some(ALRM)), "{status:?}");
        assert!(start.elapsed() < Duration::from_secs(if second.is_some() { 4 } else { 30 }), "{second:?}");
    }
}

/// What comes of a command is recorded although the signal comes when it has ended, and whoever sent it is obeyed then.
#[test]
fn what_is_being_committed_is_told_first() {
    let Some(place) = place() else { return };
    let command = "mkdir d; cd d; touch $(seq 1 8000)";
    let child = place.command(&["run", "--", command]).spawn().unwrap();
    let directory = place.project().join("d");
    let start = Instant::now();
    while !directory.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was committed");
        std::thread::sleep(Duration::from_micros(200));
    }
    send(&child, TERM);
    let (output, _) = ended(child);
    // It may have been through already.
    assert!(output.status.signal() == Some(TERM) || output.status.success(), "{output:?}");
    assert!(recorded(&place).contains("created 8001"), "{}", recorded(&place));
    assert_eq!(directory.read_dir().unwrap().count(), 8000);
}

/// Whenever the signal comes, nothing of shward is left that holds what the caller waits for, and no run is without its end.
#[test]
fn nothing_is_left_whenever_it_comes() {
    let Some(place) = place() else { return };
    for milliseconds in (0..96).map(|n| n % 12) {
        let child = place.command(&["run", "--live", "--", "/bin/true"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds / 2));
        send(&child, TERM);
        let (told, waited) = std::sync::mpsc::channel();
        std::thread::spawn(move || told.send(child.wait_with_output().map(|output| output.status)));
        let status = waited.recv_timeout(Duration::from_secs(20)).expect("the streams are closed").unwrap();
        assert!(status.signal() == Some(TERM) || status.success(), "{status:?}");
    }
}
