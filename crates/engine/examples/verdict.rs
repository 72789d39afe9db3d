//! What a verdict costs in process, as the binary is built that users get: ending at a panic, and with the compiler told what
//! runs most. Cargo builds every bench the other way.
//!
//!     cargo tuned run --release -p shward --example verdict [-- --corpus FILE]… [--json]

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

#[path = "../benches/verdict/measure.rs"]
mod measure;

fn main() {
    measure::main();
}
