//! Small trees in which a check finds what was seeded and nothing else.

use super::{Check, Tree};
use std::fs;
use std::path::Path;

/// A project tree in a temporary directory.
pub(crate) struct Seeded {
    directory: tempfile::TempDir,
}

impl Seeded {
    pub(crate) fn new(files: &[(&str, &str)]) -> Seeded {
        let seeded = Seeded { directory: tempfile::tempdir().unwrap() };
        seeded.write(files);
        seeded
    }

    pub(crate) fn write(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The problems that `check` finds, as they are printed.
    pub(crate) fn problems(&self, check: Check) -> Vec<String> {
        let mut problems = check(&Tree::read(self.directory.path()).unwrap()).unwrap();
        problems.sort();
        problems.iter().map(ToString::to_string).collect()
    }
}
