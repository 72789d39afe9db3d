#![no_main]

#[path = "../entries/syntax.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(|data: &[u8]| entries::parser(data));
