//! What the running kernel really enforces: every test builds sandboxes and looks at the host afterwards.
//!
//! Where a kernel gives no sandbox the tests say so and pass nothing off as tested. As root, everything runs a second time
//! as an ordinary user (`again_as_an_ordinary_user`).
#![allow(clippy::panic, clippy::print_stdout, clippy::print_stderr, clippy::exit, clippy::unwrap_used)]
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod ahead;
mod bubblewrap;
mod commits;
mod crash;
mod errors;
mod filesystem;
mod gate;
mod groups;
mod guarantees;
mod network;
mod open;
mod output;
mod overlay;
mod process;
mod renames;
mod roles;
mod script;
mod support;
mod syscalls;
mod terminal;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

const NOBODY: u32 = 65534;

#[test]
fn again_as_an_ordinary_user() {
    // SAFETY: no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED again_as_an_ordinary_user: not root, so the other tests are that already");
        return;
    }
    // The test program may lie where nobody else can read.
    let place = tempfile::Builder::new().permissions(PermissionsExt::from_mode(0o755)).tempdir().unwrap();
    let program = place.path().join("tests");
    // Not by a copy of our own: a child that another test starts meanwhile would hold it open for writing.
    Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    let done = Command::new(&program)
        .args(["--skip", "again_as_an_ordinary_user", "--test-threads", "2"])
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .env("HOME", "/")
        .env("TMPDIR", "/tmp")
        .process_group(0)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}\n{}", String::from_utf8_lossy(&done.stderr));
    assert!(text.contains("test result: ok"), "{text}");
}
