//! `cargo tuned`: a command of Cargo's for whose builds the compiler is told what runs often.
//!
//! Which branches are taken, which functions call each other most: the compiler guesses, unless it is given counts from a
//! program that ran. They stand in `crates/cli/counts.profdata`, by the names of functions and the shape of their code, so
//! what has changed since they were taken is built as ever, and an old profile costs time, never a build. `cargo xtask
//! profile` takes them anew.
//!
//! Source: the rustc book, "Profile-guided Optimization".

mod train;

pub(crate) use train::run as profile;

use crate::Failure;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Relative to the root.
const PROFILE: &str = "crates/cli/counts.profdata";

/// What parts one flag from the next in `CARGO_ENCODED_RUSTFLAGS`, in which a path may have blanks.
const BETWEEN: &str = "\u{1f}";

pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<ExitCode, Failure> {
    let profile = root.join(PROFILE);
    let mut flag = OsString::from("-Cprofile-use=");
    flag.push(&profile);
    // Code that has changed since is told by its shape, and built without.
    let flags: &[&OsStr] = if profile.exists() {
        &[&flag, "-Cllvm-args=-no-pgo-warn-mismatch".as_ref()]
    } else {
        eprintln!("{PROFILE} is not there: the compiler guesses what runs most (cargo xtask profile)");
        &[]
    };
    let status = cargo(flags).args(arguments).status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Cargo, with these flags for the compiler beside those that it was given.
fn cargo(flags: &[&OsStr]) -> Command {
    let mut all: Vec<OsString> = match (env::var_os("CARGO_ENCODED_RUSTFLAGS"), env::var("RUSTFLAGS")) {
        (Some(encoded), _) => vec![encoded],
        (None, Ok(plain)) => plain.split_whitespace().map(OsString::from).collect(),
        (None, Err(_)) => Vec::new(),
    };
    all.retain(|flag| !flag.is_empty());
    all.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.env("CARGO_ENCODED_RUSTFLAGS", all.join(OsStr::new(BETWEEN)));
    command
}
