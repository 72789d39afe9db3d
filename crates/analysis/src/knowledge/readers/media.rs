//! Programs for pictures, sound and video: a name may have what reads or writes it before it (`concat:a|b`, `msl:a`,
//! `label:@a`), and the descriptions of filters name files. What begins with `|` is a command line.

use crate::effect::{EffectKind, Endpoint, Unknown, WriteMode};
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::knowledge::words::Role;
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};

/// What executes, deletes, connects, or reads other files than it names: of `ImageMagick` and `FFmpeg`.
const OTHERS: [&[u8]; 30] = [
    b"msl",
    b"mvg",
    b"msvg",
    b"ephemeral",
    b"url",
    b"http",
    b"https",
    b"ftp",
    b"show",
    b"win",
    b"x",
    b"scan",
    b"dot",
    b"inline",
    b"text",
    b"txt",
    b"concat",
    b"concatf",
    b"subfile",
    b"crypto",
    b"cache",
    b"async",
    b"tee",
    b"md5",
    b"prompeg",
    b"unix",
    b"ffrtmpcrypt",
    b"ipfs",
    b"ipns",
    b"icecast",
];
/// Options whose value describes filters.
const FILTERS: [&str; 7] = ["-vf", "-af", "-filter", "-filter:v", "-filter:a", "-filter_complex", "-lavfi"];
/// What a filter calls a file that it writes, and filters that take one as their first argument.
const WRITTEN: [&[u8]; 12] = [
    b"stats_file",
    b"log_path",
    b"log_file",
    b"vstats_file",
    b"file",
    b"filename",
    b"f",
    b"result",
    b"psnr",
    b"ssim",
    b"signature",
    b"vmafmotion",
];
/// What a filter calls a file that it shows, and filters that take one as their first argument.
const SOURCES: [&[u8]; 8] =
    [b"movie", b"amovie", b"textfile", b"subtitles", b"ass", b"lut3d", b"lut1d", b"fontfile"];
/// Filters that take commands from whoever connects.
const LISTENING: [&[u8]; 2] = [b"zmq", b"azmq"];
/// Filters that are a library's.
const LOADED: [&[u8]; 3] = [b"ladspa", b"frei0r", b"frei0r_src"];

/// Reads the arguments of such a program.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    if scan.info {
        return apply::apply(run, &scan);
    }
    let uses = apply::uses(run, &scan);
    let format = scan.value(&["-f"]).and_then(|format| format.known());
    for each in uses.iter() {
        match each.role {
            Role::Read if format == Some(b"lavfi") => filters(run, each.field),
            Role::Read | Role::Write | Role::Modify => {
                named(run, each.field);
                drawn(run, each.field);
            }
            _ => {}
        }
    }
    if format == Some(b"tee") {
        run.not_understood(Unknown::Construct("several outputs"), run.call.span);
    }
    for graph in scan.values(&FILTERS) {
        filters(run, &graph);
    }
    apply::apply_as(run, &scan, &uses)
}

/// What stands before a name.
fn named<'a>(run: &mut Run<'_, 'a>, field: &Field<'a>) {
    let prefix = field.value.known_prefix();
    let end = prefix.iter().position(|b| matches!(b, b':' | b',' | b'/'));
    let (scheme, rest) = match end.and_then(|at| Some((prefix.get(..at)?, at))) {
        Some((scheme, at)) if prefix.get(at) != Some(&b'/') => (scheme, at + 1),
        _ => (&b""[..], 0),
    };
    let special = OTHERS.iter().any(|name| scheme.eq_ignore_ascii_case(name));
    if special && !prefix.get(rest..).is_some_and(|rest| rest.starts_with(b"//")) {
        run.not_understood(Unknown::Argument, field.span);
        for name in prefix.get(rest..).unwrap_or_default().split(|b| matches!(b, b'|' | b',')) {
            let part = run.part(field, name);
            run.reads(&part, false);
        }
    } else if prefix.get(rest..).is_some_and(|rest| rest.starts_with(b"@")) {
        let value = values::after(run.arena(), &field.value, rest + 1);
        run.reads(&Field { value, ..*field }, false);
    }
    if prefix.get(rest..).is_some_and(|rest| rest.starts_with(b"|")) {
        let value = values::after(run.arena(), &field.value, rest + 1);
        let stdin = Stream::unknown(Origins::FILE, field.span);
        run.shell(&Field { value, ..*field }, stdin, Reentry::New);
    }
}

/// What a drawing command names (`-draw 'image over 0,0 9,9 "text:x"'`).
fn drawn<'a>(run: &mut Run<'_, 'a>, field: &Field<'a>) {
    let separates = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let Some(text) = field.known().filter(|text| text.starts_with(b"image") && text.iter().any(separates))
    else {
        return;
    };
    for word in text.split(separates).filter(|word| word.iter().any(|byte| b":/.".contains(byte))) {
        let part = run.part(field, word);
        named(run, &part);
        run.reads(&part, false);
    }
}

/// The files that a description of filters names, quoted or not: those that it may write, secrets, and those outside of the
/// working directory.
fn filters<'a>(run: &mut Run<'_, 'a>, field: &Field<'a>) {
    let quotes = |byte: &u8| matches!(byte, b'\'' | b'\\');
    let plain: Vec<u8> = field.value.known_prefix().iter().copied().filter(|byte| !quotes(byte)).collect();
    let words = || plain.split(|b| b",;:=[]|\"".contains(b));
    if words().any(|word| LOADED.contains(&word)) && plain.contains(&b'/') {
        run.code("native", None, field.value.origins, field.span);
    }
    if words().any(|word| LISTENING.contains(&word)) {
        run.does(EffectKind::Listen { endpoint: Endpoint::UNKNOWN }, field.span);
    }
    let mut key: &[u8] = b"";
    for word in words() {
        let written = WRITTEN.contains(&key) && !word.is_empty() && !WRITTEN.contains(&word);
        let outside = word.starts_with(b"/") || word.windows(3).any(|three| three == b"../");
        if written || outside || SOURCES.contains(&key) {
            let part = run.part(field, run.arena().alloc_slice_copy(word));
            run.reads(&part, false);
            if written {
                let content = Stream { text: None, origins: Origins::LITERAL, source: Some(run.call.span) };
                run.writes(&part, WriteMode::Replace, content);
            }
        }
        key = word;
    }
}
