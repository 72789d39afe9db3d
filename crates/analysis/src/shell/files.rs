//! Files that the command writes: what they hold afterwards, as far as that is known.
//!
//! A file that is surely written anew holds what was written. Everything else (a program that may refuse or append, a
//! redirection that may fail, what runs beside) leaves it with one of two contents: what is not the same in both is not
//! known. Over a file that the command has not touched the written text stands, marked as one that may not be there: what
//! lies there otherwise is the workspace's own code, or is judged by its place.

use super::Interpreter;
use super::descriptors::descriptor_named;
use super::state::{Content, Flags, Slot, Space, join_slots};
use crate::effect::{Rest, Scope, Target, Unknown, WriteMode};
use crate::knowledge::names_program;
use crate::place::is_fresh;
use crate::session::Session;
use crate::value::{Origins, Stream, Value};
use crate::world::Entries;

/// The longest file that is followed.
const LONGEST_FILE: usize = 64 << 10;
/// So many copies are kept in mind.
const MOST_COPIES: usize = 128;

/// So many programs of a directory are looked at.
const MOST_PROGRAMS: usize = 2048;

/// So many places of removed files are kept apart.
const MOST_REMOVED: usize = 128;

impl<'a> Interpreter<'a, '_> {
    /// The content of a file as far as it is known.
    pub(super) fn content_of(&mut self, path: &Value<'a>) -> Stream<'a> {
        self.content(path, false)
    }

    /// The same of a script: with text that it may hold, where the alternative is what lies there already.
    pub(super) fn script_of(&mut self, path: &Value<'a>) -> Stream<'a> {
        self.content(path, true)
    }

    fn content(&mut self, path: &Value<'a>, executed: bool) -> Stream<'a> {
        let target = self.target(path);
        if target.rest == Rest::Exact
            && let Some(number) = descriptor_named(target.path)
        {
            return self.read_by_name(number);
        }
        let origins = self.read_origins(&target);
        if target.rest != Rest::Exact || is_fresh(target.path) {
            return Stream { text: None, origins, source: None };
        }
        if target.path == b"/dev/null" && !executed {
            return Stream { text: Some(b""), origins, source: None };
        }
        if self.links_to_descriptor(&target) {
            return Stream { text: None, origins: origins.union(Origins::UNKNOWN), source: None };
        }
        if executed {
            self.scripts.use_file(target.path);
        }
        let mut known: Option<Slot<'a>> = None;
        let mut untouched = false;
        let (own, others) = self.aliases(&target);
        let paths = [own].into_iter().chain(others);
        let removed = paths.clone().any(|path| self.may_be_removed(path, None));
        for path in paths.clone() {
            match (self.written_at(path), known) {
                (Some(slot), None) => known = Some(slot),
                (Some(slot), Some(other)) => known = Some(join_slots(self.arena, other, slot)),
                (None, _) => untouched = true,
            }
        }
        if let Some(Slot { content: Content::File(stream), flags }) = known {
            let since = self.state.changed_at(Space::File, own);
            let maybe = self.unreadable
                || removed && self.may_be_removed(own, since)
                || untouched
                || path.is_roundabout()
                || flags.has(Flags::MAYBE)
                || flags.has(Flags::SHARED)
                || !self.is_surely_written(&target);
            let text = stream.text.filter(|_| (executed || !maybe) && !self.may_be_written_since(own));
            if let Some(text) = text {
                if maybe {
                    self.scripts.doubt(text);
                }
                self.scripts.use_file(target.path);
                self.scripts.read(text, self.arena.alloc_slice_copy(&paths.collect::<Vec<_>>()));
            }
            let origins = if maybe { stream.origins.union(origins) } else { stream.origins };
            return Stream { text, origins, ..stream };
        }
        if self.state.get(Space::File, b"").content != Content::Initial {
            // Something was written to a place that is not known.
            return Stream { text: None, origins: origins.union(Origins::WRITTEN), source: None };
        }
        let refilled = self.may_be_refilled(paths, executed || target.scope == Scope::Product);
        let readable = (executed || !self.unreadable && !removed && !path.is_roundabout())
            && !self.elsewhere
            && !origins.intersects(Origins::SECRET.union(Origins::ENVIRONMENT))
            && (executed || !refilled);
        let text = if readable { self.world.content(target.path, LONGEST_FILE) } else { None };
        let text = text.filter(|text| self.budget.produce(text.len()));
        let text = text.map(|text| &*self.arena.alloc_slice_copy(&text));
        if text.is_some() && !executed {
            self.scripts.looks(target.path);
        }
        if let Some(text) = text.filter(|_| removed || refilled) {
            self.scripts.doubt(text);
        }
        Stream { text, origins, source: None }
    }

    /// Whether what the disk holds at one of these paths may have been replaced by what was written below a directory, or brought by git.
    /// `kept`: it is what was built, which git leaves alone, or a script, which from git is the project's own as the one before it.
    fn may_be_refilled(&self, mut paths: impl Iterator<Item = &'a [u8]>, kept: bool) -> bool {
        let is_above = |(above, whole): &(&[u8], bool), path: &[u8]| {
            path.strip_prefix(*above).is_some_and(|rest| !whole || rest.is_empty() || rest.starts_with(b"/"))
        };
        self.brought && !kept
            || !self.refilled.is_empty()
                && paths.any(|path| self.refilled.iter().any(|place| is_above(place, path)))
    }

    /// Files below a place were written, or some that begin with its name.
    pub(super) fn note_refilled(&mut self, target: &Target<'a>) {
        let place = target.path.strip_suffix(b"/").unwrap_or(target.path);
        // One more stands for all files.
        let noted = match self.refilled.len() < MOST_REMOVED {
            true => (place, target.rest == Rest::Exact),
            false => (&b""[..], false),
        };
        if self.refilled.last() != Some(&noted) && !self.refilled.contains(&noted) {
            self.refilled.push(noted);
        }
    }

    /// Whether something was written to a place that is not known after this file was.
    fn may_be_written_since(&self, path: &[u8]) -> bool {
        self.state.get(Space::File, b"").content != Content::Initial
            && self.state.changed_at(Space::File, b"") > self.state.changed_at(Space::File, path)
    }

    /// Where else what was written comes from, of what is read at a place.
    pub(super) fn written_origins(&mut self, target: &Target<'a>) -> Origins {
        if target.path.is_empty() || !self.state.has_files() {
            return Origins::NONE;
        }
        let (own, others) = self.aliases(target);
        let written = [own].into_iter().chain(others).filter_map(|path| self.written_at(path));
        let all = written.fold(Origins::NONE, |all, slot| all.union(slot.origins()));
        if !target.tree && target.rest == Rest::Exact {
            return all;
        }
        let below = self.files_below(&directory(target.path));
        // A directory may be looked through again and again.
        self.budget.spend(4 * below.len());
        below.into_iter().fold(all, |all, (_, slot)| all.union(slot.origins()))
    }

    /// The files below a directory that were written. What is gone again is passed over, as often as they are asked for.
    pub(super) fn files_below(&mut self, directory: &[u8]) -> Vec<(&'a [u8], Slot<'a>)> {
        let (below, passed) = self.state.files_below(directory);
        self.budget.spend(2 * passed);
        below
    }

    /// What the command has written to a path, by its own name or with everything in a directory above.
    fn written_at(&self, path: &[u8]) -> Option<Slot<'a>> {
        self.written_over(path, self.state.get(Space::File, path))
    }

    /// The same, when it is known what is kept under its own name.
    fn written_over(&self, path: &[u8], own: Slot<'a>) -> Option<Slot<'a>> {
        let written = |slot: Slot<'a>| matches!(slot.content, Content::File(_)).then_some(slot);
        if path.is_empty() {
            return None;
        }
        written(own).or_else(|| {
            let mut ends = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
            let mut whole = |(at, _)| written(self.state.get(Space::File, path.get(..=at)?));
            if self.state.has_wholes() { ends.find_map(&mut whole) } else { None }
        })
    }

    /// The paths that one which was just looked up may mean: itself, and others.
    pub(super) fn aliases(&self, target: &Target<'a>) -> (&'a [u8], Vec<&'a [u8]>) {
        let mut others = Vec::new();
        for (led, other) in &self.detours {
            let new = other.path != target.path && !others.contains(&other.path);
            if new && led.path == target.path && other.rest == Rest::Exact {
                others.push(other.path);
            }
        }
        if target.rest == Rest::Exact
            && !is_fresh(target.path)
            && let Some(path) = self.places.led_by_the_disk(self.world, target.path)
            && !others.contains(&path)
        {
            others.push(path);
        }
        (target.path, others)
    }

    /// Programs are found by their names in a directory of the workspace, or in one below it. Whether one of them may be one that the script
    /// has written: there, beside that directory, where programs have what they load, or where a link in it leads. `fixed`: it is the same
    /// wherever the shell stands.
    pub(super) fn leads_to_programs(&mut self, directory: &Target<'a>, below: &[u8], fixed: bool) -> bool {
        if directory.rest != Rest::Exact {
            return self.state.has_files();
        }
        let (own, others) = self.aliases(directory);
        for place in [own].into_iter().chain(others) {
            let place = [place, below].concat();
            if !self.programs_at.iter().any(|known| *known == place) {
                self.programs_at.push(self.arena.alloc_slice_copy(&place));
            }
        }
        self.state.has_files()
            && (!fixed
                || self.state.get(Space::File, b"").content != Content::Initial
                || !self.links.is_empty()
                || self.may_hold_written_programs(&[own, below].concat()))
    }

    fn may_hold_written_programs(&mut self, directory: &[u8]) -> bool {
        let places = std::mem::take(&mut self.programs_at);
        let written = places.iter().any(|place| self.is_written_around(place));
        self.programs_at = places;
        if written {
            return true;
        }
        let Entries::Names(names) = self.world.entries(directory, MOST_PROGRAMS) else { return true };
        self.budget.spend(4 * names.len());
        let mut links = names.iter().filter(|(_, is_link)| *is_link);
        links.any(|(name, _)| self.leads_to_written(&[directory, b"/", name].concat()))
    }

    /// Whether the script has written, or copied from elsewhere, anything into the directory that a directory of programs lies in.
    pub(super) fn is_written_around(&mut self, programs: &[u8]) -> bool {
        let around = around(programs);
        if around.len() < 2 {
            return true;
        }
        let copied = self.copies.iter().any(|(copy, _)| {
            copy.starts_with(around) || around.strip_prefix(*copy).is_some_and(|rest| rest.starts_with(b"/"))
        });
        copied || !self.files_below(around).is_empty() || self.written_at(&[around, b"x"].concat()).is_some()
    }

    /// Whether a link that lies on the disk leads to what the script has written.
    pub(super) fn leads_to_written(&self, link: &[u8]) -> bool {
        let led = self.places.led_by_the_disk(self.world, link);
        led.is_some_and(|led| self.written_at(led).is_some())
    }

    /// A file was changed in a way that is not followed. Gives what was known before.
    pub(super) fn file_touched(
        &mut self,
        target: &Target<'a>,
        content: Origins,
    ) -> Vec<(&'a [u8], Slot<'a>)> {
        let stream = Stream { text: None, origins: content, source: None };
        self.change_files(target, stream, false, Flags::NONE)
    }

    /// The same, by the effect that was told last.
    pub(super) fn last_touched(&mut self, target: &Target<'a>, content: Origins) {
        self.spare_touched = std::mem::take(&mut self.touched);
        self.touched = self.file_touched(target, content);
    }

    /// The same of what was removed. Of names that are not known some that were written may be gone; nothing has come to be there.
    pub(super) fn last_removed(&mut self, target: &Target<'a>) {
        self.last_touched(target, Origins::NONE);
        let gone = match self.touched.first().copied() {
            Some((directory, slot)) if target.rest != Rest::Exact => {
                self.state.set(Space::File, directory, slot);
                directory
            }
            _ => target.path,
        };
        self.note_removed(gone);
    }

    /// What lay under a name, or begins with it, is not there any more, or something else is.
    pub(super) fn note_removed(&mut self, gone: &'a [u8]) {
        // One more stands for all files.
        let gone = if self.removed.len() < MOST_REMOVED { gone } else { b"" };
        let now = self.state.clock();
        match self.removed.iter_mut().find(|(known, _)| *known == gone) {
            Some((_, when)) => *when = now,
            None => self.removed.push((gone, now)),
        }
    }

    /// Whether a file may be gone since then: by its name, by one that is not known, or with a directory above it.
    fn may_be_removed(&self, path: &[u8], since: Option<u32>) -> bool {
        let is_above = |gone: &[u8]| {
            let rest = path.strip_prefix(gone);
            rest.is_some_and(|rest| {
                gone.is_empty() || gone.ends_with(b"/") || rest.is_empty() || rest.starts_with(b"/")
            })
        };
        self.removed.iter().any(|(gone, when)| since.is_none_or(|since| *when >= since) && is_above(gone))
    }

    /// A redirection has given a file this content; or, if not surely, may have. `fails`: it may not have been written at all.
    pub(super) fn file_redirected(
        &mut self,
        target: &Target<'a>,
        stream: Stream<'a>,
        surely: bool,
        fails: bool,
    ) {
        let flags = if fails { Flags::MAYBE } else { Flags::NONE };
        if target.rest == Rest::Exact && !self.copies.is_empty() {
            self.copies.retain(|(copy, _)| *copy != target.path);
        }
        self.change_files(target, stream, surely, flags);
    }

    /// A program has written this, of which the effect has just been told. It may have failed, or added.
    pub(super) fn file_wrote(&mut self, target: &Target<'a>, mode: WriteMode, stream: Stream<'a>) {
        if self.touched.iter().any(|(name, _)| name.is_empty() || name.ends_with(b"/")) {
            return;
        }
        let adds = mode == WriteMode::Append;
        // What stands before it does not stand there instead, even where it is the same text.
        let behind = adds && self.touched.iter().any(|(_, slot)| matches!(slot.content, Content::File(_)));
        let text = stream.text.filter(|_| !behind);
        self.untouch();
        let flags = if adds || self.doubt > 0 { Flags::MAYBE } else { Flags::NONE };
        self.change_files(target, Stream { text, ..stream }, false, flags);
    }

    /// What the last effect was thought to have changed it has not.
    pub(super) fn untouch(&mut self) {
        for (name, slot) in std::mem::take(&mut self.touched) {
            self.state.set(Space::File, name, slot);
        }
    }

    fn change_files(
        &mut self,
        target: &Target<'a>,
        stream: Stream<'a>,
        surely: bool,
        flags: Flags,
    ) -> Vec<(&'a [u8], Slot<'a>)> {
        if target.scope == Scope::Harmless {
            return Vec::new();
        }
        if target.rest != Rest::Exact || target.tree {
            return self.change_below(target, stream.origins);
        }
        let (own, others) = self.aliases(target);
        // One path stands for many files.
        let one = others.is_empty() && !is_fresh(own);
        let flags = if one { flags } else { Flags::MAYBE };
        let surely = surely && one;
        // What is written may have been read from the same file, which is emptied before.
        let text = stream.text.filter(|_| others.is_empty());
        let stream = Stream { text, ..stream };
        let fresh = Content::File(Stream { origins: stream.origins.union(Origins::WRITTEN), ..stream });
        let mut before = std::mem::take(&mut self.spare_touched);
        before.clear();
        // Redirections keep theirs: it takes no more room than it needs.
        before.reserve_exact(1 + others.len());
        for path in [own].into_iter().chain(others) {
            self.judge_race(path);
            self.io.file_changes(path);
            let old = self.state.get(Space::File, path);
            before.push((path, old));
            let slot = match self.written_over(path, old) {
                Some(old) if !surely || old.flags.has(Flags::SHARED) => {
                    join_slots(self.arena, old, Slot::of(fresh))
                }
                Some(_) | None => Slot { content: fresh, flags },
            };
            self.state.set(Space::File, path, touched(slot));
        }
        before
    }

    /// Whether one of these files has an attribute.
    pub(super) fn is_flagged(&self, files: &[(&'a [u8], Slot<'a>)], flags: Flags) -> bool {
        files.iter().any(|(path, _)| self.state.get(Space::File, path).flags.has(flags))
    }

    /// Gives these files attributes, and takes others.
    pub(super) fn flag(&mut self, files: &[(&'a [u8], Slot<'a>)], given: Flags, taken: Flags) {
        for (path, _) in files {
            let slot = self.state.get(Space::File, path);
            let flags = slot.flags.with(given).without(taken);
            self.state.set(Space::File, path, Slot { flags, ..slot });
        }
    }

    /// Something in a directory was changed, it is not known what.
    fn change_below(&mut self, target: &Target<'a>, content: Origins) -> Vec<(&'a [u8], Slot<'a>)> {
        self.io.files_change();
        // Text of the command is what it has written before; what its words say it is not.
        let copied = content.intersects(Origins::WRITTEN.union(Origins::OUTSIDE));
        let kept = [Origins::LITERAL, Origins::FILE, Origins::OUTSIDE]
            .into_iter()
            .filter(|own| copied && content.contains(*own));
        let origins = kept.fold(Origins::WRITTEN, Origins::union);
        let stream = Stream { text: None, origins, source: None };
        let name: &'a [u8] = match target.path {
            b"" => b"",
            path => self.arena.alloc_slice_copy(&directory(path)),
        };
        let mut before = vec![(name, self.state.get(Space::File, name))];
        if !name.is_empty() {
            let below = self.files_below(name);
            self.budget.plan(below.len());
            for (path, slot) in below.into_iter().filter(|(path, _)| *path != name) {
                before.push((path, slot));
                let joined = join_slots(self.arena, slot, Slot::of(Content::File(stream)));
                self.state.set(Space::File, path, touched(joined));
            }
        }
        // What a program brings along is the project's, as what was there before.
        if copied || target.rest != Rest::Exact || name.is_empty() {
            let slot = match before.first() {
                Some((_, old)) if matches!(old.content, Content::File(_)) => {
                    join_slots(self.arena, *old, Slot::of(Content::File(stream)))
                }
                _ => Slot::of(Content::File(stream)),
            };
            self.state.set(Space::File, name, slot);
        }
        before
    }

    /// What lay outside of the workspace is the same in it, when it is executed there.
    pub(super) fn copied(&mut self, from: &Target<'a>, to: &Target<'a>) {
        // Of the workspace's own, those are kept in mind whose name says what they do.
        let own = matches!(from.scope, Scope::Workspace | Scope::Product | Scope::Harmless)
            && !names_program(from.path);
        if own || from.rest != Rest::Exact || to.rest != Rest::Exact || self.is_made_here(from) {
            return;
        }
        if self.copies.len() >= MOST_COPIES {
            // What is executed later may be one of those that are not kept in mind.
            let reason = Unknown::Budget("files that are copied from outside of the workspace");
            return self.unknown(reason, self.whole());
        }
        let cut = from.path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let base = from.path.get(cut..).unwrap_or_default();
        let here = to.path.strip_suffix(b"/").unwrap_or(to.path);
        self.copies.push((here, from.path));
        self.copies.push((self.arena.alloc_slice_copy(&[here, base].concat()), from.path));
    }

    /// Whether the command has surely written a file itself.
    fn is_made_here(&self, file: &Target<'a>) -> bool {
        let slot = self.state.get(Space::File, file.path);
        matches!(slot.content, Content::File(_))
            && !slot.flags.has(Flags::MAYBE)
            && !slot.flags.has(Flags::SHARED)
            && self.is_surely_written(file)
    }

    /// A file or directory, with what is known of all that is in it, is copied or moved to a place, or into it.
    pub(super) fn move_along(&mut self, from: &Target<'a>, to: &Target<'a>) {
        if !self.links.is_empty() {
            let (own, others) = self.aliases(from);
            for path in [own].into_iter().chain(others) {
                self.links_carried(&Target { path, ..*from }, to);
            }
        }
        if from.path.is_empty() || to.path.is_empty() || !self.state.has_files() {
            return;
        }
        let start = directory(from.path);
        let mut found = self.files_below(&start);
        self.budget.spend(found.len());
        if from.rest != Rest::Exact || to.rest != Rest::Exact {
            if !found.is_empty() {
                let all = found.iter().fold(Origins::WRITTEN, |all, (_, slot)| all.union(slot.origins()));
                self.change_below(&Target { tree: true, ..*to }, all);
            }
            return;
        }
        if self.io.is_printed(from.path) {
            self.io.prints_to(to.path);
        }
        let held = Origins::FILE.union(Origins::WRITTEN);
        if !found.is_empty() && !self.files_below(&directory(to.path)).is_empty() {
            self.change_below(&Target { tree: true, ..*to }, held);
        }
        let own = self.state.get(Space::File, from.path);
        if matches!(own.content, Content::File(_)) {
            found.push((from.path, own));
        }
        let cut = from.path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let base = from.path.get(cut..).unwrap_or_default();
        // Each lies at two places then: to and fro again and again there are soon any number.
        if !self.budget.plan(found.len()) {
            return;
        }
        for (path, slot) in found {
            let rest = path.get(from.path.len()..).unwrap_or_default();
            let here = to.path.strip_suffix(b"/").unwrap_or(to.path);
            for (index, place) in [[here, rest].concat(), [here, base, rest].concat()].iter().enumerate() {
                if index == 0 && rest.is_empty() {
                    continue;
                }
                if !self.budget.produce(place.len()) {
                    return;
                }
                let place: &'a [u8] = self.arena.alloc_slice_copy(place);
                let slot = match self.written_at(place) {
                    Some(old) => join_slots(self.arena, old, slot),
                    None => Slot { flags: slot.flags.with(Flags::MAYBE), ..slot },
                };
                self.state.set(Space::File, place, touched(slot));
            }
        }
    }
}

/// A file that something else than a redirection that has it open may have written.
const fn touched(slot: Slot<'_>) -> Slot<'_> {
    Slot { flags: slot.flags.with(Flags::TOUCHED), ..slot }
}

/// The name under which everything in a directory is kept.
/// The directory that a directory lies in, with its slash.
pub(super) fn around(directory: &[u8]) -> &[u8] {
    let end = directory.iter().rposition(|byte| *byte == b'/');
    end.and_then(|end| directory.get(..=end)).unwrap_or_default()
}

fn directory(path: &[u8]) -> Vec<u8> {
    let mut name = path.to_vec();
    if !name.ends_with(b"/") {
        name.push(b'/');
    }
    name
}
