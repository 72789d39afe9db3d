//! Calls of a tool as language models make them: JSON arguments in, one JSON message out. Nothing here fails: whatever is
//! wrong becomes the content of the message.

use crate::{Action, Ending, Firewall, Outcome, Request, RunOptions, Shape};
use serde_json::{Value, json};
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
        self.handle_tool_call_as(Shape::Whole, call, base, options)
    }

    /// The same with another content: what one of the systems that profiles stand for would say.
    #[must_use]
    pub fn handle_tool_call_as(
        &self,
        shape: Shape,
        call: &ToolCall<'_>,
        base: &Request,
        options: &RunOptions,
    ) -> Value {
        let content = match request(call, base) {
            Err(error) => shape.of_bad_arguments(&error),
            Ok(request) => self.run_as(shape, &request, options),
        };
        let content = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        json!({ "role": "tool", "tool_call_id": call.id, "content": content })
    }

    fn run_as(&self, shape: Shape, request: &Request, options: &RunOptions) -> Value {
        let mut both = Vec::new();
        let mut keep = |_: Stream, bytes: &[u8]| {
            let room = MAX_BOTH.saturating_sub(both.len());
            both.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        };
        match self.run(request, options, &mut keep) {
            Ok(outcome) => shape.of_outcome(&outcome, request, &both),
            Err(crate::Error::Unrecorded { outcome, error }) => {
                let told = format!("how it ended could not be recorded: {error}");
                match shape.of_outcome(&outcome, request, &both) {
                    Value::Object(mut content) => {
                        content.insert("error".to_owned(), json!(told));
                        Value::Object(content)
                    }
                    Value::String(text) => json!(format!("{text}\n[Error: {told}]")),
                    other => other,
                }
            }
            Err(crate::Error::BadRequest(crate::BadRequest::Empty)) => shape.of_empty(),
            Err(error) => shape.of_error(&error.to_string(), false),
        }
    }
}

/// Most bytes of both streams together that a content holds as they came.
const MAX_BOTH: usize = 1 << 20;

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

impl Outcome {
    /// The outcome as one text for a model: what was written, and the exit code if it is not 0.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Some(ending) = &self.ending else {
            let reasons: Vec<&str> = self.verdict.findings.iter().map(|f| f.message.as_str()).collect();
            return format!("[Error: not run: {}]", reasons.join(" "));
        };
        ending.to_text()
    }
}

impl Ending {
    fn to_text(&self) -> String {
        let mut out = self.stdout.to_text();
        let stderr = self.stderr.to_text();
        if !stderr.is_empty() {
            out.push_str("\n[stderr]:\n");
            out.push_str(&stderr);
        }
        if self.timed_out {
            let seconds = self.timeout.as_secs();
            let _ = write!(out, "\n[Error: Command timed out after {seconds} seconds]");
        } else if self.output_exceeded {
            out.push_str("\n[Error: Command wrote too much and was killed]");
        } else if let Some(used) = self.disk_exceeded {
            let kept = match self.live {
                Some(_) => "was killed, and what it wrote is still there",
                None => "was killed and changed nothing",
            };
            let _ = write!(out, "\n[Error: Command {kept}: {}]", used.message());
        } else if self.out_of_memory && self.exit_code != Some(0) {
            out.push_str("\n[Error: Command used up its memory]");
        } else if let Some(code) = self.exit_code.filter(|code| *code != 0) {
            let _ = write!(out, "\n[Exit code: {code}]");
        } else if let Some(signal) = self.signal {
            let _ = write!(out, "\n[Exit code: -{signal}]");
        }
        if out.is_empty() { "[No output]".to_owned() } else { out }
    }
}

#[cfg(test)]
mod tests {
    use super::Ending;
    use crate::outcome::DiskExceeded;
    use shward_sandbox::{Captured, Exit};
    use std::time::Duration;

    #[test]
    fn what_is_still_there_is_not_said_to_be_gone() {
        let said = |live: Option<&str>| {
            let mut ending =
                Ending::new(Exit::Signaled(9), Duration::ZERO, [(); 2].map(|()| Captured::default()));
            ending.disk_exceeded = Some(DiskExceeded::Reserve);
            ending.live = live.map(str::to_owned);
            ending.to_text()
        };
        assert!(said(None).contains("was killed and changed nothing: the disk"), "{}", said(None));
        let live = said(Some("it was asked for"));
        assert!(
            live.contains("what it wrote is still there: the disk") && !live.contains("nothing"),
            "{live}"
        );
    }
}
