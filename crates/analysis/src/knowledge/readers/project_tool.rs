//! `npx TOOL` and `npm exec TOOL`: tools that a project has among its own packages are the tools that their names say.
//!
//! npm 10 documentation. Whatever else is named is fetched from the registry if it is not there.

use crate::effect::EffectKind;
use crate::knowledge::apply;
use crate::knowledge::flow::Uses;
use crate::knowledge::foreign;
use crate::knowledge::interpret;
use crate::knowledge::run::Run;
use crate::knowledge::scan::At;
use crate::knowledge::script;
use crate::knowledge::tables;
use crate::knowledge::variables;
use crate::knowledge::words::Fact;
use crate::session::Call;
use crate::value::{Field, Origins, Stream};
use bumpalo::collections::Vec as BumpVec;

/// Options of `npx` with which it is still the project's tool that runs.
const OWN: [&[u8]; 5] = [b"--no", b"--no-install", b"--offline", b"-q", b"--quiet"];

/// Reads the arguments of `npm exec`, or those of a tool that is a subcommand of `npx`.
pub(crate) fn read<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let place = run.call.argv.len().checked_sub(at.args.len() + 1);
    let before = place.and_then(|place| run.call.argv.get(1..place)).unwrap_or_default();
    let words = place.and_then(|place| run.call.argv.get(place..)).unwrap_or_default();
    let Some(name) = words.first().filter(|word| word.known().is_some_and(is_tool)) else {
        return executed(run, at);
    };
    if !before.iter().all(|word| word.known().is_some_and(|word| OWN.contains(&word))) {
        // Another package may be what has the tool.
        foreign::installed(run, "javascript", name);
    }
    tool(run, words).unwrap_or(Stream::EMPTY)
}

/// Whether projects have a tool of this name among their own packages.
fn is_tool(name: &[u8]) -> bool {
    tables::program(name).is_some_and(|(_, program)| program.has(Fact::ProjectTool))
}

/// `npm exec`
fn executed<'a>(run: &mut Run<'_, 'a>, at: &At<'a>) -> Stream<'a> {
    let end = at.args.iter().position(|arg| arg.known() == Some(b"--")).unwrap_or(at.args.len());
    let (own, handed) = at.args.split_at_checked(end).unwrap_or((at.args, &[]));
    // npm takes what looks like an option for its own wherever it stands before `--`, and some of them are code.
    let operand = |arg: &Field<'a>| arg.known().is_some_and(|text| !text.starts_with(b"-"));
    if own.iter().all(operand) && at.args.len() + 2 == run.call.argv.len() {
        let words = own.iter().chain(handed.iter().skip(1)).copied();
        let words = BumpVec::from_iter_in(words, run.arena()).into_bump_slice();
        if let Some(output) = tool(run, words) {
            return output;
        }
    }
    let scan = run.scan(at);
    apply::apply(run, &scan)
}

/// What the tool does, by its own description, if it is one of a project's. That it is, is what the project says.
fn tool<'a>(run: &mut Run<'_, 'a>, words: &'a [Field<'a>]) -> Option<Stream<'a>> {
    let name = words.first()?.known().filter(|name| is_tool(name))?;
    let (name, program) = tables::program(name)?;
    let first = run.session.effects().len();
    script::load_tool(run, words.first()?.known()?);
    let mut inner = Run { session: &mut *run.session, call: Call { argv: words, ..run.call }, name, program };
    variables::obey(&mut inner);
    let at = inner.start();
    let output = interpret(&mut inner, &at);
    // Only now: an effect is told once, and a tool that says so itself looks behind it for code of somebody else.
    let project = EffectKind::Code { language: "project", text: None, origin: Origins::FILE, source: None };
    run.does(project, run.call.span);
    foreign::foreign(run, &Uses::default(), first);
    Some(output)
}
