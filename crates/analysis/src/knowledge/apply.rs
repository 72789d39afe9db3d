//! From roles to effects.
//!
//! What is read comes first, because what is written, sent and printed carries its origins; then what is changed; then
//! what is executed.

use super::evaluate;
use super::languages;
use super::names;
use super::network;
use super::program::execute_itself;
use super::run::{Run, anywhere, certainty};
use super::scan::Scan;
use super::tables::{Item, Level, Repeat};
use super::values;
use super::words::{Act, Output, Role, Stdin};
use crate::effect::{Certainty, EffectKind, Rest, Scope, Unknown, WriteMode};
use crate::session::Reentry;
use crate::value::{Field, Origins, Stream, Value};
use crate::world::FileKind;
use bumpalo::collections::Vec as BumpVec;
use shward_syntax::Span;

/// A value or operand and what it means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'a> {
    pub(crate) role: Role,
    pub(crate) field: Field<'a>,
}

/// What the parts of a program hand to each other.
#[derive(Debug)]
pub(crate) struct Flow<'a> {
    /// Where everything that was read comes from, arguments included.
    pub(crate) origins: Origins,
    /// Where that was produced, if by another part of the command.
    pub(crate) source: Option<Span>,
    /// What is sent out.
    pub(crate) sent: Origins,
    /// The texts that were read, if all are known.
    pub(crate) input: Option<BumpVec<'a, &'a [u8]>>,
    /// Standard input is read.
    pub(crate) stdin: bool,
    /// What the operands name is meant with everything below it.
    pub(crate) tree: bool,
}

/// The directory changes among the options of this level.
pub(crate) fn directories<'a>(run: &Run<'_, 'a>, scan: &Scan<'a>) -> &'a [Field<'a>] {
    let chdirs = scan.own().iter().filter(|g| g.option.role == Role::Chdir).filter_map(|g| g.value);
    BumpVec::from_iter_in(chdirs, run.arena()).into_bump_slice()
}

/// Records the effects of split arguments; returns standard output.
pub(crate) fn apply<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> Stream<'a> {
    let uses = uses(run, scan);
    let directories = directories(run, scan);
    let mut output = Stream::EMPTY;
    run.within(directories, &mut |run| output = apply_uses(run, scan, uses));
    output
}

/// Values and operands with their roles.
pub(crate) fn uses<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) -> &'a [Use<'a>] {
    let mut uses = BumpVec::new_in(run.arena());
    for given in &scan.given {
        if let Some(field) = given.value {
            uses.push(Use { role: given.option.role, field });
        }
    }
    if scan.lost {
        return uses.into_bump_slice();
    }
    let items = scan.operands_line().map(|line| line.items).unwrap_or_default();
    let (shares, left_over) = shares(items, &scan.operands);
    let elsewhere = run.call.stdin.origins != Origins::TERMINAL
        && scan.levels.last().is_some_and(|level| level.stdin_before_default);
    for (item, share) in shares {
        uses.extend(share.iter().map(|field| Use { role: item.role, field: *field }));
        if let Some(place) = item.default
            && share.is_empty()
            && recursive(scan)
            && !elsewhere
        {
            let field = values::field(run.arena(), place.as_bytes(), Origins::LITERAL, run.call.span);
            uses.push(Use { role: item.role, field });
        }
    }
    if let Some(first) = left_over.first() {
        run.not_understood(Unknown::Argument, first.span);
        uses.extend(left_over.iter().map(|field| Use { role: Role::Text, field: *field }));
    }
    uses.into_bump_slice()
}

/// An operand of the description, and the arguments that are meant by it.
type Share<'a, 'o> = (Item, &'o [Field<'a>]);

/// Gives each item its operands; fixed items at the end take the last words. Also gives what no item takes.
fn shares<'a, 'o>(items: &[Item], operands: &'o [Field<'a>]) -> (Vec<Share<'a, 'o>>, &'o [Field<'a>]) {
    let started = |item: &&Item| !matches!(item.role, Role::Exec | Role::ExecElsewhere);
    let needed =
        items.iter().filter(started).filter(|i| matches!(i.repeat, Repeat::One | Repeat::Some)).count();
    let mut spare = operands.len().saturating_sub(needed);
    let mut taken = 0usize;
    let mut shares = Vec::with_capacity(items.len());
    for item in items.iter().filter(started) {
        let count = match item.repeat {
            Repeat::One => 1,
            Repeat::Maybe => spare.min(1),
            Repeat::Any => spare,
            Repeat::Some => 1 + spare,
        };
        if !matches!(item.repeat, Repeat::One) {
            spare = spare.saturating_sub(count);
        }
        let end = (taken + count).min(operands.len());
        shares.push((*item, operands.get(taken..end).unwrap_or_default()));
        taken = end;
    }
    (shares, operands.get(taken..).unwrap_or_default())
}

fn apply_uses<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, uses: &[Use<'a>]) -> Stream<'a> {
    let span = run.call.span;
    if scan.info {
        return Stream::unknown(Origins::LITERAL, span);
    }
    let first_effect = run.session.effects().len();
    let mut flow = Flow {
        origins: Origins::NONE,
        source: None,
        sent: Origins::NONE,
        input: evaluate::wants(run.name).then(|| BumpVec::new_in(run.arena())),
        stdin: false,
        tree: recursive(scan),
    };
    for each in uses {
        read(run, &mut flow, scan, each);
    }
    read_stdin(run, &mut flow, scan, uses);
    let mut endpoints = 0usize;
    for each in uses {
        endpoints += usize::from(network::collect(run, &mut flow, each));
    }
    acts(run, &mut flow, scan, endpoints, Phase::Reading);
    for each in uses {
        change(run, &flow, scan, uses, each);
        network::connect(run, &flow, each);
    }
    acts(run, &mut flow, scan, endpoints, Phase::Acting);
    if scan.narrow {
        take_back(run, first_effect);
    }
    let executed = execute(run, &mut flow, scan, uses);
    output(run, scan, &flow, executed)
}

/// The effects of what is read, and where it comes from.
fn read<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, scan: &Scan<'a>, each: &Use<'a>) {
    let Use { role, field } = each;
    match role {
        Role::Read if field.known() == Some(b"-") => read_standard_input(run, flow),
        Role::Read | Role::Move => {
            flow.origins = flow.origins | run.reads(field, flow.tree);
            let text =
                if flow.input.is_some() { run.session.file_text(&field.value) } else { Stream::TERMINAL };
            take_text(flow, text.text);
            flow.source = flow.source.or(text.source);
            flow.origins = flow.origins | text.origins.without(Origins::TERMINAL);
            if *role == Role::Move && !scan.narrow {
                run.deletes(field, false);
            }
        }
        Role::Config => {
            flow.origins = flow.origins | run.reads(field, false);
        }
        Role::List => {
            run.lists(field, flow.tree);
            flow.origins = flow.origins | Origins::FILE;
        }
        Role::ReadList => read_list(run, flow, field),
        Role::Load => {
            run.reads(field, false);
            let text = run.session.file_text(&field.value);
            run.code("native", None, text.origins | field.value.origins, field.span);
        }
        _ => flow.origins = flow.origins | field.value.origins,
    }
}

fn take_text<'a>(flow: &mut Flow<'a>, text: Option<&'a [u8]>) {
    flow.input = match (flow.input.take(), text) {
        (Some(mut input), Some(text)) => {
            input.push(text);
            Some(input)
        }
        _ => None,
    };
}

fn read_standard_input(run: &Run<'_, '_>, flow: &mut Flow<'_>) {
    let _ = run;
    flow.stdin = true;
}

/// A file that holds names of files to be read.
fn read_list<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, field: &Field<'a>) {
    let names = if field.known() == Some(b"-") {
        run.call.stdin
    } else {
        run.reads(field, false);
        run.session.file_text(&field.value)
    };
    read_named(run, flow, names, field.span);
}

/// Reads the files whose names a text holds, one per line or ended by NUL.
fn read_named<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, names: Stream<'a>, span: Span) {
    match names.text {
        Some(text) => {
            for name in text.split(|b| matches!(b, b'\n' | 0)).filter(|n| !n.is_empty()) {
                let file = values::field(run.arena(), name, names.origins, span);
                flow.origins = flow.origins | run.reads(&file, false);
            }
        }
        None => {
            run.emit(EffectKind::Read { target: anywhere(Scope::Unknown) }, span, Certainty::Possible);
            flow.origins = flow.origins | Origins::UNKNOWN;
        }
    }
    flow.input = None;
}

/// Standard input, by what the program makes of it.
fn read_stdin<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, scan: &Scan<'a>, uses: &[Use<'a>]) {
    let Some(level) = scan.levels.last() else { return };
    let stdin = run.call.stdin;
    let has_operands = !scan.operands.is_empty();
    let used = flow.stdin
        || match level.stdin {
            Stdin::Data => !level.stdin_when_no_operands || !has_operands,
            Stdin::List => !level.stdin_when_no_operands || !has_operands,
            Stdin::None | Stdin::Code(_) => false,
        };
    if !used || !scan.command.is_empty() {
        return;
    }
    let wanted = flow.stdin || level.stdin_when_no_operands;
    if level.stdin == Stdin::List && !flow.stdin {
        read_named(run, flow, stdin, run.call.span);
        return;
    }
    // A program that might read a terminal but was not told to is not thought to wait for one.
    let origins = if wanted { stdin.origins } else { stdin.origins.without(Origins::TERMINAL) };
    flow.origins = flow.origins | origins;
    flow.source = stdin.source.or(flow.source);
    let reads_files = uses.iter().any(|u| matches!(u.role, Role::Read | Role::ReadList));
    if flow.stdin || !reads_files {
        take_text(flow, stdin.text);
    }
}

/// When an effect that no value carries is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Reading,
    Acting,
}

/// Whether what the operands name is meant with everything below it.
fn recursive(scan: &Scan<'_>) -> bool {
    let by_option = scan.given.iter().any(|g| g.option.acts.contains(&Act::Recursive));
    by_option || scan.levels.iter().any(|level| level.effects.contains(&Act::Recursive))
}

/// The effects of the level, of the options, and of having operands or none.
fn acts<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, scan: &Scan<'a>, endpoints: usize, phase: Phase) {
    for level in scan.levels {
        for each in level.effects {
            act(run, flow, *each, endpoints, phase);
        }
    }
    for given in &scan.given {
        for each in given.option.acts {
            act(run, flow, *each, endpoints, phase);
        }
    }
    for case in scan.levels.iter().flat_map(|level| level.cases) {
        if scan.has(case.names) != case.unless {
            for each in case.acts {
                act(run, flow, *each, endpoints, phase);
            }
        }
    }
    if let Some(line) = scan.operands_line().filter(|_| !scan.operands.is_empty() && !scan.lost) {
        for each in line.acts {
            act(run, flow, *each, endpoints, phase);
        }
    }
    let bare = scan.operands.is_empty() && scan.command.is_empty() && !scan.lost;
    let executes = scan.given.iter().any(|g| matches!(g.option.role, Role::Code(_) | Role::Script(_)));
    if let Some(level) = scan.levels.last().filter(|_| bare && !executes) {
        for each in level.otherwise {
            act(run, flow, *each, endpoints, phase);
        }
    }
}

fn act<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, act: Act, endpoints: usize, phase: Phase) {
    let span = run.call.span;
    let reading =
        matches!(act, Act::Place(Role::Read | Role::List, _) | Act::Environment | Act::Secret | Act::Send);
    if reading != (phase == Phase::Reading) {
        return;
    }
    match act {
        Act::Recursive | Act::Last => {}
        Act::Place(role, path) => place(run, flow, role, path),
        Act::Exec => execute_itself(run),
        Act::Code("terminal") => run.code("terminal", None, Origins::TERMINAL, span),
        Act::Code(language) => run.code(language, None, Origins::FILE, span),
        Act::Connect("") if endpoints > 0 => {}
        Act::Connect(host) => {
            let host = (!host.is_empty()).then_some(host.as_bytes());
            let endpoint = super::endpoint::host(host, None, b"");
            let (sends, source) = (flow.sent, flow.source);
            run.does(EffectKind::Connect { endpoint, sends, source }, span);
        }
        Act::Listen => run.does(EffectKind::Listen { endpoint: crate::effect::Endpoint::UNKNOWN }, span),
        Act::Send => flow.sent = flow.sent | flow.origins,
        Act::Signal(what) => run.does(EffectKind::Signal { what }, span),
        Act::Privilege(what) => run.does(EffectKind::Privilege { what }, span),
        Act::Persist(what) => run.does(EffectKind::Persist { what }, span),
        Act::System(what) => run.does(EffectKind::System { what }, span),
        Act::Package(action) => run.does(EffectKind::Package { action }, span),
        Act::Vcs(action) => run.does(EffectKind::Vcs { action }, span),
        Act::Remote(action, service) => run.does(EffectKind::Remote { action, service }, span),
        Act::Environment => {
            flow.origins = flow.origins | Origins::ENVIRONMENT;
            run.does(EffectKind::Read { target: anywhere(Scope::Environment) }, span);
        }
        Act::Secret => {
            flow.origins = flow.origins | Origins::SECRET;
            run.does(EffectKind::Read { target: anywhere(Scope::Secret) }, span);
        }
        Act::Unknown(reason) => run.not_understood(Unknown::Construct(reason), span),
    }
}

/// An effect on a fixed place.
fn place<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, role: Role, path: &'static str) {
    let home = run.session.home();
    let path = match path.strip_prefix('~') {
        Some(below) => values::concat(run.arena(), &[home, below.as_bytes()]),
        None => path.as_bytes(),
    };
    let file = values::field(run.arena(), path, Origins::LITERAL, run.call.span);
    match role {
        Role::Read => flow.origins = flow.origins | run.reads(&file, false),
        Role::List => run.lists(&file, false),
        _ => change_place(run, flow, role, &file),
    }
}

/// What happens to a value or operand.
fn change<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, scan: &Scan<'a>, uses: &[Use<'a>], each: &Use<'a>) {
    let Use { role, field } = each;
    match role {
        Role::Write if field.known() == Some(b"-") => {}
        Role::Dest => destination(run, flow, scan, uses, field, WriteMode::Replace),
        Role::DestLink => destination(run, flow, scan, uses, field, WriteMode::Create),
        Role::Metadata("mode") => {
            let target = run.target(&field.value, flow.tree);
            let what = new_mode(run.name, uses);
            run.emit(EffectKind::Metadata { target, what }, field.span, certainty(field));
        }
        Role::Setting => setting(run, scan, field),
        Role::Process => {
            let what = match field.known() {
                Some(b"-1") => "all",
                Some([b'%', ..]) => "own",
                Some([b'-' | b'0'..=b'9', digits @ ..]) if digits.iter().all(u8::is_ascii_digit) => "process",
                None => "process",
                Some(_) => "name",
            };
            run.does(EffectKind::Signal { what }, field.span);
        }
        Role::Subscript => {
            let active = |text: &[u8]| text.iter().any(|b| matches!(b, b'[' | b'$' | b'`'));
            if field.known().is_none_or(active) {
                run.not_understood(Unknown::Construct("subscript"), field.span);
            }
        }
        Role::Unknown => run.not_understood(Unknown::Argument, field.span),
        Role::Mount => mount(run, flow, field),
        _ => change_place(run, flow, *role, field),
    }
}

/// A file or directory is changed.
fn change_place<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, role: Role, field: &Field<'a>) {
    let mode = match role {
        Role::Write => WriteMode::Replace,
        Role::Append => WriteMode::Append,
        Role::Create => WriteMode::Create,
        Role::Modify => WriteMode::Modify,
        Role::Truncate => WriteMode::Truncate,
        Role::WriteBelow => WriteMode::Below,
        Role::Delete => return run.deletes(field, flow.tree),
        Role::DeleteTree => return run.deletes(field, true),
        Role::Metadata(what) => {
            let target = run.target(&field.value, flow.tree);
            return run.emit(EffectKind::Metadata { target, what }, field.span, certainty(field));
        }
        _ => return,
    };
    let content = content(run, flow, mode);
    run.writes(field, mode, content);
}

/// What a file that is written gets.
fn content<'a>(run: &Run<'_, 'a>, flow: &Flow<'a>, mode: WriteMode) -> Stream<'a> {
    let origins = if flow.origins.is_empty() { Origins::LITERAL } else { flow.origins };
    let source = flow.source.or(Some(run.call.span));
    let copies = matches!(run.name, "cp" | "mv" | "install" | "tee" | "dd" | "ln" | "sponge");
    let text = match (mode, &flow.input) {
        (WriteMode::Create | WriteMode::Truncate, _) if !copies => Some(&b""[..]),
        (_, Some(input)) if copies => Some(values::concat(run.arena(), input)),
        _ => None,
    };
    Stream { text, origins, source }
}

/// The target of a copy, move or link: the place itself, or the same name below it if it is a directory.
fn destination<'a>(
    run: &mut Run<'_, 'a>,
    flow: &Flow<'a>,
    scan: &Scan<'a>,
    uses: &[Use<'a>],
    field: &Field<'a>,
    mode: WriteMode,
) {
    let _ = scan;
    let is_source = |u: &&Use<'a>| matches!(u.role, Role::Read | Role::Move | Role::List);
    let count = uses.iter().filter(is_source).count();
    let many = uses.iter().any(|u| is_source(&u) && u.field.many);
    let known = field.known();
    let named = known.is_some_and(|t| t.ends_with(b"/") || matches!(values::base_name(t), b"." | b".."));
    let target = run.target(&field.value, false);
    let exists = target.rest == Rest::Exact && run.session.world().kind(target.path) == FileKind::Directory;
    let content = content(run, flow, WriteMode::Replace);
    if !(named || exists || count > 1 || many) {
        return run.writes(field, mode, content);
    }
    for source in uses.iter().filter(is_source) {
        match source.field.known() {
            Some(path) => {
                let name = Value::text(run.arena(), values::base_name(path), source.field.value.origins);
                let slash = Value::text(run.arena(), b"/", Origins::LITERAL);
                let value = values::joined(run.arena(), &[field.value, slash, name]);
                run.writes(&Field { value, ..*field }, mode, content);
            }
            None => run.writes(field, WriteMode::Below, content),
        }
    }
}

/// Which kind of change a mode is, if it is one that gives rights away.
fn new_mode(program: &str, uses: &[Use<'_>]) -> &'static str {
    let Some(mode) = uses.iter().find(|u| u.role == Role::Text && program == "chmod") else { return "mode" };
    let Some(text) = mode.field.known() else { return "setuid" };
    if text.iter().all(u8::is_ascii_digit) {
        let digit = |from_end: usize| {
            text.len().checked_sub(from_end).and_then(|at| text.get(at)).map_or(0, |b| b - b'0')
        };
        return match (digit(4) & 6, digit(1) & 2) {
            (0, 0) => "mode",
            (0, _) => "world-writable",
            _ => "setuid",
        };
    }
    let mut what = "mode";
    for clause in text.split(|b| *b == b',') {
        let Some(at) = clause.iter().position(|b| matches!(b, b'+' | b'=')) else { continue };
        let (who, given) = clause.split_at(at);
        if given.contains(&b's') {
            return "setuid";
        }
        let others = who.iter().any(|b| matches!(b, b'o' | b'a'));
        if others && given.iter().any(|b| matches!(b, b'w')) {
            what = "world-writable";
        }
    }
    what
}

/// `KEY=VALUE` or `KEY`: code, unless the key is known as harmless.
fn setting<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>, field: &Field<'a>) {
    let prefix = field.value.known_prefix();
    let end = prefix.iter().position(|b| matches!(b, b'=' | b' ' | b'\t'));
    let key = match (end, field.known()) {
        (Some(at), _) => prefix.get(..at),
        (None, Some(text)) => Some(text),
        (None, None) => None,
    };
    if !key.is_some_and(|key| scan.levels.iter().any(|level| is_harmless(level, key))) {
        run.code("shell", None, field.value.origins, field.span);
    }
}

/// Whether a setting of this name cannot execute anything.
pub(crate) fn is_harmless(level: &Level, key: &[u8]) -> bool {
    level.harmless.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => key.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes())),
        None => key.eq_ignore_ascii_case(known.as_bytes()),
    })
}

/// A place of this machine that a container sees: `PLACE:INSIDE[:OPTIONS]`, `type=bind,source=PLACE,…`.
fn mount<'a>(run: &mut Run<'_, 'a>, flow: &Flow<'a>, field: &Field<'a>) {
    let arena = run.arena();
    let prefix = field.value.known_prefix();
    let listed = [&b"source="[..], b"src="].iter().find_map(|key| {
        let at = prefix.windows(key.len()).position(|w| w == *key)?;
        (at == 0 || prefix.get(at - 1) == Some(&b',')).then_some(at + key.len())
    });
    let separator = if listed.is_some() { b',' } else { b':' };
    let place = values::after(arena, &field.value, listed.unwrap_or(0));
    let place = match values::split_once(arena, &place, separator) {
        Some((path, _)) => Value::text(arena, path, field.value.origins),
        None => place,
    };
    let named =
        place.known().is_some_and(|p| !p.starts_with(b"/") && !p.starts_with(b".") && !p.starts_with(b"~"));
    if named {
        return;
    }
    let read_only = field.known().is_some_and(|text| {
        text.split(|b| matches!(b, b':' | b','))
            .skip(1)
            .any(|o| matches!(o, b"ro" | b"readonly" | b"readonly=true"))
    });
    let place = Field { value: place, ..*field };
    if read_only {
        run.reads(&place, true);
    } else {
        run.writes(
            &place,
            WriteMode::Below,
            Stream { text: None, origins: Origins::UNKNOWN, source: flow.source },
        );
    }
}

/// Takes back what a program that only announces its changes does not do.
fn take_back(run: &mut Run<'_, '_>, from: usize) {
    let effects = run.session.effects();
    let mut index = 0;
    effects.retain(|effect| {
        let own = index >= from;
        index += 1;
        !own || !matches!(
            effect.kind,
            EffectKind::Write { .. }
                | EffectKind::Delete { .. }
                | EffectKind::Metadata { .. }
                | EffectKind::Persist { .. }
                | EffectKind::Signal { .. }
                | EffectKind::System { .. }
                | EffectKind::Package { .. }
                | EffectKind::Vcs { .. }
                | EffectKind::Remote { action: "change" | "destroy", .. }
        )
    });
}

/// What is executed: programs, command lines, code, scripts. Gives the output of a program that is started.
fn execute<'a>(
    run: &mut Run<'_, 'a>,
    flow: &mut Flow<'a>,
    scan: &Scan<'a>,
    uses: &[Use<'a>],
) -> Option<Stream<'a>> {
    let stdin = run.call.stdin;
    let mut reads_code = false;
    let mut output = None;
    let assignments = uses.iter().filter(|u| u.role == Role::Variable).map(|u| u.field);
    let assignments = BumpVec::from_iter_in(assignments, run.arena());
    run.with_variables(&assignments, &mut |run| {
        for (at, each) in uses.iter().enumerate() {
            let field = &each.field;
            let inner = match each.role {
                Role::Run => run.shell(field, stdin, Reentry::New),
                Role::RunElsewhere => run.shell(field, stdin, Reentry::Elsewhere),
                Role::Program => {
                    run.command_words(field, Reentry::New);
                    continue;
                }
                Role::Code(language) => {
                    reads_code = true;
                    let text = Stream { text: field.known(), origins: field.value.origins, source: None };
                    languages::run(run, language, text, arguments_after(run, uses, at), field.span)
                }
                Role::Script(language) => {
                    reads_code = true;
                    languages::script(run, language, field, arguments_after(run, uses, at))
                }
                _ => continue,
            };
            output = Some(inner);
        }
        if !scan.command.is_empty() {
            let elsewhere = scan
                .operands_line()
                .and_then(|line| line.items.last())
                .is_some_and(|item| item.role == Role::ExecElsewhere);
            let how = if elsewhere { Reentry::Elsewhere } else { Reentry::New };
            output = Some(run.argv(scan.command, stdin, how));
        }
    });
    let Some(level) = scan.levels.last() else { return output };
    let wanted = !level.stdin_when_no_operands || scan.operands.is_empty();
    if let Stdin::Code(language) = level.stdin
        && wanted
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

/// The operands after this one: a script's own arguments.
fn arguments_after<'a>(run: &Run<'_, 'a>, uses: &[Use<'a>], at: usize) -> &'a [Field<'a>] {
    let rest = uses.iter().skip(at + 1).filter(|u| u.role == Role::Text).map(|u| u.field);
    BumpVec::from_iter_in(rest, run.arena()).into_bump_slice()
}

/// Standard output.
fn output<'a>(
    run: &mut Run<'_, 'a>,
    scan: &Scan<'a>,
    flow: &Flow<'a>,
    executed: Option<Stream<'a>>,
) -> Stream<'a> {
    let span = run.call.span;
    let kind = scan.levels.last().map_or(Output::Origins(&[]), |level| level.output);
    if let Some(inner) = executed {
        return match kind {
            Output::Origins([]) => inner,
            _ => Stream {
                text: None,
                origins: inner.origins | named(kind),
                source: inner.source.or(Some(span)),
            },
        };
    }
    if let Some(text) = evaluate::output(run, scan, flow.input.as_deref()) {
        return Stream { text: Some(text), origins: flow.origins, source: flow.source.or(Some(span)) };
    }
    match kind {
        Output::None => Stream::unknown(Origins::NONE, span),
        Output::Status => Stream::unknown(Origins::FILE, span),
        Output::Origins(_) => {
            let decoded = evaluate::decodes(run.name, scan);
            let decoded = if decoded { Origins::DECODED } else { Origins::NONE };
            let origins = names::kept(run, scan, flow.origins | named(kind) | decoded);
            Stream { text: None, origins, source: flow.source.or(Some(span)) }
        }
    }
}

/// The origins that an `output` line names.
fn named(output: Output) -> Origins {
    let Output::Origins(names) = output else { return Origins::NONE };
    names.iter().filter_map(|name| Origins::from_name(name)).fold(Origins::NONE, Origins::union)
}
