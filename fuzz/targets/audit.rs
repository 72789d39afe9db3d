#![no_main]

#[path = "../entries/engine.rs"]
#[allow(dead_code)]
mod entries;

libfuzzer_sys::fuzz_target!(|data: &[u8]| entries::audit(data));
