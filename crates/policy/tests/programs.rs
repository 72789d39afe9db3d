//! Programs are meant by the name that the command says, by the path that it leads to, and by the file that links lead to.

#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

use bumpalo::Bump;
use shward_analysis::{Request, Source as Input, World, analyze};
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
];

const LINKS: &[(&str, &str)] = &[
    ("/w/p/g", "/usr/bin/git"),
    ("/w/p/tools/wrapped", "/opt/vendor/bin/sbctl"),
    ("/usr/bin/python3", "/usr/bin/python3.12"),
    ("/usr/bin/editor", "/usr/bin/vim.basic"),
    ("/bin/ls", "/bin/busybox"),
];

impl World for Machine {
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
    let source = Source { layer: Layer::User, name: "test.toml".to_owned(), text: text.to_owned() };
    let policy = Policy::from_sources(Some("open"), &[source]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let arena = Bump::new();
    let (cwd, home) = (b"/w/p", b"/home/u");
    let source = Input::Command(command.as_bytes());
    let request = Request { source, cwd, workspace: cwd, home, dialect: Dialect::Bash };
    let plan = analyze(&arena, &request, &Machine);
    let context = Context { contained: false, cwd, workspace: cwd, home };
    decide_request(&policy, &plan, &context, &source, &Machine).decision()
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
