//! How long commands may run, by what they run, and what a child may change about it.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use bumpalo::Bump;
use shward_analysis::{Frozen, Request, Source as Asked, analyze};
use shward_policy::{Layer, Policy, Source, exceeds};
use shward_syntax::Dialect;

/// The five kinds that one of the five systems tells apart, and its general time.
const CLASSES: &str = r#"
limits = { timeout = 30, timeout-ceiling = 3600 }
timeout = [
    { class = "test", commands = ["pytest", "cargo test", "go test"], seconds = 900 },
    { class = "build", commands = ["make", "cargo build", "cargo"], seconds = 1800 },
    { class = "network", commands = ["curl", "git fetch"], seconds = 300 },
    { class = "script", commands = ["python3", "/usr/bin/perl"], seconds = 600 },
    { class = "short", commands = "ls", seconds = 5 },
]
"#;

fn policy(text: &str) -> Policy {
    let source = Source { layer: Layer::User, name: "test".to_owned(), text: text.to_owned() };
    Policy::from_sources(None, &[source]).unwrap()
}

fn seconds(policy: &Policy, command: &str) -> Option<u32> {
    let arena = Bump::new();
    let (cwd, home) = (b"/home/dev/proj", b"/home/dev");
    let source = Asked::Command(command.as_bytes());
    let plan =
        analyze(&arena, &Request { source, cwd, workspace: cwd, home, dialect: Dialect::Bash }, &Frozen);
    policy.settings().timeout_for(&plan)
}

#[test]
fn the_longest_time_of_what_is_known_counts() {
    let table: &[(&str, u32)] = &[
        ("cargo test --all", 900),
        ("cargo build", 1800),
        ("cargo --verbose test", 1800),
        ("cd sub && pytest -q", 900),
        ("pytest; make", 1800),
        ("git fetch origin", 300),
        ("git -C sub fetch", 30),
        ("git status", 30),
        ("FOO=1 timeout 5 python3 x.py", 600),
        ("/usr/bin/perl x.pl", 600),
        ("perl x.pl", 30),
        ("ls", 5),
        ("ls; git status", 30),
        ("$PROGRAM test", 30),
        ("echo 'make'", 30),
        ("'unbalanced", 30),
    ];
    let policy = policy(CLASSES);
    for (command, expected) in table {
        assert_eq!(seconds(&policy, command), Some(*expected), "{command}");
    }
}

#[test]
fn without_a_general_time_only_classes_are_told() {
    let policy = policy("[[timeout]]\nclass = 'build'\ncommands = 'make'\nseconds = 1800");
    assert_eq!((seconds(&policy, "make"), seconds(&policy, "ls")), (Some(1800), Some(300)));
    assert_eq!(seconds(&self::policy(""), "ls"), None);
}

#[test]
fn a_layer_replaces_a_class_of_the_same_name() {
    let source = |layer, text: &str| Source { layer, name: "test".to_owned(), text: text.to_owned() };
    let build = |seconds| format!("[[timeout]]\nclass = 'build'\ncommands = 'make'\nseconds = {seconds}");
    let layers = [source(Layer::System, &build(1800)), source(Layer::User, &build(600))];
    assert_eq!(seconds(&Policy::from_sources(None, &layers).unwrap(), "make"), Some(600));
}

#[test]
fn a_child_gives_no_more_time() {
    let class = |class: &str, commands: &str, seconds: u32| {
        format!("[[timeout]]\nclass = '{class}'\ncommands = '{commands}'\nseconds = {seconds}\n")
    };
    let (make, short) = (class("build", "make", 1800), class("short", "ls", 5));
    // child, parent, whether the child may stand
    let table: &[(String, String, bool)] = &[
        (make.clone(), make.clone(), true),
        (String::new(), make.clone(), true),
        (make.clone(), String::new(), false),
        (class("build", "make", 1801), make.clone(), false),
        (class("build", "cargo", 1800), make.clone(), false),
        (class("build", "make", 200), make.clone(), true),
        (class("more", "ls", 200), String::new(), true),
        (String::new(), short.clone(), false),
        (format!("{short}{make}"), format!("{short}{make}"), true),
        (make.clone(), format!("{short}{make}"), false),
        ("[limits]\ntimeout = 4".to_owned(), short.clone(), true),
        ("[limits]\ntimeout = 4000".to_owned(), String::new(), false),
        ("[limits]\ntimeout-ceiling = 4000".to_owned(), String::new(), false),
        ("[limits]\ntimeout-ceiling = 200".to_owned(), String::new(), true),
        (String::new(), "[limits]\ntimeout-ceiling = 200".to_owned(), false),
    ];
    for (child, parent, stands) in table {
        let wider = exceeds(&policy(child), &policy(parent));
        assert_eq!(wider.is_empty(), *stands, "{child} within {parent}: {wider:?}");
    }
}
