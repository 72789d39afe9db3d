//! Tool calls end to end: arguments as a model writes them, and the message that it gets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;

use serde_json::Value;
use shward::policy::{Layer, Source};
use shward::{Firewall, Policy, Request, RunOptions, Tool, ToolCall};
use std::fs;

fn answer(policy: Policy, arguments: &str) -> Option<Value> {
    if !common::sandboxed() {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let workspace = home.join("project");
    fs::create_dir_all(workspace.join("sub")).unwrap();
    std::os::unix::fs::symlink("/etc", workspace.join("out")).unwrap();
    let base = Request::command("", &workspace, &home);
    let call = ToolCall { id: "call_1", arguments };
    let message = Firewall::new(policy).handle_tool_call(&call, &base, &RunOptions::default());
    assert_eq!((message["role"].as_str(), message["tool_call_id"].as_str()), (Some("tool"), Some("call_1")));
    Some(serde_json::from_str(message["content"].as_str().unwrap()).unwrap())
}

#[test]
fn a_call_is_answered_whatever_it_is() {
    let table: &[(&str, bool, &str, &str)] = &[
        (r#"{"command":"echo hi","reasoning":"test"}"#, true, "stdout", "hi\n"),
        (r#"{"command":"pwd","working_dir":"sub"}"#, true, "stdout", "/sub\n"),
        (r#"{"command":"exit 3"}"#, false, "exit_code", "3"),
        (r#"{"command":"cat ~/.ssh/id_rsa"}"#, false, "denial_reason", "key"),
        (r#"{"command":"pwd","working_dir":"/etc"}"#, false, "error", "does not lie in the workspace"),
        (r#"{"command":"pwd","working_dir":"sub/../.."}"#, false, "error", "does not lie in the workspace"),
        (r#"{"command":"pwd","working_dir":"out"}"#, false, "error", "does not lie in the workspace"),
        ("not json {", false, "error", "Failed to parse arguments"),
        ("[]", false, "error", "Failed to parse arguments"),
        (r#"{"command":1}"#, false, "error", "Failed to parse arguments"),
        ("{}", false, "error", "`command` is missing"),
        (r#"{"command":""}"#, false, "error", "empty"),
    ];
    for (arguments, success, key, part) in table {
        let Some(content) = answer(Policy::default(), arguments) else { return };
        assert_eq!(content["success"].as_bool(), Some(*success), "{arguments}: {content}");
        let told = content[*key].as_str().map_or_else(|| content[*key].to_string(), str::to_owned);
        assert!(told.contains(part), "{arguments}: {content}");
    }
}

#[test]
fn a_policy_limits_runs_and_their_environment() {
    let policy = |text: &str| {
        let source = Source { layer: Layer::User, name: "test".to_owned(), text: text.to_owned() };
        Policy::from_sources(None, &[source]).unwrap()
    };
    let Some(content) = answer(policy("[limits]\ntimeout = 1"), r#"{"command":"echo a; sleep 30"}"#) else {
        return;
    };
    assert_eq!((content["timed_out"].as_bool(), content["stdout"].as_str()), (Some(true), Some("a\n")));
    let classes =
        "[limits]\ntimeout = 1\n[[timeout]]\nclass = \"long\"\ncommands = \"sleep 2\"\nseconds = 60";
    let content = answer(policy(classes), r#"{"command":"sleep 2"}"#).unwrap();
    assert_eq!((content["timed_out"].as_bool(), content["exit_code"].as_i64()), (Some(false), Some(0)));
    let content = answer(policy(classes), r#"{"command":"sleep 3"}"#).unwrap();
    assert_eq!(content["timed_out"].as_bool(), Some(true));
    let output = "[limits]\nmax-output = 1000\non-output-limit = \"kill\"";
    let content = answer(policy(output), r#"{"command":"echo a; yes"}"#).unwrap();
    assert_eq!(content["output_exceeded"].as_bool(), Some(true), "{content}");
    assert_eq!((content["truncated"].as_bool(), content["signal"].as_i64()), (Some(true), Some(9)));
    assert!(content["stdout"].as_str().unwrap().starts_with("a\ny\n"));
    assert!(content["denial_reason"].as_str().unwrap().contains("output limit"));
    let content = answer(policy("[limits]\nmax-output = 1000"), r#"{"command":"seq 1000"}"#).unwrap();
    assert_eq!((content["output_exceeded"].as_bool(), content["exit_code"].as_i64()), (None, Some(0)));
    let content = answer(policy("[limits]\nmemory = 16777216"), r#"{"command":"ulimit -d"}"#).unwrap();
    assert_eq!(content["stdout"].as_str(), Some("16384\n"));
    let environment = "[environment]\npolicy = \"listed\"\nallow = [\"LD_PRELOAD\"]\nset = { A = \"1\", BASH_ENV = \"/x\" }";
    let content = answer(policy(environment), r#"{"command":"env"}"#).unwrap();
    let names: Vec<&str> = content["stdout"]
        .as_str()
        .unwrap()
        .lines()
        .filter_map(|l| l.split('=').next())
        .filter(|n| !["PWD", "SHLVL", "_", "OLDPWD"].contains(n))
        .collect();
    assert_eq!(names, ["A"]);
}

#[test]
fn the_tool_has_a_schema_and_can_be_renamed() {
    let schema = Tool::named("bash", "Runs commands.").schema();
    assert_eq!(schema["function"]["name"], "bash");
    assert_eq!(schema["function"]["parameters"]["required"][0], "command");
}
