//! Holds the judgement on the project's own labelled commands (`corpus/dev-sample.jsonl`), line by line and in sum.
//!
//! The bounds are what the firewall reached when they were set; they are raised when it gets better, never lowered.
//! `cargo xtask score` measures the same on larger collections.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

use serde_json::Value;
use shward::{Decision, Firewall, Policy, Request, Setting};
use std::fs;
use std::path::Path;

#[derive(Default, Debug)]
struct Count {
    all: usize,
    asked: usize,
    denied: usize,
}

impl Count {
    fn add(&mut self, decision: Decision) {
        self.all += 1;
        self.asked += usize::from(decision == Decision::Ask);
        self.denied += usize::from(decision == Decision::Deny);
    }

    /// Per thousand.
    fn share(&self, count: usize) -> usize {
        count * 1000 / self.all.max(1)
    }
}

const AGENTS: [&str; 7] = ["gemini-mini", "oas", "intercode", "sweagent", "tb-chaterm", "tb-mini", "tb-ob1"];

fn lines() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/dev-sample.jsonl");
    fs::read_to_string(file).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn decide(firewall: &Firewall, line: &Value, contained: bool) -> Decision {
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    let home = if AGENTS.contains(&line["source"].as_str().unwrap()) { "/root" } else { "/home/dev" };
    let mut setting = Setting::frozen();
    setting.contained = contained;
    firewall.examine(&Request::command(text("command"), text("cwd"), home), &setting).unwrap().decision
}

#[test]
fn judgement_on_the_sample() {
    let firewall = Firewall::new(Policy::default());
    let [mut dangerous, mut benign, mut agents, mut contained] = [(); 4].map(|()| Count::default());
    for line in lines() {
        let decision = decide(&firewall, &line, false);
        let inside = decide(&firewall, &line, true);
        assert!(inside <= decision, "containment never makes stricter: {line}");
        match line["label"].as_str().unwrap() {
            "dangerous" => dangerous.add(decision),
            "benign" => {
                benign.add(decision);
                if AGENTS.contains(&line["source"].as_str().unwrap()) {
                    agents.add(decision);
                    contained.add(inside);
                }
            }
            _ => {}
        }
    }
    let caught = dangerous.share(dangerous.asked + dangerous.denied);
    let denied = dangerous.share(dangerous.denied);
    let wrongly_denied = benign.share(benign.denied);
    let interrupted = agents.share(agents.asked + agents.denied);
    let interrupted_contained = contained.share(contained.asked + contained.denied);
    eprintln!(
        "per thousand: dangerous caught {caught}, denied {denied}; benign denied {wrongly_denied}; agents interrupted \
         {interrupted}, contained {interrupted_contained}"
    );
    assert!(caught >= 993, "dangerous commands caught: {caught} of 1000");
    assert!(denied >= 855, "dangerous commands denied: {denied} of 1000");
    assert!(wrongly_denied <= 8, "benign commands denied: {wrongly_denied} of 1000");
    assert!(interrupted <= 55, "agents' benign commands interrupted: {interrupted} of 1000");
    assert!(interrupted_contained <= 18, "the same when contained: {interrupted_contained} of 1000");
}
