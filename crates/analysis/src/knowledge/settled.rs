//! What is put under another name: a directory where settings are looked for, and another name for a file that nobody may change.

use super::run::{Run, certainty};
use super::values;
use crate::effect::{EffectKind, Rest, Scope, Target, WriteMode};
use crate::place::settings_in;
use crate::value::{Field, Origins, Value};
use crate::world::{FileKind, World};
use bumpalo::Bump;

/// Whether something that is put at a place, and may be a directory, becomes one in which the settings of an agent or of the firewall
/// are looked for.
pub(super) fn becomes_settings(world: &dyn World, from: &Target<'_>, to: &Target<'_>) -> bool {
    to.covers.own
        && !(to.covers.home || to.covers.workspace)
        && to.rest == Rest::Exact
        && !matches!(to.scope, Scope::Own | Scope::Harmless)
        && !(from.rest == Rest::Exact && world.kind(from.path) == FileKind::File)
}

/// Whether a directory is known for what guards us, or for what other programs obey.
pub(super) fn holds_protected<'a>(run: &mut Run<'_, 'a>, directory: &Value<'a>) -> bool {
    let target = run.target(directory, false);
    target.covers.own || (target.covers.obeyed && target.scope != Scope::Temp)
}

/// Whether a link in the workspace leads to what may be a directory of temporary files: what lies there is in the workspace then, as if
/// it had been copied.
fn leads_to_tree(world: &dyn World, from: &Target<'_>, to: &Target<'_>) -> bool {
    from.scope == Scope::Temp
        && to.scope == Scope::Workspace
        && from.rest == Rest::Exact
        && world.kind(from.path) != FileKind::File
}

/// A link is made at a place: what it leads to is there from now on.
pub(super) fn linked_to<'a>(
    run: &mut Run<'_, 'a>,
    aim: &Field<'a>,
    from: &Target<'a>,
    to: Target<'a>,
    place: &Field<'a>,
) {
    if becomes_settings(run.session.world(), from, &to) {
        settles(run, to, place);
    }
    if leads_to_tree(run.session.world(), from, &to) {
        let content = Origins::FILE | Origins::OUTSIDE;
        let kind = EffectKind::Write { target: to, mode: WriteMode::Below, content };
        run.emit(kind, aim.span, certainty(aim));
    }
}

/// Where settings of the project's agents, or of the user's, come to lie with all that is in a directory: those that it holds.
pub(super) fn brought<'a>(
    arena: &'a Bump,
    world: &dyn World,
    from: &Target<'a>,
    place: &Target<'a>,
) -> Vec<&'a [u8]> {
    let whole = place.rest == Rest::Exact && (place.covers.workspace || place.covers.home);
    if !whole || from.rest != Rest::Exact || from.path == place.path {
        return Vec::new();
    }
    let settings = settings_in(world, from.path);
    settings.iter().map(|name| values::concat(arena, &[place.path, b"/", name])).collect()
}

/// What lies in a directory comes to lie where the settings of the project's agents are, or the user's: those that it holds do, too.
pub(super) fn brings_settings<'a>(
    run: &mut Run<'_, 'a>,
    from: &Target<'a>,
    to: &Value<'a>,
    told: &Field<'a>,
) {
    let place = run.target(to, false);
    for path in brought(run.arena(), run.session.world(), from, &place) {
        let target = run.target(&Value::text(path, to.origins), false);
        let kind = EffectKind::Write { target, mode: WriteMode::Replace, content: Origins::FILE };
        run.emit(kind, told.span, certainty(told));
    }
}

/// Whatever lies in a directory lies at this place from now on.
pub(super) fn settles<'a>(run: &mut Run<'_, 'a>, target: Target<'a>, told: &Field<'a>) {
    let kind = EffectKind::Write { target, mode: WriteMode::Below, content: Origins::FILE };
    run.emit(kind, told.span, certainty(told));
}

/// A directory that is put at a place with a slash at its end lies in it; where there is none, it becomes it.
pub(super) fn takes_place<'a>(run: &mut Run<'_, 'a>, source: &Field<'a>, to: &Field<'a>) {
    let (from, place) = (run.target(&source.value, false), run.target(&to.value, false));
    let world = run.session.world();
    if world.kind(place.path) != FileKind::Missing || !becomes_settings(world, &from, &place) {
        return;
    }
    let is_made = run.session.effects().iter().any(|effect| match effect.kind {
        EffectKind::Write { target, mode: WriteMode::Create, .. } => target.path == place.path,
        _ => false,
    });
    if !is_made {
        settles(run, place, to);
    }
}

/// What is linked hard has another name, under which nothing shows which file it is: of one that nobody may change, that is a change.
pub(super) fn linked_hard<'a>(run: &mut Run<'_, 'a>, file: &Field<'a>) {
    let target = run.target(&file.value, false);
    // Of what a search finds by its name, that is told later.
    let found =
        file.value.origins.without(Origins::FOUND) == Origins::NAMES && target.rest == Rest::Exact && {
            let name = values::base_name(target.path);
            let above = target.path.strip_suffix(name).and_then(|above| above.strip_suffix(b"/"));
            above.is_some_and(|above| run.session.guards_below(above, name))
        };
    if target.covers.guarded || found {
        run.emit(EffectKind::Metadata { target, what: "attributes" }, file.span, certainty(file));
    }
}
