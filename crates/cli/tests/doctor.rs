//! `doctor`, and runs on machines that lack something; with the real binary. The lacks are real: a user namespace in which
//! the kernel makes no further network namespace.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `shward` with these words, on this machine or on one without network namespaces.
fn shward(home: &Path, crippled: bool, words: &[&str]) -> Output {
    let mut command = if crippled {
        let mut command = Command::new("unshare");
        let script = "echo 0 > /proc/sys/user/max_net_namespaces || exit 99; exec \"$@\"";
        command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]);
        command.arg(env!("CARGO_BIN_EXE_shward"));
        command
    } else {
        Command::new(env!("CARGO_BIN_EXE_shward"))
    };
    command.args(words).current_dir(home.join("project")).env_clear();
    command.env("HOME", home).env("SHWARD_TEST_HOME", home).env("PATH", "/usr/bin:/bin").output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// `None` where no sandbox can be built: then there is nothing to test.
fn home() -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("project")).unwrap();
    let found = shward(dir.path(), false, &["doctor", "--json"]);
    if found.status.code() != Some(0) {
        eprintln!("SKIPPED: this machine gives no sandbox: {found:?}");
        return None;
    }
    Some(dir)
}

fn named<'v>(list: &'v Value, name: &str) -> &'v Value {
    list.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap()
}

#[test]
fn the_self_test_stops_every_attack() {
    let Some(home) = home() else { return };
    let output = shward(home.path(), false, &["doctor", "--self-test", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let found = json(&output);
    for containment in found["containments"].as_array().unwrap() {
        if containment["name"] == "full" {
            assert_eq!(containment["state"], "off"); // it promises nothing
            continue;
        }
        assert_eq!(containment["state"], "holds", "{containment}");
        let attacks = containment["self_test"].as_array().unwrap();
        assert!(attacks.len() > 5 && attacks.iter().all(|attack| attack["stopped"] == true), "{containment}");
    }
}

#[test]
fn what_is_missing_refuses_a_run_until_its_loss_is_accepted_by_name() {
    let Some(home) = home() else { return };
    let run = |words: &[&str]| shward(home.path(), true, words);
    let found = json(&run(&["doctor", "--json"]));
    let lost = named(&found["guarantees"], "net-ns");
    assert_eq!(lost["state"], "missing");
    assert!(lost["fix"].as_str().unwrap().contains("max_*_namespaces"), "{lost}");
    assert_eq!(named(&found["containments"], "workspace-write")["state"], "refused");

    let refused = run(&["run", "--", "/bin/echo ran"]);
    assert_eq!(refused.status.code(), Some(125));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.stdout.is_empty() && message.contains("accept-missing = [\"net-ns\"]"), "{message}");

    // Where there is no code to confine, nothing is missing.
    let itself = run(&["run", "--", "echo itself"]);
    assert_eq!(
        (itself.status.code(), itself.stdout.as_slice()),
        (Some(0), b"itself\n".as_slice()),
        "{itself:?}"
    );
    for more in [&["--gate", "observe"][..], &["--pty"], &["--preview"], &["--contain", "speculate"]] {
        let refused = run(&[&["run"], more, &["--", "echo itself"]].concat());
        assert_eq!(
            (refused.status.code(), refused.stdout.as_slice()),
            (Some(125), b"".as_slice()),
            "{more:?}"
        );
    }

    // The project cannot say so.
    let text = "[sandbox]\naccept-missing = [\"net-ns\"]\n";
    fs::write(home.path().join("project/.shward.toml"), text).unwrap();
    assert_eq!(run(&["run", "--", "/bin/echo ran"]).status.code(), Some(125));
    fs::remove_file(home.path().join("project/.shward.toml")).unwrap();

    // A person can.
    fs::create_dir_all(home.path().join(".config/shward")).unwrap();
    fs::write(home.path().join(".config/shward/policy.toml"), text).unwrap();
    let ran = run(&["run", "--", "/bin/echo ran"]);
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(0), b"ran\n".as_slice()), "{ran:?}");
    let found = json(&run(&["doctor", "--json"]));
    assert_eq!(named(&found["guarantees"], "net-ns")["state"], "accepted");
    assert_eq!(named(&found["containments"], "workspace-write")["state"], "weakened");
    assert_eq!(named(&found["containments"], "loopback")["state"], "refused");
    assert_eq!(run(&["run", "--contain", "loopback", "--", "/bin/echo ran"]).status.code(), Some(125));

    // It is recorded, and nothing is lost where nothing is missing.
    let log = fs::read_to_string(home.path().join(".local/state/shward/audit.jsonl")).unwrap();
    assert_eq!(log.matches("\"missing\":[\"net-ns\"]").count(), 1, "{log}");
    assert_eq!(shward(home.path(), false, &["run", "--", "/bin/echo ran"]).status.code(), Some(0));
    let log = fs::read_to_string(home.path().join(".local/state/shward/audit.jsonl")).unwrap();
    assert_eq!(log.matches("\"missing\"").count(), 1, "{log}");
}

/// Where only bubblewrap may make namespaces, it does when a person accepts what is lost by that. The lack is real: a filter of system calls.
#[test]
fn bubblewrap_makes_namespaces_where_only_it_may_and_its_losses_are_accepted() {
    let Some(home) = home() else { return };
    let restricted = |words: &[&str]| {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", include_str!("data/restrict.py"), env!("CARGO_BIN_EXE_shward")]).args(words);
        command.current_dir(home.path().join("project")).env_clear().env("HOME", home.path());
        command.env("SHWARD_TEST_HOME", home.path()).env("PATH", "/usr/bin:/bin").output().unwrap()
    };
    let found = restricted(&["doctor", "--json"]);
    if !Path::new("/usr/bin/python3").exists()
        || named(&json(&found)["guarantees"], "user-ns")["state"] != "given"
    {
        eprintln!("SKIPPED: bubblewrap makes no sandbox here, or there is no Python: {found:?}");
        return;
    }
    let found = json(&found);
    let own = named(&found["guarantees"], "own-namespaces");
    assert_eq!(own["state"], "missing");
    assert!(own["fix"].as_str().unwrap().contains("apparmor_restrict_unprivileged_userns"), "{own}");
    assert!(own["loss"].as_str().unwrap().contains("cannot be undone"), "{own}");
    let bubblewrap = named(&found["features"], "bubblewrap");
    assert!(bubblewrap["meaning"].as_str().unwrap().contains("has to be accepted"), "{bubblewrap}");
    assert_eq!(named(&found["containments"], "workspace-write")["state"], "refused");
    let refused = restricted(&["run", "--", "/bin/echo ran"]);
    assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(125), b"".as_slice()));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("accept-missing = [\"own-namespaces\"]"), "{message}");

    // The project cannot say so; a person can.
    let text = "[sandbox]\naccept-missing = [\"own-namespaces\"]\n";
    fs::write(home.path().join("project/.shward.toml"), text).unwrap();
    assert_eq!(restricted(&["run", "--", "/bin/echo ran"]).status.code(), Some(125));
    fs::remove_file(home.path().join("project/.shward.toml")).unwrap();
    fs::create_dir_all(home.path().join(".config/shward")).unwrap();
    fs::write(home.path().join(".config/shward/policy.toml"), text).unwrap();
    let ran = restricted(&["run", "--gate", "enforce", "--", "echo ran > made; cat made"]);
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(0), b"ran\n".as_slice()), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("cannot be undone"), "{ran:?}");
    let plan = restricted(&["explain", "--sandbox", "--", "/bin/echo ran"]);
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert!(plan.contains("namespaces and mounts by /usr/bin/bwrap"), "{plan}");
    assert!(plan.contains("confirm that there are no capabilities"), "{plan}");
    for what in [&["--preview"][..], &["--contain", "speculate"], &["--pty"], &["--allow-exec", "/bin/cat"]] {
        let refused = restricted(&[&["run"], what, &["--", "touch other"]].concat());
        assert_eq!(
            (refused.status.code(), refused.stdout.as_slice()),
            (Some(125), b"".as_slice()),
            "{what:?}"
        );
    }
    let found = restricted(&["doctor", "--self-test", "--json"]);
    let found = json(&found);
    assert_eq!(named(&found["guarantees"], "own-namespaces")["state"], "accepted");
    let makes = named(&found["features"], "bubblewrap")["meaning"].as_str().unwrap().to_owned();
    assert!(makes.starts_with("makes namespaces and mounts"), "{makes}");
    assert_eq!(named(&found["containments"], "speculate")["state"], "refused");
    let tested = named(&found["containments"], "workspace-write");
    assert_eq!(tested["state"], "weakened");
    let attacks = tested["self_test"].as_array().unwrap();
    assert!(attacks.len() > 5 && attacks.iter().all(|attack| attack["stopped"] == true), "{tested}");

    // It is recorded, and where nothing is missing nothing is lost.
    let log = || fs::read_to_string(home.path().join(".local/state/shward/audit.jsonl")).unwrap();
    assert_eq!(log().matches("\"missing\":[\"own-namespaces\"]").count(), 1, "{}", log());
    assert_eq!(shward(home.path(), false, &["run", "--", "/bin/echo ran"]).status.code(), Some(0));
    assert_eq!(log().matches("\"missing\"").count(), 1, "{}", log());
}

/// A limit of a whole run that nothing can keep is told and recorded, and refuses the run where the policy requires it.
#[test]
fn limits_that_need_a_control_group_are_required_by_name() {
    let Some(home) = home() else { return };
    let run = |words: &[&str]| shward(home.path(), false, words);
    fs::create_dir_all(home.path().join(".config/shward")).unwrap();
    let policy = home.path().join(".config/shward/policy.toml");
    let limits = "[limits]\nrun-memory = 1073741824\n";
    fs::write(&policy, limits).unwrap();
    let found = json(&run(&["doctor", "--json"]));
    let group = named(&found["features"], "cgroup");
    let ran = run(&["run", "--", "/bin/echo ran"]);
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(0), b"ran\n".as_slice()), "{ran:?}");
    let log = fs::read_to_string(home.path().join(".local/state/shward/audit.jsonl")).unwrap();
    fs::write(&policy, format!("{limits}[sandbox]\nrequire = [\"cgroup\"]\n")).unwrap();
    let required = run(&["run", "--", "echo ran"]);
    let plan = run(&["explain", "--sandbox", "--", "/bin/echo ran"]);
    if group["state"].as_str().unwrap().contains("memory") {
        assert!(!log.contains("\"missing\""), "{log}");
        assert_eq!(required.stdout, b"ran\n");
        assert!(String::from_utf8_lossy(&plan.stdout).contains("memory.max=1073741824"), "{plan:?}");
        return;
    }
    assert!(log.contains("\"missing\":[\"cgroup\"]"), "{log}");
    assert_eq!(required.status.code(), Some(125));
    assert!(required.stdout.is_empty());
    let message = String::from_utf8(required.stderr).unwrap();
    assert!(message.contains("Delegate=yes"), "{message}");
    assert!(group["meaning"].as_str().unwrap().contains("Delegate=yes"), "{group}");
}

/// What is not confined takes the policy's word, is judged as what others run, and is recorded as what it is.
#[test]
fn an_unconfined_run_is_permitted_by_name_and_recorded() {
    let Some(home) = home() else { return };
    let run = |words: &[&str]| shward(home.path(), false, words);
    let refused = run(&["run", "--contain", "full", "--", "/bin/echo ran"]);
    assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(125), b"".as_slice()));

    // The project cannot say so.
    let text = "[sandbox]\nfull = true\n";
    fs::write(home.path().join("project/.shward.toml"), text).unwrap();
    assert_eq!(run(&["run", "--contain", "full", "--", "/bin/echo ran"]).status.code(), Some(125));
    fs::remove_file(home.path().join("project/.shward.toml")).unwrap();

    fs::create_dir_all(home.path().join(".config/shward")).unwrap();
    let policy = home.path().join(".config/shward/policy.toml");
    fs::write(&policy, text).unwrap();
    // A directory that no sandbox shows: each has a /run of its own.
    let ran = run(&["run", "--contain", "full", "--", "grep NoNewPrivs /proc/self/status; ls /proc/1/exe"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with(b"NoNewPrivs:\t1\n"), "{ran:?}");
    let log = || fs::read_to_string(home.path().join(".local/state/shward/audit.jsonl")).unwrap();
    assert_eq!(log().matches("\"unconfined\":true").count(), 1, "{}", log());
    assert!(log().contains("\"contained\":false"));

    // What the sandbox alone makes harmless is asked about.
    let shell = "someunknownprogram --x";
    assert_eq!(run(&["check", "--contained", "--", shell]).status.code(), Some(0));
    let asked = run(&["run", "--contain", "full", "--", shell]);
    assert!(asked.stdout.is_empty() && asked.status.code() != Some(0), "{asked:?}");

    // Nor with anything that takes a sandbox.
    for with in [["--gate", "enforce"], ["--allow-host", "example.com"]] {
        let words = ["run", "--contain", "full", with[0], with[1], "--", "/bin/echo ran"];
        assert_eq!(run(&words).status.code(), Some(125), "{with:?}");
    }
    for stricter in ["[limits]\nexec-gate = \"observe\"", "live = \"deny\""] {
        fs::write(&policy, format!("{text}{stricter}\n")).unwrap();
        assert_eq!(
            run(&["run", "--contain", "full", "--", "/bin/echo ran"]).status.code(),
            Some(125),
            "{stricter}"
        );
    }
    fs::write(&policy, format!("{text}read-only = true\n")).unwrap();
    let confined = run(&["run", "--contain", "full", "--", "touch made"]);
    assert!(confined.status.code() != Some(0) && !home.path().join("project/made").exists(), "{confined:?}");
}
