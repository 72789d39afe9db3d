//! Traps: commands that the shell runs at its end, on signals, on errors, or before every command (`trap`).
//!
//! They run at a time that is not known, in the state that the shell then has. So they are analysed when the shell that
//! set them is through: what was given another value after the trap was set is not known then, the rest is.

use super::Interpreter;
use super::flow::{ANY_ARGUMENTS, Flow, Whereabouts};
use super::functions::{Frame, FrameKind};
use super::state::{Body, Content, Flags, Slot, Space};
use super::words::Got;
use crate::effect::Unknown;
use crate::value::{Origins, Stream, Value};
use shward_syntax::{ParameterName, PartKind, Span, Word, WordPart};
use std::collections::BTreeMap;

/// So many functions of one name are told apart when a trap is run.
const MOST_BODIES: usize = 8;

/// A trap that was set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trap<'a> {
    /// What is run.
    text: &'a [u8],
    /// The word that carries it, in the command that was asked about.
    span: Span,
    /// What the state's clock showed when it was set.
    clock: u32,
    /// The flow when it was set, or one that does not differ in what is asked of it here.
    flow: &'a Flow<'a>,
    /// It runs only when the shell is at its end.
    at_exit: bool,
    /// So many do up to this one.
    exits: usize,
    /// How often the directory had changed when it was set.
    moves: u32,
    /// How often the positional parameters had. `None`: it was set where there were others than outside.
    calls: Option<u32>,
}

impl<'a> Interpreter<'a, '_> {
    /// Runs a whole shell, and then the traps that it set.
    pub(super) fn with_traps<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        let frames = self.frames.len();
        let traps = self.traps.len();
        self.frames.push(Frame::shell());
        let outer = std::mem::replace(&mut self.outer_traps, traps);
        let (moves, calls) = (self.moves, self.calls);
        let result = inner(self);
        self.frames.truncate(frames);
        let mut sorted = 0;
        while self.traps.len() > traps && self.budget.is_left() {
            // The others run inside of those at the end, too. One that runs may set more.
            if self.traps.len() != sorted
                && let Some(own) = self.traps.get_mut(traps..)
            {
                self.budget.spend(own.len());
                own.sort_by_key(|trap| trap.at_exit);
                self.count_exits(traps);
            }
            let Some(trap) = self.traps.pop() else { break };
            sorted = self.traps.len();
            self.spring(&trap);
        }
        self.traps.truncate(traps);
        self.outer_traps = outer;
        if !self.has_traps_between() {
            // Where a subshell went, none of the traps outside of it is run.
            (self.moves, self.calls) = (moves, calls);
        }
        result
    }

    /// `trap`: notes a trap for the end of the shell.
    pub(super) fn set_trap(&mut self, text: &'a [u8], span: Span, at_exit: bool) {
        let shell = self.frames.iter().rposition(|frame| frame.kind == FrameKind::Shell);
        let inside = self.frames.get(shell.unwrap_or_default()..).unwrap_or_default().iter();
        let within =
            inside.into_iter().any(|frame| matches!(frame.kind, FrameKind::Function(_) | FrameKind::Source));
        self.trapped |= !at_exit;
        // Many traps are set in the same place.
        let now = self.state.flow;
        let is_like = |flow: &Flow<'_>| {
            flow.places == now.places
                && std::ptr::eq(flow.arguments, now.arguments)
                && flow.options == now.options
        };
        let same = self.traps.last().map(|last| last.flow).filter(|flow| is_like(flow));
        let flow = same.unwrap_or_else(|| self.arena.alloc(now));
        let exits = self.exits(self.traps.len()) + usize::from(at_exit);
        self.traps.push(Trap {
            text,
            span,
            clock: self.state.clock(),
            flow,
            at_exit,
            exits,
            moves: self.moves,
            calls: (!within).then_some(self.calls),
        });
    }

    /// The text of a trap in which variables stand whose values are one plain word each, though not known: the number of a job, or the
    /// path of what was just made (`trap "kill $pid" EXIT`). It does the same as if they were looked up when it runs: one that gets
    /// another value until then is not known there. Not in functions, whose variables are gone by then.
    pub(super) fn late_text(&mut self, action: &Word<'_>) -> Option<&'a [u8]> {
        let inside = |frame: &Frame<'_>| matches!(frame.kind, FrameKind::Function(_) | FrameKind::Source);
        if self.frames.iter().any(inside) || !self.functions_named(b"trap").0.is_empty() {
            return None;
        }
        let [WordPart { kind: PartKind::DoubleQuoted(parts), .. }] = *action.parts() else { return None };
        if !self.budget.spend(parts.len()) {
            return None;
        }
        let mut text = Vec::new();
        for part in parts {
            match part.kind {
                // No quote is open where a variable stands, and nothing makes another word of it.
                PartKind::Quoted(literal) if !literal.iter().any(|byte| b"'\"\\`$#<~=*?[".contains(byte)) => {
                    text.extend_from_slice(literal);
                }
                PartKind::Parameter(parameter) if parameter.is_plain() => {
                    let ParameterName::Variable(name) = parameter.name else { return None };
                    match self.lookup(self.lasting(name), part.span) {
                        Got::One(value, _) if value.is_made() => {}
                        Got::Any(Origins::JOB, _) => {}
                        _ => return None,
                    }
                    text.extend_from_slice(&[b"\"${", name, b"}\""].concat());
                }
                _ => return None,
            }
        }
        Some(self.arena.alloc_slice_copy(&text))
    }

    /// How many of the first traps run only when their shell is at its end.
    fn exits(&self, first: usize) -> usize {
        first.checked_sub(1).and_then(|last| self.traps.get(last)).map_or(0, |trap| trap.exits)
    }

    /// Counts them anew behind so many.
    fn count_exits(&mut self, behind: usize) {
        let mut exits = self.exits(behind);
        for trap in self.traps.iter_mut().skip(behind) {
            exits += usize::from(trap.at_exit);
            trap.exits = exits;
        }
    }

    /// Whether a trap waits for the end of this very shell; subshells do not have those of the shell outside (POSIX, XCU
    /// 2.13).
    pub(super) fn awaits_exit(&self) -> bool {
        self.exits(self.traps.len()) > self.exits(self.outer_traps)
    }

    /// Whether a trap may run between commands: on signals, on errors, or before each.
    pub(super) fn has_traps_between(&self) -> bool {
        self.exits(self.traps.len()) < self.traps.len()
    }

    /// A signal is sent: a trap may run between any two commands, and print to wherever they do.
    pub(super) fn signals(&mut self) {
        self.signalled = true;
        if self.has_traps_between() {
            self.io.interrupted(true);
        }
    }

    /// The directory changes, be it for a while: in between the shell may end, or a signal may come.
    pub(super) const fn moved(&mut self) {
        self.moves = self.moves.wrapping_add(1);
    }

    /// The same of the positional parameters.
    pub(super) const fn called(&mut self) {
        self.calls = self.calls.wrapping_add(1);
    }

    /// A function is whatever it was at any time: it is not known where the shell ends.
    fn any_function(&mut self, span: Span) {
        let mut all: BTreeMap<&'a [u8], Vec<Body<'a>>> = BTreeMap::new();
        if !self.budget.plan(self.defined.len()) {
            return;
        }
        for body in &self.defined {
            let bodies = all.entry(body.function.name).or_default();
            if bodies.len() <= MOST_BODIES && !bodies.contains(*body) {
                bodies.push(**body);
            }
        }
        for (name, bodies) in all {
            if bodies.len() > MOST_BODIES {
                self.unknown(
                    Unknown::Construct("a function that is many others before a trap calls it"),
                    span,
                );
            }
            let flags = self.state.get(Space::Function, name).flags.with(Flags::MAYBE);
            let content = Content::Functions(self.arena.alloc_slice_copy(&bodies));
            self.state.set(Space::Function, name, Slot { content, flags });
        }
    }

    /// A file that was written since a trap was set holds what it held at any time.
    fn any_content(&mut self, trap: &Trap<'a>) {
        // Each is changed, and changed back.
        self.budget.spend(self.state.size_with_files().saturating_mul(3));
        self.state.set_each_file(|slot, changed| match slot.content {
            Content::File(stream) if changed > trap.clock => {
                let origins = stream.origins.union(Origins::UNKNOWN);
                let content = Content::File(Stream { text: None, origins, ..stream });
                Some(Slot { content, flags: slot.flags })
            }
            _ => None,
        });
    }

    fn spring(&mut self, trap: &Trap<'a>) {
        let mark = self.state.mark();
        self.budget.spend(self.state.size());
        let changed: Vec<_> = self.state.changed_since(trap.clock).collect();
        self.budget.plan(changed.len());
        let mut forgotten = Vec::new();
        for (space, name, slot) in changed {
            let slot = match space {
                Space::Variable => Slot {
                    content: Content::Unknown(slot.origins().union(Origins::UNKNOWN)),
                    flags: slot.flags.without(Flags::GUESSED),
                },
                Space::Command => {
                    Slot::of(Content::Command(Some(Value::unknown(slot.origins().union(Origins::UNKNOWN)))))
                }
                _ => continue,
            };
            self.state.set(space, name, slot);
            forgotten.push(name);
        }
        self.any_content(trap);
        self.any_function(trap.span);
        let now = self.state.flow;
        // What they are at the end of the script is not what they are where it is left before.
        let same = trap.moves == self.moves && now.places == trap.flow.places;
        let given = trap.calls == Some(self.calls) && now.arguments == trap.flow.arguments;
        self.state.flow = Flow {
            places: if same { now.places } else { Whereabouts::at(None) },
            arguments: if given { now.arguments } else { &ANY_ARGUMENTS },
            last_argument: None,
            ended: false,
            quietly: false,
            may_have_ended: now.may_have_ended && !trap.at_exit,
            options: now.options.join(trap.flow.options),
            ..now
        };
        let before = self.state.mark();
        let run = |shell: &mut Self| {
            shell.frames.push(Frame::shell());
            let outer = std::mem::replace(&mut shell.in_trap, true);
            shell.run_here(trap.text, None, trap.span);
            shell.in_trap = outer;
            shell.frames.pop();
        };
        if trap.at_exit {
            run(self);
        } else {
            let clocks = (self.moves, self.calls);
            let (clock, repeats) = (self.state.clock(), self.state.repeats());
            self.doubtful(run);
            let assigned = |name: &&[u8]| self.state.changed_at(Space::Variable, name) > Some(clock);
            if self.state.changes(before.moment()) > 0
                || self.state.repeats() != repeats
                || forgotten.iter().any(assigned)
                || clocks != (self.moves, self.calls)
                || self.state.flow.without_status() != before.flow().without_status()
            {
                self.unknown(Unknown::Construct("a trap that changes the state of the shell"), trap.span);
            }
        }
        self.state.leave_subshell(&mark);
    }
}
