//! Programs whose input may name further files that they read: compilers, assemblers, formatters of pages and documents.
//! Text that the command itself holds is looked through for such names.

use crate::effect::Unknown;
use crate::knowledge::apply;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::values;
use crate::knowledge::words::Role;
use crate::value::{Origins, Stream};

/// Requests of roff that read a file.
const REQUESTS: [&[u8]; 9] = [b"so", b"mso", b"soquiet", b"msoquiet", b"psbb", b"trf", b"cf", b"nx", b"hpf"];

/// What stands before the name of a file in C, in assembler and in the markups, and how the line begins there.
const DIRECTIVES: [(&[u8], &[u8]); 8] = [
    (b"#", b"include"),
    (b"#", b"import"),
    (b"#", b"embed"),
    (b"", b".incbin"),
    (b"", b".include"),
    (b"include::", b"include::"),
    (b"..", b"include::"),
    (b":", b":file:"),
];

/// Most names that are taken from one text.
const MAX_NAMES: usize = 64;

/// Reads the arguments of such a program.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let uses = apply::uses(run, &scan);
    if scan.info {
        return apply::apply_as(run, &scan, &uses);
    }
    let mut texts = Vec::new();
    let operands = uses.iter().filter(|each| each.role == Role::Read);
    for file in operands.clone().filter(|each| each.field.known() != Some(b"-")) {
        let text = run.session.file_text(&file.field.value);
        if text.origins.contains(Origins::WRITTEN) {
            texts.push(text);
        }
    }
    if scan.operands.is_empty() || operands.clone().any(|each| each.field.known() == Some(b"-")) {
        texts.push(run.call.stdin);
    }
    let mut output = apply::apply_as(run, &scan, &uses);
    for text in texts {
        let lines = text.text.unwrap_or_default().split(|byte| *byte == b'\n');
        for (count, name) in lines.filter_map(named).enumerate() {
            if count == MAX_NAMES {
                run.not_understood(Unknown::Budget("files that a file includes"), run.call.span);
                break;
            }
            let file = values::field(name, text.origins, run.call.span);
            output.origins = output.origins | run.reads(&file, false);
        }
    }
    output
}

/// The file that a line tells to read.
fn named(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    if let [b'.' | b'\'', request @ ..] = line {
        let request = request.trim_ascii_start();
        let end = request.iter().position(u8::is_ascii_whitespace).unwrap_or(request.len());
        let (word, name) = request.split_at(end);
        if REQUESTS.contains(&word) {
            return word_of(name);
        }
    }
    DIRECTIVES.iter().find_map(|(start, directive)| {
        let rest = line.strip_prefix(*start).map(|_| line)?;
        let at = rest.windows(directive.len()).position(|window| window == *directive)?;
        word_of(rest.get(at + directive.len()..)?)
    })
}

/// The first word, without its quotes or brackets.
fn word_of(text: &[u8]) -> Option<&[u8]> {
    let is_edge = |byte: &u8| byte.is_ascii_whitespace() || b"\"'<>\\[]();".contains(byte);
    let text = text.get(text.iter().position(|byte| !is_edge(byte))?..)?;
    text.get(..text.iter().position(is_edge).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn names_are_found() {
        let cases: [(&[u8], &[u8]); 8] = [
            (b".so /a/b", b"/a/b"),
            (b"'  mso x.tmac", b"x.tmac"),
            (b"#include \"/a/b\"", b"/a/b"),
            (b"#  include <a.h> // x", b"a.h"),
            (b"asm(\".incbin \\\"/a/b\\\"\");", b"/a/b"),
            (b"include::/a/b[]", b"/a/b"),
            (b".. include:: /a/b", b"/a/b"),
            (b"  :file: /a/b", b"/a/b"),
        ];
        for (line, name) in cases {
            assert_eq!(named(line), Some(name));
        }
        for line in [&b".SH so"[..], b".sort x", b"int include;", b"see include::x[]", b""] {
            assert_eq!(named(line), None);
        }
    }
}
