//! Roles that execute: programs, command lines, code, scripts.

use super::flow::{Flow, Uses};
use super::foreign::fetched;
use super::languages;
use super::module::module;
use super::provenance::NOT_OF_THE_PROJECT;
use super::run::Run;
use super::scan::Scan;
use super::script;
use super::tables;
use super::values;
use super::words::{Act, Fact, Role, Stdin};
use crate::effect::{EffectKind, Unknown};
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream, Value};
use bumpalo::collections::Vec as BumpVec;

/// What is executed: programs, command lines, code, scripts. Gives the output of a program that is started.
pub(super) fn execute<'a>(
    run: &mut Run<'_, 'a>,
    flow: &mut Flow<'a>,
    scan: &Scan<'a>,
    uses: &Uses<'_, 'a>,
) -> Option<Stream<'a>> {
    let stdin = run.call.stdin;
    // An option that says what runs leaves nothing to be run from standard input.
    let no_more = |act: Act| matches!(act, Act::Code(_) | Act::NoInput);
    let mut reads_code = scan.own().iter().any(|given| given.option.acts.iter().any(no_more));
    let mut output = None;
    let mut assignments = BumpVec::new_in(run.arena());
    if uses.has(|role| matches!(role, Role::Variable | Role::Variables)) {
        assignments.extend(uses.of(|role| role == Role::Variable).map(|u| *u.field));
        for file in uses.of(|role| role == Role::Variables) {
            assigned_in(run, file.field, &mut assignments);
        }
    }
    let runs_something = |role: Role| {
        matches!(
            role,
            Role::Run
                | Role::RunOnFile
                | Role::RunElsewhere
                | Role::Program
                | Role::ProgramOnFiles
                | Role::Code(_)
                | Role::Module(_)
                | Role::Script(_)
        )
    };
    let mut start = |run: &mut Run<'_, 'a>| {
        for (at, each) in uses.numbered(runs_something) {
            if !run.session.goes_on() {
                break;
            }
            let field = &each.field;
            let inner = match each.role {
                Role::Run => {
                    reads_code = true;
                    run.perhaps(|run| run.shell(field, stdin, Reentry::New))
                }
                Role::RunOnFile => {
                    reads_code = true;
                    run.perhaps(|run| run.shell_on_file(field, stdin))
                }
                Role::RunElsewhere => run.perhaps(|run| run.shell(field, stdin, Reentry::Elsewhere)),
                Role::Program => {
                    run.command_words(field, Reentry::New);
                    continue;
                }
                Role::ProgramOnFiles => {
                    for place in uses.of(|role| matches!(role, Role::Read | Role::List)) {
                        run.command_words_on(field, place.field);
                    }
                    continue;
                }
                Role::Code(language) => {
                    reads_code = true;
                    let text = Stream { text: field.known(), origins: field.value.origins, source: None };
                    let arguments = arguments_after(run, uses, at);
                    languages::run(run, language, text, arguments, field.span)
                }
                Role::Module(_) => {
                    reads_code = true;
                    let operands = run.arena().alloc_slice_copy(&scan.operands);
                    run.perhaps(|run| module(run, **field, operands))
                }
                Role::Script(language) => {
                    reads_code = true;
                    let arguments = arguments_after(run, uses, at);
                    script::execute(run, language, field, arguments)
                }
                _ => continue,
            };
            output = joined(output, inner);
        }
        if !scan.command.is_empty() {
            output = joined(output, command(run, scan));
        }
    };
    let goes_on = run.has(Fact::GoesOn, scan);
    run.with_variables(&assignments, &mut |run| if goes_on { run.beside(&mut start) } else { start(run) });
    let Some(level) = scan.levels.last() else { return output };
    let wanted = !level.stdin_when_no_operands() || scan.operands.is_empty();
    // Of what is given one, whether a subcommand or a file, nobody at a terminal is asked for the program.
    let given = scan.lost_at_word && run.call.stdin.origins == Origins::TERMINAL;
    if let Stdin::Code(language) = level.stdin()
        && wanted
        && !given
        && !reads_code
        && scan.command.is_empty()
    {
        output = Some(languages::standard_input(run, language, &[]));
    }
    if output.is_some() {
        flow.input = None;
    }
    output
}

/// The variables that a file gives to what is started: of the workspace's own nobody asks what they are.
fn assigned_in<'a>(run: &mut Run<'_, 'a>, file: &Field<'a>, assignments: &mut BumpVec<'a, Field<'a>>) {
    const FOREIGN: Origins = NOT_OF_THE_PROJECT.without(Origins::SECRET).union(Origins::OUTSIDE);
    let is_name = |name: &[u8]| name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let prefix = file.value.known_prefix();
    if prefix.iter().position(|byte| *byte == b'=').and_then(|at| prefix.get(..at)).is_some_and(is_name) {
        // Some take a variable as well, and of others it is the name of a file.
        assignments.push(*file);
    }
    let content = run.session.script_text(&file.value);
    if !content.origins.intersects(FOREIGN) {
        return;
    }
    let Some(text) = content.text else {
        return run.not_understood(Unknown::Construct("variables from a file that was not read"), file.span);
    };
    run.session.works(text.len());
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        let line = line.strip_prefix(b"export ").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        // Some take `NAME: VALUE`, and names in quotes.
        if !line.iter().position(|byte| *byte == b'=').and_then(|at| line.get(..at)).is_some_and(is_name) {
            return run.not_understood(Unknown::Construct("a line of variables in another form"), file.span);
        }
        let line = Field { value: Value::text(run.arena().alloc_slice_copy(line), content.origins), ..*file };
        assignments.push(Field { value: unquoted(run, &line), ..line });
    }
}

/// `NAME=VALUE` as such files have it: quotes around the value are none of it, and what stands for something else is not known.
fn unquoted<'a>(run: &Run<'_, 'a>, line: &Field<'a>) -> Value<'a> {
    let Some((name, value)) = values::split_once(run.arena(), &line.value, b'=') else { return line.value };
    let text = value.known().unwrap_or_default().trim_ascii();
    let inner = [b'"', b'\'', b'`']
        .into_iter()
        .find_map(|quote| text.strip_prefix(&[quote]).and_then(|rest| rest.strip_suffix(&[quote])));
    let text = inner.unwrap_or(text);
    let name = values::concat(run.arena(), &[name.trim_ascii(), b"="]);
    let start = Value::text(name, line.value.origins);
    let plain = text.iter().all(|byte| !b"$`\\\"'#".contains(byte));
    let value =
        if plain { Value::text(text, line.value.origins) } else { Value::unknown(line.value.origins) };
    values::joined(run.arena(), &[start, value])
}

/// The command that the last operands are.
fn command<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Stream<'a> {
    let stdin = run.call.stdin;
    let last = scan.operands_line().and_then(|line| line.items.last()).map(|item| item.role);
    // Of a command line, an address that stands in it is something that its commands are given.
    let line = matches!(last, Some(Role::ExecLine | Role::RunAll | Role::RunAllElsewhere));
    if let Some(first) = scan.command.first().filter(|first| !(line && is_divided(first))) {
        // Some take a script from an address.
        fetched(run, "shell", first);
    }
    // A wrong option is the end of it.
    let becomes = scan.own().is_empty() && scan.levels.last().is_some_and(|level| level.becomes());
    match last {
        Some(Role::ExecElsewhere) => run.argv(scan.command, stdin, Reentry::Elsewhere),
        Some(Role::ExecApart) => {
            let (program, arguments) = scan.command.split_at_checked(1).unwrap_or((scan.command, &[]));
            let dashes = usize::from(arguments.first().and_then(Field::known) == Some(b"--"));
            let arguments = arguments.get(dashes..).unwrap_or_default();
            let argv = BumpVec::from_iter_in(program.iter().chain(arguments).copied(), run.arena());
            run.argv(argv.into_bump_slice(), stdin, Reentry::New)
        }
        Some(Role::Task(language)) => task(run, language, scan.command),
        Some(Role::ExecLine) => run.perhaps(|run| line_with_words(run, scan.command)),
        Some(Role::RunAll) => run.perhaps(|run| run.shell_words(scan.command, stdin, Reentry::New)),
        Some(Role::RunAllElsewhere) => {
            run.perhaps(|run| run.shell_words(scan.command, stdin, Reentry::Elsewhere))
        }
        _ if becomes => run.becomes(scan.command, stdin, Reentry::New),
        _ => run.argv(scan.command, stdin, Reentry::New),
    }
}

/// A script of the project's own, or an installed program if it has none of that name. What the program of that name does
/// with its arguments counts, but not what is not understood of them: they may be the script's.
fn task<'a>(run: &mut Run<'_, 'a>, language: &'static str, words: &'a [Field<'a>]) -> Stream<'a> {
    let Some((first, arguments)) = words.split_first() else { return Stream::EMPTY };
    if is_divided(first) {
        return run.perhaps(|run| run.shell_words(words, run.call.stdin, Reentry::New));
    }
    let may_be_file = first.known().is_none_or(|name| name.iter().any(|byte| b"./".contains(byte)));
    if may_be_file && !language.is_empty() {
        return script::execute(run, language, first, arguments);
    }
    let name = first.known().unwrap_or(b"");
    // What only a terminal tells it is the person's who sits there.
    let is_told = !arguments.is_empty() || run.call.stdin.origins != Origins::TERMINAL;
    let described = is_told && !name.contains(&b'/') && tables::program(name).is_some();
    // No name of a script of the project's begins so.
    if described || name.starts_with(b"/") {
        let from = run.session.effects().len();
        run.argv(words, run.call.stdin, Reentry::New);
        if let Some((dashes, behind)) = arguments.split_first()
            && dashes.known() == Some(b"--")
        {
            // Whether they are handed on is not told.
            let argv = BumpVec::from_iter_in([first].into_iter().chain(behind).copied(), run.arena());
            run.argv(argv.into_bump_slice(), run.call.stdin, Reentry::New);
        }
        let all = run.session.effects();
        let told = all.split_off(from.min(all.len()));
        all.extend(told.into_iter().filter(|effect| !matches!(effect.kind, EffectKind::Unknown { .. })));
    }
    Stream::unknown(Origins::UNKNOWN, run.call.span)
}

/// Whether a word is several words to a shell.
fn is_divided(word: &Field<'_>) -> bool {
    let text = word.known().unwrap_or_else(|| word.value.known_prefix());
    text.iter().any(u8::is_ascii_whitespace)
}

/// The first word is a shell command line, to which the others are added as they are.
fn line_with_words<'a>(run: &mut Run<'_, 'a>, words: &'a [Field<'a>]) -> Stream<'a> {
    let stdin = run.call.stdin;
    let Some((first, rest)) = words.split_first() else { return Stream::EMPTY };
    if first.known().is_some_and(values::is_plain) {
        // Whether dashes that end the options of the one that starts it are handed on, is not told.
        if let Some((dashes, arguments)) = rest.split_first()
            && dashes.known() == Some(b"--")
        {
            let argv = BumpVec::from_iter_in([first].into_iter().chain(arguments).copied(), run.arena());
            run.argv(argv.into_bump_slice(), stdin, Reentry::New);
        }
        return run.argv(words, stdin, Reentry::New);
    }
    let mut line = BumpVec::from_iter_in([*first], run.arena());
    line.extend(rest.iter().map(|word| match word.known() {
        Some(text) => run.part(word, run.arena().alloc_slice_copy(&values::quote(text))),
        None => *word,
    }));
    run.shell_words(line.into_bump_slice(), stdin, Reentry::New)
}

/// What is written by one command and another.
fn joined<'a>(before: Option<Stream<'a>>, after: Stream<'a>) -> Option<Stream<'a>> {
    Some(match before {
        None => after,
        Some(before) => Stream {
            text: None,
            origins: before.origins | after.origins,
            source: before.source.or(after.source),
        },
    })
}

/// The operands after this one: a script's own arguments.
pub(super) fn arguments_after<'a>(run: &mut Run<'_, 'a>, uses: &Uses<'_, 'a>, at: usize) -> &'a [Field<'a>] {
    let rest = uses.numbered(|role| role == Role::Text).filter(|(place, _)| *place > at);
    let arguments = BumpVec::from_iter_in(rest.map(|(_, each)| *each.field), run.arena()).into_bump_slice();
    // Each of many scripts has those of the others behind it, too, and what stands between them is passed over.
    run.session.works(arguments.len() / 4 + uses.runs().len() / 2);
    arguments
}
