//! What `audit` says of a log, with the real binary: how runs ended, lines that are no records, and a head that was kept.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod place;

use place::Place;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

impl Place {
    fn log(&self) -> PathBuf {
        self.home().join(".local/state/shward/audit.jsonl")
    }

    /// Exit code, standard output, standard error.
    fn told(&self, words: &[&str]) -> (i32, String, String) {
        let output = self.command(words).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

/// How a run ended is not hidden by what it did, and what it did is no error.
#[test]
fn how_a_run_ended_is_always_shown() {
    let place = Place::new();
    fs::write(
        place.project().join("kill.toml"),
        "extends = \"open\"\n[limits]\nmax-output = 1000\non-output-limit = \"kill\"\n",
    )
    .unwrap();
    for (words, shown, error) in [
        (
            &["run", "--", "echo 1 > zz; exit 3"][..],
            &["exit code 3 after ", "created 1, changed 0, deleted 0"],
            None,
        ),
        (&["run", "--", "kill -9 $$"], &["signal 9 after ", " ms"], None),
        (&["run", "--timeout", "1", "--", "sleep 30"], &["signal 9 after ", "timed out"], None),
        (
            &["run", "--profile", "open", "--", "echo x > .envrc"],
            &["exit code 0 after ", "refused: .envrc"],
            None,
        ),
        (
            &["run", "--contain", "speculate", "--", "echo 2 > yy"],
            &["exit code 0 after ", "not committed"],
            None,
        ),
        (
            &["run", "--policy", "kill.toml", "--", "seq 1 10000"],
            &["signal ", "killed for writing more"],
            None,
        ),
        (
            &["run", "--argv", "--", "/nonexistent/program"],
            &["not started", "/nonexistent/program"],
            Some("/nonexistent/program"),
        ),
    ] {
        let ran = place.told(words);
        let line = place.told(&["audit", "show", "--last", "1"]).1;
        for part in shown {
            assert!(line.contains(part), "{words:?}: {line}{ran:?}");
        }
        let record: Value =
            serde_json::from_str(&place.told(&["audit", "show", "--last", "1", "--json"]).1).unwrap();
        match error {
            None => assert!(record.get("error").is_none(), "{record}"),
            Some(text) => assert!(record["error"].as_str().unwrap().contains(text), "{record}"),
        }
    }
    assert_eq!(place.told(&["audit", "verify"]).0, 0);
}

/// Before there was a field for what a run changed, that stood where errors do.
#[test]
fn a_record_of_before_is_shown_with_its_exit_code() {
    let place = Place::new();
    let empty = "\"stdout\":{\"bytes\":0,\"sha256\":\"\"},\"stderr\":{\"bytes\":0,\"sha256\":\"\"}"
        .replace("\"\"", &format!("\"{}\"", "0".repeat(64)));
    let line = format!(
        "{{\"v\":1,\"seq\":0,\"time\":\"2025-11-25T20:14:52.566456Z\",\"prev\":\"{}\",\"event\":\"outcome\",\"run\":0,\
         \"executed\":true,\"exit_code\":3,\"timed_out\":false,\"cancelled\":false,\"truncated\":false,\"duration_ms\":3,\
         {empty},\"error\":\"created 1, changed 0, deleted 0 in the workspace, as r1\"}}\n",
        "0".repeat(64)
    );
    let log = place.home().join("old.jsonl");
    fs::write(&log, line).unwrap();
    let log = log.to_str().unwrap();
    let (code, shown, _) = place.told(&["audit", "show", "--log", log]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("exit code 3 after 3 ms; created 1, changed 0, deleted 0"), "{shown}");
    assert_eq!(place.told(&["audit", "verify", "--log", log]).0, 0);
}

/// A log that somebody else hands over is shown at a terminal.
#[test]
fn no_part_of_a_record_steers_the_terminal() {
    let place = Place::new();
    assert_eq!(place.told(&["check", "--", "curl https://example.com"]).0, 3);
    let text = fs::read_to_string(place.log()).unwrap();
    let log = place.home().join("theirs.jsonl");
    for (what, other) in [
        ("\"time\":\"20", "\"time\":\"\\u001b[2J\\u009b1A"),
        ("\"command\":\"", "\"command\":\"\\u001b]0;x\\u0007"),
        ("\"rules\":[\"", "\"rules\":[\"\\u001b[1A\\u202e"),
    ] {
        let forged = text.replace(what, other);
        assert_ne!(forged, text, "{what}");
        fs::write(&log, forged).unwrap();
        let (code, shown, _) = place.told(&["audit", "show", "--log", log.to_str().unwrap()]);
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("\\u{1b}"), "{shown:?}");
        assert!(!shown.contains(|c: char| c != '\n' && c.is_control() || c == '\u{202e}'), "{shown:?}");
    }
}

#[test]
fn lines_that_are_no_records_are_marked_and_the_rest_is_shown() {
    let place = Place::new();
    for command in ["pwd", "id", "uname"] {
        assert_eq!(place.told(&["check", "--", command]).0, 0);
    }
    let text = fs::read_to_string(place.log()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let long = format!("\"{}\"", "x".repeat(40 << 20));
    for bad in ["{\"v\":1", "nonsense", long.as_str()] {
        fs::write(place.log(), format!("{}\n{bad}\n{}\n{}\n", lines[0], lines[1], lines[2])).unwrap();
        let (code, shown, told) = place.told(&["audit", "show"]);
        let bad: String = bad.chars().take(20).collect();
        assert_eq!(code, 1, "{bad}: {shown}{told}");
        let shown: Vec<&str> = shown.lines().collect();
        assert_eq!(shown.len(), 4, "{bad}: {shown:?}");
        for (line, part) in shown.iter().zip(["pwd", "??", "id", "uname"]) {
            assert!(line.contains(part), "{bad}: {shown:?}");
        }
        assert!(shown[1].contains("line 2"), "{shown:?}");
        assert!(told.contains("no records: 1; `shward audit verify` tells more"), "{told}");
        let json = place.told(&["audit", "show", "--json"]).1;
        let errors: Vec<bool> = json
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap().get("error").is_some())
            .collect();
        assert_eq!(errors, [false, true, false, false], "{json}");
    }
    // A writer that was killed, and the next one says so: nothing is amiss.
    fs::write(place.log(), &text).unwrap();
    OpenOptions::new().append(true).open(place.log()).unwrap().write_all(b"{\"v\":1,\"se").unwrap();
    assert_eq!(place.told(&["check", "--", "pwd"]).0, 0);
    let (code, shown, told) = place.told(&["audit", "show"]);
    assert_eq!((code, told.as_str()), (0, ""), "{shown}");
    assert!(shown.contains("??") && shown.contains("recovered after 10 damaged bytes"), "{shown}");
}

/// A log whose end was cut off is whole by itself; who has kept the head notices.
#[test]
fn a_log_that_was_cut_is_noticed_by_the_head_that_was_kept() {
    let place = Place::new();
    for command in ["pwd", "id", "uname", "ls"] {
        assert_eq!(place.told(&["check", "--", command]).0, 0);
    }
    let (code, told, _) = place.told(&["audit", "verify"]);
    assert_eq!(code, 0);
    let head = told.lines().find_map(|line| line.strip_prefix("head: ")).unwrap().to_owned();
    assert!(head.starts_with("3:") && head.len() == 66, "{told}");
    let text = fs::read_to_string(place.log()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let other = format!("3:{}", "0".repeat(64));
    let (first, last) = (lines[..3].concat(), lines[1..].concat());
    let hash = |line: &str| shward::audit::Digest::of(line.trim_end().as_bytes()).to_string();
    let before = format!("0:{}", hash(lines[0]));
    // Records 1 to 8 are gone, and what stands in their place says that it was damage.
    let forged = format!(
        "torn\n{{\"v\":1,\"seq\":9,\"time\":\"t\",\"prev\":\"{}\",\"event\":\"recovered\",\"damaged_bytes\":4,\"after\":\"{}\"}}\n",
        hash("torn"),
        hash(lines[0]),
    );
    let verify = |words: &[&str]| place.told(&[&["audit", "verify"], words].concat());
    for (text, words, expected, part) in [
        (&text, &["--head", &head][..], 0, "record 3 and everything before it is as it was"),
        (&text, &["--head", &other], 1, "not the one that the log is anchored to"),
        (&first, &[], 0, "whole: 3 records"),
        (&first, &["--head", &head], 1, "its end was cut off"),
        (&last, &["--head", &head], 1, "records 0 to 0 are missing"),
        (&last, &["--head", &head, "--partial"], 0, "whole: 3 records"),
        (&last, &["--head", &head, "--partial"], 0, "records 1 to 3 are as they were"),
        (
            &last,
            &["--head", &before, "--partial"],
            0,
            "record 1 comes right after record 0, as its hash was kept",
        ),
        (&forged, &["--head", &before, "--partial"], 1, "no record accounts for the damage"),
        (&last, &["--partial", "--head", &other], 1, "not the one that the log is anchored to"),
    ] {
        fs::write(place.log(), text).unwrap();
        let (code, told, _) = verify(words);
        assert!(code == expected && told.contains(part), "{words:?}: {code} {told}");
    }
    for wrong in
        ["3", "3:", "x:y", &format!("+{head}"), head.trim_start_matches('3'), &format!("{head}0"), " "]
    {
        let (code, _, told) = verify(&["--head", wrong]);
        assert!(code == 64 && told.contains("a number, a colon"), "{wrong}: {code} {told}");
    }
    // What a variable leaves that is not set.
    let (code, _, told) = verify(&["--head", ""]);
    assert!(code == 64 && told.contains("--head: the value is empty"), "{code} {told}");
    assert_eq!(place.told(&["audit", "show", "--head", &head]).0, 64);
    assert_eq!(place.told(&["audit", "show", "--partial"]).0, 64);
    let log = place.log();
    assert_eq!(place.told(&["audit", "verify", log.to_str().unwrap(), "--log", "/x"]).0, 64);
}
