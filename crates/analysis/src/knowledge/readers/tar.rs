//! `tar`: the first argument may be letters without a dash, and what the archive and the operands mean depends on the
//! operation.

use crate::effect::{EffectKind, Endpoint, Unknown, WriteMode};
use crate::knowledge::apply;
use crate::knowledge::change;
use crate::knowledge::endpoint;
use crate::knowledge::flow::Use;
use crate::knowledge::run::{Run, certainty};
use crate::knowledge::scan::{At, Scan};
use crate::knowledge::tables::{Level, Takes};
use crate::knowledge::unpacked;
use crate::knowledge::values;
use crate::knowledge::words::Role;
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream, Value};
use bumpalo::collections::Vec as BumpVec;

const ARCHIVE: [&str; 2] = ["-f", "--file"];
const EXTRACT: [&str; 3] = ["-x", "--extract", "--get"];
const CREATE: [&str; 2] = ["-c", "--create"];
/// Operations that only read the archive.
const INSPECT: [&str; 6] = ["-t", "--list", "-d", "--diff", "--compare", "--test-label"];

/// Reads the arguments of `tar`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let args = at.level().map_or(at.args, |level| dashed(run, level, at.args));
    let scan = run.scan(&At { args, ..*at });
    if scan.info {
        return apply::apply(run, &scan);
    }
    let archives = scan.values(&ARCHIVE).collect::<Vec<_>>();
    let is_archive = |each: &Use<'_, 'a>| each.role == Role::Modify && archives.contains(each.field);
    let mut uses = apply::uses(run, &scan);
    uses.retain(|each| !is_archive(each));
    let archive = archives.last().filter(|file| file.known() != Some(b"-")).copied();
    if scan.has(&["--transform", "--xform"]) {
        run.session.renames_packed();
    }
    for action in scan.values(&["--checkpoint-action"]) {
        checkpoint(run, &action);
    }
    let extracts = scan.has(&EXTRACT);
    if !extracts {
        // Whoever unpacks it later is told of no names.
        for expression in scan.values(&["--transform", "--xform"]) {
            if expression.known().is_some_and(hides) {
                run.not_understood(Unknown::Argument, expression.span);
            }
        }
    }
    if !extracts && !scan.has(&INSPECT) {
        let output = apply::apply_as(run, &scan, &uses);
        if scan.has(&["--remove-files"]) {
            for file in scan.operands.iter() {
                run.deletes(file, true);
            }
        }
        let Some(archive) = archive else { return output };
        let fed = scan.has(&["-T", "--files-from"]);
        let mode = match scan.has(&CREATE) {
            true if change::is_the_same_for_all(run, fed, &uses, &archive) => WriteMode::Truncate,
            true => WriteMode::Replace,
            false => WriteMode::Modify,
        };
        if !remote(run, &scan, &archive, output.origins) {
            run.writes(&archive, mode, Stream { text: None, ..output });
        }
        return Stream::unknown(Origins::NONE, run.call.span);
    }
    let mut content = match archive {
        Some(archive) if remote(run, &scan, &archive, Origins::NONE) => Origins::NETWORK,
        Some(archive) => run.reads(&archive, false),
        None => run.call.stdin.origins,
    };
    content = content | Origins::DECODED;
    let output = apply::apply_as(run, &scan, &uses);
    if !extracts || scan.has(&["--to-command"]) {
        // Names that whoever made the archive has given.
        return Stream { text: None, origins: output.origins | Origins::FILE | Origins::TOLD, ..output };
    }
    let stream =
        Stream { text: None, origins: content, source: run.call.stdin.source.or(Some(run.call.span)) };
    if scan.has(&["-O", "--to-stdout"]) {
        return stream;
    }
    extract(run, &scan, stream);
    Stream::unknown(Origins::NONE, run.call.span)
}

/// Files are written below the directory that is current then, or anywhere if their names may be absolute.
fn extract<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, content: Stream<'a>) {
    let span = run.call.span;
    let here = values::field(b".", Origins::LITERAL, span);
    let anywhere = Field { value: Value::unknown(Origins::UNKNOWN), ..here };
    let place = match scan.value(&["--one-top-level"]) {
        _ if scan.has(&["-P", "--absolute-names"]) => anywhere,
        Some(top) => top,
        None => here,
    };
    let directories = apply::directories(scan);
    let named = scan.has(&["--strip-components", "--transform", "--xform"]);
    for expression in scan.values(&["--transform", "--xform"]) {
        if !expression.known().is_some_and(keeps_plain) {
            run.not_understood(Unknown::Argument, expression.span);
        }
    }
    run.within(&directories, &mut |run| {
        run.writes(&place, WriteMode::Below, content);
        if named || scan.operands.is_empty() {
            unpacked::whatever(run, content, &place);
        }
        if !named {
            scan.operands
                .iter()
                .for_each(|member| unpacked::member(run, Some(&place.value), content, member));
        }
    });
}

/// Whether expressions that change names put no dot into them, with which protected names and ways out begin
/// (tar(1), `s/regexp/replace/flags`, several behind semicolons).
fn keeps_plain(expressions: &[u8]) -> bool {
    let mut rest = expressions;
    loop {
        let Some((_, replacement, behind)) = expression(rest) else { return false };
        if replacement.contains(&b'.') || replacement.contains(&b'\\') {
            return false;
        }
        let flags = behind.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        match behind.get(flags..).unwrap_or_default() {
            [] => return true,
            [b';', next @ ..] => rest = next,
            _ => return false,
        }
    }
}

/// Whether one of these expressions puts the beginning of a hidden name where a name may begin.
fn hides(expressions: &[u8]) -> bool {
    let mut rest = expressions;
    while let Some((searched, replacement, behind)) = expression(rest) {
        // An escaped dot is one.
        let text: Vec<u8> = replacement.iter().copied().filter(|byte| *byte != b'\\').collect();
        // What is replaced at the end of a name, or from a dot on, begins none.
        let inside = [&b"$"[..], b".", b"\\."].iter().any(|end| searched.starts_with(end));
        let is_name = |name: &[u8]| matches!(name, [b'.', first, ..] if !b"./".contains(first));
        let below = |part: &[u8]| matches!(part, [b'/', name @ ..] if is_name(name));
        // A part that was found may be nothing; what follows it is mostly an ending, but not if more lies below.
        let slash = replacement.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
        let above = replacement.get(..slash).unwrap_or_default();
        let is_part = |part: &[u8]| matches!(part, [b'\\', digit, b'.'] if digit.is_ascii_digit());
        let behind_part = above.windows(3).any(is_part);
        if !inside && is_name(&text) || text.windows(3).any(below) || behind_part {
            return true;
        }
        let Some(next) = behind.iter().position(|byte| *byte == b';') else { return false };
        rest = behind.get(next + 1..).unwrap_or_default().trim_ascii_start();
    }
    false
}

/// What the first of some expressions looks for, what it puts in its place, and what stands behind it, its flags first.
fn expression(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let [b's', mark, after @ ..] = text else { return None };
    let (searched, after) = until(after, *mark)?;
    let (replacement, behind) = until(after, *mark)?;
    Some((searched, replacement, behind))
}

/// What stands before a mark that no backslash stands before, and what stands behind it.
fn until(text: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let mut escaped = false;
    let at = text.iter().position(|byte| {
        let found = *byte == mark && !escaped;
        escaped = *byte == b'\\' && !escaped;
        found
    })?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// An archive on another machine (`host:file`), unless the colon belongs to a local name.
fn remote<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, archive: &Field<'a>, sends: Origins) -> bool {
    let prefix = archive.value.known_prefix();
    let name = prefix.split(|b| *b == b'/').next().unwrap_or_default();
    // A colon that comes first belongs to the name.
    let Some(at) = name.iter().position(|b| *b == b':').filter(|at| *at > 0) else { return false };
    if scan.has(&["--force-local"]) {
        return false;
    }
    let host = run.part(archive, prefix.get(..at).unwrap_or_default());
    // A program is started there, in an account: on this machine, too.
    let endpoint = Endpoint { loopback: false, ..endpoint::of(&host.value) };
    run.emit(EffectKind::Connect { endpoint, sends, source: None }, archive.span, certainty(archive));
    true
}

/// What is done now and then while the archive is processed; `exec=` runs a shell command line.
fn checkpoint<'a>(run: &mut Run<'_, 'a>, action: &Field<'a>) {
    const HARMLESS: [&[u8]; 8] = [b"dot", b".", b"bell", b"echo", b"totals", b"ttyout", b"sleep", b"wait"];
    let prefix = action.value.known_prefix();
    let name = prefix.split(|b| *b == b'=').next().unwrap_or_default();
    if name == b"exec" && prefix.len() > name.len() {
        let value = values::after(run.arena(), &action.value, b"exec=".len());
        let stdin = run.call.stdin;
        run.shell(&Field { value, ..*action }, stdin, Reentry::New);
    } else if !HARMLESS.contains(&name) {
        run.not_understood(Unknown::Argument, action.span);
    }
}

/// The arguments with a first word such as `xzf` written as options with dashes, their values beside them.
fn dashed<'a>(run: &Run<'_, 'a>, level: Level, args: &'a [Field<'a>]) -> &'a [Field<'a>] {
    let Some((first, rest)) = args.split_first() else { return args };
    let Some(letters) = first.known().filter(|text| !text.is_empty() && !text.starts_with(b"-")) else {
        return args;
    };
    let mut rest = rest;
    let mut all = BumpVec::with_capacity_in(args.len() + letters.len(), run.arena());
    for letter in letters {
        all.push(run.part(first, run.arena().alloc_slice_copy(&[b'-', *letter])));
        let takes = level.letter(*letter).map(|spelling| spelling.takes);
        if takes == Some(Takes::Value)
            && let Some((value, after)) = rest.split_first()
        {
            all.push(*value);
            rest = after;
        }
    }
    all.extend_from_slice_copy(rest);
    all.into_bump_slice()
}
