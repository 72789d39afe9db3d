//! Effects that no value carries: those of a program, of its options, and of having operands or none.

use super::change::change_place;
use super::flow::Flow;
use super::image::List;
use super::program::execute_itself;
use super::run::{Run, anywhere};
use super::scan::Scan;
use super::script;
use super::tables::{self, Case};
use super::values;
use super::words::{Act, Condition, Role};
use super::written::Written;
use crate::effect::{EffectKind, Scope, Unknown};
use crate::value::{Field, Origins};

/// When an effect that no value carries is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Reading,
    Acting,
}

/// Whether what the operands name is meant with everything below it.
pub(super) fn recursive(scan: &Scan<'_>) -> bool {
    let by_option = scan.given.iter().any(|g| g.option.acts.contains(&Act::Recursive));
    by_option || scan.levels.iter().any(|level| level.effects().contains(&Act::Recursive))
}

/// Whether the subcommand obeys nothing of the directory where it runs.
fn obeys_nothing(scan: &Scan<'_>) -> bool {
    scan.levels.iter().any(|level| level.effects().contains(&Act::Obeys("nothing")))
}

/// Whether a program carries out what a project says, and it is not told which of its files it takes up.
fn takes_anything(scan: &Scan<'_>) -> bool {
    let told = |case: Case| case.condition == Condition::Written;
    scan.levels.iter().any(|level| level.effects().contains(&Act::Code("project")))
        && !scan.levels.iter().any(|level| level.cases().iter().any(told))
}

/// Whether [`acts`] has anything to do but what is asked of every program. Most have no effects but those of their arguments.
pub(super) fn has_acts(scan: &Scan<'_>) -> bool {
    scan.given.iter().any(|given| !given.option.acts.is_empty())
        || scan.levels.iter().any(|level| !level.effects().is_empty() || !level.cases().is_empty())
        || scan.operands_line().is_some_and(|line| !line.acts.is_empty())
        || scan.levels.last().is_some_and(|level| !level.otherwise().is_empty())
}

/// What the script has written and a program that runs the project may load; what it writes itself comes after that. A script of
/// the project's own is executed as what it is, and not once more.
pub(super) fn load_anything<'a>(run: &mut Run<'_, 'a>, scan: &Scan<'a>) {
    if run.session.has_made_files() && !run.is_script() && takes_anything(scan) {
        let mut written = Written::default();
        let any = tables::program(b"project:any").map(|(_, any)| any.level());
        for case in any.iter().flat_map(|level| level.cases().iter()) {
            for each in case.acts.iter() {
                if let Act::Loads(language) = each {
                    script::load(run, &mut written, case.names, language);
                }
            }
        }
    }
}

/// The effects of the level, of the options, and of having operands or none.
pub(super) fn acts<'a>(
    run: &mut Run<'_, 'a>,
    flow: &mut Flow<'a>,
    scan: &Scan<'a>,
    endpoints: usize,
    phase: Phase,
) {
    let mut written = Written::default();
    for level in scan.levels {
        for each in level.effects().iter() {
            if each == Act::Obeys("here") && obeys_nothing(scan) {
                continue;
            }
            act(run, flow, each, endpoints, phase);
        }
    }
    for given in &scan.given {
        for each in given.option.acts.iter() {
            act(run, flow, each, endpoints, phase);
        }
    }
    // Without a file it reads what it is given.
    let alone =
        scan.operands.is_empty() && scan.levels.last().is_some_and(|level| level.stdin_when_no_operands());
    for case in scan.levels.iter().flat_map(|level| level.cases().iter()) {
        let holds = match case.condition {
            Condition::When => scan.has_listed(case.names),
            Condition::Unless => !scan.has_listed(case.names),
            Condition::Written => written.any(run, case.names),
            Condition::Named => scan.operands.iter().any(|operand| is_named(operand, case.names)),
        };
        let loads = case.condition == Condition::Written && phase == Phase::Acting;
        for each in case.acts.iter().filter(|_| loads) {
            if let Act::Loads(language) = each {
                script::load(run, &mut written, case.names, language);
                script::load_given(run, scan, flow.stdin || alone, case.names, language);
            }
        }
        if !holds {
            continue;
        }
        for each in case.acts.iter() {
            match each {
                Act::Loads(_) => {}
                each => act(run, flow, each, endpoints, phase),
            }
        }
    }
    let has_operands = !scan.operands.is_empty() || !scan.command.is_empty();
    if let Some(line) = scan.operands_line().filter(|_| has_operands && !scan.lost) {
        for each in line.acts.iter() {
            act(run, flow, each, endpoints, phase);
        }
    }
    if phase == Phase::Acting {
        super::languages::project::follow(run, scan);
    }
    let bare = scan.operands.is_empty() && scan.command.is_empty() && !scan.lost;
    let executes =
        scan.given.iter().any(|g| matches!(g.option.role, Role::Code(_) | Role::Script(_) | Role::Module(_)));
    if let Some(level) = scan.levels.last().filter(|_| bare && !executes) {
        for each in level.otherwise().iter() {
            act(run, flow, each, endpoints, phase);
        }
    }
}

/// Whether an operand is one of these words, and none of those behind a `!`.
fn is_named(operand: &Field<'_>, patterns: List<&'static str>) -> bool {
    let Some(word) = operand.known() else { return false };
    let mut named = false;
    for pattern in patterns.iter() {
        match pattern.strip_prefix('!') {
            Some(other) if values::fits(word, other.as_bytes()) => return false,
            Some(_) => {}
            None => named = named || values::fits(word, pattern.as_bytes()),
        }
    }
    named
}

pub(super) fn act<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, act: Act, endpoints: usize, phase: Phase) {
    let span = run.call.span;
    let reading =
        matches!(act, Act::Place(Role::Read | Role::List, _) | Act::Environment | Act::Secret | Act::Send);
    if reading != (phase == Phase::Reading) {
        return;
    }
    match act {
        Act::Recursive | Act::Last | Act::NoInput | Act::Loads(_) => {}
        Act::Place(role, path) => place(run, flow, role, path),
        Act::Exec => execute_itself(run),
        Act::Code("debugger") => debugger(run),
        Act::TerminalUnless(name) if is_given(run, name) => {}
        Act::Code("terminal") | Act::TerminalUnless(_) => run.code("terminal", None, Origins::TERMINAL, span),
        Act::Code(language) => run.code(language, None, Origins::FILE, span),
        Act::Connect("") if endpoints > 0 => {}
        Act::Connect(host) => {
            let host = (!host.is_empty()).then_some(host.as_bytes());
            let endpoint = super::endpoint::host(host, None, b"");
            let (sends, source) = (flow.sent, flow.source);
            run.does(EffectKind::Connect { endpoint, sends, source }, span);
        }
        Act::Listen => run.does(EffectKind::Listen { endpoint: crate::effect::Endpoint::UNKNOWN }, span),
        Act::ListenLocally => {
            let endpoint = super::endpoint::host(Some(b"localhost"), None, b"");
            run.does(EffectKind::Listen { endpoint }, span);
        }
        Act::Send => {
            // What is sent and comes from no argument is something of the project.
            let read = flow.origins.without(Origins::LITERAL);
            flow.sent = flow.sent | if read.is_empty() { Origins::FILE } else { read };
        }
        Act::Signal(what) => run.does(EffectKind::Signal { what }, span),
        Act::Privilege(what) => run.does(EffectKind::Privilege { what }, span),
        Act::Persist(what) => run.does(EffectKind::Persist { what }, span),
        Act::System(what) => run.does(EffectKind::System { what }, span),
        Act::Package(action) => run.does(EffectKind::Package { action }, span),
        Act::Vcs(action) => run.does(EffectKind::Vcs { action }, span),
        Act::Remote(action, service) => run.does(EffectKind::Remote { action, service }, span),
        Act::Environment => {
            flow.origins = flow.origins | Origins::ALL_VARIABLES;
            run.does(EffectKind::Read { target: anywhere(Scope::Environment) }, span);
        }
        Act::Secret => {
            flow.origins = flow.origins | Origins::SECRET;
            run.does(EffectKind::Read { target: anywhere(Scope::Secret) }, span);
        }
        Act::Obeys("here") => super::foreign::obeyed(run),
        Act::Obeys(_) => {}
        Act::Unknown(reason) => run.not_understood(Unknown::Construct(reason), span),
    }
}

/// Whether the script has put something into the environment under this name.
fn is_given(run: &Run<'_, '_>, name: &str) -> bool {
    let value = run.session.variable(name.as_bytes());
    value.is_some_and(|value| value.known().is_none_or(|text| !text.is_empty()))
}

/// A debugger reads its standard input: words that lead through the program, and Python to be executed.
fn debugger(run: &mut Run<'_, '_>) {
    const LEADS: [&[u8]; 20] = [
        b"",
        b"a",
        b"bt",
        b"c",
        b"cont",
        b"continue",
        b"d",
        b"down",
        b"exit",
        b"l",
        b"list",
        b"ll",
        b"n",
        b"next",
        b"q",
        b"quit",
        b"r",
        b"s",
        b"step",
        b"w",
    ];
    let stdin = run.call.stdin;
    let leads =
        |text: &[u8]| text.split(|byte| *byte == b'\n').all(|line| LEADS.contains(&line.trim_ascii()));
    if stdin.origins != Origins::TERMINAL && !stdin.text.is_some_and(leads) {
        run.streamed_code("python", stdin, run.call.span);
    }
}

/// An effect on a fixed place.
pub(super) fn place<'a>(run: &mut Run<'_, 'a>, flow: &mut Flow<'a>, role: Role, path: &'static str) {
    let home = run.session.home();
    let (arena, span) = (run.arena(), run.call.span);
    let file = match (path.strip_prefix('$'), path.strip_prefix('~')) {
        (Some(variable), _) => {
            let Some(value) = run.session.variable(variable.as_bytes()) else { return };
            Field { value, span, many: false }
        }
        (None, Some(below)) => {
            values::field(values::concat(arena, &[home, below.as_bytes()]), Origins::LITERAL, span)
        }
        (None, None) => values::field(path.as_bytes(), Origins::LITERAL, span),
    };
    match role {
        Role::Read => flow.origins = flow.origins | run.reads(&file, false),
        Role::List => run.lists(&file, false),
        _ => {
            flow.here |= role == Role::WriteBelow && path == ".";
            change_place(run, flow, role, &file);
        }
    }
}
