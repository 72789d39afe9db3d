//! What is copied and renamed.

use super::Reader;
use super::value::Val;
use crate::effect::{Scope, WriteMode};
use crate::value::Value;

impl<'a> Reader<'_, '_, 'a> {
    /// Copies what is somewhere, with all that is known of it.
    pub(super) fn copy_each(
        &mut self,
        sources: &[Option<Value<'a>>],
        tree: bool,
        to: Option<Val<'a>>,
        mode: WriteMode,
    ) -> Val<'a> {
        let val = self.put_each(sources, tree, to, mode, false);
        for place in self.each_path(to.filter(|_| tree)) {
            sources.iter().for_each(|from| self.report.fills(place.as_ref(), from.as_ref()));
        }
        val
    }

    /// What an archive holds is put below a directory.
    pub(super) fn unpack_to(&mut self, to: Val<'a>) -> Val<'a> {
        let val = self.write_each(Some(to), WriteMode::Below);
        for place in self.each_path(Some(to)) {
            self.report.fills(place.as_ref(), None);
        }
        val
    }

    fn put_each(
        &mut self,
        sources: &[Option<Value<'a>>],
        tree: bool,
        to: Option<Val<'a>>,
        mode: WriteMode,
        moved: bool,
    ) -> Val<'a> {
        sources.iter().for_each(|from| self.report.reads(from.as_ref(), tree));
        // A copy may go into each of many directories; one of nothing (`/dev/null`) is meant to empty files.
        let mut is_nothing = |from: &Value<'a>| {
            !from.has_unknown() && self.report.target(from, false).scope == Scope::Harmless
        };
        if !sources.iter().all(|from| from.as_ref().is_some_and(&mut is_nothing)) {
            self.report.takes_in_found();
        }
        let val = to.unwrap_or(Val::Data);
        for to in self.each_path(to) {
            match (sources, to) {
                ([Some(from)], Some(to)) if mode == WriteMode::Replace => {
                    self.report.puts(from, &to, moved);
                }
                _ => self.report.writes(to.as_ref(), mode),
            }
        }
        for to in self.each_path(to) {
            sources.iter().for_each(|from| self.report.carries(from.as_ref(), to.as_ref()));
        }
        val
    }

    /// Renames what is somewhere.
    pub(super) fn rename_each(&mut self, sources: &[Option<Value<'a>>], to: Option<Val<'a>>) -> Val<'a> {
        let val = self.put_each(sources, false, to, WriteMode::Replace, true);
        let places = self.each_path(to);
        let to = if let [Some(to)] = places.as_slice() { Some(to) } else { None };
        sources.iter().for_each(|from| self.report.takes_away(from.as_ref(), to));
        val
    }
}
