//! The hook: what a host asks, and that every failure is a denial; with the real binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod answers;
mod place;

use answers::{code, event_in, feed, json_of};
use place::Place;
use serde_json::json;
use std::process::{Command, Output, Stdio};

fn event(command: &str) -> Vec<u8> {
    event_in(command, "/tmp")
}

#[test]
fn the_hook_answers_or_denies() {
    let place = Place::new();
    let decision = |o: &Output| json_of(o)["hookSpecificOutput"]["permissionDecision"].clone();
    for (command, expected, exit) in
        [("ls", "allow", 0), ("curl https://example.com", "ask", 0), ("cat ~/.ssh/id_rsa", "deny", 2)]
    {
        let output = place.shward(&["hook", "claude"], &event(command));
        assert_eq!((decision(&output), code(&output)), (json!(expected), exit), "{command}");
    }
    let read =
        br#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/etc/passwd"}}"#;
    let output = place.shward(&["hook", "claude"], read);
    assert_eq!((code(&output), output.stdout.len()), (0, 0), "no opinion on other tools");
    let failures: &[(&[&str], &[u8])] = &[
        (&["hook", "claude"], b""),
        (&["hook", "claude"], b"{"),
        (&["hook", "claude"], b"\xff\xfe"),
        (&["hook", "claude"], br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#),
        (&["hook", "claude", "--log", "/dev/null/x"], &event("ls")),
        (&["hook", "nobody"], &event("ls")),
        (&["hook"], &event("ls")),
        (&["hook", "claude", "--wrong"], &event("ls")),
    ];
    for (args, input) in failures {
        let output = place.shward(args, input);
        assert_eq!(code(&output), 2, "{args:?} {output:?}");
        assert!(!output.stderr.is_empty());
    }
    let huge = vec![b' '; 9 << 20];
    assert_eq!(code(&place.shward(&["hook", "claude"], &huge)), 2);
    let other = br#"{"hook_event_name":"PreToolUse","tool_name":"PowerShell","tool_input":{"command":"ls"}}"#;
    let output = place.shward(&["hook", "claude"], other);
    assert_eq!((decision(&output), code(&output)), (json!("deny"), 2), "a shell that shward does not read");
    assert!(String::from_utf8_lossy(&output.stderr).contains("reads Bash only"));
    let monitor = br#"{"hook_event_name":"PreToolUse","tool_name":"Monitor","cwd":"/tmp","tool_input":{"command":"rm -rf ~"}}"#;
    let output = place.shward(&["hook", "claude"], monitor);
    assert_eq!((decision(&output), code(&output)), (json!("deny"), 2), "a monitor's command is one of Bash");
    for cwd in ["w", "", "/w/../etc"] {
        let output = place.shward(&["hook", "claude"], &event_in("ls", cwd));
        assert_eq!((decision(&output), code(&output)), (json!("deny"), 2), "{cwd:?}");
    }
    let output = place.shward(&["hook", "claude"], &event("cat ~/.ssh/$'id\\e[2K\\u202e'"));
    assert!(!String::from_utf8_lossy(&output.stderr).contains(['\u{1b}', '\u{202e}']), "{output:?}");
}

/// The host has tools of its own for files. With them an agent could take the hook out of the settings, write itself a policy,
/// or have something run later that nobody judges.
#[test]
fn another_tool_cannot_loosen_the_leash() {
    let place = Place::new();
    let (home, project) = (place.home(), place.project());
    let (home, project) = (home.to_str().unwrap(), project.to_str().unwrap());
    std::fs::write(format!("{home}/.bashrc"), "").unwrap();
    std::fs::create_dir_all(format!("{project}/.git/hooks")).unwrap();
    std::os::unix::fs::symlink(format!("{home}/.bashrc"), format!("{project}/notes.txt")).unwrap();
    std::os::unix::fs::symlink(format!("{project}/.git/hooks"), format!("{project}/docs")).unwrap();
    let answer = |tool: &str, path: &str| {
        let member = if tool == "NotebookEdit" { "notebook_path" } else { "file_path" };
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": tool, "cwd": project, "permission_mode": "bypassPermissions",
            "tool_input": {member: path, "content": "x", "old_string": "", "new_string": "x"},
        });
        place.shward(&["hook", "claude"], event.to_string().as_bytes())
    };
    let denied = [
        format!("{home}/.claude/settings.json"),
        format!("{project}/.claude/settings.json"),
        format!("{project}/.claude/settings.local.json"),
        ".claude/settings.json".into(),
        "sub/../.claude/./settings.json".into(),
        "~/.claude/settings.json".into(),
        format!("{home}/.claude.json"),
        format!("{home}/.config/shward/policy.toml"),
        format!("{home}/.local/state/shward/audit.jsonl"),
        "/etc/shward/policy.d/a.toml".into(),
        format!("{project}/.shward.toml"),
        format!("{project}/.git/hooks/pre-commit"),
        format!("{project}/docs/pre-commit"),
        format!("{project}/.git/config"),
        format!("{home}/.bashrc"),
        format!("{project}/notes.txt"),
        "~/.profile".into(),
        format!("{home}/.ssh/authorized_keys"),
        "/etc/passwd".into(),
        // The host cuts blanks off; a file of that name would be harmless.
        format!(" {home}/.bashrc"),
        format!("{home}/.bashrc\n"),
        format!("\u{feff}{home}/.bashrc"),
        String::new(),
        "a\0b".into(),
    ];
    for path in &denied {
        for tool in ["Write", "Edit", "MultiEdit", "NotebookEdit"] {
            let output = answer(tool, path);
            let told = json_of(&output)["hookSpecificOutput"]["permissionDecision"].clone();
            assert_eq!((code(&output), told), (2, json!("deny")), "{tool} {path:?}: {output:?}");
        }
    }
    // All else is the host's, which asks by rules of its own: an allowance would make it ask less.
    let kept = [
        format!("{project}/src/main.rs"),
        "src/main.rs".into(),
        "it's \"a\" $(file) `of` {a,b}*; rm -rf ~ #.txt".into(),
        "~other/notes.txt".into(),
        format!("{home}/other/notes.txt"),
        format!("{home}/.claude/plans/a.md"),
        format!("{home}/.claude/projects/-a/memory/MEMORY.md"),
        "/tmp/notes.txt".into(),
        "/dev/null".into(),
    ];
    for path in &kept {
        let output = answer("Write", path);
        assert_eq!((code(&output), output.stdout.len()), (0, 0), "{path:?}: {output:?}");
    }
    let shown = place.shward(&["audit", "show", "--last", "1000"], b"");
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("deny") && shown.contains("/.claude/settings.json"),
        "what was denied is recorded: {shown}"
    );
    assert!(!shown.contains("main.rs"), "what was not decided is no record: {shown}");
    // What a profile says of the form of commands is not about files; what it says of places is.
    for (profile, path, denied) in [
        ("strict", "src/main.rs", false),
        ("argv", "src/main.rs", false),
        ("open", "src/main.rs", false),
        ("read-only", "src/main.rs", true),
        ("strict", "~/.bashrc", true),
        ("strict", "/data/notes.txt", true),
        ("workspace", "/data/notes.txt", false),
        ("argv", ".claude/settings.json", true),
        ("open", ".claude/settings.json", true),
    ] {
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": project, "tool_input": {"file_path": path},
        });
        let output = place.shward(&["hook", "claude", "--profile", profile], event.to_string().as_bytes());
        assert_eq!(code(&output), if denied { 2 } else { 0 }, "{profile} {path}: {output:?}");
    }
    std::fs::create_dir_all(format!("{home}/.config/shward")).unwrap();
    for form in ["simple", "pipeline", "chain", "none"] {
        std::fs::write(format!("{home}/.config/shward/policy.toml"), format!("shell = '{form}'")).unwrap();
        for (path, denied) in [("src/main.rs", false), ("/data/notes.txt", false), ("~/.bashrc", true)] {
            assert_eq!(code(&answer("Write", path)), if denied { 2 } else { 0 }, "{form} {path}");
        }
    }
    // A policy that cannot be used decides nothing.
    std::fs::write(format!("{home}/.config/shward/policy.toml"), "x = 1").unwrap();
    assert_eq!(code(&answer("Write", "src/main.rs")), 2);
}

/// Where the directory of settings is another, no command may change anything in it; the host's own plans and memory may.
#[test]
fn the_host_keeps_its_notes() {
    let place = Place::new();
    let settings = place.home().join("settings");
    std::fs::create_dir_all(settings.join("plans")).unwrap();
    std::os::unix::fs::symlink("../settings.json", settings.join("plans/link.md")).unwrap();
    std::os::unix::fs::symlink("..", settings.join("plans/up")).unwrap();
    std::os::unix::fs::symlink(&settings, place.project().join("notes")).unwrap();
    for (path, denied) in [
        ("settings/plans/a.md", false),
        ("settings/projects/-a/memory/MEMORY.md", false),
        ("project/notes/plans/a.md", false),
        ("settings/settings.json", true),
        ("settings/.claude.json", true),
        ("settings/agents/a.md", false),
        ("settings/commands/a.md", false),
        ("settings/skills/a/SKILL.md", false),
        ("settings/todos/a.json", false),
        ("settings/CLAUDE.md", false),
        ("settings/hooks/a.sh", true),
        ("settings/agents/../settings.json", true),
        ("settings/plans/../settings.json", true),
        ("settings/plans/../notes.md", true),
        ("settings/plans/link.md", true),
        ("settings/plans/up/settings.json", true),
        ("settings/projects/.git/hooks/pre-commit", true),
        ("project/notes/settings.json", true),
        ("settings", true),
    ] {
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": place.project(),
            "tool_input": {"file_path": place.home().join(path)},
        });
        // By a link it is the same directory.
        for named in [&settings, &place.project().join("notes")] {
            let mut command = place.command(&["hook", "claude"]);
            command.env("CLAUDE_CONFIG_DIR", named);
            let output = feed(command, event.to_string().as_bytes());
            assert_eq!(code(&output), if denied { 2 } else { 0 }, "{named:?} {path}: {output:?}");
        }
    }
    // The usual place said aloud is the usual place.
    let usual = place.home().join(".claude");
    std::fs::create_dir_all(&usual).unwrap();
    for (path, denied) in [
        ("plans/a.md", false),
        ("agents/a.md", false),
        ("todos/a.json", false),
        ("CLAUDE.md", false),
        ("settings.json", true),
        ("settings.local.json", true),
        ("hooks/a.sh", true),
        ("plugins/a/b", true),
    ] {
        for named in [None, Some(usual.clone()), Some(usual.join("."))] {
            let event = json!({
                "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": place.project(),
                "tool_input": {"file_path": usual.join(path)},
            });
            let mut command = place.command(&["hook", "claude"]);
            if let Some(named) = &named {
                command.env("CLAUDE_CONFIG_DIR", named);
            }
            let output = feed(command, event.to_string().as_bytes());
            assert_eq!(code(&output), if denied { 2 } else { 0 }, "{named:?} {path}: {output:?}");
        }
    }
}

/// A home directory whose settings are kept in a project, and links in it: what they lead to is protected where it lies.
#[test]
fn what_links_lead_to_is_protected_where_it_lies() {
    let place = Place::new();
    let (home, project) = (place.home(), place.project());
    for directory in ["dot/shward", "agent/hooks"] {
        std::fs::create_dir_all(project.join(directory)).unwrap();
    }
    for (link, aim) in [(".config", "dot"), (".claude", "agent")] {
        std::os::unix::fs::symlink(project.join(aim), home.join(link)).unwrap();
    }
    let decision = |command: &str| {
        let output = place.shward(&["hook", "claude"], &event_in(command, project.to_str().unwrap()));
        json_of(&output)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    for changing in [
        "echo x > dot/shward/policy.toml",
        "cd dot && echo x > shward/policy.toml",
        "rm -rf dot",
        "mv dot/shward x",
        "echo x > agent/settings.json",
        "cp x agent/settings.local.json",
        "echo x > agent/hooks/a.sh",
        "mv agent x",
    ] {
        assert_eq!(decision(changing), "deny", "{changing}");
    }
    for harmless in ["echo x > dot/notes", "echo x > agent/notes.md", "ls dot agent"] {
        assert_eq!(decision(harmless), "allow", "{harmless}");
    }
    for (path, denied) in [("agent/settings.json", true), ("agent/plans/a.md", false)] {
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": project, "tool_input": {"file_path": path},
        });
        let output = place.shward(&["hook", "claude"], event.to_string().as_bytes());
        assert_eq!(code(&output), if denied { 2 } else { 0 }, "{path}: {output:?}");
    }
}

/// Where a process is, or what it has opened, is another file whenever it likes.
#[test]
fn a_place_that_cannot_be_told_is_denied_to_tools() {
    let place = Place::new();
    let project = place.project();
    let id = std::process::id();
    std::os::unix::fs::symlink(format!("/proc/{id}/cwd"), project.join("notes")).unwrap();
    std::os::unix::fs::symlink("notes", project.join("more")).unwrap();
    std::os::unix::fs::symlink("round", project.join("round")).unwrap();
    for (path, denied) in [
        (format!("/proc/{id}/cwd/settings.json"), true),
        (format!("/proc/{id}/task/{id}/cwd/settings.json"), true),
        (format!("/proc/{id}/root/etc/x"), true),
        ("/proc/1/cwd".to_owned(), true),
        ("/proc/999999999/cwd/x".to_owned(), true),
        ("../../../../../../../../proc/999999999/cwd/x".to_owned(), true),
        ("/proc/self/cwd/.bashrc".to_owned(), true),
        ("/proc/self/cwd/x".to_owned(), true),
        ("/proc/thread-self/cwd/x".to_owned(), true),
        ("/proc/self/../self/cwd/x".to_owned(), true),
        ("//proc/./self/cwd/x".to_owned(), true),
        ("../../../../../../../../proc/self/cwd/x".to_owned(), true),
        ("/dev/fd/5/x".to_owned(), true),
        ("/dev/fd/5".to_owned(), true),
        ("/dev/stdout".to_owned(), true),
        ("notes/x".to_owned(), true),
        ("more/x".to_owned(), true),
        ("round".to_owned(), true),
        ("src/proc/self/cwd".to_owned(), false),
        ("/dev/null".to_owned(), false),
    ] {
        let event = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Edit", "cwd": project, "tool_input": {"file_path": path},
        });
        let output = place.shward(&["hook", "claude"], event.to_string().as_bytes());
        assert_eq!(code(&output), if denied { 2 } else { 0 }, "{path}: {output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(told.contains("leads through a process"), denied, "{path}: {output:?}");
        assert!(!told.contains("the command is denied"), "{output:?}");
    }
}

/// Whoever replaces the program that the hook names decides what is asked from then on, wherever it lies.
#[test]
fn the_program_itself_is_protected() {
    let place = Place::new();
    let project = place.project();
    std::fs::create_dir_all(project.join("tools/bin")).unwrap();
    let guard = project.join("tools/bin/guard");
    Place::put_binary(&guard);
    std::fs::write(project.join("update.sh"), "cp new tools/bin/guard\n").unwrap();
    let decision = |command: &str| {
        let mut hook = Command::new(&guard);
        hook.args(["hook", "claude"]).current_dir(&project).env_clear();
        hook.env("HOME", place.home()).env("SHWARD_TEST_HOME", place.home()).env("PATH", "/usr/bin:/bin");
        let output = feed(hook, &event_in(command, project.to_str().unwrap()));
        json_of(&output)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    for changing in [
        "cp /bin/true tools/bin/guard",
        "echo > tools/bin/guard",
        "rm tools/bin/guard",
        "rm -rf tools",
        "mv tools/bin /tmp/away",
        "mv tools away; mv other tools",
        "chmod -R a-x tools",
        "chmod -x tools/bin/guard",
        "ln -sf /bin/true tools/bin/guard",
        "install -m 755 /bin/true tools/bin/guard",
        "cd tools && cp /bin/true bin/guard",
        "G=guard; cp /bin/true \"tools/bin/$G\"",
        "sed -i s/a/b/ tools/bin/guard",
        "dd if=/dev/zero of=tools/bin/guard count=1",
        "ln -s tools t; echo > t/bin/guard",
        "cp /bin/true tools/bin/gu*",
        "cp /bin/true tools/*/guard",
        "rm tools/bin/*",
        "rm tools/bin/g?ard",
        "mv /bin/true tools/bin/guar[d]",
        "sed -i s/a/b/ tools/bin/*",
        "chmod -x tools/bin/*",
        "ln -f /bin/true tools/bin/gu*",
        "truncate -s 0 tools/bin/*d",
        "tee tools/bin/gu* < x",
        "find tools -name guard -exec cp /bin/true {} \\;",
        "find tools -name 'gu*' -delete",
        "find . -name guard | xargs rm",
        "for f in tools/bin/*; do rm \"$f\"; done",
        "python3 -c 'import glob, os\nfor f in glob.glob(\"tools/bin/*\"): os.remove(f)'",
        "bash update.sh",
    ] {
        assert_eq!(decision(changing), "deny", "{changing}");
    }
    // Where nobody knows what is searched, not everything is taken for the program.
    assert_eq!(decision("find \"$x\" -name guard -delete"), "ask");
    // Under another name nothing would show any more which file it is.
    for linked in [
        "ln tools/bin/guard x",
        "ln tools/bin/* x",
        "link tools/bin/guard x",
        "cp -l tools/bin/guard x",
        "python3 -c 'import os; os.link(\"tools/bin/guard\", \"x\")'",
    ] {
        assert_ne!(decision(linked), "allow", "{linked}");
    }
    for harmless in [
        "ls -l tools/bin/guard",
        "echo x > tools/notes.txt",
        "rm tools/bin/other",
        "rm tools/bin/*.o",
        "find tools -name '*.o' -delete",
        "sha256sum tools/bin/*",
    ] {
        assert_eq!(decision(harmless), "allow", "{harmless}");
    }
}

/// In some modes Claude Code has run what a hook told it to ask about.
#[test]
fn what_nobody_would_be_asked_is_denied() {
    let place = Place::new();
    let answer = |command: &str, mode: Option<&str>| {
        let mut event: serde_json::Value = serde_json::from_slice(&event(command)).unwrap();
        if let Some(mode) = mode {
            event["permission_mode"] = json!(mode);
        }
        let output = place.shward(&["hook", "claude"], event.to_string().as_bytes());
        (json_of(&output)["hookSpecificOutput"].clone(), code(&output))
    };
    let asked = "curl https://example.com";
    for mode in [None, Some("default"), Some("acceptEdits"), Some("plan")] {
        let (told, code) = answer(asked, mode);
        assert_eq!((&told["permissionDecision"], code), (&json!("ask"), 0), "{mode:?}");
    }
    for mode in ["bypassPermissions", "dontAsk", "auto", "later\u{1b}[2J"] {
        let (told, code) = answer(asked, Some(mode));
        assert_eq!((&told["permissionDecision"], code), (&json!("deny"), 2), "{mode}");
        let reason = told["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.contains("[network]") && reason.contains("shward approve "), "{reason}");
        assert!(reason.contains("may run it without one") && !reason.contains('\u{1b}'), "{reason}");
        assert_eq!(answer("ls", Some(mode)).0["permissionDecision"], "allow");
    }
}

#[test]
fn an_answer_that_nobody_gets_is_a_denial() {
    let place = Place::new();
    for redirection in [">&-", ">/dev/full"] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("\"$0\" hook claude {redirection}"), env!("CARGO_BIN_EXE_shward")]);
        command.env_clear().env("HOME", place.home()).env("SHWARD_TEST_HOME", place.home());
        let output = feed(command, &event("curl https://x.example"));
        assert_eq!(code(&output), 2, "{redirection} {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("could not be written"), "{output:?}");
    }
}

#[test]
fn the_hosts_project_stays_the_workspace() {
    let place = Place::new();
    let decision = |cwd: &str, target: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shward"));
        command.args(["hook", "claude"]).current_dir("/").env_clear();
        command
            .env("HOME", place.home())
            .env("SHWARD_TEST_HOME", place.home())
            .env("CLAUDE_PROJECT_DIR", place.project());
        let output = feed(command, &event_in(&format!("echo x > {target}"), cwd));
        json_of(&output)["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let project = place.project();
    let inside = project.join("a");
    assert_eq!(decision(project.to_str().unwrap(), "a"), "allow");
    assert_eq!(decision("/opt", inside.to_str().unwrap()), "allow");
    assert_ne!(decision("/opt", "/opt/a"), "allow");
    assert_ne!(decision("/opt", "a"), "allow");
}

/// Takes as long as the deadline: the event never comes.
#[test]
fn a_late_hook_denies() {
    let place = Place::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_shward"))
        .args(["hook", "claude"])
        .env_clear()
        .env("HOME", place.home())
        .env("SHWARD_TEST_HOME", place.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), output.stdout.len()), (2, 0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no decision within 20 s"));
    drop(open);
}
