//! Which project files a person has trusted: by path, owner and content. Any change of one of them ends the trust.

use crate::account::user;
use shward_audit::Digest;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Largest accepted store, in bytes.
const LARGEST: u64 = 1 << 20;

/// The store of what is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    file: PathBuf,
}

impl Trust {
    /// The store in a state directory.
    #[must_use]
    pub fn in_state(state: &Path) -> Self {
        Self { file: state.join("trust") }
    }

    /// Whether this file, with this content and its present owner, is trusted. Whatever goes wrong is no trust.
    #[must_use]
    pub fn holds(&self, path: &Path, text: &str) -> bool {
        let Some(line) = line(path, text) else { return false };
        self.lines().contains(&line)
    }

    /// Trusts this file as it stands. What was trusted of it before is forgotten.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn add(&self, path: &Path, text: &str) -> io::Result<()> {
        let line = line(path, text)
            .ok_or_else(|| io::Error::other("the file's owner or name cannot be recorded"))?;
        let mut lines = self.without(path);
        lines.push(line);
        self.write(&lines)
    }

    /// Trusts this file no longer. Whether it was trusted.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn remove(&self, path: &Path) -> io::Result<bool> {
        let (before, lines) = (self.lines(), self.without(path));
        if before.len() == lines.len() {
            return Ok(false);
        }
        self.write(&lines).map(|()| true)
    }

    fn without(&self, path: &Path) -> Vec<String> {
        let end = format!("\t{}", path.display());
        self.lines().into_iter().filter(|line| !line.ends_with(&end)).collect()
    }

    /// The lines of the store; none if anybody else could have written it.
    fn lines(&self) -> Vec<String> {
        let Ok(meta) = fs::metadata(&self.file) else { return Vec::new() };
        let ours =
            meta.uid() == user() && meta.mode() & 0o022 == 0 && meta.is_file() && meta.len() <= LARGEST;
        let text = if ours { fs::read_to_string(&self.file).unwrap_or_default() } else { String::new() };
        text.lines().map(str::to_owned).collect()
    }

    fn write(&self, lines: &[String]) -> io::Result<()> {
        if let Some(directory) = self.file.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let temporary = self.file.with_extension(format!("{}", std::process::id()));
        let written = (|| {
            let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            for line in lines {
                writeln!(out, "{line}")?;
            }
            out.sync_all()?;
            fs::rename(&temporary, &self.file)
        })();
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

/// What is kept of a file: digest, owner, path.
fn line(path: &Path, text: &str) -> Option<String> {
    let owner = fs::metadata(path).ok()?.uid();
    let path = path.to_str().filter(|p| !p.contains(['\n', '\t']))?;
    Some(format!("{}\t{owner}\t{path}", Digest::of(text.as_bytes())))
}
