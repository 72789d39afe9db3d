//! The programs that a verdict covers: those that the plan names with all their arguments, found once, at the check.

use crate::reading;
use shward_analysis::{Invocation, Plan};
use shward_sandbox::{Exec, Identity};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The kernel reads this much of a script's first line (`BINPRM_BUF_SIZE`, execve(2)).
const MAX_FIRST_LINE: u64 = 256;

/// Predicted programs that are looked up; a command that names more has the rest judged one by one.
const MAX_PREDICTED: usize = 256;

/// A program as it was at the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pinned {
    path: PathBuf,
    identity: Identity,
}

impl Pinned {
    /// The program at a path.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        Some(Self { identity: Identity::of(&path).ok()?, path })
    }

    /// The program that starting the file at a path executes: the file itself, or for a script nothing that could be pinned.
    pub(crate) fn of_command(path: &Path) -> Option<Self> {
        if first_line(path).is_some() { None } else { Self::new(path) }
    }

    /// Whether this is what is executed. In the workspace a name is enough: a run may build what it then runs, and see its
    /// files in another layer.
    pub(crate) fn is(&self, exec: &Exec, workspace: &Path) -> bool {
        exec.identity == self.identity || (exec.program == self.path && self.path.starts_with(workspace))
    }
}

impl Pinned {
    /// Whether another file is executed under the name of this one. In the workspace that is what builds are for.
    fn is_replaced_by(&self, exec: &Exec, workspace: &Path) -> bool {
        exec.program == self.path && exec.identity != self.identity && !self.path.starts_with(workspace)
    }
}

/// A program that the verdict covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Predicted {
    program: Pinned,
    arguments: Vec<OsString>,
    /// Variables that were predicted to be set for it.
    environment: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Predicted {
    /// Everything that a plan names completely.
    pub(crate) fn all(plan: &Plan<'_>, search: &[u8]) -> Vec<Self> {
        let whole = plan.invocations.iter().filter(|i| !i.builtin).filter_map(|i| Known::new(i));
        whole.take(MAX_PREDICTED).flat_map(|known| known.predicted(search)).collect()
    }

    /// Whether another file than the one of the check is executed under its name.
    pub(super) fn is_replaced_by(&self, exec: &Exec, workspace: &Path) -> bool {
        self.program.is_replaced_by(exec, workspace)
    }

    /// Whether the verdict covers this program. `changed` are the variables that can carry code and that the command did not get.
    pub(super) fn covers(&self, exec: &Exec, changed: &[&[u8]], workspace: &Path) -> bool {
        self.program.is(exec, workspace)
            && exec.arguments == self.arguments
            && changed
                .iter()
                .filter_map(|entry| super::split(entry))
                .all(|(name, value)| self.environment.iter().any(|(n, v)| n == name && v == value))
    }
}

/// An invocation of which everything is known.
struct Known {
    words: Vec<OsString>,
    cwd: PathBuf,
    environment: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Known {
    fn new(invocation: &Invocation<'_>) -> Option<Self> {
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let words = invocation.argv.iter().map(|word| word.known().map(text)).collect::<Option<_>>()?;
        let set = |(name, value): &(&[u8], shward_analysis::Field<'_>)| {
            Some((name.to_vec(), value.known()?.to_vec()))
        };
        Some(Self {
            words,
            cwd: PathBuf::from(text(invocation.cwd?)),
            environment: invocation.env.iter().filter_map(set).collect(),
        })
    }

    /// What the kernel will be seen to execute: the program, or a script's interpreter, and what env(1) makes of a script's line.
    fn predicted(self, search: &[u8]) -> Vec<Predicted> {
        let Some(path) = self.words.first().and_then(|name| find(name, &self.cwd, search)) else {
            return Vec::new();
        };
        let predicted = |program: &Path, arguments: Vec<OsString>| {
            let environment = self.environment.clone();
            Pinned::new(program).map(|program| Predicted { program, arguments, environment })
        };
        let Some((interpreter, option)) = first_line(&path) else {
            return predicted(&path, self.words.clone()).into_iter().collect();
        };
        let called = self.words.first().filter(|name| name.as_bytes().contains(&b'/')).cloned();
        let script = called.unwrap_or_else(|| path.clone().into_os_string());
        let tail: Vec<OsString> = [script].into_iter().chain(self.words.iter().skip(1).cloned()).collect();
        let mut seen = vec![interpreter.clone().into_os_string()];
        seen.extend(option.clone());
        seen.extend(tail.iter().cloned());
        let mut all: Vec<Predicted> = predicted(&interpreter, seen).into_iter().collect();
        if let Some(name) = option.filter(|_| interpreter.ends_with("env"))
            && !name.as_bytes().iter().any(|b| matches!(b, b' ' | b'\t' | b'=' | b'-'))
            && let Some(found) = find(&name, &self.cwd, search)
        {
            all.extend(predicted(&found, [name].into_iter().chain(tail).collect()));
        }
        all
    }
}

/// The file that a command word names: a path, or a name looked up in the search path.
fn find(name: &OsStr, cwd: &Path, search: &[u8]) -> Option<PathBuf> {
    let usable =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    if name.as_bytes().contains(&b'/') {
        return Some(cwd.join(name)).filter(usable);
    }
    let directories = search.split(|&b| b == b':').map(|d| Path::new(OsStr::from_bytes(d)));
    directories.map(|directory| directory.join(name)).find(usable)
}

/// The interpreter and the option of a script's first line, as execve(2) reads it.
fn first_line(path: &Path) -> Option<(PathBuf, Option<OsString>)> {
    let mut start = Vec::new();
    reading::open(path).ok()?.take(MAX_FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let line = line.trim_ascii();
    let end = line.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(line.len());
    let (interpreter, option) = line.split_at(end);
    let option = Some(option.trim_ascii()).filter(|o| !o.is_empty()).map(|o| OsString::from_vec(o.to_vec()));
    Some((PathBuf::from(OsString::from_vec(interpreter.to_vec())), option))
}

#[cfg(test)]
mod tests {
    use super::first_line;
    use std::fs;
    use std::path::Path;

    #[test]
    fn first_lines_are_read_as_the_kernel_does() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("script");
        let table = [
            ("#!/bin/sh\necho", Some(("/bin/sh", None))),
            ("#! /bin/sh -e \necho", Some(("/bin/sh", Some("-e")))),
            ("#!/usr/bin/env python3 -u\n", Some(("/usr/bin/env", Some("python3 -u")))),
            ("#!/bin/sh", Some(("/bin/sh", None))),
            ("echo", None),
            ("", None),
        ];
        for (text, expected) in table {
            fs::write(&file, text).unwrap();
            let found = first_line(&file);
            let found = found
                .as_ref()
                .map(|(path, option)| (path.as_path(), option.as_ref().and_then(|o| o.to_str())));
            assert_eq!(found, expected.map(|(path, option)| (Path::new(path), option)), "{text:?}");
        }
        assert_eq!(first_line(Path::new("/does/not/exist")), None);
    }
}
