//! `ssh`: its words after the host are joined by blanks and read by a shell on the other machine.

use crate::effect::EffectKind;
use crate::knowledge::apply;
use crate::knowledge::flow::{Use, Uses};
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::knowledge::words::Role;
use crate::session::Reentry;
use crate::value::{Origins, Stream};
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Dialect;

/// Reads the arguments of `ssh`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let uses = apply::uses(run, &scan);
    let uses = uses.iter().map(|each| match each.role {
        Role::Unknown => Use { role: Role::Text, ..each },
        _ => each,
    });
    let uses: Uses<'_, 'a> = uses.collect();
    let output = apply::apply_as(run, &scan, &uses);
    let Some((host, words)) = scan.operands.split_first() else { return output };
    if scan.info || scan.has(&["-N", "-G", "-Q", "-O"]) {
        return output;
    }
    let span = run.call.span;
    if words.is_empty() {
        match run.call.stdin {
            stdin if stdin.origins.intersects(Origins::TERMINAL) => {
                run.code("terminal", None, Origins::TERMINAL, span)
            }
            stdin => run.streamed_code("shell", stdin, span),
        }
        run.does(EffectKind::Remote { action: "change", service: "ssh" }, span);
        return output;
    }
    run.does(EffectKind::Remote { action: "change", service: "ssh" }, span);
    let mut text = BumpVec::new_in(run.arena());
    for word in words {
        match word.known() {
            Some(known) => {
                if !text.is_empty() {
                    text.push(b' ');
                }
                text.extend_from_slice(known);
            }
            None => {
                run.code("shell", None, word.value.origins, word.span);
                return Stream::unknown(Origins::NETWORK, span);
            }
        }
    }
    let text = run.arena().alloc_slice_copy(&text);
    let span = words.last().map_or(host.span, |last| last.span);
    let line = values::field(text, Origins::LITERAL, words.first().map_or(span, |w| w.span.to(span)));
    let stdin = run.call.stdin;
    run.session.run_text(text, Dialect::Posix, &[], stdin, Reentry::Elsewhere, line.span);
    Stream::unknown(Origins::NETWORK, run.call.span)
}
