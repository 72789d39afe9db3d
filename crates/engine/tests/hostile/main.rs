//! Hostile commands end in a verdict, on a small stack. How long that takes is measured by `cargo bench --bench hostile`.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod inputs;

use shward::{Decision, Firewall, MAX_COMMAND, Policy, Request, Setting};

fn decide(command: String) -> Option<Decision> {
    // The smallest stack that a host may run it on.
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let firewall = Firewall::new(Policy::default());
        let request = Request::command(command, "/workspace", "/home/dev");
        firewall.examine(&request, &Setting::frozen()).ok().map(|checked| checked.decision)
    });
    thread.unwrap().join().unwrap()
}

#[test]
fn every_family_ends_in_a_verdict() {
    for (name, input) in inputs::FAMILIES {
        for size in [10, 1000, 60_000] {
            let command = input(size);
            assert!(command.len() < 3 * size + 100, "{name} is much longer than {size}");
            let blank = command.trim().is_empty();
            assert!(blank || decide(command).is_some(), "{name}, {size}");
        }
    }
}

/// A dangerous command at the end of what uses up the budgets is not lost from sight.
#[test]
fn what_comes_after_a_flood_is_not_allowed() {
    for (name, input) in inputs::FAMILIES {
        // What comes after it is its text.
        if *name == "unterminated documents" {
            continue;
        }
        let decision = decide(format!("{}\nrm -rf /etc", input(20_000)));
        assert!(decision.is_none_or(|decision| decision > Decision::Allow), "{name}");
    }
}

/// What is gone through again and again is paid for: where there is too much of it, the rest is not followed.
#[test]
fn what_is_gone_through_again_and_again_is_paid_for() {
    for wanted in [
        "python dictionaries",
        "python uses of a long path",
        "elements that are read",
        "last elements",
        "counted parameters",
        "parts of a long variable",
        "lengths of a long variable",
        "files of a directory",
        "archives of a directory",
    ] {
        let family = inputs::FAMILIES.iter().find(|(name, _)| *name == wanted);
        let (_, input) = family.unwrap_or_else(|| panic!("{wanted} is no family"));
        assert!(decide(input(240_000)) > Some(Decision::Allow), "{wanted}");
        assert_eq!(decide(input(1000)), Some(Decision::Allow), "{wanted}");
    }
}

/// What grows with each branch that may have been gone is paid for: it took gigabytes, or seconds.
#[test]
fn what_grows_from_branch_to_branch_is_paid_for() {
    for wanted in ["functions that differ in branches", "directories in branches"] {
        let family = inputs::FAMILIES.iter().find(|(name, _)| *name == wanted);
        let (_, input) = family.unwrap_or_else(|| panic!("{wanted} is no family"));
        assert_eq!(decide(input(240_000)), Some(Decision::Deny), "{wanted}");
        assert_eq!(decide(input(1000)), Some(Decision::Ask), "{wanted}");
    }
}

/// Many options are looked up otherwise than a few, and mean the same.
#[test]
fn many_options_mean_what_a_few_mean() {
    for (command, decision) in [
        ("mv @-t /etc a", Decision::Deny),
        ("mv @-t build -T /etc a", Decision::Deny),
        ("mv @-t d a", Decision::Allow),
        ("bzip2 @-k a", Decision::Allow),
        ("bzip2 @a /etc/b", Decision::Deny),
    ] {
        for options in ["-f ", &"-f ".repeat(100)] {
            assert_eq!(decide(command.replace('@', options)), Some(decision), "{command}");
        }
    }
}

#[test]
fn the_longest_command_is_judged_and_a_longer_one_is_not() {
    let command = |length: usize| format!("ls {}", "a".repeat(length - 3));
    assert_eq!(decide(command(MAX_COMMAND)), Some(Decision::Allow));
    assert_eq!(decide(command(MAX_COMMAND + 1)), None);
}
