//! What `explain` says about commands of every kind, word for word. Whoever changes a rule, a message or a span sees here
//! how it reads.
//!
//! `data/explain.txt` holds commands after `$ `, each with what is printed for it, under a line of dashes. With
//! `SHWARD_UPDATE=1` the file is rewritten: read the difference as a user would.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::process::Command;

const RULE: &str = "--------------------------------------------------------------------------------";

fn explained(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_shward"))
        .args(["explain", "--frozen", "--cwd", "/home/dev/proj", "--home", "/home/dev", "--", command])
        .env_clear()
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands of the file. A command of several lines is written with `\\n` in it.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("$ "))
}

#[test]
fn explanations_read_as_they_should() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/explain.txt");
    let text = fs::read_to_string(&path).unwrap();
    let blocks = commands(&text).map(|command| {
        format!("{RULE}\n$ {command}\n{}\n", explained(&command.replace("\\n", "\n")).trim_end())
    });
    let now: String = blocks.collect();
    assert!(commands(&text).count() >= 60, "the file shows the breadth");
    if std::env::var_os("SHWARD_UPDATE").is_some() {
        fs::write(&path, &now).unwrap();
    } else if now != text {
        let first = now.lines().zip(text.lines()).find(|(now, then)| now != then);
        panic!("{} differs, first at {first:?}; SHWARD_UPDATE=1 rewrites it", path.display());
    }
}
