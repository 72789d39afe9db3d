//! Calls of a tool as language models make them: JSON arguments in, one JSON message out. Nothing here fails: whatever is
//! wrong becomes the content of the message.

use crate::{Action, Ending, Firewall, Outcome, Request, RunOptions};
use serde_json::{Value, json};
use shward_policy::Decision;
use shward_sandbox::Stream;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// How the tool is presented to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
}

impl Default for Tool {
    fn default() -> Self {
        Self {
            name: "execute_command".to_owned(),
            description: "Runs a shell command in a sandbox, if the policy allows it. A refusal says why, and what to do \
                          instead; do not repeat a refused command."
                .to_owned(),
        }
    }
}

impl Tool {
    /// With another name and description.
    #[must_use]
    pub fn named(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into() }
    }

    /// The tool's definition in the form of the OpenAI-compatible chat protocol.
    #[must_use]
    pub fn schema(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {
                        "command": { "type": "string", "description": "The command, as a shell reads it." },
                        "reasoning": { "type": "string", "description": "What the command is for; whoever is asked reads it." },
                        "working_dir": { "type": "string", "description": "The directory to start in, in the workspace." }
                    },
                    "required": ["command"],
                    "additionalProperties": false
                }
            }
        })
    }
}

/// A call of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// Its id, which the answer repeats.
    pub id: &'a str,
    /// The arguments: a JSON object as text, as the model wrote it.
    pub arguments: &'a str,
}

impl Firewall {
    /// Judges and runs what a tool call asks for, and answers in the form of the chat protocol:
    /// `{"role":"tool","tool_call_id":…,"content":…}`, the content being a JSON object as text with `success`, `stdout`,
    /// `stderr`, `denial_reason` and the rest of the [`Outcome`]. `base` says where: its action is replaced.
    #[must_use]
    pub fn handle_tool_call(&self, call: &ToolCall<'_>, base: &Request, options: &RunOptions) -> Value {
        let content = match request(call, base) {
            Err(error) => json!({ "success": false, "error": error, "executed": false }),
            Ok(request) => match self.run(&request, options, &mut |_: Stream, _: &[u8]| {}) {
                Ok(outcome) => content(&outcome),
                Err(crate::Error::Unrecorded { outcome, error }) => {
                    let mut content = content(&outcome);
                    if let Some(object) = content.as_object_mut() {
                        object.insert(
                            "error".to_owned(),
                            json!(format!("how it ended could not be recorded: {error}")),
                        );
                    }
                    content
                }
                Err(error) => json!({ "success": false, "error": error.to_string(), "executed": false }),
            },
        };
        json!({ "role": "tool", "tool_call_id": call.id, "content": content.to_string() })
    }
}

/// The request that a call makes.
fn request(call: &ToolCall<'_>, base: &Request) -> Result<Request, String> {
    let arguments: Value =
        serde_json::from_str(call.arguments).map_err(|e| format!("Failed to parse arguments: {e}"))?;
    let arguments = arguments.as_object().ok_or("Failed to parse arguments: they are not a JSON object")?;
    let text = |name: &str| match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("Failed to parse arguments: `{name}` is not a text")),
    };
    let command = text("command")?.ok_or("Failed to parse arguments: `command` is missing")?;
    let mut request = base.clone();
    request.action = Action::Command(command);
    request.call_id = Some(call.id.to_owned());
    request.reasoning = text("reasoning")?;
    if let Some(directory) = text("working_dir")? {
        request.cwd = inside(&directory, &base.cwd, &base.workspace)?;
    }
    Ok(request)
}

/// The directory that a model names, if it lies in the workspace with every link resolved.
fn inside(directory: &str, cwd: &Path, workspace: &Path) -> Result<PathBuf, String> {
    let path = cwd.join(directory);
    let outside =
        || format!("The directory {directory:?} does not lie in the workspace. Start in one that does.");
    if path.components().any(|c| c == Component::ParentDir) {
        return Err(outside());
    }
    let real = |path: &Path| path.canonicalize().map_err(|e| format!("The directory {directory:?}: {e}"));
    let (path, workspace) = (real(&path)?, real(workspace)?);
    if path.starts_with(&workspace) { Ok(path) } else { Err(outside()) }
}

/// Why it was killed, for a model.
fn killed(ending: &Ending) -> Option<&'static str> {
    match ending {
        e if e.timed_out => Some("Command exceeded its timeout."),
        e if e.output_exceeded => Some("Command exceeded its output limit."),
        _ => None,
    }
}

fn content(outcome: &Outcome) -> Value {
    let mut content = serde_json::to_value(outcome).unwrap_or_else(|e| json!({ "error": e.to_string() }));
    let ended = outcome.ending.as_ref();
    let success = ended.is_some_and(|e| e.exit_code == Some(0) && !e.timed_out && !e.cancelled);
    let reasons: Vec<&str> = outcome
        .findings
        .iter()
        .filter(|f| f.decision > Decision::Allow)
        .map(|f| f.message.as_str())
        .collect();
    let denial = if outcome.executed { Value::Null } else { json!(reasons.join(" ")) };
    let killed = ended.and_then(killed);
    if let Some(object) = content.as_object_mut() {
        object.insert("success".to_owned(), json!(success));
        object.insert("denial_reason".to_owned(), killed.map_or(denial, |why| json!(why)));
        for stream in ["stdout", "stderr"] {
            object.entry(stream).or_insert_with(|| json!(""));
        }
    }
    content
}

impl Outcome {
    /// The outcome as one text for a model: what was written, and the exit code if it is not 0.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Some(ending) = &self.ending else {
            let reasons: Vec<&str> = self.findings.iter().map(|f| f.message.as_str()).collect();
            return format!("[Error: not run: {}]", reasons.join(" "));
        };
        let mut out = ending.stdout.to_text();
        let stderr = ending.stderr.to_text();
        if !stderr.is_empty() {
            out.push_str("\n[stderr]:\n");
            out.push_str(&stderr);
        }
        if ending.timed_out {
            out.push_str("\n[Error: Command timed out]");
        } else if ending.output_exceeded {
            out.push_str("\n[Error: Command wrote too much and was killed]");
        } else if let Some(code) = ending.exit_code.filter(|code| *code != 0) {
            let _ = write!(out, "\n[Exit code: {code}]");
        } else if let Some(signal) = ending.signal {
            let _ = write!(out, "\n[Signal: {signal}]");
        }
        if out.is_empty() { "[No output]".to_owned() } else { out }
    }
}
