//! `ln`: a target alone is linked under its own name in the current directory (POSIX.1-2024 ln; coreutils 9, second form).
//! What is linked hard can be read under the new name, and nothing shows any more that it was another's.

use crate::knowledge::apply;
use crate::knowledge::flow::Use;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::settled;
use crate::knowledge::values;
use crate::knowledge::words::Role;
use crate::value::{Origins, Stream};

/// Reads the arguments of `ln`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    if !scan.has(&["-s", "--symbolic"]) && !scan.info {
        let into = scan.has(&["-t", "--target-directory"]) || scan.operands.len() < 2;
        let linked = scan.operands.len() - usize::from(!into);
        for target in scan.operands.iter().take(linked) {
            run.reads(target, false);
            settled::linked_hard(run, target);
        }
    }
    let alone = match &*scan.operands {
        [target] if !scan.has(&["-t", "--target-directory"]) => *target,
        _ => return apply::apply(run, &scan),
    };
    let here = values::field(b".", Origins::LITERAL, alone.span);
    let uses = [Use { role: Role::List, field: &alone }, Use { role: Role::DestLink, field: &here }];
    let uses = uses.into_iter().collect();
    apply::apply_as(run, &scan, &uses)
}
