//! `fd`: a search, and a command for what it finds.
//!
//! fd(1), fd-find 8.6.0: the words after `-x` or `-X`, up to a `;`, are a command; `{}` and its relatives stand for what
//! is found, and without any of them it is put at the end.

use crate::effect::Unknown;
use crate::knowledge::apply;
use crate::knowledge::found::filtered;
use crate::knowledge::found::{self, Root};
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Scan};
use crate::knowledge::values;
use crate::knowledge::words::Syntax;
use crate::place;
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};
use bumpalo::collections::Vec as BumpVec;
use std::collections::HashSet;

/// Most places that are told apart.
const MAX_ROOTS: usize = 64;

/// Reads the arguments of `fd`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let Some(start) = at.args.iter().position(begins_command) else {
        let scan = run.scan(at);
        if !scan.info {
            for root in secrets(run, &scan) {
                let name = root.field(run.arena());
                run.lists(&name, false);
            }
        }
        return apply::apply(run, &scan);
    };
    let (before, rest) = at.args.split_at_checked(start).unwrap_or((at.args, &[]));
    let rest = rest.get(1..).unwrap_or_default();
    let end = rest.iter().position(|word| word.known() == Some(b";")).unwrap_or(rest.len());
    let (command, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
    let search = before.iter().chain(after.iter().skip(1)).copied();
    let args = BumpVec::from_iter_in(search, run.arena()).into_bump_slice();
    let scan = run.scan(&At { levels: at.levels, args, outer: at.outer });
    let output = apply::apply(run, &scan);
    if scan.info {
        return output;
    }
    if command.is_empty() || scan.lost {
        run.not_understood(Unknown::Argument, run.call.span);
        return output;
    }
    let mut roots = roots(run, &scan);
    roots.extend(secrets(run, &scan));
    let placed = command.iter().any(|word| word.value.known_prefix().contains(&b'{'));
    let mut origins = Origins::FILE;
    found::with(run, &roots, &mut |run| {
        for root in &roots {
            let name = root.field(run.arena());
            let words = command.iter().map(|word| filled(word, &name));
            let end = (!placed).then_some(name);
            let argv = BumpVec::from_iter_in(words.chain(end), run.arena()).into_bump_slice();
            origins = origins | run.argv(argv, Stream::EMPTY, Reentry::New).origins;
        }
    });
    Stream { text: None, origins, ..output }
}

/// `-x`, `-X`, alone or after flags that take no value, or their long names.
fn begins_command(word: &Field<'_>) -> bool {
    match word.known() {
        Some(b"--exec" | b"--exec-batch") => true,
        Some([b'-', flags @ .., b'x' | b'X']) => flags.iter().all(|flag| b"HIusigFaLp01ql".contains(flag)),
        _ => false,
    }
}

/// Where is searched, and for what.
fn roots<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Vec<Root<'a>> {
    let here = values::field(b".", Origins::LITERAL, run.call.span);
    let mut places: Vec<Field<'a>> = scan.operands.iter().skip(1).copied().collect();
    places.extend(scan.values(&["--search-path"]));
    if places.is_empty() {
        places.push(here);
    }
    if places.len() > MAX_ROOTS {
        run.not_understood(Unknown::Budget("places to search"), run.call.span);
    }
    let extension = scan.value(&["-e", "--extension"]).and_then(|field| field.known());
    let pattern = extension.map(|extension| values::concat(run.arena(), &[b"*.", extension]));
    let all = scan.operands.first().is_none_or(|pattern| matches!(pattern.known(), Some(b"." | b"" | b".*")));
    let filtered = pattern.is_some() || !all;
    // Hidden files are only found if they are asked for.
    let hidden = scan.has(&["-H", "--hidden", "-u", "--unrestricted"]);
    let words = if hidden { run.session.words_of(run.session.invocation()) } else { &[] };
    let place = |field: Field<'a>| {
        let target = run.target(&field.value, false);
        Root {
            target,
            pattern,
            within: None,
            itself: false,
            filtered,
            sought: Some((words, true)),
            led: false,
            hidden: false,
            picked: false,
            again: false,
            span: field.span,
        }
    };
    places.into_iter().take(MAX_ROOTS).map(place).collect()
}

/// The secrets that are searched for by their name.
fn secrets<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Vec<Root<'a>> {
    let patterns = scan.operands.first().copied().into_iter().chain(scan.values(&["--and"]));
    let syntax = if scan.has(&["-F", "--fixed-strings"]) { Syntax::Fixed } else { Syntax::Perl };
    let mut names: Vec<&'a [u8]> = Vec::new();
    for pattern in patterns {
        let Some(text) = pattern.known() else { continue };
        // A pattern is a regular expression, or a glob; of a plain name both say the same but for these.
        let name = text.iter().copied().filter(|byte| !b"^$\\".contains(byte));
        let name = BumpVec::from_iter_in(name, run.arena()).into_bump_slice();
        if name.iter().any(|byte| b"*?[".contains(byte)) || place::may_be_secret(name) {
            names.push(name);
        }
        if !scan.has(&["-g", "--glob"]) {
            names.extend(filtered::spelled_in(run, &pattern, &[syntax], true));
        }
    }
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(*name));
    let places = roots(run, scan);
    let most = filtered::MOST_LOOKS / places.len().max(1);
    if names.len() > most {
        run.not_understood(Unknown::Budget("names to search for"), run.call.span);
        names.truncate(most);
    }
    let mut found = Vec::new();
    for root in places {
        for name in &names {
            if let Some(secret) = found::secret(run, root.target, name, root.span) {
                found.push(Root { pattern: secret.pattern, ..root });
            }
        }
    }
    found
}

/// A word with a placeholder stands for what is found, or for a part of it.
fn filled<'a>(word: &Field<'a>, name: &Field<'a>) -> Field<'a> {
    if word.known() == Some(b"{}") {
        return Field { span: word.span, ..*name };
    }
    if word.value.known_prefix().contains(&b'{') {
        return Field { value: crate::value::Value::unknown(Origins::NAMES), ..*word };
    }
    *word
}
