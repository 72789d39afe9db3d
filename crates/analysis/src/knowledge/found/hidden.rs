//! What a search finds of hidden directories, by what its words say of names.

use super::root::MOST_WORDS;
use crate::knowledge::run::Run;
use crate::knowledge::tables;
use crate::knowledge::values;
use crate::knowledge::words::Fact;
use crate::value::Field;

/// Whether a search that looks through everything finds any hidden directory, by what its words say of names.
pub(crate) fn finds_any(words: &[Field<'_>]) -> bool {
    if !described(words).is_some_and(|(_, program)| program.has(Fact::FindsHidden)) {
        return false;
    }
    let known = |at: Option<usize>| at.and_then(|at| words.get(at)).and_then(Field::known);
    let says = |from: usize, wanted: &[&[u8]]| {
        words
            .iter()
            .skip(from)
            .take(MOST_WORDS)
            .any(|word| word.known().is_some_and(|word| wanted.contains(&word)))
    };
    let either = says(0, &[b"-o", b"-or"]);
    let mut found = true;
    for (at, word) in words.iter().enumerate().skip(1).take(MOST_WORDS) {
        let Some(option) = word.known() else { continue };
        let named = option.starts_with(b"-")
            && [&b"name"[..], b"path", b"regex"].iter().any(|end| option.ends_with(end));
        let Some(value) = known(Some(at + 1)) else {
            // It may be any name, and is not meant to be all.
            if named {
                return false;
            }
            continue;
        };
        let negated = matches!(known(at.checked_sub(1)), Some(b"!" | b"-not"));
        if named {
            let out = negated || says(at, &[b"-prune"]);
            // Whoever leaves one out knows of them.
            if out && names_hidden(value) {
                return false;
            }
            found &= out || may_be_hidden(value);
        } else if option == b"-type" && value == b"f" {
            found &= negated || either;
        }
    }
    found
}

/// Whether a part of a pattern begins as hidden names do.
fn names_hidden(pattern: &[u8]) -> bool {
    pattern.split(|byte| *byte == b'/').any(|part| part.len() > 1 && part.starts_with(b".") && part != b"..")
}

/// How a program is described, whatever directory it is started from.
pub(crate) fn described(words: &[Field<'_>]) -> Option<(&'static str, tables::Program)> {
    words.first().and_then(Field::known).map(values::base_name).and_then(tables::program)
}

/// Whether a pattern of a name, or of a path, may mean any directory whose name begins with a dot: one that says no more than how such
/// names begin.
fn may_be_hidden(pattern: &[u8]) -> bool {
    let name = values::base_name(pattern);
    // What lies below a directory that is named.
    let is_told = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !part.contains(&b'*');
    let led = pattern.split(|byte| *byte == b'/').rev().skip(1).any(is_told);
    let in_set = |set: &[u8], bytes: &[u8]| {
        set.iter().take_while(|byte| **byte != b']').any(|byte| bytes.contains(byte))
    };
    let begins = match name {
        // `[!.]` leaves it out, and a range or a list of letters has no dot.
        [b'[', b'!' | b'^', set @ ..] => !in_set(set, b"."),
        [b'[', set @ ..] => in_set(set, b".["),
        [first, ..] => b".*?".contains(first),
        [] => true,
    };
    // Those in brackets are one of the name's, and which is not known.
    let mut outside = true;
    let is_letter = |byte: &&u8| {
        outside = **byte == b']' || outside && **byte != b'[';
        outside && byte.is_ascii_alphanumeric()
    };
    begins && !led && name.iter().filter(is_letter).count() < 2
}

/// Whether what a search prints may go through a program that hands on some of it.
pub(crate) fn chosen(run: &Run<'_, '_>, invocation: Option<u32>) -> bool {
    let (Some(from), Some(to)) = (invocation, run.session.invocation()) else { return false };
    (from + 1..to).take(2).any(|between| {
        let program = described(run.session.words_of(Some(between)));
        program.is_some_and(|(_, program)| program.has(Fact::SameLines) || program.has(Fact::PrintsNames))
    })
}

/// What a regular expression says of a name between its beginning and its end.
pub(crate) fn bare(expression: &[u8]) -> &[u8] {
    let begun = expression.strip_prefix(b"^").unwrap_or(expression);
    let begun = begun.strip_prefix(b".*").unwrap_or(begun);
    begun.strip_suffix(b"$").unwrap_or(begun)
}

/// Whether a search goes where links lead, or may: what it finds may lie anywhere.
pub(crate) fn follows_links(words: &[Field<'_>]) -> bool {
    words.iter().skip(1).filter_map(Field::known).any(|word| match word {
        b"-follow" | b"--follow" | b"--dereference-recursive" | b"--dereference" => true,
        [b'-', letters @ ..] => !letters.starts_with(b"-") && letters.iter().any(|byte| b"LR".contains(byte)),
        _ => false,
    })
}
