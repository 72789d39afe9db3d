//! The seeds of the fuzz target `parser`, cut off and changed at every byte, through its entry function.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is how a test fails"
)]

#[path = "../../../fuzz/entries/syntax.rs"]
mod entries;

use std::fs;
use std::path::Path;

#[test]
fn parser() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/parser");
    let mut replayed = 0;
    for entry in fs::read_dir(seeds).unwrap() {
        let seed = fs::read(entry.unwrap().path()).unwrap();
        for at in 0..seed.len() {
            entries::parser(&seed[..at]);
            let mut changed = seed.clone();
            changed[at] = b"`$\"'({\n\\<;"[at % 10];
            entries::parser(&changed);
        }
        entries::parser(&seed);
        replayed += 1;
    }
    assert!(replayed > 20, "{replayed} seeds");
}
