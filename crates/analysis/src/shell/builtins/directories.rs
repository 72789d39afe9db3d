//! `cd` and the directory stack.

use super::Given;
use crate::effect::{EffectKind, Scope};
use crate::place::{FRESH, stays_below};
use crate::session::Session;
use crate::shell::Interpreter;
use crate::shell::flow::{Opt, Status, Whereabouts};
use crate::shell::simple::Expanded;
use crate::shell::state::{Content, Slot, Space};
use crate::shell::words::Got;
use crate::value::{Origins, Piece, Value, leaves};
use crate::world::FileKind;
use shward_syntax::Span;

impl<'a> Interpreter<'a, '_> {
    /// `cd`
    ///
    /// It may fail, and what follows then happens where the shell was: both places are kept unless it is known to succeed.
    pub(super) fn change_directory(&mut self, command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"", b"LPe@");
        if given.options.iter().any(|(letter, _)| !b"LPe@".contains(letter)) {
            // `cd -/x` is an option that there is not: it fails and stays.
            self.state.flow.places.forget_status();
            return;
        }
        if given.has(b'@') {
            // Where there are no extended attributes, it is an option that there is not.
            self.argument_unknown(command.span);
        }
        let value = match given.operands {
            [] => match self.lookup(b"HOME", Span::default()) {
                Got::One(value, _) => value,
                // bash fails and stays.
                Got::Unset => Value::unknown(Origins::NONE),
                Got::Any(origins, _) => Value::unknown(origins),
            },
            [only] if only.known() == Some(b"-") => {
                let given = self.state.get(Space::Variable, b"OLDPWD").content != Content::Initial;
                match self.state.flow.previous.filter(|_| !given) {
                    Some(previous) => Value::text(previous, Origins::LITERAL),
                    None => Value::unknown(Origins::FILE),
                }
            }
            [only] if !only.many => only.value,
            _ => Value::unknown(Origins::FILE),
        };
        // The real name of a directory is only known where no link can stand for it.
        let physical = given.has(b'P') || given.has(b'e') || given.has(b'@');
        let fixed = |text: &[u8]| matches!(text, b"/" | b"/tmp") || text == self.request.workspace;
        let unnamed = physical && !value.known().is_some_and(fixed);
        // Where the command's own links lead is told all the same.
        let value = if unnamed && self.links.is_empty() { Value::unknown(value.origins) } else { value };
        // A `pushd` that failed has put nothing there.
        if let Some([.., top]) = self.state.flow.stack
            && self.state.flow.places.iter().any(|(place, _)| place == Some(top))
        {
            self.state.flow.stack = None;
        }
        let searched = self.state.get(Space::Variable, b"CDPATH").content != Content::Initial;
        let value = if searched { Value::unknown(value.origins) } else { value };
        let back = matches!(given.operands, [only] if only.known() == Some(b"-"));
        self.go(&value, physical);
        if unnamed {
            self.state.flow.places.add(None, Status::Success);
        }
        if back || searched {
            // What was not named on its own is told, if it is there.
            self.prints(Origins::FILE, command.span);
        }
    }

    /// `physical`: links are followed before `..`. A shell that has no `$PWD` does so too, and so does one where what
    /// the path says is not there.
    fn go(&mut self, value: &Value<'a>, physical: bool) {
        self.departs(value);
        self.moved();
        let before = self.state.flow.places;
        let mut after = Whereabouts::nowhere();
        let mut stays = false;
        for (place, _) in before.iter() {
            let length = place.map_or(0, <[u8]>::len);
            self.budget.spend(length / 16);
            self.budget.walks(length);
            let target = self.directory(value, place);
            match target {
                None if place.is_some() && self.is_below_workspace(value) => {
                    after.add_within(None, Status::Success)
                }
                _ => after.add(target, Status::Success),
            }
            if !self.links.is_empty()
                && let Some(path) = value.known()
                && (physical || climbs(path))
            {
                match self.followed(path, place) {
                    Some(ends) => ends.iter().for_each(|end| after.add(Some(end), Status::Success)),
                    None => after.add(None, Status::Success),
                }
            }
            // What stands before `..` has to be a directory.
            if value.known().is_some_and(leaves) || !self.surely_enters(target, place) {
                match place {
                    None if before.is_within() => after.add_within(None, Status::Failure),
                    _ => after.add(place, Status::Failure),
                }
                stays = true;
            }
        }
        let flow = &mut self.state.flow;
        // Where it fails after one that did not, `cd -` leads to where that came from.
        let known = flow.previous.is_some() || flow.went;
        let again = stays && known && flow.previous != before.only();
        flow.previous = if again { None } else { before.only() };
        (flow.stayed, flow.went) = (stays, true);
        flow.places = after;
        self.stands();
        for name in [b"PWD".as_slice(), b"OLDPWD"] {
            if self.state.find(Space::Variable, name).is_some() {
                let slot = self.state.get(Space::Variable, name);
                let kept = Slot { content: Content::Unknown(slot.origins().union(Origins::FILE)), ..slot };
                let given = stays && slot.content != Content::Initial;
                self.state.set(Space::Variable, name, if given { kept } else { Slot::INITIAL });
            }
        }
    }

    /// Whether a directory is one of those that are there and match a pattern, below the workspace, and the command has made and
    /// linked nothing that could be it; nor is a link among those that are there which leads out.
    fn is_below_workspace(&mut self, value: &Value<'a>) -> bool {
        // Patterns that begin with a dot may match `..`.
        let plain = |piece: &Piece<'a>| match piece {
            Piece::Text(text) => {
                !text.windows(2).any(|two| two == b"..") && *text != b"." && !text.ends_with(b"/.")
            }
            Piece::Glob(pattern) => *pattern == b"*",
            Piece::Unknown | Piece::Made => false,
        };
        // A word that is none leads to the home directory.
        if !value.has_glob()
            || self.state.flow.options.may(Opt::NullGlob)
            || !value.pieces().iter().all(plain)
            || !self.links.is_empty()
            || self.state.has_files()
        {
            return false;
        }
        let target = self.target(value);
        matches!(target.scope, Scope::Workspace | Scope::Product)
            && self.budget.spend(self.effects.len())
            && !self.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Write { .. }))
            && self.stays_below_workspace(value)
    }

    /// Whether what is there and matches a pattern lies in the workspace, wherever the shell may be.
    pub(in crate::shell) fn stays_below_workspace(&mut self, value: &Value<'a>) -> bool {
        let places = self.state.flow.places;
        places.iter().all(|(place, _)| {
            let (stays, looked) = stays_below(self.world, place, value, self.request.workspace);
            self.budget.spend(looked / 4) && stays
        })
    }

    /// Counts that a directory is entered.
    pub(in crate::shell) fn departs(&mut self, directory: &Value<'a>) {
        let found = directory.origins.contains(Origins::NAMES);
        self.departures = self.departures.saturating_add(u32::from(!found));
    }

    /// The directory that a program enters: links are followed before `..`.
    pub(in crate::shell) fn entered(&self, path: &Value<'a>, from: Option<&'a [u8]>) -> Option<&'a [u8]> {
        if path.is_made() {
            return Some(FRESH);
        }
        let named = self.directory(path, from)?;
        let text = path.known().filter(|text| climbs(text));
        let Some(text) = text else { return Some(named) };
        let made = self.links.is_empty() || self.followed(text, from)?.iter().all(|end| *end == named);
        made.then_some(named)
    }

    /// The directory that a path means from another; lexically, as `cd` does without `-P`.
    fn directory(&self, path: &Value<'a>, from: Option<&'a [u8]>) -> Option<&'a [u8]> {
        let path = path.known()?;
        if from.map_or(0, <[u8]>::len) + path.len() > Value::PATH_MAX {
            return None;
        }
        if path.starts_with(b"//") && !path.starts_with(b"///") {
            // bash keeps both (POSIX, "Pathname Resolution").
            return None;
        }
        let base = if path.starts_with(b"/") { b"".as_slice() } else { from? };
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in base.split(|byte| *byte == b'/').chain(path.split(|byte| *byte == b'/')) {
            match part {
                b"" | b"." => {}
                b".." => {
                    parts.pop();
                }
                _ => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Some(b"/");
        }
        let mut joined = Vec::with_capacity(base.len() + path.len() + 1);
        for part in parts {
            joined.push(b'/');
            joined.extend_from_slice(part);
        }
        Some(self.arena.alloc_slice_copy(&joined))
    }

    /// Whether `cd` cannot but succeed.
    fn surely_enters(&self, target: Option<&'a [u8]>, from: Option<&'a [u8]>) -> bool {
        let Some(target) = target else { return false };
        if matches!(target, b"/" | b"/tmp") || target == self.request.workspace || target == self.request.home
        {
            return true;
        }
        // Where it is, or above.
        let above = from.is_some_and(|from| {
            from == target || from.strip_prefix(target).is_some_and(|rest| rest.starts_with(b"/"))
        });
        // The script may have removed what the world still has.
        let untouched = || !self.state.has_files();
        above || (untouched() && !self.elsewhere && self.world.kind(target) == FileKind::Directory)
    }

    /// `pushd`, `popd`, `dirs`
    pub(super) fn directory_stack(&mut self, name: &[u8], command: &Expanded<'_, 'a>) {
        let given = Given::read(command.argv, b"", b"nclpv");
        match (name, given.operands) {
            (b"dirs", _) => {
                if given.has(b'c') {
                    self.state.flow.stack = Some(&[]);
                }
            }
            (b"pushd", [directory])
                if directory
                    .known()
                    .is_none_or(|text| !text.starts_with(b"+") && !text.starts_with(b"-")) =>
            {
                let before = self.state.flow.places.only();
                self.state.flow.stack = match (self.state.flow.stack, before) {
                    (Some(stack), Some(before)) => {
                        self.budget.spend(stack.len());
                        Some(self.arena.alloc_slice_copy(&[stack, &[before]].concat()))
                    }
                    _ => None,
                };
                if given.has(b'n') {
                    self.state.flow.stack = None;
                } else {
                    let value = if directory.many { Value::unknown(Origins::FILE) } else { directory.value };
                    self.go(&value, false);
                }
            }
            (b"popd", []) if given.options.is_empty() => match self.state.flow.stack {
                Some([rest @ .., top]) => {
                    let value = Value::text(top, Origins::LITERAL);
                    self.state.flow.stack = Some(rest);
                    self.go(&value, false);
                }
                // With an empty stack it fails.
                Some([]) => {}
                None => self.go(&Value::unknown(Origins::FILE), false),
            },
            _ => {
                self.state.flow.stack = None;
                self.go(&Value::unknown(Origins::FILE), false);
            }
        }
        if given.options.iter().any(|(letter, _)| !b"nclpv0123456789".contains(letter)) {
            // An option that there is not: it fails and stays.
            self.argument_unknown(command.span);
        }
        self.prints(Origins::FILE, command.span);
    }
}

/// Whether a path has `..` in it.
fn climbs(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name == b"..")
}
