//! What tests of runs begin with: a home and a workspace of their own, where this kernel gives a sandbox.

#![allow(dead_code, reason = "each test uses a part")]

use shward::Policy;
use shward::policy::{Layer, Source};
use std::fs;
use std::path::PathBuf;

/// Whether there is a sandbox here. Where there is none it is said, because a test that is left out passes.
pub(crate) fn sandboxed() -> bool {
    let works = shward_sandbox::probe().works();
    if !works {
        eprintln!("SKIPPED: this kernel gives no sandbox");
    }
    works
}

/// A home with a workspace in it. Both go with the value.
pub(crate) struct Place {
    _directory: tempfile::TempDir,
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap().join("home");
        let workspace = home.join("project");
        fs::create_dir_all(&workspace).unwrap();
        Self { _directory: directory, home, workspace }
    }
}

/// A user's policy.
pub(crate) fn policy(text: &str) -> Policy {
    let source = Source { layer: Layer::User, name: "test".to_owned(), text: text.to_owned() };
    Policy::from_sources(None, &[source]).unwrap()
}
