//! Killed writers, full disks, places that cannot be written: nothing sound is lost, and errors say so.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod common;

use common::{append, assert_sound, check, my_log, start_child, verify};
use shward_audit::{Entries, Error, Fault, Log, Receipt, Settings};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Appends until it is killed or fails, and tells each record that it was given a receipt for.
#[test]
fn child() {
    let Some(path) = my_log() else { return };
    let log = Log::open(path).unwrap();
    // Long records take several pages, between which the kernel looks for signals.
    let record = check(&"x".repeat(200_000));
    loop {
        match log.append(&record) {
            Ok(Receipt { seq, hash }) => println!("ack {seq} {hash}"),
            Err(error) => {
                println!("failed {error}");
                return;
            }
        }
    }
}

/// The last receipt in a child's output.
fn last_receipt(lines: impl Iterator<Item = String>) -> Receipt {
    let last = lines.filter(|line| line.starts_with("ack ")).last().unwrap();
    let mut words = last.split(' ').skip(1);
    Receipt { seq: words.next().unwrap().parse().unwrap(), hash: words.next().unwrap().parse().unwrap() }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    for round in 0..12 {
        let mut writer = start_child(&path).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap);
        let seen: Vec<String> =
            lines.by_ref().filter(|line| line.starts_with("ack ")).take(3 + round).collect();
        writer.kill().unwrap();
        writer.wait().unwrap();
        let receipt = last_receipt(seen.into_iter().chain(lines));

        append(&Log::open(&path).unwrap(), &["after the kill"]);
        let report = shward_audit::Verification::new().anchor(receipt).log(&path).unwrap();
        assert_eq!(report.broken, None);
        assert!(report.head.unwrap().seq > receipt.seq);
    }
}

/// What a log of two records looks like after its end was cut or spoilt, and how many recoveries make it sound.
#[test]
fn a_torn_end_is_kept_and_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    append(&Log::open(&path).unwrap(), &["one", "two"]);
    let whole = fs::read(&path).unwrap();
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;

    for cut in 1..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let sound_before = u64::from(cut + 1 >= second) + u64::from(cut + 1 == whole.len());
        let torn = cut != second && cut + 1 != second && cut + 1 != whole.len();
        let before = verify(&path).broken.map(|broken| broken.fault);
        assert_eq!(before, torn.then_some(Fault::Torn), "cut at {cut}");

        append(&Log::open(&path).unwrap(), &["three"]);
        let report = assert_sound(&path, sound_before + u64::from(torn) + 1);
        assert_eq!(report.recoveries, u64::from(torn), "cut at {cut}");
        assert!(fs::read(&path).unwrap().starts_with(&whole[..cut]), "what was there stays there");
    }
}

#[test]
fn a_recovery_can_itself_be_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    append(&Log::open(&path).unwrap(), &["one"]);
    for damage in ["{\"v\":1,", "\0\0\0\0", "\n\n", "garbage\n"] {
        OpenOptions::new().append(true).open(&path).unwrap().write_all(damage.as_bytes()).unwrap();
    }
    let before = fs::read(&path).unwrap();
    append(&Log::open(&path).unwrap(), &["two"]);
    let report = assert_sound(&path, 3);
    assert_eq!((report.recoveries, report.recovered.len()), (1, 1));
    let sound = before.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(report.recovered[0].bytes as usize, before.len() - sound - 1);

    let after = fs::read(&path).unwrap();
    for cut in before.len() + 1..after.len() {
        fs::write(&path, &after[..cut]).unwrap();
        append(&Log::open(&path).unwrap(), &["three"]);
        assert_eq!(verify(&path).broken, None, "cut at {cut}");
    }
}

#[test]
fn damaged_lines_are_told_when_reading() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    append(&Log::open(&path).unwrap(), &["one"]);
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"v\"").unwrap();
    append(&Log::open(&path).unwrap(), &["two"]);
    let readable: Vec<bool> = Entries::of_log(&path).unwrap().map(|entry| entry.is_ok()).collect();
    assert_eq!(readable, [true, false, true, true]);
}

/// A limit on the size of files stands for a full disk: the kernel writes what fits and then refuses.
#[test]
fn a_full_disk_is_an_error_and_leaves_no_torn_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let writer = start_child(&path);
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\""]).arg(writer.get_program());
    limited.args(writer.get_args());
    for (name, value) in writer.get_envs() {
        limited.env(name, value.unwrap());
    }
    let output = limited.output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains("failed the record cannot be written to the audit log"), "{output}");
    let receipt = last_receipt(output.lines().map(str::to_owned));
    let report = assert_sound(&path, receipt.seq + 1);
    assert_eq!(report.head, Some(receipt));

    append(&Log::open(&path).unwrap(), &["there is space again"]);
    assert_eq!(assert_sound(&path, receipt.seq + 2).recoveries, 0);
}

#[test]
fn places_that_cannot_be_written_are_errors_that_name_them() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    File::create(&file).unwrap();
    let table = [
        Path::new("/proc/shward/audit.jsonl").to_owned(),
        file.join("audit.jsonl"),
        directory.path().to_owned(),
        "/dev/full".into(),
        "/dev/null".into(),
    ];
    for path in table {
        let error = Log::open(&path).unwrap_err();
        let kind_fits = match error {
            Error::Open { .. } => !path.exists(),
            Error::NotAFile { .. } => path.exists(),
            _ => false,
        };
        let text = error.to_string();
        assert!(
            kind_fits && text.contains("nothing may run") && text.contains("choose another place"),
            "{text}"
        );
    }
}

#[test]
fn a_lock_that_is_never_released_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let log = Log::open_with(&path, Settings::default().lock_timeout(Duration::from_millis(20))).unwrap();
    append(&log, &["one"]);
    let holder = File::open(&path).unwrap();
    holder.lock().unwrap();
    assert!(matches!(log.append(&check("two")), Err(Error::Locked { .. })));
    holder.unlock().unwrap();
    append(&log, &["two"]);
    assert_sound(&path, 2);
}
