//! Nothing lies at the root that does not belong there: what a build or a test leaves in the directory that it was started
//! from is added with everything else, and nobody notices.

use super::{Problem, Tree};
use crate::Failure;

/// The files at the root.
const AT_ROOT: &[&str] = &[
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SPECIFICATION.md",
    "clippy.toml",
    "deny.toml",
    "rustfmt.toml",
];

pub(super) fn check(tree: &Tree) -> Result<Vec<Problem>, Failure> {
    let at_root = tree.files.iter().map(|file| file.path.as_str()).filter(|path| !path.contains('/'));
    let strays = at_root.filter(|path| !AT_ROOT.contains(path));
    Ok(strays
        .map(|path| {
            Problem::new(path, 0, "not one of the files at the root: remove it, or enter it in tidy's table")
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::Seeded;
    use super::*;

    #[test]
    fn what_lies_at_the_root_is_listed() {
        let tree = Seeded::new(&[("README.md", ""), ("a/build.out", ""), ("build.out", "")]);
        let expected = "build.out: not one of the files at the root: remove it, or enter it in tidy's table";
        assert_eq!(tree.problems(check), [expected]);
    }
}
