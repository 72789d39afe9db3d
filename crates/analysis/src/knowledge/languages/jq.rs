//! The language of `jq`: it computes on its input, and may look at the environment.

use super::super::run::{Run, anywhere};
use crate::effect::{EffectKind, Scope};
use crate::value::{Origins, Stream};
use shward_syntax::Span;

/// What a program does that another one than `jq` runs; its modules are not found there.
pub(crate) fn program<'a>(run: &mut Run<'_, 'a>, text: &[u8], span: Span) -> Stream<'a> {
    let mut origins = Origins::LITERAL;
    if uses(text, &[b"env", b"ENV"]) {
        run.does(environment(), span);
        origins = origins | Origins::ALL_VARIABLES;
    }
    Stream::unknown(origins, span)
}

/// The environment is read.
pub(crate) fn environment<'a>() -> EffectKind<'a> {
    EffectKind::Read { target: anywhere(Scope::Environment) }
}

/// Whether a word of the program is one of these, and not the name of a field (`.env`).
pub(crate) fn uses(program: &[u8], names: &[&[u8]]) -> bool {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let mut before = None;
    let mut rest = program;
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|b| is_word(b)).count();
        let (word, after) = rest.split_at_checked(length.max(1)).unwrap_or((rest, &[]));
        if length > 0 && before != Some(b'.') && names.contains(&word) {
            return true;
        }
        before = word.last().copied().or(Some(*first));
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::uses;

    #[test]
    fn the_environment_is_seen_and_fields_are_not() {
        for program in ["env", "env.HOME", "$ENV.PATH", ". as $x | env | keys", "\"\\(env)\""] {
            assert!(uses(program.as_bytes(), &[b"env", b"ENV"]), "{program}");
        }
        for program in [".env", ".[] | .ENV", "environment", ".a.env.b", "$env2", "", "."] {
            assert!(!uses(program.as_bytes(), &[b"env", b"ENV"]), "{program}");
        }
    }
}
