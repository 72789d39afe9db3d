//! What the tests share: printers of trees, tables, random programs, and shells to compare with.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

pub mod dump;
pub mod programs;
pub mod shell;
pub mod table;
pub mod value;
pub mod walk;
pub mod words;

#[allow(unused_imports, reason = "each test uses its part")]
pub use dump::{dump, dump_canonical, dump_parts, dump_up_to_layout};
