//! `pending`, `approve`, `deny`, and the terminal of `run`, with the real binary at real pseudo-terminals (script(1)).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic is how a test fails"
)]

mod place;

use place::Place;
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

impl Place {
    fn state(&self, name: &str) -> PathBuf {
        self.home().join(".local/state/shward").join(name)
    }

    /// Without a terminal, whoever runs the tests.
    fn shward(&self, args: &[&str], input: &str) -> Output {
        let mut command = self.program("setsid");
        command.args(["-w", BINARY]).args(args).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// At a terminal where somebody types this after a while.
    fn at_terminal(&self, line: &str, keys: &str) -> (i32, String) {
        let mut command = self.program("script");
        command.args(["-qec", line, "/dev/null"]).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let keys = keys.to_owned();
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(2500));
            let _ = stdin.write_all(keys.as_bytes());
            std::thread::sleep(std::time::Duration::from_secs(20));
        });
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).replace('\r', ""))
    }

    fn check(&self, command: &str) -> Value {
        json(&self.shward(&["check", "--json", "--", command], ""))
    }

    fn hook(&self, command: &str) -> String {
        let event = serde_json::json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s", "cwd": self.project(),
            "tool_input": { "command": command, "description": "because" },
        });
        let output = self.shward(&["hook", "claude"], &event.to_string());
        json(&output)["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
    }

    /// The id of the only question.
    fn pending(&self) -> String {
        let asks = json(&self.shward(&["pending", "--json"], ""));
        let asks = asks["asks"].as_array().unwrap();
        assert_eq!(asks.len(), 1, "{asks:?}");
        asks[0]["id"].as_str().unwrap().to_owned()
    }
}

const BINARY: &str = env!("CARGO_BIN_EXE_shward");

const ASKED: &str = "curl -O https://example.com/x";

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn an_answer_from_elsewhere_is_used_by_one_of_many() {
    let place = Place::new();
    assert_eq!(place.hook(ASKED), "ask");
    let id = place.pending();
    let (code, shown) = place.at_terminal(&format!("{BINARY} approve {}", &id[..4]), "y\n");
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains(ASKED) && shown.contains("because (says the agent)") && shown.contains("[network]"),
        "{shown}"
    );
    assert!(shown.contains(&format!("{id}: allowed once")), "{shown}");
    let decisions: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| place.hook(ASKED))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(decisions.iter().filter(|d| *d == "allow").count(), 1, "{decisions:?}");
    assert_eq!(decisions.iter().filter(|d| *d == "ask").count(), 5, "{decisions:?}");
    assert!(place.shward(&["audit", "verify"], "").status.success());
    let log = text(&place.shward(&["audit", "show", "--json"], "").stdout);
    assert!(log.contains(r#""event":"answer""#) && log.contains(&format!(r#""id":"{id}""#)), "{log}");
    assert_eq!(log.matches(r#""review":{"answer":"allow","by":"person""#).count(), 1, "{log}");
}

#[test]
fn a_no_is_told_without_asking_again() {
    let place = Place::new();
    place.check(ASKED);
    let id = place.pending();
    let (code, shown) = place.at_terminal(&format!("{BINARY} deny {id}"), "");
    assert_eq!((code, shown.contains("denied")), (0, true), "{shown}");
    for _ in 0..2 {
        let checked = place.check(ASKED);
        assert_eq!(checked["decision"], "deny");
        assert_eq!(checked["findings"][0]["rule"], "person-denied");
    }
    let (_, shown) = place.at_terminal(&format!("{BINARY} approve {id}"), "n\n");
    assert!(shown.contains("denied"), "{shown}");
    assert_eq!(place.check(ASKED)["decision"], "deny");
    let (_, shown) = place.at_terminal(&format!("{BINARY} approve {id}"), "y\n");
    assert!(shown.contains("allowed once"), "{shown}");
    assert_eq!(place.check(ASKED)["decision"], "allow", "a person may think again");
}

#[test]
fn only_a_person_at_a_terminal_answers() {
    let place = Place::new();
    place.check(ASKED);
    let id = place.pending();
    for verb in ["approve", "deny"] {
        let output = place.shward(&[verb, &id], "y\ny\n");
        assert_eq!(output.status.code(), Some(126));
        assert!(text(&output.stderr).contains("there is no terminal to ask at"), "{output:?}");
        let object = json(&place.shward(&[verb, &id, "--json"], "y\n"));
        assert!(object["error"].as_str().unwrap().contains("no terminal"), "{object}");
        let (code, shown) = place.at_terminal(&format!("bash -mc '{BINARY} {verb} {id} & wait $!'"), "y\n");
        assert!(code == 126 && shown.contains("in the background"), "{verb}: {code} {shown}");
    }
    // Under another name, where the analysis does not know it, inside a run and at a terminal of its own.
    Place::put_binary(&place.project().join("tool"));
    fs::write(
        place.project().join("person.py"),
        format!("import pty, sys\nsys.exit(pty.spawn(['./tool', 'approve', '{id}']) >> 8)\n"),
    )
    .unwrap();
    let output = place.shward(&["run", "--json", "--", "python3 person.py"], "y\n");
    assert_eq!(place.check(ASKED)["decision"], "ask", "{output:?}");
    if json(&output)["executed"] == true {
        assert!(text(&output.stdout).contains("this process is confined"), "{output:?}");
    }
    for (args, code) in [(vec!["approve", "abcd"], 126), (vec!["approve"], 64), (vec!["pending", "x"], 64)] {
        assert_eq!(place.shward(&args, "").status.code(), Some(code), "{args:?}");
    }
    for (operands, code) in [("", 64), ("zz", 64), ("abc", 64), ("0000000000", 65), ("a b", 64)] {
        let (found, shown) = place.at_terminal(&format!("{BINARY} approve {operands}"), "");
        assert_eq!(found, code, "{operands}: {shown}");
    }
}

#[test]
fn run_asks_at_the_terminal_and_never_standard_input() {
    let place = Place::new();
    let command = "touch ran; git push";
    let line = |options: &str| format!("{BINARY} run {options} -- '{command}'");
    let ran = || fs::remove_file(place.project().join("ran")).is_ok();

    let output = place.shward(&["run", "--approve", "tty", "--", command], "y\ny\n");
    assert_eq!((output.status.code(), ran()), (Some(126), false), "{output:?}");
    let (code, shown) = place.at_terminal(&format!("echo y | {}", line("--approve never")), "y\n");
    assert_eq!((code, ran()), (126, false), "{shown}");
    assert!(!shown.contains("Allow it once?"));
    let (code, shown) = place.at_terminal(&line("--reasoning why"), "n\n");
    assert_eq!((code, ran()), (126, false), "{shown}");
    assert!(shown.contains("no network") && shown.contains("why (says the agent)"), "{shown}");
    let (code, shown) = place.at_terminal(&line("--json"), "y\n");
    assert!(shown.contains(r#""review":{"answer":"allow","by":"person""#) || code == 125, "{shown}");
    assert_eq!(ran(), code != 125, "{shown}");
    let denied = format!("{BINARY} run -- 'cat ~/.ssh/id_rsa'");
    let (code, shown) = place.at_terminal(&denied, "y\n");
    assert!(code == 126 && !shown.contains("Allow it once?"), "{shown}");
}

#[test]
fn stores_that_are_not_ours_alone_are_refused() {
    let place = Place::new();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    place.check(ASKED);
    mode(&place.state("asks"), 0o666);
    let checked = place.check(ASKED);
    assert_eq!(
        (&checked["decision"], &checked["findings"][0]["rule"]),
        (&"ask".into(), &"store-broken".into())
    );
    let listed = place.shward(&["pending"], "");
    assert_eq!(listed.status.code(), Some(74));
    assert!(text(&listed.stderr).contains("chmod go-w"), "{listed:?}");
    mode(&place.state("asks"), 0o600);
    place.pending();

    let limited = || json(&place.shward(&["check", "--json", "--limit", "session=3/10", "--", "ls"], ""));
    assert_eq!(limited()["decision"], "allow");
    mode(&place.state("limits"), 0o622);
    assert_eq!(limited()["findings"][0]["rule"], "store-broken");
    assert_eq!(limited()["decision"], "deny");
    fs::remove_file(place.state("limits")).unwrap();
    assert_eq!(limited()["decision"], "allow", "a new one is made");
    fs::write(place.state("limits"), [b'x'; 16384]).unwrap();
    assert_eq!(limited()["decision"], "deny");
    fs::remove_file(place.state("limits")).unwrap();
    fs::create_dir(place.state("limits")).unwrap();
    assert_eq!(limited()["decision"], "deny");
}

#[test]
fn a_full_disk_answers_nobody() {
    let place = Place::new();
    place.check(ASKED);
    let (_, shown) = place.at_terminal(&format!("{BINARY} approve {}", place.pending()), "y\n");
    assert!(shown.contains("allowed once"), "{shown}");
    // The log is elsewhere, so that it is the store that does not fit.
    let before = fs::read(place.state("asks")).unwrap();
    let script =
        format!("trap '' XFSZ; ulimit -f 0; exec {BINARY} check --json --log /dev/stdout -- '{ASKED}'");
    let output = place.program("bash").args(["-c", &script]).output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read(place.state("asks")).unwrap(), before, "the answer is still there");
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {BINARY} check --limit session=3/10 -- ls");
    let output = place.program("bash").args(["-c", &script]).output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(place.check(ASKED)["decision"], "allow");
}

#[test]
fn limits_hold_between_processes_and_wrong_ones_are_told() {
    let place = Place::new();
    let check = |limit: &str| {
        place.shward(&["check", "--json", "--session", "s", "--limit", limit, "--", "ls; ls -l"], "")
    };
    let allowed = (0..5).filter(|_| json(&check("program=6/3600"))["decision"] == "allow").count();
    assert_eq!(allowed, 5, "a program counts once for a command");
    assert_eq!(json(&check("program=6/3600"))["decision"], "allow");
    let refused = json(&check("program=6/3600"));
    assert_eq!(refused["decision"], "deny");
    assert_eq!(refused["rate_limit"]["refused"], true);
    assert!(refused["rate_limit"]["wait_ms"].as_u64().unwrap() > 590_000, "{refused}");
    assert!(
        refused["findings"][0]["message"].as_str().unwrap().contains("commands that start ls"),
        "{refused}"
    );
    for wrong in [
        "",
        "session",
        "session=3",
        "session=0/10",
        "session=3/0",
        "session=3/10,",
        "x=1/1",
        "session=-1/2",
        "session=99999999999/1",
    ] {
        assert_eq!(check(wrong).status.code(), Some(64), "{wrong}");
    }
}

#[test]
fn a_gatekeeper_of_the_options_answers_the_hook() {
    let place = Place::new();
    let gatekeeper = place.home().join("gatekeeper");
    fs::write(
        &gatekeeper,
        "#!/bin/sh\ncat >\"$HOME/seen\"\necho '{\"decision\":\"ALLOW\",\"explanation\":\"fine\"}'\n",
    )
    .unwrap();
    fs::set_permissions(&gatekeeper, fs::Permissions::from_mode(0o755)).unwrap();
    let event = |command: &str| {
        serde_json::json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": place.project(),
            "tool_input": { "command": command, "description": "fetch it" },
        })
        .to_string()
    };
    let gatekeeper = gatekeeper.to_str().unwrap();
    let hook =
        |command: &str| json(&place.shward(&["hook", "claude", "--gatekeeper", gatekeeper], &event(command)));
    let answer = hook(ASKED);
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow", "{answer}");
    let seen: Value = serde_json::from_slice(&fs::read(place.home().join("seen")).unwrap()).unwrap();
    assert_eq!((&seen["command"], &seen["reasoning"]), (&ASKED.into(), &"fetch it".into()));
    let answer = hook("cat ~/.ssh/id_rsa");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
    for wrong in [
        vec!["--gatekeeper", "relative"],
        vec!["--gatekeeper", "http://127.0.0.1:1/v1"],
        vec!["--gatekeeper", "https://example.com/v1", "--gatekeeper-model", "m"],
        vec!["--gatekeeper-model", "m"],
        vec!["--approve", "tty"],
    ] {
        let args: Vec<&str> =
            ["check"].into_iter().chain(wrong.iter().copied()).chain(["--", "ls"]).collect();
        assert_eq!(place.shward(&args, "").status.code(), Some(64), "{wrong:?}");
    }
}
