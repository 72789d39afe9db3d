//! `xargs`: a command whose last arguments come from standard input.
//!
//! xargs(1), GNU findutils 4.9.

use crate::effect::{EffectKind, Unknown};
use crate::knowledge::found;
use crate::knowledge::found::listed;
use crate::knowledge::found::picked;
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Scan};
use crate::knowledge::values;
use crate::session::Reentry;
use crate::value::{Field, Origins, Piece, Stream, Value};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

/// Most commands that are followed one by one; what is left is known to be like them in nothing.
const MAX_RUNS: usize = 64;

/// Reads the arguments of `xargs`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let mut items = run.call.stdin;
    for file in scan.values(&["-a", "--arg-file"]) {
        run.reads(&file, false);
        items = run.session.file_text(&file.value);
    }
    run.session.believes();
    let command = if scan.command.is_empty() {
        let echo = values::field(b"echo", Origins::LITERAL, span);
        &*run.arena().alloc_slice_copy(&[echo])
    } else {
        scan.command
    };
    let replace = replaced(&scan);
    if let Replace::Unknown = replace {
        run.not_understood(Unknown::Argument, span);
        return Stream::unknown(Origins::UNKNOWN, span);
    }
    let by_line = matches!(replace, Replace::Each(_));
    let words = items.text.and_then(|text| split(run.arena(), &scan, text, by_line));
    let from = |text: &'a [u8]| values::field(text, items.origins, span);
    let Some(words) = words else {
        let torn = tears(run, &scan, matches!(replace, Replace::Each(_)));
        let few = scan.has(&["-n", "--max-args", "-L", "-l", "--max-lines", "-s", "--max-chars"]);
        return unknown_items(run, command, &replace, items, torn, few);
    };
    let mut output = Stream { text: None, origins: items.origins, source: Some(span) };
    match replace {
        Replace::Each(marker) => {
            if words.len() > MAX_RUNS {
                run.not_understood(Unknown::Budget("xargs"), span);
            }
            for word in words.iter().take(MAX_RUNS) {
                let item = from(word);
                let inner = run_with(run, command, Some(marker), &[item]);
                output.origins = output.origins | inner.origins;
            }
        }
        _ if words.is_empty() => {
            let skips = scan.has(&["-r", "--no-run-if-empty"]);
            if !skips {
                output = run_with(run, command, None, &[]);
            }
        }
        _ => {
            let Some(each) =
                at_a_time(&scan, words.len()).filter(|each| words.len() <= MAX_RUNS.saturating_mul(*each))
            else {
                return unknown_items(run, command, &replace, items, true, true);
            };
            if each >= words.len() {
                // They are no longer needed while the command runs.
                let argv = appended(run, command, words.into_iter().map(from));
                output = run.argv(argv, Stream::EMPTY, Reentry::New);
            } else {
                for some in words.chunks(each) {
                    let argv = appended(run, command, some.iter().copied().map(from));
                    let inner = run.argv(argv, Stream::EMPTY, Reentry::New);
                    output.origins = output.origins | inner.origins;
                }
            }
        }
    }
    if scan.has(&["-p", "--interactive"]) {
        // Nothing is started unless somebody says so.
        output.text = None;
    }
    output
}

/// How many of so many items a program gets, if that is known.
fn at_a_time(scan: &Scan<'_>, all: usize) -> Option<usize> {
    if scan.has(&["-L", "-l", "--max-lines", "-s", "--max-chars"]) {
        return None;
    }
    match scan.value(&["-n", "--max-args"]) {
        Some(number) => std::str::from_utf8(number.known()?).ok()?.parse().ok().filter(|number| *number > 0),
        None => Some(all.max(1)),
    }
}

/// How items take their place.
enum Replace<'a> {
    /// At the end.
    Append,
    /// One a line, wherever this text stands.
    Each(&'a [u8]),
    /// It is not known where.
    Unknown,
}

fn replaced<'a>(scan: &Scan<'a>) -> Replace<'a> {
    let place = scan.given.iter().rposition(|g| matches!(g.name, "-I" | "-i" | "--replace" | "-J"));
    let later = place.and_then(|place| scan.given.get(place + 1..)).unwrap_or_default();
    // What is given last holds, but for `-n 1`.
    let undone = later.iter().any(|g| match g.name {
        "-L" | "-l" | "--max-lines" => true,
        "-n" | "--max-args" => g.value.and_then(|n| n.known()) != Some(b"1"),
        _ => false,
    });
    match place.and_then(|place| scan.given.get(place)) {
        None => Replace::Append,
        Some(_) if undone => Replace::Unknown,
        Some(given) => match given.value {
            None => Replace::Each(b"{}"),
            Some(value) => value.known().filter(|t| !t.is_empty()).map_or(Replace::Unknown, Replace::Each),
        },
    }
}

/// Starts the command with these items.
fn run_with<'a>(
    run: &mut Run<'_, 'a>,
    command: &'a [Field<'a>],
    marker: Option<&[u8]>,
    items: &[Field<'a>],
) -> Stream<'a> {
    if items.is_empty() {
        return run.argv(command, Stream::EMPTY, Reentry::New);
    }
    let argv = match (marker, items.first()) {
        (Some(marker), Some(item)) => {
            let mut argv = BumpVec::with_capacity_in(command.len(), run.arena());
            argv.extend(command.first());
            argv.extend(command.iter().skip(1).map(|word| filled(run, word, marker, item)));
            argv.into_bump_slice()
        }
        _ => appended(run, command, items.iter().copied()),
    };
    // The command's own standard input is /dev/null.
    run.argv(argv, Stream::EMPTY, Reentry::New)
}

/// A command with items behind it.
fn appended<'a>(
    run: &Run<'_, 'a>,
    command: &[Field<'a>],
    items: impl ExactSizeIterator<Item = Field<'a>>,
) -> &'a [Field<'a>] {
    let mut argv = BumpVec::with_capacity_in(command.len() + items.len(), run.arena());
    argv.extend_from_slice_copy(command);
    argv.extend(items);
    argv.into_bump_slice()
}

/// The items are not known: names below places that the plan lists, or anything. `torn` if an item may be a part of a name,
/// `few` if not all of them may be given at once.
fn unknown_items<'a>(
    run: &mut Run<'_, 'a>,
    command: &'a [Field<'a>],
    replace: &Replace<'a>,
    items: Stream<'a>,
    torn: bool,
    few: bool,
) -> Stream<'a> {
    let span = run.call.span;
    let marker = if let Replace::Each(marker) = replace { Some(*marker) } else { None };
    let names = items.origins == Origins::NAMES;
    let (roots, mut elsewhere) = if names { listed::listed(run, span) } else { (Vec::new(), true) };
    elsewhere |=
        torn || marker.is_some_and(|m| command.iter().any(|w| found::is_led_elsewhere(run, &roots, w, m)));
    let mut output = Stream::unknown(Origins::NONE, span);
    if elsewhere || roots.is_empty() {
        let value = Value::unknown(items.origins);
        let item = Field { value, span, many: marker.is_none() };
        // How often it is started is not known either.
        output = Stream { text: None, ..run_with(run, command, marker, &[item]) };
    }
    if roots.is_empty() {
        return output;
    }
    found::with(run, &roots, &mut |run| {
        for roots in picked::apart(&roots, |root| root.picked) {
            if marker.is_some() {
                for root in &roots {
                    let item = Field { many: false, ..root.field(run.arena()) };
                    let inner = run_with(run, command, marker, &[item]);
                    output.origins = output.origins | inner.origins;
                }
            } else {
                let all: Vec<Field<'a>> = roots.iter().map(|root| root.field(run.arena())).collect();
                let inner = run_with(run, command, None, &all);
                output.origins = output.origins | inner.origins;
                for one in all.iter().filter(|_| few && all.len() > 1) {
                    run_with(run, command, None, std::slice::from_ref(one));
                }
            }
        }
    });
    output
}

/// Whether a name may become several items, or another one: it is divided at something that names may hold, and the script
/// makes names that hold it.
fn tears(run: &mut Run<'_, '_>, scan: &Scan<'_>, by_line: bool) -> bool {
    if scan.has(&["-0", "--null"]) {
        return false;
    }
    if let Some(delimiter) = scan.value(&["-d", "--delimiter"]) {
        return !matches!(delimiter.known(), Some(b"\n" | b"\\n" | b"\\0"));
    }
    let special = |byte: &u8| match byte {
        b'\n' | b'\'' | b'"' | b'\\' => true,
        b' ' | b'\t' => !by_line,
        _ => false,
    };
    // Each is looked at letter by letter.
    let told = run.session.effects().len();
    run.session.works(told.saturating_mul(4));
    run.session.effects().iter().any(|effect| match effect.kind {
        EffectKind::Write { target, .. } => target.path.iter().any(special),
        _ => false,
    })
}

/// A word with every marker in it replaced by the item.
fn filled<'a>(run: &Run<'_, 'a>, word: &Field<'a>, marker: &[u8], item: &Field<'a>) -> Field<'a> {
    let mut parts = Vec::new();
    for piece in word.value.pieces().iter() {
        let Piece::Text(mut text) = *piece else {
            parts.push(Value::of(run.arena(), std::slice::from_ref(piece), word.value.origins));
            continue;
        };
        while let Some(at) = text.windows(marker.len()).position(|w| w == marker) {
            parts.push(Value::text(text.get(..at).unwrap_or_default(), word.value.origins));
            let before = text.get(..at).unwrap_or_default();
            parts.push(found::behind(run.arena(), before, item.value));
            text = text.get(at + marker.len()..).unwrap_or_default();
        }
        parts.push(Value::text(text, word.value.origins));
    }
    Field { value: values::joined(run.arena(), &parts), ..*word }
}

/// The items of a known text; `None` if a delimiter is not understood.
fn split<'a>(arena: &'a Bump, scan: &Scan<'_>, text: &'a [u8], by_line: bool) -> Option<Vec<&'a [u8]>> {
    let pieces = |separator: u8| {
        // Empty ones count, but for what stands behind the last separator.
        let whole = text.strip_suffix(&[separator]).unwrap_or(text);
        let items = whole.split(move |b| *b == separator);
        Some(items.filter(|_| !text.is_empty()).collect())
    };
    if scan.has(&["-E", "-e", "--eof"]) {
        return None;
    }
    if scan.has(&["-0", "--null"]) {
        return pieces(0);
    }
    if let Some(delimiter) = scan.value(&["-d", "--delimiter"]) {
        return match delimiter.known()? {
            [one] => pieces(*one),
            b"\\n" => pieces(b'\n'),
            b"\\t" => pieces(b'\t'),
            b"\\0" => pieces(0),
            _ => None,
        };
    }
    if text.iter().any(|byte| matches!(byte, b'\r' | 0x0b | 0x0c)) {
        // GNU's xargs skips these at the beginning of an item, others do not.
        return None;
    }
    if !text.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'\\')) {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let ends = |byte: &u8| *byte == b'\n' || (!by_line && blank(byte));
        // Blanks before the item of a line are no part of it.
        let start =
            |item: &[u8]| if by_line { item.iter().take_while(|byte| blank(byte)).count() } else { 0 };
        let items = text.split(ends).filter_map(|item| item.get(start(item)..));
        return Some(items.filter(|item| !item.is_empty()).collect());
    }
    let mut items: Vec<&'a [u8]> = Vec::new();
    let mut item: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter();
    let kept = |item: Option<Vec<u8>>| item.map(|item| &*arena.alloc_slice_copy(&item));
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\n') => return None,
            (Some(open), close) if open == *close => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(*byte);
                item.get_or_insert_with(Vec::new);
            }
            (None, b'\\') => item.get_or_insert_with(Vec::new).push(*bytes.next()?),
            (None, b'\n') => items.extend(kept(item.take())),
            (None, b' ' | b'\t') if !by_line => items.extend(kept(item.take())),
            (None, b' ' | b'\t') if item.is_none() => {}
            (_, b) => item.get_or_insert_with(Vec::new).push(*b),
        }
    }
    items.extend(kept(item));
    quote.is_none().then_some(items)
}
