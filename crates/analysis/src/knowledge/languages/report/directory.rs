//! The working directory of a program: what it changes it to, and what happens to it.

use super::super::super::{moves, values};
use super::Report;
use super::rehearsal::Deed;
use crate::effect::Covers;
use crate::value::{Origins, Value};

/// Bytes of a path that cost what changing to it costs.
const SHORT: usize = 64;

impl<'a> Report<'_, 'a> {
    /// The path as it counts from the directory that the program was started in.
    pub(super) fn resolved(&self, path: &Value<'a>) -> Value<'a> {
        match self.directory() {
            Some(directory) if !path.known_prefix().starts_with(b"/") => {
                let slash = Value::text(b"/", Origins::LITERAL);
                values::joined(self.arena, &[directory, slash, *path])
            }
            _ => *path,
        }
    }

    pub(super) fn directory(&self) -> Option<Value<'a>> {
        if self.wanders { Some(Value::unknown(Origins::UNKNOWN)) } else { self.directory }
    }

    /// From now on what happens may happen in any directory; or no longer.
    pub(in super::super) fn wander(&mut self, wanders: bool) {
        if !self.rehearses(|| Deed::Wander(wanders)) {
            self.wanders = wanders;
        }
    }

    /// The program changes its working directory.
    pub(in super::super) fn change_directory(&mut self, to: Value<'a>) {
        if !self.rehearses(|| Deed::ChangeDirectory(to)) {
            let to = if self.session.goes_on() { self.resolved(&to) } else { Value::unknown(to.origins) };
            // One that counts from another is put together anew, and kept as long as the program is read.
            self.session.works(to.extent().saturating_sub(SHORT));
            // No file system has a longer one; each name in it would take as many steps.
            self.directory = Some(if values::is_too_long(&[to]) { Value::unknown(to.origins) } else { to });
        }
    }

    /// A file or directory is renamed; see `Run::takes_away`. Whoever stands in it stands elsewhere then.
    pub(in super::super) fn takes_away(&mut self, path: Option<&Value<'a>>, to: Option<&Value<'a>>) {
        if self.rehearses(|| Deed::TakeAway(path.copied(), to.copied())) {
            return;
        }
        let mut held = Covers::default();
        let mut leaves = false;
        if let Some(path) = path {
            let target = self.target(path, true);
            held = target.covers;
            if let Some(to) = to.filter(|to| *to != path) {
                let to = self.target(to, false);
                leaves = moves::leaves(self.session.world(), &target, &to);
                self.session.moved(&target, &to);
            }
            self.session.renamed(&target);
            let stands = match self.directory() {
                Some(directory) => self.session.target(&directory).path,
                None => self.session.cwd().unwrap_or_default(),
            };
            self.wanders |= target.moves(stands);
        }
        self.deletes(path, leaves || held.root || held.home || held.system || held.workspace);
    }
}
