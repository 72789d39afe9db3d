//! What a program is told by arguments that have the form of variables.

use super::values;
use crate::session::Session;
use crate::value::Field;
use shward_syntax::is_name_byte;

/// Records what arguments of the form `NAME=VALUE` do to a program that takes them for variables.
pub(super) fn told<'a>(session: &mut dyn Session<'a>, arguments: &[Field<'a>]) {
    session.works(arguments.len());
    for word in arguments {
        let prefix = word.value.known_prefix();
        let Some(at) = prefix.iter().position(|byte| *byte == b'=') else { continue };
        let name = prefix.get(..at).unwrap_or_default();
        // What a script of autoconf's has found out has small letters, too: `ac_cv_prog_CC`.
        if name.iter().copied().all(is_name_byte) {
            let value = values::after(session.arena(), &word.value, at + 1);
            session.told(name, &Field { value, ..*word });
        }
    }
}
