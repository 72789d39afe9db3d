//! Each kind of tampering is found, at the right line.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod common;

use common::{append, check, verify};
use shward_audit::{Break, Digest, Fault, Log, Receipt, Report, Settings, Verification, rotated_files};
use std::fs;
use std::path::{Path, PathBuf};

const RECORDS: usize = 6;

/// A log of six records: its path, its lines and the receipt of the last.
fn log(directory: &Path) -> (PathBuf, Vec<String>, Receipt) {
    let path = directory.join("audit.jsonl");
    let log = Log::open(&path).unwrap();
    let head =
        (0..RECORDS).map(|number| log.append(&check(&format!("ls {number}"))).unwrap()).last().unwrap();
    let lines = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    (path, lines, head)
}

fn write(path: &Path, lines: &[String]) {
    fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

#[test]
fn kinds_of_tampering() {
    let directory = tempfile::tempdir().unwrap();
    let (path, lines, head) = log(directory.path());
    type Edit = fn(&mut Vec<String>);
    let table: [(&str, Edit, u64, Fault); 14] = [
        ("text changed", |lines| lines[2] = lines[2].replace("\"ls", "\"rm"), 4, Fault::Hash),
        (
            "hash changed",
            |lines| {
                let other = format!("\"prev\":\"{}\"", Digest::of(b"other"));
                let prev = format!("\"prev\":\"{}\"", Digest::of(lines[1].as_bytes()));
                lines[2] = lines[2].replace(&prev, &other);
            },
            3,
            Fault::Hash,
        ),
        (
            "number changed",
            |lines| lines[2] = lines[2].replace("\"seq\":2", "\"seq\":7"),
            3,
            Fault::Number { expected: 2, found: 7 },
        ),
        ("first removed", |lines| drop(lines.remove(0)), 1, Fault::Missing { expected: 0, found: 1 }),
        ("one removed", |lines| drop(lines.remove(3)), 4, Fault::Missing { expected: 3, found: 4 }),
        ("two removed", |lines| drop(lines.drain(2..4)), 3, Fault::Missing { expected: 2, found: 4 }),
        (
            "removed and renumbered",
            |lines| {
                lines.remove(2);
                lines[2] = lines[2].replace("\"seq\":3", "\"seq\":2");
            },
            3,
            Fault::Hash,
        ),
        ("two swapped", |lines| lines.swap(2, 3), 3, Fault::Reordered { expected: 2, found: 3 }),
        (
            "moved to the end",
            |lines| {
                let line = lines.remove(1);
                lines.push(line);
            },
            2,
            Fault::Reordered { expected: 1, found: 2 },
        ),
        (
            "repeated",
            |lines| lines.insert(3, lines[2].clone()),
            4,
            Fault::Reordered { expected: 3, found: 2 },
        ),
        ("not JSON", |lines| lines[2].truncate(20), 3, Fault::NotARecord),
        ("a line slipped in", |lines| lines.insert(3, "{}".into()), 4, Fault::NotARecord),
        ("blank line", |lines| lines.insert(3, String::new()), 4, Fault::NotARecord),
        ("another version", |lines| lines[2] = lines[2].replace("\"v\":1", "\"v\":9"), 3, Fault::NotARecord),
    ];
    for (name, edit, line, fault) in table {
        let mut edited = lines.clone();
        edit(&mut edited);
        assert_ne!(edited, lines, "{name} changes nothing");
        write(&path, &edited);
        let broken = Some(Break { path: path.clone(), line, fault });
        assert_eq!(verify(&path).broken, broken, "{name}");
        assert_eq!(Verification::new().anchor(head).log(&path).unwrap().broken, broken, "{name}, anchored");
    }
}

/// What the chain alone cannot show, an anchor does.
#[test]
fn tampering_with_the_end_needs_an_anchor() {
    let directory = tempfile::tempdir().unwrap();
    let (path, lines, head) = log(directory.path());
    let anchored = || Verification::new().anchor(head).log(&path).unwrap();
    assert_eq!(anchored().broken, None);

    write(&path, &lines[..4]);
    assert_eq!(verify(&path).broken, None);
    assert_eq!(
        anchored().broken,
        Some(Break { path: path.clone(), line: 4, fault: Fault::Cut { anchor: 5 } })
    );

    let mut edited = lines.clone();
    edited[5] = edited[5].replace("\"ls", "\"rm");
    write(&path, &edited);
    assert_eq!(verify(&path).broken, None);
    assert_eq!(
        anchored().broken,
        Some(Break { path: path.clone(), line: 6, fault: Fault::Anchor { anchor: 5 } })
    );

    // A whole new chain.
    fs::remove_file(&path).unwrap();
    append(&Log::open(&path).unwrap(), &["ls"; RECORDS]);
    assert_eq!(verify(&path).broken, None);
    assert_eq!(anchored().broken.unwrap().fault, Fault::Anchor { anchor: 5 });

    fs::write(&path, "").unwrap();
    assert_eq!(anchored().broken.unwrap().fault, Fault::Cut { anchor: 5 });
}

#[test]
fn no_single_byte_can_change() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _, head) = log(directory.path());
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() - 1 {
        for flip in [0x01, 0x20, 0x80] {
            let mut changed = whole.clone();
            changed[at] ^= flip;
            fs::write(&path, changed).unwrap();
            let report = Verification::new().anchor(head).log(&path).unwrap();
            assert!(report.broken.is_some(), "byte {at} ^ {flip:#x}");
        }
    }
}

/// Damage is only accepted where a record accounts for exactly these bytes.
#[test]
fn a_recovery_covers_no_other_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    append(&Log::open(&path).unwrap(), &["one"]);
    fs::write(&path, [fs::read(&path).unwrap().as_slice(), b"torn"].concat()).unwrap();
    append(&Log::open(&path).unwrap(), &["two"]);
    let lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(verify(&path).recoveries, 1);
    type Edit = fn(&mut Vec<String>);
    let table: [(&str, Edit); 7] = [
        ("another length", |lines| lines[2] = lines[2].replace("\"damaged_bytes\":4", "\"damaged_bytes\":5")),
        ("after another record", |lines| {
            let one = Digest::of(lines[0].as_bytes()).to_string();
            lines[2] = lines[2].replace(&one, &Digest::of(b"other").to_string());
        }),
        ("other bytes", |lines| lines[1] = "tore".into()),
        ("more bytes", |lines| lines.insert(1, "torn".into())),
        ("no bytes", |lines| drop(lines.remove(1))),
        ("another place", |lines| lines.swap(0, 1)),
        ("another number", |lines| lines[2] = lines[2].replace("\"seq\":1", "\"seq\":2")),
    ];
    for (name, edit) in table {
        let mut edited = lines.clone();
        edit(&mut edited);
        // To the end of the recovery: what follows it would show that it was changed.
        edited.pop();
        write(&path, &edited);
        assert!(verify(&path).broken.is_some(), "{name}");
    }

    // Where what came before was archived, a log may begin with damage: that of after its anchor.
    write(&path, &lines[1..]);
    assert!(verify(&path).broken.is_some());
    let rest = Verification::new().partial(true);
    let anchored = |hash| rest.clone().anchor(Receipt { seq: 0, hash }).log(&path).unwrap().broken;
    assert_eq!(rest.log(&path).unwrap().broken, None);
    assert_eq!(anchored(Digest::of(lines[0].as_bytes())), None);
    assert!(anchored(Digest::of(b"other")).is_some());
}

#[test]
fn the_chain_is_followed_across_rotated_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let log = Log::open_with(&path, Settings::default().max_bytes(1000)).unwrap();
    append(&log, &["ls"; 12]);
    let files = rotated_files(&path).unwrap();
    assert!(files.len() >= 3);
    let whole: Report = verify(&path);
    assert_eq!(whole.broken, None);

    // One file's last record is changed: the break shows at the next file's first line.
    let original = fs::read_to_string(&files[0]).unwrap();
    let (before, after) = original.rsplit_once("\"ls").unwrap();
    fs::write(&files[0], format!("{before}\"rm{after}")).unwrap();
    let broken = verify(&path).broken.unwrap();
    assert_eq!((broken.path.as_path(), broken.line, broken.fault), (files[1].as_path(), 1, Fault::Hash));
    fs::write(&files[0], &original).unwrap();

    // A file in the middle is gone.
    let middle = fs::read(&files[1]).unwrap();
    fs::remove_file(&files[1]).unwrap();
    let broken = verify(&path).broken.unwrap();
    assert!(matches!(broken.fault, Fault::Missing { .. }) && broken.path == files[2]);
    fs::write(&files[1], middle).unwrap();

    // The oldest was archived: the rest holds, and its last record still anchors.
    let archived = Verification::new().files(&files[..1]).unwrap();
    assert_eq!(archived.broken, None);
    let anchor = archived.head.unwrap();
    fs::remove_file(&files[0]).unwrap();
    assert!(verify(&path).broken.is_some());
    let rest = Verification::new().partial(true).log(&path).unwrap();
    assert_eq!((rest.broken, rest.head), (None, whole.head));
    assert_eq!(rest.records, whole.records - archived.records);
    let rest = |anchor| Verification::new().partial(true).anchor(anchor).log(&path).unwrap().broken;
    assert_eq!((rest(anchor), rest(whole.head.unwrap())), (None, None));
    let other = Receipt { hash: Digest::of(b"other"), ..anchor };
    assert_eq!(rest(other).unwrap().fault, Fault::Anchor { anchor: anchor.seq });
    let earlier = Receipt { seq: anchor.seq - 1, hash: Digest::of(b"earlier") };
    assert!(matches!(rest(earlier).unwrap().fault, Fault::Missing { .. }));
}

#[test]
fn reports_are_readable() {
    let directory = tempfile::tempdir().unwrap();
    let (path, mut lines, _) = log(directory.path());
    lines.remove(3);
    write(&path, &lines);
    let report = verify(&path);
    let text = report.broken.as_ref().unwrap().to_string();
    assert_eq!(text, format!("{}, line 4: records 3 to 3 are missing", path.display()));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["broken"]["fault"], serde_json::json!({"kind": "missing", "expected": 3, "found": 4}));
    assert_eq!(json["head"]["seq"], 2);
}
