//! Directories that relative paths count from: the working directory, which the program may change, the home directory,
//! and open directories.

use super::Reader;
use super::arguments::Arguments;
use super::value::Val;
use crate::value::{Origins, Piece, Value};

impl<'a> Reader<'_, '_, 'a> {
    /// `os.chdir(path)`
    pub(super) fn change_directory(&mut self, val: Option<Val<'a>>) {
        self.moves.1 += 1;
        let value = match val {
            Some(Val::Text(value) | Val::Path(value)) if self.is_plain() => value,
            _ => Value::unknown(Origins::UNKNOWN),
        };
        self.report.change_directory(value);
    }

    /// Whether the working directory may be changed before what is read now has run for the last time.
    const fn moves_on(&self) -> bool {
        self.moves.1 < self.moves.0
    }

    /// What is not plain may run again once the working directory has changed.
    pub(super) fn wander(&mut self) {
        let wanders = self.moves_on() && !self.is_plain();
        if wanders != self.wanders {
            self.wanders = wanders;
            self.report.wander(wanders);
        }
    }

    /// A pass is over. One that did not know how often the directory changes is not the last.
    pub(super) fn count_moves(&mut self) {
        if self.moves.1 > self.moves.0 {
            self.moves.0 = self.moves.1;
            (self.learnt, self.unsettled, self.changed) = (true, true, true);
        }
    }

    /// The working directory, for text that may be used once it has changed.
    pub(super) fn here(&self) -> Value<'a> {
        match self.report.session.cwd() {
            None if !self.moves_on() => self.report.literal(b"."),
            Some(cwd) if !self.moves_on() || self.moves.1 == 0 && self.is_plain() => {
                let cwd = self.report.arena.alloc_slice_copy(cwd);
                self.report.literal(cwd)
            }
            _ => Value::unknown(Origins::UNKNOWN),
        }
    }

    /// `os.path.abspath(path)`
    pub(super) fn absolute(&mut self, val: Option<Val<'a>>) -> Val<'a> {
        let Some(val) = val else { return Val::Data };
        // Whoever is given it may work somewhere else.
        self.each_relative(&val, &|reader, value| match value.pieces().first() {
            Some(Piece::Unknown | Piece::Made) if !reader.moves_on() => value,
            _ => reader.path_join(&[reader.here(), value]),
        })
    }

    /// A path that counts from a directory that is not known.
    pub(super) fn relative_to_unknown(&mut self, val: &Val<'a>) -> Val<'a> {
        self.each_relative(val, &|_, _| Value::unknown(Origins::UNKNOWN))
    }

    /// Every relative path among what a value may be is exchanged.
    fn each_relative(&mut self, val: &Val<'a>, by: &dyn Fn(&Self, Value<'a>) -> Value<'a>) -> Val<'a> {
        let relative = |value: &Value<'a>| !value.known_prefix().starts_with(b"/");
        let arena = self.report.arena;
        let each = val.alternatives().iter().map(|val| match val {
            Val::Text(value) if relative(value) => Val::Text(by(self, *value)),
            Val::Path(value) if relative(value) => Val::Path(by(self, *value)),
            other => *other,
        });
        super::value::any_of(arena, each).unwrap_or(Val::Data)
    }

    /// The arguments of a call whose relative paths count from an open directory, or may.
    pub(super) fn counted_from_elsewhere(&mut self, arguments: &Arguments<'a>) -> Option<Arguments<'a>> {
        let given = arguments.named(&["dir_fd", "src_dir_fd", "dst_dir_fd", "opener"]);
        if matches!(given, None | Some(Val::Nothing)) && !arguments.open {
            return None;
        }
        let mut counted = self.no_arguments(arguments.open);
        for val in &arguments.positional {
            let val = self.relative_to_unknown(val);
            counted.positional.push(val);
        }
        for (name, val) in &arguments.named {
            let val = self.relative_to_unknown(val);
            counted.named.push((*name, val));
        }
        // The mode of `open` is no path.
        if let (Some(mode), Some(place)) = (arguments.positional.get(1), counted.positional.get_mut(1))
            && mode.known().is_some_and(|mode| mode.len() <= 3 && !mode.contains(&b'/'))
        {
            *place = *mode;
        }
        if let Some(mode) = arguments.named(&["mode"]) {
            counted.named.retain(|(name, _)| *name != b"mode");
            counted.named.push((b"mode", mode));
        }
        Some(counted)
    }
}
