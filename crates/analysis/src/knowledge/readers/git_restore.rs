//! `git restore`: the index alone, or the working tree, whose changes are then lost.

use super::discards;
use crate::effect::{Certainty, EffectKind};
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::value::Stream;

/// Reads the arguments of `git restore`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let output = apply::apply(run, &scan);
    if scan.info {
        return output;
    }
    let index_only = scan.has(&["-S", "--staged"]) && !scan.has(&["-W", "--worktree"]);
    if index_only {
        let span = run.call.span;
        run.does(EffectKind::Vcs { action: "stage" }, span);
    } else {
        discards(run, Certainty::Certain);
    }
    output
}
