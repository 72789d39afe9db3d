//! Runs on an overlay are taken back, for as long as the policy says, and that is recorded.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

mod common;
#[path = "common/overlaid.rs"]
mod overlaid;

use overlaid::place;
use shward::audit::{Digest, Entries, Event, Log, Text};
use shward::policy::{Layer, Source};
use shward::{Containment, Error, Firewall, Policy, RunOptions};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

#[test]
fn a_run_is_taken_back() {
    let Some(place) = place() else { return };
    let outcome = place.run("echo more >> data.txt; mkdir d; echo x > d/f");
    let id = outcome.ending.unwrap().changes.unwrap().undo.unwrap();
    let kept = place.undoing().list(&place.workspace).unwrap();
    assert_eq!((kept.len(), kept.first().unwrap().id.as_str()), (1, id.as_str()));
    let undone = place.undoing().undo(&place.workspace, &id).unwrap();
    assert!(undone.skipped.is_empty(), "{undone:?}");
    assert_eq!(place.read("data.txt").as_deref(), Some("data\n"));
    assert!(!place.workspace.join("d").exists());
    assert!(place.undoing().undo(&place.workspace, &id).is_err());
}

/// The profile that denies only the floor, with a layer over it, and one that may only tighten.
fn policy(text: &str, tightening: &str) -> Policy {
    let source = |layer, text: &str| Source { layer, name: format!("{layer:?}"), text: text.to_owned() };
    let below = format!("extends = \"open\"\n{text}");
    let above: &[Source] = match tightening {
        "" => &[],
        text => &[source(Layer::Project, text)],
    };
    Policy::from_layers(None, &[source(Layer::User, &below)], above).unwrap()
}

#[test]
fn a_policy_says_how_much_is_kept() {
    let Some(place) = place() else { return };
    let kept = |policy: &Policy, scripts: &[&str]| {
        let mut undo = None;
        for script in scripts {
            let outcome = place.run_under(policy, script, &RunOptions::default()).unwrap();
            undo = outcome.ending.unwrap().changes.unwrap().undo;
        }
        (place.undoing().list(&place.workspace).unwrap().len(), undo.is_some())
    };
    let scripts = ["echo 1 > data.txt", "echo 2 > data.txt", "echo 3 > data.txt"];
    assert_eq!(kept(&policy("", ""), &scripts), (3, true));
    assert_eq!(kept(&policy("[undo]\nruns = 2\n", ""), &scripts[..1]), (2, true));
    assert_eq!(
        kept(&policy("[undo]\nsize = 1000000\n", "[limits]\ntimeout = 9\n"), &scripts[..1]),
        (3, true)
    );
    // What is not kept at all is not promised.
    assert_eq!(kept(&policy("[undo]\nsize = 0\n", ""), &scripts[..1]), (0, false));
    assert_eq!(kept(&policy("[undo]\nage = 0\n", ""), &scripts[..1]), (0, false));
    assert_eq!(kept(&policy("[undo]\nruns = 0\n", ""), &scripts[..1]), (0, false));
    assert_eq!(place.read("data.txt").as_deref(), Some("1\n"));
}

/// Of all layers the strictest counts.
#[test]
fn a_policy_says_whether_a_run_may_write_straight_to_the_workspace() {
    let Some(place) = place() else { return };
    let (plain, mut live) = (RunOptions::default(), RunOptions::default());
    live.live = true;
    let word = |word: &str| format!("[sandbox]\nlive = {word:?}\n");
    for (user, project, [plainly, asked, fallback]) in [
        ("allow", "", [true, true, true]),
        ("fallback", "", [true, false, true]),
        ("deny", "", [true, false, false]),
        ("allow", "deny", [true, false, false]),
        ("deny", "allow", [true, false, false]),
        ("fallback", "allow", [true, false, true]),
    ] {
        let above = if project.is_empty() { String::new() } else { word(project) };
        let policy = policy(&word(user), &above);
        let nowhere = Firewall::new(policy.clone());
        let layered = Firewall::new(policy).with_undoing(place.undoing());
        for (firewall, options, expected) in
            [(&layered, &plain, plainly), (&layered, &live, asked), (&nowhere, &plain, fallback)]
        {
            match place.run_by(firewall, "true", options) {
                Ok(outcome) => assert!(outcome.executed && expected, "{user} {project} {options:?}"),
                Err(Error::Straight(..)) => assert!(!expected, "{user} {project} {options:?}"),
                Err(error) => panic!("{user} {project}: {error}"),
            }
        }
    }
    // What changes nothing is no matter of that.
    let mut reading = live;
    reading.containment = Containment::ReadOnly;
    assert!(place.run_under(&policy(&word("deny"), ""), "true", &reading).unwrap().executed);
}

#[test]
fn taking_back_is_recorded_before_and_after() {
    let Some(place) = place() else { return };
    place.run("echo more >> data.txt; echo x > f");
    fs::write(place.workspace.join("f"), "mine").unwrap();
    let path = place.home.join("log.jsonl");
    let log = Log::open(&path).unwrap();
    let undoing = place.undoing();
    let id = undoing.list(&place.workspace).unwrap().remove(0).id;
    assert!(matches!(
        undoing.undo_recorded(&place.workspace, "rffff", "somebody", &log),
        Err(Error::Kept(_))
    ));
    let report = undoing.undo_recorded(&place.workspace, &id, "somebody", &log).unwrap();
    assert_eq!((report.restored.len(), report.skipped.len()), (1, 1), "{report:?}");
    let entries: Vec<_> = Entries::of_log(&path).unwrap().map(|entry| entry.unwrap()).collect();
    let [begun, done] = entries.as_slice() else { panic!("{entries:?}") };
    let (Event::Undo(begin), Event::Undone(end)) = (&begun.record.event, &done.record.event) else {
        panic!("{entries:?}");
    };
    assert_eq!((begin.id.as_str(), begin.by.as_str()), (id.as_str(), "somebody"));
    assert_eq!(begin.workspace, Text::from(place.workspace.as_path()));
    assert_eq!((end.undo, end.restored, end.left), (begun.seq, 1, 1));
    assert_eq!(end.paths, Digest::of(b"+data.txt\0-f\0"));
    // What cannot be recorded is not done.
    place.run("echo again >> data.txt");
    let id = undoing.list(&place.workspace).unwrap().remove(0).id;
    let full = Log::open(Path::new("/dev/full"));
    if let Ok(full) = full {
        assert!(undoing.undo_recorded(&place.workspace, &id, "somebody", &full).is_err());
    }
    assert_eq!(place.read("data.txt").as_deref(), Some("data\nagain\n"));
}

#[test]
fn the_store_is_of_this_user_alone() {
    let Some(place) = place() else { return };
    place.run("echo x > f");
    let store = place.undoing().store(&place.workspace).unwrap();
    let mode = fs::metadata(store.root()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    fs::set_permissions(store.root(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(place.undoing().store(&place.workspace).is_err());
}
