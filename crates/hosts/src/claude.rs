//! Claude Code: the `PreToolUse` hook event and its answer.
//!
//! Source: the hooks reference of Claude Code. A denial is told twice, as JSON and as exit code 2 with the reason on
//! standard error, because a host that drops the one still honours the other. No field is emitted that the host does not
//! know: it would reject the whole answer, and then run the command.

use crate::{Answer, Change, Command, Decision, Question, WireError};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;

/// The name on the command line.
pub const HOST: &str = "claude";

/// The tool that runs PowerShell commands: a shell as Bash is, which would be a way around shward if it were not asked.
const POWERSHELL: &str = "PowerShell";

/// The tool that runs a command beside the conversation and reports each line that it prints (since 2.1.98). Its command is
/// one of Bash.
const MONITOR: &str = "Monitor";

/// The tools that change a file, and the member of their input that names it. They could take the hook out of the settings, or
/// put a command where something runs it later.
const WRITERS: [(&str, Named); 4] = [
    ("Write", Named::File),
    ("Edit", Named::File),
    ("MultiEdit", Named::File),
    ("NotebookEdit", Named::Notebook),
];

/// The tools that shward is asked about. A matcher is a regular expression over tool names.
const MATCHER: &str = "Bash|PowerShell|Monitor|Write|Edit|MultiEdit|NotebookEdit";

/// The modes in which a person is asked what a hook wants to be asked. In others the host has been seen to run it (issues 51255,
/// 53824, 77212 and 82518 of its repository), and in those to come nobody knows.
const ASKING: [&str; 3] = ["default", "acceptEdits", "plan"];

/// What `install` rests on: a hook's own arguments (2.1.139), and that a hook which cannot be started blocks (2.1.295). An
/// older host takes the one for a program without arguments and lets commands run where the other fails.
pub const OLDEST: &str = "2.1.295";

#[derive(Deserialize)]
struct Event {
    hook_event_name: String,
    tool_name: String,
    #[serde(default)]
    tool_input: Input,
    cwd: Option<String>,
    session_id: Option<String>,
    tool_use_id: Option<String>,
    permission_mode: Option<String>,
}

/// What a tool is given, as far as it is of interest. Of other tools it may be anything.
#[derive(Default)]
struct Input {
    command: Option<String>,
    description: Option<String>,
    file: Option<String>,
    notebook: Option<String>,
}

#[derive(Clone, Copy)]
enum Named {
    File,
    Notebook,
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InputVisitor)
    }
}

struct InputVisitor;

impl<'de> Visitor<'de> for InputVisitor {
    type Value = Input;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the input of a tool")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Input, A::Error> {
        let mut input = Input::default();
        // Of a key that comes twice the last counts, as hosts read it.
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            match &*key {
                "command" => input.command = text(map.next_value()?),
                "description" => input.description = text(map.next_value()?),
                "file_path" => input.file = text(map.next_value()?),
                "notebook_path" => input.notebook = text(map.next_value()?),
                _ => drop(map.next_value::<Value>()?),
            }
        }
        Ok(input)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Input, A::Error> {
        while list.next_element::<Value>()?.is_some() {}
        Ok(Input::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Input, E> {
        Ok(Input::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Input, E> {
        Ok(Input::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Input, E> {
        Ok(Input::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Input, E> {
        Ok(Input::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Input, E> {
        Ok(Input::default())
    }

    fn visit_unit<E>(self) -> Result<Input, E> {
        Ok(Input::default())
    }
}

fn text(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
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
/// It is not a `PreToolUse` event for a tool, or a shell call without a command, or a change of a file that is not named: a
/// monitor may watch something else, which nobody would judge.
pub fn question(event: &[u8]) -> Result<Question, WireError> {
    let malformed = |detail: String| WireError::Malformed { host: HOST, detail };
    let event: Event = serde_json::from_slice(event).map_err(|e| malformed(e.to_string()))?;
    let Input { command, description, file, notebook } = event.tool_input;
    let tool = match (event.hook_event_name.as_str(), event.tool_name.as_str()) {
        ("PreToolUse", "Bash" | MONITOR) => None,
        ("PreToolUse", POWERSHELL) => return Ok(Question::OtherShell(POWERSHELL)),
        ("PreToolUse", name) => match WRITERS.into_iter().find(|(writer, _)| *writer == name) {
            Some(writer) => Some(writer),
            None => return Ok(Question::NotOurs),
        },
        _ => return Ok(Question::NotOurs),
    };
    if let Some((tool, named)) = tool {
        let (path, member) = match named {
            Named::File => (file, "file_path"),
            Named::Notebook => (notebook, "notebook_path"),
        };
        let path = path.ok_or_else(|| malformed(format!("tool_input.{member} is missing or not text")))?;
        let change =
            Change { tool, path, cwd: event.cwd, session: event.session_id, call_id: event.tool_use_id };
        return Ok(Question::Change(change));
    }
    let command = command.ok_or_else(|| malformed("tool_input.command is missing or not text".to_owned()))?;
    let mode = event.permission_mode.filter(|mode| !ASKING.contains(&mode.as_str()));
    Ok(Question::Command(Command {
        command,
        cwd: event.cwd,
        session: event.session_id,
        call_id: event.tool_use_id,
        reasoning: description,
        unasked_in: mode,
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
pub fn entry(binary: &str) -> Value {
    entry_of(&hook(binary, &[]))
}

fn entry_of(hook: &Value) -> Value {
    json!({ "matcher": MATCHER, "hooks": [hook] })
}

fn hook(binary: &str, options: &[Value]) -> Value {
    let args: Vec<Value> = [json!("hook"), json!(HOST)].into_iter().chain(options.iter().cloned()).collect();
    json!({ "type": "command", "command": binary, "args": args, "timeout": 30, "onFailure": "block" })
}

/// The options that the user has given to the hook: without `--profile strict` it would decide otherwise.
fn options(list: &[Value]) -> Vec<Value> {
    let ours = list.iter().flat_map(hooks_of).find(|hook| is_ours(hook));
    let args = ours.and_then(|hook| hook.get("args")).and_then(Value::as_array);
    args.map(|args| args.iter().skip(2).cloned().collect()).unwrap_or_default()
}

/// Whether a hook of an entry's `hooks` list is one that [`entry`] wrote, for whatever path and version of the binary
/// and whatever options the user gave it.
#[must_use]
pub fn is_ours(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or("");
    let name = command.rsplit('/').next().unwrap_or(command);
    let args = hook.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    name.starts_with("shward") && matches!(args, [verb, host, ..] if verb == "hook" && host == HOST)
}

/// Adds the hook to the host's settings, replacing an older one of ours, of which it keeps the options. Where it is already, it
/// stays in its place.
/// Returns whether anything changed.
///
/// # Errors
/// The settings have another form than the host documents; they are then left alone.
pub fn install(settings: &mut Value, binary: &str) -> Result<bool, WireError> {
    let before = settings.clone();
    let list = pre_tool_use(settings)?;
    let wanted = hook(binary, &options(list));
    let mut present = false;
    list.retain_mut(|entry| {
        if !present && entry.get("matcher").is_some_and(|m| m == MATCHER) && hooks_of(entry).contains(&wanted)
        {
            present = true;
            return true;
        }
        without_ours(entry)
    });
    if !present {
        list.push(entry_of(&wanted));
    }
    Ok(*settings != before)
}

/// What in the settings keeps the hook from being asked.
#[must_use]
pub fn switched_off(settings: &Value) -> Option<&'static str> {
    settings.get("disableAllHooks").is_some_and(|value| *value == true).then_some("disableAllHooks")
}

/// Removes the hook from the host's settings, with the containers that are empty then. Returns whether anything changed.
///
/// # Errors
/// The settings have another form than the host documents; they are then left alone.
pub fn uninstall(settings: &mut Value) -> Result<bool, WireError> {
    if settings.pointer("/hooks/PreToolUse").is_none() {
        return Ok(false);
    }
    let list = pre_tool_use(settings)?;
    if !list.iter().flat_map(hooks_of).any(is_ours) {
        return Ok(false);
    }
    list.retain_mut(without_ours);
    let empty = list.is_empty();
    if let (true, Some(hooks)) = (empty, settings.get_mut("hooks").and_then(Value::as_object_mut)) {
        hooks.shift_remove("PreToolUse");
        if hooks.is_empty()
            && let Some(top) = settings.as_object_mut()
        {
            top.shift_remove("hooks");
        }
    }
    Ok(true)
}

/// The hooks of an entry; none where it has another form.
fn hooks_of(entry: &Value) -> &[Value] {
    entry.get("hooks").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Takes our hooks out of an entry and leaves the user's own. Returns whether anything of the entry is left.
fn without_ours(entry: &mut Value) -> bool {
    let Some(hooks) = entry.get_mut("hooks").and_then(Value::as_array_mut) else { return true };
    let count = hooks.len();
    hooks.retain(|hook| !is_ours(hook));
    hooks.len() == count || !hooks.is_empty()
}

fn pre_tool_use(settings: &mut Value) -> Result<&mut Vec<Value>, WireError> {
    let malformed = |detail: &str| WireError::BadSettings { host: HOST, detail: detail.to_owned() };
    settings
        .as_object_mut()
        .ok_or_else(|| malformed("the settings are not a JSON object"))?
        .entry("hooks")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .ok_or_else(|| malformed("`hooks` is not a JSON object"))?
        .entry("PreToolUse")
        .or_insert_with(|| json!([]))
        .as_array_mut()
        .ok_or_else(|| malformed("`hooks.PreToolUse` is not a list"))
}
