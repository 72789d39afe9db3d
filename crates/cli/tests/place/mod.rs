//! A home, and a project in it, in which the real binary is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.project()).unwrap();
        place
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// The binary in the project.
    #[allow(dead_code, reason = "tests at terminals start it through other programs")]
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_shward"));
        command.args(args);
        command
    }

    /// The binary under another name. Written by a process of its own: what another test starts meanwhile would else have the file
    /// open, and it could not be executed.
    #[allow(dead_code, reason = "few tests run a copy")]
    pub(crate) fn put_binary(at: &Path) {
        let copied = Command::new("cp").args([Path::new(env!("CARGO_BIN_EXE_shward")), at]).status();
        assert!(copied.unwrap().success());
    }

    /// A program in the project, with this home and little else in its environment, nothing to read, and what it writes kept.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear();
        command.env("HOME", self.home()).env("SHWARD_TEST_HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
