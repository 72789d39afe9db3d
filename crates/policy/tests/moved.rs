//! What a pattern names and is moved to a directory of the workspace is kept there, unless a link leads to where builds make things.

#![allow(clippy::panic, reason = "a panic is how a test fails")]

use bumpalo::Bump;
use shward_analysis::{FileKind, Request, Source, World, analyze};
use shward_policy::{Context, Decision, Policy, decide_request};
use shward_syntax::Dialect;
use std::borrow::Cow;

/// A machine on which `out` in the workspace is a link to what builds make, and all that is asked for is a directory.
struct Machine;

impl World for Machine {
    fn canonical(&self, path: &[u8]) -> Option<Cow<'_, [u8]>> {
        match path.strip_prefix(b"/w/p/out") {
            Some(rest @ ([] | [b'/', ..])) => Some(Cow::Owned([b"/w/p/target", rest].concat())),
            _ => Some(Cow::Owned(path.to_vec())),
        }
    }

    fn kind(&self, _: &[u8]) -> FileKind {
        FileKind::Directory
    }
}

#[test]
fn a_link_to_what_builds_make_keeps_nothing() {
    let policy = Policy::default();
    for (command, expected) in [
        ("mv src/*.txt docs/", Decision::Allow),
        ("mv src/*.txt docs", Decision::Allow),
        ("mv src/*.txt out/", Decision::Ask),
        ("mv src/*.txt out", Decision::Ask),
        ("mv -t out src/*.txt", Decision::Ask),
        ("mv src/*.txt out/sub/", Decision::Ask),
        ("mv -n src/*.txt out/x", Decision::Ask),
        ("git mv src/*.txt out/", Decision::Ask),
    ] {
        let source = Source::Command(command.as_bytes());
        let (cwd, home) = (b"/w/p", b"/home/u");
        let arena = Bump::new();
        let request = Request { source, cwd, workspace: cwd, home, dialect: Dialect::Bash };
        let plan = analyze(&arena, &request, &Machine);
        let context = Context { contained: false, cwd, workspace: cwd, home };
        let decision = decide_request(&policy, &plan, &context, &source, &Machine).decision();
        assert_eq!(decision, expected, "{command}");
    }
}
