//! What a program is told by arguments that have the form of variables.

use super::values;
use crate::session::Session;
use crate::value::Field;

/// Records what arguments of the form `NAME=VALUE` do to a program that takes them for variables.
pub(super) fn told<'a>(session: &mut dyn Session<'a>, arguments: &[Field<'a>]) {
    session.works(arguments.len());
    for word in arguments {
        let prefix = word.value.known_prefix();
        let Some(at) = prefix.iter().position(|byte| *byte == b'=').filter(|at| *at > 0) else { continue };
        let name = prefix.get(..at).unwrap_or_default();
        let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
        if name.iter().all(is_name) {
            let value = values::after(session.arena(), &word.value, at + 1);
            session.told(name, &Field { value, ..*word });
        }
    }
}
