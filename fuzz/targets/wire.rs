#![no_main]

#[path = "../entries/hosts.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(|data: &[u8]| entries::wire(data));
