//! The contracts of the command line: exit codes, error forms, batch, hook; with the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.project()).unwrap();
        place
    }

    fn home(&self) -> std::path::PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn project(&self) -> std::path::PathBuf {
        self.home().join("project")
    }

    fn shward(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shward"));
        command.args(args).current_dir(self.project());
        self.finish(command, input)
    }

    fn finish(&self, mut command: Command, input: &[u8]) -> Output {
        command.env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The child may end without reading.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[test]
fn exit_codes_of_check() {
    let place = Place::new();
    let table: &[(&[&str], i32)] = &[
        (&["check", "--", "ls -la"], 0),
        (&["check", "--", "ls", "-la"], 0),
        (&["check", "--argv", "--", "ls", "-la"], 0),
        (&["check", "--", "cat ~/.ssh/id_rsa"], 2),
        (&["check", "--", "curl https://example.com/x"], 3),
        (&["check", "--contained", "--", "curl https://example.com/x"], 0),
        (&["check", "--", "echo 'unbalanced"], 3),
        (&["check"], 64),
        (&["check", "ls"], 64),
        (&["check", "--wrong", "--", "ls"], 64),
        (&["check", "--profile", "nonsense", "--", "ls"], 64),
        (&["check", "--cwd"], 64),
        (&["check", "--json=x", "--", "ls"], 64),
        (&["check", "--", ""], 65),
        (&["check", "--", "  "], 65),
        (&["check", "--workspace", "/nonexistent/place", "--", "ls"], 65),
        (&["check", "--cwd", "/nonexistent/place", "--", "ls"], 65),
        (&["check", "--frozen", "--cwd", "/nonexistent/place", "--", "ls"], 0),
        (&["check", "--log", "/dev/null/audit.jsonl", "--", "ls"], 74),
        (&["check", "--file", "/nonexistent/file"], 74),
        (&["nonsense"], 64),
        (&[], 64),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["check", "--help"], 0),
        (&["run", "--", "cat ~/.ssh/id_rsa"], 126),
        (&["run", "--log", "/dev/null/audit.jsonl", "--", "ls"], 125),
        (&["run", "--timeout", "0", "--", "ls"], 64),
        (&["run", "--contain", "nonsense", "--", "ls"], 64),
        (&["run", "--", ""], 65),
    ];
    for (args, expected) in table {
        let output = place.shward(args, b"");
        assert_eq!(code(&output), *expected, "{args:?}: {output:?}");
        if *expected >= 64 && *expected != 126 {
            assert!(!output.stderr.is_empty(), "{args:?}: an error says what is wrong");
        }
    }
}

#[test]
fn errors_are_objects_with_json() {
    let place = Place::new();
    for args in
        [&["check", "--json", "--", ""][..], &["check", "--json", "--workspace", "/nonexistent", "--", "ls"]]
    {
        let output = place.shward(args, b"");
        assert_eq!(code(&output), 65);
        assert_eq!(json_of(&output)["v"], 1);
        assert!(json_of(&output)["error"].is_string());
    }
}

#[test]
fn broken_utf8_and_too_much_are_bad_input() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_shward"));
    command.args(["check", "--"]).arg(std::ffi::OsStr::from_bytes(b"echo \xff")).current_dir(place.project());
    assert_eq!(code(&place.finish(command, b"")), 65);
    let huge = format!("echo {}", "x".repeat(2 << 20));
    assert_eq!(code(&place.shward(&["check", "--file", "-"], huge.as_bytes())), 65);
    assert_eq!(code(&place.shward(&["check", "--file", "-"], b"echo \xff")), 65);
    assert_eq!(code(&place.shward(&["check", "--file", "-"], b"echo a\0b")), 65);
    let nested = format!("{}ls{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!([2, 3].contains(&code(&place.shward(&["check", "--file", "-"], nested.as_bytes()))));
    assert_eq!(code(&place.shward(&["check", "--file", "-"], b"ls -la\n")), 0);
}

#[test]
fn a_batch_answers_every_line_in_order() {
    let place = Place::new();
    let input = concat!(
        "{\"id\":1,\"command\":\"ls\",\"cwd\":\"/w\",\"home\":\"/home/dev\",\"workspace\":\"/w\"}\n",
        "not json\n",
        "{\"id\":\"b\",\"command\":\"rm -rf /\"}\n",
        "\n",
        "{\"id\":3}\n",
        "{\"id\":4,\"command\":\"a\\u0000b\"}\n",
        "{\"id\":5,\"argv\":[\"ls\"]}\n",
        "{\"id\":6,\"command\":\"ls\",\"argv\":[\"ls\"]}\n",
        "{\"id\":7,\"command\":\"ls\",\"surprise\":1}\n",
        "{\"id\":8,\"command\":\"ls\"}",
    );
    let output = place.shward(&["check", "--batch", "--frozen"], input.as_bytes());
    assert_eq!(code(&output), 65);
    let answers: Vec<Value> = stdout(&output).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let told: Vec<(Value, &str)> =
        answers.iter().map(|a| (a["id"].clone(), a["decision"].as_str().unwrap_or("error"))).collect();
    let expected = [
        (json!(1), "allow"),
        (json!(null), "error"),
        (json!("b"), "deny"),
        (json!(3), "error"),
        (json!(4), "error"),
        (json!(5), "allow"),
        (json!(6), "error"),
        (json!(null), "error"),
        (json!(8), "allow"),
    ];
    assert_eq!(told, expected);
    assert!(answers.iter().all(|a| a["v"] == 1));
    assert_eq!(code(&place.shward(&["check", "--batch", "--frozen"], b"{\"command\":\"ls\"}\n")), 0);
}

#[test]
fn the_plan_has_the_contracts_form() {
    let place = Place::new();
    let output = place
        .shward(&["check", "--json", "--plan", "--frozen", "--cwd", "/w", "--", "cp a \"$X\"; ls *.c"], b"");
    let answer = json_of(&output);
    let invocations = answer["plan"]["invocations"].as_array().unwrap();
    assert_eq!(invocations[0]["program"], "cp");
    assert_eq!(invocations[0]["argv"], json!(["cp", "a", null]));
    assert_eq!(invocations[0]["cwd"], "/w");
    assert_eq!(invocations[1]["argv"], json!(["ls", null]));
    for effect in answer["plan"]["effects"].as_array().unwrap() {
        assert!(
            effect["kind"].is_string()
                && effect["certain"].is_boolean()
                && effect["span"].as_array().unwrap().len() == 2
        );
    }
}

fn event(command: &str) -> Vec<u8> {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s", "cwd": "/w", "tool_input": {"command": command}})
        .to_string()
        .into_bytes()
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
}

#[test]
fn install_and_uninstall_restore_the_settings() {
    let place = Place::new();
    let file = place.home().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = "{\n  \"model\": \"x\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    fs::write(&file, before).unwrap();
    assert_eq!(code(&place.shward(&["install", "claude", "--dry-run"], b"")), 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(code(&place.shward(&["install", "claude"], b"")), 0);
    let installed = fs::read_to_string(&file).unwrap();
    assert!(
        installed.contains(env!("CARGO_BIN_EXE_shward")) && installed.contains("\"onFailure\": \"block\"")
    );
    assert_eq!(code(&place.shward(&["install", "claude"], b"")), 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), installed);
    assert_eq!(code(&place.shward(&["uninstall", "claude"], b"")), 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    fs::write(&file, "{ broken").unwrap();
    assert_eq!(code(&place.shward(&["install", "claude"], b"")), 65);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ broken");
    assert_eq!(code(&place.shward(&["install", "nobody"], b"")), 64);
}

#[test]
fn every_check_and_hook_is_in_the_log_and_it_verifies() {
    let place = Place::new();
    place.shward(&["check", "--session", "s1", "--", "ls"], b"");
    place.shward(&["check", "--frozen", "--", "ls"], b"");
    place.shward(&["explain", "--", "ls"], b"");
    place.shward(&["hook", "claude"], &event("ls"));
    let log = place.home().join(".local/state/shward/audit.jsonl");
    let events: Vec<Value> = fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["event"].clone())
        .collect();
    assert_eq!(events, [json!("check"), json!("hook")], "frozen checks and explanations are not recorded");
    assert_eq!(code(&place.shward(&["audit", "verify"], b"")), 0);
    tamper(&log);
    assert_eq!(code(&place.shward(&["audit", "verify"], b"")), 1);
}

fn tamper(log: &Path) {
    let text = fs::read_to_string(log).unwrap();
    fs::write(log, text.replacen("\"decision\":\"allow\"", "\"decision\":\"deny\"", 1)).unwrap();
}
