//! Shells: a command line (`-c`), a script, or whatever comes from standard input.

use crate::effect::{EffectKind, Unknown};
use crate::knowledge::languages;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream};

/// Reads the arguments of a shell.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let interactive = scan.has(&["-i"]);
    run.session.expects_aliases(interactive);
    let posix = |name: &Field<'a>| name.known().is_none_or(|name| name == b"posix");
    if scan.has(&["--posix", "-O", "+O"]) || scan.values(&["-o"]).any(|name| posix(&name)) {
        // Aliases are expanded then, and more is read in another way.
        run.not_understood(Unknown::Construct("a shell option that changes how the script is read"), span);
    }
    if interactive {
        for file in scan.values(&["--rcfile", "--init-file"]) {
            languages::script(run, "shell", &file, &[]);
        }
    }
    let operands = scan.operands.into_bump_slice();
    // A lone dash ends the options and is none, unless they have ended before.
    let ended = run.call.argv.iter().any(|word| word.known() == Some(b"--"));
    let operands = match operands.split_first() {
        Some((first, rest)) if first.known() == Some(b"-") && !ended => rest,
        _ => operands,
    };
    // `-n` reads and runs nothing.
    let runs = !scan.given.iter().any(|given| given.name == "-n");
    if scan.given.iter().any(|given| given.name == "-c") {
        let Some((text, arguments)) = operands.split_first() else { return Stream::EMPTY };
        return match text.known() {
            Some(_) if !runs => Stream::EMPTY,
            Some(known) => {
                let origins = text.value.origins;
                if origins.contains(Origins::DECODED) {
                    let content = Stream { text: Some(known), origins, source: None };
                    languages::hidden(run.session, "shell", content, text.span);
                }
                let (stdin, dialect) = (run.call.stdin, languages::dialect(run.name));
                run.session.run_text(known, dialect, arguments, stdin, Reentry::New, text.span)
            }
            None => {
                run.code("shell", None, text.value.origins, text.span);
                Stream::unknown(Origins::UNKNOWN, text.span)
            }
        };
    }
    match operands.split_first() {
        Some((script, arguments)) if !scan.given.iter().any(|given| given.name == "-s") => {
            if runs {
                return languages::script(run, "shell", script, arguments);
            }
            let target = run.target(&script.value, false);
            run.does(EffectKind::Read { target }, script.span);
            Stream::unknown(Origins::FILE, span)
        }
        _ if !runs => Stream::EMPTY,
        _ => languages::standard_input(run, "shell", operands),
    }
}
