//! Runs under way: cancelled by the id of their call, and read as they go.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a panic is how a test fails")]

mod common;

use shward::{Decision, Firewall, OutputStream, Policy, Request, RunEvent, RunOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A firewall and a request for a command as call `call`; `None` where the kernel gives no sandbox.
fn place(command: &str) -> Option<(tempfile::TempDir, Arc<Firewall>, Request)> {
    if !common::sandboxed() {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let workspace = home.join("project");
    std::fs::create_dir_all(&workspace).unwrap();
    let mut request = Request::command(command, workspace, home);
    request.call_id = Some("call".to_owned());
    Some((dir, Arc::new(Firewall::new(Policy::default())), request))
}

#[test]
fn output_comes_as_it_is_written_and_the_outcome_last() {
    let Some((_dir, firewall, request)) = place("echo one; echo two >&2; exit 3") else { return };
    let mut events: Vec<RunEvent> = firewall.stream(request, RunOptions::default()).collect();
    let Some(RunEvent::End(end)) = events.pop() else { panic!("the outcome is last") };
    assert_eq!(end.unwrap().ending.unwrap().exit_code, Some(3));
    let text = |wanted| -> Vec<u8> {
        let pieces = events.iter().filter_map(|event| match event {
            RunEvent::Output(stream, bytes) if *stream == wanted => Some(bytes.clone()),
            _ => None,
        });
        pieces.flatten().collect()
    };
    assert_eq!(
        (text(OutputStream::Stdout), text(OutputStream::Stderr)),
        (b"one\n".to_vec(), b"two\n".to_vec())
    );
}

#[test]
fn a_call_is_cancelled_by_its_id() {
    let Some((_dir, firewall, request)) = place("echo begun; sleep 300 & sleep 300") else { return };
    let begun = Instant::now();
    let mut events = firewall.stream(request, RunOptions::default());
    let Some(RunEvent::Output(_, first)) = events.next() else { panic!("it has begun") };
    assert_eq!(first, b"begun\n");
    assert_eq!((firewall.cancel("another"), firewall.cancel("call")), (0, 1));
    let Some(RunEvent::End(end)) = events.next() else { panic!("it has ended") };
    assert!(end.unwrap().ending.unwrap().cancelled);
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert!(events.next().is_none());
    assert_eq!(firewall.cancel("call"), 0, "what is over is on no list");
}

#[test]
fn a_run_that_nobody_reads_ends() {
    let Some((_dir, firewall, request)) = place("yes") else { return };
    let mut events = firewall.stream(request, RunOptions::default());
    assert!(matches!(events.next(), Some(RunEvent::Output(..))));
    drop(events);
    let deadline = Instant::now() + Duration::from_secs(60);
    // The thread of the run holds the firewall until it is over.
    while Arc::strong_count(&firewall) > 1 {
        assert!(Instant::now() < deadline, "it still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_goes_wrong_is_the_last_event() {
    for (command, decision) in [("cat ~/.ssh/id_rsa", Some(Decision::Deny)), ("", None)] {
        let Some((_dir, firewall, request)) = place(command) else { return };
        let events: Vec<RunEvent> = firewall.stream(request, RunOptions::default()).collect();
        let [RunEvent::End(end)] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(end.as_ref().as_ref().ok().map(|outcome| outcome.verdict.decision), decision, "{command}");
    }
}
