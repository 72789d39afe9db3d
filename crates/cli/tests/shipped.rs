//! The binary as it is shipped (`cargo static`), which starts in a way of its own: what it answers is what the binary of the
//! tests answers, and it has threads where it needs them.
//!
//! `SHWARD_SHIPPED` names it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod place;

use place::Place;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

/// What a binary answers in the project of a place, as the binary of the tests is started there.
fn run(place: &Place, binary: &str, args: &[&str], input: &str) -> Output {
    let input_file = place.home().join("input");
    fs::write(&input_file, input).unwrap();
    let tests = place.command(args);
    let mut command = Command::new(binary);
    command.args(tests.get_args()).current_dir(place.project()).env_clear();
    command.envs(tests.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // What the C library would obey, and the program does not.
    command.env("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1").env("MALLOC_TOP_PAD_", "1");
    command.stdin(fs::File::open(input_file).unwrap()).output().unwrap()
}

fn text(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8(output.stdout.clone()).unwrap())
}

fn event(place: &Place, command: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": place.project(),
        "tool_input": { "command": command, "description": "fetch it" },
    })
    .to_string()
}

fn decision(output: &Output) -> Value {
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    answer.pointer("/hookSpecificOutput/permissionDecision").cloned().unwrap_or_default()
}

/// A model that allows whatever it is asked, as often as it is asked; its port.
fn model() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            for line in reader.by_ref().lines() {
                let line = line.unwrap().to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let content = json!({ "decision": "ALLOW", "explanation": "fine" }).to_string();
            let body = json!({ "choices": [{ "finish_reason": "stop", "message": { "role": "assistant", "content": content } }] })
                .to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            );
            stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes()).unwrap();
        }
    });
    port
}

#[test]
#[ignore = "needs the binary of `cargo static`; a step of CI"]
fn it_answers_as_any_other() {
    let shipped = std::env::var("SHWARD_SHIPPED").expect("SHWARD_SHIPPED names the binary of `cargo static`");
    let place = Place::new();

    let log = place.home().join("audit.jsonl");
    let log = log.to_str().unwrap();
    // Longer than what is copied past the caches.
    let long = format!("echo {}", "x".repeat(1_000_000));
    let commands =
        ["ls", "rm -rf ~", "curl https://example.com", "python3 -c 'print(1)'", "cat <<E | sh\nls\nE", &long];
    for command in commands {
        let ours = |binary: &str| {
            let args = ["check", "--json", "--log", log, "--", command];
            let args =
                if command.len() > 100_000 { &["check", "--batch", "--frozen"][..] } else { &args[..] };
            let line = json!({ "command": command, "cwd": "/p" }).to_string();
            text(&run(&place, binary, args, &line))
        };
        assert_eq!(ours(&shipped), ours(env!("CARGO_BIN_EXE_shward")), "{:.60}", command);
        let hooked = |binary: &str| {
            text(&run(&place, binary, &["hook", "claude", "--log", log], &event(&place, command)))
        };
        assert_eq!(hooked(&shipped), hooked(env!("CARGO_BIN_EXE_shward")), "{:.60}", command);
    }

    // Threads.
    let program = place.home().join("gatekeeper");
    let script = "#!/bin/sh\ncat > /dev/null\necho '{\"decision\":\"ALLOW\",\"explanation\":\"x\"}'\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let model = format!("http://127.0.0.1:{}/v1", model());
    for gatekeeper in [
        &["--gatekeeper", program.to_str().unwrap()][..],
        &["--gatekeeper", &model, "--gatekeeper-model", "m"],
    ] {
        let args = [&["hook", "claude", "--log", log][..], gatekeeper].concat();
        let output = run(&place, &shipped, &args, &event(&place, "curl https://example.com"));
        assert_eq!(decision(&output), "allow", "{gatekeeper:?} {}", String::from_utf8_lossy(&output.stdout));
    }

    // A sandbox, with its threads.
    let output = run(&place, &shipped, &["run", "--log", log, "--", "echo hi | cat; pwd"], "");
    assert_eq!(text(&output), (Some(0), format!("hi\n{}\n", place.project().display())), "{output:?}");
    let output = run(&place, &shipped, &["run", "--log", log, "--timeout", "1", "--", "sleep 9"], "");
    assert_eq!(output.status.code(), Some(124), "{output:?}");
    assert_eq!(run(&place, &shipped, &["audit", "verify", "--log", log], "").status.code(), Some(0));
}
