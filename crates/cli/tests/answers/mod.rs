//! Running the binary with something to read, and what it answered.

use crate::place::Place;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

impl Place {
    pub(crate) fn shward(&self, args: &[&str], input: &[u8]) -> Output {
        feed(self.command(args), input)
    }
}

pub(crate) fn feed(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The child may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// A call of Bash in Claude Code, in the directory `cwd`.
pub(crate) fn event_in(command: &str, cwd: &str) -> Vec<u8> {
    json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s", "cwd": cwd, "tool_input": {"command": command}})
        .to_string()
        .into_bytes()
}
