//! Runs real commands in the real sandbox through the library, and looks at the host afterwards.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;

use common::{Place, sandboxed};
use shward::audit::{Entries, Event, Log, Verification};
use shward::policy::{Layer, Source};
use shward::{
    Action, BadRequest, Cancel, Containment, Decision, Error, Firewall, Outcome, OutputStream, Policy,
    Request, RunOptions, Sandboxed, Setting,
};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A home with a secret and a workspace in it; `None` where the kernel gives no sandbox.
fn place() -> Option<Place> {
    sandboxed().then(furnished)
}

fn furnished() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.home.join(".ssh")).unwrap();
    fs::create_dir_all(place.workspace.join(".git/hooks")).unwrap();
    fs::write(place.home.join(".ssh/id_rsa"), "SECRET KEY\n").unwrap();
    fs::write(place.workspace.join(".env"), "SECRET TOKEN\n").unwrap();
    fs::write(place.workspace.join("data.txt"), "data\n").unwrap();
    place
}

impl Place {
    fn request(&self, command: &str) -> Request {
        Request::command(command, &self.workspace, &self.home)
    }

    fn run_with(&self, command: &str, options: &RunOptions) -> Outcome {
        Firewall::new(Policy::default()).run(&self.request(command), options, &mut |_, _| {}).unwrap()
    }

    fn run(&self, command: &str) -> Outcome {
        self.run_with(command, &RunOptions::default())
    }
}

fn stdout(outcome: &Outcome) -> String {
    outcome.ending.as_ref().unwrap().stdout.to_text()
}

fn exit_code(outcome: &Outcome) -> Option<i32> {
    outcome.ending.as_ref().and_then(|e| e.exit_code)
}

#[test]
fn an_allowed_command_runs_in_its_workspace() {
    let Some(place) = place() else { return };
    let outcome = place.run("echo hi > out.txt; ls");
    assert_eq!(outcome.verdict.decision, Decision::Allow);
    assert_eq!(stdout(&outcome), "data.txt\nout.txt\n");
    assert_eq!(fs::read_to_string(place.workspace.join("out.txt")).unwrap(), "hi\n");
    let outcome = place.run("cat data.txt; echo oops >&2; exit 7");
    assert_eq!((stdout(&outcome).as_str(), exit_code(&outcome)), ("data\n", Some(7)));
    assert_eq!(outcome.ending.unwrap().stderr.to_text(), "oops\n");
}

#[test]
fn a_denied_command_does_not_run() {
    let Some(place) = place() else { return };
    let outcome = place.run("echo hi > out.txt; cat ~/.ssh/id_rsa; curl https://example.com; ls");
    assert_eq!(outcome.verdict.decision, Decision::Deny);
    assert!(!outcome.executed && outcome.ending.is_none());
    assert!(!place.workspace.join("out.txt").exists());
    assert!(
        outcome.verdict.findings.iter().any(|f| f.message.contains("id_rsa")),
        "{:?}",
        outcome.verdict.findings
    );
}

/// What a program does that the analysis cannot see into, the sandbox holds.
#[test]
fn the_sandbox_holds_what_the_analysis_cannot_see() {
    let Some(place) = place() else { return };
    let script = format!(
        "cat {home}/.ssh/id_rsa; cat .env; echo x > {home}/outside; echo x > /etc/outside; echo x > .git/hooks/pre-commit;\
         (exec 3<>/dev/tcp/127.0.0.1/1) 2>&1; kill -0 {pid}; echo \"$FOREIGN\"; echo x > inside",
        home = place.home.display(),
        pid = std::process::id()
    );
    fs::write(place.workspace.join("tool.sh"), script).unwrap();
    let outcome = place.run("bash tool.sh");
    if outcome.executed {
        let text = format!("{}{}", stdout(&outcome), outcome.ending.as_ref().unwrap().stderr.to_text());
        assert!(!text.contains("SECRET"), "{text}");
        assert!(place.workspace.join("inside").exists(), "{text}");
    }
    assert!(!place.home.join("outside").exists());
    assert!(!PathBuf::from("/etc/outside").exists());
    assert!(!place.workspace.join(".git/hooks/pre-commit").exists());
}

#[test]
fn limits_hold() {
    let Some(place) = place() else { return };
    let mut options = RunOptions::default();
    options.timeout = Some(Duration::from_millis(300));
    let outcome = place.run_with("echo before; sleep 60", &options);
    let ending = outcome.ending.unwrap();
    assert!(ending.timed_out);
    assert_eq!(ending.stdout.to_text(), "before\n");
    // More than the policy lets anybody ask for is refused.
    let firewall = Firewall::new(common::policy("[limits]\ntimeout-ceiling = 5"));
    for (seconds, refused) in [(5, false), (6, true)] {
        options.timeout = Some(Duration::from_secs(seconds));
        let ran = firewall.run(&place.request("true"), &options, &mut |_, _| {});
        assert_eq!(matches!(ran, Err(Error::TimeoutAboveCeiling { ceiling: 5 })), refused, "{seconds}");
    }

    let mut options = RunOptions::default();
    options.max_output = 1000;
    let ending = place.run_with("seq 1 100000", &options).ending.unwrap();
    assert!(ending.truncated && !ending.timed_out);
    assert!(ending.stdout.head.len() + ending.stdout.tail.len() <= 1000);
    assert_eq!(ending.exit_code, Some(0));
}

#[test]
fn read_only_containment_writes_nothing() {
    let Some(place) = place() else { return };
    let mut options = RunOptions::default();
    options.containment = Containment::ReadOnly;
    let outcome = place.run_with("echo hi > out.txt; cat data.txt", &options);
    assert_eq!(stdout(&outcome), "data\n");
    assert!(!place.workspace.join("out.txt").exists());
}

#[test]
fn an_argument_list_runs_without_a_shell() {
    let Some(place) = place() else { return };
    let argv = ["echo", "$HOME;", "ls"].map(str::to_owned).to_vec();
    let request = Request { action: Action::Argv(argv), ..place.request("") };
    let outcome =
        Firewall::new(Policy::default()).run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
    assert_eq!(stdout(&outcome), "$HOME; ls\n");
}

#[test]
fn every_run_is_recorded_before_and_after() {
    let Some(place) = place() else { return };
    let file = place.home.join("log/audit.jsonl");
    let firewall = Firewall::new(Policy::default()).with_log(Log::open(&file).unwrap());
    firewall.run(&place.request("/bin/echo hi"), &RunOptions::default(), &mut |_, _| {}).unwrap();
    firewall.run(&place.request("cat ~/.ssh/id_rsa"), &RunOptions::default(), &mut |_, _| {}).unwrap();
    let events: Vec<Event> = Entries::of_log(&file).unwrap().map(|e| e.unwrap().record.event).collect();
    match events.as_slice() {
        [Event::Run(first), Event::Outcome(ended), Event::Run(second)] => {
            assert!(first.contained && first.grant.is_some() && ended.executed && ended.exit_code == Some(0));
            assert!(!first.no_process && !second.no_process);
            assert_eq!((ended.run, ended.stdout.bytes), (0, 3));
            assert!(second.grant.is_none());
        }
        other => panic!("{other:?}"),
    }
    assert!(Verification::new().log(&file).unwrap().broken.is_none());
}

/// What has only builtins that print is carried out without a sandbox, so it needs none here.
#[test]
fn what_needs_no_process_is_judged_recorded_and_limited_all_the_same() {
    let place = furnished();
    let file = place.home.join("log/audit.jsonl");
    let firewall = Firewall::new(Policy::default()).with_log(Log::open(&file).unwrap());
    let mut seen = Vec::new();
    let mut options = RunOptions::default();
    options.max_output = 4;
    let request = place.request("echo 0123456789; false");
    let plan = firewall.sandbox_plan(&request, &options).unwrap();
    assert!(matches!(&plan, Sandboxed::NoProcess(_)), "{plan:?}");
    let outcome = firewall
        .run(&request, &options, &mut |stream, bytes| {
            assert_eq!(stream, OutputStream::Stdout);
            seen.extend_from_slice(bytes);
        })
        .unwrap();
    assert_eq!(seen, b"0123456789\n");
    let ending = outcome.ending.unwrap();
    assert!(outcome.executed && ending.truncated && !ending.timed_out && !ending.cancelled);
    assert_eq!((ending.exit_code, ending.signal, ending.stdout.total), (Some(1), None, 11));
    assert_eq!((ending.stdout.head.as_slice(), ending.stdout.tail.as_slice()), (&b"01"[..], &b"9\n"[..]));
    let events: Vec<Event> = Entries::of_log(&file).unwrap().map(|e| e.unwrap().record.event).collect();
    match events.as_slice() {
        [Event::Run(first), Event::Outcome(ended)] => {
            assert!(first.contained && first.grant.is_none() && first.no_process && !first.unconfined);
            assert!(
                ended.executed && ended.exit_code == Some(1) && ended.truncated && ended.stdout.bytes == 11
            );
            assert_eq!(ended.stdout.sha256, shward::audit::Digest::of(b"0123456789\n"));
            assert_eq!((ended.stderr.bytes, ended.stderr.sha256), (0, shward::audit::Digest::of(b"")));
        }
        other => panic!("{other:?}"),
    }
    assert!(Verification::new().log(&file).unwrap().broken.is_none());

    // Nobody reads any more.
    let cancel = Cancel::new().unwrap();
    options.cancel = Some(cancel.clone());
    let ending = firewall.run(&request, &options, &mut |_, _| cancel.cancel()).unwrap().ending.unwrap();
    assert!(ending.cancelled && ending.exit_code.is_none() && ending.signal == Some(9));

    // What is denied writes nothing.
    let text = "[programs]\ndeny = [\"echo\"]\n".to_owned();
    let source = Source { layer: Layer::User, name: "test".to_owned(), text };
    let firewall = Firewall::new(Policy::from_sources(None, &[source]).unwrap());
    let outcome = firewall.run(&request, &RunOptions::default(), &mut |_, _| panic!("it wrote")).unwrap();
    assert!(!outcome.executed && outcome.ending.is_none());

    // Nor what cannot be recorded.
    let firewall = Firewall::new(Policy::default()).with_log(Log::open(&file).unwrap());
    fs::remove_dir_all(place.home.join("log")).unwrap();
    fs::write(place.home.join("log"), "").unwrap();
    let result = firewall.run(&request, &RunOptions::default(), &mut |_, _| panic!("it wrote"));
    assert!(matches!(result, Err(Error::Record(_))), "{result:?}");
}

/// What may differ from what a shell does, or was required of every run, takes a process.
#[test]
fn what_could_differ_takes_a_process() {
    let Some(place) = place() else { return };
    let takes_none = |text: &str, request: &Request| {
        let source = Source { layer: Layer::User, name: "test".to_owned(), text: text.to_owned() };
        let firewall = Firewall::new(Policy::from_sources(None, &[source]).unwrap());
        // Where it is not given what is required, nothing runs.
        firewall
            .sandbox_plan(request, &RunOptions::default())
            .is_ok_and(|plan| matches!(plan, Sandboxed::NoProcess(_)))
    };
    let inside = place.request("echo a; pwd");
    assert!(takes_none("", &inside));
    let outside = Request { workspace: place.workspace.clone(), cwd: place.home.clone(), ..inside.clone() };
    assert!(!takes_none("", &outside));
    for (policy, none) in [
        ("[environment]\nset = { A = \"1\" }", true),
        ("[environment]\nset = { POSIXLY_CORRECT = \"1\" }", false),
        ("[environment]\nset = { PWD = \"/x\" }", false),
        ("[sandbox]\nrequire = [\"cgroup\"]", false),
    ] {
        assert_eq!(takes_none(policy, &inside), none, "{policy}");
    }
}

#[test]
fn what_cannot_be_recorded_does_not_run() {
    let Some(place) = place() else { return };
    let file = place.home.join("log/audit.jsonl");
    let firewall = Firewall::new(Policy::default()).with_log(Log::open(&file).unwrap());
    fs::remove_dir_all(place.home.join("log")).unwrap();
    fs::write(place.home.join("log"), "").unwrap();
    let result = firewall.run(&place.request("echo hi > out.txt"), &RunOptions::default(), &mut |_, _| {});
    assert!(matches!(result, Err(Error::Record(_))), "{result:?}");
    assert!(!place.workspace.join("out.txt").exists());
}

#[test]
fn a_workspace_that_does_not_exist_is_refused() {
    let Some(place) = place() else { return };
    let request = Request::command("ls", place.home.join("nowhere"), &place.home);
    let result = Firewall::new(Policy::default()).run(&request, &RunOptions::default(), &mut |_, _| {});
    assert!(matches!(result, Err(Error::BadRequest(_))), "{result:?}");
}

/// What a link, a large directory, a moved home or a file that is not there yet must not open.
#[test]
fn secrets_stay_hidden_and_instructions_stay_away() {
    let Some(place) = place() else { return };
    let many = place.workspace.join("many");
    fs::create_dir(&many).unwrap();
    for n in 0..21_000 {
        fs::write(many.join(n.to_string()), "").unwrap();
    }
    fs::create_dir_all(place.home.join("dotfiles/gh")).unwrap();
    fs::write(place.home.join("dotfiles/gh/hosts.yml"), "SECRET HOST\n").unwrap();
    std::os::unix::fs::symlink(place.home.join("dotfiles"), place.home.join(".config")).unwrap();
    // The names come from a file, so that no reading of the program can tell them.
    let reads =
        ["/.ssh/id_rsa", "/.config/gh/hosts.yml"].map(|p| format!("{}{p}\n", place.home.display())).concat();
    fs::write(place.workspace.join("reads.txt"), reads).unwrap();
    fs::write(place.workspace.join("writes.txt"), ".claude/settings.json\n.envrc\n").unwrap();
    let tool = "import os\nfor p in open('reads.txt'):\n    try: print(open(p.strip()).read())\n    except OSError as e: print(e)\n\
        for p in open('writes.txt'):\n    os.makedirs(os.path.dirname(p) or '.', exist_ok=True)\n    open(p.strip(), 'w').write('x')\n";
    fs::write(place.workspace.join("tool.py"), tool).unwrap();
    let outcome = place.run("python3 tool.py");
    assert!(outcome.executed, "{:?}", outcome.verdict.findings);
    let ending = outcome.ending.unwrap();
    let text = format!("{}{}", ending.stdout.to_text(), ending.stderr.to_text());
    assert!(!text.contains("SECRET"), "{text}");
    assert!(!place.workspace.join(".claude/settings.json").exists(), "{text}");
    assert!(!place.workspace.join(".envrc").exists());
    assert_eq!(ending.moved_aside.len(), 2, "{:?}", ending.moved_aside);
    let outcome = place.run("git init -q sub && ls sub/.git/config");
    assert_eq!(exit_code(&outcome), Some(0), "a new repository keeps its own settings");
}

/// The decision sees what links lead to, however they are made.
#[test]
fn links_do_not_hide_where_a_write_goes() {
    let Some(place) = place() else { return };
    let link = |aim: &str, name: &str| std::os::unix::fs::symlink(aim, place.workspace.join(name)).unwrap();
    link("/etc/cron.d/evil", "direct");
    link("../../../../../../../../../etc/cron.d/evil", "upward");
    link("direct", "chain");
    link("b", "a");
    link("a", "b");
    link("missing/../../../../../../../../../etc/evil", "missing-then-up");
    let firewall = Firewall::new(Policy::default());
    for name in ["direct", "upward", "chain", "a", "missing-then-up"] {
        let checked =
            firewall.check(&place.request(&format!("echo x > {name}")), &Setting::others()).unwrap();
        assert_ne!(checked.decision, Decision::Allow, "{name}");
    }
    assert_eq!(
        firewall.check(&place.request("echo x > plain"), &Setting::others()).unwrap().decision,
        Decision::Allow
    );
}

/// bash sets these by itself: the world must not call them unset.
#[test]
fn variables_of_the_shell_itself_are_not_unset() {
    let Some(place) = place() else { return };
    for command in [
        "${BASH+cat ~/.ssh/id_rsa}",
        "$BASH -c 'cat ~/.ssh/id_rsa'",
        "${PS4+cat ~/.ssh/id_rsa}",
        "${SHELL+cat ~/.ssh/id_rsa}",
    ] {
        assert!(!place.run(command).executed || !stdout(&place.run(command)).contains("SECRET"), "{command}");
        let mut setting = Setting::others();
        setting.contained = true;
        let checked = Firewall::new(Policy::default()).check(&place.request(command), &setting).unwrap();
        assert!(checked.tier > 1, "{command}: {checked:?}");
    }
}

#[test]
fn the_log_cannot_be_touched() {
    let Some(place) = place() else { return };
    let file = place.workspace.join("log/audit.jsonl");
    let firewall = Firewall::new(Policy::default()).with_log(Log::open(&file).unwrap());
    for command in ["rm log/audit.jsonl", "echo x >> log/audit.jsonl"] {
        assert_eq!(
            firewall.check(&place.request(command), &Setting::others()).unwrap().decision,
            Decision::Deny,
            "{command}"
        );
    }
    fs::write(place.workspace.join("tool.py"), "open('log/au' + 'dit.jsonl', 'a').write('forged')\n")
        .unwrap();
    let _ = firewall.run(&place.request("python3 tool.py"), &RunOptions::default(), &mut |_, _| {});
    assert!(!fs::read_to_string(&file).unwrap().contains("forged"));
    assert!(Verification::new().log(&file).unwrap().broken.is_none());
}

/// Whoever would run it elsewhere would do something else than what was decided about.
#[test]
fn a_directory_that_is_not_there_is_refused() {
    let place = furnished();
    let firewall = Firewall::new(Policy::default());
    let missing = place.home.join("gone");
    let file = place.workspace.join("data.txt");
    let mut contained = Setting::others();
    contained.contained = true;
    for (cwd, workspace) in
        [(&missing, &place.workspace), (&missing, &missing), (&place.workspace, &missing), (&file, &file)]
    {
        let mut request = place.request("pwd");
        request.cwd.clone_from(cwd);
        request.workspace.clone_from(workspace);
        for setting in [Setting::others(), contained] {
            let checked = firewall.check(&request, &setting);
            assert!(matches!(checked, Err(Error::BadRequest(BadRequest::NoDirectory { .. }))), "{checked:?}");
            let examined = firewall.examine(&request, &setting);
            assert!(matches!(examined, Err(BadRequest::NoDirectory { .. })), "{examined:?}");
        }
        let ran = firewall.run(&request, &RunOptions::default(), &mut |_, _| {});
        assert!(matches!(ran, Err(Error::BadRequest(BadRequest::NoDirectory { .. }))), "{ran:?}");
        // On no machine in particular nothing is missing.
        assert_eq!(firewall.check(&request, &Setting::frozen()).unwrap().decision, Decision::Allow);
    }
}

/// What the policy limits is limited for whoever is handed the output while it comes, too.
#[test]
fn the_policy_limits_what_is_handed_out() {
    let Some(place) = place() else { return };
    // the policy, what is kept, the bytes of each stream that are handed out, and whether it is killed
    for (text, kept, passed, killed) in [
        ("", 10, [48_894; 2], false),
        ("[limits]\nmax-output = 1000\n", 1_000_000, [1000; 2], false),
        ("[limits]\nmax-output = 0\n", 1_000_000, [0; 2], false),
        ("[limits]\nmax-output = 1000\non-output-limit = \"kill\"\n", 1_000_000, [1000, 0], true),
        ("[limits]\non-output-limit = \"kill\"\n", 2000, [2000, 0], true),
    ] {
        let source = Source { layer: Layer::Explicit, name: "p.toml".into(), text: text.into() };
        let firewall = Firewall::new(Policy::from_sources(None, &[source]).unwrap());
        let mut options = RunOptions::default();
        options.max_output = kept;
        let mut seen = [0; 2];
        let command = if killed { "seq 1 10000" } else { "seq 1 10000; seq 1 10000 >&2" };
        let outcome = firewall.run(&place.request(command), &options, &mut |stream, bytes| {
            seen[usize::from(stream == OutputStream::Stderr)] += bytes.len();
        });
        let ending = outcome.unwrap().ending.unwrap();
        assert_eq!((seen, ending.output_exceeded), (passed, killed), "{text}");
        assert_eq!(ending.unreached, Vec::<String>::new());
    }
}
