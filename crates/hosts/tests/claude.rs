//! Claude Code's wire format: events in, answers out, settings changed and restored.

use serde_json::{Value, json};
use shward_hosts::claude::{self, HOST};
use shward_hosts::{Change, Command, Decision, Question};

#[test]
fn events() {
    let bash = json!({
        "session_id": "s1", "transcript_path": "/t", "cwd": "/w", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "u1",
        "tool_input": {"command": "ls -la", "description": "List files", "timeout": 1000, "run_in_background": false},
        "a_field_of_the_future": [1, 2],
    });
    let command = Command {
        command: "ls -la".into(),
        cwd: Some("/w".into()),
        session: Some("s1".into()),
        call_id: Some("u1".into()),
        reasoning: Some("List files".into()),
        unasked_in: None,
    };
    assert_eq!(claude::question(bash.to_string().as_bytes()), Ok(Question::Command(command.clone())));

    let with = |key: &str, value: Value| {
        let mut event = bash.clone();
        event[key] = value;
        claude::question(event.to_string().as_bytes())
    };
    assert_eq!(with("tool_name", json!("Read")), Ok(Question::NotOurs));
    assert_eq!(with("tool_name", json!("Monitor")), Ok(Question::Command(command.clone())));
    for asking in [json!("default"), json!("acceptEdits"), json!("plan"), json!(null)] {
        assert_eq!(with("permission_mode", asking), Ok(Question::Command(command.clone())));
    }
    for unasked in ["bypassPermissions", "dontAsk", "auto", "", "Default", "a mode of the future"] {
        let command = Command { unasked_in: Some(unasked.into()), ..command.clone() };
        assert_eq!(with("permission_mode", json!(unasked)), Ok(Question::Command(command)));
    }
    assert!(with("permission_mode", json!(["default"])).is_err());
    assert_eq!(with("tool_name", json!("PowerShell")), Ok(Question::OtherShell("PowerShell")));
    assert_eq!(with("hook_event_name", json!("PostToolUse")), Ok(Question::NotOurs));
    assert!(with("tool_input", json!({})).is_err());
    assert!(with("tool_input", json!({"command": 7})).is_err());
    assert!(with("tool_name", json!(7)).is_err());
    let socket = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Monitor", "tool_input": {"ws": "wss://x.example"},
    });
    assert!(claude::question(socket.to_string().as_bytes()).is_err());
    for broken in ["", "{", "[]", "null", "\"x\"", "{\"hook_event_name\":\"PreToolUse\"}"] {
        assert!(claude::question(broken.as_bytes()).is_err(), "{broken}");
    }
    assert!(claude::question(b"\xff\xfe").is_err());
    // A parser that reads on, or takes the first of two, would judge another command than the host runs.
    let text = bash.to_string();
    let twice = text.replace("\"tool_name\":\"Bash\"", "\"tool_name\":\"Read\",\"tool_name\":\"Bash\"");
    assert_ne!(twice, text);
    for broken in [twice, format!("{text}{text}"), format!("\u{feff}{text}"), format!("{text}\0")] {
        assert!(claude::question(broken.as_bytes()).is_err(), "{broken}");
    }
    let lines = text.replace(',', ",\r\n");
    assert!(matches!(claude::question(lines.as_bytes()), Ok(Question::Command(_))));
    let last = text.replace("\"command\":", "\"command\":\"true\",\"command\":");
    assert_eq!(claude::question(last.as_bytes()), claude::question(text.as_bytes()), "the last one counts");
}

#[test]
fn changes_of_files() {
    let event = |tool: &str, input: Value| {
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": tool, "cwd": "/w", "session_id": "s", "tool_use_id": "u",
            "permission_mode": "bypassPermissions", "tool_input": input,
        });
        claude::question(event.to_string().as_bytes())
    };
    for (tool, member) in [
        ("Write", "file_path"),
        ("Edit", "file_path"),
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
    ] {
        let change = Change {
            tool,
            path: "/w/a".into(),
            cwd: Some("/w".into()),
            session: Some("s".into()),
            call_id: Some("u".into()),
        };
        let input = json!({member: "/w/a", "content": "x", "command": "ls"});
        assert_eq!(event(tool, input), Ok(Question::Change(change)), "{tool}");
        for input in [
            json!({}),
            json!({"content": "x"}),
            json!({member: 7}),
            json!({member: null}),
            json!("x"),
            json!([]),
        ] {
            assert!(event(tool, input.clone()).is_err(), "{tool} {input}");
        }
    }
    for other in ["TodoWrite", "Read", "Glob", "Grep", "WebFetch", "Task", "write", "mcp__files__write", ""] {
        assert_eq!(event(other, json!({"file_path": "/w/a"})), Ok(Question::NotOurs), "{other}");
    }
}

#[test]
fn answers_carry_only_fields_the_host_knows() {
    for (decision, word, exit) in
        [(Decision::Allow, "allow", 0), (Decision::Ask, "ask", 0), (Decision::Deny, "deny", 2)]
    {
        let answer = claude::answer(decision, "because \"x\"\n\u{1b}[31m");
        let value: Value = serde_json::from_str(&answer.stdout).unwrap();
        let expected = json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "because \"x\"\n\u{1b}[31m",
        }});
        assert_eq!(value, expected);
        assert_eq!(answer.exit, exit);
        assert_eq!(answer.stderr.is_empty(), exit == 0, "a denial is told on standard error too");
    }
    let silent = claude::no_opinion();
    assert_eq!((silent.stdout.as_str(), silent.exit), ("", 0));
}

#[test]
fn install_and_uninstall_leave_everything_else_alone() {
    let table = [
        json!({}),
        json!({"model": "x", "permissions": {"deny": ["Bash(rm:*)"]}}),
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}),
        json!({"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": "other"}]}]}}),
    ];
    for before in table {
        let mut settings = before.clone();
        assert_eq!(claude::uninstall(&mut settings), Ok(false));
        assert_eq!(settings, before);
        assert_eq!(claude::install(&mut settings, "/usr/local/bin/shward"), Ok(true));
        let installed = settings.clone();
        assert_eq!(
            claude::install(&mut settings, "/usr/local/bin/shward"),
            Ok(false),
            "a second time changes nothing"
        );
        assert_eq!(settings, installed);
        assert_eq!(claude::install(&mut settings, "/opt/shward"), Ok(true), "an older entry is replaced");
        let list = settings["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(list.iter().filter(|e| claude::is_ours(&e["hooks"][0])).count(), 1);
        assert_eq!(claude::uninstall(&mut settings), Ok(true));
        assert_eq!(settings, before);
    }
}

#[test]
fn settings_that_switch_hooks_off_are_told() {
    for (settings, told) in [
        (json!({}), None),
        (json!({"disableAllHooks": false}), None),
        (json!({"disableAllHooks": true}), Some("disableAllHooks")),
    ] {
        assert_eq!(claude::switched_off(&settings), told);
    }
}

#[test]
fn settings_of_another_form_are_left_alone() {
    for before in [json!([]), json!({"hooks": []}), json!({"hooks": {"PreToolUse": {}}}), json!("x")] {
        let mut settings = before.clone();
        assert!(claude::install(&mut settings, "/shward").is_err());
        assert_eq!(settings, before);
    }
}

#[test]
fn hooks_that_share_an_entry_with_ours_stay() {
    let old =
        json!({"type": "command", "command": "/old/shward-0.1", "args": ["hook", HOST, "--profile", "open"]});
    let own = json!({"type": "command", "command": "lint"});
    let new = claude::entry("/new/shward");
    // Its options are the user's: without them it would decide by another policy.
    let mut kept = new.clone();
    kept["hooks"][0]["args"] = old["args"].clone();
    let with = |entries: Value| json!({"hooks": {"PreToolUse": entries}});
    let shared = json!({"matcher": "Bash", "hooks": [old, own]});
    let rest = json!({"matcher": "Bash", "hooks": [own]});
    let alone = json!({"matcher": "Bash|PowerShell|Monitor", "hooks": [old]});
    let other = json!({"matcher": "Read", "hooks": [own]});
    let empty = json!({"matcher": "Read", "hooks": []});
    // Options of a hook of somebody else's are not ours.
    let theirs = json!({"type": "command", "command": "lint", "args": ["x", "y", "--profile", "open"]});
    let foreign = json!({"matcher": "Read", "hooks": [theirs]});
    let current = json!({"matcher": new["matcher"], "hooks": [new["hooks"][0], own]});
    let narrow = json!({"matcher": "Bash", "hooks": [new["hooks"][0]]});
    // (before, after `install`, after `uninstall` of what was before)
    let table = [
        (json!([shared]), json!([rest, kept]), json!([rest])),
        (json!([alone, other]), json!([other, kept]), json!([other])),
        (json!([new, other]), json!([new, other]), json!([other])),
        (json!([new, other, new, alone]), json!([new, other]), json!([other])),
        (
            json!([current, other]),
            json!([current, other]),
            json!([{"matcher": new["matcher"], "hooks": [own]}, other]),
        ),
        (json!([empty, alone]), json!([empty, kept]), json!([empty])),
        (json!([foreign, new]), json!([foreign, new]), json!([foreign])),
        // For fewer tools than are asked about it is not there yet.
        (json!([narrow, other]), json!([other, new]), json!([other])),
    ];
    for (before, installed, uninstalled) in table {
        let mut settings = with(before.clone());
        assert_eq!(claude::install(&mut settings, "/new/shward"), Ok(before != installed));
        assert_eq!(settings, with(installed));
        let mut settings = with(before.clone());
        assert_eq!(claude::uninstall(&mut settings), Ok(true));
        assert_eq!(settings, with(uninstalled));
    }
    for untouched in [json!([]), json!([empty]), json!([rest, other]), json!(["x", {"hooks": "y"}])] {
        let mut settings = with(untouched.clone());
        assert_eq!(claude::uninstall(&mut settings), Ok(false));
        assert_eq!(settings, with(untouched));
    }
}

#[test]
fn other_hooks_are_not_taken_for_ours() {
    let entry = claude::entry("/a/b/shward");
    assert!(claude::is_ours(&entry["hooks"][0]));
    assert_eq!(entry["matcher"], "Bash|PowerShell|Monitor|Write|Edit|MultiEdit|NotebookEdit");
    assert!(claude::is_ours(&json!({"command": "shward-0.2", "args": ["hook", HOST, "--profile", "open"]})));
    for other in [
        json!({"command": "/a/my-shward", "args": ["hook", HOST]}),
        json!({"command": "/shward/tool", "args": ["hook", HOST]}),
        json!({"command": "/a/shward", "args": ["hook", "codex"]}),
        json!({"command": "/a/shward", "args": ["hook"]}),
        json!({"command": "/a/shward", "args": ["audit", HOST]}),
        json!({"command": "/a/shward"}),
        json!({"command": "shward hook claude"}),
        json!({}),
        json!(null),
    ] {
        assert!(!claude::is_ours(&other), "{other}");
    }
}
