//! What agents write about many files (`corpus/oracle/tasks.txt`): each way to come by a name before each thing that is done
//! with it, and each path of a Python program before each step of one. These run real programs, Python among them.

use super::random::Random;
use std::fmt::Write as _;

const TEXT: &str = include_str!("../../../../corpus/oracle/tasks.txt");

/// What stands for what is put in.
const MIDDLE: char = '…';

/// How far one command lies from the next: a prime, so that each is met once.
const STRIDE: usize = 104_729;

/// Modules that a program has to import before it may name them.
const MODULES: &[&str] = &[
    "argparse",
    "asyncio",
    "atexit",
    "base64",
    "bz2",
    "codecs",
    "collections",
    "concurrent.futures",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "dbm.dumb",
    "enum",
    "fcntl",
    "fileinput",
    "fnmatch",
    "functools",
    "getpass",
    "glob",
    "gzip",
    "hashlib",
    "importlib",
    "io",
    "itertools",
    "json",
    "logging",
    "logging.handlers",
    "lzma",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "re",
    "shelve",
    "shlex",
    "shutil",
    "socket",
    "sqlite3",
    "string",
    "subprocess",
    "sys",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "types",
    "unittest.mock",
    "urllib.parse",
    "uuid",
    "weakref",
    "zipfile",
];

/// The lines under each heading.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    before: Vec<String>,
    names: Vec<String>,
    acts: Vec<String>,
    paths: Vec<String>,
    steps: Vec<String>,
    ways: Vec<String>,
}

impl Tasks {
    pub(super) fn read() -> Tasks {
        let mut all = Tasks::default();
        let mut heading = "";
        for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            if let Some(next) = line.strip_prefix("## ") {
                heading = next;
                continue;
            }
            let line = line.replace('␤', "\n");
            match heading {
                "before" => all.before.push(line),
                "names" => all.names.push(line),
                "acts" => all.acts.push(line),
                "paths" => all.paths.push(line),
                "steps" => all.steps.push(line),
                _ => all.ways.push(line),
            }
        }
        all
    }

    fn in_shell(&self) -> usize {
        self.names.len() * self.acts.len()
    }

    /// How many commands they make.
    pub(super) fn count(&self) -> usize {
        self.in_shell() + self.paths.len() * self.steps.len()
    }

    /// A command by its number; what is said before it, and how Python gets its program, is drawn. What comes one behind the
    /// other has nothing in common, so that a run that is cut short has met some of everything.
    pub(super) fn command(&self, random: &mut Random, number: usize) -> String {
        self.task(random, number.wrapping_mul(STRIDE) % self.count().max(1))
    }

    fn task(&self, random: &mut Random, number: usize) -> String {
        let one = |lines: &[String], number: usize| lines.get(number).cloned().unwrap_or_default();
        let script = match number.checked_sub(self.in_shell()) {
            None => {
                let names = self.names.len().max(1);
                put(&one(&self.names, number % names), &one(&self.acts, number / names))
            }
            Some(number) => {
                let paths = self.paths.len().max(1);
                let program = program(&one(&self.paths, number % paths), &one(&self.steps, number / paths));
                put(&one(&self.ways, random.below(self.ways.len())), &program)
            }
        };
        if random.once_in(2) {
            return script;
        }
        let before = one(&self.before, random.below(self.before.len()));
        let end = if script.contains('\n') || random.once_in(4) { "\n" } else { "; " };
        format!("{before}{end}{script}")
    }

    /// One of them.
    pub(super) fn any(&self, random: &mut Random) -> String {
        let number = random.below(self.in_shell());
        self.task(random, number)
    }
}

/// A script in the place that something leaves for it: in quotes, if an open one stands before.
fn put(around: &str, script: &str) -> String {
    let Some((before, behind)) = around.split_once(MIDDLE) else { return around.to_owned() };
    let quoted = before.matches('\'').count() % 2 == 1;
    let lines = script.contains(['\n', '#']);
    let script = if quoted { script.replace('\'', r"'\''") } else { script.to_owned() };
    match behind.strip_prefix([';', ')', ' ']) {
        Some(rest) if lines && behind.starts_with(';') && !rest.starts_with(';') => {
            format!("{before}{script}\n{rest}")
        }
        Some(_) if lines => format!("{before}{script}\n{behind}"),
        _ => format!("{before}{script}{behind}"),
    }
}

/// A program of Python: the step stands in lines of its own, as far in as what leaves its place, and behind what it imports.
fn program(path: &str, step: &str) -> String {
    let Some((before, behind)) = path.split_once(MIDDLE) else { return path.to_owned() };
    let (outer, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let mut indent = line.len() - line.trim_start().len();
    // A step may be a statement that stands in no line with others.
    let line = match line.trim_end().strip_suffix(';') {
        Some(statement) => statement,
        None => line.trim_end(),
    };
    if line.ends_with(':') {
        indent += 4;
    }
    let mut text = String::new();
    for part in [outer, line].into_iter().filter(|part| !part.trim().is_empty()) {
        let _ = writeln!(text, "{part}");
    }
    for line in step.lines() {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
    text.push_str(behind.trim_start_matches('\n'));
    let names = |module: &str| {
        text.match_indices(module).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + module.len()..).is_some_and(|behind| behind.starts_with('.'));
            behind && !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.')
        })
    };
    let modules: Vec<&str> = MODULES.iter().copied().filter(|module| names(module)).collect();
    let mut imports = String::new();
    if !modules.is_empty() {
        let _ = writeln!(imports, "import {}", modules.join(", "));
    }
    if text.contains("Path") {
        imports.push_str("from pathlib import Path\n");
    }
    format!("{imports}{}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_meets_every_act() {
        let tasks = Tasks::read();
        let all = [&tasks.before, &tasks.names, &tasks.acts, &tasks.paths, &tasks.steps, &tasks.ways];
        assert!(all.iter().all(|lines| lines.len() > 10), "{tasks:?}");
        for line in tasks.names.iter().chain(&tasks.paths).chain(&tasks.ways) {
            assert_eq!(line.matches(MIDDLE).count(), 1, "{line}");
        }
        let random = &mut Random::new(1, 1);
        assert!(tasks.task(random, 0).ends_with("for f in *; do cp \"$f\" \"$f.bak\"; done"));
        assert!(tasks.task(random, tasks.count() - 1).contains("asyncio"));
        let all: std::collections::HashSet<_> =
            (0..tasks.count()).map(|number| number * STRIDE % tasks.count()).collect();
        assert_eq!(all.len(), tasks.count(), "the stride meets not all of them");
        assert!(tasks.any(random).len() > 8);
    }

    #[test]
    fn what_is_put_in_keeps_its_meaning() {
        assert_eq!(put("for f in *; do …; done", "cat <<E\nE"), "for f in *; do cat <<E\nE\n done");
        assert_eq!(put("case a in *) …;; esac", "cat <<E\nE"), "case a in *) cat <<E\nE\n;; esac");
        assert_eq!(put("(cd d && …)", "cat <<E\nE"), "(cd d && cat <<E\nE\n)");
        assert_eq!(put("sh -c 'f=$1; …' _ %", "p 'a'"), r"sh -c 'f=$1; p '\''a'\''' _ %");
        let nested = program("for p in os.listdir():\n    …", "with open(p) as h:\n    h.read()");
        assert_eq!(nested, "import os\nfor p in os.listdir():\n    with open(p) as h:\n        h.read()");
        let inline = program("if e.is_file(): …", "Path(p).touch()");
        assert_eq!(inline, "from pathlib import Path\nif e.is_file():\n    Path(p).touch()");
        assert_eq!(program("p = 1; …", "try: p"), "p = 1\ntry: p");
        assert_eq!(program("def f(p):\n    …\nf(1)", "p"), "def f(p):\n    p\nf(1)");
    }
}
