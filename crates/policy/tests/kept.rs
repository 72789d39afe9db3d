//! What is kept of a file is the same policy, and counts for that very file only; rules are found however many there are.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod judging;
mod sources;

use judging::judge;
use shward_policy::{Decision, Document, Layer, Policy, Source};
use sources::{decision, policy, source};

/// A file of 200 rules, with settings before, between and after them.
fn long_file() -> String {
    let rules = |from: usize| -> String {
        (from..from + 100)
            .map(|n| {
                format!(
                    "[[rule]]\nid = 'r{n}'\ndecision = 'ask'\nprogram = ['p{n}', 'q*']\noperand = '/srv/{n}/*'\nreason = 'No. {n}'\n\n"
                )
            })
            .collect()
    };
    format!(
        "asked = 'deny'\n{}[programs]\ndeny = 'nc' # not this\n{}[limits]\ntimeout = 7\n",
        rules(0),
        rules(100)
    )
}

#[test]
fn what_is_kept_of_a_file_is_the_same_policy() {
    let user = source(Layer::User, &long_file());
    let read = Document::parse(user.clone()).expect("it is a policy");
    let kept = Document::kept(user, read.keep().expect("it has rules")).expect("it is of this file");
    let [read, kept] = [read, kept].map(|d| Policy::from_documents(None, &[d], &[]).expect("it fits"));
    assert_eq!(read, kept);
    assert_eq!(read.canonical(), kept.canonical());
    for command in ["nc -l 1", "p7 x", "cat /srv/107/a", "quux /srv/3/x", "ls"] {
        assert_eq!(judge(&read, command, false), judge(&kept, command, false), "{command}");
    }
    let origin = |policy: &Policy| {
        let verdict = judge(policy, "p107 /srv/107/a", false);
        verdict.findings().iter().find(|f| f.rule == "r107").and_then(|f| f.origin.clone()).map(|o| o.line)
    };
    assert_eq!((origin(&read), origin(&kept)), (Some(753), Some(753)));
    assert!(Document::parse(source(Layer::User, "asked = 'deny'")).expect("it fits").keep().is_none());
}

#[test]
fn what_is_kept_counts_for_that_very_file_only() {
    let text = long_file();
    let bytes =
        Document::parse(source(Layer::User, &text)).expect("it is a policy").keep().expect("it has rules");
    let changed = text.replacen("'ask'", "'deny'", 1);
    let renamed = Source { name: "other.toml".to_owned(), ..source(Layer::User, &text) };
    for other in [
        source(Layer::User, &changed),
        source(Layer::User, text.trim_start_matches('a')),
        source(Layer::User, &format!("{text} ")),
        source(Layer::System, &text),
        renamed,
    ] {
        assert_eq!(Document::kept(other.clone(), bytes.clone()).expect_err("it is another"), other);
    }
    let user = || source(Layer::User, &text);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(Document::kept(user(), damaged).is_err(), "byte {at}");
    }
    for at in (0..bytes.len()).step_by(7) {
        assert!(Document::kept(user(), bytes[..at].to_vec()).is_err(), "{at} bytes");
    }
}

/// Rules are found by hashes of names, by kinds, and when the program is not known: each way finds what trying all finds.
#[test]
fn no_rule_is_lost_among_many() {
    let text: String = (0..3000)
        .map(|n| {
            format!(
                "[[rule]]\nid = 'r{n}'\ndecision = 'deny'\nprogram = ['tool{n}', '/opt/x/other{n}', 'both']\n"
            )
        })
        .collect();
    let policy = policy(&text);
    for n in (0..3000).step_by(11) {
        for command in [format!("tool{n} x"), format!("/a/b/tool{n}"), format!("/opt/x/other{n}")] {
            let verdict = judge(&policy, &command, false);
            let rule = format!("r{n}");
            assert!(verdict.findings().iter().any(|f| f.rule == rule), "{command}");
        }
    }
    assert_eq!(decision(&policy, "both"), Decision::Deny);
    assert_eq!(decision(&policy, "tool3000"), Decision::Ask);
    assert_eq!(decision(&policy, "ls"), Decision::Allow);
}
