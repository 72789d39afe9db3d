//! `gzip`, `xz` and their kin: a file is replaced by one whose name has another ending.

use crate::effect::WriteMode;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Scan};
use crate::knowledge::words::Fact;
use crate::value::{Field, Origins, Stream, Value};

/// With these the result goes to standard output, or there is none.
const KEEPS: [&str; 8] = ["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "-b", "-o"];

/// With these a packed file becomes what it was.
const UNPACKS: [&str; 3] = ["-d", "--decompress", "--uncompress"];

/// With these a program that unpacks does the opposite.
const PACKS: [&str; 2] = ["-z", "--compress"];

/// Endings of packed tape archives, which unpacking turns into `.tar`.
const ARCHIVES: [&[u8]; 7] = [b"tgz", b"taz", b"tbz", b"tbz2", b"txz", b"tlz", b"tzst"];

/// Reads the arguments of a program that packs or unpacks files in their place.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let output = apply::apply(run, &scan);
    if scan.info || scan.has(&KEEPS) || scan.has(&["--test"]) {
        return output;
    }
    for file in scan.operands.iter() {
        let Some(name) = file.known() else { continue };
        if name == b"-" {
            continue;
        }
        let undoes = run.program.has(Fact::Unpacks) && !scan.has(&PACKS);
        let result = if undoes || scan.has(&UNPACKS) { unpacked(name) } else { packed(run, &scan, name) };
        let text = run.arena().alloc_slice_copy(&result);
        let origins = file.value.origins;
        let value = Value::text(text, origins);
        let content = Stream { text: None, origins: Origins::FILE, source: Some(file.span) };
        run.writes(&Field { value, ..*file }, WriteMode::Create, content);
        if result == name {
            // bzip2 then finds a name of its own.
            let other = run.arena().alloc_slice_copy(&[name, b".out"].concat());
            let value = Value::text(other, origins);
            run.writes(&Field { value, ..*file }, WriteMode::Create, content);
        }
    }
    output
}

/// The name of what comes out of a packed file.
fn unpacked(name: &[u8]) -> Vec<u8> {
    let base = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    match name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > base) {
        Some(dot) => {
            let (stem, ending) = name.split_at(dot);
            let archive = ending.get(1..).is_some_and(|ending| ARCHIVES.contains(&ending));
            if archive { [stem, b".tar"].concat() } else { stem.to_vec() }
        }
        None => name.to_vec(),
    }
}

/// The name of the packed file.
fn packed(run: &Run<'_, '_>, scan: &Scan<'_>, name: &[u8]) -> Vec<u8> {
    let given = scan.value(&["-S", "--suffix"]).and_then(|field| field.known());
    let lzma = scan
        .value(&["-F", "--format"])
        .is_some_and(|format| matches!(format.known(), Some(b"lzma" | b"alone")));
    let usual = run.program.packs().unwrap_or_default().as_bytes();
    let ending: &[u8] = if lzma { b".lzma" } else { usual };
    [name, given.unwrap_or(ending)].concat()
}
