//! Programs are meant by the name that the command says, by the path that it leads to, and by the file that links lead to.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use bumpalo::Bump;
use shward_analysis::{FileKind, Request, Source as Input, World, analyze};
use shward_policy::{Context, Decision, Layer, Policy, Source, decide_request};
use shward_syntax::Dialect;
use std::borrow::Cow;

/// A machine with some programs, and links to them.
struct Machine;

const PROGRAMS: &[(&str, &str)] = &[
    ("git", "/usr/bin/git"),
    ("python3", "/usr/bin/python3"),
    ("ls", "/bin/ls"),
    ("sbctl", "/opt/vendor/bin/sbctl"),
    ("editor", "/usr/bin/editor"),
    ("cargo", "/usr/bin/cargo"),
];

const LINKS: &[(&str, &str)] = &[
    ("/w/p/g", "/usr/bin/git"),
    ("/w/p/tools/wrapped", "/opt/vendor/bin/sbctl"),
    ("/usr/bin/python3", "/usr/bin/python3.12"),
    ("/usr/bin/editor", "/usr/bin/vim.basic"),
    ("/bin/ls", "/bin/busybox"),
    ("/usr/bin/cargo", "/usr/bin/rustup"),
];

impl World for Machine {
    fn kind(&self, path: &[u8]) -> FileKind {
        match path {
            b"/usr/bin/gone" => FileKind::Missing,
            b"/usr/bin" => FileKind::Directory,
            b"/dev/null" => FileKind::Special,
            b"/usr/bin/git" | b"/usr/bin/notes" => FileKind::File,
            _ => FileKind::Unknown,
        }
    }

    fn executable(&self, path: &[u8]) -> Option<bool> {
        Some(path != b"/usr/bin/notes")
    }

    fn canonical(&self, path: &[u8]) -> Option<Cow<'_, [u8]>> {
        let to = LINKS.iter().find(|(from, _)| from.as_bytes() == path).map(|(_, to)| to.as_bytes());
        Some(to.map_or_else(|| Cow::Owned(path.to_vec()), Cow::Borrowed))
    }

    fn program(&self, name: &[u8]) -> Option<Option<Cow<'_, [u8]>>> {
        let found = PROGRAMS.iter().find(|(known, _)| known.as_bytes() == name);
        Some(found.map(|(_, path)| Cow::Borrowed(path.as_bytes())))
    }
}

fn decision(text: &str, command: &str) -> Decision {
    decision_on(text, &Input::Command(command.as_bytes()))
}

fn decision_on(text: &str, source: &Input<'_>) -> Decision {
    let file = Source { layer: Layer::User, name: "test.toml".to_owned(), text: text.to_owned() };
    let policy = Policy::from_sources(Some("open"), &[file]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let arena = Bump::new();
    let (cwd, home) = (b"/w/p", b"/home/u");
    let request = Request { source: *source, cwd, workspace: cwd, home, dialect: Dialect::Bash };
    let plan = analyze(&arena, &request, &Machine);
    let context = Context { contained: false, cwd, workspace: cwd, home };
    decide_request(&policy, &plan, &context, source, &Machine).decision()
}

#[test]
fn a_denial_finds_a_program_by_any_of_its_names() {
    // What is named in the policy, the command, and whether it is meant.
    let table: &[(&str, &str, bool)] = &[
        ("git", "git status", true),
        ("git", "/usr/bin/git status", true),
        ("git", "./g status", true),
        ("git", "g/../g status", true),
        ("git", "env ./g status", true),
        ("git", "find . -exec ./g {} +", true),
        ("git", "gitk", false),
        ("/usr/bin/git", "git status", true),
        ("/usr/bin/git", "/bin/git status", true),
        ("/bin/git", "/usr/bin/git status", true),
        ("/usr/bin/git", "//usr/./bin/../bin/git status", true),
        ("/usr/bin/git", "/w/p/g status", true),
        ("/usr/bin/git", "../p/g status", true),
        ("/usr/bin/git", "cd tools && ../g status", true),
        ("/usr/bin/git", "/opt/other/git status", false),
        ("/opt/vendor/*", "sbctl status", true),
        ("/opt/vendor/*", "tools/wrapped status", true),
        ("/opt/vendor/*", "git status", false),
        ("sbctl", "tools/wrapped", true),
        ("sb*", "tools/wrapped", true),
        ("python3.12", "python3 --version", true),
        ("vim*", "editor x", true),
        // One file that is many programs is what its link says.
        ("busybox", "ls", false),
        ("rustup", "cargo --version", false),
        ("ls", "ls", true),
        ("/bin/busybox", "ls", true),
        // A builtin is no file.
        ("/usr/bin/cd", "cd x", true),
        ("busybox", "cd x", false),
    ];
    for (name, command, meant) in table {
        let expected = if *meant { Decision::Deny } else { decision("", command) };
        for text in [
            format!("[programs]\ndeny = ['{name}']"),
            format!("[[rule]]\nid = 'r'\ndecision = 'deny'\nprogram = '{name}'"),
        ] {
            assert_eq!(decision(&text, command), expected, "{text}\n{command}");
        }
    }
}

/// Of an argument list, the file of the program that it names is what is listed, and of no other that this one starts.
#[test]
fn a_listed_file_lists_nothing_that_it_starts() {
    let listed = |file: &str| format!("shell = 'none'\n[programs]\nallow = ['{file}']\nunlisted = 'deny'");
    for (file, words, expected) in [
        ("/usr/bin/git", &["/usr/bin/git", "status"] as &[&str], Decision::Allow),
        ("/usr/bin/git", &["/w/p/g", "status"], Decision::Allow),
        ("/usr/bin/git", &["git", "status"], Decision::Deny),
        ("/usr/bin/git", &["/bin/ls"], Decision::Deny),
        ("/usr/bin/env", &["/usr/bin/env", "git", "status"], Decision::Deny),
    ] {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        assert_eq!(decision_on(&listed(file), &Input::Argv(&words)), expected, "{file} {words:?}");
    }
}

/// An argument list names a file that can be executed, and that has rules where rules are required.
#[test]
fn an_argument_list_names_a_program_that_may_be_started() {
    let rules = "[argv]\nrules-required = true\n[[binary]]\npath = '/usr/bin/git'\nmax-positionals = 9";
    for (settings, program, expected) in [
        ("", "/usr/bin/git", Decision::Allow),
        ("", "/usr/bin/gone", Decision::Deny),
        ("", "/usr/bin", Decision::Deny),
        ("", "/dev/null", Decision::Deny),
        ("", "/usr/bin/notes", Decision::Deny),
        (rules, "/usr/bin/git", Decision::Allow),
        (rules, "/bin/ls", Decision::Deny),
    ] {
        let words = [program.as_bytes(), b"status"];
        let text = format!("shell = 'none'\n{settings}");
        assert_eq!(decision_on(&text, &Input::Argv(&words)), expected, "{settings} {program}");
    }
}

#[test]
fn an_allowance_goes_by_what_the_command_says() {
    let asked = "[checks]\npush = 'ask'\ndata-sent = 'ask'\n";
    let allowed = |name: &str| format!("{asked}[[rule]]\nid = 'r'\ndecision = 'allow'\nprogram = '{name}'");
    // What is named in the policy, the command, and whether it is meant.
    let table: &[(&str, &str, bool)] = &[
        ("git", "git push", true),
        ("git", "/usr/bin/git push", true),
        ("git", "./git push", false),
        ("/usr/bin/git", "/usr/bin/git push", true),
        ("/usr/bin/*", "/usr/bin/git push", true),
        ("/usr/bin/git", "/w/p/git push", false),
        // Out of the directory by its own name.
        ("/usr/bin/*", "/usr/bin/../../w/p/git push", false),
        ("*/bin/git", "/usr/bin/../bin/git push", false),
    ];
    for (name, command, meant) in table {
        let expected = if *meant { Decision::Allow } else { Decision::Ask };
        assert_eq!(decision(asked, command), Decision::Ask, "{command}");
        assert_eq!(decision(&allowed(name), command), expected, "{name}: {command}");
    }
}
