//! What a writer can rely on: order, modes, rotation, and other writers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod common;

use common::{append, assert_sound, check, my_log, start_child, verify};
use shward_audit::{Digest, Entries, Event, Input, Log, Receipt, Settings, rotated_files};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

const WRITERS: usize = 8;
const RECORDS: usize = 500;

#[test]
fn child() {
    let Some(path) = my_log() else { return };
    let log = Log::open_with(path, Settings::default().max_bytes(256 << 10)).unwrap();
    for number in 0..RECORDS {
        log.append(&check(&format!("{} {number}", std::process::id()))).unwrap();
    }
}

#[test]
fn concurrent_processes_make_one_chain() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut writers: Vec<_> = (0..WRITERS)
        .map(|_| start_child(&path).stdout(std::process::Stdio::null()).spawn().unwrap())
        .collect();
    // A reader meanwhile sees a chain without a break, however often the file is rotated under it.
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        if path.exists() {
            assert_eq!(verify(&path).broken, None);
        }
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert!(rotated_files(&path).unwrap().len() >= 4);
    assert_sound(&path, (WRITERS * RECORDS) as u64);

    // Nothing is lost or doubled, and each writer's records are in its order.
    let mut next: std::collections::HashMap<String, usize> = Default::default();
    for entry in Entries::of_log(&path).unwrap() {
        let Event::Check(decided) = entry.unwrap().record.event else { panic!("only checks were written") };
        let Input::Command(command) = decided.input else { panic!("only commands were written") };
        let command = command.to_lossy().into_owned();
        let (writer, number) = command.split_once(' ').unwrap();
        let expected = next.entry(writer.to_owned()).or_default();
        assert_eq!(number.parse(), Ok(*expected));
        *expected += 1;
    }
    assert_eq!(next.into_values().collect::<Vec<_>>(), [RECORDS; WRITERS]);
}

#[test]
fn concurrent_threads_make_one_chain() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path().join("audit.jsonl")).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| append(&log, &["ls"])));
        }
    });
    assert_sound(log.path(), 400);
}

#[test]
fn the_chain_can_be_checked_by_hand() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path().join("audit.jsonl")).unwrap();
    let receipts: Vec<Receipt> = (0..3).map(|_| log.append(&check("ls")).unwrap()).collect();
    let content = fs::read_to_string(log.path()).unwrap();
    let mut prev = Digest::ZERO;
    for (number, (line, receipt)) in content.lines().zip(&receipts).enumerate() {
        let start = format!(r#"{{"v":1,"seq":{number},"time":""#);
        assert!(line.starts_with(&start) && line.contains(&format!(r#""prev":"{prev}""#)), "{line}");
        prev = Digest::of(line.as_bytes());
        assert_eq!(*receipt, Receipt { seq: number as u64, hash: prev });
    }
    assert_eq!((content.lines().count(), content.ends_with('\n')), (3, true));
}

#[test]
fn files_and_directories_are_for_the_user_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state/shward/audit.jsonl");
    append(&Log::open(&path).unwrap(), &["ls"]);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&directory.path().join("state")), 0o700);
    assert_eq!(mode(&directory.path().join("state/shward")), 0o700);
}

#[test]
fn a_full_file_is_set_aside_and_the_chain_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let log = Log::open_with(&path, Settings::default().max_bytes(2000).sync(true)).unwrap();
    append(&log, &["ls"; 20]);
    let rotated = rotated_files(&path).unwrap();
    assert!(rotated.len() >= 3);
    for file in &rotated {
        // The name tells the last record.
        let last = fs::read_to_string(file).unwrap().lines().last().unwrap().to_owned();
        let seq: u64 = file.extension().unwrap().to_str().unwrap().parse().unwrap();
        assert!(last.starts_with(&format!(r#"{{"v":1,"seq":{seq},"#)));
        assert!(file.metadata().unwrap().len() <= 2000);
    }
    assert_sound(&path, 20);

    // A record larger than a file gets one of its own.
    append(&log, &[&"x".repeat(5000), "ls"]);
    assert_sound(&path, 22);

    // A writer that was killed after the renaming left no current file.
    let last = verify(&path).head.unwrap().seq;
    fs::rename(&path, directory.path().join(format!("audit.jsonl.{last:012}"))).unwrap();
    assert_sound(&path, 22);
    append(&Log::open(&path).unwrap(), &["ls"]);
    assert_sound(&path, 23);
}

#[test]
fn nothing_is_overwritten_by_rotation() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let log = Log::open_with(&path, Settings::default().max_bytes(1)).unwrap();
    append(&log, &["ls"]);
    let taken = directory.path().join("audit.jsonl.000000000000");
    fs::write(&taken, "kept").unwrap();
    let error = log.append(&check("ls")).unwrap_err();
    assert!(matches!(error, shward_audit::Error::Rotate { .. }), "{error}");
    assert_eq!(fs::read_to_string(&taken).unwrap(), "kept");
}

#[test]
fn a_writer_follows_the_path() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let (one, two) = (Log::open(&path).unwrap(), Log::open(&path).unwrap());
    append(&one, &["ls"; 2]);
    append(&two, &["ls"]);
    append(&one, &["ls"]);
    assert_sound(&path, 4);

    // Another writer set the file aside and began the next.
    append(&Log::open_with(&path, Settings::default().max_bytes(1)).unwrap(), &["ls"]);
    append(&one, &["ls"]);
    assert_sound(&path, 6);

    // The log vanishes under a running writer. What it knows makes the loss visible.
    fs::remove_file(&path).unwrap();
    append(&one, &["ls"]);
    let broken = verify(&path).broken.unwrap();
    assert_eq!(broken.fault, shward_audit::Fault::Missing { expected: 4, found: 6 });
}

#[test]
fn long_records_are_continued_and_longer_ones_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let long = "x".repeat(3 << 20);
    append(&Log::open(&path).unwrap(), &["ls", &long]);
    append(&Log::open(&path).unwrap(), &["ls"]);
    assert_sound(&path, 3);
    let error = Log::open(&path).unwrap().append(&check(&"x".repeat(shward_audit::MAX_LINE))).unwrap_err();
    assert!(matches!(error, shward_audit::Error::TooLong { .. }), "{error}");
    assert_sound(&path, 3);
}

#[test]
fn other_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    for content in ["alias ls=ls\n", "\n", "one\ntwo"] {
        fs::File::create(&path).unwrap().write_all(content.as_bytes()).unwrap();
        let error = Log::open(&path).unwrap().append(&check("ls")).unwrap_err();
        assert!(matches!(error, shward_audit::Error::NotALog { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}
