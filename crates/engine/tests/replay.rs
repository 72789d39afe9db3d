//! The seeds of the fuzz targets, and small changes of them, through the entry functions of those targets.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is how a test fails"
)]

#[path = "../../../fuzz/entries/engine.rs"]
mod entries;

use std::fs;
use std::path::Path;

/// The seeds, each also cut off at several places and with a byte changed.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut inputs = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let seed = fs::read(entry.unwrap().path()).unwrap();
        for at in (0..seed.len()).step_by(seed.len() / 8 + 1) {
            inputs.push(seed.get(..at).unwrap().to_vec());
            let mut changed = seed.clone();
            *changed.get_mut(at).unwrap() = b"`$\"'({\n\\<;"[at % 10];
            inputs.push(changed);
        }
        inputs.push(seed);
    }
    assert!(inputs.len() > 20, "{target} has no seeds");
    inputs
}

#[test]
fn analysis() {
    inputs("analysis").iter().for_each(|input| entries::analysis(input));
}

#[test]
fn check() {
    inputs("check").iter().for_each(|input| entries::check(input));
}

#[test]
fn policy() {
    inputs("policy").iter().for_each(|input| entries::policy(input));
}

#[test]
fn audit() {
    inputs("audit").iter().for_each(|input| entries::audit(input));
}
