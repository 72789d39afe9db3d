//! `env`: variables, a working directory, and a command that may come as one string (`-S`).

use crate::effect::{EffectKind, Scope, Unknown};
use crate::knowledge::apply;
use crate::knowledge::run::{Run, anywhere};
use crate::knowledge::scan::At;
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};
use bumpalo::collections::Vec as BumpVec;

/// Reads the arguments of `env`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    if let Some(string) = scan.value(&["-S", "--split-string"]) {
        // Options before it count as well, and those behind it may be those of a command that stands in it.
        if scan.own().len() > 1 {
            run.not_understood(Unknown::Program, string.span);
            return Stream::unknown(Origins::UNKNOWN, run.call.span);
        }
        let mut argv = BumpVec::new_in(run.arena());
        match string.known().and_then(split_string) {
            Some(words) => {
                for word in words {
                    let word = run.arena().alloc_slice_copy(&word);
                    argv.push(run.part(&string, word));
                }
            }
            None => {
                run.not_understood(Unknown::Program, string.span);
                return Stream::unknown(Origins::UNKNOWN, run.call.span);
            }
        }
        // All that is behind the string goes on, a `--` too.
        let option = run.call.argv.get(1).and_then(Field::known).unwrap_or_default();
        let apart = option == b"-S" || option.starts_with(b"--") && !option.contains(&b'=');
        argv.extend_from_slice_copy(run.call.argv.get(if apart { 3 } else { 2 }..).unwrap_or_default());
        // The words stand where options and assignments could stand.
        let mut again = BumpVec::with_capacity_in(argv.len() + 1, run.arena());
        again.extend(run.call.argv.first());
        again.extend(argv);
        return run.becomes(again.into_bump_slice(), run.call.stdin, Reentry::New);
    }
    let prints = scan.command.is_empty() && !scan.info;
    let cleared = scan.has(&["-i", "--ignore-environment", "-"]);
    let names: Option<Vec<&'a [u8]>> = scan.values(&["-u", "--unset"]).map(|name| name.known()).collect();
    let mut output = Stream::EMPTY;
    let (call, name, program) = (run.call, run.name, run.program);
    let names = names.filter(|_| !cleared);
    if names.as_ref().is_some_and(Vec::is_empty) {
        output = apply::apply(run, &scan);
    } else {
        run.session.without_variables(names.as_deref(), &mut |session| {
            output = apply::apply(&mut Run { session, call, name, program }, &scan);
        });
    }
    if !prints {
        return output;
    }
    let span = run.call.span;
    if cleared {
        return Stream::unknown(Origins::LITERAL, span);
    }
    run.does(EffectKind::Read { target: anywhere(Scope::Environment) }, span);
    Stream::unknown(Origins::ALL_VARIABLES, span)
}

/// The words of `env -S`; `None` if it uses escapes or variables.
fn split_string(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    for byte in text {
        match (quote, byte) {
            (_, b'\\' | b'$' | b'#') => return None,
            (Some(open), close) if open == *close => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(*byte);
                word.get_or_insert_with(Vec::new);
            }
            (None, b) if b.is_ascii_whitespace() => words.extend(word.take()),
            (_, b) => word.get_or_insert_with(Vec::new).push(*b),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::split_string;

    #[test]
    fn strings_split_as_env_does() {
        let words = |text: &str| {
            let words = split_string(text.as_bytes())?;
            Some(words.into_iter().map(|w| String::from_utf8(w).unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(words("rm -rf  /"), Some(vec!["rm".into(), "-rf".into(), "/".into()]));
        assert_eq!(words("sh -c 'id x'"), Some(vec!["sh".into(), "-c".into(), "id x".into()]));
        assert_eq!(words("a '' b"), Some(vec!["a".into(), String::new(), "b".into()]));
        assert_eq!(words("a ${HOME}"), None);
        assert_eq!(words("a 'b"), None);
    }
}
