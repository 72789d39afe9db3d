//! What the command knowledge may ask of the interpreter.

use super::Interpreter;
use super::flow::Whereabouts;
use super::follow;
use super::state::{Content, Flags, Slot, Space};
use crate::effect::{Certainty, Covers, Effect, EffectKind, Rest, Scope, Target, Unknown};
use crate::session::{Reentry, Session};
use crate::value::{Field, Origins, Stream, Value};
use crate::world::World;
use bumpalo::Bump;
use shward_syntax::{Dialect, Span};

/// So many links are kept in mind, so that looking up a place stays cheap.
const MOST_LINKS: usize = 32;
/// So many places are looked up before the effects that belong to them are told, at most.
const MOST_DETOURS: usize = 8;

impl<'a> Session<'a> for Interpreter<'a, '_> {
    fn arena(&self) -> &'a Bump {
        self.arena
    }

    fn world(&self) -> &dyn World {
        self.world
    }

    fn emit(&mut self, kind: EffectKind<'a>, span: Span, certainty: Certainty) {
        self.emit_here(kind, span, certainty);
        if let EffectKind::Write { target, .. } | EffectKind::Delete { target } = kind {
            self.file_touched(&target);
        }
    }

    fn effects(&mut self) -> &mut Vec<Effect<'a>> {
        &mut self.effects
    }

    fn target(&mut self, path: &Value<'a>) -> Target<'a> {
        if self.elsewhere {
            let cwd = self.state.flow.places.only().filter(|_| false);
            let target = self.places.target(&crate::world::Frozen, cwd, path);
            let scope = if target.scope == Scope::Harmless { Scope::Harmless } else { Scope::Elsewhere };
            return Target { scope, ..target };
        }
        let named = self.places.target(self.world, self.state.flow.places.only(), path);
        let behind = |target, link: &(&'a [u8], Option<&'a [u8]>)| {
            self.places.behind(self.world, target, link.0, link.1)
        };
        let led = self.links.iter().fold(named, behind);
        if led.path != named.path {
            if self.detours.len() == MOST_DETOURS {
                self.detours.remove(0);
            }
            self.detours.push((led, named));
        }
        led
    }

    fn linked(&mut self, link: &Target<'a>, aim: &Value<'a>) {
        if self.elsewhere || link.rest != Rest::Exact || link.scope == Scope::Harmless {
            return;
        }
        // A symbolic link leads on from where it lies, a hard link from here.
        let parent = link.path.iter().rposition(|byte| *byte == b'/').and_then(|at| link.path.get(..at));
        for from in [parent, self.state.flow.places.only()] {
            let aim = self.places.target(self.world, from, aim);
            // A link to what may be changed anyway tells nothing that its own name does not.
            let plain =
                matches!(aim.scope, Scope::Harmless | Scope::Product | Scope::Workspace | Scope::Temp)
                    && aim.rest == Rest::Exact
                    && aim.covers == Covers::default();
            let aim = (aim.rest == Rest::Exact).then_some(aim.path);
            if plain || self.links.contains(&(link.path, aim)) {
                continue;
            }
            if self.links.len() == MOST_LINKS {
                return self.emit_here(
                    EffectKind::Unknown { reason: Unknown::Budget("links") },
                    Span::new(0, 0),
                    Certainty::Possible,
                );
            }
            self.links.push((link.path, aim));
        }
    }

    fn home(&self) -> &'a [u8] {
        self.request.home
    }

    fn cwd(&self) -> Option<&'a [u8]> {
        self.state.flow.places.only().filter(|_| !self.elsewhere)
    }

    fn invocation(&self) -> Option<u32> {
        self.current
    }

    fn worked_in(&self, invocation: Option<u32>) -> Option<&'a [u8]> {
        let Some(number) = invocation else { return self.state.flow.places.only() };
        let known = self.invocations.get(usize::try_from(number).ok()?)?;
        known.cwd.filter(|_| !self.away.contains(&number))
    }

    fn upstream(&self) -> usize {
        self.upstream.unwrap_or(0)
    }

    fn departures(&self) -> u32 {
        self.departures
    }

    fn in_directory(&mut self, directory: &Value<'a>, inner: &mut dyn FnMut(&mut dyn Session<'a>)) {
        let places = self.state.flow.places;
        self.departs(directory);
        self.away.extend(self.current);
        let place = self.directory(directory, places.only());
        self.state.flow.places = Whereabouts::at(place);
        inner(self);
        self.state.flow.places = places;
    }

    fn file_text(&mut self, path: &Value<'a>) -> Stream<'a> {
        self.content_of(path)
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

    fn wrote(&mut self, target: Target<'a>, content: Stream<'a>) {
        if self.elsewhere {
            return;
        }
        // Where it may not have happened, the file may still be what it was.
        let content = if self.doubt > 0 { Stream { text: None, ..content } } else { content };
        self.file_written(&target, content);
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

    fn read_origins(&self, target: &Target<'a>) -> Origins {
        let base = self.places.read_origins(target);
        match self.state.get(Space::File, target.path).content {
            Content::File(stream) if !target.path.is_empty() => base.union(stream.origins),
            _ => base,
        }
    }

    fn dialect(&self) -> Dialect {
        self.dialect
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
