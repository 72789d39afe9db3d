//! What a verdict costs in process, as a program that uses the library is built (`verdict/measure.rs`).
//!
//!     cargo bench -p shward --bench verdict [-- --corpus FILE]… [--json]

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for developers"
)]

#[path = "verdict/measure.rs"]
mod measure;

fn main() {
    measure::main();
}
