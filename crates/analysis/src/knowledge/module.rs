//! Python modules that are executed by their names, as `python -m` does.

use super::described_beside;
use super::languages;
use super::provenance::NOT_OF_THE_PROJECT;
use super::run::Run;
use super::script;
use super::tables;
use super::values;
use crate::effect::{Certainty, EffectKind, Unknown};
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

/// Most packages around a module that are looked for among what the command has made.
const MAX_PACKAGES: usize = 16;

/// What this command has made of the files that are looked for first, before those of installed packages, is executed:
/// the module, and the packages around it.
fn made<'a>(run: &mut Run<'_, 'a>, name: &[u8], word: &Field<'a>, arguments: &[Field<'a>]) {
    if !run.session.has_made_files() {
        return;
    }
    let mut path = Vec::with_capacity(name.len());
    for (depth, part) in name.split(|byte| *byte == b'.').enumerate() {
        if depth == MAX_PACKAGES {
            return run.not_understood(Unknown::Budget("packages in packages"), word.span);
        }
        path.extend_from_slice(part);
        for ending in [&b".py"[..], b"/__init__.py", b"/__main__.py"] {
            let file = values::concat(run.arena(), &[b"./", &path, ending]);
            let file = values::field(file, word.value.origins, word.span);
            let content = run.session.script_text(&file.value);
            if content.origins.intersects(NOT_OF_THE_PROJECT) {
                script::execute(run, "python", &file, arguments);
            }
        }
        path.push(b'/');
    }
}

/// The program that a module is: it has the same name, in small letters and with `-` for `_`.
fn program_of<'a>(arena: &'a Bump, module: &[u8]) -> Option<&'a [u8]> {
    let name = module.iter().map(|byte| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() });
    let name = BumpVec::from_iter_in(name, arena).into_bump_slice();
    let (_, program) = tables::program(name)?;
    program.is_module(module).then_some(name)
}

/// A module is executed, with these arguments.
pub(super) fn module<'a>(run: &mut Run<'_, 'a>, module: Field<'a>, operands: &[Field<'a>]) -> Stream<'a> {
    let span = run.call.span;
    let Some(name) = module.known() else {
        run.not_understood(Unknown::Argument, module.span);
        return Stream::unknown(Origins::UNKNOWN, span);
    };
    let mut argv = BumpVec::with_capacity_in(operands.len() + 1, run.arena());
    argv.push(module);
    argv.extend_from_slice_copy(operands);
    let argv = argv.into_bump_slice();
    made(run, name, &module, operands);
    // `package` and `package.__main__` are the same.
    let name = name.strip_suffix(b".__main__").unwrap_or(name);
    if let Some(program) = program_of(run.arena(), name) {
        let mut argv = BumpVec::from_iter_in(argv.iter().copied(), run.arena());
        if let Some(word) = argv.first_mut() {
            word.value = run.part(&module, program).value;
        }
        return run.argv(argv.into_bump_slice(), run.call.stdin, Reentry::New);
    }
    if let Some(output) = described_beside(run, "python", name, argv) {
        return output;
    }
    // A part of a package that is not the project's own is not either.
    let package = name.split(|byte| *byte == b'.').next().unwrap_or(name);
    let inside = || {
        let described = values::concat(run.arena(), &[b"python:", package]);
        package != name
            && (program_of(run.arena(), package).is_some() || tables::program(described).is_some())
    };
    if languages::is_standard_module(package) || inside() {
        run.code("python", None, Origins::FILE, module.span);
    } else {
        let kind = EffectKind::Code { language: "project", text: None, origin: Origins::FILE, source: None };
        run.emit(kind, module.span, Certainty::Certain);
    }
    Stream::unknown(Origins::UNKNOWN, span)
}
