//! What `run` lets pass of a command's input and output, and what it says afterwards, with the real binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod place;

use place::Place;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

/// A place with some policies; `None` where there is no sandbox.
fn place() -> Option<Place> {
    let place = Place::new();
    for (name, text) in [
        ("short.toml", "extends = \"workspace\"\n[limits]\nmax-output = 1000\n"),
        ("kill.toml", "extends = \"workspace\"\n[limits]\nmax-output = 1000\non-output-limit = \"kill\"\n"),
        ("killed.toml", "extends = \"workspace\"\n[limits]\non-output-limit = \"kill\"\n"),
        ("host.toml", "extends = \"workspace\"\n[network]\nallow = [\"host.invalid\"]\n"),
    ] {
        fs::write(place.project().join(name), text).unwrap();
    }
    let output = place.command(&["run", "--", "/bin/true"]).output().unwrap();
    if output.status.code() != Some(0) {
        eprintln!("SKIPPED: {output:?}");
        return None;
    }
    Some(place)
}

/// A policy's limit holds for what is passed on, too; without any limit everything is.
#[test]
fn the_policy_limits_what_is_passed_on() {
    let Some(place) = place() else { return };
    // options, command, bytes of standard output and of standard error, what is said at last
    let both = "seq 1 10000; seq 1 10000 >&2";
    let table: &[(&[&str], &str, [usize; 2], &str)] = &[
        (&[], both, [48_894; 2], ""),
        (&["--max-output", "5000"], both, [5000; 2], "87788 bytes of output are not shown"),
        (&["--policy", "short.toml"], both, [1000; 2], "95788 bytes of output are not shown"),
        (&["--policy", "short.toml", "--max-output", "5000"], both, [1000; 2], "95788 bytes of output"),
        (&["--policy", "short.toml", "--max-output", "10"], both, [10; 2], "97768 bytes of output"),
        (&["--policy", "short.toml"], "echo a", [2, 0], ""),
        (&["--policy", "kill.toml"], "seq 1 10000", [1000, 0], "more output than the policy lets pass"),
        (&["--policy", "killed.toml"], "seq 1 1000000", [1_000_000, 0], "more output than the policy"),
        // Without a process.
        (&["--policy", "short.toml"], &format!("echo {}", "x".repeat(2000)), [1000, 0], "1001 bytes of"),
    ];
    for (options, command, [out, err], told) in table {
        let words = [&["run"], *options, &["--", command]].concat();
        let output = place.command(&words).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let (written, said) = stderr.split_at(stderr.find("shward: ").unwrap_or(stderr.len()));
        assert_eq!([output.stdout.len(), written.len()], [*out, *err], "{words:?} {said}");
        assert!(said.contains(told) && said.is_empty() == told.is_empty(), "{words:?}: {said}");
    }
}

#[test]
fn standard_input_is_empty() {
    let Some(place) = place() else { return };
    let mut child = place.command(&["run", "--", "cat; echo end"]).stdin(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(b"typed\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "end\n", "{output:?}");
    let help = place.command(&["run", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    // Where its lines break is nobody's promise.
    assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains("Its standard input is empty"));
}

/// A command cannot tell a network that it may not use from one that is down.
#[test]
fn what_was_not_reached_is_told_with_what_would_permit_it() {
    let Some(place) = place() else { return };
    let curl = "curl -sS https://host.invalid -o x";
    let table: &[(&[&str], &str, &str)] = &[
        (
            &[],
            curl,
            "nothing outside was reached (host.invalid): a person can permit it in their policy, with [network] allow = [\"host.invalid\"]",
        ),
        (&[], "curl -sS https://host.invalid -o x || true", "nothing outside was reached (host.invalid)"),
        (&["--contain", "workspace-write"], curl, "--contain workspace-write has no network"),
        (&["--policy", "host.toml", "--contain", "read-only"], curl, "--contain read-only has no network"),
        (&["--policy", "host.toml"], curl, ""),
        (&[], "curl -sS http://127.0.0.1:9/ -o x", ""),
        (&[], "echo a", ""),
        // A path, or perhaps one.
        (&[], "git clone -q ./none copy", ""),
        (&[], "git clone -q \"$(ls -d none 2> /dev/null)\" copy || true", ""),
        // It never came to that.
        (&[], "true || curl -sS https://host.invalid -o x", ""),
    ];
    for (options, command, told) in table {
        let words = [&["run"], *options, &["--", command]].concat();
        let output = place.command(&words).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let said = stderr.lines().find(|line| line.contains("reached (")).unwrap_or_default();
        assert!(said.contains(told) && said.is_empty() == told.is_empty(), "{words:?}: {stderr}");
        let output = place.command(&[&["run", "--json"], &words[1..]].concat()).output().unwrap();
        let json = String::from_utf8(output.stdout).unwrap();
        assert_eq!(json.contains("\"unreached\":[\"host.invalid\"]"), !told.is_empty(), "{words:?} {json}");
    }
}

/// What comes of the sandbox looks like a fault of the program. What is left running was to go on.
#[test]
fn what_may_mend_a_failure_is_told() {
    let Some(place) = place() else { return };
    let socket = "/usr/bin/python3 -c 'import socket; f = \"AF_INET\"; socket.socket(getattr(socket, f))'";
    let table: &[(&[&str], &str, &str)] = &[
        (&["--contain", "workspace-write"], socket, "--contain loopback"),
        (&["--contain", "loopback"], socket, ""),
        (&[], "echo x > /tmp/a && ln /tmp/a b", "can be copied"),
        (&[], "echo 'socket: Operation not permitted'", ""),
        (&[], "echo 'socket: Operation not permitted'; exit 3", "--contain loopback"),
        (&[], "exit 3", ""),
        (&[], "sleep 60 > /dev/null & echo a", "was still running half a second after its end"),
        (&[], "sleep 0.1 & echo a", ""),
    ];
    for (options, command, told) in table {
        let words = [&["run"], *options, &["--", command]].concat();
        let output = place.command(&words).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let said = |line: &&str| line.starts_with("shward: ");
        let said = stderr.lines().find(said).unwrap_or_default();
        assert!(said.contains(told) && said.is_empty() == told.is_empty(), "{words:?}: {stderr}");
        let output = place.command(&[&["run", "--json"], &words[1..]].concat()).output().unwrap();
        let json = String::from_utf8(output.stdout).unwrap();
        let member = if command.contains('&') && told.contains("running") {
            "\"left_running\":true"
        } else {
            "\"hints\":["
        };
        assert_eq!(json.contains(member), !told.is_empty(), "{words:?} {json}");
    }
}

#[test]
fn the_time_that_was_given_is_told() {
    let Some(place) = place() else { return };
    let output = place.command(&["run", "--timeout", "1", "--", "sleep 20"]).output().unwrap();
    assert_eq!(output.status.code(), Some(124));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("timed out after 1 s"), "{told}");
}
