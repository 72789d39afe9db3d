//! Loops: unrolled while the words are known and few, else run until the state no longer changes.

use super::Interpreter;
use super::functions::{Frame, FrameKind};
use super::state::{Flags, Space};
use crate::effect::{Certainty, EffectKind, Unknown};
use crate::value::{Field, Origins, Piece, Value};
use shward_syntax::{
    AndOr, ArithmeticFor, CommandKind, For, Item, Loop, PartKind, Pipeline, Script, SimpleCommand, Span,
    WordPart,
};

/// The most turns that are run one by one, loops within loops multiplied.
const MOST_TURNS: usize = 64;

/// The most words of a loop that stand for any number of others, and are followed one after the other.
const MOST_LISTS: usize = 4;

/// How often the body of a loop is run until its state must be stable. Every name only goes from known to not known, so
/// few rounds suffice unless values are handed on in a long chain.
const MOST_ROUNDS: usize = 8;

impl<'a> Interpreter<'a, '_> {
    /// `for`
    pub(super) fn for_loop(&mut self, node: &For<'_>) {
        let fields = match node.words {
            Some(words) => self.fields(words),
            None => self.state.flow.arguments.to_vec(),
        };
        let (name, span) = (self.lasting(node.name), node.name_span);
        if self.state.get(Space::Variable, node.name).flags.has(Flags::REFERENCE) {
            self.unpredictable("a loop that changes what a name reference stands for", span);
        }
        let few = fields.len().saturating_mul(self.turns) <= MOST_TURNS;
        let lists = fields.iter().filter(|field| field.many).count();
        if few && (lists == 0 || lists <= MOST_LISTS && fields.len() > 1) {
            let turns = self.turns;
            self.turns = turns.saturating_mul(fields.len().max(1));
            let outer = self.moving.lists;
            self.moving.lists |= fields.len() > 1;
            self.in_loop(|shell| shell.unrolled(name, &fields, &node.body, span));
            self.moving.lists = outer;
            self.turns = turns;
            return;
        }
        let (value, number) = self.any_of(&fields);
        self.in_loop(|shell| {
            shell.repeated(span, &mut |shell| {
                shell.assign(name, value, number, span);
                shell.script(&node.body);
            });
        });
    }

    fn unrolled(&mut self, name: &'a [u8], fields: &[Field<'a>], body: &Script<'_>, span: Span) {
        let doubt = self.doubt;
        for field in fields {
            if !self.budget.spend(1) || !self.budget.repeats(1) || self.state.flow.ended {
                break;
            }
            if self.state.get(Space::Variable, name).flags.has(Flags::REFERENCE) {
                // Then it leads to each of the words, one after the other.
                self.unpredictable("a loop over a reference", span);
            }
            if field.many {
                // Each of these words in its turn, of which there may be none.
                let (value, number) = self.any_of(std::slice::from_ref(field));
                self.repeated(span, &mut |shell| {
                    shell.assign(name, value, number, span);
                    shell.script(body);
                });
            } else {
                self.assign(name, field.value, false, span);
                self.script(body);
            }
            self.next_turn();
            if self.frames.last().is_some_and(|frame| frame.left.is_some()) && self.doubt == doubt {
                // A `break` may have ended the loop before this turn.
                self.doubt += 1;
            }
        }
        self.doubt = doubt;
    }

    /// `select`: any of the words, any number of times.
    pub(super) fn select(&mut self, node: &For<'_>) {
        let fields = match node.words {
            Some(words) => self.fields(words),
            None => self.state.flow.arguments.to_vec(),
        };
        let (name, span) = (self.lasting(node.name), node.name_span);
        let (value, _) = self.any_of(&fields);
        let reply = self.stdin().origins;
        self.takes_lines(0, self.span(span));
        self.consume_stdin();
        self.in_loop(|shell| {
            shell.repeated(span, &mut |shell| {
                // An answer that is no number of a word leaves the variable empty.
                let value = match fields.as_slice() {
                    [_] | [] => Value::unknown(value.origins),
                    _ => value,
                };
                shell.assign(name, value, false, span);
                shell.assign_unknown(b"REPLY", reply, span);
                shell.script(&node.body);
            });
        });
    }

    /// `while` and `until`
    pub(super) fn while_loop(&mut self, node: &Loop<'_>) {
        let span = node.condition.span;
        if is_endless(node) && only_starts(&node.body) {
            self.emit_here(EffectKind::System { what: "limits" }, self.span(span), Certainty::Certain);
        }
        self.in_loop(|shell| {
            shell.consume_stdin();
            shell.script(&node.condition);
            shell.repeated(span, &mut |shell| {
                shell.script(&node.body);
                shell.next_turn();
                shell.script(&node.condition);
            });
        });
    }

    /// `for ((;;))`
    pub(super) fn arithmetic_for(&mut self, node: &ArithmeticFor<'_>) {
        self.arithmetic(&node.init);
        let one = |part: &WordPart<'_>| matches!(part.kind, PartKind::Literal(text) if matches!(text.trim_ascii(), b"" | b"1"));
        if node.test.parts.iter().all(one) && only_starts(&node.body) {
            let span = self.span(node.test.span);
            self.emit_here(EffectKind::System { what: "limits" }, span, Certainty::Certain);
        }
        self.in_loop(|shell| {
            shell.arithmetic(&node.test);
            shell.repeated(node.test.span, &mut |shell| {
                shell.script(&node.body);
                shell.next_turn();
                shell.arithmetic(&node.step);
                shell.arithmetic(&node.test);
            });
        });
    }

    /// One value that stands for every word of a loop. The flag: it is a number.
    fn any_of(&mut self, fields: &[Field<'a>]) -> (Value<'a>, bool) {
        let is_name = |field: &Field<'a>| !matches!(field.value.known_prefix(), [] | [b'/', ..]);
        self.loops_over_names |= fields.iter().any(is_name);
        any_of(fields)
    }

    /// Runs a loop; where `break` leaves it, the states are joined with that at its end.
    pub(super) fn in_loop(&mut self, inner: impl FnOnce(&mut Self)) {
        let depth = self.frames.len();
        self.frames.push(Frame::new(FrameKind::Loop, self.state.mark()));
        inner(self);
        while self.frames.len() > depth {
            let Some(frame) = self.frames.pop() else { break };
            if let (Some(left), Some(mark)) = (&frame.left, &frame.mark) {
                self.budget.spend(left.size());
                self.state.join(mark, left);
            }
        }
        self.arrive();
        // Its status is that of its last turn, or zero where there was none.
        self.state.flow.places.forget_status();
    }

    /// The turn is over; where `continue` ended it before, the states are joined.
    fn next_turn(&mut self) {
        if let Some(frame) = self.frames.last_mut()
            && let (Some(continued), Some(mark)) = (frame.continued.take(), frame.mark)
        {
            let broken = frame.left.is_some();
            self.budget.spend(continued.size());
            self.state.join(&mark, &continued);
            if !broken && self.state.flow.skips == self.frames.len() - 1 {
                self.state.flow.skips = super::flow::NOWHERE;
            }
        }
    }

    /// Runs something any number of times, none included: until the state it starts from covers the one it leaves.
    pub(super) fn repeated(&mut self, span: Span, turn: &mut dyn FnMut(&mut Self)) {
        self.consume_stdin();
        for round in 1..=MOST_ROUNDS {
            // What may have changed is gone through in each round, however little is done in it.
            if !self.budget.repeats(3) || !self.budget.plan(1) {
                return;
            }
            let (effects, invocations) = (self.effects.len(), self.invocations.len());
            let mark = self.state.mark();
            self.scripts.begin_turn();
            self.doubtful(&mut *turn);
            self.scripts.end_turn();
            self.next_turn();
            if !self.budget.is_left() {
                return;
            }
            let after = self.state.branch(&mark);
            self.budget.spend(after.size());
            self.state.rewind(&mark);
            self.state.join(&mark, &after);
            if self.state.changes(mark.moment()) == 0 && self.state.flow == *mark.flow() {
                return;
            }
            if round == MOST_ROUNDS {
                let span = self.span(span);
                self.unknown(Unknown::Budget("loop"), span);
            } else {
                // The next round says all of it again, with less known.
                self.effects.truncate(effects);
                self.invocations.truncate(invocations);
            }
        }
    }
}

/// Whether the condition of a loop is a constant.
fn is_endless(node: &Loop<'_>) -> bool {
    let Script { items: [condition], .. } = node.condition else { return false };
    let AndOr { first: Pipeline { stages: [stage], .. }, rest: [] } = condition.list else { return false };
    let CommandKind::Simple(SimpleCommand { words: [word], .. }) = stage.command.kind else { return false };
    matches!(
        *word.parts(),
        [WordPart { kind: PartKind::Literal(text), .. }] if matches!(text, b":" | b"true" | b"false")
    )
}

/// Whether all that a script does is to start jobs, also from within groups, and it waits for none of them.
fn only_starts(script: &Script<'_>) -> bool {
    let starts = |item: &Item<'_>| {
        item.background
            || match item.list {
                AndOr { first: Pipeline { stages: [stage], .. }, rest: [] } => match &stage.command.kind {
                    CommandKind::Subshell(inner) | CommandKind::BraceGroup(inner) => only_starts(inner),
                    _ => false,
                },
                _ => false,
            }
    };
    !script.items.is_empty() && script.items.iter().all(starts)
}

const MADE_UP: &[Piece<'static>] = &[Piece::MADE_UP];

/// One value that stands for every element. The flag: it is a number.
fn any_of<'a>(fields: &[Field<'a>]) -> (Value<'a>, bool) {
    match fields {
        [] => (Value::EMPTY, false),
        // Of names that were found, each lies somewhere below the place that is told for all of them.
        [only] if only.many && only.value.known().is_some() => (Value::unknown(only.value.origins), false),
        [only] => (only.value, false),
        _ => {
            let origins = fields.iter().fold(Origins::NONE, |all, field| all.union(field.value.origins));
            let number =
                |field: &Field<'a>| !field.many && field.value.known().is_some_and(super::state::is_decimal);
            // With zeros before it arithmetic takes a number for an octal one, but its text is no path.
            let digits = |field: &Field<'a>| {
                let text = field.value.known().filter(|_| !field.many);
                text.is_some_and(|text| !text.is_empty() && text.iter().all(u8::is_ascii_digit))
            };
            let numbers = fields.iter().all(number);
            if !numbers && fields.iter().all(digits) {
                return (Value::of_static(&MADE_UP, origins), false);
            }
            (Value::unknown(origins), numbers)
        }
    }
}
