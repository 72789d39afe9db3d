//! Commands that run without a shell end as bash would end them: same output, same status, same environment, same files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a panic is how a test fails"
)]

mod commands;

use commands::{COMMANDS, ENVIRONMENTS, ITSELF};
use shward::{Action, Firewall, Policy, Request, RunOptions, Sandboxed};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

struct Place {
    _directory: tempfile::TempDir,
    home: PathBuf,
    firewall: Firewall,
}

/// Who carries a command out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Bash,
    /// A process without a shell.
    Process,
    /// shward itself.
    Itself,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
struct Ended {
    exit_code: Option<i32>,
    signal: Option<i32>,
    stdout: String,
    /// Sorted: processes that run side by side write when they come to it.
    stderr: Vec<String>,
    files: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap().join("home");
        Self { _directory: directory, home, firewall: Firewall::new(Policy::default()) }
    }

    fn workspace(&self) -> PathBuf {
        self.home.join("project")
    }

    /// The workspace as every command finds it.
    fn fill(&self) {
        let workspace = self.workspace();
        let _ = fs::remove_dir_all(&workspace);
        fs::create_dir_all(workspace.join("sub/deep")).unwrap();
        let script = "#!/bin/sh\nprintf '<%s>' \"$0\" \"$@\"\nexit 7\n";
        for (name, text, mode) in [
            ("data.txt", "x\n", 0o644),
            ("a b.txt", "y\n", 0o644),
            ("script", script, 0o755),
            ("unterminated", "#!/bin/echo  a b", 0o755),
            ("no-interpreter", "#!/does/not/exist\n", 0o755),
            ("text", "echo run by bash\nexit 5\n", 0o755),
        ] {
            fs::write(workspace.join(name), text).unwrap();
            fs::set_permissions(workspace.join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        std::os::unix::fs::symlink("sub/deep", workspace.join("link")).unwrap();
        fs::copy("/usr/bin/true", workspace.join("tool")).unwrap();
        fs::copy("/usr/bin/env", workspace.join("env")).unwrap();
    }

    /// Runs it from the beginning. Who carried it out, and how it ended.
    fn run(&self, action: Action) -> (By, Ended) {
        self.fill();
        let mut request = Request::command("", self.workspace(), &self.home);
        request.action = action;
        let by = match self.firewall.sandbox_plan(&request, &RunOptions::default()).unwrap() {
            Sandboxed::Plan(plan) => {
                let plan = plan.to_string();
                let run = plan.lines().find(|line| line.trim_start().starts_with("run:")).unwrap();
                if run.contains("bash bash --norc") { By::Bash } else { By::Process }
            }
            Sandboxed::NoProcess(_) => By::Itself,
            _ => panic!("{:?} is not allowed", request.action),
        };
        let outcome = self.firewall.run(&request, &RunOptions::default(), &mut |_, _| {}).unwrap();
        let end =
            outcome.ending.unwrap_or_else(|| panic!("{:?}: {:?}", request.action, outcome.verdict.findings));
        let mut files = BTreeMap::new();
        list(&self.workspace(), &mut files);
        let ended = Ended {
            exit_code: end.exit_code,
            signal: end.signal,
            stdout: end.stdout.to_text().replace("/bin/bash: line", "bash: line"),
            stderr: said(&end.stderr.to_text()),
            files,
        };
        (by, ended)
    }

    fn with_bash(&self, command: &str) -> Ended {
        let shell = ["/bin/bash", "--norc", "--noprofile", "-c", "--", command];
        self.run(Action::Argv(shell.map(str::to_owned).to_vec())).1
    }

    /// Runs it as we would, and by bash: who carries it out, how it ended, how it should have.
    /// Which process of a pipeline is faster is nobody's promise: what is once the same is the same, and only what
    /// differs each time differs.
    fn compared(&self, command: &str) -> (By, Ended, Ended) {
        let mut attempts = 5;
        loop {
            let (by, ours) = self.run(Action::Command(command.to_owned()));
            let bashs = self.with_bash(command);
            attempts -= 1;
            if ours == bashs || attempts == 0 {
                return (by, ours, bashs);
            }
        }
    }
}

/// What differs, in a few lines.
fn difference(command: &str, by: By, ours: &Ended, bashs: &Ended) -> String {
    let told = |ended: &Ended, other: &Ended| {
        let files = ended.files.iter().filter(|(path, content)| other.files.get(*path) != Some(*content));
        let mut stdout = ended.stdout.clone();
        if stdout.len() > 1000 {
            stdout = format!("{} bytes", stdout.len());
        }
        format!(
            "{:?} {:?} {stdout:?} {:?} {:?}",
            ended.exit_code,
            ended.signal,
            ended.stderr,
            files.map(|(path, _)| path).collect::<Vec<_>>()
        )
    };
    format!("{command:?} (by {by:?})\n  ours {}\n  bash {}", told(ours, bashs), told(bashs, ours))
}

fn list(directory: &Path, to: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            to.insert(path.clone(), None);
            list(&path, to);
        } else {
            // bash's name in its messages, as below.
            to.insert(path.clone(), fs::read(&path).ok().map(named_alike));
        }
    }
}

fn named_alike(bytes: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(bytes) {
        Ok(text) => text.replace("/bin/bash: line", "bash: line").into_bytes(),
        Err(other) => other.into_bytes(),
    }
}

/// Lines of standard error, as far as they have to be the same. bash's own messages begin with the name that it was called by; of a
/// process that a signal ended it tells its number and the command's text as well, which nobody else can know.
fn said(text: &str) -> Vec<String> {
    const ENDED: [&str; 3] = ["Killed", "Terminated", "Segmentation fault"];
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !ENDED.iter().any(|word| line.contains(word)))
        .filter(|line| !line.contains(" Done  "))
        .map(|line| line.replacen("/bin/bash: line", "bash: line", 1))
        .collect();
    lines.sort();
    lines
}

fn sandboxed() -> bool {
    let works = shward_sandbox::probe().works();
    if !works {
        eprintln!("SKIPPED: this kernel gives no sandbox");
    }
    works
}

#[test]
fn nothing_is_different_without_a_shell() {
    if !sandboxed() {
        return;
    }
    let place = Place::new();
    let mut different = Vec::new();
    for &(command, expected) in COMMANDS {
        let (by, ours, bashs) = place.compared(command);
        let expected = match expected {
            false => By::Bash,
            true if ITSELF.contains(&command) => By::Itself,
            true => By::Process,
        };
        if by != expected || ours != bashs {
            different.push(difference(command, by, &ours, &bashs));
        }
    }
    for command in ITSELF {
        let (by, ours, bashs) = place.compared(command);
        if by != By::Itself || ours != bashs {
            different.push(difference(command, by, &ours, &bashs));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn programs_see_the_environment_that_bash_gives_them() {
    if !sandboxed() {
        return;
    }
    let place = Place::new();
    let mut different = Vec::new();
    for command in ENVIRONMENTS {
        let (by, ours, bashs) = place.compared(command);
        // In which order variables come is nobody's promise.
        let sorted = |ended: &Ended| {
            let mut lines: Vec<String> = ended.stdout.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        if by != By::Process || sorted(&ours) != sorted(&bashs) {
            different.push(format!(
                "{command:?} ({by:?})\n  ours {:?}\n  bash {:?}",
                sorted(&ours),
                sorted(&bashs)
            ));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

/// Numbers that are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn of<'t>(&mut self, table: &[&'t str]) -> &'t str {
        table[self.below(table.len())]
    }
}

const FIRST: &[&str] = &[
    "cat data.txt",
    "cat missing",
    "ls sub",
    "grep -c x data.txt",
    "echo 'a  b' c",
    "printf '%s\\n' x y",
    "pwd",
    "true",
    "false",
    "bash -c 'exit 3'",
    "cat 'a b.txt' data.txt",
    "echo -n z",
    ":",
    "A=b printenv A",
    "bash -c 'echo out; echo err >&2; exit 5'",
    "head -c 70000 /dev/zero",
    "bash -c 'kill -9 $$'",
    "printenv PWD",
    "mkdir made",
    "rm data.txt",
    "touch sub/new",
    "cp data.txt copy",
    "cat <<< text",
];
const FILTERS: &[&str] = &[
    "cat",
    "wc -c",
    "sort",
    "tr x y",
    "head -n 1",
    "echo z",
    "(cat)",
    "{ cat; echo y; }",
    "true",
    "bash -c 'exit 4'",
    "cat - data.txt",
    "(cat; false)",
    "tail -c 3",
    "cd sub",
    "cat < 'a b.txt'",
    "cat <<< here",
];
const REDIRECTS: &[&str] = &[
    " > out",
    " >> out",
    " 2>&1",
    " 2> err",
    " < data.txt",
    " < missing",
    " &> both",
    " > /missing/x",
    " 2> /dev/null",
    " > sub/out",
    " >&2",
    " 3> three >&3",
    " <<< word",
    " > sub",
    " 2>&1 > out",
    " > /dev/full",
    " <&-",
    " >&8",
];

/// A simple command, a group, a subshell or a change of directory, with redirections.
fn command(numbers: &mut Numbers, depth: usize) -> String {
    let mut text = match numbers.below(12) {
        0 if depth > 0 => format!("({})", list_of(numbers, depth - 1)),
        1 if depth > 0 => format!("{{ {}; }}", list_of(numbers, depth - 1)),
        2 => numbers.of(&["cd sub", "cd missing", "cd .", "cd sub/deep", "cd link"]).to_owned(),
        _ => numbers.of(FIRST).to_owned(),
    };
    while numbers.below(3) == 0 {
        text.push_str(numbers.of(REDIRECTS));
    }
    text
}

/// A pipeline. Only its first command writes files and messages, so that it does not matter who comes first.
fn pipeline(numbers: &mut Numbers, depth: usize) -> String {
    let mut text = if numbers.below(8) == 0 { "! ".to_owned() } else { String::new() };
    text.push_str(&command(numbers, depth));
    while numbers.below(3) == 0 {
        text.push_str(numbers.of(&[" | ", " | ", " |& "]));
        text.push_str(numbers.of(FILTERS));
    }
    text
}

fn list_of(numbers: &mut Numbers, depth: usize) -> String {
    let mut text = pipeline(numbers, depth);
    while numbers.below(2) == 0 {
        text.push_str(numbers.of(&[" && ", " || ", "; ", "\n"]));
        text.push_str(&pipeline(numbers, depth));
    }
    text
}

#[test]
fn generated_commands_end_as_bash_ends_them() {
    if !sandboxed() {
        return;
    }
    let count: usize = std::env::var("SHWARD_GENERATED").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let seed: u64 = std::env::var("SHWARD_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0x5eed_5eed);
    let place = Place::new();
    let mut numbers = Numbers(seed);
    let (mut without_shell, mut itself, mut different) = (0, 0, Vec::new());
    for _ in 0..count {
        let command = list_of(&mut numbers, 2);
        let (by, ours, bashs) = place.compared(&command);
        without_shell += usize::from(by != By::Bash);
        itself += usize::from(by == By::Itself);
        if ours != bashs {
            different.push(difference(&command, by, &ours, &bashs));
        }
    }
    eprintln!(
        "{without_shell} of {count} generated commands ran without a shell, {itself} without a process"
    );
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert!(without_shell * 2 > count, "only {without_shell} of {count} needed no shell");
}
