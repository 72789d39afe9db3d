//! The tables are searched by halving: they must be sorted.

use super::{builtins, modules, os, packages};

fn assert_sorted<'n>(names: impl Iterator<Item = &'n str>) {
    let names: Vec<&str> = names.collect();
    for pair in names.windows(2) {
        assert!(pair[0] < pair[1], "{} stands before {}", pair[0], pair[1]);
    }
}

#[test]
fn tables_are_sorted() {
    assert_sorted(builtins::BUILTINS.iter().map(|(name, _)| *name));
    assert_sorted(os::OS.iter().map(|(name, _)| *name));
    assert_sorted(os::OS_PATH.iter().map(|(name, _)| *name));
    for table in [modules::STANDARD, packages::PACKAGES] {
        assert_sorted(table.iter().map(|module| module.name));
        for module in table {
            assert_sorted(module.members.iter().map(|(name, _)| *name));
        }
    }
}
