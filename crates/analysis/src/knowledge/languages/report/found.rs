//! Files whose names were found, and code that stands in files: what the program's own text does not tell.

use super::Report;
use super::rehearsal::Deed;
use crate::effect::{EffectKind, Scope, WriteMode};
use crate::knowledge::overwriting;
use crate::value::{Origins, Value};

impl<'a> Report<'_, 'a> {
    /// What is not followed gets this file or this text: perhaps one of those that were found.
    pub(super) fn takes_in(&mut self, value: &Value<'a>) {
        if value.has_unknown() || value.names_what_is_there() {
            self.takes_in_found();
        }
    }

    /// Something may get what is in files whose names were found.
    pub(in super::super) fn takes_in_found(&mut self) {
        if !self.rehearses(|| Deed::TakeIn) {
            self.reads_found = true;
        }
    }

    /// A file is copied or moved over another one. The same over many files that are there leaves nothing of what was in them.
    pub(in super::super) fn puts(&mut self, from: &Value<'a>, to: &Value<'a>, moved: bool) {
        if self.rehearses(|| Deed::Put(*from, *to, moved)) {
            return;
        }
        let same =
            from.known().is_some() && to.names_what_is_there() && !overwriting::names_directories(to) && {
                let source = self.target(from, false);
                source.scope != Scope::Harmless && !overwriting::is_made_before(self.session, &source, moved)
            };
        self.writes(Some(to), if same { WriteMode::Truncate } else { WriteMode::Replace });
    }

    /// Code in a file of which the text is not known: the program's own text says nothing of it.
    pub(in super::super) fn code_elsewhere(&mut self, origin: Origins) {
        let kind = EffectKind::Code { language: self.language, text: None, origin, source: None };
        self.once(kind);
    }
}
