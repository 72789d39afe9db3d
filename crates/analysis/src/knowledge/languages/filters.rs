//! The effects of sed and awk programs.

use super::{awk, sed};
use crate::effect::{Certainty, EffectKind, Scope, WriteMode};
use crate::knowledge::endpoint;
use crate::knowledge::run::{Run, anywhere};
use crate::knowledge::values;
use crate::session::Reentry;
use crate::value::{Origins, Stream};
use shward_syntax::{Dialect, Span};

/// Records what a sed script does beyond editing; `None` if it is not understood.
pub(super) fn sed<'a>(
    run: &mut Run<'_, 'a>,
    text: &'a [u8],
    from: Stream<'a>,
    span: Span,
) -> Option<Stream<'a>> {
    let actions = sed::actions(text)?;
    let mut origins = from.origins.without(Origins::LITERAL);
    for action in actions {
        match action {
            sed::Action::Read(name) => {
                if name != b"/dev/stdin" {
                    let file = values::field(name, from.origins, span);
                    origins = origins | run.reads(&file, false);
                }
            }
            sed::Action::Write(name) => writes(run, Some(name), WriteMode::Replace, from, span),
            sed::Action::Run(command) => runs(run, Some(command), from, span),
            sed::Action::RunInput => {
                let input = run.call.stdin;
                run.code("shell", None, from.origins | input.origins, span);
                origins = origins | Origins::UNKNOWN;
            }
        }
    }
    Some(Stream { text: None, origins, source: Some(span) })
}

/// Records what an awk program does beyond text; `None` if it is not understood.
pub(super) fn awk<'a>(
    run: &mut Run<'_, 'a>,
    text: &'a [u8],
    from: Stream<'a>,
    span: Span,
) -> Option<Stream<'a>> {
    let actions = awk::actions(text)?;
    let mut origins = from.origins;
    for action in actions {
        match action {
            awk::Action::Read(Some(b"-" | b"/dev/stdin")) => {}
            awk::Action::Read(Some(name)) => {
                let file = values::field(name, from.origins, span);
                origins = origins | run.reads(&file, false);
            }
            awk::Action::Read(None) => {
                run.emit(EffectKind::Read { target: anywhere(Scope::Unknown) }, span, Certainty::Possible);
                origins = origins | Origins::UNKNOWN;
            }
            awk::Action::Write(name, append) => {
                writes(run, name, if append { WriteMode::Append } else { WriteMode::Replace }, from, span);
            }
            awk::Action::Run(command) => {
                runs(run, command, from, span);
                origins = origins | Origins::UNKNOWN;
            }
            awk::Action::Connect(address) => {
                // /inet/PROTOCOL/LOCALPORT/HOST/PORT
                let mut parts = address.split(|b| *b == b'/').skip(4);
                let host = parts.next();
                let port = parts.next().and_then(endpoint::number);
                let endpoint = endpoint::host(host, port, b"tcp");
                let sends = run.call.stdin.origins | Origins::FILE;
                run.does(EffectKind::Connect { endpoint, sends, source: None }, span);
                origins = origins | Origins::NETWORK;
            }
            awk::Action::Environment => {
                run.does(EffectKind::Read { target: anywhere(Scope::Environment) }, span);
                origins = origins | Origins::ALL_VARIABLES;
            }
        }
    }
    Some(Stream { text: None, origins, source: Some(span) })
}

/// A file is written whose name the program gives or computes.
fn writes<'a>(run: &mut Run<'_, 'a>, name: Option<&'a [u8]>, mode: WriteMode, from: Stream<'a>, span: Span) {
    let content = Stream { text: None, origins: from.origins | Origins::FILE, source: Some(span) };
    match name {
        Some(b"/dev/stdout" | b"/dev/stderr" | b"-") => {}
        Some(name) => {
            let file = values::field(name, from.origins, span);
            run.writes(&file, mode, content);
        }
        None => {
            let target = anywhere(Scope::Unknown);
            run.emit(EffectKind::Write { target, mode, content: content.origins }, span, Certainty::Possible);
        }
    }
}

/// A command line is executed that the program gives or computes.
fn runs<'a>(run: &mut Run<'_, 'a>, command: Option<&'a [u8]>, from: Stream<'a>, span: Span) {
    match command {
        Some(text) => {
            let stdin =
                Stream { text: None, origins: run.call.stdin.origins | Origins::FILE, source: Some(span) };
            run.session.perhaps(&mut |session| {
                session.run_text(text, Dialect::Posix, &[], stdin, Reentry::New, span);
            });
        }
        None => run.code("shell", None, from.origins | run.call.stdin.origins, span),
    }
}
