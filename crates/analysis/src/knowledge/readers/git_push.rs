//! `git push`: refspecs that force (`+ref`) or delete (`:ref`), and what is sent.

use crate::effect::{EffectKind, Unknown};
use crate::knowledge::apply;
use crate::knowledge::run::{Run, certainty};
use crate::knowledge::scan::At;
use crate::value::{Origins, Stream};

/// Reads the arguments of `git push`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let from = run.session.effects().len();
    let scan = run.scan(at);
    let output = apply::apply(run, &scan);
    if scan.info || scan.narrow {
        return output;
    }
    for refspec in scan.operands.iter().skip(1) {
        let action = match refspec.value.known_prefix() {
            [b'+', ..] => "force-push",
            [b':', _, ..] => "delete",
            [] if refspec.known().is_none() => {
                run.not_understood(Unknown::Argument, refspec.span);
                continue;
            }
            _ => continue,
        };
        run.emit(EffectKind::Vcs { action }, refspec.span, certainty(refspec));
    }
    for effect in run.session.effects().iter_mut().skip(from) {
        if let EffectKind::Connect { sends, .. } = &mut effect.kind {
            *sends = *sends | Origins::FILE;
        }
    }
    output
}
