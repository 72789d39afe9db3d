//! One command: what was observed beside what was predicted.

use super::campaign::{Candidate, observe, predict};
use super::protocol::{Act, Event};
use super::worker::Room;
use crate::Failure;
use crate::plan::Plan;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn command(binary: &Path, candidate: &Candidate, json: bool) -> Result<ExitCode, Failure> {
    let plan = predict(binary, std::slice::from_ref(candidate))?.pop().flatten();
    let plan = plan.ok_or("the command could not be judged")?.plan;
    let observed = observe(&mut Room::open(None)?, candidate)?;
    let mut clean = true;
    if !json {
        println!("predicted{}", if plan.is_open() { ", with something that may do anything" } else { "" });
        predicted(&plan);
    }
    for (answer, seen) in &observed {
        let unpredicted = plan.violations(seen);
        clean &= unpredicted.is_empty();
        if json {
            println!("{}", serde_json::json!({"answer": answer, "seen": seen, "unpredicted": unpredicted}));
            continue;
        }
        let limit = seen.limit.as_ref().map(|limit| format!(", ended early: {limit}")).unwrap_or_default();
        println!("observed, other programs give {answer:?}{limit}");
        for event in &seen.events {
            let mark = if unpredicted.contains(&event) { "  UNPREDICTED" } else { "" };
            println!("  {}{mark}", described(event));
        }
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn predicted(plan: &Plan) {
    for invocation in plan.invocations.iter().filter(|invocation| !invocation.builtin) {
        let words: Vec<_> = invocation
            .argv
            .iter()
            .map(|word| word.as_ref().map_or("…".to_owned(), |word| format!("{word:?}")))
            .collect();
        println!("  exec {}  in {}", words.join(" "), invocation.cwd.as_deref().unwrap_or("…"));
    }
    for effect in &plan.effects {
        let path = effect.path.as_deref().unwrap_or_default();
        let rest = if effect.tree { "tree" } else { effect.rest.as_deref().unwrap_or_default() };
        println!("  {} {path} {rest} {}", effect.kind, effect.detail.as_deref().unwrap_or_default());
    }
}

fn described(event: &Event) -> String {
    let what = match &event.act {
        Act::Exec { argv, cwd, program } => {
            let words: Vec<_> = argv.iter().map(|word| format!("{word:?}")).collect();
            let named = argv.first().is_some_and(|word| word == program);
            let file = if named { String::new() } else { format!(" ({program})") };
            format!("exec {}{file}  in {cwd}", words.join(" "))
        }
        Act::Write { path, link: None } => format!("write {path}"),
        Act::Write { path, link: Some(aim) } => format!("write {path} -> {aim}"),
        Act::Delete { path } => format!("delete {path}"),
        Act::Metadata { path } => format!("metadata {path}"),
    };
    if event.by.is_empty() { what } else { format!("{what}  by {}", event.by.join(" > ")) }
}
