//! GNU `parallel`: a command line for each argument that follows `:::` or comes from standard input.
//!
//! parallel(1): the words of the command are joined by blanks and executed by a shell, with `{}` and its relatives
//! replaced; without any of them the argument is put at the end, quoted.

use crate::effect::Unknown;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream, Value};
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Span;

/// Most arguments that are followed one by one.
const MAX_RUNS: usize = 64;

/// Reads the arguments of `parallel`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let mut scan = run.scan(at);
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let all = std::mem::take(&mut scan.command);
    apply::apply(run, &scan);
    let separator = |arg: &Field<'a>| matches!(arg.known(), Some(b":::" | b":::+" | b"::::" | b"::::+"));
    let end = all.iter().position(separator).unwrap_or(all.len());
    let (words, sources) = all.split_at_checked(end).unwrap_or((all, &[]));
    let before = at.args.len().saturating_sub(sources.len());
    for word in at.args.iter().take(before) {
        // A replacement that is computed; tags and names of directories have them as well.
        let prefix = word.value.known_prefix();
        if prefix.windows(2).any(|two| two == b"{=") {
            run.code("perl", word.known(), word.value.origins, word.span);
        }
    }
    let line: Option<Vec<&[u8]>> = words.iter().map(|word| word.known()).collect();
    let Some(line) = line else {
        run.not_understood(Unknown::Program, span);
        return Stream::unknown(Origins::UNKNOWN, span);
    };
    let quoted = scan.has(&["-q", "--quote"]).then(|| line.clone());
    let line = line.join(&b' ');
    // Only one list of literal arguments is combined here.
    let simple = match sources.split_first() {
        Some((first, rest)) => first.known() == Some(b":::") && !rest.iter().any(separator),
        None => false,
    };
    let literal: Option<Vec<&[u8]>> =
        sources.iter().skip(1).map(|arg| arg.known()).collect::<Option<Vec<_>>>().filter(|_| simple);
    let arguments: Option<Vec<Vec<u8>>> = match (literal, run.call.stdin.text) {
        (Some(literal), _) => Some(literal.into_iter().map(<[u8]>::to_vec).collect()),
        (None, Some(text)) if sources.is_empty() => {
            run.session.believes();
            Some(text.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec).collect())
        }
        _ => None,
    };
    let mut output = Stream::unknown(Origins::NONE, span);
    let arguments = arguments.filter(|all| all.len() <= MAX_RUNS && !scan.has(&["-a", "--arg-file"]));
    let Some(arguments) = arguments else {
        return unknown_arguments(run, &line);
    };
    for argument in &arguments {
        if let Some(words) = quoted.as_ref().filter(|words| !words.is_empty()) {
            // No shell divides the words once more.
            let argv = arguments_of(run, words, argument, span);
            let inner = run.argv(argv, Stream::EMPTY, Reentry::New);
            output.origins = output.origins | inner.origins;
            continue;
        }
        let text = if line.is_empty() { argument.clone() } else { filled(&line, argument) };
        let text = run.arena().alloc_slice_copy(&text);
        let field = values::field(text, Origins::LITERAL, span);
        let inner = run.shell(&field, Stream::EMPTY, Reentry::New);
        output.origins = output.origins | inner.origins;
    }
    output
}

/// The command is plain words: it gets an argument of which nothing is known. A command line with such a part is code.
fn unknown_arguments<'a>(run: &mut Run<'_, 'a>, line: &[u8]) -> Stream<'a> {
    let span = run.call.span;
    let plain =
        !line.is_empty() && line.iter().all(|b| b.is_ascii_alphanumeric() || b" ./_-+=,:@%{}".contains(b));
    if !plain {
        run.code("shell", None, Origins::UNKNOWN, span);
        return Stream::unknown(Origins::UNKNOWN, span);
    }
    let mut argv = BumpVec::new_in(run.arena());
    let text: &'a [u8] = run.arena().alloc_slice_copy(line);
    let mut placed = false;
    for word in values::words(text) {
        match word.iter().position(|b| *b == b'{') {
            Some(at) => {
                placed = true;
                let start = Value::text(word.get(..at).unwrap_or_default(), Origins::LITERAL);
                let value = values::joined(run.arena(), &[start, Value::unknown(Origins::UNKNOWN)]);
                argv.push(Field { value, span, many: false });
            }
            None => argv.push(values::field(word, Origins::LITERAL, span)),
        }
    }
    if !placed {
        argv.push(Field { value: Value::unknown(Origins::UNKNOWN), span, many: false });
    }
    run.argv(argv.into_bump_slice(), Stream::EMPTY, Reentry::New)
}

/// The argument list for one argument, where each word is quoted.
fn arguments_of<'a>(run: &Run<'_, 'a>, words: &[&[u8]], argument: &[u8], span: Span) -> &'a [Field<'a>] {
    let mut argv = BumpVec::with_capacity_in(words.len() + 1, run.arena());
    let mut placed = false;
    for word in words {
        let (text, here) = replaced(word, argument, <[u8]>::to_vec);
        placed |= here;
        argv.push(values::field(run.arena().alloc_slice_copy(&text), Origins::LITERAL, span));
    }
    if !placed {
        argv.push(values::field(run.arena().alloc_slice_copy(argument), Origins::LITERAL, span));
    }
    argv.into_bump_slice()
}

/// The command line for one argument.
fn filled(line: &[u8], argument: &[u8]) -> Vec<u8> {
    let (mut text, placed) = replaced(line, argument, values::quote);
    if !placed {
        text.push(b' ');
        text.extend_from_slice(&values::quote(argument));
    }
    text
}

/// A text with the argument in the places for it, and whether there are any.
fn replaced(line: &[u8], argument: &[u8], quote: fn(&[u8]) -> Vec<u8>) -> (Vec<u8>, bool) {
    let base = values::base_name(argument);
    let stem = |name: &[u8]| match name.iter().rposition(|b| *b == b'.') {
        Some(at) if at > 0 => name.get(..at).unwrap_or(name).to_vec(),
        _ => name.to_vec(),
    };
    let directory =
        argument.iter().rposition(|b| *b == b'/').and_then(|at| argument.get(..at)).unwrap_or(b".");
    let replacements: [(&[u8], Vec<u8>); 6] = [
        (b"{}", quote(argument)),
        (b"{.}", quote(&stem(argument))),
        (b"{/}", quote(base)),
        (b"{/.}", quote(&stem(base))),
        (b"{//}", quote(directory)),
        (b"{1}", quote(argument)),
    ];
    let mut text = Vec::with_capacity(line.len() + argument.len() + 1);
    let mut rest = line;
    let mut placed = false;
    while let Some((first, tail)) = rest.split_first() {
        if let Some((name, with)) = replacements.iter().find(|(name, _)| rest.starts_with(name)) {
            text.extend_from_slice(with);
            placed = true;
            rest = rest.get(name.len()..).unwrap_or_default();
        } else {
            text.push(*first);
            rest = tail;
        }
    }
    (text, placed)
}
