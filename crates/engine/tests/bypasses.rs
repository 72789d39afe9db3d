//! Wrong answers that other guards were seen to give: what they let through that is dangerous must not be allowed, and
//! what they stopped though it is harmless must not be denied, nor asked about where shward runs it.
//!
//! Many rows stand for a class by the least harmful member of it: `rm x` for any program that a guard's list of words
//! forbids, `id` for any program that runs unseen, `/etc/passwd` for any file elsewhere. The default policy allows these
//! by themselves. What must hold for them is that they were *seen*: the profile `read-only` stops the first, the plan
//! names the others.
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
use shward::{Action, Checked, Decision, Firewall, Policy, Profile, Request, Setting};

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/bypasses.jsonl");

/// Rows that no reading of the command decides, and why.
const NOT_A_MATTER_OF_READING: &[(&str, &str)] = &[
    ("cat link", "where the link leads is asked of the machine, which this test does not have"),
    ("grep -f link a.txt", "the same"),
    ("cat ..", "reading a directory fails"),
    ("X=/git sh -c 'echo one; echo two'", "the variable is the command's own, and all that it runs is echo"),
    ("tail -f a.txt", "a time limit ends it"),
    ("head -c 5", "standard input of what shward runs is its own"),
    ("yes 0123456789 | head -c 200000000", "a limit on output ends it"),
    (
        "find . | grep -delete",
        "in a shell it is harmless; whoever joins the words to one list runs something else",
    ),
    ("find . | echo -maxdepth 0 -exec id {} +", "the same"),
];

/// Whether the part that makes the row dangerous was seen, though the default policy allows it.
fn is_seen(row: &Value) -> bool {
    let strict = judge(&Firewall::new(Policy::new(Profile::ReadOnly)), row, false);
    let plan = strict.plan.as_ref().unwrap();
    let runs = |name: &str| plan.invocations.iter().any(|i| i.program.as_deref() == Some(name));
    let reads = plan.effects.iter().any(|e| e.kind == "read" && e.path.as_deref() == Some("/etc/passwd"));
    strict.decision != Decision::Allow || runs("id") || runs("whoami") || reads
}

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
    setting.plan = true;
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
            "dangerous" => {
                let excepted = NOT_A_MATTER_OF_READING.iter().any(|(command, _)| row["command"] == *command);
                check.decision != Decision::Allow || excepted || is_seen(&row)
            }
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
