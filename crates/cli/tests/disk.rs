//! What a run may take of the disk, with the real binary: a limit for what it changes, and what it has to leave.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a panic is how a test fails")]

mod place;

use place::Place;
use std::fs;
use std::process::Command;

/// A place with a policy of the user's.
fn place(policy: &str) -> Place {
    let place = Place::new();
    let directory = place.home().join(".config/shward");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("policy.toml"), policy).unwrap();
    place
}

/// The exit code, what was printed, and the names in the project.
fn run(place: &Place, words: &[&str], command: &str) -> (Option<i32>, String, Vec<String>) {
    let all = [&["run", "--timeout", "60"][..], words, &["--", command]].concat();
    let output = place.command(&all).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let entries = fs::read_dir(place.project()).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    (output.status.code(), text, names)
}

#[test]
fn what_a_run_changes_is_bounded_and_what_goes_beyond_is_dropped() {
    let place = place("[limits]\nrun-disk = 20000000\n");
    let kept = place.project().join("kept");
    fs::write(&kept, "kept").unwrap();
    let (code, text, names) = run(&place, &[], "head -c 10M /dev/zero > little; sleep 0.4; echo fine");
    assert_eq!((code, text.as_str(), names.len()), (Some(0), "fine\n", 2), "{text}");
    for command in [
        "head -c 90M /dev/zero > much; sleep 50",
        "mkdir d; for i in 1 2 3 4 5 6 7 8 9; do head -c 9M /dev/zero > d/$i; done; rm kept; sleep 50",
        "echo one; head -c 90M /dev/zero > much; echo two; sleep 50",
        "while :; do head -c 9M /dev/zero >> much; done",
    ] {
        let (code, text, names) = run(&place, &[], command);
        assert_eq!(
            (code, names),
            (Some(137), vec!["kept".to_owned(), "little".to_owned()]),
            "{command}: {text}"
        );
        assert!(text.contains("run-disk") && text.contains("nothing of it is kept"), "{text}");
    }
    let (_, json, _) = run(&place, &["--json"], "head -c 90M /dev/zero > much; sleep 50");
    assert!(
        json.contains(r#""signal":9,"timed_out":false,"cancelled":false,"disk_exceeded":"run""#),
        "{json}"
    );
    assert!(json.contains(r#""committed":false"#), "{json}");
    let log = place.command(&["audit", "show", "--last", "1"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("killed, because it wrote more"), "{log}");
    assert_eq!(fs::read(kept).unwrap(), b"kept");
}

#[test]
fn a_project_can_only_tighten() {
    let wide = "[limits]\nrun-disk = 1000000000000\ndisk-reserve = 0\nprivate = 1000000000\n";
    let much = "head -c 90M /dev/zero > much; sleep 0.3; echo fine";
    // of the person, of the project, whether it goes on
    for (own, project, fine) in [
        ("", wide, true),
        ("[limits]\nrun-disk = 20000000\n", wide, false),
        (wide, "[limits]\nrun-disk = 20000000\n", false),
        (wide, "[limits]\ndisk-reserve = 1125899906842624\n", false),
        ("[limits]\ndisk-reserve = 1125899906842624\n", wide, false),
        ("[limits]\nprivate = 20000000\n", wide, true),
    ] {
        let place = place(own);
        fs::write(place.project().join(".shward.toml"), project).unwrap();
        let (code, text, _) = run(&place, &[], much);
        assert_eq!(code == Some(0) && text.ends_with("fine\n"), fine, "{own:?} {project:?}: {text}");
        let (_, text, _) =
            run(&place, &["--contain", "read-only"], "head -c 90M /dev/zero > /tmp/much && echo fine");
        assert_eq!(text.ends_with("fine\n"), !own.contains("private = 2"), "{own:?} {project:?}: {text}");
    }
}

/// Where a run's changes are among others nobody can count them, and that is told as with other limits that do not hold.
#[test]
fn that_the_limit_does_not_hold_without_an_overlay_is_told() {
    let words = "\"missing\":[\"run-disk\"]";
    for (limits, live, told) in [
        ("[limits]\nrun-disk = 20000000\n", true, true),
        ("[limits]\nrun-disk = 20000000\n", false, false),
        ("", true, false),
    ] {
        let place = place(limits);
        let options: &[&str] = if live { &["--live"] } else { &[] };
        let (code, text, _) = run(&place, options, "head -c 1M /dev/zero > some");
        assert_eq!(code, Some(0), "{text}");
        let log = place.command(&["audit", "show", "--json", "--last", "2"]).output().unwrap();
        let log = String::from_utf8(log.stdout).unwrap();
        assert_eq!(log.contains(words), told, "{log}");
    }
}

#[test]
fn where_too_little_is_free_nothing_that_writes_is_started() {
    let place = place("[limits]\ndisk-reserve = 1125899906842624\n");
    let (code, text, names) = run(&place, &[], "touch new; ls");
    assert_eq!((code, names.len()), (Some(125), 0), "{text}");
    assert!(text.contains("bytes are free") && text.contains("[limits] disk-reserve"), "{text}");
    let (code, text, _) = run(&place, &["--contain", "read-only"], "/bin/ls; /bin/echo fine");
    assert_eq!((code, text.as_str()), (Some(0), "fine\n"), "{text}");
}

/// In a file system of its own, which is really full when nobody looks.
const FULL: &str = r#"
mount -t tmpfs -o size=400M,nr_inodes=20000 none /mnt || exit 69
mkdir -p /mnt/home/work && cd /mnt/home/work && export HOME=/mnt/home SHWARD_TEST_HOME=/mnt/home
try() { "$shward" run --profile open --timeout 50 -- "$1" > /mnt/said 2>&1; echo "$? $(grep -c disk-reserve /mnt/said) $(ls | wc -l)"; }
try 'yes > big; sleep 40'
try 'yes | while head -c 1M > n$RANDOM$RANDOM; do :; done; sleep 40'
try 'i=0; while echo > f$i; do i=$((i+1)); done; sleep 40'
try 'fallocate -l 390M big; sleep 40'
try 'exec 5> gone; rm gone; cat /dev/zero >&5; sleep 40'
try 'head -c 100M /dev/zero > some; sleep 0.3'
"$shward" audit verify | head -n 1
"#;

#[test]
fn some_of_a_disk_is_left_whatever_a_run_does() {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", FULL]);
    command.env("shward", env!("CARGO_BIN_EXE_shward"));
    let output = command.output().unwrap();
    if output.status.code() != Some(0) {
        eprintln!("SKIPPED: no file system of its own: {output:?}");
        return;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = format!("{}0 0 1\nwhole: 12 records\n", "137 1 0\n".repeat(5));
    assert_eq!(text, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
