//! What a program text puts under another name, as [`crate::knowledge::settled`] tells it of programs.

use super::Report;
use crate::effect::{EffectKind, WriteMode};
use crate::knowledge::settled::{becomes_settings, brought};
use crate::knowledge::unpacked::{any_below, is_obeyed, may_bring};
use crate::value::{Origins, Value};

impl<'a> Report<'_, 'a> {
    /// What may be a directory is put where settings are looked for.
    pub(super) fn settles(&mut self, from: &Value<'a>, to: &Value<'a>) {
        let (from, target) = (self.target(from, false), self.target(to, false));
        for path in brought(self.arena, self.session.world(), &from, &target) {
            let target = self.target(&Value::text(path, to.origins), false);
            self.emit(EffectKind::Write { target, mode: WriteMode::Replace, content: Origins::FILE }, true);
        }
        if becomes_settings(self.session.world(), &from, &target) {
            let kind = EffectKind::Write { target, mode: WriteMode::Below, content: Origins::FILE };
            self.emit(kind, true);
        }
    }

    /// A file that nobody may change gets another name, unless the link is a symbolic one, which is not told.
    fn linked_hard(&mut self, aim: &Value<'a>) {
        let target = self.target(aim, false);
        if target.covers.guarded {
            self.emit(EffectKind::Metadata { target, what: "attributes" }, true);
        }
    }

    /// What is not known by name is put below a directory: an archive, or what lies in another directory.
    pub(in super::super) fn fills(&mut self, place: Option<&Value<'a>>, from: Option<&Value<'a>>) {
        let Some(place) = place.filter(|place| is_obeyed(&self.target(place, false))) else { return };
        let from = from.map(|from| self.target(from, false));
        if from.is_none_or(|from| may_bring(self.session, &from, place)) {
            let any = any_below(self.arena, place);
            self.writes(Some(&any), WriteMode::Below);
        }
    }

    /// A link leads to something.
    pub(super) fn linked(&mut self, aim: &Value<'a>, link: &Value<'a>) {
        self.settles(aim, link);
        self.linked_hard(aim);
    }
}
