//! Programs that hand what follows `--` to another one that they start: `cargo rustc -- -C …` to the compiler,
//! `cmake --build DIR -- …` to the build tool.

use crate::knowledge::apply;
use crate::knowledge::interpret;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::tables;
use crate::knowledge::values;
use crate::session::Call;
use crate::value::{Field, Stream};
use bumpalo::collections::Vec as BumpVec;

/// Reads the arguments of such a program. What it hands on is described as `PROGRAM:SUBCOMMAND`, or `PROGRAM:PROGRAM` where
/// there is no subcommand.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let is_end = |arg: &Field<'a>| arg.known() == Some(b"--");
    let Some(end) = at.args.iter().position(is_end) else {
        let scan = run.scan(at);
        return apply::apply(run, &scan);
    };
    let (own, handed) = at.args.split_at_checked(end).unwrap_or((at.args, &[]));
    let scan = run.scan(&At { args: own, ..*at });
    let output = apply::apply(run, &scan);
    if scan.info {
        return output;
    }
    let before = run.call.argv.len().checked_sub(at.args.len() + 1).and_then(|at| run.call.argv.get(at));
    let word = values::base_name(before.and_then(|word| word.known()).unwrap_or_default());
    let described = values::concat(run.arena(), &[run.name.as_bytes(), b":", word]);
    let Some((name, program)) = tables::program(described) else { return output };
    let mut argv = BumpVec::with_capacity_in(handed.len(), run.arena());
    argv.extend(before.copied());
    // Another `--` may be the value of an option before it: nothing is taken for an operand by that.
    argv.extend(handed.iter().filter(|arg| !is_end(arg)).copied());
    let call = Call { argv: argv.into_bump_slice(), ..run.call };
    let mut inner = Run { session: &mut *run.session, call, name, program };
    let at = inner.start();
    interpret(&mut inner, &at);
    output
}
