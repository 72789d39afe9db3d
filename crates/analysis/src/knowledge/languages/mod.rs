//! Program text that is executed: read as far as a reader gives certainty, else recorded as code.

mod awk;
mod filters;
mod python;
mod sed;

use super::run::Run;
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::{Dialect, Span};

/// Origins of a script that are not those of a file that simply lies there.
pub(crate) const NOT_OF_THE_PROJECT: Origins =
    Origins::NETWORK.union(Origins::DECODED).union(Origins::WRITTEN).union(Origins::SECRET);

/// Shells whose grammar is not that of POSIX.
const OTHER_SHELLS: [&str; 8] = ["fish", "tcsh", "csh", "elvish", "nu", "xonsh", "pwsh", "powershell"];

/// The grammar that a shell of this name reads.
pub(crate) fn dialect(shell: &str) -> Dialect {
    if matches!(shell, "sh" | "dash" | "ash") { Dialect::Posix } else { Dialect::Bash }
}

/// Whether a Python module comes with Python, or reaches out of the process.
pub(crate) fn is_standard_module(name: &[u8]) -> bool {
    python::is_standard(name)
}

/// Program text is executed. Gives what it prints.
pub(crate) fn run<'a>(
    run: &mut Run<'_, 'a>,
    language: &'static str,
    text: Stream<'a>,
    arguments: &'a [Field<'a>],
    span: Span,
) -> Stream<'a> {
    let unknown = Stream::unknown(Origins::UNKNOWN, span);
    let Some(source) = text.text else {
        run.streamed_code(language, text, span);
        return unknown;
    };
    let output = match language {
        "shell" if OTHER_SHELLS.contains(&run.name) => None,
        "shell" => {
            let (stdin, dialect) = (run.call.stdin, dialect(run.name));
            return run.session.run_text(source, dialect, arguments, stdin, Reentry::New, span);
        }
        "python" => python::run(run, source, text, span),
        "sed" => filters::sed(run, source, text, span),
        "awk" => filters::awk(run, source, text, span),
        _ => None,
    };
    output.unwrap_or_else(|| {
        run.streamed_code(language, text, span);
        unknown
    })
}

/// A script file, or `-`, is executed. The arguments are those after it.
pub(crate) fn script<'a>(
    on: &mut Run<'_, 'a>,
    language: &'static str,
    file: &Field<'a>,
    arguments: &[Field<'a>],
) -> Stream<'a> {
    let mut all = BumpVec::with_capacity_in(arguments.len() + 1, on.arena());
    all.push(*file);
    all.extend_from_slice(arguments);
    let all = all.into_bump_slice();
    if file.known() == Some(b"-") {
        return standard_input(on, language, all);
    }
    let content = on.session.file_text(&file.value);
    if let (Some(text), "shell") = (content.text, language)
        && !OTHER_SHELLS.contains(&on.name)
    {
        on.reads(file, false);
        let (stdin, dialect) = (on.call.stdin, dialect(on.name));
        return on.session.run_text(text, dialect, all, stdin, Reentry::New, file.span);
    }
    if content.text.is_some() && matches!(language, "python" | "sed" | "awk") {
        on.reads(file, false);
        return run(on, language, content, all, file.span);
    }
    on.executes(file);
    if content.origins.intersects(NOT_OF_THE_PROJECT) {
        on.streamed_code(language, content, file.span);
    }
    Stream::unknown(Origins::UNKNOWN, file.span)
}

/// Standard input is program text.
pub(crate) fn standard_input<'a>(
    on: &mut Run<'_, 'a>,
    language: &'static str,
    arguments: &'a [Field<'a>],
) -> Stream<'a> {
    let (stdin, span) = (on.call.stdin, on.call.span);
    if stdin.text.is_none() && stdin.origins == Origins::TERMINAL {
        on.code("terminal", None, Origins::TERMINAL, span);
        return Stream::unknown(Origins::TERMINAL, span);
    }
    if stdin.text.is_some_and(<[u8]>::is_empty) {
        return Stream::EMPTY;
    }
    run(on, language, stdin, arguments, stdin.source.unwrap_or(span))
}
