//! The seeds of the fuzz target `wire`, cut off at every byte, through its entry function.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "../../../fuzz/entries/hosts.rs"]
mod entries;

use std::fs;
use std::path::Path;

#[test]
fn wire() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/wire");
    let mut replayed = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let seed = fs::read(entry.unwrap().path()).unwrap();
        for end in 0..=seed.len() {
            entries::wire(seed.get(..end).unwrap());
            replayed += 1;
        }
    }
    assert!(replayed > 100);
}
