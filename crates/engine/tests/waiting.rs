//! Waiting for a command to exit with 0.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a panic is how a test fails")]

mod common;

use shward::policy::{Layer, Source};
use shward::reviewing::{Limiter, StateDir};
use shward::{
    Decision, Error, Firewall, Policy, Request, Reviewers, RunOptions, Waited, Waiting, rate_limits,
};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

struct Place {
    _directory: tempfile::TempDir,
    home: PathBuf,
}

impl Place {
    fn new() -> Option<Self> {
        if !common::sandboxed() {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap().join("home");
        fs::create_dir_all(home.join("project")).unwrap();
        Some(Self { _directory: directory, home })
    }

    fn request(&self, command: &str) -> Request {
        let mut request = Request::command(command, self.home.join("project"), &self.home);
        request.call_id = Some("call".to_owned());
        request
    }

    fn wait(&self, firewall: &Firewall, command: &str, most: u64) -> Waited {
        let waiting = Waiting { most: Duration::from_secs(most), every: Duration::from_secs(1) };
        firewall.wait_for(&self.request(command), &RunOptions::default(), &waiting, &mut |_, _| {}).unwrap()
    }
}

#[test]
fn it_waits_until_a_condition_is_met_and_no_longer() {
    let Some(place) = Place::new() else { return };
    let firewall = Firewall::new(Policy::default());
    let flag = place.home.join("project/flag");
    let waited = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1500));
            fs::write(&flag, "").unwrap();
        });
        place.wait(&firewall, "test -e flag", 60)
    });
    assert!(waited.met && waited.attempts >= 2, "{waited:?}");
    let at_once = place.wait(&firewall, "test -e flag", 60);
    assert!(at_once.met && at_once.attempts == 1, "{at_once:?}");
    let started = Instant::now();
    let never = place.wait(&firewall, "false", 3);
    assert!(!never.met && never.attempts >= 2, "{never:?}");
    let slow = place.wait(&firewall, "sleep 100", 2);
    assert!(!slow.met && slow.outcome.ending.unwrap().timed_out);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    let denied = place.wait(&firewall, "cat ~/.ssh/id_rsa", 60);
    assert_eq!((denied.met, denied.attempts, denied.outcome.verdict.decision), (false, 1, Decision::Deny));
}

#[test]
fn all_attempts_are_one_for_the_limits() {
    let Some(place) = Place::new() else { return };
    let text = "[[rate]]\nper = \"all\"\ncount = 2\nseconds = 3600\n".to_owned();
    let source = Source { layer: Layer::User, name: "test".to_owned(), text };
    let policy = Policy::from_sources(None, &[source]).unwrap();
    let limiter = Limiter::new(StateDir::new(place.home.join("state")), rate_limits(&policy));
    let firewall = Firewall::new(policy).with_reviewers(Reviewers::new().limiter(limiter));
    let waited = place.wait(&firewall, "false", 4);
    assert!(waited.attempts >= 3 && waited.outcome.executed, "{waited:?}");
    assert!(place.wait(&firewall, "true", 4).met, "the second of two");
    let over = place.wait(&firewall, "true", 4);
    assert_eq!((over.attempts, over.outcome.executed), (1, false));
    assert!(over.outcome.verdict.rate_limit.is_some_and(|limit| limit.refused));
}

#[test]
fn waiting_is_cancelled_by_the_id_of_its_call() {
    let Some(place) = Place::new() else { return };
    let firewall = Firewall::new(Policy::default());
    let waited = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1500));
            assert!(firewall.cancel("call") > 0);
        });
        place.wait(&firewall, "false", 300)
    });
    assert!(!waited.met && waited.outcome.ending.unwrap().cancelled);
}

#[test]
fn what_is_too_long_or_too_often_is_refused_and_not_cut() {
    let directory = tempfile::tempdir().unwrap();
    let firewall = Firewall::new(Policy::default());
    let request = Request::command("true", directory.path(), directory.path());
    for (most, every) in [(601, 5_000), (120, 0), (120, 999), (120, 61_000)] {
        let waiting = Waiting { most: Duration::from_secs(most), every: Duration::from_millis(every) };
        let waited = firewall.wait_for(&request, &RunOptions::default(), &waiting, &mut |_, _| {});
        assert!(matches!(waited, Err(Error::BadWaiting)), "{most} {every}");
    }
}
