//! Runs every command in the README and the docs with the real binary, and compares what it says with what is printed.
//!
//! A fenced `console` block holds commands after `$ `, their output (both streams), and `[exit code: N]` unless it is 0.
//! In expected output `…` stands for any text within a line, a line of `…` alone for any lines. All blocks of a file run
//! in order in one throw-away home and project directory, and where a block names a file behind its language (`python tool.py`), that
//! file lies there from then on. What runs a program that is not installed is left out. With `SHWARD_UPDATE=1` the files are rewritten
//! instead.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a panic is how a test fails"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Step {
    command: String,
    expected: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn run(command: &str, home: &Path, project: &Path) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_shward")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let script = format!("exec 2>&1; {command}\n");
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .env_clear()
        .envs([
            ("PATH", path.as_str()),
            ("HOME", home.to_str().unwrap()),
            ("SHWARD_TEST_HOME", home.to_str().unwrap()),
            ("LC_ALL", "C.UTF-8"),
            ("USER", "dev"),
        ])
        .current_dir(project)
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    text = text
        .replace(project.to_str().unwrap(), "/home/dev/project")
        .replace(home.to_str().unwrap(), "/home/dev");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if !output.status.success() {
        text.push_str(&format!("[exit code: {}]\n", output.status.code().unwrap()));
    }
    text
}

/// `…` within a line matches any text; a line of `…` alone matches any lines.
fn fits(expected: &[&str], actual: &[&str]) -> bool {
    match (expected.split_first(), actual.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (0..=actual.len()).any(|n| fits(rest, actual.get(n..).unwrap())),
        (Some((e, rest)), Some((a, others))) => line_fits(e, a) && fits(rest, others),
        _ => false,
    }
}

fn line_fits(expected: &str, actual: &str) -> bool {
    let mut parts = expected.split('…');
    let Some(mut rest) = actual.strip_prefix(parts.next().unwrap()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap();
    }
    rest.ends_with(last)
}

/// Splits a file into text that stays and the steps of its console blocks.
fn check(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap().join("home");
    let project = home.join("project");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/id_rsa"), "not a key\n").unwrap();
    fs::create_dir_all(&project).unwrap();
    let (mut out, mut failures, mut steps) = (String::new(), Vec::new(), Vec::<Step>::new());
    let mut inside = false;
    let mut lain: Option<(&str, String)> = None;
    for line in text.lines() {
        match &mut lain {
            Some((name, content)) if line == "```" => {
                fs::write(project.join(name), content).unwrap();
                lain = None;
            }
            Some((_, content)) => content.push_str(&format!("{line}\n")),
            None => {
                let named =
                    line.strip_prefix("```").filter(|_| !inside).and_then(|info| info.split_once(' '));
                lain = named.map(|(_, name)| (name, String::new()));
            }
        }
        if inside && line == "```" {
            inside = false;
            for step in steps.drain(..) {
                let program = step.command.split(' ').next().unwrap();
                if ["python3", "node"].contains(&program) && !Path::new("/usr/bin").join(program).exists() {
                    eprintln!("SKIPPED: {}: there is no {program}", file.display());
                    out.push_str(&format!("$ {}\n{}", step.command, step.expected));
                    continue;
                }
                let actual = run(&step.command, &home, &project);
                let expected: Vec<&str> = step.expected.lines().collect();
                let ok = fits(&expected, &actual.lines().collect::<Vec<_>>());
                if !ok {
                    failures.push(format!(
                        "{}: $ {}\n--- expected\n{}--- actual\n{actual}",
                        file.display(),
                        step.command,
                        step.expected
                    ));
                }
                let shown = if ok { &step.expected } else { &actual };
                out.push_str(&format!("$ {}\n{shown}", step.command.replace('\n', "\n> ")));
            }
        }
        if inside {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_owned(), expected: String::new() });
            } else if let (Some(more), Some(step)) =
                (line.strip_prefix("> "), steps.last_mut().filter(|s| s.expected.is_empty()))
            {
                step.command.push('\n');
                step.command.push_str(more);
            } else {
                let step = steps.last_mut().expect("output before a command");
                step.expected.push_str(line);
                step.expected.push('\n');
            }
            continue;
        }
        inside = line == "```console";
        out.push_str(line);
        out.push('\n');
    }
    if std::env::var_os("SHWARD_UPDATE").is_some() && out != text {
        fs::write(file, out).unwrap();
    }
    failures
}

#[test]
fn the_docs_tell_the_truth() {
    let root = repository();
    let mut files = vec![root.join("README.md")];
    files.extend(
        fs::read_dir(root.join("docs"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "md")),
    );
    files.sort();
    let failures: Vec<String> = files.iter().flat_map(|f| check(f)).collect();
    assert!(
        failures.is_empty(),
        "{} commands print something else (SHWARD_UPDATE=1 rewrites):\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn the_comparison_can_fail() {
    assert!(line_fits("a … c", "a b c") && line_fits("…", "") && line_fits("x", "x"));
    assert!(!line_fits("a … c", "a b d") && !line_fits("x", "xy") && !line_fits("…y", "xyz"));
    assert!(
        fits(&["a", "…", "z"], &["a", "b", "c", "z"])
            && !fits(&["a"], &["a", "b"])
            && !fits(&["a", "b"], &["a"])
    );
}
