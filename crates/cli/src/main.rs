//! The `shward` command.
fn main() {}
