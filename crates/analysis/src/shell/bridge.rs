//! What the command knowledge may ask of the interpreter.

use super::Interpreter;
use super::flow::{Opt, Port, Whereabouts};
use super::follow;
use super::io::SinkKind;
use super::links::below;
use super::racing::Aside;
use super::state::{Content, Flags, Slot, Space};
use crate::effect::{Certainty, Covers, Effect, EffectKind, Rest, Scope, Target, WriteMode};
use crate::session::{Reentry, Session, Starting};
use crate::value::{Field, Origins, Piece, Stream, Value};
use crate::world::{FileKind, World};
use bumpalo::Bump;
use shward_syntax::{Dialect, Span};

/// However short a program in another language is, reading it costs what so many bytes cost.
const SHORTEST_PROGRAM: usize = 96;

/// So many places are looked up before the effects that belong to them are told, at most.
const MOST_DETOURS: usize = 8;

/// What it costs to hold a pattern against every name that matters, in parts of a plan: most have a few names, and each one more
/// is held against as many.
fn held_against_names(path: &Value<'_>, anywhere: bool) -> usize {
    if !path.has_glob() {
        // Where nobody knows how it begins, what follows is held against the names of all places.
        let begins_anywhere = match *path.pieces() {
            [Piece::Unknown | Piece::Made] => false,
            [Piece::Unknown | Piece::Made, ..] => true,
            [Piece::Text(text), ..] => anywhere && !text.starts_with(b"/"),
            _ => false,
        };
        return if begins_anywhere { 4 } else { 0 };
    }
    let slashes = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => text.iter().filter(|byte| **byte == b'/').count(),
        _ => 0,
    };
    let names: usize = path.pieces().iter().map(slashes).sum();
    4 + 16 * names.saturating_sub(8)
}

impl<'a> Session<'a> for Interpreter<'a, '_> {
    fn arena(&self) -> &'a Bump {
        self.arena
    }

    fn world(&self) -> &dyn World {
        self.world
    }

    fn lock_reading(&mut self) {
        self.unreadable = true;
    }

    fn emit(&mut self, kind: EffectKind<'a>, span: Span, certainty: Certainty) {
        self.emit_here(kind, span, certainty);
        self.reaches_descriptor(&kind);
        match kind {
            // Each of the links is followed.
            EffectKind::Read { target }
                if target.tree && !self.links.is_empty() && self.budget.plan(self.links.count()) =>
            {
                // Some programs follow the links in it (`grep -R`, `cp -L`, `zip -r`).
                for led in self.led_from_below(&target) {
                    let target = Target { tree: true, ..led };
                    self.emit_here(EffectKind::Read { target }, span, Certainty::Possible);
                }
            }
            EffectKind::Write { target, mode, content } => {
                let target = Target { tree: target.tree || mode == WriteMode::Below, ..target };
                if target.tree || mode == WriteMode::Create {
                    self.made.get_or_insert_default().insert(target.path);
                }
                self.last_touched(&target, content);
                // What is copied to a directory comes to lie in it.
                if target.tree
                    || target.rest != Rest::Exact
                    || self.world.kind(target.path) == FileKind::Directory
                {
                    self.note_refilled(&target);
                }
                if target.tree {
                    self.links_spread(&target);
                }
            }
            EffectKind::Delete { target, .. } => self.last_removed(&target),
            EffectKind::Metadata { .. } => self.locked = true,
            EffectKind::Vcs { .. } => self.brought |= kind.brings_files(),
            EffectKind::Signal { .. } => self.signals(),
            _ => {}
        }
    }

    fn shows_output(&self) -> bool {
        match self.state.flow.port(1) {
            Port::Terminal => true,
            Port::Sink(id) => self.io.sink(id) == Some(SinkKind::Shown),
            _ => false,
        }
    }

    fn effects(&mut self) -> &mut Vec<Effect<'a>> {
        &mut self.effects
    }

    fn target(&mut self, path: &Value<'a>) -> Target<'a> {
        if !self.budget.is_left() {
            // Nothing more is told: the end of the budget covers it.
            return Target {
                path: b"",
                rest: Rest::Unknown,
                scope: Scope::Elsewhere,
                tree: true,
                covers: Covers::default(),
            };
        }
        if self.elsewhere {
            let cwd = self.state.flow.places.only().filter(|_| false);
            let target = self.places.target(&crate::world::Frozen, cwd, path);
            let scope = if target.scope == Scope::Harmless { Scope::Harmless } else { Scope::Elsewhere };
            return Target { scope, ..target };
        }
        let place = self.state.flow.places.only();
        let names = held_against_names(path, place.is_none());
        if !self.budget.plan(names + self.links.count().div_ceil(8)) {
            return self.target(path);
        }
        self.budget.walks(place.map_or(0, <[u8]>::len) + path.extent());
        let named = self.places.target(self.world, place, path);
        let others = self.meanings(path, &named);
        self.budget.plan((if named.rest == Rest::Glob { 8 } else { 2 }) * others.len());
        if others.is_empty() {
            return named;
        }
        let worst = others.iter().fold(named, |worst, other| crate::place::worse(worst, *other));
        for other in [named].iter().chain(&others).filter(|other| other.path != worst.path) {
            if self.detours.contains(&(worst, *other)) {
                continue;
            }
            if self.detours.len() == MOST_DETOURS {
                self.detours.remove(0);
            }
            self.detours.push((worst, *other));
        }
        worst
    }

    fn linked(&mut self, link: &Value<'a>, aim: &Value<'a>) {
        if !self.elsewhere {
            self.link_made(link, aim);
        }
    }

    fn carried(&mut self, from: &Target<'a>, to: &Target<'a>) {
        if !self.elsewhere {
            self.made.get_or_insert_default().insert(to.path);
            self.move_along(from, to);
            self.copied(from, to);
        }
    }

    fn is_printed(&self, file: &Target<'a>) -> bool {
        let (own, others) = self.aliases(file);
        [own].into_iter().chain(others).any(|path| self.io.is_printed(path))
    }

    fn moved(&mut self, from: &Target<'a>, to: &Target<'a>) {
        if !self.elsewhere && from.scope == Scope::Workspace && to.scope == Scope::Product {
            self.moving.hoards.get_or_insert_default().insert(to.path);
        }
    }

    fn is_made_of(&self, word: Span, other: Span) -> bool {
        self.is_renaming(other, word)
    }

    fn makes_new(&mut self, target: &Target<'a>) {
        self.makes_where_nothing_is(target);
    }

    fn renamed(&mut self, from: &Target<'a>) {
        if !self.elsewhere {
            self.renames(from);
        }
    }

    fn copied_from(&mut self, path: &Value<'a>) -> Option<&'a [u8]> {
        if self.copies.is_empty() {
            return None;
        }
        let here = self.target(path).path;
        let (from, rest) =
            self.copies.iter().rev().find_map(|(copy, from)| Some((*from, below(here, copy)?)))?;
        Some(if rest.is_empty() { from } else { self.arena.alloc_slice_copy(&[from, rest].concat()) })
    }

    fn renames_packed(&mut self) {
        self.links_renamed();
    }

    fn guards_below(&self, path: &[u8], end: &[u8]) -> bool {
        self.places.guards_below(path, end)
    }

    fn protected_by_name(&self, directory: &[u8], name: &[u8]) -> Option<Scope> {
        let by_name = |place: &[u8]| crate::place::protected_by_name(self.world, place, name);
        let found = self.owned_below(directory).filter_map(by_name).max();
        found.max(self.places.led_by_name(directory, name))
    }

    fn protected_by_pattern(&self, directory: &[u8], pattern: &[u8]) -> Option<Scope> {
        let by_pattern = |place: &[u8]| crate::place::protected_by_pattern(self.world, place, pattern);
        self.owned_below(directory).filter_map(by_pattern).max()
    }

    fn words_of(&self, invocation: Option<u32>) -> &'a [Field<'a>] {
        let at = invocation.and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.invocations.get(at)).map_or(&[], |invocation| invocation.argv)
    }

    fn home(&self) -> &'a [u8] {
        self.request.home
    }

    fn cwd(&self) -> Option<&'a [u8]> {
        self.state.flow.places.only().filter(|_| !self.elsewhere)
    }

    fn stays_below_workspace(&mut self, pattern: &Value<'a>) -> bool {
        Interpreter::stays_below_workspace(self, pattern)
    }

    fn works_within(&self) -> bool {
        // What the command writes may come to lie there.
        self.state.flow.places.is_within()
            && !self.elsewhere
            && !self.state.has_files()
            && !self.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Write { .. }))
    }

    fn invocation(&self) -> Option<u32> {
        self.current
    }

    fn has_no_own_files(&mut self) {
        if let Some(invocation) = self.current.and_then(|number| self.invocations.get_mut(number as usize)) {
            invocation.no_own_files = true;
        }
    }

    fn worked_in(&self, invocation: Option<u32>) -> Option<&'a [u8]> {
        let Some(number) = invocation else { return self.state.flow.places.only() };
        let known = self.invocations.get(usize::try_from(number).ok()?)?;
        known.cwd.filter(|_| !self.away.as_ref().is_some_and(|away| away.contains(&number)))
    }

    fn upstream(&self) -> usize {
        self.upstream.map_or(0, |(effects, _)| effects)
    }

    fn upstream_calls(&self) -> u32 {
        self.upstream.map_or(0, |(_, calls)| u32::try_from(calls).unwrap_or(u32::MAX))
    }

    fn given_to(&self, invocation: u32) -> Origins {
        self.invocations.get(invocation as usize).map_or(Origins::UNKNOWN, |known| known.stdin)
    }

    fn has_open_files(&self) -> bool {
        self.state.flow.others.iter().any(|(_, port)| *port != Port::Closed)
    }

    fn departures(&self) -> u32 {
        self.departures
    }

    fn works(&mut self, steps: usize) {
        self.budget.spend(steps);
    }

    fn goes_on(&self) -> bool {
        self.budget.is_left()
    }

    fn prints(&mut self, bytes: usize) -> bool {
        self.budget.print(bytes)
    }

    fn reads_program(&mut self, bytes: usize) -> bool {
        self.budget.read_program(bytes.saturating_add(SHORTEST_PROGRAM))
    }

    fn in_directory(&mut self, directory: &Value<'a>, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        let (places, settled) = (self.state.flow.places, self.state.flow.settled);
        self.budget.plan(1);
        self.departs(directory);
        self.away.get_or_insert_default().extend(self.current);
        let place = self.entered(directory, places.only());
        self.state.flow.places = Whereabouts::at(place);
        self.stands();
        inner(self);
        (self.state.flow.places, self.state.flow.settled) = (places, settled);
    }

    fn without_variables(&mut self, names: Option<&[&'a [u8]]>, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        let bare = self.bare;
        self.bare |= names.is_none();
        if names.is_none() {
            // Each is set and set back.
            self.budget.spend(17 * self.state.size() + 16);
        }
        let hidden = self.state.hide(Space::Variable, names, |slot| {
            // The shell itself sets some of them, and unset ones may stay unset.
            let content = Content::Unknown(slot.origins().union(Origins::ENVIRONMENT));
            Slot { content, flags: Flags::EXPORTED.with(Flags::TRUSTED) }
        });
        inner(self);
        self.bare = bare;
        self.state.unhide(Space::Variable, hidden);
    }

    fn file_text(&mut self, path: &Value<'a>) -> Stream<'a> {
        self.content_of(path)
    }

    fn believes(&mut self) {
        Interpreter::believes(self);
    }

    fn takes_input(&mut self, span: Span) {
        self.takes_lines(0, span);
    }

    fn runs_from(&mut self, place: &'a [u8]) {
        self.scripts.use_place(place);
    }

    fn has_made_files(&self) -> bool {
        self.state.has_files() || !self.links.is_empty()
    }

    fn script_text(&mut self, path: &Value<'a>) -> Stream<'a> {
        self.script_of(path)
    }

    fn perhaps(&mut self, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        // What it does is told as if it were done.
        let mark = self.state.mark();
        self.conditional += 1;
        inner(self);
        self.conditional -= 1;
        self.perhaps_since(&mark);
    }

    fn beside(&mut self, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        let moment = self.state.moment();
        self.aside(Aside::Job, |shell| inner(shell));
        Interpreter::beside(self, moment);
    }

    fn taking_up(&mut self, path: &'a [u8], inner: &mut dyn FnMut(&mut dyn Session<'a>)) -> bool {
        self.budget.spend(self.state.size_with_files());
        let here = self.cwd();
        let now = self.state.handed_on(here, super::words::is_set_anew);
        if let Some((_, then)) = self.taken_up.iter().find(|(other, _)| *other == path) {
            // Elsewhere, or with other variables, functions or files it may do something else.
            return here.is_some() && *then == now;
        }
        self.taken_up.push((path, now));
        inner(self);
        self.taken_up.pop();
        true
    }

    fn patterns_may_vanish(&self) -> bool {
        self.state.flow.options.may(Opt::NullGlob)
    }

    fn run_argv(&mut self, argv: &'a [Field<'a>], stdin: Stream<'a>, how: Reentry, span: Span) -> Stream<'a> {
        if !self.budget.spend(2) || !self.budget.enter() {
            return Stream::unknown(Origins::UNKNOWN, span);
        }
        let (current, elsewhere) = (self.current, self.elsewhere);
        self.elsewhere |= how == Reentry::Elsewhere;
        let output = self.isolated(|shell| shell.captured(stdin, |shell| shell.start_program(argv, span)));
        (self.current, self.elsewhere) = (current, elsewhere);
        self.budget.leave();
        output
    }

    fn expects_shell(&mut self, how: Starting) {
        self.starting = how;
    }

    fn run_text(
        &mut self,
        text: &'a [u8],
        dialect: Dialect,
        arguments: &'a [Field<'a>],
        stdin: Stream<'a>,
        how: Reentry,
        span: Span,
    ) -> Stream<'a> {
        let current = self.current;
        let output = self.run_shell(text, dialect, arguments, stdin, how, span);
        self.current = current;
        output
    }

    fn with_variable(
        &mut self,
        name: &'a [u8],
        value: &Field<'a>,
        inner: &mut dyn FnMut(&mut dyn Session<'a>),
    ) {
        if name == b"PATH" {
            self.judge_empty_entries(&value.value, value.span);
        }
        self.judge_environment(name, &value.value, value.span);
        self.judge_given(name, &value.value, value.span);
        let before = self.state.get(Space::Variable, name);
        let slot = Slot { content: Content::Scalar(value.value), flags: Flags::EXPORTED };
        self.state.set(Space::Variable, name, slot);
        self.environment.push((name, *value));
        inner(self);
        self.environment.pop();
        self.state.set(Space::Variable, name, before);
    }

    fn told(&mut self, name: &'a [u8], value: &Field<'a>) {
        self.judge_told(name, &value.value, value.span);
    }

    fn wrote(&mut self, target: Target<'a>, mode: WriteMode, content: Stream<'a>) {
        if !self.elsewhere {
            // Whoever reads from it may end first, and a program that writes to both with it.
            let elsewhere = match self.state.flow.port(1) {
                Port::Sink(id) | Port::Both(_, id) => {
                    matches!(self.io.sink(id), Some(SinkKind::Elsewhere | SinkKind::Network))
                }
                _ => false,
            };
            let text = content.text.filter(|_| !elsewhere && !self.scripts.is_in_a_pipeline());
            self.file_wrote(&target, mode, Stream { text, ..content });
        }
    }

    fn begins_repeating(&mut self) {
        self.scripts.begin_repeating();
        self.moving.begin_repeating();
        self.stands();
    }

    fn ends_repeating(&mut self) {
        self.scripts.end_repeating();
        self.moving.end_repeating();
    }

    fn kept(&mut self) {
        self.untouch();
    }

    fn follow(&mut self, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        let Some(purse) = self.following.enter() else { return };
        let mark = self.state.mark();
        let (first, invocations) = (self.effects.len(), self.invocations.len());
        let (budget, current) = (self.budget, self.current);
        self.budget = budget.lend(purse);
        inner(self);
        (self.budget, self.current) = (budget, current);
        self.state.rewind(&mark);
        let followed = self.effects.split_off(first.min(self.effects.len()));
        self.effects.extend(followed.into_iter().filter(follow::is_grave));
        if self.effects.len() == first {
            self.invocations.truncate(invocations);
        }
        self.following.leave();
    }

    fn read_origins(&mut self, target: &Target<'a>) -> Origins {
        let written = self.written_origins(target);
        let there = self.places.read_origins(target);
        // What the command itself has surely put there is no more from outside than what it put there.
        if written.contains(Origins::WRITTEN) && target.rest == Rest::Exact && self.is_surely_written(target)
        {
            if written == Origins::WRITTEN.union(Origins::JOB) {
                return written;
            }
            return there.without(Origins::OUTSIDE).union(written);
        }
        there.union(written)
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn has_variables(&self) -> bool {
        self.state.has_touched(Space::Variable)
    }

    fn variable(&self, name: &[u8]) -> Option<Value<'a>> {
        let slot = self.state.get(Space::Variable, name);
        match slot.content {
            Content::Initial | Content::Unset => None,
            _ if !slot.flags.has(Flags::EXPORTED) => None,
            Content::Scalar(value) => Some(value),
            _ => Some(Value::unknown(slot.origins())),
        }
    }
}
