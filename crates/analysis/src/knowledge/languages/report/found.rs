//! Files whose names were found, and code that stands in files: what the program's own text does not tell.

use super::Report;
use super::rehearsal::Deed;
use crate::effect::EffectKind;
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

    /// Code in a file of which the text is not known: the program's own text says nothing of it.
    pub(in super::super) fn code_elsewhere(&mut self, origin: Origins) {
        let kind = EffectKind::Code { language: self.language, text: None, origin, source: None };
        self.once(kind);
    }
}
