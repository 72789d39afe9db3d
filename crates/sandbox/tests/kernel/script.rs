//! Commands that run without a shell. That they do what bash does is held by the engine's tests; here stands what no command text
//! can bring about.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use shward_sandbox::script::{Action, Command, List, Mode, Program, Redirect, Target};
use shward_sandbox::{Confinement, Exit, Identity, Limits, Script};

use crate::support::{Place, confinement, go, need_sandbox, stdout};

fn program(words: &[&str]) -> Program {
    Program {
        path: PathBuf::from("/usr/bin").join(words[0]),
        arguments: words.iter().map(Into::into).collect(),
        variables: Vec::new(),
        identity: None,
    }
}

fn command(action: Action, redirects: Vec<Redirect>) -> Command {
    Command { action, redirects, line: 3 }
}

fn pipeline(commands: Vec<Command>) -> List {
    List::Pipeline { commands, negated: false }
}

fn confined(place: &Place, list: List) -> Confinement {
    confinement("/", place.workspace())
        .script(Script { list })
        .variable("PATH", "/usr/bin:/bin")
        .writable(place.workspace())
}

#[test]
fn a_program_that_was_replaced_is_not_executed() {
    need_sandbox!();
    let place = Place::new();
    let data = std::fs::metadata("/usr/bin/id").unwrap();
    for (device, inode, code) in [(0, 0, 0), (0, 1, 126), (0, 1 << 40, 126), (1, 0, 126)] {
        let mut identity = Identity::of(Path::new("/usr/bin/id")).unwrap();
        assert_eq!((identity.device, identity.inode), (data.dev(), data.ino()));
        identity.device ^= device;
        identity.inode ^= inode;
        let program = Program { identity: Some(identity), ..program(&["id", "-u"]) };
        let list = pipeline(vec![command(Action::Program(program), Vec::new())]);
        let result = go(&confined(&place, list));
        assert_eq!(result.exit, Exit::Exited(code), "{identity:?}");
        assert_eq!(result.stdout.total > 0, code == 0);
        assert_eq!(
            result.stderr.to_text().contains("was replaced"),
            code != 0,
            "{}",
            result.stderr.to_text()
        );
    }
}

#[test]
fn a_program_that_cannot_be_executed_ends_as_a_shell_has_it() {
    need_sandbox!();
    let place = Place::new();
    std::fs::write(place.workspace().join("text"), "no program").unwrap();
    for (path, code, message) in [
        ("/usr/bin/not-there", 127, "No such file or directory"),
        ("/usr", 126, "Permission denied"),
        ("./text", 126, "Permission denied"),
    ] {
        let program = Program { path: PathBuf::from(path), ..program(&["x"]) };
        let result = go(&confined(&place, pipeline(vec![command(Action::Program(program), Vec::new())])));
        assert_eq!(result.exit, Exit::Exited(code), "{path}");
        assert_eq!(result.stderr.to_text(), format!("bash: line 3: {path}: {message}\n"));
    }
    let long = "a".repeat(200_000);
    let result =
        go(&confined(&place, pipeline(vec![command(Action::Program(program(&["echo", &long])), vec![])])));
    assert_eq!(result.exit, Exit::Exited(126));
    assert_eq!(result.stderr.to_text(), "bash: line 3: /usr/bin/echo: Argument list too long\n");
}

/// Longer than a pipe holds, to a reader that takes all of it, and to one that does not.
#[test]
fn a_long_text_is_read_whole() {
    need_sandbox!();
    let place = Place::new();
    let text = "0123456789".repeat(100_000);
    let redirect = || vec![Redirect { descriptor: 0, target: Target::Text(text.clone().into_bytes()) }];
    let result =
        go(&confined(&place, pipeline(vec![command(Action::Program(program(&["cat"])), redirect())])));
    assert_eq!((result.exit, result.stdout.total), (Exit::Exited(0), 1_000_000));
    let result = go(&confined(
        &place,
        pipeline(vec![command(Action::Program(program(&["head", "-c", "3"])), redirect())]),
    ));
    assert_eq!((result.exit, stdout(&result).as_str()), (Exit::Exited(0), "012"));
    // Where descriptors are missing, the pipe has their numbers.
    let mut redirects = vec![
        Redirect { descriptor: 0, target: Target::Closed },
        Redirect { descriptor: 1, target: Target::Closed },
    ];
    redirects.extend(redirect());
    let size = Redirect {
        descriptor: 1,
        target: Target::File { path: place.workspace().join("size"), mode: Mode::Write },
    };
    redirects.push(size);
    let counted = pipeline(vec![command(Action::Program(program(&["wc", "-c"])), redirects)]);
    assert_eq!(go(&confined(&place, counted)).exit, Exit::Exited(0));
    assert_eq!(std::fs::read_to_string(place.workspace().join("size")).unwrap(), "1000000\n");
}

#[test]
fn a_process_that_cannot_be_made_ends_it_all() {
    need_sandbox!();
    let place = Place::new();
    let sleep = || command(Action::Program(program(&["sleep", "5"])), Vec::new());
    let mut limits = Limits::default();
    limits.open_files = Some(5);
    let pipes = pipeline((0..8).map(|_| sleep()).collect());
    let open =
        Redirect { descriptor: 3, target: Target::File { path: "/dev/null".into(), mode: Mode::Read } };
    let held = command(Action::Group(Box::new(pipes)), vec![open]);
    let result = go(&confined(&place, pipeline(vec![held])).limits(limits));
    assert!(matches!(result.exit, Exit::Exited(1)), "{result:?}");
    assert!(result.stderr.to_text().contains("Too many open files"), "{}", result.stderr.to_text());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let fine = || command(Action::Status(0), Vec::new());
    let high = Redirect { descriptor: 10, target: Target::Closed };
    let nul = Program { path: PathBuf::from("/a\0b"), ..program(&["x"]) };
    let mut deep = pipeline(vec![fine()]);
    for _ in 0..100 {
        deep = pipeline(vec![command(Action::Subshell(Box::new(deep)), Vec::new())]);
    }
    let plan = |list: List| confinement("/", "/").script(Script { list });
    assert!(plan(pipeline(vec![fine()])).prepare().is_ok());
    assert!(plan(pipeline(vec![command(Action::Status(0), vec![high])])).prepare().is_err());
    assert!(plan(pipeline(vec![command(Action::Program(nul), Vec::new())])).prepare().is_err());
    assert!(plan(deep).prepare().is_err());
    assert!(plan(pipeline(vec![fine()])).variable("PWD", "/").prepare().is_err());
}

/// The whole table is part of what is hashed, the environment's values with it; they are not shown.
#[test]
fn a_script_is_part_of_the_plan() {
    let plan = |bytes: &[u8]| {
        let list = pipeline(vec![command(Action::Print { name: "echo", bytes: bytes.to_vec() }, Vec::new())]);
        confinement("/", "/").script(Script { list }).variable("A", "value").prepare().unwrap()
    };
    assert_eq!(plan(b"one").canonical(), plan(b"one").canonical());
    assert_ne!(plan(b"one").canonical(), plan(b"two").canonical());
    let shown = plan(b"one").to_string();
    assert!(shown.contains("run: echo \"one\"\n") && !shown.contains("value"), "{shown}");
}
