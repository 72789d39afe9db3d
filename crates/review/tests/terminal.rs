//! A person at a real pseudo-terminal, which script(1) gives.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use shward_review::{Approver as _, Question, Terminal};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Milliseconds that the copy of this program waits for an answer.
const DEADLINE: &str = "SHWARD_TEST_DEADLINE";

/// Lines in the command that it asks about.
const LINES: &str = "SHWARD_TEST_LINES";

/// Not a test by itself: asks, and prints the answer.
#[test]
fn question_of_another_process() {
    let Ok(deadline) = std::env::var(DEADLINE) else { return };
    let lines = std::env::var(LINES).map_or(1, |n| n.parse().unwrap());
    // What is typed while this sleeps is typed before the question.
    thread::sleep(Duration::from_millis(300));
    let command = "rm -rf x\n".repeat(lines);
    let question = Question {
        command: &command,
        cwd: "/work",
        tier: 3,
        explanation: "EXPLAINED",
        ..Question::default()
    };
    let terminal = Terminal::default().deadline(Duration::from_millis(deadline.parse().unwrap()));
    println!("\nRESULT {:?}", terminal.ask(&question));
}

fn this(before: &str) -> String {
    let this = std::env::current_exe().unwrap();
    format!("{before}{} --exact question_of_another_process --nocapture", this.display())
}

/// Runs the question at a terminal where somebody types these keys after so many milliseconds.
fn at_terminal(before: &str, deadline: u64, lines: usize, keys: &[(u64, &str)]) -> String {
    let mut child = Command::new("script")
        .args(["-qec", &this(before), "/dev/null"])
        .env(DEADLINE, deadline.to_string())
        .env(LINES, lines.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let keys: Vec<(u64, String)> = keys.iter().map(|(at, text)| (*at, (*text).to_owned())).collect();
    let typist = thread::spawn(move || {
        for (at, text) in keys {
            thread::sleep(Duration::from_millis(at));
            let _ = stdin.write_all(text.as_bytes());
        }
        // The terminal stays open while the question does.
        thread::sleep(Duration::from_millis(deadline + 1500));
    });
    let output = String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned();
    drop(typist);
    output
}

fn result(output: &str) -> &str {
    output.split_once("RESULT ").unwrap_or_else(|| panic!("{output}")).1.lines().next().unwrap().trim()
}

#[test]
fn yes_no_and_explain() {
    let table: [(&[(u64, &str)], &str); 6] = [
        (&[(2500, "y\n")], "Ok(Yes)"),
        (&[(2500, "n\n")], "Ok(No)"),
        (&[(2500, "e\n"), (300, "y\n")], "Ok(Yes)"),
        (&[(2500, "maybe\n"), (300, "\n"), (300, "yes\n")], "Ok(Yes)"),
        (&[(2500, "\u{4}")], "Ok(No)"),
        (&[(2500, "a\nb\nc\nd\ne\nf\ny\n")], "Ok(No)"),
    ];
    thread::scope(|scope| {
        for (keys, expected) in table {
            scope.spawn(move || {
                let output = at_terminal("", 20_000, 1, keys);
                assert_eq!(result(&output), expected, "{keys:?}: {output}");
                assert!(output.contains("rm -rf x") && output.contains("/work"));
                assert_eq!(
                    output.contains("EXPLAINED"),
                    keys[0].1.contains('e') && !keys[0].1.contains("maybe"),
                    "{keys:?}"
                );
            });
        }
    });
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let output = at_terminal("", 1500, 1, &[(0, "y\ny\ny\n")]);
    assert_eq!(result(&output), "Err(Late(1.5s))", "{output}");
}

#[test]
fn nobody_answers_in_time() {
    let start = Instant::now();
    let output = at_terminal("", 600, 1, &[]);
    assert_eq!(result(&output), "Err(Late(600ms))", "{output}");
    assert!(output.contains("Nobody answered: not run."));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_long_command_has_to_be_looked_at_first() {
    let output = at_terminal("", 20_000, 100, &[(2500, "y\n"), (300, "e\n"), (300, "y\n")]);
    assert_eq!(result(&output), "Ok(Yes)");
    assert!(output.contains("60 more lines") && output.contains("Look at all of it first"));
    let output = at_terminal(
        "",
        20_000,
        100,
        &[(2500, "y\n"), (200, "y\n"), (200, "y\n"), (200, "y\n"), (200, "y\n")],
    );
    assert_eq!(result(&output), "Ok(No)");
}

#[test]
fn a_job_in_the_background_is_not_stopped_but_told() {
    let script = this("");
    let output = Command::new("script")
        .args(["-qec", &format!("bash -mc '{script} & wait'"), "/dev/null"])
        .env(DEADLINE, "5000")
        .stdin(Stdio::piped())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(result(&output), "Err(Background)", "{output}");
}

#[test]
fn without_a_terminal_standard_input_is_no_person() {
    let mut child = Command::new("setsid")
        .args(["-w", "bash", "-c", &this("exec ")])
        .env(DEADLINE, "5000")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(b"y\ny\ny\n");
    let output = String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned();
    assert_eq!(result(&output), "Err(NoTerminal)", "{output}");
}
