//! `cargo xtask tidy`: the laws of the house that the compiler does not hold.
//!
//! Each check is a function from a [`Tree`] to problems, and has a test that seeds a violation and sees it found.

mod deps;
mod ids;
mod lexer;
mod lints;
mod modules;
mod places;
mod programs;
mod purity;
mod rings;
mod size;
#[cfg(test)]
mod testing;
mod traces;

use crate::Failure;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// One violation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Relative to the root.
    path: String,
    /// Line, from 1; 0 for the whole file.
    line: usize,
    message: String,
}

impl Problem {
    fn new(path: impl Into<String>, line: usize, message: impl Into<String>) -> Problem {
        Problem { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// The files of the project, by their paths relative to its root, which use `/` and sort.
pub(crate) struct Tree {
    root: PathBuf,
    files: Vec<File>,
}

pub(crate) struct File {
    path: String,
    /// `None` if it is not UTF-8.
    text: Option<String>,
}

impl Tree {
    /// Reads the files that git knows or would add; all of them if this is not a git repository.
    fn read(root: &Path) -> Result<Tree, Failure> {
        let mut paths = match git_files(root) {
            Some(paths) => paths,
            None => walk(root)?,
        };
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            let absolute = root.join(&path);
            // Deleted but not yet committed, or a link to somewhere.
            if !absolute.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let text =
                String::from_utf8(fs::read(&absolute).map_err(|error| format!("{path}: {error}"))?).ok();
            files.push(File { path, text });
        }
        Ok(Tree { root: root.to_path_buf(), files })
    }

    /// Paths and texts of the files below `directory` whose names end in `suffix`.
    fn texts<'a>(&'a self, directory: &'a str, suffix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let below = move |path: &str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        self.files
            .iter()
            .filter(move |file| (directory.is_empty() || below(&file.path)) && file.path.ends_with(suffix))
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path)?.text.as_deref()
    }
}

fn git_files(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .ok()?;
    let list = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let mut paths: Vec<String> = list.split_terminator('\0').map(str::to_owned).collect();
    paths.dedup();
    Some(paths)
}

fn walk(root: &Path) -> Result<Vec<String>, Failure> {
    let (mut paths, mut directories) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let path = entry.path();
            if kind.is_dir() && !matches!(entry.file_name().to_str(), Some(".git" | "target")) {
                directories.push(path);
            } else if kind.is_file() {
                paths.push(path.strip_prefix(root)?.to_str().ok_or("a path is not UTF-8")?.to_owned());
            }
        }
    }
    Ok(paths)
}

type Check = fn(&Tree) -> Result<Vec<Problem>, Failure>;

const CHECKS: &[(&str, Check)] = &[
    ("dependencies point down the flow", deps::check),
    ("pure crates are pure", purity::check),
    ("modules point one way", rings::check),
    ("lints are the workspace's", lints::check),
    ("files are of a readable size", size::check),
    ("nothing strays at the root", places::check),
    ("ids are unique and kebab-case", ids::check),
    ("no program counts by its name", programs::check),
    ("no traces of machines or unfinished work", traces::check),
];

pub(crate) fn run(root: &Path) -> Result<ExitCode, Failure> {
    let tree = Tree::read(root)?;
    let mut failed = false;
    for (name, check) in CHECKS {
        let mut problems = check(&tree)?;
        problems.sort();
        println!("{} {name}", if problems.is_empty() { "ok  " } else { "FAIL" });
        for problem in &problems {
            println!("     {problem}");
        }
        failed |= !problems.is_empty();
    }
    Ok(ExitCode::from(u8::from(failed)))
}
