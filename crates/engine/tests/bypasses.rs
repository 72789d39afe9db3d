//! Wrong answers that other guards were seen to give: what they let through that is dangerous must not be allowed, and
//! what they stopped though it is harmless must not be denied, nor asked about where shward runs it.
//!
//! The list lies beside the project, not in it; where it is not there, the test says so and does nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

use serde_json::Value;
use shward::{Action, Checked, Decision, Firewall, Policy, Request, Setting};

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/bypasses.jsonl");

fn action(row: &Value) -> Action {
    match &row["command"] {
        Value::Array(words) => {
            Action::Argv(words.iter().map(|word| word.as_str().unwrap().to_owned()).collect())
        }
        text => Action::Command(text.as_str().unwrap().to_owned()),
    }
}

fn judge(firewall: &Firewall, row: &Value, contained: bool) -> Checked {
    let mut setting = Setting::frozen();
    setting.contained = contained;
    let request = Request { action: action(row), ..Request::command("", "/home/dev/proj", "/home/dev") };
    firewall.examine(&request, &setting).unwrap()
}

#[test]
fn the_mistakes_of_others_are_not_repeated() {
    let Ok(rows) = std::fs::read_to_string(LIST) else {
        eprintln!("SKIPPED: the list of other guards' mistakes is not there");
        return;
    };
    let firewall = Firewall::new(Policy::default());
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for line in rows.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (check, contained) = (judge(&firewall, &row, false), judge(&firewall, &row, true));
        let right = match row["truth"].as_str().unwrap() {
            "dangerous" => check.decision != Decision::Allow,
            "harmless" => check.decision != Decision::Deny && contained.decision == Decision::Allow,
            other => panic!("{other}: neither dangerous nor harmless"),
        };
        judged += 1;
        if !right {
            let rules =
                |checked: &Checked| checked.findings.iter().map(|f| f.rule.clone()).collect::<Vec<_>>();
            wrong.push(format!(
                "{} is {}: {} {:?}, contained {} {:?}",
                row["command"],
                row["truth"],
                check.decision,
                rules(&check),
                contained.decision,
                rules(&contained)
            ));
        }
    }
    assert!(judged > 200, "only {judged} rows were judged");
    assert!(wrong.is_empty(), "{} of {judged} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
