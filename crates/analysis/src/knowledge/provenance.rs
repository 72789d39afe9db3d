//! Whose code a file is: the project's own, made by this command, a copy from elsewhere, or what a link leads to.

use super::run::Run;
use super::values;
use crate::effect::{Certainty, EffectKind, Scope};
use crate::session::Session;
use crate::value::{Field, Origins, Stream, Value};
use shward_syntax::Span;

/// Origins of a script that are not those of a file that simply lies there.
pub(crate) const NOT_OF_THE_PROJECT: Origins =
    Origins::NETWORK.union(Origins::DECODED).union(Origins::WRITTEN).union(Origins::SECRET);

/// Whether a file is the workspace's own code, which may run: it lies there, and this command has not put it there.
pub(crate) fn is_own<'a>(session: &mut dyn Session<'a>, file: &Field<'a>, origins: Origins) -> bool {
    let target = session.target(&file.value);
    matches!(target.scope, Scope::Workspace | Scope::Product) && !origins.intersects(NOT_OF_THE_PROJECT)
}

/// What this command has made of the files that Node.js may load under a name: the file itself, one with an ending, or
/// what a directory of that name holds.
pub(crate) fn made_module<'a>(session: &mut dyn Session<'a>, name: &Value<'a>) -> Option<Stream<'a>> {
    const ENDINGS: [&[u8]; 10] = [
        b"",
        b".js",
        b".json",
        b".node",
        b".mjs",
        b".cjs",
        b"/package.json",
        b"/index.js",
        b"/index.json",
        b"/index.node",
    ];
    if !session.has_made_files() {
        return None;
    }
    let stem = name.known()?;
    let stem = stem.strip_suffix(b"/").unwrap_or(stem);
    ENDINGS.iter().find_map(|ending| {
        let path = values::concat(session.arena(), &[stem, *ending]);
        let content = session.script_text(&Value::text(path, name.origins));
        let made = content.origins.intersects(NOT_OF_THE_PROJECT);
        made.then_some(Stream { text: None, ..content })
    })
}

/// What is a copy of a file from a temporary directory, where anybody may have put it, is executed as that.
pub(super) fn copy_of<'a>(session: &mut dyn Session<'a>, span: Span, from: Option<&'a [u8]>) {
    let Some(from) = from else { return };
    let target = session.target(&Value::text(from, Origins::LITERAL));
    if target.scope == Scope::Temp {
        session.emit(EffectKind::Execute { target, origin: Origins::FILE }, span, Certainty::Possible);
    }
}

/// What a name in the workspace leads to by a link is executed as that.
pub(super) fn linked<'a>(run: &mut Run<'_, 'a>, path: &Value<'a>, content: Stream<'a>, span: Span) {
    if content.text.is_some() || !run.session.has_made_files() {
        return;
    }
    let target = run.session.target(path);
    let (Some(name), here) = (path.known(), run.session.cwd()) else { return };
    let own = matches!(target.scope, Scope::Workspace | Scope::Product);
    let itself = match name.first() {
        Some(b'/') => target.path == name,
        _ => here.is_none_or(|here| {
            target.path.strip_prefix(here).is_some_and(|rest| rest.strip_prefix(b"/") == Some(name))
        }),
    };
    if !own && !itself {
        let origin = Origins::FILE;
        run.emit(EffectKind::Execute { target, origin }, span, Certainty::Possible);
    }
}

/// Whether the command has written nothing that may be this file. From here on what it writes there is judged, where that may come
/// before what is run here.
pub(super) fn is_untouched<'a>(session: &mut dyn Session<'a>, file: &Value<'a>) -> bool {
    let place = session.target(file).path;
    let told = session.effects().len();
    session.works(told);
    if session.effects().iter().any(|effect| effect.kind.may_write(place)) {
        return false;
    }
    session.runs_from(place);
    true
}
