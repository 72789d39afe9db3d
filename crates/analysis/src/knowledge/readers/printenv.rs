//! `printenv`: all variables, or those that are named.

use crate::effect::{EffectKind, Scope};
use crate::knowledge::run::{Run, anywhere};
use crate::knowledge::scan::At;
use crate::value::{Field, Origins, Stream};

/// Reads the arguments of `printenv`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let names = scan.operands.iter().map(Field::known);
    let origins = names.map(|name| name.map_or(Origins::ALL_VARIABLES, Origins::of_variable));
    let origins = origins.reduce(Origins::union).unwrap_or(Origins::ALL_VARIABLES);
    if origins.contains(Origins::CREDENTIAL) {
        run.does(EffectKind::Read { target: anywhere(Scope::Environment) }, span);
    }
    Stream::unknown(origins, span)
}
