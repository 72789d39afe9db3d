//! Commands that run without a shell end as bash would end them: same output, same status, same environment.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

use shward::{Action, Firewall, Policy, Request, RunOptions};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A command, and whether it needs no shell.
#[rustfmt::skip]
const COMMANDS: &[(&str, bool)] = &[
    ("ls -a", true),
    ("ls -a missing", true),
    ("cat data.txt 'a b.txt'", true),
    ("env", true),
    ("grep -c x data.txt", true),
    ("/usr/bin/env printf '%s|' a 'b c' \"\" $'\\xff'", true),
    ("./script one 'two three'", false),
    ("./tool x", true),
    ("./env", true),
    ("./unterminated", false),
    ("sub/../script", false),
    ("./no-interpreter", false),
    ("./text", false),
    ("./data.txt", false),
    ("sub", false),
    ("./sub", false),
    ("does-not-exist -x", false),
    ("./does-not-exist", false),
    ("/usr/bin/false", true),
    ("bash -c 'kill -9 $$'", true),
    ("bash -c 'kill -TERM $$'", true),
    ("bash -c 'exit 300'", true),
    ("env bash -c 'exit 126'", true),
    ("echo a", false),
    ("cat < data.txt", false),
    ("ls | cat", false),
    ("ls *.txt", false),
    ("cat $PWD/data.txt", false),
    ("false || ls", false),
    ("! ls", false),
];

#[test]
fn nothing_is_different_without_a_shell() {
    if !shward_sandbox::probe().works() {
        eprintln!("SKIPPED: this kernel gives no sandbox");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().canonicalize().unwrap().join("home");
    let workspace = home.join("project");
    fs::create_dir_all(workspace.join("sub")).unwrap();
    let script = "#!/bin/sh\nprintf '<%s>' \"$0\" \"$@\"\nexit 7\n";
    for (name, text, mode) in [
        ("data.txt", "x\n", 0o644),
        ("a b.txt", "y\n", 0o644),
        ("script", script, 0o755),
        ("unterminated", "#!/bin/echo  a b", 0o755),
        ("no-interpreter", "#!/does/not/exist\n", 0o755),
        ("text", "echo run by bash\nexit 5\n", 0o755),
    ] {
        fs::write(workspace.join(name), text).unwrap();
        fs::set_permissions(workspace.join(name), PermissionsExt::from_mode(mode)).unwrap();
    }
    fs::copy("/usr/bin/true", workspace.join("tool")).unwrap();
    fs::copy("/usr/bin/env", workspace.join("env")).unwrap();
    let firewall = Firewall::new(Policy::default());
    let run = |action: Action| {
        let mut request = Request::command("", &workspace, &home);
        request.action = action;
        let plan = firewall.sandbox_plan(&request, &RunOptions::default()).unwrap().unwrap().to_string();
        let outcome = firewall.run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
        let end = outcome.ending.unwrap_or_else(|| panic!("{:?}: {:?}", request.action, outcome.findings));
        (plan, (end.exit_code, end.signal, end.stdout, end.stderr.to_text()))
    };
    for &(command, without_shell) in COMMANDS {
        let (plan, ended) = run(Action::Command(command.to_owned()));
        let shell = ["/bin/bash", "--norc", "--noprofile", "-c", "--", command];
        let (_, expected) = run(Action::Argv(shell.map(str::to_owned).to_vec()));
        assert_eq!(!plan.contains("bash bash --norc"), without_shell, "{command}: {plan}");
        // bash prints its own name in front of its messages.
        let said = |text: &str| text.replace("/bin/bash: line", "bash: line");
        if command.ends_with("env") {
            // In which order variables come is nobody's promise.
            let sorted = |text: String| {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(ended.2.to_text()), sorted(expected.2.to_text()));
        } else {
            assert_eq!(ended.2, expected.2, "{command}");
        }
        assert_eq!(
            (ended.0, ended.1, said(&ended.3)),
            (expected.0, expected.1, said(&expected.3)),
            "{command}"
        );
    }
}
