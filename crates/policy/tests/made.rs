//! A directory that was not there when the command began is the command's own, unless something that was there before is in it.

#![allow(clippy::panic, reason = "a panic is how a test fails")]

use bumpalo::Bump;
use shward_analysis::{FileKind, Request, Source, World, analyze};
use shward_policy::{Context, Decision, Policy, decide_request};
use shward_syntax::Dialect;

/// A machine on which there is nothing of the name `new`.
struct Machine;

impl World for Machine {
    fn kind(&self, path: &[u8]) -> FileKind {
        match path {
            b"/w/p/new" | b"/tmp/new" => FileKind::Missing,
            _ => FileKind::Directory,
        }
    }
}

#[test]
fn what_was_not_there_is_not_lost() {
    for (command, expected) in [
        ("cp -r src new && rm -r new", Decision::Allow),
        ("mkdir -p new; touch new/a; rm -rf new", Decision::Allow),
        ("cargo new new && (cd new && cargo test); rm -rf new", Decision::Allow),
        // Where nothing was made, `..` is not the workspace.
        ("cargo new new && cd new && cargo test; cd ..; rm -rf new", Decision::Ask),
        ("mkdir /tmp/new; cp a /tmp/new; rm -rf /tmp/new", Decision::Allow),
        ("mkdir -p old; touch old/a; rm -rf old", Decision::Ask),
        ("mkdir -p new; mv src new/; rm -rf new", Decision::Ask),
        ("mv src new; rm -rf new", Decision::Ask),
        ("(mv src new) & sleep 1; rm -rf new", Decision::Ask),
        ("(sleep 1; rm -rf new) & mv src new", Decision::Ask),
        ("mkdir new; trap 'rm -rf new' EXIT; mv src new/", Decision::Ask),
        ("git stash pop; rm -rf new", Decision::Ask),
        ("git mv src new; rm -rf new", Decision::Ask),
        ("python3 -c \"import shutil; shutil.move('src', 'new')\"; rm -rf new", Decision::Ask),
        ("for i in 1 2; do rm -rf new; mv src new; done", Decision::Ask),
        ("while true; do rm -rf new; mv src new; done", Decision::Ask),
        ("rm -rf new*", Decision::Ask),
        ("rm -rf new/../old", Decision::Ask),
        ("ln -s old new; rm -rf new/*", Decision::Ask),
    ] {
        assert_eq!(decision(command, false), expected, "{command}");
    }
}

/// What is asked about otherwise may go unasked in a sandbox, and with it what it may have moved there.
#[test]
fn what_was_not_read_may_have_moved_something_there() {
    for command in [
        "mkdir t && git init --separate-git-dir t/g && rm -rf t",
        "mkdir t && git worktree move ../w t/w && rm -rf t",
        "mkdir t && perl -e 'rename \"src\", \"t/src\"' && rm -rf t",
        "mkdir t && svn move src t && rm -rf t",
    ] {
        assert_eq!(decision(command, true), Decision::Ask, "{command}");
    }
}

fn decision(command: &str, contained: bool) -> Decision {
    let source = Source::Command(command.as_bytes());
    let (cwd, home) = (b"/w/p", b"/home/u");
    let arena = Bump::new();
    let request = Request { source, cwd, workspace: cwd, home, dialect: Dialect::Bash };
    let plan = analyze(&arena, &request, &Machine);
    let context = Context { contained, cwd, workspace: cwd, home };
    decide_request(&Policy::default(), &plan, &context, &source, &Machine).decision()
}
