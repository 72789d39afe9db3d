//! A policy's verdict on a shell command, with nothing of the file system to be seen.

use bumpalo::Bump;
use shward_analysis::{Frozen, Request, Source, analyze};
use shward_policy::{Context, Policy, Verdict, decide_request};
use shward_syntax::Dialect;

const WORKSPACE: &[u8] = b"/home/dev/proj";
const HOME: &[u8] = b"/home/dev";

pub(crate) fn judge(policy: &Policy, command: &str, contained: bool) -> Verdict {
    let arena = Bump::new();
    let input = Source::Command(command.as_bytes());
    let request =
        Request { source: input, cwd: WORKSPACE, workspace: WORKSPACE, home: HOME, dialect: Dialect::Bash };
    let plan = analyze(&arena, &request, &Frozen);
    let context = Context { contained, cwd: WORKSPACE, workspace: WORKSPACE, home: HOME };
    decide_request(policy, &plan, &context, &input, &Frozen)
}
