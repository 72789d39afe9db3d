//! What shward knows of programs: from an argument list to effects.
//!
//! The descriptions are data (`knowledge/*.cmds`, see `docs/knowledge.md`), compiled into an image. [`invoke`] finds
//! the program, splits its arguments by its own grammar and turns their roles into effects. Grammars that are no
//! `getopt` have typed readers; text that is known is evaluated, code that is known is read.
//!
//! The modules depend on each other in one direction, from what the descriptions say to who reads them: `words`, `image`,
//! `tables`; `run`, `scan`, `found`, `written`, `provenance`, `foreign`; `languages`; `script`, `module`; `acts`, `change`,
//! `reading`, `network`, `execute`; `apply`; `readers`.

mod acts;
mod apply;
mod change;
mod chosen;
pub(crate) mod endpoint;
mod evaluate;
mod execute;
mod flow;
mod foreign;
mod found;
mod given;
mod image;
mod installed;
mod known;
mod languages;
mod linking;
mod module;
mod moves;
mod names;
mod network;
mod overwriting;
mod program;
mod provenance;
mod readers;
mod reading;
mod run;
mod scan;
mod script;
mod settled;
mod tables;
mod told;
mod unpacked;
mod values;
mod variables;
// Shared with the build script, which uses the rest of it; some words no file needs.
#[allow(dead_code)]
mod words;
mod written;

pub use evaluate::printed;
pub(crate) use evaluate::{Printed, base_name_printed, locates, makes_file, notes_process, prints};
pub(crate) use found::{names_of, reads_found};
pub(crate) use installed::is_installed;
pub use languages::{is_known_language, names_grave};
pub(crate) use program::{is_builtin, names_program};
pub(crate) use values::{base_name, single_quoted};

use crate::effect::{EffectKind, Scope, Unknown};
use crate::session::{Call, Session};
use crate::value::{Field, Origins, Stream};
use run::Run;
use scan::{At, Scan};
use words::Fact;

/// A program is started: records its effects and returns what it writes to standard output.
pub(crate) fn invoke<'a>(session: &mut dyn Session<'a>, call: &Call<'a>) -> Stream<'a> {
    let Some(word) = call.argv.first() else { return Stream::EMPTY };
    let Some(text) = word.known() else {
        session.emit(
            EffectKind::Unknown { reason: Unknown::Program },
            word.span,
            crate::effect::Certainty::Certain,
        );
        return Stream::unknown(Origins::UNKNOWN, call.span);
    };
    let before = session.effects().len();
    let found = program::find(session, call, word, text);
    let arguments = call.argv.get(1..).unwrap_or_default();
    let own = is_of_project(&found, text);
    if own {
        told::told(session, arguments);
    }
    let (printed, of_project) = match found {
        program::Found::Described(name, program) => {
            let plain = program.has(Fact::NoOwnFiles);
            if plain && is_systems(text, name) {
                session.has_no_own_files();
            }
            let printed = described(session, call, name, program);
            (printed, !plain && (own || runs_project(session, before)))
        }
        program::Found::Resembling(name, program) => {
            let printed = described(session, call, name, program);
            let origins = printed.origins.union(Origins::FILE);
            (Stream { text: None, origins, source: printed.source.or(Some(call.span)) }, true)
        }
        program::Found::Script(name, program) => {
            perhaps_described(session, call, name, program);
            (Stream::unknown(Origins::UNKNOWN, call.span), true)
        }
        program::Found::Done(output) => (output, own),
    };
    if of_project {
        told::handed(session, arguments, before);
    }
    printed
}

/// Whether what has been told from here on carries out what a project says.
fn runs_project(session: &mut dyn Session<'_>, from: usize) -> bool {
    let told = session.effects().get(from..).unwrap_or_default();
    told.iter().any(|effect| matches!(effect.kind, EffectKind::Code { language: "project", .. }))
}

/// Whether a program is the project's own, or carries out what a project says in words of that.
fn is_of_project(found: &program::Found<'_>, text: &[u8]) -> bool {
    match found {
        // What it is told by such words is described.
        program::Found::Described(_, program) if program.level().style() == words::Style::KeyValue => false,
        program::Found::Described(_, program) => program::is_of_projects(*program),
        program::Found::Resembling(..) | program::Found::Script(..) | program::Found::Done(_) => {
            text.contains(&b'/')
        }
    }
}

/// What a program that the knowledge describes does with these arguments, but not what is not understood of them: they
/// may be a script's own.
fn perhaps_described<'a>(
    session: &mut dyn Session<'a>,
    call: &Call<'a>,
    name: &'static str,
    program: tables::Program,
) {
    let from = session.effects().len();
    described(session, call, name, program);
    let all = session.effects();
    let told = all.split_off(from.min(all.len()));
    all.extend(told.into_iter().filter(|effect| !matches!(effect.kind, EffectKind::Unknown { .. })));
}

/// Whether a program is named by its name alone, or where the system's lie. Whoever starts it sees that the name leads there.
fn is_systems(text: &[u8], name: &str) -> bool {
    let directory = text.strip_suffix(name.as_bytes());
    directory.is_some_and(|directory| matches!(directory, b"" | b"/bin/" | b"/usr/bin/"))
}

/// Interprets the arguments of a program that the knowledge describes.
fn described<'a>(
    session: &mut dyn Session<'a>,
    call: &Call<'a>,
    name: &'static str,
    program: tables::Program,
) -> Stream<'a> {
    let mut run = Run { session, call: *call, name, program };
    variables::obey(&mut run);
    written::options_by_name(&mut run);
    let mut started = |run: &mut Run<'_, 'a>| {
        let at = run.start();
        interpret(run, &at)
    };
    let printed = match found::word(&mut run) {
        Some((at, roots)) => found::standing(&mut run, at, &roots, &mut started),
        None => started(&mut run),
    };
    if program.level().echoes() {
        shows(&mut run, printed);
    }
    printed
}

/// A variable that holds a token is shown to whoever reads the output.
fn shows<'a>(run: &mut Run<'_, 'a>, printed: Stream<'a>) {
    // What comes over the network has the origins of what was sent for it, and is not the token itself.
    let token = printed.origins.contains(Origins::CREDENTIAL) && !printed.origins.contains(Origins::NETWORK);
    if token && run.session.shows_output() {
        // A part of the program that reads it says so at the same place, and then it is told once.
        let span = printed.source.unwrap_or(run.call.span);
        run.does(EffectKind::Read { target: run::anywhere(Scope::Environment) }, span);
    }
}

/// Interprets the arguments by the program's reader, or by its tables alone.
fn interpret<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let reader = at.level().and_then(readers::of).unwrap_or(by_tables);
    if !at.level().is_some_and(|level| level.repeats()) {
        return reader(run, at);
    }
    run.session.begins_repeating();
    let output = reader(run, at);
    run.session.ends_repeating();
    output
}

/// Interprets an argument list as that of a module or script whose name means a program of its own to whoever runs it:
/// it is described beside the programs, under a name that no command has (`python:venv`).
fn described_beside<'a>(
    run: &mut Run<'_, 'a>,
    language: &str,
    name: &[u8],
    argv: &'a [Field<'a>],
) -> Option<Stream<'a>> {
    let described = values::concat(run.arena(), &[language.as_bytes(), b":", name]);
    let (name, program) = tables::program(described)?;
    let call = Call { argv, ..run.call };
    let mut inner = Run { session: &mut *run.session, call, name, program };
    let at = inner.start();
    Some(interpret(&mut inner, &at))
}

/// Interprets the arguments by the tables.
fn by_tables<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    proceed(run, &scan)
}

/// Goes on with the subcommand, or applies what was found.
fn proceed<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Stream<'a> {
    let Some((sub, args)) = scan.sub.filter(|_| !scan.info) else { return apply::apply(run, scan) };
    let at = run.below(scan, sub, args);
    let directories = apply::directories(scan);
    let mut output = Stream::unknown(Origins::UNKNOWN, run.call.span);
    run.within(&directories, &mut |run| output = interpret(run, &at));
    output
}

#[cfg(test)]
mod tests;
