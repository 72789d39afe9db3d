//! `patch` and `git apply`: which files are changed stands in the patch.

use crate::effect::{Unknown, WriteMode};
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Scan};
use crate::knowledge::values;
use crate::value::{Origins, Stream};

/// What stands before a name at the beginning of a line, and whether leading components are stripped from it.
const HEADERS: [(&[u8], bool); 6] = [
    (b"+++ ", true),
    (b"--- ", true),
    (b"*** ", true),
    (b"Index: ", true),
    (b"rename to ", false),
    (b"copy to ", false),
];

/// Most names that are taken from one patch.
const MAX_NAMES: usize = 512;

/// Reads the arguments of `patch`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    read_as(run, at, Form::Patch)
}

/// What takes a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The file to be changed is the first operand, and what the patch says of names does not count then.
    Patch,
    /// All operands are patches, and a leading component is stripped from the names in them.
    Git,
}

/// Reads the arguments of what takes a patch.
pub(super) fn read_as<'a>(run: &mut Run<'_, 'a>, at: &At<'a>, form: Form) -> Stream<'a> {
    let scan = run.scan(at);
    let shows = scan.has(&["--stat", "--numstat", "--summary"]) && !scan.has(&["--apply"]);
    let told = form == Form::Patch && !scan.operands.is_empty();
    if scan.info || scan.narrow || shows || told {
        return apply::apply(run, &scan);
    }
    let directories = apply::directories(&scan);
    let mut texts = Vec::new();
    run.within(&directories, &mut |run| texts = patches(run, &scan));
    let output = apply::apply(run, &scan);
    run.within(&directories, &mut |run| {
        for text in &texts {
            changes(run, &scan, form, *text);
        }
    });
    output
}

/// The patches, as they are before anything is changed.
fn patches<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Vec<Stream<'a>> {
    let given = scan.values(&["-i", "--input"]);
    let files: Vec<_> =
        given.chain(scan.operands.iter().copied()).filter(|file| file.known() != Some(b"-")).collect();
    if files.is_empty() {
        return vec![run.call.stdin];
    }
    files.iter().map(|file| run.session.file_text(&file.value)).collect()
}

/// The files that a patch names are changed.
fn changes<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, form: Form, patch: Stream<'a>) {
    let Some(text) = patch.text else { return };
    run.session.believes();
    let span = run.call.span;
    let given = scan
        .value(&["-p", "--strip"])
        .and_then(|field| std::str::from_utf8(field.known()?).ok()?.parse().ok());
    let below = scan.value(&["--directory"]).filter(|_| form == Form::Git).and_then(|field| field.known());
    let strip: Option<usize> = given.or_else(|| (form == Form::Git).then_some(1));
    let mut last: &[u8] = b"";
    for (count, (name, stripped)) in text.split(|byte| *byte == b'\n').filter_map(named).enumerate() {
        if count == MAX_NAMES {
            return run.not_understood(Unknown::Budget("files of a patch"), span);
        }
        if name == b"/dev/null" || name == last {
            continue;
        }
        last = name;
        // Without a number some versions take the whole name where its directories exist (`patch(1)`, `-p`).
        let names: &[&[u8]] = match strip {
            Some(strip) if stripped => &[without(name, strip)],
            Some(_) => &[name],
            None => &[values::base_name(name), name],
        };
        for name in names.iter().filter(|name| !name.is_empty()) {
            let path = match below {
                Some(directory) => values::concat(run.arena(), &[directory, b"/", name]),
                None => name,
            };
            let file = values::field(path, patch.origins, span);
            let content =
                Stream { text: None, origins: patch.origins | Origins::LITERAL, source: Some(span) };
            run.writes(&file, WriteMode::Modify, content);
        }
    }
}

/// The name in a line of a header, and whether leading components are stripped from it.
fn named(line: &[u8]) -> Option<(&[u8], bool)> {
    let (rest, stripped) =
        HEADERS.iter().find_map(|(header, stripped)| Some((line.strip_prefix(*header)?, *stripped)))?;
    let end = rest.iter().position(|byte| matches!(byte, b'\t' | b'\r')).unwrap_or(rest.len());
    let name = rest.get(..end)?.trim_ascii();
    let name = match name.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\"")) {
        Some(inner) => inner,
        // A date may follow.
        None if name.contains(&b' ') => name.split(|byte| *byte == b' ').next()?,
        None => name,
    };
    Some((name, stripped))
}

/// A path without so many of its leading components.
fn without(name: &[u8], components: usize) -> &[u8] {
    let mut rest = name;
    for _ in 0..components.min(name.len()) {
        let Some(at) = rest.iter().position(|byte| *byte == b'/') else { return rest };
        rest = rest.get(at..).unwrap_or_default();
        rest = rest.get(rest.iter().take_while(|byte| **byte == b'/').count()..).unwrap_or_default();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::{named, without};

    #[test]
    fn names_of_headers() {
        assert_eq!(named(b"+++ b/x/y\t2024-01-01"), Some((&b"b/x/y"[..], true)));
        assert_eq!(named(b"--- \"a/x y\""), Some((&b"a/x y"[..], true)));
        assert_eq!(named(b"rename to x/y"), Some((&b"x/y"[..], false)));
        assert_eq!(named(b"+++x"), None);
        assert_eq!(named(b"+ y"), None);
    }

    #[test]
    fn components_are_stripped() {
        assert_eq!(without(b"a/b/c", 0), b"a/b/c");
        assert_eq!(without(b"a/b/c", 1), b"b/c");
        assert_eq!(without(b"a//b/c", 2), b"c");
        assert_eq!(without(b"c", 3), b"c");
    }
}
