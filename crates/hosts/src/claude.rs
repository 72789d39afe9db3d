//! Claude Code: the `PreToolUse` hook event and its answer.
//!
//! Source: the hooks reference of Claude Code. A denial is told twice, as JSON and as exit code 2 with the reason on
//! standard error, because a host that drops the one still honours the other. No field is emitted that the host does not
//! know: it would reject the whole answer, and then run the command.

use crate::{Answer, Command, Decision, Question, WireError};
use serde::{Deserialize, Serialize};

/// The name on the command line.
pub const HOST: &str = "claude";

#[derive(Deserialize)]
struct Event {
    hook_event_name: String,
    tool_name: String,
    #[serde(default)]
    tool_input: serde_json::Value,
    cwd: Option<String>,
    session_id: Option<String>,
    tool_use_id: Option<String>,
}

#[derive(Serialize)]
struct Output<'a> {
    #[serde(rename = "hookSpecificOutput")]
    specific: Specific<'a>,
}

#[derive(Serialize)]
struct Specific<'a> {
    #[serde(rename = "hookEventName")]
    event: &'static str,
    #[serde(rename = "permissionDecision")]
    decision: &'static str,
    #[serde(rename = "permissionDecisionReason")]
    reason: &'a str,
}

/// Reads an event.
///
/// # Errors
/// It is not a `PreToolUse` event for a tool, or a shell call without a command.
pub fn question(event: &[u8]) -> Result<Question, WireError> {
    let malformed = |detail: String| WireError::Malformed { host: HOST, detail };
    let event: Event = serde_json::from_slice(event).map_err(|e| malformed(e.to_string()))?;
    if event.hook_event_name != "PreToolUse" || event.tool_name != "Bash" {
        return Ok(Question::NotOurs);
    }
    let text = |key: &str| event.tool_input.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    let command =
        text("command").ok_or_else(|| malformed("tool_input.command is missing or not text".to_owned()))?;
    Ok(Question::Command(Command {
        command,
        cwd: event.cwd,
        session: event.session_id,
        call_id: event.tool_use_id,
        reasoning: text("description"),
    }))
}

/// Says a decision in the host's words.
#[must_use]
pub fn answer(decision: Decision, reason: &str) -> Answer {
    let word = match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    };
    let output = Output { specific: Specific { event: "PreToolUse", decision: word, reason } };
    match serde_json::to_string(&output) {
        Ok(mut stdout) => {
            stdout.push('\n');
            let denied = decision == Decision::Deny;
            let stderr = if denied { format!("{reason}\n") } else { String::new() };
            Answer { stdout, stderr, exit: if denied { 2 } else { 0 } }
        }
        Err(e) => Answer { stdout: String::new(), stderr: format!("shward: {e}\n"), exit: 2 },
    }
}

/// No opinion: the host goes on as if it had not asked.
#[must_use]
pub fn no_opinion() -> Answer {
    Answer { stdout: String::new(), stderr: String::new(), exit: 0 }
}

/// The hook entry that `install` writes: the exec form, so that no shell stands between the host and shward, and a
/// failure to start blocks. `timeout` is in seconds.
#[must_use]
pub fn entry(binary: &str) -> serde_json::Value {
    serde_json::json!({
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": binary, "args": ["hook", HOST], "timeout": 30, "onFailure": "block" }],
    })
}

/// Whether a `PreToolUse` entry is one that [`entry`] wrote, for whatever path of the binary.
#[must_use]
pub fn is_ours(entry: &serde_json::Value) -> bool {
    let hooks = entry.get("hooks").and_then(|h| h.as_array());
    hooks.is_some_and(|hooks| {
        hooks.iter().any(|hook| {
            let command = hook.get("command").and_then(|c| c.as_str()).unwrap_or("");
            let name = command.rsplit('/').next().unwrap_or(command);
            name == "shward" && hook.get("args") == Some(&serde_json::json!(["hook", HOST]))
        })
    })
}

/// Adds the hook to the host's settings, replacing an older entry of ours. Returns whether anything changed.
///
/// # Errors
/// The settings have another form than the host documents; they are then left alone.
pub fn install(settings: &mut serde_json::Value, binary: &str) -> Result<bool, WireError> {
    let before = settings.clone();
    let list = pre_tool_use(settings)?;
    list.retain(|e| !is_ours(e));
    list.push(entry(binary));
    Ok(*settings != before)
}

/// Removes the hook from the host's settings, with the containers that are empty then. Returns whether anything changed.
///
/// # Errors
/// The settings have another form than the host documents; they are then left alone.
pub fn uninstall(settings: &mut serde_json::Value) -> Result<bool, WireError> {
    if settings.pointer("/hooks/PreToolUse").is_none() {
        return Ok(false);
    }
    let list = pre_tool_use(settings)?;
    let count = list.len();
    list.retain(|e| !is_ours(e));
    let (changed, empty) = (list.len() != count, list.is_empty());
    if let (true, Some(hooks)) = (empty, settings.get_mut("hooks").and_then(|h| h.as_object_mut())) {
        hooks.remove("PreToolUse");
        if hooks.is_empty()
            && let Some(top) = settings.as_object_mut()
        {
            top.remove("hooks");
        }
    }
    Ok(changed)
}

fn pre_tool_use(settings: &mut serde_json::Value) -> Result<&mut Vec<serde_json::Value>, WireError> {
    let malformed = |detail: &str| WireError::Malformed { host: HOST, detail: detail.to_owned() };
    settings
        .as_object_mut()
        .ok_or_else(|| malformed("the settings are not a JSON object"))?
        .entry("hooks")
        .or_insert_with(|| serde_json::json!({}))
        .as_object_mut()
        .ok_or_else(|| malformed("`hooks` is not a JSON object"))?
        .entry("PreToolUse")
        .or_insert_with(|| serde_json::json!([]))
        .as_array_mut()
        .ok_or_else(|| malformed("`hooks.PreToolUse` is not a list"))
}
