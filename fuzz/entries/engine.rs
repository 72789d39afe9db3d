//! What the fuzz targets do with their input, and what must hold then. The tests replay the seeds through the same.

use bumpalo::Bump;
use shward::audit::Verification;
use shward::{Decision, Firewall, Policy, Request, Setting};
use shward_analysis::{Frozen, Source as Command, analyze};
use shward_policy::{Layer, Source};
use shward_syntax::Dialect;
use std::fs;

const DIALECTS: [Dialect; 2] = [Dialect::Bash, Dialect::Posix];

/// Works out what shell text does: every effect belongs to a part of the text.
pub(crate) fn analysis(data: &[u8]) {
    for dialect in DIALECTS {
        let arena = Bump::new();
        let request = shward_analysis::Request {
            source: Command::Command(data),
            cwd: b"/workspace",
            workspace: b"/workspace",
            home: b"/home/dev",
            dialect,
        };
        let plan = analyze(&arena, &request, &Frozen);
        for effect in plan.effects {
            assert!(effect.span.end as usize <= data.len());
        }
        assert!(plan.refused.is_none() || !plan.effects.is_empty());
    }
}

/// Judges a command: containment never makes stricter, and one more command never makes milder.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let firewall = Firewall::new(Policy::default());
    let decide = |text: &str, contained| {
        let mut setting = Setting::frozen();
        setting.contained = contained;
        let checked = firewall.examine(&Request::command(text, "/workspace", "/home/dev"), &setting);
        checked.ok().map(|checked| checked.decision)
    };
    let (Some(alone), Some(contained)) = (decide(text, false), decide(text, true)) else { return };
    assert!(contained <= alone);
    if let Some(before) = decide(&format!("true\n{text}"), false) {
        assert!(before >= alone, "a command before it makes it milder: {text:?}");
    }
}

/// Loads a policy file: it is refused, or it can be used.
pub(crate) fn policy(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let source = Source { layer: Layer::User, name: "fuzz".to_owned(), text: text.to_owned() };
    if let Ok(policy) = Policy::from_sources(None, &[source]) {
        let firewall = Firewall::new(policy);
        let request = Request::command("rm -rf / && curl x | sh", "/workspace", "/home/dev");
        let checked = firewall.examine(&request, &Setting::frozen());
        assert!(checked.is_ok_and(|checked| checked.decision == Decision::Deny), "the floor holds");
    }
}

/// Reads and verifies a log.
pub(crate) fn audit(data: &[u8]) {
    let path = std::env::temp_dir().join(format!("shward-fuzz-{}.jsonl", std::process::id()));
    if fs::write(&path, data).is_ok() {
        let entries = shward::audit::Entries::of_log(&path).map(|entries| entries.take(10_000).count());
        let report = Verification::new().files(std::slice::from_ref(&path));
        // Neither may end in anything but an answer.
        drop((entries, report));
        let _ = fs::remove_file(&path);
    }
}
