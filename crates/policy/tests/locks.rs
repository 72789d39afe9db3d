//! What the system locks nobody after it changes: by no spelling of the key, and by no profile.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod judging;

use judging::judge;
use shward_policy::{BadPolicy, Decision, Layer, Policy, Source};

fn source(layer: Layer, text: &str) -> Source {
    Source { layer, name: format!("{}.toml", layer.name()), text: text.to_owned() }
}

fn load(profile: Option<&str>, system: &str, user: &str) -> Result<Policy, BadPolicy> {
    Policy::from_sources(profile, &[source(Layer::System, system), source(Layer::User, user)])
}

fn decides(policy: &Policy, command: &str) -> Decision {
    judge(policy, command, false).decision()
}

#[test]
fn a_locked_key_is_set_by_no_spelling() {
    let table = [
        ("limits", "[limits]\ntimeout = 5\n"),
        ("limits", "limits.timeout = 5\n"),
        ("limits", "limits = { timeout = 5 }\n"),
        ("limits", "\"limits\".'timeout' = 5\n"),
        ("limits", "[\"limits\"]\nmemory = 1048576\n"),
        ("limits", "[[timeout]]\nclass = \"t\"\ncommands = [\"make\"]\nseconds = 900\n"),
        ("checks", "[checks]\nnetwork = \"allow\"\n"),
        ("checks", "checks.default = \"allow\"\n"),
        ("rule", "[[rule]]\nid = \"a\"\ndecision = \"allow\"\nprogram = \"curl\"\n"),
        ("rule", "rule = [{ id = \"a\", tier = 2, program = \"curl\" }]\n"),
        ("programs", "programs.allow = [\"x\"]\n"),
        ("programs", "[programs]\nskips = \"risk\"\n"),
        ("paths", "[paths]\nallow = [\"/\"]\n"),
        ("tiers", "tiers.default = 1\n"),
        ("binary", "[[binary]]\npath = \"/bin/x\"\n"),
        ("rate", "[[rate]]\nper = \"all\"\ncount = 1\nseconds = 1\n"),
        ("network", "network.allow = [\"example.com\"]\n"),
        ("sandbox", "sandbox.accept-missing = [\"net-ns\"]\n"),
        ("environment", "environment.set = { A = \"1\" }\n"),
        ("gatekeeper", "gatekeeper.program = \"/bin/yes\"\n"),
        ("undo", "undo.runs = 0\n"),
        ("extends", "extends = \"open\"\n"),
        ("shell", "\"sh\\u0065ll\" = \"full\"\n"),
    ];
    for (key, text) in table {
        assert!(load(None, "", text).is_ok(), "{text}");
        let refused = load(None, &format!("lock = [\"{key}\"]\n"), text);
        let message = refused.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message.contains("is locked by system.toml:1"), "{key}: {text}: {message}");
    }
    for wrong in ["lock = [\"nonsense\"]\n", "lock = [\"limits.timeout\"]\n", "lock = [\"Checks\"]\n"] {
        assert!(load(None, wrong, "").is_err(), "{wrong}");
    }
}

/// A profile lies below the system's files, and so would change what they lock without setting it.
#[test]
fn where_something_is_locked_a_profile_only_tightens() {
    let (ask, write) = ("curl https://example.com/x", "touch a");
    let open = "extends = \"open\"\n";
    let decided = |profile, system: &str, user: &str, command| {
        decides(&load(profile, system, user).expect("a policy"), command)
    };
    assert_eq!(decided(None, "", open, ask), Decision::Allow);
    assert_eq!(decided(Some("open"), "", "", ask), Decision::Allow);
    for system in
        ["lock = [\"checks\"]\n", "lock = [\"shell\"]\n", "extends = \"workspace\"\nlock = [\"rule\"]\n"]
    {
        assert_eq!(decided(None, system, open, ask), Decision::Ask, "{system}");
        assert_eq!(decided(Some("open"), system, "", ask), Decision::Ask, "{system}");
        assert_eq!(decided(None, system, "extends = \"read-only\"\n", write), Decision::Deny, "{system}");
        assert_eq!(decided(Some("read-only"), system, "", write), Decision::Deny, "{system}");
        assert_eq!(decided(None, system, "", write), Decision::Allow, "{system}");
    }
    let system = "extends = \"read-only\"\nlock = [\"extends\"]\n";
    assert_eq!(decided(Some("open"), system, "", write), Decision::Deny);
    assert!(load(None, system, open).is_err());
    // The system itself may build on what it likes, and locks for those after it.
    assert_eq!(decided(None, "extends = \"open\"\nlock = [\"checks\"]\n", "", ask), Decision::Allow);
}
