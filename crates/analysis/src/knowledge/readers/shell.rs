//! Shells: a command line (`-c`), a script, or whatever comes from standard input.

use crate::effect::Unknown;
use crate::knowledge::languages;
use crate::knowledge::run::Run;
use crate::knowledge::scan::{At, Given};
use crate::knowledge::script;
use crate::knowledge::words::Fact;
use crate::session::{Reentry, Starting};
use crate::value::{Origins, Stream};
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Dialect;

/// Options that change neither what a script means nor who knows what, nor are refused: of every shell, and of bash.
const PLAIN: [&str; 12] = ["-b", "-C", "-c", "-e", "-i", "-l", "-m", "-n", "-s", "-u", "-v", "-x"];
const PLAIN_FOR_BASH: [&str; 14] = [
    "-B",
    "-D",
    "-E",
    "-T",
    "-h",
    "--dump-po-strings",
    "--dump-strings",
    "--init-file",
    "--login",
    "--noediting",
    "--noprofile",
    "--norc",
    "--rcfile",
    "--verbose",
];

/// With these bash reads the script and runs nothing.
const READS_ONLY: [&str; 4] = ["-n", "-D", "--dump-strings", "--dump-po-strings"];

/// Whether an option of bash or dash changes what a script means, or who knows what.
fn changes_reading(given: &Given<'_>, dialect: Dialect) -> bool {
    let harmless: [&[u8]; 7] =
        [b"errexit", b"errtrace", b"functrace", b"nounset", b"pipefail", b"verbose", b"xtrace"];
    match given.name {
        "-o" | "+o" => {
            given.value.is_some_and(|name| name.known().is_none_or(|name| !harmless.contains(&name)))
        }
        name if dialect == Dialect::Bash && PLAIN_FOR_BASH.contains(&name) => false,
        name => !PLAIN.contains(&name),
    }
}

/// Reads the arguments of a shell.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let scan = run.scan(at);
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let interactive = scan.has(&["-i"]);
    run.session.expects_shell(Starting {
        interactive,
        leaves_early: scan.has(&["-e", "-u", "-o"]),
        traces: scan.has(&["-x", "-v", "--verbose", "-o"]),
        no_clobber: scan.has(&["-C"]),
    });
    if interactive {
        for file in scan.values(&["--rcfile", "--init-file"]) {
            script::execute(run, "shell", &file, &[]);
            // What it leaves behind is not followed: functions, aliases, variables.
            run.not_understood(
                Unknown::Construct("a file that an interactive shell reads when it starts"),
                span,
            );
        }
    }
    let operands = &*run.arena().alloc_slice_copy(&scan.operands);
    // A lone dash ends the options and is none, unless they have ended before.
    let ended = run.call.argv.iter().any(|word| word.known() == Some(b"--"));
    let operands = match operands.split_first() {
        Some((first, rest)) if first.known() == Some(b"-") && !ended => rest,
        _ => operands,
    };
    let options = scan.given.get(scan.inherited..).unwrap_or_default();
    let unread = if languages::reentry(&run.program) == Reentry::Foreign {
        let alike = ["-c", "-e", "-i", "-n", "-s", "-u", "-x"];
        options.iter().any(|given| !alike.contains(&given.name))
    } else {
        let dialect = languages::dialect(&run.program);
        run.program.has(Fact::Restricted) || options.iter().any(|given| changes_reading(given, dialect))
    };
    // A script whose text is not known is not understood anyway.
    let given = |names: &[&str]| scan.given.iter().any(|given| names.contains(&given.name));
    let mut seen = || match operands.first() {
        _ if given(&["-c"]) => true,
        Some(script) if !given(&["-s"]) => run.session.file_text(&script.value).text.is_some(),
        _ => run.call.stdin.text.is_some(),
    };
    if unread && seen() {
        run.not_understood(Unknown::Construct("an option that changes how a shell reads"), span);
    }
    let runs = !scan.given.iter().any(|given| READS_ONLY.contains(&given.name));
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
                let (stdin, dialect) = (run.call.stdin, languages::dialect(&run.program));
                run.session.run_text(
                    known,
                    dialect,
                    arguments,
                    stdin,
                    languages::reentry(&run.program),
                    text.span,
                )
            }
            None => {
                run.code("shell", None, text.value.origins, text.span);
                Stream::unknown(Origins::UNKNOWN, text.span)
            }
        };
    }
    let of_file = !operands.is_empty() && !scan.given.iter().any(|given| given.name == "-s");
    if interactive && (of_file || !runs) {
        // Its history becomes what it reads (bash(1), "HISTORY").
        run.not_understood(Unknown::Construct("an interactive shell that reads a script"), span);
    }
    match operands.split_first() {
        Some((script, arguments)) if of_file => {
            if runs {
                return script::execute(run, "shell", script, arguments);
            }
            run.reads(script, false);
            Stream::unknown(Origins::FILE, span)
        }
        _ if !runs => Stream::EMPTY,
        _ => {
            // There `$0` is the shell.
            let all = run.call.argv.iter().take(1).chain(operands).copied();
            let all = BumpVec::from_iter_in(all, run.arena()).into_bump_slice();
            languages::standard_input(run, "shell", all)
        }
    }
}
