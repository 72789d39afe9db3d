//! What is put under another name: a directory where settings are looked for, and another name for a file that nobody may change.

use super::run::{Run, certainty};
use super::values;
use crate::effect::{EffectKind, Rest, Scope, Target, WriteMode};
use crate::place::settings_in;
use crate::value::{Field, Origins, Value};
use crate::world::{FileKind, World};

/// Whether something that is put at a place, and may be a directory, becomes one in which the settings of an agent or of the firewall
/// are looked for.
pub(super) fn becomes_settings(world: &dyn World, from: &Target<'_>, to: &Target<'_>) -> bool {
    to.covers.own
        && !(to.covers.home || to.covers.workspace)
        && to.rest == Rest::Exact
        && !matches!(to.scope, Scope::Own | Scope::Harmless)
        && !(from.rest == Rest::Exact && world.kind(from.path) == FileKind::File)
}

/// What lies in a directory comes to lie where the settings of the project's agents are, or the user's: those that it holds do, too.
pub(super) fn brings_settings<'a>(
    run: &mut Run<'_, 'a>,
    from: &Target<'a>,
    to: &Value<'a>,
    told: &Field<'a>,
) {
    let place = run.target(to, false);
    let whole = place.rest == Rest::Exact && (place.covers.workspace || place.covers.home);
    if !whole || from.rest != Rest::Exact || from.path == place.path {
        return;
    }
    for name in settings_in(run.session.world(), from.path) {
        let path = values::concat(run.arena(), &[place.path, b"/", &name]);
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

/// What is linked hard has another name, under which nothing shows which file it is: of one that nobody may change, that is a change.
pub(super) fn linked_hard<'a>(run: &mut Run<'_, 'a>, file: &Field<'a>) {
    let target = run.target(&file.value, false);
    if target.covers.guarded {
        run.emit(EffectKind::Metadata { target, what: "attributes" }, file.span, certainty(file));
    }
}
