//! Program text that is executed: read as far as a reader gives certainty, else recorded as code.
//!
//! Each language has a reader that follows what a program refers to and says it as effects ([`report::Report`]). What a
//! reader cannot vouch for is `Code`, besides the effects that were seen.

mod awk;
mod debugger;
mod filters;
mod glued;
mod grave;
mod javascript;
pub(crate) mod jq;
mod makefile;
mod members;
mod perl;
mod plain;
pub(crate) mod project;
mod python;
mod report;
pub(crate) mod sed;
mod sql;
mod worded;

use super::run::Run;
use super::tables::Program;
use super::words::Fact;
use crate::effect::{Certainty, EffectKind, Scope, WriteMode};
use crate::session::{Call, Reentry, Session};
use crate::value::{Field, Origins, Stream};
pub(crate) use grave::names_grave_anywhere;
pub use grave::{is_known_language, names_grave};
use report::Report;
use shward_syntax::{Dialect, Span};

/// Whether a shell reads a grammar that is not that of POSIX.
pub(crate) fn is_other_shell(shell: &Program) -> bool {
    shell.has(Fact::ReadsOther)
}

/// The grammar that a shell reads.
pub(crate) fn dialect(shell: &Program) -> Dialect {
    if shell.has(Fact::ReadsPosix) { Dialect::Posix } else { Dialect::Bash }
}

/// How a shell is entered.
pub(crate) fn reentry(shell: &Program) -> Reentry {
    if shell.has(Fact::ReadsKindred) { Reentry::Foreign } else { Reentry::New }
}

/// Whether a Python module comes with Python, or reaches out of the process.
pub(crate) fn is_standard_module(name: &[u8]) -> bool {
    python::is_standard(name)
}

/// Reads a program in some language, records what it does, and gives what it prints. `arguments` are those that the
/// program gets, `stdin` is what is left of its standard input, and `span` is where its text stands.
pub(crate) fn read<'a>(
    session: &mut dyn Session<'a>,
    language: &'static str,
    text: Stream<'a>,
    arguments: &'a [Field<'a>],
    stdin: Stream<'a>,
    span: Span,
) -> Stream<'a> {
    let Some(source) = text.text else {
        unread(session, language, text, span);
        return Stream::unknown(Origins::UNKNOWN, span);
    };
    if text.origins.contains(Origins::DECODED) {
        hidden(session, language, text, span);
    }
    match language {
        "shell" => return session.run_text(source, Dialect::Posix, arguments, stdin, Reentry::New, span),
        "python" | "javascript" | "perl" | "php" | "ruby" => {}
        "lua" | "r" | "julia" | "elixir" | "erlang" | "haskell" => {}
        _ => {
            unread(session, language, text, span);
            return Stream::unknown(Origins::UNKNOWN, span);
        }
    }
    if !session.reads_program(source.len()) {
        return Stream::unknown(Origins::UNKNOWN, span);
    }
    let mut report = Report::new(session, language, text, stdin, span);
    match language {
        "python" => python::read(&mut report, source, arguments),
        "javascript" => javascript::read(&mut report, source),
        "php" | "ruby" => worded::read(&mut report, language, source),
        "lua" | "r" | "julia" | "elixir" | "erlang" | "haskell" => plain::read(&mut report, language, source),
        _ => perl::read(&mut report, source, perl::Given::default()),
    }
    report.finish()
}

/// Text that a reader reads, and that nobody can read in the command because it stands there in encoded form.
pub(crate) fn hidden<'a>(
    session: &mut dyn Session<'a>,
    language: &'static str,
    text: Stream<'a>,
    span: Span,
) {
    unread(session, language, text, span);
}

/// Whether text in a language has no reader, and is looked through for what does harm instead, as that which is built and
/// started afterwards.
pub(crate) fn is_searched(language: &str) -> bool {
    matches!(
        language,
        "c" | "go"
            | "java"
            | "make"
            | "manifest"
            | "php"
            | "ruby"
            | "rust"
            | "settings"
            | "source"
            | "typescript"
    )
}

/// Code that no reader has read.
fn unread<'a>(session: &mut dyn Session<'a>, language: &'static str, text: Stream<'a>, span: Span) {
    let Stream { text, origins: origin, source } = text;
    session.emit(EffectKind::Code { language, text, origin, source }, span, Certainty::Certain);
}

/// Program text is executed. Gives what it prints.
pub(crate) fn run<'a>(
    run: &mut Run<'_, 'a>,
    language: &'static str,
    text: Stream<'a>,
    arguments: &'a [Field<'a>],
    span: Span,
) -> Stream<'a> {
    if language == "shell" {
        return run_once(run, language, text, arguments, span);
    }
    // Most programs have loops.
    run.session.begins_repeating();
    let output = run_once(run, language, text, arguments, span);
    run.session.ends_repeating();
    output
}

fn run_once<'a>(
    run: &mut Run<'_, 'a>,
    language: &'static str,
    text: Stream<'a>,
    arguments: &'a [Field<'a>],
    span: Span,
) -> Stream<'a> {
    let read_here = matches!(language, "jq" | "sed" | "awk" | "sql" | "gdb")
        || language == "perl" && run.program.has(Fact::PerlOptions);
    if read_here && text.text.is_some_and(|source| !run.session.reads_program(source.len())) {
        return Stream::unknown(Origins::UNKNOWN, span);
    }
    match (language, text.text) {
        ("shell", Some(_)) if is_other_shell(&run.program) => {
            run.streamed_code(language, text, span);
            return Stream::unknown(Origins::UNKNOWN, span);
        }
        ("shell", Some(source)) => {
            if text.origins.contains(Origins::DECODED) {
                hidden(run.session, language, text, span);
            }
            let (stdin, dialect) = (run.call.stdin, dialect(&run.program));
            return run.session.run_text(source, dialect, arguments, stdin, reentry(&run.program), span);
        }
        ("jq", Some(source)) => return jq::program(run, source, span),
        ("gdb", Some(source)) => {
            if !debugs(run, source) {
                run.streamed_code(language, text, span);
            }
            return Stream::unknown(Origins::FILE | Origins::UNKNOWN, span);
        }
        ("sed" | "awk", Some(source)) => {
            let output = match language {
                "sed" => filters::sed(run, source, text, span),
                _ => filters::awk(run, source, text, span),
            };
            return output.unwrap_or_else(|| {
                run.streamed_code(language, text, span);
                Stream::unknown(Origins::UNKNOWN, span)
            });
        }
        ("perl-module", Some(name)) => {
            // Where modules are looked for elsewhere, one of that name may be a file that this command has made.
            let made = perl::has_libraries(run.call.argv) && run.session.has_made_files();
            if made || !perl::is_harmless_module(name) {
                run.streamed_code("perl", text, span);
            }
            return Stream::EMPTY;
        }
        ("ruby-module", Some(name)) if worded::is_harmless_module(name) && !run.session.has_made_files() => {
            return Stream::EMPTY;
        }
        ("ruby-module", _) => {
            run.streamed_code("ruby", Stream { text: None, ..text }, span);
            return Stream::EMPTY;
        }
        ("perl-module", None) => {
            run.streamed_code("perl", text, span);
            return Stream::unknown(Origins::UNKNOWN, span);
        }
        ("perl", Some(source)) if run.program.has(Fact::PerlOptions) => {
            let stdin = if text == run.call.stdin { Stream::EMPTY } else { run.call.stdin };
            let argv = run.call.argv;
            if text.origins.contains(Origins::DECODED) {
                hidden(run.session, language, text, span);
            }
            let mut report = Report::new(run.session, "perl", text, stdin, span);
            perl::read(&mut report, source, perl::Given { argv });
            return report.finish();
        }
        ("sql", Some(source)) => {
            let stdin = if text == run.call.stdin { Stream::EMPTY } else { run.call.stdin };
            if text.origins.contains(Origins::DECODED) {
                hidden(run.session, language, text, span);
            }
            let client = sql::Client::of(&run.program);
            run.session.works(run.call.argv.len() / 8);
            let mut report = Report::new(run.session, "sql", text, stdin, span);
            let is_argument = run.call.argv.iter().any(|field| field.known() == Some(source));
            sql::read(&mut report, client, source, is_argument);
            return report.finish();
        }
        _ => {}
    }
    if let ("ruby", Some(source)) = (language, text.text) {
        for file in perl::emptied_by_ruby(run.call.argv, source) {
            run.writes(file, WriteMode::Truncate, Stream { text: None, ..text });
        }
    }
    // A program that was read from standard input leaves nothing there.
    let stdin = if text.text.is_some() && text == run.call.stdin { Stream::EMPTY } else { run.call.stdin };
    read(run.session, language, text, arguments, stdin, span)
}

/// So many bytes of a program does it cost to look at an argument again.
const ARGUMENT: usize = 16;

/// Whether a debugger is told nothing but to look at a program, or to start it, which is the workspace's own then.
fn debugs(run: &mut Run<'_, '_>, text: &[u8]) -> bool {
    let Some(starts) = debugger::starts_program(text) else { return false };
    // Each of many texts is held against all arguments.
    if !run.session.reads_program(run.call.argv.len().saturating_mul(ARGUMENT)) {
        return false;
    }
    let at = run.start();
    let scan = run.scan(&at);
    let (words, program) = (run.call.argv.iter().skip(1), scan.operands.first().copied());
    // Else more commands come from standard input.
    if !scan.has(&["-batch", "-batch-silent", "-b", "--batch"]) || scan.has(&["-i", "-interpreter"]) {
        return false;
    }
    // The number is that of a process, and what is not known may be one.
    let number = |word: &Field<'_>| word.known().is_none_or(|word| word.iter().all(u8::is_ascii_digit));
    if scan.has(&["-ex", "-eval-command", "-iex", "-init-eval-command"])
        && !scan.has(&["-args"])
        && words.clone().any(number)
    {
        return false;
    }
    let Some(program) = program.filter(|_| starts) else { return !starts };
    // A name without a directory is looked for where programs are, too.
    let own = program.known().is_some_and(|name| name.contains(&b'/'))
        && matches!(run.target(&program.value, false).scope, Scope::Workspace | Scope::Product);
    // Another one may be started than the first that is named; what it is given may go through a shell; and where it crashes,
    // more commands may be read.
    let other = scan.has(&["-e", "-exec", "-se", "-f", "--file"]) || is_fed(&run.call);
    let plain = |word: &&Field<'_>| {
        word.known().is_some_and(|word| !word.iter().any(|byte| b"$`;|&<>(".contains(byte)))
    };
    if !own || other || !scan.operands.iter().all(|word| plain(&word)) {
        return false;
    }
    let words: Vec<_> = scan.operands.iter().copied().collect();
    let argv = run.arena().alloc_slice_copy(&words);
    run.argv(argv, Stream::EMPTY, Reentry::New);
    true
}

/// Whether a program is given something to read that is not its caller's.
fn is_fed(call: &Call<'_>) -> bool {
    let Stream { text, source, .. } = call.stdin;
    call.piped || text.map_or(source.is_some(), |text| !text.is_empty())
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
    on.session.believes();
    if language == "shell"
        && on.call.piped
        && stdin.text.is_some()
        && !stdin.origins.contains(Origins::DECODED)
    {
        // It is judged as well, but whoever looks for programs finds the one that prints.
        hidden(on.session, language, stdin, stdin.source.unwrap_or(span));
    }
    run(on, language, stdin, arguments, stdin.source.unwrap_or(span))
}
