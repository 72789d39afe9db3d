//! The oracle sees what a shell does, and says so if it was not predicted. Where no room can be made there is nothing
//! to be seen, and the test says that instead.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a panic is how a test fails")]

use std::path::Path;
use std::process::Command;

/// A program that predicts this plan, whatever it is asked.
fn predicting(directory: &Path, plan: &str) -> std::path::PathBuf {
    let path = directory.join("shward");
    let answer = format!(r#"{{"v":1,"id":"command","decision":"allow","findings":[],"plan":{plan}}}"#);
    let script = format!("#!/bin/sh\ncat > /dev/null\necho '{answer}'\n");
    // Written by another process, for a file that this one has open for writing cannot be executed.
    let mut writer = Command::new("sh");
    writer.args(["-c", "printf %s \"$1\" > \"$0\" && chmod +x \"$0\""]).arg(&path).arg(script);
    assert!(writer.status().unwrap().success());
    path
}

/// The exit code and the output for a command, or nothing where there is no room.
fn observe(plan: &str, command: &str) -> Option<(i32, String)> {
    let directory = tempfile::tempdir().unwrap();
    let mut oracle = Command::new(env!("CARGO_BIN_EXE_xtask"));
    oracle
        .args(["oracle", "--json", "--binary"])
        .arg(predicting(directory.path(), plan))
        .args(["--", command]);
    let output = oracle.output().unwrap();
    if output.status.code() == Some(69) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some((output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap()))
}

const NOTHING: &str = r#"{"invocations":[],"effects":[]}"#;

#[test]
fn what_a_shell_does_is_seen() {
    for (command, expected) in [
        ("unknown-program 'a b'", r#""argv":["unknown-program","a b"]"#),
        ("echo x > new", r#"{"act":"write","path":"/workspace/new"}"#),
        ("cd d; rm e", r#"{"act":"delete","path":"/workspace/d/e","by":["rm"]}"#),
        ("env sh -c 'one $(two)'", r#""argv":["one","w1"],"by":["env","sh"]"#),
        ("mv a z", r#"{"act":"write","path":"/workspace/z","by":["mv"]}"#),
        ("chmod 600 a", r#"{"act":"metadata","path":"/workspace/a","by":["chmod"]}"#),
        ("(sleep 0; late) &", r#""argv":["late"]"#),
        ("kill -9 $$", r#""unpredicted":[]"#),
        ("while :; do :; done", r#""limit":"time""#),
        ("f() { f | f & }; f", r#""limit":"processes""#),
        ("touch /usr/x /etc/x; echo x > /proc/self/comm; ls /usr/x && it-is-there", r#""path":"/etc/x""#),
    ] {
        let Some((code, output)) = observe(NOTHING, command) else { return };
        let compact = output.replace("\"cwd\":\"/workspace\",", "").replace("\"cwd\":\"/workspace\"", "");
        assert!(compact.replace(",}", "}").contains(expected), "{command}: {output}");
        assert!(!output.contains("it-is-there"), "{output}");
        let quiet = expected.contains("limit") || expected.ends_with("[]");
        assert!(quiet || code == 1, "{command}: {output}");
    }
}

#[test]
fn what_was_predicted_is_no_violation() {
    let plan = r#"{"invocations":[{"program":"rm","argv":["rm","a"],"cwd":"/workspace","builtin":false,"span":[0,4]}],
        "effects":[{"kind":"delete","span":[3,4],"path":"/workspace/a"}]}"#
        .replace('\n', "");
    let Some((code, output)) = observe(&plan, "rm a") else { return };
    assert_eq!(code, 0, "{output}");
    let Some((code, output)) = observe(&plan, "rm b") else { return };
    assert_eq!(code, 1, "{output}");
}
