//! What real shells were seen to do lies within what is predicted: the law of inclusion, held with recorded observations.
//!
//! `corpus/oracle/*.jsonl` was written by `cargo xtask oracle --record`, which runs commands in a closed room and notes
//! what the kernel was asked for. The law itself is the oracle's own code.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use serde::Deserialize;
use shward::{Firewall, Policy, Request, Setting};
use std::fs;
use std::path::Path;

#[allow(dead_code, reason = "a test uses less of it than the oracle")]
#[path = "../../../xtask/src/oracle/law.rs"]
mod law;
#[allow(dead_code, reason = "a test uses less of it than the oracle")]
#[path = "../../../xtask/src/plan.rs"]
mod plan;
#[allow(dead_code, reason = "a test uses less of it than the oracle")]
#[path = "../../../xtask/src/oracle/protocol.rs"]
mod protocol;

use plan::Plan;
use protocol::Seen;

#[derive(Deserialize)]
struct Observation {
    command: String,
    cwd: String,
    #[serde(flatten)]
    seen: Seen,
}

fn observations() -> Vec<Observation> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/oracle");
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let text = fs::read_to_string(path).unwrap();
            all.extend(text.lines().map(|line| serde_json::from_str::<Observation>(line).unwrap()));
        }
    }
    all
}

fn predicted(firewall: &Firewall, command: &str, cwd: &str) -> Plan {
    let mut setting = Setting::frozen();
    setting.plan = true;
    let checked = firewall.examine(&Request::command(command, cwd, "/home/dev"), &setting).unwrap();
    serde_json::from_value(serde_json::to_value(checked.plan.unwrap()).unwrap()).unwrap()
}

#[test]
fn what_was_observed_is_predicted() {
    let firewall = Firewall::new(Policy::default());
    let mut wrong = Vec::new();
    let (mut judged, mut definite) = (0, 0);
    for Observation { command, cwd, seen } in observations() {
        let plan = predicted(&firewall, &command, &cwd);
        judged += 1;
        definite += usize::from(!plan.is_open());
        let unpredicted = plan.violations(&seen);
        if !unpredicted.is_empty() {
            wrong.push(format!("{command:?}: {unpredicted:?}"));
        }
    }
    assert!(judged > 1000 && definite * 2 > judged, "{definite} definite of {judged}");
    assert!(wrong.is_empty(), "{} of {judged}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_observation_that_is_not_predicted_is_noticed() {
    let firewall = Firewall::new(Policy::default());
    let plan = predicted(&firewall, "ls -l > listing", "/workspace");
    let seen = |event: &str| serde_json::from_str::<Seen>(&format!(r#"{{"events":[{event}]}}"#)).unwrap();
    for (event, expected) in [
        (r#"{"act":"exec","program":"ls","argv":["ls","-l"],"cwd":"/workspace"}"#, 0),
        (r#"{"act":"exec","program":"ls","argv":["ls","-la"],"cwd":"/workspace"}"#, 1),
        (r#"{"act":"exec","program":"id","argv":["id"],"cwd":"/workspace"}"#, 1),
        (r#"{"act":"exec","program":"./ls","argv":["ls","-l"],"cwd":"/workspace"}"#, 1),
        (r#"{"act":"exec","program":"/workspace/ls","argv":["z","-l"],"cwd":"/workspace"}"#, 1),
        (r#"{"act":"exec","program":"/usr/bin/ls","argv":["ls","-l"],"cwd":"/workspace"}"#, 0),
        (r#"{"act":"write","path":"/workspace/listing"}"#, 0),
        (r#"{"act":"write","path":"/workspace/other"}"#, 1),
        (r#"{"act":"delete","path":"/workspace/x"}"#, 1),
    ] {
        assert_eq!(plan.violations(&seen(event)).len(), expected, "{event}");
    }
}

/// What a recorded observation cannot show, because the order in which things happen differs from run to run: a script that
/// runs beside what writes it executes either text.
#[test]
fn what_may_be_written_while_it_runs_is_not_allowed() {
    let firewall = Firewall::new(Policy::default());
    for (command, allowed) in [
        ("{ sleep 1; sh x.sh; } & echo 'rm -rf ~' > x.sh", false),
        ("{ sleep 1; sh x.sh; } | echo 'rm -rf ~' > x.sh", false),
        ("cat <(sleep 1; sh x.sh) & echo 'rm -rf ~' > x.sh", false),
        ("coproc { sleep 1; . ./x.sh; }; echo 'rm -rf ~' > x.sh", false),
        ("{ sleep 1; sh x.sh; } & echo ls > y.sh", true),
        ("sh x.sh | cat; echo ls > x.sh; sh x.sh", true),
    ] {
        let request = Request::command(command, "/workspace", "/home/dev");
        let checked = firewall.examine(&request, &Setting::frozen()).unwrap();
        assert_eq!(checked.decision == shward::Decision::Allow, allowed, "{command}: {checked:?}");
    }
}
