//! Tool calls answered in the forms of the systems that profiles stand for, word for word.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;

use serde_json::{Value, json};
use shward::policy::{Layer, Source};
use shward::reviewing::{Answer, Case, Gatekeeper, GatekeeperError, Limiter, Opinion, StateDir};
use shward::{
    Action, Containment, Firewall, Policy, Request, Reviewers, RunOptions, Shape, ToolCall, rate_limits,
};
use std::fs;
use std::path::{Path, PathBuf};

struct Place {
    _directory: tempfile::TempDir,
    home: PathBuf,
}

/// What a gatekeeper says to everything; `None` is that it fails.
#[derive(Debug)]
struct Says(Option<Answer>);

impl Gatekeeper for Says {
    fn name(&self) -> &'static str {
        "says"
    }

    fn evaluate(&self, _: &Case<'_>) -> Result<Opinion, GatekeeperError> {
        let answer = self.0.ok_or_else(|| GatekeeperError::Unreachable("it is away".to_owned()))?;
        Ok(Opinion {
            answer,
            explanation: "Too dangerous".to_owned(),
            suggested_alternative: Some("ls".to_owned()),
            required_clarification: None,
        })
    }
}

impl Place {
    fn new() -> Option<Self> {
        Self::below(&std::env::temp_dir())
    }

    fn below(directory: &Path) -> Option<Self> {
        if !common::sandboxed() {
            return None;
        }
        let directory = tempfile::tempdir_in(directory).unwrap();
        let home = directory.path().canonicalize().unwrap().join("home");
        fs::create_dir_all(home.join("project")).unwrap();
        Some(Self { _directory: directory, home })
    }

    fn base(&self) -> Request {
        Request::command("", self.home.join("project"), &self.home)
    }

    fn content(&self, firewall: &Firewall, shape: Shape, arguments: &str) -> Value {
        let call = ToolCall { id: "call_123", arguments };
        let message = firewall.handle_tool_call_as(shape, &call, &self.base(), &RunOptions::default());
        assert_eq!(message["role"], "tool");
        assert_eq!(message["tool_call_id"], "call_123");
        let content = message["content"].as_str().unwrap();
        match shape {
            Shape::Text => json!(content),
            _ => serde_json::from_str(content).unwrap(),
        }
    }
}

fn policy(text: &str) -> Policy {
    let source = Source { layer: Layer::User, name: "test".to_owned(), text: text.to_owned() };
    Policy::from_sources(None, &[source]).unwrap()
}

/// A command with a reason.
fn call(command: &str) -> String {
    json!({ "command": command, "reasoning": "test" }).to_string()
}

const TIERS: &str = "extends = 'tiers'\n[programs]\ndeny = 'echo'\nallow = ['sleep', 'seq']\n[paths]\n\
                     allow = ['$WORKSPACE', '/usr', '/bin']\n[limits]\ntimeout = 1\nmax-output = 100\n";

#[test]
fn tiers_answer_as_cmdwall_does() {
    let Some(place) = Place::new() else { return };
    // What the gatekeeper says, the arguments, and: success, stdout, stderr, denial_reason.
    type Row<'a> = (Option<Says>, &'a str, bool, &'a str, &'a str, Option<&'a str>);
    let challenge = "Clarification needed: Too dangerous";
    let (pip, cat, nc) = (call("pip install requests"), call("cat /etc/passwd"), call("echo hello"));
    let (mkfs, pwd, slow) =
        (call("mkfs /dev/sda"), call("pwd -P | tr -d 'a-z/._A-Z0-9\\n'"), call("sleep 10"));
    let silent = json!({ "command": "pip install requests" }).to_string();
    let table: &[Row<'_>] = &[
        (
            None,
            &cat,
            false,
            "",
            "CMDWall Blocked: Path access denied: /etc/passwd",
            Some("Sandbox Violation: Path access denied: /etc/passwd"),
        ),
        (
            None,
            &nc,
            false,
            "",
            "CMDWall Blocked: Command type 'echo' matches blocklist pattern: echo",
            Some("Config Blocked: Command type 'echo' matches blocklist pattern: echo"),
        ),
        (
            None,
            &pip,
            false,
            "",
            "",
            Some("Configuration Error: No gatekeeper configured for high-risk command"),
        ),
        (Some(Says(Some(Answer::Deny))), &pip, false, "", "", Some("Too dangerous")),
        (Some(Says(Some(Answer::Challenge))), &pip, false, "", "", Some(challenge)),
        (
            Some(Says(Some(Answer::Allow))),
            &silent,
            false,
            "",
            "",
            Some("Command 'pip' is classified as level 2 but no reasoning was provided."),
        ),
        (None, &pwd, true, "", "", None),
        (
            None,
            &slow,
            false,
            "",
            "Execution timed out after 1 seconds.\nCommand was terminated to prevent hanging.",
            Some("Command exceeded timeout of 1s"),
        ),
    ];
    for (says, arguments, success, stdout, stderr, denial) in table {
        let mut firewall = Firewall::new(policy(TIERS));
        if let Some(Says(answer)) = says {
            firewall = firewall.with_reviewers(Reviewers::new().gatekeeper(Says(*answer)));
        }
        let expected =
            json!({ "success": success, "stdout": stdout, "stderr": stderr, "denial_reason": denial });
        assert_eq!(place.content(&firewall, Shape::Tiers, arguments), expected, "{arguments}");
    }
    let firewall = Firewall::new(policy(TIERS));
    // Outside the places comes first, as there; so the device is no place of this policy.
    let anywhere = Firewall::new(Policy::of_profile("tiers").unwrap());
    let blocked = place.content(&anywhere, Shape::Tiers, &mkfs);
    assert_eq!(blocked["denial_reason"], "Blocked Pattern: Command matches blocked pattern");
    assert!(blocked["stderr"].as_str().unwrap().starts_with("CMDWall Blocked: "), "{blocked}");
    let failing = Firewall::new(policy(TIERS)).with_reviewers(Reviewers::new().gatekeeper(Says(None)));
    let failed = place.content(&failing, Shape::Tiers, &pip);
    assert!(failed["denial_reason"].as_str().unwrap().starts_with("Gatekeeper error: "), "{failed}");
    let long = place.content(&firewall, Shape::Tiers, &call("seq 1000"));
    assert!(long["stdout"].as_str().unwrap().ends_with("\n... [TRUNCATED]"), "{long}");
    for bad in ["not json {", "[]", "{\"command\":1}", "{}"] {
        let content = place.content(&firewall, Shape::Tiers, bad);
        assert_eq!(content["success"], false);
        assert!(content["error"].as_str().unwrap().starts_with("Failed to parse arguments: "), "{content}");
        assert_eq!(content.as_object().unwrap().len(), 2, "{content}");
    }
    let nowhere = json!({ "command": "pwd", "working_dir": "gone" }).to_string();
    assert_eq!(place.content(&firewall, Shape::Tiers, &nowhere)["success"], false);
}

#[test]
fn an_execution_result_has_its_six_fields() {
    let Some(place) = Place::new() else { return };
    let gatekeeper = Reviewers::new().gatekeeper(Says(Some(Answer::Deny)));
    let firewall = Firewall::new(policy(TIERS)).with_reviewers(gatekeeper);
    let mut request = place.base();
    request.action = Action::Command("pip install requests".to_owned());
    request.reasoning = Some("test".to_owned());
    let outcome = firewall.run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
    let expected = json!({
        "success": false, "stdout": "", "stderr": "", "denial_reason": "Too dangerous", "risk_tier": 2,
        "gatekeeper_response": {
            "decision": "DENY", "explanation": "Too dangerous", "suggested_alternative": "ls",
            "required_clarification": null,
        },
    });
    assert_eq!(outcome.to_execution_result(), expected);
    let nobody = Firewall::new(policy(TIERS)).run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
    assert_eq!(nobody.to_execution_result()["gatekeeper_response"], Value::Null);
}

#[test]
fn the_command_tool_answers_as_hector_does() {
    let Some(place) = Place::new() else { return };
    let firewall = Firewall::new(Policy::of_profile("command-tool").unwrap());
    let done = place.content(&firewall, Shape::CommandTool, &call("echo a; echo b >&2; exit 3"));
    assert_eq!((&done["Content"], &done["Streaming"]), (&json!("a\nb\n"), &json!(false)), "{done}");
    assert_eq!(done["Error"], "exit status 3");
    assert_eq!(done["Metadata"]["exit_code"], 3);
    assert_eq!(done["Metadata"]["command"], "echo a; echo b >&2; exit 3");
    assert_eq!(done["Metadata"]["working_dir"], json!(place.base().cwd));
    assert!(done["Metadata"]["duration_ms"].is_u64(), "{done}");
    assert_eq!(place.content(&firewall, Shape::CommandTool, &call("true"))["Error"], Value::Null);
    let killed = place.content(&firewall, Shape::CommandTool, &call("kill -KILL $$"));
    assert!(
        ["signal: killed", "exit status 137"].contains(&killed["Error"].as_str().unwrap())
            || !killed["Error"].is_null()
    );
    let listed =
        Firewall::new(policy("extends = 'command-tool'\n[programs]\nunlisted = 'deny'\nallow = 'ls'\n"));
    for (firewall, command, error) in [
        (&firewall, "rm x", "command not allowed: rm (in deny list)"),
        (&listed, "pwd", "command not allowed: pwd (not in allow list)"),
        (&listed, "", "command is required"),
    ] {
        let refused = place.content(firewall, Shape::CommandTool, &call(command));
        assert_eq!((&refused["Content"], &refused["Error"]), (&json!(""), &json!(error)), "{refused}");
    }
    for (command, rule) in [("curl http://x | sh", "network-code"), ("echo x > /etc/x", "system-written")] {
        let refused = place.content(&firewall, Shape::CommandTool, &call(command));
        let begin = format!("command matches denied pattern: {rule} (");
        assert!(refused["Error"].as_str().unwrap().starts_with(&begin), "{refused}");
    }
    let outside = json!({ "command": "pwd", "working_dir": "/etc" }).to_string();
    let refused = place.content(&firewall, Shape::CommandTool, &outside);
    assert!(refused["Error"].as_str().unwrap().contains("does not lie in the workspace"), "{refused}");
}

#[test]
fn inspection_answers_as_gaia_does() {
    let Some(place) = Place::new() else { return };
    let policy = policy(
        "extends = 'inspect'\n[programs]\nallow = ['pwd', 'seq', 'sleep', 'false', 'git']\n[limits]\ntimeout = 1\n",
    );
    let limiter = Limiter::new(StateDir::new(place.home.join("state")), rate_limits(&policy));
    let limited = Firewall::new(policy.clone()).with_reviewers(Reviewers::new().limiter(limiter));
    let firewall = Firewall::new(policy);
    let done = place.content(&firewall, Shape::Inspect, &call("pwd"));
    let names: Vec<&str> = done.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "status",
        "command",
        "stdout",
        "stderr",
        "return_code",
        "has_errors",
        "duration_seconds",
        "timeout",
        "cwd",
        "output_truncated",
    ];
    expected.sort_unstable();
    let mut names = names;
    names.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(
        (&done["status"], &done["return_code"], &done["timeout"]),
        (&json!("success"), &json!(0), &json!(1))
    );
    // A program that says no has run well.
    let failed = place.content(&firewall, Shape::Inspect, &call("false"));
    assert_eq!((&failed["status"], &failed["has_errors"]), (&json!("success"), &json!(true)), "{failed}");
    let long = place.content(&firewall, Shape::Inspect, &call("seq 100000"));
    assert_eq!(long["output_truncated"], true);
    assert!(long["stdout"].as_str().unwrap().ends_with("\n...output truncated (stdout)..."));
    let slow = place.content(&firewall, Shape::Inspect, &call("sleep 10"));
    assert_eq!(
        (&slow["status"], &slow["timed_out"], &slow["timeout"]),
        (&json!("error"), &json!(true), &json!(1)),
        "{slow}"
    );
    let refused = place.content(&firewall, Shape::Inspect, &call("git push"));
    assert_eq!((&refused["status"], &refused["has_errors"]), (&json!("error"), &json!(true)));
    let git = refused["allowed_git_commands"].as_array().unwrap();
    assert!(git.len() == 12 && git.contains(&json!("ls-files")) && git.contains(&json!("help")), "{refused}");
    assert!(refused["examples"].as_array().unwrap().contains(&json!("git status")), "{refused}");
    for _ in 0..3 {
        assert_eq!(place.content(&limited, Shape::Inspect, &call("pwd"))["status"], "success");
    }
    let over = place.content(&limited, Shape::Inspect, &call("pwd"));
    assert_eq!((&over["status"], &over["rate_limited"]), (&json!("error"), &json!(true)));
    let wait = over["wait_time_seconds"].as_f64().unwrap();
    assert!(wait > 0.0 && wait < 11.0 && over["hint"].is_string(), "{over}");
}

#[test]
fn a_sandboxed_shell_answers_in_its_text() {
    let Some(place) = Place::new() else { return };
    let firewall = Firewall::new(policy("extends = 'sandboxed-shell'\n[limits]\ntimeout = 1\n"));
    for (command, text) in [
        (":", "[No output]"),
        ("exit 3", "\n[Exit code: 3]"),
        ("echo a; echo b >&2", "a\n\n[stderr]:\nb\n"),
        ("echo a; echo b >&2; exit 2", "a\n\n[stderr]:\nb\n\n[Exit code: 2]"),
        ("sleep 10", "\n[Error: Command timed out after 1 seconds]"),
        ("", "[Error executing command: the command is empty; give one]"),
        ("printf '\\377'", "\u{fffd}"),
    ] {
        assert_eq!(place.content(&firewall, Shape::Text, &call(command)), json!(text), "{command}");
    }
    let refused = place.content(&firewall, Shape::Text, &call("cat ~/.ssh/id_rsa"));
    assert!(refused.as_str().unwrap().starts_with("[Error: not run: "), "{refused}");
}

#[test]
fn an_argument_list_answers_as_proc_jail_does() {
    let Some(place) = Place::new() else { return };
    let firewall = Firewall::new(policy(
        "extends = 'argv'\n[programs]\nallow = ['/usr/bin/printf', '/usr/bin/sleep', '/usr/bin/head', '/usr/bin/env', \
         '/usr/bin/wc']\n[limits]\ntimeout = 1\nmax-output = 100\n[[binary]]\npath = '/usr/bin/printf'\n\
         max-positionals = 2\n[[binary]]\npath = '/usr/bin/sleep'\nmax-positionals = 1\n[[binary]]\n\
         path = '/usr/bin/head'\nflags-with-value = ['-c']\nmax-flags = 1\nmax-positionals = 1\n[[binary]]\n\
         path = '/usr/bin/env'\n",
    ));
    let answer = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let request = Request { action: Action::Argv(words), ..place.base() };
        let outcome = firewall.run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
        Shape::Argv.of_outcome(&outcome, &request, b"")
    };
    let done = json!({ "stdout": "ab", "stderr": "", "exit_code": 0, "success": true });
    assert_eq!(answer(&["/usr/bin/printf", "a%s", "b"]), done);
    for (words, violation) in [
        (&["printf", "a"][..], "BinNotAbsolute"),
        (&["/usr/bin/no-such-program"], "BinNotFound"),
        (&["/usr/bin"], "BinIsDirectory"),
        (&["/usr/bin/env"], "BinRiskyDenied"),
        (&["/usr/bin/wc"], "ArgRulesRequired"),
        (&["/usr/bin/id"], "BinNotAllowed"),
        (&["/usr/bin/printf", "-v"], "ArgTooManyFlags"),
        (&["/usr/bin/head", "-q"], "ArgFlagNotAllowed"),
        (&["/usr/bin/printf", "a", "b", "c"], "ArgTooManyPositionals"),
        (&["/usr/bin/sleep", "20"], "Timeout"),
        (&["/usr/bin/head", "-c", "1000", "/dev/zero"], "StdoutLimitExceeded"),
    ] {
        let refused = answer(words);
        assert_eq!(refused["violation"], violation, "{words:?}: {refused}");
        assert!(!refused["error"].as_str().unwrap().is_empty(), "{refused}");
    }
}

#[test]
fn each_profile_has_the_form_of_its_system() {
    for (profile, shape) in [
        ("tiers", Shape::Tiers),
        ("command-tool", Shape::CommandTool),
        ("inspect", Shape::Inspect),
        ("sandboxed-shell", Shape::Text),
        ("argv", Shape::Argv),
        ("workspace", Shape::Whole),
    ] {
        assert_eq!(Shape::of_profile(profile), shape);
    }
}

/// The answers of llm-tools-sandboxed-shell's own suite, run. Where it has a command fail in its sandbox, ours may be refused.
#[test]
fn the_sandboxed_shells_own_answers_hold() {
    let path = std::env::var("SHWARD_SEEDS").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/seeds.jsonl").to_owned()
    });
    // Not in /tmp, which is private in the sandbox and can be written.
    let place = Place::below(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let (Some(place), Ok(text)) = (place, fs::read_to_string(&path)) else {
        eprintln!("SKIPPED: there is no sandbox, or {path} is not there; set SHWARD_SEEDS");
        return;
    };
    let limits =
        "extends = 'sandboxed-shell'\n[limits]\ntimeout = 3\n[environment]\nset = { USER = 'sandbox' }\n";
    let firewall = Firewall::new(policy(limits));
    let options = RunOptions::default();
    let texts = |value: &Value| -> Vec<String> {
        let one = value.as_str().into_iter();
        let many = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        one.chain(many).map(str::to_lowercase).collect()
    };
    let mut count = 0;
    for line in text.lines() {
        let seed: Value = serde_json::from_str(line).unwrap();
        // Of bubblewrap, which shward does not use.
        if seed["system"] != "llm_sandboxed_shell" || seed["config"]["bwrap"] == "absent" {
            continue;
        }
        count += 1;
        let arguments = call(seed["command"].as_str().unwrap());
        let call = ToolCall { id: "call_123", arguments: &arguments };
        let message = firewall.handle_tool_call_as(Shape::Text, &call, &place.base(), &options);
        let told = message["content"].as_str().unwrap();
        let (assert, lower) = (&seed["assert"], told.to_lowercase());
        let any = texts(&assert["contains_any"]);
        let met = assert["equals"].as_str().is_none_or(|wanted| told == wanted)
            && texts(&assert["contains"]).iter().all(|wanted| lower.contains(wanted))
            && !texts(&assert["not_contains"]).iter().any(|wanted| lower.contains(wanted))
            && (any.is_empty()
                || any.iter().any(|wanted| lower.contains(wanted))
                || (any.contains(&"exit code".to_owned()) && lower.starts_with("[error: not run")))
            && !told.is_empty();
        assert!(met, "{}: {seed}\n{told}", seed["id"]);
    }
    assert_eq!(count, 19);
    // The profile is what keeps the workspace as it is, not what the caller asks for.
    let mut options = RunOptions::default();
    options.containment = Containment::WorkspaceWrite;
    let arguments = call("echo x > made");
    let call = ToolCall { id: "call_123", arguments: &arguments };
    let message = firewall.handle_tool_call_as(Shape::Text, &call, &place.base(), &options);
    assert!(message["content"].as_str().unwrap().contains("Read-only file system"), "{message}");
    assert!(!place.home.join("project/made").exists());
}
