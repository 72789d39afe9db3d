//! The hook: what a host asks, and that every failure is a denial; with the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod answers;
mod place;

use answers::{code, event_in, feed, json_of};
use place::Place;
use serde_json::json;
use std::process::{Command, Output, Stdio};

fn event(command: &str) -> Vec<u8> {
    event_in(command, "/tmp")
}

#[test]
fn the_hook_answers_or_denies() {
    let place = Place::new();
    let decision = |o: &Output| json_of(o)["hookSpecificOutput"]["permissionDecision"].clone();
    for (command, expected, exit) in
        [("ls", "allow", 0), ("curl https://example.com", "ask", 0), ("cat ~/.ssh/id_rsa", "deny", 2)]
    {
        let output = place.shward(&["hook", "claude"], &event(command));
        assert_eq!((decision(&output), code(&output)), (json!(expected), exit), "{command}");
    }
    let read =
        br#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/etc/passwd"}}"#;
    let output = place.shward(&["hook", "claude"], read);
    assert_eq!((code(&output), output.stdout.len()), (0, 0), "no opinion on other tools");
    let failures: &[(&[&str], &[u8])] = &[
        (&["hook", "claude"], b""),
        (&["hook", "claude"], b"{"),
        (&["hook", "claude"], b"\xff\xfe"),
        (&["hook", "claude"], br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#),
        (&["hook", "claude", "--log", "/dev/null/x"], &event("ls")),
        (&["hook", "nobody"], &event("ls")),
        (&["hook"], &event("ls")),
        (&["hook", "claude", "--wrong"], &event("ls")),
    ];
    for (args, input) in failures {
        let output = place.shward(args, input);
        assert_eq!(code(&output), 2, "{args:?} {output:?}");
        assert!(!output.stderr.is_empty());
    }
    let huge = vec![b' '; 9 << 20];
    assert_eq!(code(&place.shward(&["hook", "claude"], &huge)), 2);
    let other = br#"{"hook_event_name":"PreToolUse","tool_name":"PowerShell","tool_input":{"command":"ls"}}"#;
    let output = place.shward(&["hook", "claude"], other);
    assert_eq!((decision(&output), code(&output)), (json!("deny"), 2), "a shell that shward does not read");
    assert!(String::from_utf8_lossy(&output.stderr).contains("reads Bash only"));
    let monitor = br#"{"hook_event_name":"PreToolUse","tool_name":"Monitor","cwd":"/tmp","tool_input":{"command":"rm -rf ~"}}"#;
    let output = place.shward(&["hook", "claude"], monitor);
    assert_eq!((decision(&output), code(&output)), (json!("deny"), 2), "a monitor's command is one of Bash");
    for cwd in ["w", "", "/w/../etc"] {
        let output = place.shward(&["hook", "claude"], &event_in("ls", cwd));
        assert_eq!((decision(&output), code(&output)), (json!("deny"), 2), "{cwd:?}");
    }
    let output = place.shward(&["hook", "claude"], &event("cat ~/.ssh/$'id\\e[2K\\u202e'"));
    assert!(!String::from_utf8_lossy(&output.stderr).contains(['\u{1b}', '\u{202e}']), "{output:?}");
}

#[test]
fn an_answer_that_nobody_gets_is_a_denial() {
    let place = Place::new();
    for redirection in [">&-", ">/dev/full"] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("\"$0\" hook claude {redirection}"), env!("CARGO_BIN_EXE_shward")]);
        command.env_clear().env("HOME", place.home()).env("SHWARD_TEST_HOME", place.home());
        let output = feed(command, &event("curl https://x.example"));
        assert_eq!(code(&output), 2, "{redirection} {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("could not be written"), "{output:?}");
    }
}

#[test]
fn the_hosts_project_stays_the_workspace() {
    let place = Place::new();
    let decision = |cwd: &str, target: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shward"));
        command.args(["hook", "claude"]).current_dir("/").env_clear();
        command
            .env("HOME", place.home())
            .env("SHWARD_TEST_HOME", place.home())
            .env("CLAUDE_PROJECT_DIR", place.project());
        let output = feed(command, &event_in(&format!("echo x > {target}"), cwd));
        json_of(&output)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let project = place.project();
    let inside = project.join("a");
    assert_eq!(decision(project.to_str().unwrap(), "a"), "allow");
    assert_eq!(decision("/opt", inside.to_str().unwrap()), "allow");
    assert_ne!(decision("/opt", "/opt/a"), "allow");
    assert_ne!(decision("/opt", "a"), "allow");
}

/// Takes as long as the deadline: the event never comes.
#[test]
fn a_late_hook_denies() {
    let place = Place::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_shward"))
        .args(["hook", "claude"])
        .env_clear()
        .env("HOME", place.home())
        .env("SHWARD_TEST_HOME", place.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), output.stdout.len()), (2, 0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no decision within 20 s"));
    drop(open);
}
