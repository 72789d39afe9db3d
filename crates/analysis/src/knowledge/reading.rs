//! Roles that read, and standard input.

use super::flow::{Flow, Use, Uses};
use super::found;
use super::found::listed;
use super::moves;
use super::run::{Run, anywhere};
use super::scan::Scan;
use super::tables::{Case, Operands};
use super::values;
use super::words::{Act, Condition, Fact, Role, Stdin};
use crate::effect::{Certainty, EffectKind, Scope, Unknown};
use crate::value::{Field, Origins, Stream};
use shward_syntax::{Span, until};

/// The effects of what is read, and where it comes from.
pub(super) fn read<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, scan: &Scan<'a>, each: &Use<'_, 'a>) {
    let Use { role, field } = each;
    let field = *field;
    match role {
        Role::Read | Role::ReadBeside if field.known() == Some(b"-") => read_standard_input(run, flow),
        Role::Read | Role::ReadBeside | Role::Move => {
            flow.origins = flow.origins | run.reads(field, flow.tree);
            let text =
                if flow.input.is_some() { run.session.file_text(&field.value) } else { Stream::TERMINAL };
            take_text(flow, text.text);
            flow.source = flow.source.or(text.source);
            flow.origins = flow.origins | text.origins.without(Origins::TERMINAL);
            if *role == Role::Move && !scan.narrow {
                // Whatever it is, file or directory, it is lost there.
                if scan.operands.last().and_then(Field::known) == Some(b"/dev/null")
                    || moves::leaves_whole(run, scan, field)
                {
                    run.deletes(field, true);
                } else {
                    let kept = moves::stays(run, scan, field);
                    run.takes_away(field, kept);
                }
            }
        }
        Role::Name if !field.known().is_some_and(is_plain_name) => {
            run.not_understood(Unknown::Argument, field.span);
        }
        Role::Plain(marks) | Role::PlainFile(marks) | Role::PlainWrite(marks) => {
            if !field.known().is_some_and(|text| is_free_of(text, marks)) {
                run.not_understood(Unknown::Argument, field.span);
            }
            if matches!(role, Role::PlainFile(_)) {
                read(run, flow, scan, &Use { role: Role::Read, field });
            } else {
                flow.origins = flow.origins | field.value.origins;
            }
        }
        Role::NameOrRead if field.value.known_prefix().contains(&b'/') => {
            flow.origins = flow.origins | run.reads(field, flow.tree);
        }
        Role::ReadKeyed => {
            // Where the key is not known, neither is where the name begins.
            let Some(text) = field.known() else {
                flow.origins = flow.origins | run.reads(field, flow.tree);
                return;
            };
            for part in text.split(|byte| *byte == b',') {
                let file = part.iter().position(|byte| *byte == b'=').and_then(|at| part.get(at + 1..));
                let file = run.part(field, file.unwrap_or(part));
                flow.origins = flow.origins | run.reads(&file, flow.tree);
            }
        }
        Role::Form => {
            flow.origins = flow.origins | field.value.origins;
            if let Some(at) = names_file_at(field.value.known_prefix()) {
                let value = values::after(run.arena(), &field.value, at);
                flow.origins = flow.origins | run.reads(&Field { value, ..*field }, false);
            }
        }
        Role::Config | Role::Variables => {
            flow.origins = flow.origins | run.reads(field, false);
        }
        Role::List => {
            run.lists(field, flow.tree);
            // Names and properties of files are no text that somebody has written there.
            flow.origins = flow.origins | Origins::FILE | Origins::UNKNOWN;
        }
        Role::ReadList => read_list(run, flow, scan, field),
        Role::ReadNamed => {
            flow.origins = flow.origins | field.value.origins;
            // Behind a `!` stands what is left out.
            let Some(pattern) = field.known().filter(|pattern| !pattern.starts_with(b"!")) else { return };
            let here = values::field(b".", Origins::LITERAL, field.span);
            let here = run.target(&here.value, false);
            let Some(secret) = found::secret(run, here, pattern, field.span) else { return };
            let named = secret.field(run.arena());
            let reads = |line: Operands| line.items.iter().any(|item| item.role == Role::Read);
            if scan.operands_line().is_some_and(reads) {
                flow.origins = flow.origins | run.reads(&named, false);
            } else {
                run.lists(&named, false);
            }
        }
        Role::Load => {
            run.reads(field, false);
            let text = run.session.file_text(&field.value);
            let runs_own = runs_own_code(scan);
            if runs_own && field.known().is_some_and(is_name) && !run.session.has_made_files() {
                // Of a program that runs the workspace's own code, what it is told to load from there is that as well.
                if super::provenance::is_own(run.session, field, text.origins)
                    && super::provenance::is_untouched(run.session, &field.value)
                {
                    return run.executes(field);
                }
            }
            let own = runs_own && text.origins.contains(Origins::WRITTEN);
            // It is a program in a language, and no library that was built: a copy of what the command wrote is no more known.
            let origins = if own { text.origins | Origins::UNKNOWN } else { text.origins };
            // A text that this command has written is no library that was built.
            run.code("native", text.text, origins | field.value.origins, field.span);
            if run.program.has(Fact::LoadsModules)
                && let Some(made) = super::provenance::made_module(run.session, &field.value)
            {
                run.streamed_code("javascript", made, field.span);
            }
        }
        // The name of a copy is nothing of what is in it.
        Role::Dest if run.program.has(Fact::NamesApart) => {}
        _ => flow.origins = flow.origins | field.value.origins,
    }
}

/// Whether a program runs what the workspace itself holds, whatever else it is told to.
fn runs_own_code(scan: &Scan<'_>) -> bool {
    let own = |act: Act| matches!(act, Act::Code("project"));
    // With some of its options it may, without others it may as well.
    let holds = |case: Case| match case.condition {
        Condition::When => scan.has_listed(case.names),
        Condition::Unless => !scan.has_listed(case.names),
        Condition::Written | Condition::Named => false,
    };
    scan.levels.iter().any(|level| {
        level.effects().iter().any(own)
            || level.cases().iter().any(|case| case.acts.iter().any(own) && holds(case))
    })
}

/// Whether what an option names is one file or module: no address, pattern, list, setting or command line.
fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|first| *first != b'-')
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./@+".contains(byte) || !byte.is_ascii())
}

/// Whether a name is no path, and means nothing to a shell or a `Makefile` that it is put into.
pub(super) fn is_plain_name(name: &[u8]) -> bool {
    !name.iter().any(|byte| b"/$`;|&<>()\\'\"\n\r\0".contains(byte))
}

/// Whether none of the marks, which commas separate, stands in a text; one behind `^` is all of it.
pub(super) fn is_free_of(text: &[u8], marks: &str) -> bool {
    let holds = |mark: &str| {
        if let Some(whole) = mark.strip_prefix('^') {
            return text == whole.as_bytes();
        }
        let Some(first) = mark.as_bytes().first() else { return true };
        let mut rest = text;
        while let Some(here) = rest.get(until(rest, [*first])..).filter(|here| here.len() >= mark.len()) {
            if here.starts_with(mark.as_bytes()) {
                return true;
            }
            rest = here.get(1..).unwrap_or_default();
        }
        false
    };
    !marks.split(',').filter(|mark| !mark.is_empty()).any(holds)
}

/// Where the name of a file begins in a form: `file:NAME`, `KIND-file=NAME`, `@NAME`.
fn names_file_at(form: &[u8]) -> Option<usize> {
    if form.starts_with(b"@") {
        return Some(1);
    }
    let end = form.iter().position(|byte| matches!(byte, b'=' | b':'))?;
    form.get(..end).filter(|kind| kind.ends_with(b"file")).map(|_| end + 1)
}

pub(super) fn take_text<'a>(flow: &mut Flow<'a>, text: Option<&'a [u8]>) {
    flow.input = match (flow.input.take(), text) {
        (Some(mut input), Some(text)) => {
            input.push(text);
            Some(input)
        }
        _ => None,
    };
}

pub(super) fn read_standard_input(run: &Run<'_, '_>, flow: &mut Flow<'_>) {
    let _ = run;
    flow.stdin = true;
}

/// A file that holds names of files to be read.
fn read_list<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, scan: &Scan<'a>, field: &Field<'a>) {
    let names = if field.known() == Some(b"-") {
        run.call.stdin
    } else {
        run.reads(field, false);
        run.session.file_text(&field.value)
    };
    run.session.believes();
    read_named(run, flow, scan, names, field.span);
}

/// Reads the files whose names a text holds, one per line or ended by NUL.
fn read_named<'a>(
    run: &mut Run<'_, 'a>,
    flow: &mut Flow<'a>,
    scan: &Scan<'a>,
    names: Stream<'a>,
    span: Span,
) {
    match names.text {
        Some(text) => {
            let names_only = scan.levels.last().is_some_and(|level| level.names_only());
            for name in text.split(|b| matches!(b, b'\n' | 0)).filter(|n| !n.is_empty()) {
                if name.starts_with(b"-") && !names_only {
                    // To tar it is an option.
                    run.not_understood(Unknown::Argument, span);
                }
                let file = values::field(name, names.origins, span);
                flow.origins = flow.origins | run.reads(&file, false);
            }
        }
        None => {
            let names_only = scan.levels.last().is_some_and(|level| level.names_only());
            if !names_only || !read_found(run, flow, names, span) {
                run.emit(EffectKind::Read { target: anywhere(Scope::Unknown) }, span, Certainty::Possible);
                flow.origins = flow.origins | Origins::UNKNOWN;
            }
        }
    }
    flow.input = None;
}

/// Reads what an earlier part of the pipe has found, if that is all that the names can be (to tar, what begins with a dash is
/// an option).
fn read_found<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, names: Stream<'a>, span: Span) -> bool {
    if names.origins != Origins::NAMES || !run.call.piped {
        return false;
    }
    let told = run.session.effects().len();
    run.session.works(told.saturating_mul(4));
    let torn = run.session.effects().iter().any(|effect| match effect.kind {
        EffectKind::Write { target, .. } => target.path.contains(&b'\n'),
        _ => false,
    });
    let (roots, elsewhere) = listed::listed(run, span);
    if torn || elsewhere || roots.is_empty() {
        return false;
    }
    found::with(run, &roots, &mut |run| {
        for root in &roots {
            let file = root.field(run.arena());
            flow.origins = flow.origins | run.reads(&file, false);
        }
    });
    true
}

/// Standard input, by what the program makes of it.
pub(super) fn read_stdin<'a>(
    run: &mut Run<'_, 'a>,
    flow: &mut Flow<'a>,
    scan: &Scan<'a>,
    uses: &Uses<'_, 'a>,
) {
    let Some(level) = scan.levels.last() else { return };
    let stdin = run.call.stdin;
    let has_operands = !scan.operands.is_empty();
    let used = flow.stdin
        || match level.stdin() {
            Stdin::Data => !level.stdin_when_no_operands() || !has_operands,
            Stdin::List => !level.stdin_when_no_operands() || !has_operands,
            Stdin::None | Stdin::Code(_) => false,
        };
    if !used || !scan.command.is_empty() {
        return;
    }
    let wanted = flow.stdin || level.stdin_when_no_operands();
    if wanted {
        run.session.takes_input(run.call.span);
    }
    if level.stdin() == Stdin::List && !flow.stdin {
        read_named(run, flow, scan, stdin, run.call.span);
        return;
    }
    // A program that might read a terminal but was not told to is not thought to wait for one.
    let origins = if wanted { stdin.origins } else { stdin.origins.without(Origins::TERMINAL) };
    flow.origins = flow.origins | origins;
    flow.source = stdin.source.or(flow.source);
    let reads_files = uses.has(|role| matches!(role, Role::Read | Role::ReadList));
    if flow.stdin || !reads_files {
        take_text(flow, stdin.text);
    }
}
