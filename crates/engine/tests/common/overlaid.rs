//! A workspace that is a repository, on an overlay.

#![allow(dead_code, reason = "each test uses a part")]

use crate::common::{Place, sandboxed};
use shward::{Action, Error, Firewall, Outcome, Policy, Request, RunOptions, Undoing};
use std::fs;
use std::process::Command;

/// A home with a repository in it; `None` where no overlay is to be had.
pub(crate) fn place() -> Option<Place> {
    if !sandboxed() {
        return None;
    }
    let place = Place::new();
    if let Err(error) = place.undoing().store(&place.workspace) {
        eprintln!("SKIPPED: {error}");
        return None;
    }
    for arguments in
        [&["init", "-q"][..], &["config", "user.name", "n"], &["config", "user.email", "e@example.com"]]
    {
        assert!(place.git(arguments).status.success());
    }
    fs::write(place.workspace.join("data.txt"), "data\n").unwrap();
    Some(place)
}

impl Place {
    pub(crate) fn undoing(&self) -> Undoing {
        Undoing::new(self.home.join(".local/state/shward"))
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> std::process::Output {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(&self.workspace).env_clear().env("PATH", "/usr/bin:/bin");
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &self.home).output().unwrap()
    }

    /// Runs a script under the profile that denies only the floor, so that what holds is the overlay.
    pub(crate) fn run_with(&self, script: &str, options: &RunOptions) -> Result<Outcome, Error> {
        self.run_under(&Policy::of_profile("open").unwrap(), script, options)
    }

    pub(crate) fn run_under(
        &self,
        policy: &Policy,
        script: &str,
        options: &RunOptions,
    ) -> Result<Outcome, Error> {
        self.run_by(&Firewall::new(policy.clone()).with_undoing(self.undoing()), script, options)
    }

    pub(crate) fn run_by(
        &self,
        firewall: &Firewall,
        script: &str,
        options: &RunOptions,
    ) -> Result<Outcome, Error> {
        fs::write(self.workspace.join("tool.sh"), script).unwrap();
        let argv = ["bash", "tool.sh"].map(str::to_owned).to_vec();
        let request =
            Request { action: Action::Argv(argv), ..Request::command("", &self.workspace, &self.home) };
        firewall.run(&request, options, &mut |_, _| {})
    }

    pub(crate) fn run(&self, script: &str) -> Outcome {
        let outcome = self.run_with(script, &RunOptions::default()).unwrap();
        assert!(outcome.executed, "{script}: {outcome:?}");
        outcome
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.workspace.join(path)).ok()
    }
}
