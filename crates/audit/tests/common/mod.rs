//! What the tests of the log have in common.

#![allow(dead_code, reason = "each test file uses a part of it")]

use shward_audit::{Decided, Decision, Digest, Event, Input, Log, Record, Report, Verification};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn check(command: &str) -> Record {
    let decided = Decided {
        input: Input::Command(command.into()),
        cwd: Some("/workspace".into()),
        host: None,
        profile: "workspace".into(),
        policy: Digest::of(b"policy"),
        contained: false,
        decision: Decision::Allow,
        tier: 1,
        rules: vec![],
        grant: None,
        missing: Vec::new(),
        unconfined: false,
        no_process: false,
        review: None,
    };
    Record { session: None, call_id: None, event: Event::Check(decided) }
}

pub(crate) fn append(log: &Log, commands: &[&str]) {
    for command in commands {
        log.append(&check(command)).unwrap();
    }
}

pub(crate) fn verify(path: &Path) -> Report {
    Verification::new().log(path).unwrap()
}

#[track_caller]
pub(crate) fn assert_sound(path: &Path, records: u64) -> Report {
    let report = verify(path);
    assert_eq!((&report.broken, report.records), (&None, records));
    report
}

const ROLE: &str = "SHWARD_AUDIT_TEST_LOG";

/// The log that this process shall append to, if it was started by [`start_child`].
pub(crate) fn my_log() -> Option<PathBuf> {
    env::var_os(ROLE).map(PathBuf::from)
}

/// The command line and environment that run the test `child` of this test file in a process of its own.
pub(crate) fn start_child(log: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env(ROLE, log);
    command
}
